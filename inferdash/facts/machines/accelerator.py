"""An accelerator as its datasheet: memory, bandwidth, peaks. A rate that a chip does not have is absent."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias, cast

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from inferdash.facts.models.precision import PRECISIONS, Precision, Rate
from inferdash.facts.money.rents import Quote, RentRange, quartiles
from inferdash.facts.provenance import Sourced
from inferdash.formula import Number
from inferdash.validated import Bytes, BytesPerSecond, FlopsPerSecond, Validated

Family: TypeAlias = Literal[
    "nvidia-datacenter",
    "nvidia-workstation",
    "nvidia-unified",
    "geforce",
    "amd-datacenter",
    "amd-unified",
    "radeon",
    "apple",
    "other-datacenter",
]
"""Accelerators that reach a like share of their datasheets.

Workstation: NVIDIA's professional cards with GDDR memory, also for servers. Unified: memory shared with a processor.
"""


FAMILIES: Final[dict[Family, str]] = {
    "nvidia-datacenter": "NVIDIA datacenter",
    "nvidia-workstation": "NVIDIA workstation",
    "nvidia-unified": "NVIDIA unified memory",
    "geforce": "GeForce",
    "amd-datacenter": "AMD datacenter",
    "amd-unified": "AMD unified memory",
    "radeon": "Radeon",
    "apple": "Apple",
    "other-datacenter": "Other datacenter",
}
"""Family -> what it is called."""


class Power(Validated):
    """What one accelerator draws, in watts. Makers of TPUs and Trainium publish none: those are others' estimates."""

    board: PositiveFloat | None = None
    """The most that `covers` draws in a lasting load, as its maker states it."""
    covers: str = "board or module"
    """What the figure covers, which may be a chip or a whole machine."""
    board_source: str = ""
    confidence: Literal["high", "medium", "low"] = "low"
    """How far the source carries the figure of the board."""
    idle: PositiveFloat | None = None
    """With nothing loaded."""
    idle_source: str = ""
    node: PositiveFloat | None = None
    """The share of one accelerator in what its whole server draws at most."""
    node_source: str = ""
    site: PositiveFloat | None = None
    """The share of one accelerator in all that its site draws, with cooling and network."""
    site_source: str = ""


class Accelerator(Sourced):
    """One accelerator. Peaks are dense; the larger figures that datasheets print are with sparsity."""

    family: Family = "other-datacenter"
    memory: Bytes = Field(gt=0)
    """As the maker sells it, in GB of 10^9 bytes."""
    visible_memory: Bytes | None = None
    """What the driver reports, before any program runs."""
    bandwidth: BytesPerSecond = Field(gt=0)
    """Between the memory and the chip."""
    dense_bf16: FlopsPerSecond | None = None
    dense_fp16: FlopsPerSecond | None = None
    """Where it is not that of bf16."""
    dense_fp8: FlopsPerSecond | None = None
    dense_int8: FlopsPerSecond | None = None
    dense_fp4: FlopsPerSecond | None = None
    fp8_fnuz: bool = False
    """Whether its fp8 is the kind without a signed zero, into which an engine converts what files hold."""
    link_bandwidth: BytesPerSecond | None = None
    """Between accelerators, one way, for one accelerator."""
    linked: PositiveInt = 8
    """Accelerators that this link joins, of one machine: eight in the usual server, two or four on a bridge."""
    sparse_trap: str = ""
    """Figures often copied as the dense peak, which are not."""
    power: Power = Power()
    rents: tuple[Quote, ...] = ()
    """As sellers quote them, of every kind; none where none was found. They stand in presets/rents/."""

    @cached_property
    def rent(self) -> RentRange | None:
        """Quartiles of what sellers quote on demand; None where none does."""
        return quartiles(quote for quote in self.rents if quote.kind == "on-demand")

    def rate(self, precision: Precision) -> tuple[Precision, float | None]:
        """The format in which this chip multiplies numbers stored as `precision`, and its dense peak in FLOP/s.

        A chip without that rate, or with a slower one, works at 16 bits. The peak is None where the maker publishes
        none.
        """
        peak = self.peak_of(precision.rate)
        return (precision, peak) if peak and peak == getattr(self, precision.rate) else (PRECISIONS["bf16"], peak)

    def peak_of(self, rate: Rate) -> float | None:
        """The dense peak in FLOP/s for numbers of a rate, or that at 16 bits where it has none or a slower one."""
        own: float | None = getattr(self, rate)
        wide = self.dense_bf16 or self.dense_fp16
        return own if own and own >= (wide or 0) else wide

    def rate_name(self, rate: Rate) -> str:
        """The number format in which this chip multiplies numbers of a rate, as the field calls it."""
        own: float | None = getattr(self, rate)
        wide = self.dense_bf16 or self.dense_fp16
        return rate.removeprefix("dense_") if own and own >= (wide or 0) else "bf16" if wide else "not known"


@dataclass(frozen=True, eq=False)
class Accelerators:
    """Several accelerators of one family in the place of one, with a column where it has a number."""

    members: tuple[Accelerator, ...]
    family: Family
    memory: Number
    bandwidth: Number
    fp8_fnuz: Number
    link_bandwidth: Number | None

    def rate(self, precision: Precision) -> tuple[Precision, Number | None]:
        """The dense peak of each in FLOP/s for numbers stored as `precision`; None where that of one is not known.

        The format in which a chip multiplies them is its own, so the first of the two is only what was asked for.
        """
        return precision, self.peak_of(precision.rate)

    def peak_of(self, rate: Rate) -> Number | None:
        """The dense peak of each in FLOP/s for numbers of a rate."""
        return column([chip.peak_of(rate) for chip in self.members])


def column(numbers: Sequence[float | None]) -> Number | None:
    """Numbers below each other, an array of shape (n, 1); None where one of them is not known."""
    return None if None in numbers else np.array(numbers, dtype=np.float64)[:, None]


def side_by_side(members: Sequence[Accelerator]) -> Accelerator:
    """Accelerators of one family as one of them: a formula of physics then answers with a row for each.

    Their numbers are arrays of shape (n, 1), so that batches or tokens, along the last axis, cross them.

    Raises:
        ValueError: where they are of several families, whose reach differs.
    """
    (family, *others) = {chip.family for chip in members}
    if others:
        raise ValueError(f"{len(others) + 1} families of accelerators do not stand side by side")
    together = Accelerators(
        members=tuple(members),
        family=family,
        memory=np.array([chip.memory for chip in members])[:, None],
        bandwidth=np.array([chip.bandwidth for chip in members])[:, None],
        fp8_fnuz=np.array([chip.fp8_fnuz for chip in members])[:, None],
        link_bandwidth=column([chip.link_bandwidth for chip in members]),
    )
    return cast("Accelerator", together)
