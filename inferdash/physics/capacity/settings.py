"""What decides how much an engine keeps: the shape of the model, how the engine is started, what programs see."""

from dataclasses import dataclass
from typing import Final

from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.models.architecture import Architecture
from inferdash.layers.feed_forward import Experts, GatedFeedForward


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What of a model makes the memory that an engine keeps beside it."""

    hidden: int
    vocabulary: int
    layers: int
    heads: int
    """Of queries, in the layer that has most."""
    width: int
    """Of the widest dense network of a layer; 0 where all layers have experts."""
    experts_per_token: int = 0
    expert_width: int = 0
    workspace: bool = True
    """Whether the kernels of the experts need one; those of MXFP4 do not."""
    towers: bool = False
    """Whether it has encoders of pictures or sound."""
    recurrent: bool = False
    """Whether layers keep a state in place of a cache."""


def shape_of(architecture: Architecture, *, fp4_experts: bool = False) -> Shape:
    """The shape of a model; `fp4_experts` where its experts are in MXFP4."""
    networks = [network for blocks in architecture.blocks for network in blocks.networks]
    routed = [network for network in networks if isinstance(network, Experts)]
    dense = [network.width for network in networks if isinstance(network, GatedFeedForward)]
    widest = max(routed, key=lambda one: one.experts_per_token * one.width, default=None)
    attentions = [blocks.attention for blocks in architecture.blocks if blocks.attention]
    return Shape(
        hidden=architecture.hidden,
        vocabulary=architecture.vocabulary,
        layers=architecture.layers,
        heads=max((getattr(one, "heads", 0) for one in attentions), default=0),
        width=max(dense, default=0),
        experts_per_token=widest.experts_per_token if widest else 0,
        expert_width=widest.width if widest else 0,
        workspace=not fp4_experts,
        towers=architecture.other_parameters > 0,
        recurrent=any(not hasattr(one, "heads") for one in attentions),
    )


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How an engine is started on accelerators of one kind. What is None follows from the engine."""

    total: float
    """Bytes of one accelerator as a program sees them."""
    a100: bool = False
    strange: bool = False
    """Whether it is of a maker of whose accelerators nearly no start was logged: any but NVIDIA."""
    tensor: int = 1
    """Accelerators that share each matrix."""
    gpus: int = 1
    """That share the model."""
    expert: int = 1
    """Over which whole experts are spread; 1 where they are shared like matrices."""
    version: str = ""
    share: float | None = None
    tokens: int | None = None
    """Of a pass."""
    requests: int | None = None
    """At a time, at most."""
    context: int = 1
    """Tokens of the longest request."""
    last: bool = True
    """Whether the accelerator has the output layer."""
    weights: float = 0.0
    """Bytes of the parameters on it."""
    activations: float | None = None
    """As logged or entered, in place of the rule."""
    outside: float | None = None
    """Likewise."""


_DRIVER: Final = 0.48 * 2**30
"""Bytes that NVIDIA's driver reports and programs do not see: the median of 0.42 to 0.75 GiB in logs of nine cards."""
_UNIFIED_SHARE: Final = 0.72
"""Of Apple's memory that the GPU may hold: 0.67 and 0.74 in two logs."""


def seen_bytes(chip: Accelerator) -> float:
    """Bytes of an accelerator as a program sees them."""
    visible = chip.visible_memory or chip.memory
    if chip.family == "apple":
        return visible * _UNIFIED_SHARE
    return visible - _DRIVER if chip.maker == "NVIDIA" else visible
