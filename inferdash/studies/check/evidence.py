"""How right expectations are: published measurements against what a fit that did not see their publisher expects."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts.machines.accelerator import FAMILIES
from inferdash.facts.measured import PHASES, WAYS, Measurement, measurements
from inferdash.scenario import OWN, Scenario
from inferdash.studies.check import verdict
from inferdash.studies.check.published import source_link
from inferdash.studies.numbers import Headline, Row, Table, number

NAME: Final = "evidence"
TITLE: Final = "How right is this?"
_NEAREST: Final = 8
_ENOUGH: Final = 20
"""Points from which on a group and phase has a row of its own."""
_HALF: Final = 0.5
_RELEASE: Final = re.compile(r"(?<![\d.])(\d+\.\d+(?:\.\d+)?)")
_EDGES: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
_COLOURS: Final = {
    "decode": "memory",
    "prefill": "compute",
    "serving": "money",
    "full load": "cache",
    "output token": "money",
    "first token": "compute",
}


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


def sentence(scenario: Scenario, _: Evidence) -> str:
    """Whether a set-up like the scenario's was measured, in words."""
    return verdict.sentence(scenario)


def errors_sentence(result: Evidence) -> str:
    """How wrong what is expected is, in words."""
    decode, prefill, serving, limit = (
        quantities.percent(share)
        for share in (result.decode_error, result.prefill_error, result.serving_error, result.decode_limit_error)
    )
    return (
        f"Compared with {result.points:,} published measurements, the expected time is off by {decode} at the median "
        f"for decode, {prefill} for prefill and {serving} for serving; the limit of decode is off by {limit}."
    )


def headline_numbers(_: Scenario, result: Evidence) -> list[Headline]:
    """The four numbers on top."""
    return [
        Headline("Decode pass, median error (expected)", result.decode_error, "%"),
        Headline("Prefill, median error (expected)", result.prefill_error, "%"),
        Headline("Serving, median error (expected)", result.serving_error, "%"),
        Headline("Decode pass, median error of the limit", result.decode_limit_error, "%"),
    ]


LEGEND: Final = (
    "Blue: decode passes; orange: prefills and times to first token; purple: times per output token and whole "
    "batches at a stated concurrency; green: full load. "
    "Both are equal on the dashed line. "
    "Click a point for its parts and working below."
)
METHOD: Final = (
    "Each publisher is left out of the fit in turn, and its measurements are compared with what the others lead us "
    "to expect; likewise each model family and each accelerator. So these are the errors that you may "
    "see with your own set-up."
)


BY: Final = {
    "phase": "Phase",
    "family": "Accelerators",
    "system": "Accelerator",
    "engine": "Engine",
    "version": "Engine and version",
    "model": "Model family",
    "kind": "Kind of model",
    "in flight": "Requests in flight",
    "year": "Year",
}
"""Id -> by what measurements are put into groups."""
_IN_FLIGHT: Final = (("1 to 7", 8), ("8 to 63", 64), ("64 to 511", 512), ("512 and more", 1 << 60))
"""Classes of requests in flight, and what lies below the next one."""
LEFT_OUT: Final = {"publisher": "its publisher", "family": "its model family", "system": "its accelerator"}
"""What a fit had not seen, in words."""


def _group(one: Measurement, by: str) -> str:
    match by:
        case "family":
            return FAMILIES[one.family]
        case "engine":
            return one.engine
        case "year":
            return one.published[:4]
        case "system":
            return one.accelerator
        case "version":
            return f"{one.engine} {_version(one.engine_version)}".rstrip()
        case "model":
            return one.model_family
        case "kind":
            return one.model_kind
        case "in flight":
            return next(name for name, below in _IN_FLIGHT if one.batch < below)
    return one.phase.capitalize()


def _version(text: str) -> str:
    """The release in a version or in the name of an image, such as 0.5.6; nothing where there is none."""
    found = _RELEASE.search(text)
    return found.group(1) if found else ""


