"""What runs on what: a model in its number formats on accelerators that share each pass evenly."""

from dataclasses import dataclass

from inferdash.facts.accelerator import Accelerator
from inferdash.facts.architecture import Architecture
from inferdash.facts.precision import Precision
from inferdash.formula import Number
from inferdash.physics.parameters import Parameters, bytes_in_format, loaded_in_blocks, parameters


@dataclass(frozen=True)
class Deployment:
    """A model on accelerators, with no time on the link between them."""

    architecture: Architecture
    parameters: Parameters
    accelerator: Accelerator
    gpus: int
    weights: Precision
    cache: Precision
    stored_bytes: Number
    """Bytes of all the parameters in memory."""
    peak: float | None
    """Dense peak of one accelerator in FLOP/s for these weights; None where its maker publishes none."""
    attention_peak: float | None
    """Dense peak in FLOP/s at which it works on keys and values in the cache's format; None likewise."""

    @property
    def cache_bytes_per_number(self) -> float:
        """Bytes of a number in the cache."""
        return self.cache.matrix_bits / 8

    def loaded_bytes(self, *, positions: Number) -> Number:
        """Bytes of the parameters that a pass over `positions` positions loads, once for all of them.

        All outside the input embedding; of routed experts those that the positions choose, on average.
        """
        blocks, counts = loaded_in_blocks(self.architecture, positions=positions), self.parameters
        return bytes_in_format(self.weights, blocks, tables=counts.output_layer, mixture=counts.mixture)


def deploy(
    architecture: Architecture,
    accelerator: Accelerator,
    *,
    gpus: int,
    weights: Precision,
    cache: Precision,
) -> Deployment:
    """A model on accelerators, with its bytes."""
    counts = parameters(architecture)
    return Deployment(
        architecture=architecture,
        parameters=counts,
        accelerator=accelerator,
        gpus=gpus,
        weights=weights,
        cache=cache,
        stored_bytes=bytes_in_format(weights, counts.stored, tables=counts.tables, mixture=counts.mixture),
        peak=accelerator.rate(weights)[1],
        attention_peak=accelerator.rate(cache)[1],
    )
