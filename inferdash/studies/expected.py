"""What engines were measured to reach of the limit: a time, and the band in which four of five measurements lie."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from inferdash import quantities
from inferdash.facts.machines.engine import Band
from inferdash.formula import Number
from inferdash.physics.deployment import Deployment
from inferdash.physics.fitted.expected import ExpectedPass, expected, expected_prefill, served_prefill_s, server_s
from inferdash.physics.passes import decode
from inferdash.physics.request import mean_past, time_to_first_token_s
from inferdash.scenario import Scenario
from inferdash.studies.check import verdict
from inferdash.studies.learn.request import FirstToken
from inferdash.studies.numbers import Estimate, Row, Table, part


@dataclass(frozen=True)
class Expected:
    """The passes of a request as an engine is expected to run them."""

    prefill: Estimate = part("prefill", "s")
    decode: Estimate = part("decode pass", "s")
    time_to_first_token: Estimate = part("time to first token on an idle server", "s")


CAPTION: Final = (
    "Fitted to published measurements and tested on publishers that the fit had not seen. The line below the bar "
    "is the 80% band. Hover over a part for its name and time."
)


WITHOUT_A_PEAK: Final = 1.5
"""Exponent of the upper factor of a band where no peak is known, and the arithmetic of a pass is not counted."""


class Part(NamedTuple):
    """A part of the expected time."""

    name: str
    short: str
    """The same in one or two words, for a mark."""
    meaning: str


PARTS: Final = {
    "load_s": Part("loading", "loading", "memory"),
    "compute_s": Part("arithmetic", "arithmetic", "compute"),
    "vectors_s": Part("vectors through memory", "vectors", "memory"),
    "layers_s": Part("layer overhead", "layers", "waiting"),
    "link_s": Part("link between GPUs", "link", "waiting"),
    "waiting_s": Part("waiting for other GPUs", "other GPUs", "waiting"),
    "host_s": Part("CPU overhead", "CPU", "waiting"),
}
"""Field of `ExpectedPass` -> what it is called."""


def study(scenario: Scenario, *, prefill_s: float | None, decode_s: float | None, first: FirstToken) -> Expected:
    """The numbers for a scenario, beside the limits of its prefill, its decode pass and its first token."""
    prefill = prefill_of(scenario, prompt=scenario.prompt, limit_s=prefill_s)
    return Expected(
        prefill,
        decode_of(scenario, requests=scenario.batch, past=scenario.prompt, limit_s=decode_s),
        _first_token(scenario, prefill, first),
    )


def _first_token(scenario: Scenario, prefill: Estimate, first: FirstToken) -> Estimate:
    """Every part at its lower and upper end together, the server's time by the band of first tokens.

    Queue and network are the reader's.
    """
    passes = scenario.reasoning
    middle = mean_past(before=scenario.prompt, passes=passes) if passes else 0.0
    mean_s = first.reasoning_s / passes if first.reasoning_s and passes else 0.0
    thought = decode_of(scenario, requests=scenario.batch, past=float(middle), limit_s=mean_s)
    if first.total_s is None or prefill.expected is None or thought.expected is None:
        return Estimate(first.total_s, None, None, None)

    engine = scenario.program
    server = server_s(server_s=engine.server, token_s=engine.server_token, prompt=scenario.prompt)

    low, high = verdict.bands(scenario).first_token
    times = {"low": low, "expected": 1.0, "high": high}

    def at(edge: str) -> float:
        return float(
            time_to_first_token_s(
                queue_s=first.queue_s,
                prefill_s=served_prefill_s(prefill_s=getattr(prefill, edge), server_s=server * times[edge]),
                network_s=first.network_s,
                reasoning_s=passes * getattr(thought, edge),
            )
        )

    return Estimate(first.total_s, at("expected"), at("low"), at("high"))


def server_of(scenario: Scenario) -> float:
    """Seconds that a server which is free adds to a first token; 0 where the scenario asks for the limit."""
    if scenario.speed != "expected":
        return 0.0
    engine = scenario.program
    return float(server_s(server_s=engine.server, token_s=engine.server_token, prompt=scenario.prompt))


def prefill_of(scenario: Scenario, *, prompt: int, limit_s: float | None, past: int = 0) -> Estimate:
    """The prefill of a prompt after `past` tokens that are in the cache, in seconds, beside its limit."""
    engine = scenario.program
    whole = expected_prefill(scenario.as_run, engine, prompt=prompt, past=past)
    return _estimate(limit_s, whole, verdict.bands(scenario).prefill)


def decode_of(
    scenario: Scenario, *, requests: int, past: float, limit_s: float | None, machine: Deployment | None = None
) -> Estimate:
    """A pass of the decode, in seconds, beside its limit; `machine` where it is not the scenario's."""
    engine = scenario.program
    one = expected(machine or scenario.as_run, engine, requests=requests, positions=1, past=past)
    return _estimate(limit_s, one, verdict.bands(scenario).decode)


