"""What a pass has to do, in the units that an engine's figures multiply: seconds at full speed, layers, exchanges.

An expected time is a sum of these, each times a figure of the engine. So the fit of the engines and the pages that show
them share one account of what a pass does.
"""

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from inferdash.facts.models.architecture import Architecture
from inferdash.formula import Number, formula
from inferdash.layers.feed_forward import Experts
from inferdash.physics.deployment import Deployment
from inferdash.physics.parallelism import ACTIVATION_BYTES, requests_of_a_group
from inferdash.physics.passes import Pass

FULL_WIDTH: Final = 1024
"""Columns of an expert on one accelerator with which `narrow_s` is `experts_s`; with half of them it is twice that."""
_BYTE: Final = 8
GRAPHED: Final = 16
"""Positions of a request up to which engines start a pass as one recorded graph; kernels of longer ones start alone."""
NARROWEST: Final = 128
"""Columns below which it grows no further."""
_GROWING: Final = (
    *("requests", "matrices_s", "experts_s", "attention_s", "latent_s", "narrow_s", "packed_s"),
    *("vectors_s", "link_s", "load_cache_s"),
)
"""Those that grow with the positions of a pass."""


@formula(unit="s", ref="measured")
def vectors_s(
    *, trips: Number, layers: Number, positions: Number, hidden: Number, bytes_per_number: Number, bandwidth: Number
) -> Number:
    """Seconds in which the vectors of the positions go to memory and come back, `trips` times in each layer."""
    return trips * layers * positions * hidden * bytes_per_number / bandwidth


