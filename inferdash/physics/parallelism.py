"""Several accelerators: how a model and its requests are divided among them, and what that costs on the link."""

from dataclasses import dataclass

import numpy as np

from inferdash.facts.models.architecture import Architecture
from inferdash.formula import Number, formula
from inferdash.layers.counts import Counts
from inferdash.layers.feed_forward import Experts
from inferdash.quantities import count

_MACHINE = 8
"""Accelerators of a machine, as most are built."""
ACTIVATION_BYTES = 2
"""Bytes of a number of the vectors that travel between accelerators: they are kept at 16 bits."""


@dataclass(frozen=True)
class Layout:
    """How accelerators share the work. All at 1 and `even`: each pass is shared evenly, the link not counted."""

    even: bool = True
    tensor: int = 1
    """Accelerators that share each matrix."""
    pipeline: int = 1
    """Groups of them that share the layers, one after another."""
    data: int = 1
    """Groups that each serve requests of their own."""
    expert: int = 1
    """Accelerators over which the experts of a layer are divided; 1 where they are shared like the matrices."""

    @property
    def gpus(self) -> int:
        """Accelerators in all."""
        return self.tensor * self.pipeline * self.data

    @property
    def words(self) -> str:
        """How they share it, in the words of engines."""
        said = [
            f"{many}{how}"
            for many, how in (
                (self.tensor, "-way tensor parallel"),
                (self.pipeline, " pipeline stages"),
                (self.data, "-way data parallel"),
            )
            if many > 1
        ]
        return " × ".join(said) + (", experts spread" if self.expert > 1 else "") if said else "one GPU"


EVEN = Layout()


@dataclass(frozen=True, kw_only=True)
class Fabric:
    """The links between machines, or between racks, where they are slower than those within."""

    node: int
    """Accelerators that the links within join."""
    bandwidth: float
    """Bytes a second of one accelerator, one way."""
    latency_s: float = 0.0
    """Seconds of an exchange beside its bytes."""