@cache
def groups(by: str) -> list[str]:
    """The groups of all measurements, the largest first, phases in their order, years too."""
    found = Counter(_group(one, by) for one in _fitted())
    if by == "phase":
        return [phase.capitalize() for phase in PHASES]
    if by == "in flight":
        return [name for name, _ in _IN_FLIGHT if name in found]
    return sorted(found) if by == "year" else [group for group, _ in found.most_common()]


def chosen(by: str, only: str | None) -> list[Measurement]:
    """The measurements of a group, all where none is named."""
    return [one for one in _fitted() if only in {None, _group(one, by)}]


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
    "Measured over expected time: the line spans 80% of the points, the bar half of them, the tick is the median. "
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


def _inside(found: Sequence[Measurement], way: str = "publisher") -> float:
    return sum(one.without[way].inside for one in found) / len(found)


def _ratio(found: Sequence[Measurement]) -> float:
    return float(np.median([one.measured_s / one.expected_s for one in found]))


def error_table(by: str) -> Table:
    """Errors by group and phase, without the publisher, the model family and the accelerator, each with its band."""

    def off(mine: Sequence[Measurement], way: str) -> str:
        errors = [abs(one.without[way].expected_s / one.measured_s - 1) for one in mine]
        return " / ".join(quantities.percent(float(np.quantile(errors, at))) for at in (0.5, 0.9))

    def row(name: str, mine: Sequence[Measurement]) -> Row:
        cells = [cell for way in WAYS for cell in (off(mine, way), quantities.percent(_inside(mine, way)))]
        limit = quantities.percent(_error(mine, 0.5, of="limit_s"))
        return Row(name, "word", (*cells, quantities.digits(_ratio(mine)), limit, f"{len(mine):,}"))

    heads = [head for way in WAYS for head in (f"without {LEFT_OUT[way]}", "in the band")]
    return Table(
        (*heads, "ratio", "error of the limit", "points"),
        tuple(row(name, mine) for name, mine in _cells(by)),
        head=BY[by],
    )


TERMS: Final = (
    f"Without: median / 90th percentile of the error, by a fit that had not seen it. In the band: the share inside the "
    f"band meant for 80%. Ratio: median of measured over expected time, without the publisher. A row needs "
    f"{_ENOUGH} points."
)
"""How to read the table of errors."""


def at(place: int | None, scenario: Scenario) -> Measurement:
    """The measurement of a place, the nearest to the scenario where there is none."""
    return next((one for one in _fitted() if one.place == place), verdict.nearest(scenario, 1)[0])


def nearest_note(scenario: Scenario) -> str:
    """That no measurement is of the scenario's accelerator; nothing where one is."""
    if any(one.preset == scenario.accelerator for one in _fitted()):
        return ""
    name = "your own accelerator" if scenario.accelerator == OWN else scenario.hardware.name
    family = FAMILIES[scenario.hardware.family]
    if any(one.family == scenario.hardware.family for one in _fitted()):
        return f"Nothing was measured on {name}. These are of similar accelerators ({family})."
    return f"Nothing was measured on {name} or on similar accelerators."


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
        for one in verdict.nearest(scenario, _NEAREST)
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
    "Times to first token come mostly from two publishers, and depend on how the engine is started: how often it "
    "looks for new requests, and whether it waits to fill a batch. Not measured: MLX and most accelerators after 2025. "
    "Not covered: speculative decoding and separate pools for prefill and decode."
)


OTHERS: Final = Table(
    ("output token", "first token", "on"),
    (
        Row(
            "aiconfigurator 0.12.0",
            "word",
            ("14.7% / 47.3%", "43% / 83%", "all aggregated results of this source, layouts corrected"),
        ),
    ),
    head="Tool: error, median / 90%",
)
"""What another tool reaches on the load tests of InferenceX and NVIDIA, two thirds of which are here."""


def newest() -> Table:
    """By engine, how many measurements are compared and when the newest was made."""
    found: dict[str, list[Measurement]] = {}
    for one in _fitted():
        found.setdefault(one.engine, []).append(one)
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    return Table(
        ("measurements", "newest"),
        tuple(Row(name, "word", (f"{len(mine):,}", max(one.published for one in mine))) for name, mine in ordered),
        head="Engine",
    )
