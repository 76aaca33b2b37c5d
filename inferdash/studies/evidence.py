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
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Headline, Row, Table, number

NAME: Final = "evidence"
TITLE: Final = "How right is this?"
_NEAREST: Final = 8
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
        f"Half of {result.points:,} published measurements lie within {decode} of the expected time for a decode pass, "
        f"{prefill} for a prefill and {serving} for serving; the limit alone is off by {limit} in the decode."
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


def groups(by: str) -> list[str]:
    """The groups of all measurements, the largest first, phases in their order, years too."""
    found = Counter(_group(one, by) for one in _fitted())
    if by == "phase":
        return [phase.capitalize() for phase in PHASES]
    return sorted(found) if by == "year" else [group for group, _ in found.most_common()]


def chosen(by: str, only: str | None) -> list[Measurement]:
    """The measurements of a group, all where none is named."""
    return [one for one in _fitted() if only in {None, _group(one, by)}]


def rows(found: Sequence[Measurement]) -> dict[str, list[dict[str, Any]]]:
    """Measured over expected seconds: "points", a line of equals."""
    drawn = [
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
    return {"points": drawn, "equal": [{"at_s": min(times)}, {"at_s": max(times)}]}


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


def error_table(by: str) -> Table:
    """Errors by group, of the expectation and of the limit, and how many lie in their band."""

    def row(group: str) -> Row:
        mine = chosen(by, group)
        cells = [
            " / ".join(quantities.percent(_error(mine, at, of=of)) for at in (0.5, 0.9))
            for of in ("expected_s", "limit_s")
        ]
        inside = sum(one.inside for one in mine) / len(mine)
        return Row(group, "word", (f"{len(mine):,}", *cells, quantities.percent(inside)))

    return Table(
        ("points", "expected, median / 90%", "limit, median / 90%", "in the 80% band"),
        tuple(row(group) for group in groups(by)),
        head=BY[by],
    )


def at(place: int | None, scenario: Scenario) -> Measurement:
    """The measurement of a row of presets/measured/points.csv, the nearest to the scenario where there is none."""
    return next((one for one in _fitted() if one.place == place), nearest(scenario)[0])


def nearest(scenario: Scenario) -> list[Measurement]:
    """The published points that are most like the scenario: the accelerator first, then bytes, batch and engine."""
    chip, size = scenario.hardware.name.lower(), scenario.deployment.stored_bytes
    engine = library.engines()[scenario.engine].name

    def far(one: Measurement) -> float:
        same = one.accelerator.lower() in chip or chip.removeprefix("nvidia ") in one.accelerator.lower()
        unlike = abs(log(one.model_bytes / size)) + 0.5 * abs(log(one.batch / scenario.batch))
        return 4 * (not same) + unlike + 0.5 * (one.engine != engine) + 0.5 * abs(log(one.gpus / scenario.gpus))

    return sorted(_fitted(), key=far)[:_NEAREST]


def nearest_table(scenario: Scenario) -> Table:
    """Those points, each with its source."""
    cells = [
        Row(
            f"{one.model} {one.weights} on {one.gpus} × {one.accelerator}",
            "word",
            (
                one.engine,
                f"{one.phase}, batch {one.batch:,.0f}, {one.lengths}",
                str(quantities.shown(one.measured_s, "s")),
                str(quantities.shown(one.expected_s, "s")),
                _published(one),
            ),
        )
        for one in nearest(scenario)
    ]
    return Table(("engine", "what", "measured", "expected", "published by"), tuple(cells), head="Measured")


def _published(one: Measurement) -> str:
    address = next((word for word in one.source.split() if word.startswith("https://")), "")
    name = f"{one.publisher}, {one.published}"
    return f"[{name}]({address})" if address else name


NOT_COVERED: Final = (
    "Time to first token through servers is from one publisher; MLX has no measurement here; most "
    "accelerators after 2025, and linear attention, have none; speculative decoding is not measured. Serving on "
    "workstation cards at full load, and small batches of models with experts on unified memory, are often faster "
    "than their band says; the bands of prefill on Apple and of decode on workstation cards are wider than needed."
)