def usual(architecture: Architecture, *, gpus: int, linked: int) -> Layout:
    """How engines are started on so many accelerators: tensor parallel in a machine, pipeline stages over several.

    So vLLM’s guide to parallelism and scaling, also for GPUs that do not divide the heads: these are stages.

    Args:
        architecture: the model, whose heads and layers say what can be divided.
        gpus: all of them.
        linked: those that a link joins in one machine.
    """
    within = range(1, min(gpus, linked, _MACHINE) + 1)
    tensor = max(
        many for many in within if not gpus % many and not obstacle(architecture, Layout(even=False, tensor=many))
    )
    machines = gpus // tensor
    stages = max(many for many in range(1, min(machines, architecture.layers) + 1) if not machines % many)
    return Layout(even=False, tensor=tensor, pipeline=stages, data=machines // stages)


def obstacle(architecture: Architecture, layout: Layout) -> tuple[str, str] | None:
    """The part of a layout that a model cannot be divided by, and why not; None where it can be."""
    if layout.pipeline > architecture.layers:
        return "pipeline", (
            f"gives each group of GPUs a layer at least, and {layout.pipeline:,} groups are more than "
            f"the {count(architecture.layers, 'layer')}"
        )
    for blocks in architecture.blocks:
        heads = getattr(blocks.attention, "heads", 0)
        if heads % layout.tensor:
            return "tensor", f"divides the heads of a layer evenly, and {layout.tensor:,} GPUs do not divide {heads:,}"
        kind = blocks.feed_forward
        if isinstance(kind, Experts) and layout.expert > kind.experts:
            return "expert", (
                f"puts at least one expert of a layer on each GPU, and {layout.expert:,} GPUs are more than "
                f"the {kind.experts:,} experts"
            )
    return None


@formula(unit="B", ref="tensor-parallelism")
def all_reduce_bytes(*, tensor: Number, positions: Number, hidden: Number, bytes_per_number: Number) -> Number:
    """Bytes that one accelerator sends in an all-reduce of the vectors of `positions` positions, as a ring.

    Each sends its part around twice, but for the part that it already has.
    """
    return 2 * (tensor - 1) / tensor * positions * hidden * bytes_per_number


@formula(unit="B", ref="expert-parallelism")
def all_to_all_bytes(
    *, expert: Number, positions: Number, experts_per_token: Number, hidden: Number, bytes_per_number: Number
) -> Number:
    """Bytes that one accelerator sends to the experts of its positions and gets back from them, in one layer.

    The part of the experts that it holds itself needs no link.
    """
    return 2 * (expert - 1) / expert * positions * experts_per_token * hidden * bytes_per_number


@formula(unit="B", ref="pipeline-parallelism")
def pipeline_bytes(*, pipeline: Number, positions: Number, hidden: Number, bytes_per_number: Number) -> Number:
    """Bytes that go from group to group of layers, one after another."""
    return (pipeline - 1) * positions * hidden * bytes_per_number


@formula(unit="s", ref="tensor-parallelism")
def link_s(*, bytes_sent: Number, link_bandwidth: Number) -> Number:
    """Seconds on the link between accelerators, at its full bandwidth one way."""
    return bytes_sent / link_bandwidth


@formula(unit="s", ref="expert-parallelism")
def two_links_s(
    *, bytes_sent: Number, link_bandwidth: Number, bytes_between: Number, fabric_bandwidth: Number, latency_s: Number
) -> Number:
    """Seconds on the links within a machine, where all bytes go, and after it on those between, where a part goes on.

    With an endless bandwidth between, and no latency, these are those of one machine.
    """
    return bytes_sent / link_bandwidth + bytes_between / fabric_bandwidth + latency_s


@formula(unit="%", ref="expert-parallelism")
def share_between(*, accelerators: Number, node: Number) -> Number:
    """Share of what an accelerator sends to others that goes to another machine, where it goes to all alike."""
    return np.maximum(0, accelerators - node) / np.maximum(1, accelerators - 1)


@formula(unit="requests", ref="batching")
def requests_of_a_group(*, requests: Number, data: Number) -> Number:
    """Requests that a group serves at most, where the groups share them evenly: a request lives on one group."""
    return np.ceil(requests / data)


def counts_of_one(counts: Counts, layout: Layout) -> Counts:
    """Parameters on one accelerator of those in layers: matrices and experts divided, norms and routers copied."""
    experts = layout.expert if layout.expert > 1 else layout.tensor
    return Counts(
        attention=counts.attention / (layout.tensor * layout.pipeline),
        dense=counts.dense / (layout.tensor * layout.pipeline),
        shared=counts.shared / (layout.tensor * layout.pipeline),
        experts=counts.experts / (experts * layout.pipeline),
        router=counts.router / layout.pipeline,
        small=counts.small / layout.pipeline,
    )


def sent_bytes(architecture: Architecture, layout: Layout, *, positions: Number) -> Number:
    """Bytes that one accelerator sends in a pass over `positions` positions of its group."""
    common = {"positions": positions, "hidden": architecture.hidden, "bytes_per_number": ACTIVATION_BYTES}
    sent: Number = 0 * positions
    for blocks in architecture.blocks:
        if layout.tensor > 1:
            halves = bool(blocks.attention) + bool(blocks.networks)
            sent = sent + blocks.count * halves * all_reduce_bytes(tensor=layout.tensor, **common)
        kind = blocks.feed_forward
        if layout.expert > 1 and isinstance(kind, Experts):
            sent = sent + blocks.count * all_to_all_bytes(
                expert=layout.expert, experts_per_token=kind.experts_per_token, **common
            )
    if layout.pipeline > 1:
        sent = sent + pipeline_bytes(pipeline=layout.pipeline, **common)
    return sent


def between(architecture: Architecture, layout: Layout, *, positions: Number, node: int) -> tuple[Number, int]:
    """Bytes of those that one accelerator sends in a pass that leave its machine, and the exchanges that wait for it.

    An all-reduce over several machines first adds up within each, so that an accelerator sends its part of the vectors
    to the others; experts lie anywhere, so that their vectors go to all accelerators alike; stages lie side by side.
    """
    common = {"positions": positions, "hidden": architecture.hidden, "bytes_per_number": ACTIVATION_BYTES}
    sent: Number = 0 * positions
    waits = 0
    machines = -(-layout.tensor // node)
    for blocks in architecture.blocks:
        if machines > 1:
            halves = bool(blocks.attention) + bool(blocks.networks)
            sent = sent + blocks.count * halves * all_reduce_bytes(tensor=machines, **common) / min(node, layout.tensor)
            waits += blocks.count * halves
        kind = blocks.feed_forward
        if layout.expert > node and isinstance(kind, Experts):
            exchanged = all_to_all_bytes(expert=layout.expert, experts_per_token=kind.experts_per_token, **common)
            sent = sent + blocks.count * exchanged * share_between(accelerators=layout.expert, node=node)
            waits += 2 * blocks.count
    crossed = min(layout.pipeline, -(-layout.tensor * layout.pipeline // node)) - 1
    if crossed > 0:
        sent = sent + pipeline_bytes(pipeline=crossed + 1, **common)
        waits += crossed
    return sent, waits
