"""The reader's own measurements: what they are held against, and what they move."""

from collections.abc import Callable
from typing import Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.machines.engine import Band, Engine
from inferdash.formula import unrecorded
from inferdash.scenario import Scenario, measured
from inferdash.scenario.measured import KINDS, LONGEST, MOST, Measured
from inferdash.studies.numbers import Row, Table

INTRO: Final = (
    f"Set the model, accelerator, engine and workload that you measured, and enter up to {MOST} results. "
    "Expected numbers on every page then move as little as needed to fit them, and the link carries them."
)
HOLDS: Final = (
    "They count for the same model, accelerator and engine. In a test on published measurements, two "
    "results of a set-up lowered the median error for its other batches and lengths by a quarter in decode and "
    "serving, and hardly in prefill. For other models and accelerators they raised it, so there they do not "
    "count."
)
_APART: Final = 1.25
"""Factor between a measurement and what is expected then, from which on it does not fit."""
HELP: Final = {
    "ttft": "Of a single request through the server, its prompt not cached, such as 120 ms.",
    "itl": "At the scenario’s batch, in the middle of the answer, such as 9.5 ms.",
    "tps": "Of all requests of the scenario’s batch together, from the first prompt to the last token, such as 1,500.",
}
"""Kind -> what is meant by it, with an example."""


def added(scenario: Scenario, kind: str, value: str) -> str:
    """The field `measured` with one more, made on the scenario.

    Raises:
        PydanticCustomError: where it cannot be read, cannot be true or is one too many, with the reason.
    """
    new = measured.entered(kind, value, scenario)
    text = measured.written((*scenario.measurements, new))
    measured.read(text, scenario.config)
    if len(text) > LONGEST:
        measured.refuse("would be too long for a link, as the own model and accelerator are written out in each")
    return text


def without(scenario: Scenario, place: int) -> str:
    """The field `measured` without the one at a place, from 0."""
    kept = [one for at, one in enumerate(scenario.measurements) if at != place]
    return measured.written(tuple(kept))


def name(one: Measured) -> str:
    """What was measured, in words."""
    here = one.machine
    if one.kind == "ttft":
        return f"{KINDS[one.kind]}, prompt {here.prompt:,}"
    return f"{KINDS[one.kind]}, batch {here.batch:,}, {here.prompt:,} + {here.answer:,} tokens"


def removal(one: Measured) -> str:
    """What the button says that takes one away."""
    return f"Remove {_said(one, one.value)}, {one.machine.architecture.name}"


def sentence(scenario: Scenario) -> str:
    """Which measurements count for the scenario."""
    every = scenario.measurements
    own = [one for one in every if one.same_set_up(scenario)]
    here = f"{scenario.architecture.name} on {scenario.hardware.name} with {_shipped(scenario).name}"
    if not own:
        return f"None of your measurements is of {here}, so none counts for it."
    count = quantities.count(len(own), "measurement")
    said = f"{count} of {here} count{'s' if len(own) == 1 else ''} on every page."
    with unrecorded():
        torn = [one for one in own if not 1 / _APART < one.seconds / one.expected_s(scenario.program) < _APART]
    return f"{said} They disagree with each other: the table shows by how much." if torn else said


def table(scenario: Scenario) -> Table:
    """Each measurement, what was expected of it before and what is now."""
    rows = []
    for one in scenario.measurements:
        own = one.same_set_up(scenario)
        shipped = library.engines()[one.machine.engine]
        with unrecorded():
            before = _as_measured(one, shipped)
            now = _as_measured(one, scenario.program) if own else "does not count here"
        subject = f"{one.machine.architecture.name} on {one.machine.gpus:,} × {one.machine.hardware.name}"
        rows.append(Row(name(one), "word", (subject, _said(one, one.value), before, now)))
    return Table(("of", "measured", "expected before", "expected now"), tuple(rows), head="Your measurement")


def _as_measured(one: Measured, engine: Engine) -> str:
    seconds = one.expected_s(engine)
    return _said(one, one.machine.batch * one.machine.answer / seconds if one.kind == "tps" else seconds)


def _said(one: Measured, value: float) -> str:
    return str(quantities.shown(value, "tokens/s" if one.kind == "tps" else "s"))


def _shipped(scenario: Scenario) -> Engine:
    return library.engines()[scenario.engine]


def _band(band: Band) -> str:
    return " to ".join(f"{edge:.2f}" for edge in band)


def moved_table(scenario: Scenario) -> Table:
    """What of the engine the measurements moved, and its bands."""
    before, now, family = _shipped(scenario), scenario.program, scenario.hardware.family
    figures: list[tuple[str, str, Callable[[Engine], float]]] = [
        ("Share of the bandwidth", "%", lambda engine: engine.reach[family].bandwidth_share),
        ("Share of the peak", "%", lambda engine: engine.reach[family].arithmetic_share),
        ("Share of the peak in attention", "%", lambda engine: engine.attention_share),
        ("Time of a layer", "s", lambda engine: engine.reach[family].layer),
        ("Memory trips of a vector per layer", "times", lambda engine: engine.vector_trips),
        ("Exchange between GPUs", "s", lambda engine: engine.reach[family].exchange),
        ("Time of the server", "s", lambda engine: engine.server),
    ]
    rows = [Row(label, unit, (of(before), of(now))) for label, unit, of in figures if of(before) != of(now)]
    both = [engine.reach[family].bands for engine in (before, now)]
    bands = [
        Row(f"Band of {phase}, times the expected", "word", tuple(_band(getattr(one, name)) for one in both))
        for name, phase in (("decode", "a decode pass"), ("prefill", "a prefill"), ("serving", "whole batches"))
    ]
    return Table(("as published", "as you measured"), (*rows, *bands), head="Engine")
