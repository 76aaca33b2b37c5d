"""What runs on what: a model in its number formats on accelerators that share each pass evenly."""

from dataclasses import dataclass

from inferdash.facts.accelerator import Accelerator
from inferdash.facts.architecture import Architecture
from inferdash.facts.precision import Precision
from inferdash.formula import Number
from inferdash.physics.parameters import (
    Parameters,
    parameter_bytes,
    parameters,
    parameters_outside_input_embedding,
    stored_parameters,
)


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
    loaded_bytes: Number
    """Bytes of the parameters that each pass loads: all outside the input embedding."""
    peak: float | None
    """Dense peak of one accelerator in FLOP/s for these weights; None where its maker publishes none."""


def deploy(
    architecture: Architecture, accelerator: Accelerator, *, gpus: int, weights: Precision, cache: Precision
) -> Deployment:
    """A model on accelerators, with its bytes."""
    counts = parameters(architecture)
    stored = stored_parameters(
        in_blocks=counts.in_blocks,
        output_layer=counts.output_layer,
        input_embedding=counts.input_embedding_apart,
    )
    outside = parameters_outside_input_embedding(in_blocks=counts.in_blocks, output_layer=counts.output_layer)
    return Deployment(
        architecture=architecture,
        parameters=counts,
        accelerator=accelerator,
        gpus=gpus,
        weights=weights,
        cache=cache,
        stored_bytes=parameter_bytes(parameters=stored, bytes_per_number=weights.bytes_per_number),
        loaded_bytes=parameter_bytes(parameters=outside, bytes_per_number=weights.bytes_per_number),
        peak=accelerator.rate(weights)[1],
    )