def decode_s(scenario: Scenario, *, requests: Number, past: Number, limit_s: Number | None) -> Number | None:
    """Seconds of a pass of the decode alone, without their band; None where they are not known."""
    one = expected(scenario.as_run, scenario.program, requests=requests, positions=1, past=past)
    if one is None:
        return None
    return one.pass_s if limit_s is None else np.maximum(one.pass_s, limit_s)


def decode_along(scenario: Scenario, *, requests: Number, past: Number) -> tuple[Number, Number, Number] | None:
    """Seconds of decode passes, and the edges of their band, along an array; None where no peak is known."""
    engine = scenario.program
    limit = decode(scenario.deployment, requests=requests, past=past).pass_s
    one = expected(scenario.as_run, engine, requests=requests, positions=1, past=past)
    return None if one is None or limit is None else _bounded(limit, one, verdict.bands(scenario).decode)


def _estimate(limit_s: float | None, one: ExpectedPass | None, band: Band) -> Estimate:
    if one is None:
        return Estimate(limit_s, None, None, None)
    if limit_s is None:  # no peak is known, so there is no arithmetic in what is expected
        _, low, high = _bounded(float(one.limit_s), one, (band[0], band[1] ** WITHOUT_A_PEAK))
        return Estimate(None, float(one.pass_s), float(low), float(high))
    return Estimate(limit_s, *(float(edge) for edge in _bounded(limit_s, one, band)))


def _bounded(limit_s: Number, one: ExpectedPass, band: Band) -> tuple[Number, Number, Number]:
    """What is expected and the edges of its band, none of them below the limit."""
    low, high = one.band_s(band)
    return np.maximum(one.pass_s, limit_s), np.maximum(low, limit_s), np.maximum(high, limit_s)


def sentence(scenario: Scenario, result: Expected) -> str:
    """What to expect, in words."""
    times, unknown = [], ""
    for what, one in (("a decode pass", result.decode), ("the prefill", result.prefill)):
        if one.expected is None or one.low is None or one.high is None:
            unknown = f" {what[0].upper() + what[1:]} depends on the peak of the accelerator, which is not known."
            continue
        low, high = quantities.shown(one.low, "s"), quantities.shown(one.high, "s")
        over = (
            "without its arithmetic" if one.limit is None else f"{quantities.times(one.expected / one.limit)} the limit"
        )
        times.append(f"{quantities.shown(one.expected, 's')} for {what}, {over} (80% band {low} to {high})")
    if not times:
        return unknown.strip()
    return f"Expected of {scenario.program.name}: {'; '.join(times)}.{unknown}"


def table(result: Expected) -> Table:
    """Limit, expectation and band of both passes and of the first token."""
    all_three = (result.prefill, result.decode, result.time_to_first_token)
    rows = (("Limit", "limit"), ("Expected", "expected"), ("80% band, from", "low"), ("80% band, to", "high"))
    return Table(
        ("prefill", "decode pass", "first token"),
        tuple(Row(label, "s", tuple(getattr(one, name) for one in all_three)) for label, name in rows),
        head="Time",
    )


def rows(scenario: Scenario, result: Expected, *, phase: str) -> dict[str, list[dict[str, Any]]]:
    """Parts of the expected time of the "prefill" or the "decode", the limit and the band; nothing without a peak."""
    one: Estimate = getattr(result, phase)
    machine, engine = scenario.as_run, scenario.program
    if phase == "prefill":
        whole = expected_prefill(machine, engine, prompt=scenario.prompt)
    else:
        whole = expected(machine, engine, requests=scenario.batch, positions=1, past=scenario.prompt)
    if whole is None:
        return {}
    stacked: list[dict[str, Any]] = []
    start = 0.0
    for key, name in PARTS.items():
        seconds = float(getattr(whole, key))
        if seconds:
            time = quantities.shown(seconds, "s")
            stacked.append(
                {
                    "start_s": start,
                    "middle_s": start + seconds / 2,
                    "end_s": start + seconds,
                    "meaning": name.meaning,
                    "label": f"{name.name} {time}",
                    "short": name.short,
                    "time": str(time),
                }
            )
        start += seconds
    return {
        "parts": stacked,
        "limit": [{"at_s": one.limit, "label": f"limit {quantities.shown(one.limit, 's')}"}] if one.limit else [],
        "band": [{"low_s": one.low, "high_s": one.high, "label": "80% band"}],
    }
