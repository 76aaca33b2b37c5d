"""What engines were measured to reach of the limit: a time, and the band in which four of five measurements lie."""

from dataclasses import dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.engine import Band, Engine
from inferdash.formula import Number
from inferdash.physics.expected import ExpectedPass, expected, expected_prefill
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table, number, part, plain


@dataclass(frozen=True)
class Estimate:
    """A time at the limit and as it is expected; None where no peak is known."""

    limit: float | None = number("s", "limit")
    expected: float | None = number("s", "expected")
    low: float | None = number("s", "expected, lower end")
    high: float | None = number("s", "expected, upper end")


@dataclass(frozen=True)
class Expected:
    """The passes of a request as an engine is expected to run them."""

    prefill: Estimate = part("prefill")
    decode: Estimate = part("decode pass")


CAPTION: Final = (
    "Fitted to 2,332 published measurements; judged on publishers that the fit did not see. The line below the bar is "
    "where four of five measurements lie. Point at a part for it."
)
_PARTS: Final = {
    "load_s": ("loading", "memory"),
    "compute_s": ("arithmetic", "compute"),
    "vectors_s": ("vectors through memory", "cache"),
    "layers_s": ("start of layers", "waiting"),
    "waiting_s": ("other GPUs", "waiting"),
}


def study(scenario: Scenario, *, prefill_s: float | None, decode_s: float | None) -> Expected:
    """The numbers for a scenario, beside the limits of its prefill and its decode pass."""
    engine = _engine(scenario)
    bands = engine.reach[scenario.deployment.accelerator.family].bands
    return Expected(
        _estimate(prefill_s, _prefill(scenario, engine), bands.prefill),
        _estimate(decode_s, _decode(scenario, engine), bands.decode),
    )


def _engine(scenario: Scenario) -> Engine:
    return library.engines()[scenario.engine]


def _prefill(scenario: Scenario, engine: Engine) -> tuple[ExpectedPass, ...]:
    return expected_prefill(scenario.deployment, engine, prompt=scenario.prompt) or ()


def _decode(scenario: Scenario, engine: Engine) -> tuple[ExpectedPass, ...]:
    one = expected(scenario.deployment, engine, requests=scenario.batch, positions=1, past=scenario.prompt)
    return () if one is None else (one,)


def _estimate(limit_s: float | None, passes: tuple[ExpectedPass, ...], band: Band) -> Estimate:
    if limit_s is None or not passes:
        return Estimate(limit_s, None, None, None)
    edges = [one.band_s(band) for one in passes]
    middle, low, high = (_sum(one) for one in ([p.pass_s for p in passes], *zip(*edges, strict=True)))
    middle = max(middle, limit_s)
    return Estimate(limit_s, middle, max(low, limit_s), max(high, middle))


def _sum(numbers: Any) -> float:
    return float(sum(plain(one) or 0.0 for one in numbers))


def sentence(scenario: Scenario, result: Expected) -> str:
    """What to expect, in words."""
    times = []
    for what, one in (("a decode pass", result.decode), ("the prefill", result.prefill)):
        if one.limit is None or one.expected is None or one.low is None or one.high is None:
            return "What to expect needs the peak of the accelerator, which is not known."
        low, high = quantities.shown(one.low, "s"), quantities.shown(one.high, "s")
        factor = quantities.times(one.expected / one.limit)
        times.append(f"{quantities.shown(one.expected, 's')} for {what}, {factor} the limit (80% band {low} to {high})")
    return f"Expected of {_engine(scenario).name}: {'; '.join(times)}."


def table(result: Expected) -> Table:
    """Limit, expectation and band of both passes."""
    both = (result.prefill, result.decode)
    rows = (("Limit", "limit"), ("Expected", "expected"), ("80% band, from", "low"), ("80% band, to", "high"))
    return Table(
        ("prefill", "decode pass"),
        tuple(Row(label, "s", tuple(getattr(one, name) for one in both)) for label, name in rows),
        head="Time",
    )


def rows(scenario: Scenario, result: Expected, *, phase: str) -> dict[str, list[dict[str, Any]]]:
    """Parts of the expected time of the "prefill" or the "decode", the limit and the band; nothing without a peak."""
    engine = _engine(scenario)
    passes = _prefill(scenario, engine) if phase == "prefill" else _decode(scenario, engine)
    one: Estimate = getattr(result, phase)
    if one.expected is None:
        return {}
    stacked: list[dict[str, Any]] = []
    start = 0.0
    for name, (label, meaning) in _PARTS.items():
        seconds = _sum(_of(passes, name))
        if seconds:
            said = f"{label} {quantities.shown(seconds, 's')}"
            stacked.append({"start_s": start, "end_s": start + seconds, "meaning": meaning, "label": said})
        start += seconds
    return {
        "parts": stacked,
        "limit": [{"at_s": one.limit, "label": f"limit {quantities.shown(one.limit or 0.0, 's')}"}],
        "band": [{"low_s": one.low, "high_s": one.high, "label": "four of five measurements"}],
    }


def _of(passes: tuple[ExpectedPass, ...], name: str) -> list[Number]:
    return [getattr(one, name) for one in passes]
