"""How right expectations are: published measurements against what a fit that did not see their publisher expects."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.measured import PHASES, Measurement, measurements
from inferdash.scenario import OWN, Scenario
from inferdash.studies.numbers import Headline, Row, Table, number
from inferdash.studies.published import source_link

NAME: Final = "evidence"
TITLE: Final = "How right is this?"
_NEAREST: Final = 8
_ENOUGH: Final = 20
"""Points from which on a group and phase has a row of its own."""
_HALF: Final = 0.5
_EDGES: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
_COLOURS: Final = {"decode": "memory", "prefill": "compute", "serving": "money", "full load": "cache"}


@dataclass(frozen=True)
class Evidence:
    """Errors of all phases, of publishers that the fit did not see."""

    points: int = number("numbers", "measurements")
    publishers: int = number("numbers", "publishers")
    decode_error: float = number("%", "median error of a decode pass")
    prefill_error: float = number("%", "median error of a prefill")
    serving_error: float = number("%", "median error of whole batches")
    decode_limit_error: float = number("%", "median error of the limit, for a decode pass")


def study(_: Scenario) -> Evidence:
    """The numbers of the page, the same for every scenario."""
    return _numbers()


@cache
def _numbers() -> Evidence:
    found = _fitted()
    return Evidence(
        points=len(found),
        publishers=len({one.publisher for one in found}),
        decode_error=_error(chosen("phase", "Decode"), 0.5),
        prefill_error=_error(chosen("phase", "Prefill"), 0.5),
        serving_error=_error(chosen("phase", "Serving"), 0.5),
        decode_limit_error=_error(chosen("phase", "Decode"), 0.5, of="limit_s"),
    )


@cache
def _fitted() -> list[Measurement]:
    return [one for one in measurements() if not one.apart]


def _error(found: Sequence[Measurement], quantile: float, *, of: str = "expected_s") -> float:
    return float(np.quantile([abs(getattr(one, of) / one.measured_s - 1) for one in found], quantile))


def sentence(_: Scenario, result: Evidence) -> str:
    """How wrong it is, in words."""
    decode, prefill, serving, limit = (
        quantities.percent(share)
        for share in (result.decode_error, result.prefill_error, result.serving_error, result.decode_limit_error)
    )
    return (
        f"Held against {result.points:,} published measurements, the expected time is off by {decode} at the median "
        f"for a decode pass, {prefill} for a prefill and {serving} for serving; the limit by {limit} for a decode pass."
    )


def headline_numbers(result: Evidence) -> list[Headline]:
    """The four numbers on top."""
    return [
        Headline("Decode pass, median error (expected)", result.decode_error, "%"),
        Headline("Prefill, median error (expected)", result.prefill_error, "%"),
        Headline("Serving, median error (expected)", result.serving_error, "%"),
        Headline("Decode pass, median error of the limit", result.decode_limit_error, "%"),
    ]


LEGEND: Final = (
    "Blue: decode passes; orange: prefills; purple: whole batches at a stated number of requests; green: at full load. "
    "On the dashed line both are equal. "
    "Click a point to see its parts and its working below."
)
METHOD: Final = (
    "Each publisher is left out of the fit in turn, and its measurements are then compared with what the others led us "
    "to expect. So an error here is one that you may meet with your own set-up."
)


BY: Final = {"phase": "Phase", "family": "Accelerators", "engine": "Engine", "year": "Year"}
"""Id -> by what measurements are put into groups."""
_FAMILIES: Final = {
    "nvidia-datacenter": "NVIDIA datacenter",
    "nvidia-workstation": "NVIDIA workstation",
    "nvidia-unified": "NVIDIA unified memory",
    "geforce": "GeForce",
    "amd-datacenter": "AMD datacenter",
    "amd-unified": "AMD unified memory",
    "radeon": "Radeon",
    "apple": "Apple",
}


def _group(one: Measurement, by: str) -> str:
    match by:
        case "family":
            return _FAMILIES[one.family]
        case "engine":
            return one.engine
        case "year":
            return one.published[:4]
    return one.phase.capitalize()


@cache
def groups(by: str) -> list[str]:
    """The groups of all measurements, the largest first, phases in their order, years too."""
    found = Counter(_group(one, by) for one in _fitted())
    if by == "phase":
        return [phase.capitalize() for phase in PHASES]
    return sorted(found) if by == "year" else [group for group, _ in found.most_common()]


def chosen(by: str, only: str | None) -> list[Measurement]:
    """The measurements of a group, all where none is named."""
    return [one for one in _fitted() if only in {None, _group(one, by)}]


@cache
def drawn(by: str, only: str | None) -> dict[str, list[dict[str, Any]]]:
    """`rows` of a group, all where none is named; the same for every scenario."""
    return rows(chosen(by, only))


def rows(found: Sequence[Measurement]) -> dict[str, list[dict[str, Any]]]:
    """Measured over expected seconds: "points", a line of equals."""
    points = [
        {
            "place": one.place,
            "expected_s": one.expected_s,
            "measured_s": one.measured_s,
            "meaning": _COLOURS[one.phase],
            "phase": one.phase,
            "label": f"{one.model} on {one.gpus} × {one.accelerator}, {one.engine}",
            "said": f"measured {quantities.shown(one.measured_s, 's')}, expected "
            f"{quantities.shown(one.expected_s, 's')}",
        }
        for one in found
    ]
    times = [one.measured_s for one in found]
    return {"points": points, "equal": [{"at_s": min(times)}, {"at_s": max(times)}]}


def error_rows(by: str) -> dict[str, list[dict[str, Any]]]:
    """Measured over expected time by group, a row each: its 10, 25, 50, 75 and 90th percentile, with its points."""
    found = []
    for group in groups(by):
        ratios = [one.measured_s / one.expected_s for one in chosen(by, group)]
        edges = dict(zip(("low", "under", "middle", "over", "high"), np.quantile(ratios, _EDGES).tolist(), strict=True))
        found.append({"group": group, "points": len(ratios), "meaning": "memory", **edges})
    return {"groups": found, "even": [{"at": 1}]}


DISTRIBUTION: Final = (
    "Measured over expected time: the line holds 80% of the points, the bar half of them, the tick is the median. "
    "Right of 1 it took longer than expected."
)


def _cells(by: str) -> list[tuple[str, list[Measurement]]]:
    """The phases of each group that have enough points to say something, with their points."""
    phases = [(group, phase, chosen(by, group)) for group in groups(by) for phase in PHASES]
    found = [
        (group if by == "phase" else f"{group}, {phase}", [one for one in mine if one.phase == phase])
        for group, phase, mine in phases
    ]
    return [(name, mine) for name, mine in found if len(mine) >= _ENOUGH]


def _inside(found: Sequence[Measurement]) -> float:
    return sum(one.inside for one in found) / len(found)


def _ratio(found: Sequence[Measurement]) -> float:
    return float(np.median([one.measured_s / one.expected_s for one in found]))


def error_table(by: str) -> Table:
    """Errors by group and phase: how many lie in their band, and how far the expectation and the limit are off."""

    def row(name: str, mine: Sequence[Measurement]) -> Row:
        expected, limit = (
            " / ".join(quantities.percent(_error(mine, at, of=of)) for at in (0.5, 0.9))
            for of in ("expected_s", "limit_s")
        )
        cells = (quantities.percent(_inside(mine)), expected, quantities.digits(_ratio(mine)), limit, f"{len(mine):,}")
        return Row(name, "word", cells)

    return Table(
        ("in the band", "error", "ratio", "error of the limit", "points"),
        tuple(row(name, mine) for name, mine in _cells(by)),
        head=BY[by],
    )


TERMS: Final = (
    f"In the band: how many lie where four of five should. Error: the median / what 90% stay below. Ratio: "
    f"measured over expected time at the median. A row needs {_ENOUGH} points."
)
"""How to read the table of errors."""


def at(place: int | None, scenario: Scenario) -> Measurement:
    """The measurement of a row of presets/measured/points.csv, the nearest to the scenario where there is none."""
    return next((one for one in _fitted() if one.place == place), nearest(scenario)[0])


def nearest(scenario: Scenario) -> list[Measurement]:
    """The published points that are most like the scenario: the same accelerator first, then its family."""
    size, engine = scenario.deployment.stored_bytes, library.engines()[scenario.engine].name

    def far(one: Measurement) -> tuple[bool, bool, float]:
        unlike = abs(log(one.model_bytes / size)) + 0.5 * abs(log(one.batch / scenario.batch))
        unlike += 0.5 * (one.engine != engine) + 0.5 * abs(log(one.gpus / scenario.gpus))
        return one.preset != scenario.accelerator, one.family != scenario.hardware.family, unlike

    return sorted(_fitted(), key=far)[:_NEAREST]


def nearest_note(scenario: Scenario) -> str:
    """That no measurement is of the scenario's accelerator; nothing where one is."""
    if any(one.preset == scenario.accelerator for one in _fitted()):
        return ""
    name = "your own accelerator" if scenario.accelerator == OWN else scenario.hardware.name
    family = _FAMILIES.get(scenario.hardware.family)
    if any(one.family == scenario.hardware.family for one in _fitted()):
        return f"No measurement is of {name}. These are of others of its kind ({family})."
    return f"No measurement is of {name}, and none is of its kind."


