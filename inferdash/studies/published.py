"""One published measurement: what was measured, what was expected of it, and of what parts."""

from dataclasses import fields

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.engine import Engine
from inferdash.facts.measured import Measurement, rows_of
from inferdash.formula import section
from inferdash.physics.expected import ExpectedPass, expected_pass
from inferdash.physics.published import SERVED, point
from inferdash.studies.expected import PARTS
from inferdash.studies.numbers import Row, Table


def name(one: Measurement) -> str:
    """What was measured, in words."""
    chips = f"{one.gpus} × {one.accelerator}"
    return f"{one.model} {one.weights} on {chips} with {one.engine}: {one.phase}, batch {one.batch:,.0f}, {one.lengths}"


def source_link(one: Measurement) -> str:
    """Who published it and when, with a link where there is one."""
    address = next((word for word in one.source.split() if word.startswith("https://")), "")
    name = f"{one.publisher}, {one.published}"
    return f"[{name}]({address})" if address else name


def sentence(one: Measurement) -> str:
    """What was measured of it, and what was expected by a fit that had not seen its publisher."""
    measured, expected, limit = (quantities.shown(s, "s") for s in (one.measured_s, one.expected_s, one.limit_s))
    inside = "inside" if one.inside else "outside"
    return (
        f"{name(one)}. Measured: {measured} ({source_link(one)}). Expected without that publisher: "
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
    seconds = {part.name[0].upper() + part.name[1:]: float(getattr(whole, key)) for key, part in PARTS.items()}
    server = engine.server if one.publisher in SERVED and one.phase != "decode" else 0.0
    rows = [Row(label, "s", (value,)) for label, value in {**seconds, "Server": server}.items() if value]
    total = float(whole.pass_s) + server
    return Table(
        (f"{engine.name}, as it ships",),
        (*rows, Row("In all, expected with every publisher in the fit", "s", (total,))),
        head="Part",
    )
