"""What is asked of a service and what it may be built from, and the set-ups that follow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from math import inf
from typing import Final

from inferdash.facts import library
from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.machines.engine import Engine
from inferdash.facts.machines.engine_memory import EngineMemory
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import Precision
from inferdash.layers.feed_forward import Experts
from inferdash.physics.capacity.engine_memory import kept
from inferdash.physics.capacity.memory import held_bytes
from inferdash.physics.capacity.settings import Setting, Shape, seen_bytes
from inferdash.physics.drafters import Proposals
from inferdash.physics.parallelism import Fabric, Layout, obstacle

NODE: Final = 8
"""Accelerators of a node."""


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Like requests that come at random, and the seconds that nine of ten of them should not exceed.

    Raises:
        ValueError: where nothing is asked for, or an answer has no second token.
    """

    requests_per_s: float
    prompt: int
    """Tokens of a prompt."""
    answer: int
    """Tokens of an answer, 2 at least: between two of them lies the latency that is asked for."""
    found_share: float = 0.0
    """Of a prompt, found in a cache of prefixes; one token at least is left to read."""
    time_to_first_token_s: float = inf
    """p90, without server and network; infinity where all is well."""
    inter_token_latency_s: float = inf
    """p90 of the mean between the tokens of a request; infinity likewise."""
    confidence: str = "even"
    """With which both are held, a key of `physics.confidence.PASSES`; it says nothing where limits are planned."""

    def __post_init__(self) -> None:
        """Checks that something is asked for."""
        if self.requests_per_s <= 0 or self.prompt < 1 or self.answer < 2 or not 0 <= self.found_share <= 1:  # noqa: PLR2004 - as the docstring says
            raise ValueError("a demand has requests, a prompt, an answer of 2 tokens at least and a share from 0 to 1")

    @property
    def found(self) -> int:
        """Tokens of a prompt that are found."""
        return min(int(self.found_share * self.prompt), self.prompt - 1)

    @property
    def tokens(self) -> int:
        """Of a prompt and its answer."""
        return self.prompt + self.answer


MOST_PLACES: Final = 1024
"""Requests in a batch of a group of accelerators, at most."""
_FEWER_PLACES: Final = 256


def started_for(places: int) -> int:
    """Requests for which an engine with this batch limit keeps memory: one of two numbers, never fewer than the limit.

    Two, as memory then need not be worked out for each batch limit that is tried.
    """
    return _FEWER_PLACES if places <= _FEWER_PLACES else MOST_PLACES


@dataclass(frozen=True, kw_only=True)
class Room:
    """What an engine has of the memory of an accelerator, as `physics.engine_memory` has it."""

    rule: EngineMemory = field(default_factory=lambda: library.memory_of("vllm"))
    version: str = ""
    """Of the engine; the middle of all where empty."""

    def weights(self, model: Architecture, precision: Precision) -> float:
        """Bytes of the parameters in memory, on all accelerators of a replica together."""
        return float(held_bytes(model, precision, self.rule, version=self.version))

    def of(
        self, chip: Accelerator, shape: Shape, layout: Layout, *, places: int, tokens: int, context: int, weights: float
    ) -> float:
        """Bytes of one accelerator for parameters and caches.

        Args:
            chip: the accelerator.
            shape: of the model.
            layout: how a replica shares it.
            places: the batch limit.
            tokens: of a pass.
            context: tokens of a prompt and its answer.
            weights: bytes of the parameters on the accelerator.
        """
        setting = Setting(
            total=seen_bytes(chip),
            a100="A100" in chip.name,
            strange=chip.maker != "NVIDIA",
            tensor=layout.tensor,
            gpus=layout.tensor * layout.pipeline,
            expert=layout.expert,
            version=self.version,
            tokens=tokens,
            requests=started_for(places),
            context=context,
            weights=weights,
        )
        return max(0.0, kept(self.rule, shape, setting).usable.expected)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A model, and what it may run on."""

    model: Architecture
    accelerators: Mapping[str, Accelerator]
    """By id."""
    rents: Mapping[str, float] | None = None
    """Dollars an hour for one accelerator, by id; None for the middle of what each is quoted at."""
    weights: tuple[str, ...] = ("bf16",)
    """Ids of number formats of the parameters."""
    caches: tuple[str, ...] = ("bf16",)
    """Ids of number formats of keys and values."""
    engine: Engine | None
    """The program, for expected times; None for the limit of the datasheet."""
    room: Room = field(default_factory=Room)
    most_gpus: int = 1024
    """Accelerators of one kind that can be had."""
    fabric: Fabric | None = None
    """The links between machines; None where they count as fast as those within."""
    proposals: Proposals | None = None
    """What may propose tokens: each set-up is tried with it and without."""
    apart: bool = False
    """Whether prefill and decode are also tried on workers of their own."""
    decode_prefixes: bool = False
    """Whether what is found of a prompt is on decode workers too, so that it is not moved."""

    @property
    def pass_tokens(self) -> int:
        """Positions of one pass of a prefill, at most."""
        return self.engine.chunk if self.engine else 8192

    @cached_property
    def rent(self) -> dict[str, float]:
        """Dollars an hour for one accelerator, of those with one."""
        if self.rents is not None:
            return {name: self.rents[name] for name in self.accelerators if name in self.rents}
        return {name: chip.rent.middle for name, chip in self.accelerators.items() if chip.rent}

    @property
    def left_out(self) -> dict[str, str]:
        """Id -> why an accelerator takes no part, or not with all its layouts."""
        rent, reasons = self.rent, {}
        for name, chip in self.accelerators.items():
            if not (chip.dense_bf16 or chip.dense_fp16):
                reasons[name] = "its maker publishes no peak"
            elif name not in rent:
                reasons[name] = "no rent is known"
            elif chip.link_bandwidth is None:
                reasons[name] = "only alone: the speed of a link between several is not known"
            elif chip.linked < NODE:
                reasons[name] = f"at most {chip.linked} together: its link joins no more"
        return reasons

    def groups(self) -> Iterator[tuple[str, ...]]:
        """Ids of the accelerators that take part, those together that formulas can take side by side."""
        rent, chips = self.rent, self.accelerators
        part = [name for name in chips if name in rent and (chips[name].dense_bf16 or chips[name].dense_fp16)]

        def kind(name: str) -> tuple[str, int]:
            return chips[name].family, linked(chips[name])

        for _, names in groupby(sorted(part, key=kind), key=kind):
            yield tuple(names)


def linked(chip: Accelerator) -> int:
    """Accelerators that can share a model with a link whose speed is known; of a node at most."""
    return min(NODE, chip.linked) if chip.link_bandwidth else 1


def layouts(model: Architecture, *, linked: int) -> list[Layout]:
    """How the GPUs of a replica may share a model, but for those that it cannot be divided by.

    Tensor parallel within a node; with experts, data parallel with the experts spread over a node or two; and tensor
    parallel in a node with a pipeline over several, which is for models too large for a node. The link between nodes
    counts as fast as that within, where the offer does not say how fast it is.

    Args:
        model: the model.
        linked: GPUs that a link joins; beyond a node only where it joins all of a node.
    """
    shared = [Layout(even=False, tensor=tensor) for tensor in (1, 2, 4, NODE)]
    if any(isinstance(blocks.feed_forward, Experts) for blocks in model.blocks):
        shared += [Layout(even=False, data=data, expert=data) for data in (NODE, 2 * NODE)]
    shared += [Layout(even=False, tensor=NODE, pipeline=nodes) for nodes in (2, 4)]
    return [one for one in shared if min(one.gpus, NODE) <= linked and not obstacle(model, one)]