def nearest_table(scenario: Scenario) -> Table:
    """Those points, each with its source."""
    cells = [
        Row(
            f"{one.model} {one.weights}, {one.gpus} × {one.accelerator}",
            "word",
            (
                str(quantities.shown(one.measured_s, "s")),
                str(quantities.shown(one.expected_s, "s")),
                f"{one.phase}, batch {one.batch:,.0f}, {one.lengths}",
                one.engine,
                source_link(one),
            ),
        )
        for one in nearest(scenario)
    ]
    return Table(("measured", "expected", "what", "engine", "published by"), tuple(cells), head="Set-up")


def missed() -> list[tuple[str, list[Measurement]]]:
    """Phases of families and of engines of which less than half lie in their band, the least first."""
    found = [cell for by in ("family", "engine") for cell in _cells(by) if _inside(cell[1]) < _HALF]
    return sorted(found, key=lambda cell: _inside(cell[1]))


def not_covered() -> str:
    """Where not to trust the expectation: its largest misses, then what nobody measured."""
    worst = "\n".join(
        f"- {name}: at the median {quantities.times(_ratio(mine))} the expected time, and "
        f"{quantities.percent(_inside(mine))} of {len(mine)} points in the band"
        for name, mine in missed()
    )
    return f"The largest misses:\n\n{worst}\n\n{_NOT_MEASURED}"


_NOT_MEASURED: Final = (
    "Time to first token through servers is from one publisher; MLX has no measurement here; most "
    "accelerators after 2025, and linear attention, have none; speculative decoding is not measured. Serving on "
    "workstation cards at full load, and small batches of models with experts on unified memory, are often faster "
    "than their band says; the bands of prefill on Apple and of decode on workstation cards are wider than needed."
)
