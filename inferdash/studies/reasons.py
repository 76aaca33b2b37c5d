"""Why two scenarios differ, in a few words, as far as bytes, operations and rents say it."""

from collections.abc import Iterable
from typing import Final, Protocol

from inferdash import quantities
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies import ratios
from inferdash.studies.capacity import fitting
from inferdash.studies.ratios import Ratio

PAGES: Final = frozenset({"overview", "compute_vs_memory", "batching", "quantization", "experts"})
"""Those whose numbers follow from one decode pass."""
_ALIKE: Final = 0.005
"""Below this share a difference is not told."""
_BOUNDS: Final = {"memory": "memory bandwidth", "compute": "compute"}


class Named(Protocol):
    """A number of both that has a name."""

    @property
    def name(self) -> str:
        """What it is."""


def of(page: str, a: Scenario, b: Scenario) -> str:
    """What makes a decode pass of B take another time than one of A at the limit; empty where nothing does."""
    if page not in PAGES:
        return ""
    machines = [fitting(one).deployment for one in (a, b)]
    one, other = (
        decode(machine, requests=fitting(of).batch, past=of.prompt)
        for machine, of in zip(machines, (a, b), strict=True)
    )
    if one.bound is None or other.bound is None:
        return ""
    if one.bound != other.bound:
        return f"Why B differs: {_BOUNDS[one.bound]} limits a decode pass of A, {_BOUNDS[other.bound]} one of B."
    rates = [machine.gpus * machine.accelerator.bandwidth for machine in machines]
    does, noun, unit, per = "reads", "bytes", "B", (float(one.bytes_read), float(other.bytes_read))
    has, name = (rates[0], rates[1]), "memory bandwidth"
    if one.bound == "compute":
        peaks = [machine.gpus * (machine.peak or 0.0) for machine in machines]
        does, noun, unit, per = "takes", "operations", "FLOP", (float(one.flops), float(other.flops))
        has, name = (peaks[0], peaks[1]), "compute"
    said = []
    if _differ(*per):
        said.append(f"its decode pass {does} {_ratio(ratios.many(''), *per, noun, unit)}")
    if all(has) and _differ(*has):
        said.append(f"it has {_ratio(ratios.much(''), *has, name, f'{unit}/s')}")
    if said:
        return f"Why B differs: {', and '.join(said)}."
    if a.engine == b.engine:
        return ""
    return "The limit is the same: the engines were measured to reach different shares of it."


def rents(a: Scenario, b: Scenario, *, told: Iterable[Named]) -> str:
    """That two accelerators are counted at one rent, where dollars were told; empty where each has its own."""
    if a.accelerator == b.accelerator or a.rent != b.rent or not any("ost" in one.name for one in told):
        return ""
    asked = [
        f"${one.hardware.rent.middle:,.2f} for {who}"
        for who, one in (("A", a), ("B", b))
        if one.hardware.rent is not None
    ]
    sellers = f"; sellers ask {' and '.join(asked)} at the median" if asked else ""
    return f" Both are counted at ${a.rent:g} a GPU-hour{sellers}."


def rent_asked(page: str, a: Scenario, b: Scenario) -> dict[str, dict[str, float]]:
    """What a button says that gives B what sellers ask for its accelerator, and the field that it sets.

    Nothing where the two have their own rents, or no seller was asked.
    """
    if page not in PAGES or a.accelerator == b.accelerator or a.rent != b.rent or b.hardware.rent is None:
        return {}
    asked = round(b.hardware.rent.middle, 2)
    return {f"Rent B at ${asked:,.2f}, as sellers ask": {"rent": asked}} if asked != b.rent else {}


def _differ(a: float, b: float) -> bool:
    return abs(b / a - 1) >= _ALIKE if a else bool(b)


def _ratio(words: Ratio, a: float, b: float, noun: str, unit: str) -> str:
    was, now = (quantities.shown(one, unit) for one in (a, b))
    return f"{words.said(b / a)} {noun} ({was} in A, {now} in B)"
