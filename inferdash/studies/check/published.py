"""One published measurement: what was measured, what was expected of it, and of what parts."""

from dataclasses import fields

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.machines.engine import Engine
from inferdash.facts.measured import Measurement
from inferdash.formula import section
from inferdash.physics.fitted.expected import ExpectedPass, expected_pass, server_s
from inferdash.physics.fitted.published import SERVED, point
from inferdash.physics.under_load.closed_loop import expected_of_load
from inferdash.physics.under_load.served import served
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
    inside, off = "inside" if one.inside else "outside", quantities.percent(abs(one.expected_s / one.measured_s - 1))
    return (
        f"{name(one)}. Measured: {measured} ({source_link(one)}). Expected by a fit without that publisher: "
        f"{expected}, off by {off}, with the measurement {inside} the band. Limit: {limit}."
    )


def engine_of(one: Measurement) -> Engine:
    """The engine as it ships, or what all have in common where it is not among them."""
    engines = library.engines()
    return next((engine for engine in engines.values() if engine.name == one.engine), engines["unknown"])


def study(one: Measurement) -> ExpectedPass:
    """All passes of the measurement together, as the shipped engine is expected to run them."""
    engine = engine_of(one)
    if one.table == "served":
        return _load_test(one, engine)
    whole = ExpectedPass(*(0.0 for _ in fields(ExpectedPass)))
    with section("Passes at the limit"):
        found = point(one.row)
    for step in found.passes:
        with section("Prompts" if step.positions > 1 else "Tokens"):
            part = expected_pass(found.machine, engine, step.one, requests=step.requests, positions=step.positions)
        if part is not None:
            whole = whole.then(part.times(step.passes))
    return whole


def _load_test(one: Measurement, engine: Engine) -> ExpectedPass:
    """The passes between two tokens of a request of a load test, or until its first one."""
    with section("Passes at the limit"):
        found = served(one.row)
        test = expected_of_load(found.machine, engine, found.load, found.told)
    if test is None:
        return ExpectedPass(*(0.0 for _ in fields(ExpectedPass)))
    return test.until_first if one.phase == "first token" else test.between


def _server(one: Measurement, engine: Engine) -> float:
    """Seconds of the server beside the passes, where they are in the time that was measured."""
    if one.table == "served" and one.phase == "first token":
        in_flight = float(one.row["concurrency"])
    elif one.publisher in SERVED and one.phase in {"serving", "first token"}:
        in_flight = 0.0
    else:
        return 0.0
    return float(
        server_s(
            server_s=engine.server,
            token_s=engine.server_token if one.phase == "first token" else 0.0,
            prompt=float(one.row["prompt"]),
            request_s=engine.server_request,
            in_flight=in_flight,
        )
    )


def table(one: Measurement) -> Table:
    """The expected time of the shipped engine by part, and the server's, where the measurement went through one."""
    whole, engine = study(one), engine_of(one)
    seconds = {part.name[0].upper() + part.name[1:]: float(getattr(whole, key)) for key, part in PARTS.items()}
    server = _server(one, engine)
    rows = [Row(label, "s", (value,)) for label, value in {**seconds, "Server": server}.items() if value]
    total = float(whole.pass_s) + server
    return Table(
        (f"{engine.name}, fitted to all publishers",),
        (
            *rows,
            Row("Total, by the fit to all publishers", "s", (total,)),
            Row("Off by", "%", (abs(total / one.measured_s - 1),)),
        ),
        head="Part",
    )