@dataclass(frozen=True)
class Amounts:
    """What one pass has to do. Its fields are numbers, or arrays where it was asked for with arrays."""

    load_matrices_s: Number
    """Loading all parameters outside routed experts, at the datasheet's bandwidth."""
    load_experts_s: Number
    load_cache_s: Number
    matrices_s: Number
    """Arithmetic with all parameters outside routed experts, at the dense peak."""
    experts_s: Number
    attention_s: Number
    latent_s: Number
    """Of `attention_s`, that of latent attention."""
    narrow_s: Number
    """`experts_s` times how much narrower than `FULL_WIDTH` an expert is on one accelerator."""
    packed_s: Number
    """`experts_s` where experts are packed below 8 bits and widened before they are multiplied."""
    layers: Number
    experts_layers: Number
    latent_layers: Number
    latent_reads: Number
    """The same in a pass that reads prompts."""
    sparse_layers: Number
    """With an indexer that chooses tokens."""
    recurrent_layers: Number
    """With a state of fixed size instead of keys and values."""
    scaled_layers: Number
    """All layers where numbers are scaled block by block before each matrix."""
    fnuz_layers: Number
    """The same on an accelerator whose fp8 is FNUZ."""
    vectors_s: Number
    """One trip of the vectors of all positions, in each layer."""
    exchanges: Number
    gaps: Number
    """Between groups of layers."""
    requests: Number
    passes: Number
    link_s: Number
    limit_s: Number
    """Nan where no peak is known."""

    def times(self, count: Number) -> "Amounts":
        """Those of that many passes like this one."""
        return Amounts(*(count * getattr(self, part.name) for part in fields(self)))

    def then(self, other: "Amounts") -> "Amounts":
        """Those of this pass and another one after it."""
        return Amounts(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    def of_prompts(self, prompts: float) -> "Amounts":
        """Those of a pass that reads so many prompts, from those of one prompt as long as all of them together."""
        attention = {name: getattr(self, name) / prompts for name in ("attention_s", "latent_s")}
        return replace(self, requests=self.requests * prompts, **attention)

    def beside(self, decode: "Amounts") -> "Amounts":
        """Those of one pass that reads prompts, this one, with the positions of a decode in it.

        Parameters are loaded once, layers and exchanges start once; what grows with the positions adds up.
        """
        together = replace(self, **{name: getattr(self, name) + getattr(decode, name) for name in _GROWING})
        load = together.load_matrices_s + together.load_experts_s + together.load_cache_s
        compute = together.matrices_s + together.experts_s + together.attention_s
        return replace(together, limit_s=np.maximum(load, compute) + together.link_s)


def _kinds(shape: Architecture) -> tuple[int, int, int, int, int]:
    """Layers with experts, latent attention, an indexer, a state; the width of an expert."""
    counts = [0, 0, 0, 0]
    width = 0
    for blocks in shape.blocks:
        kind = blocks.attention
        marks = (
            isinstance(blocks.feed_forward, Experts),
            bool(kind and kind.expands),
            bool(getattr(kind, "indexer", None)),
            bool(kind and not kind.grows),
        )
        counts = [count + blocks.count * mark for count, mark in zip(counts, marks, strict=True)]
        if isinstance(blocks.feed_forward, Experts):
            width = blocks.feed_forward.width
    return counts[0], counts[1], counts[2], counts[3], width


def amounts(machine: Deployment, one: Pass, *, requests: Number, positions: Number) -> Amounts:
    """What a pass has to do.

    Args:
        machine: what runs on what.
        one: the pass at its limit.
        requests: requests in the pass.
        positions: new positions of each request.
    """
    shape, layout, counts = machine.architecture, machine.layout, machine.parameters
    experts_layers, latent_layers, sparse_layers, recurrent_layers, width = _kinds(shape)
    mine = requests if layout.even else requests_of_a_group(requests=requests, data=layout.data)
    # Experts that are divided over all accelerators work for the requests of every group.
    seen = requests if layout.even or layout.expert > layout.tensor else mine
    bandwidth = machine.accelerator.bandwidth
    load_matrices, load_experts = (
        loaded / bandwidth for loaded in machine.loaded_bytes_apart(positions=seen * positions)
    )
    compute = np.nan if one.compute_s is None else one.compute_s
    peak, attention_peak = (np.nan if rate is None else rate for rate in (machine.peak, machine.attention_peak))
    attention = one.attention_flops / attention_peak
    known = machine.peak is not None and machine.attention_peak is not None
    attention_share = attention / (one.matrix_flops / peak + attention) if known else 0.0
    experts_share = 2 * counts.active.experts * positions / one.matrix_flops
    experts = compute * (1 - attention_share) * experts_share
    columns = width / (layout.tensor if layout.expert == 1 else 1)
    scaled_layers = shape.layers * machine.weights.scaled_blocks
    packed = machine.weights.rate == "dense_bf16" and machine.weights.bits("experts", mixture=True) < _BYTE
    return Amounts(
        load_matrices_s=load_matrices,
        load_experts_s=load_experts,
        load_cache_s=one.load_s - load_matrices - load_experts,
        matrices_s=compute * (1 - attention_share) * (1 - experts_share),
        experts_s=experts,
        attention_s=compute * attention_share,
        latent_s=compute * attention_share * latent_layers / shape.layers,
        narrow_s=experts * FULL_WIDTH / np.maximum(NARROWEST, columns),
        packed_s=experts * packed,
        layers=shape.layers,
        experts_layers=experts_layers,
        latent_layers=latent_layers,
        latent_reads=float(latent_layers) * np.greater(positions, GRAPHED),
        sparse_layers=sparse_layers,
        recurrent_layers=recurrent_layers,
        scaled_layers=scaled_layers,
        fnuz_layers=scaled_layers * machine.accelerator.fp8_fnuz,
        vectors_s=vectors_s(
            trips=1,
            layers=shape.layers,
            positions=mine * positions / (machine.gpus if layout.even else 1),
            hidden=shape.hidden,
            bytes_per_number=ACTIVATION_BYTES,
            bandwidth=bandwidth,
        ),
        exchanges=2 * shape.layers if layout.tensor > 1 else 0,
        gaps=layout.pipeline - 1,
        requests=mine,
        passes=1,
        link_s=0.0 if one.link_s is None else one.link_s,
        limit_s=np.nan if one.pass_s is None else one.pass_s,
    )
