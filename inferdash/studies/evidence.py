"""How right expectations are: published measurements against what a fit that did not see their publisher expects."""

from collections.abc import Sequence
from dataclasses import dataclass
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
_MOST_POINTS: Final = 1500
"""Of a phase, drawn; every so many of more."""
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
        decode_error=_error(found, "decode", 0.5),
        prefill_error=_error(found, "prefill", 0.5),
        serving_error=_error(found, "serving", 0.5),
        decode_limit_error=_error(found, "decode", 0.5, of="limit_s"),
    )


def _fitted() -> list[Measurement]:
    return [one for one in measurements() if not one.apart]


def _error(found: Sequence[Measurement], phase: str, quantile: float, *, of: str = "expected_s") -> float:
    errors = [abs(getattr(one, of) / one.measured_s - 1) for one in found if one.phase == phase]
    return float(np.quantile(errors, quantile))


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
    "On the dashed line both are equal."
)
METHOD: Final = (
    "Each publisher is left out of the fit in turn, and its measurements are then compared with what the others led us "
    "to expect. So an error here is one that you may meet with your own set-up."
)


def rows() -> dict[str, list[dict[str, Any]]]:
    """Measured over expected seconds: "points", a line of equals."""
    drawn: list[dict[str, Any]] = []
    for phase in PHASES:
        mine = [one for one in _fitted() if one.phase == phase]
        step = -(-len(mine) // _MOST_POINTS) if mine else 1
        drawn += [
            {
                "expected_s": one.expected_s,
                "measured_s": one.measured_s,
                "meaning": _COLOURS[phase],
                "phase": phase,
                "label": f"{one.model} on {one.gpus} × {one.accelerator}, {one.engine}",
                "said": f"measured {quantities.shown(one.measured_s, 's')}, expected "
                f"{quantities.shown(one.expected_s, 's')}",
            }
            for one in mine[::step]
        ]
    times = [row["measured_s"] for row in drawn]
    return {"points": drawn, "equal": [{"at_s": min(times)}, {"at_s": max(times)}]}


def error_table() -> Table:
    """Errors by phase, of the expectation and of the limit, and how many lie in their band."""
    found = _fitted()

    def row(phase: str) -> Row:
        mine = [one for one in found if one.phase == phase]
        cells = [
            " / ".join(quantities.percent(_error(mine, phase, at, of=of)) for at in (0.5, 0.9))
            for of in ("expected_s", "limit_s")
        ]
        inside = sum(one.inside for one in mine) / len(mine)
        return Row(phase.capitalize(), "word", (f"{len(mine):,}", *cells, quantities.percent(inside)))

    return Table(
        ("points", "expected, median / 90%", "limit, median / 90%", "in the 80% band"),
        tuple(row(phase) for phase in PHASES),
        head="Error",
    )


def family_table() -> Table:
    """Median errors by kind of accelerator, of kinds with many points."""
    found = _fitted()
    cells = []
    for family in sorted({one.family for one in found}):
        mine = [one for one in found if one.family == family]
        texts = []
        for phase in PHASES:
            here = [one for one in mine if one.phase == phase]
            texts.append(f"{quantities.percent(_error(here, phase, 0.5))} of {len(here):,}" if here else "no points")
        cells.append(Row(family, "word", tuple(texts)))
    return Table(PHASES, tuple(cells), head="Accelerators")


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
