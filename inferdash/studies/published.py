"""One published measurement: what was measured, what was expected of it, and of what parts."""

from dataclasses import fields
from typing import Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.engine import Engine
from inferdash.facts.measured import Measurement, rows_of
from inferdash.formula import section
from inferdash.physics.expected import ExpectedPass, expected_pass
from inferdash.physics.published import SERVED, point
from inferdash.studies.numbers import Row, Table

_PARTS: Final = {
    "load_s": "Loading",
    "compute_s": "Arithmetic",
    "layers_s": "Start of layers",
    "vectors_s": "Vectors through memory",
    "link_s": "Link between GPUs",
    "waiting_s": "Waiting for other GPUs",
}


def name(one: Measurement) -> str:
    """What was measured, in words."""
    chips = f"{one.gpus} × {one.accelerator}"
    return f"{one.model} {one.weights} on {chips} with {one.engine}: {one.phase}, batch {one.batch:,.0f}, {one.lengths}"


def sentence(one: Measurement) -> str:
    """What was measured of it, and what was expected by a fit that had not seen its publisher."""
    measured, expected, limit = (quantities.shown(s, "s") for s in (one.measured_s, one.expected_s, one.limit_s))
    inside = "inside" if one.inside else "outside"
    return (
        f"{name(one)}. Measured: {measured} ({one.publisher}, {one.published}). Expected without that publisher: "
        f"{expected}, the measurement {inside} the band. Limit: {limit}."
    )


def engine_of(one: Measurement) -> Engine:
    """The engine as it ships, or what all have in common where it is not among them."""
    engines = library.engines()
    return next((engine for engine in engines.values() if engine.name == one.engine), engines["unknown"])


def study(one: Measurement) -> ExpectedPass:
    """All passes of the measurement together, as the shipped engine is expected to run them."""
    engine = engine_of(one)
    whole = ExpectedPass(*(0.0 for _ in fields(ExpectedPass)))
    with section("Passes at the limit"):
        found = point(rows_of("points")[one.place - 1])
    for count, positions, at_limit in found.passes:
        with section("Prompts" if positions > found.batch else "Tokens"):
            part = expected_pass(found.machine, engine, at_limit, requests=1, positions=positions)
        if part is not None:
            whole = whole.then(part.times(count))
    return whole


def table(one: Measurement) -> Table:
    """The expected time of the shipped engine by part, and the server's, where the measurement went through one."""
    whole, engine = study(one), engine_of(one)
    seconds = {label: float(getattr(whole, part)) for part, label in _PARTS.items()}
    server = engine.server if one.publisher in SERVED and one.phase != "decode" else 0.0
    rows = [Row(label, "s", (value,)) for label, value in {**seconds, "Server": server}.items() if value]
    total = float(whole.pass_s) + server
    return Table((f"{engine.name}, as it ships",), (*rows, Row("Expected", "s", (total,))), head="Part")
