"""What runs on what: a model in its number formats on accelerators, and how they share it."""

from dataclasses import dataclass, replace
from typing import cast

from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import Precision
from inferdash.formula import Number
from inferdash.layers.counts import Counts
from inferdash.physics import parallelism
from inferdash.physics.capacity.parameters import (
    Parameters,
    bytes_in_format,
    loaded_in_blocks,
    multiplied_at,
    parameters,
)
from inferdash.physics.parallelism import EVEN, Fabric, Layout


@dataclass(frozen=True)
class Deployment:
    """A model on accelerators."""

    architecture: Architecture
    parameters: Parameters
    accelerator: Accelerator
    gpus: int
    layout: Layout
    weights: Precision
    cache: Precision
    memory: float
    """Bytes of one accelerator for parameters and caches."""
    stored_bytes: Number
    """Bytes of all the parameters in memory, each once."""
    stored_bytes_of_one: Number
    """Bytes of the parameters on one accelerator."""
    peak: float | None
    """Dense peak of one accelerator in FLOP/s for these weights; None where its maker publishes none."""
    attention_peak: float | None
    """Dense peak in FLOP/s at which it works on keys and values in the cache's format; None likewise."""
    fabric: Fabric | None = None
    """The links between machines; None where they count as fast as those within."""

    @property
    def cache_bytes_per_number(self) -> float:
        """Bytes of a number in the cache."""
        return self.cache.matrix_bits / 8

    def loaded_bytes(self, *, positions: Number) -> Number:
        """Bytes of the parameters that a pass over `positions` positions loads, once for all of them.

        All outside the input embedding; of routed experts those that the positions choose, on average.
        """
        blocks, counts = loaded_in_blocks(self.architecture, positions=positions), self.parameters
        return bytes_in_format(self.weights, blocks, output=counts.output_layer, mixture=counts.mixture)

    def loaded_bytes_of_one(self, *, positions: Number) -> Number:
        """The same on one accelerator after another of those that a position passes through, with this layout."""
        blocks, counts = loaded_in_blocks(self.architecture, positions=positions), self.parameters
        one = parallelism.counts_of_one(blocks, self.layout).times(self.layout.pipeline)
        return bytes_in_format(
            self.weights, one, output=counts.output_layer / self.layout.tensor, mixture=counts.mixture
        )

    def loaded_bytes_apart(self, *, positions: Number) -> tuple[Number, Number]:
        """Bytes that one accelerator loads in a pass over `positions` positions: outside routed experts, and of them.

        An even share of all where the layout is even.
        """
        blocks, counts = loaded_in_blocks(self.architecture, positions=positions), self.parameters
        tables = counts.output_layer / (self.gpus if self.layout.even else self.layout.tensor)
        if self.layout.even:
            blocks = blocks.times(1 / self.gpus)
        else:
            blocks = parallelism.counts_of_one(blocks, self.layout).times(self.layout.pipeline)
        outside, routed = replace(blocks, experts=0), Counts(experts=blocks.experts)
        return (
            bytes_in_format(self.weights, outside, output=tables, mixture=counts.mixture),
            bytes_in_format(self.weights, routed, output=0, mixture=counts.mixture),
        )


def deploy(
    architecture: Architecture,
    accelerator: Accelerator,
    *,
    gpus: int,
    weights: Precision,
    cache: Precision,
    layout: Layout = EVEN,
    memory: float | None = None,
    stored_bytes: float | None = None,
    fabric: Fabric | None = None,
) -> Deployment:
    """A model on accelerators, with its bytes.

    Args:
        architecture: the model.
        accelerator: each of the accelerators.
        gpus: how many.
        weights: the number format of the parameters; a recipe is carried out for the model.
        cache: the number format of keys and values.
        layout: how they share the work.
        memory: bytes of one accelerator for parameters and caches, the datasheet's where None.
        stored_bytes: bytes of all the parameters as an engine logs them, those of the format where None.
        fabric: the links between machines; None where they count as fast as those within.
    """
    counts, weights = parameters(architecture), in_model(weights, architecture)
    whole = bytes_in_format(
        weights, counts.stored, output=counts.output_layer, looked_up=counts.looked_up, mixture=counts.mixture
    )
    if layout.even:
        of_one = whole / gpus
    else:
        one = parallelism.counts_of_one(counts.stored, layout)
        of_one = bytes_in_format(
            weights,
            one,
            output=counts.output_layer / layout.tensor,
            looked_up=counts.looked_up / layout.tensor,
            mixture=counts.mixture,
        )
    if stored_bytes is not None:
        whole, of_one = stored_bytes, of_one * (stored_bytes / whole)
    return Deployment(
        architecture=architecture,
        parameters=counts,
        accelerator=accelerator,
        gpus=gpus,
        layout=layout,
        weights=weights,
        cache=cache,
        memory=accelerator.memory if memory is None else memory,
        stored_bytes=whole,
        stored_bytes_of_one=of_one,
        peak=cast("float | None", multiplied_at(architecture, weights, accelerator.peak_of)),
        attention_peak=accelerator.rate(cache)[1],
        fabric=fabric,
    )
