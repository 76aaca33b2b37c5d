"""The band of what users feel: the same requests where every pass and every first token is at an edge of its band."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from inferdash.formula import remembered
from inferdash.physics.fitted.confidence import AS_EXPECTED, Slower, edge
from inferdash.physics.fitted.expected import expected
from inferdash.scenario import Scenario
from inferdash.scenario.agents import SESSIONS
from inferdash.studies.check import verdict
from inferdash.studies.numbers import Estimate, Row, Table, part, show
from inferdash.studies.run.load import Serving, study_of
from inferdash.studies.run.simulation import run

TITLE: Final = "How sure these are"


@dataclass(frozen=True)
class Band:
    """Numbers of a load at the expected speed and at both edges of the 80% band; None where nothing is served."""

    ttft_p90_s: Estimate = part("time to first token, p90", "s")
    itl_p90_s: Estimate = part("inter-token latency, p90", "s")
    met_targets_share: Estimate = part("of requests within both targets", "%")
    throughput_out_tok_per_s: Estimate = part("output of all replicas together", "tokens/s")
    ceiling_requests_per_s: Estimate = part("capacity", "requests/s")
    usd_per_mtok_written: Estimate = part("a million output tokens on rented accelerators", "$")


READ: Final[dict[str, Callable[[Serving], float | None]]] = {
    "ttft_p90_s": lambda one: one.ttft_s.p90,
    "itl_p90_s": lambda one: one.itl_s.p90,
    "met_targets_share": lambda one: one.met_targets_share,
    "throughput_out_tok_per_s": lambda one: one.throughput_out_tok_per_s,
    "ceiling_requests_per_s": lambda one: one.ceiling_requests_per_s,
    "usd_per_mtok_written": lambda one: one.usd_per_mtok_written,
}
_LABELS: Final = {
    "ttft_p90_s": ("Time to first token, p90", "s"),
    "itl_p90_s": ("Inter-token latency, p90", "s"),
    "met_targets_share": ("Requests within both targets", "%"),
    "throughput_out_tok_per_s": ("Output throughput", "tokens/s"),
    "ceiling_requests_per_s": ("Capacity", "requests/s"),
    "usd_per_mtok_written": ("A million output tokens", "$"),
}


def edges(scenario: Scenario, *, batch: float) -> tuple[Slower, Slower]:
    """Times as long as expected that passes and first tokens take at both edges of the band, at a mean batch."""
    served = scenario.served
    machine, engine = served.deployment, scenario.program
    together = max(1.0, batch) * machine.layout.data
    one = expected(machine, engine, requests=together, positions=1, past=scenario.prompt + scenario.answer / 2)
    bands = verdict.bands(scenario)
    if one is None:
        return AS_EXPECTED, AS_EXPECTED
    low, high = (edge(bands, side, limit_s=one.limit_s, expected_s=one.pass_s) for side in (0, 1))
    return low, high


def study(scenario: Scenario, middle: Serving) -> Band | None:
    """The band around what is expected of a load; None where limits are asked for, or nothing is served.

    None, too, where prefill and decode are apart or requests are turns of sessions, whose queues have clocks beside
    that of the passes.
    """
    return _band((scenario, middle))


@remembered
def _band(asked: tuple[Scenario, Serving]) -> Band | None:
    scenario, middle = asked
    apart = scenario.disaggregated or scenario.pattern == SESSIONS
    if scenario.speed == "limit" or middle.batch_mean is None or apart:
        return None
    sides = [_at(scenario, one) for one in edges(scenario, batch=middle.batch_mean)]
    found = {}
    for name, read in READ.items():
        at = [value for value in map(read, (*sides, middle)) if value is not None]
        low, high = (min(at), max(at)) if len(at) > len(sides) else (None, None)
        found[name] = Estimate(None, read(middle), low, high)
    return Band(**found)


def _at(scenario: Scenario, one: Slower) -> Serving:
    return study_of(scenario, run(scenario, slower=one), per_s=scenario.demand_per_s, slower=float(one.passes))


def table(band: Band) -> Table:
    """Expected numbers with both edges of their band."""
    rows = []
    for name, (label, unit) in _LABELS.items():
        one: Estimate = getattr(band, name)
        rows.append(Row(label, "word", tuple(show(value, unit) for value in (one.low, one.expected, one.high))))
    return Table(("80% band, from", "expected", "to"), tuple(rows), head="At this load")


NOTE: Final = (
    "The same requests with every pass, and every first token, as fast and as slow as four of five published "
    "measurements were around what was expected of them. Near the capacity a slower engine lets the queue grow, so "
    "that the band is wide there. “Meet a target” plans with 80% or 95% confidence."
)
