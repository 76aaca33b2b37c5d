"""The requests of a feature on rented accelerators: how many, what they cost, from when they pay."""

from dataclasses import dataclass
from math import ceil, inf
from typing import Final

from inferdash import quantities
from inferdash.physics.capacity import memory
from inferdash.physics.fitted.expected import expected, expected_prefill
from inferdash.physics.passes import decode, prefill
from inferdash.pricing import feature
from inferdash.pricing.feature import Turn
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table, number

PEAK: Final = 2.5
"""Requests of the busiest hour over those of the mean hour, for a feature used in the day of one part of the world."""
NOTE: Final = (
    f"The busiest hour has {PEAK:g} times the requests of the mean one. The batch is the largest that fits, and what "
    "the API would read from its cache is taken to be read from your own. Prompt tokens count all of them. A million "
    "tokens pay for idle hours too, in the share that reading and writing have of the time."
)
_DAY_S: Final = 86_400


@dataclass(frozen=True)
class Own:
    """The same requests on rented accelerators; None where they do not fit, or the peak is not known."""

    gpus: int | None = number("GPUs", "for the busiest hour")
    month_usd: float | None = number("$", "a month of those")
    utilization: float | None = number("%", "utilization over the day")
    usd_per_mtok_prompt: float | None = number("$", "a million input tokens")
    usd_per_mtok_written: float | None = number("$", "a million output tokens")
    break_even: float | None = number(
        "users", "or requests per month from which they cost less; not known where they never do"
    )


_NOT: Final = Own(None, None, None, None, None, None)


def own(
    scenario: Scenario, whole: Turn, requests_a_day: float, month_usd: float, *, units: float, at_limit: bool
) -> Own:
    """Accelerators for the busiest hour, their rent, and the use from which that is less than `month_usd`.

    `units` is the use as it is counted: users, or requests a month.
    """
    machine = scenario.deployment if at_limit else scenario.as_run
    per_request = {kind: getattr(whole, kind) / scenario.turns for kind in ("fresh", "written", "read", "output")}
    context = max(1, round(whole.input / scenario.turns))
    batch = int(memory.largest_batch(machine, tokens=context + round(per_request["output"])))
    run = max(1, round(per_request["fresh"] + per_request["written"]))
    if not batch:
        return _NOT
    if at_limit:
        reading = prefill(machine, prompt=run, output_layer_last=True).pass_s
        writing = decode(machine, requests=batch, past=context).pass_s
    else:
        whole_prompt = expected_prefill(machine, scenario.program, prompt=run)
        one = expected(machine, scenario.program, requests=batch, positions=1, past=context)
        reading = whole_prompt.pass_s if whole_prompt else None
        writing = one.pass_s if one else None
    if reading is None or writing is None:
        return _NOT
    answer_s = per_request["output"] * float(writing) / batch
    seconds = float(reading) + answer_s
    busy = requests_a_day / _DAY_S * seconds
    nodes = max(1, ceil(busy * PEAK))
    second_usd = scenario.rent * machine.gpus / 3600
    node_usd = scenario.rent * machine.gpus * feature.HOURS
    used = busy / nodes
    prompt = whole.input / scenario.turns
    return Own(
        gpus=nodes * machine.gpus,
        month_usd=nodes * node_usd,
        utilization=used,
        usd_per_mtok_prompt=float(reading) * second_usd / prompt * 1e6 / used if used and prompt else None,
        usd_per_mtok_written=answer_s * second_usd / per_request["output"] * 1e6 / used if used else None,
        break_even=_break_even(node_usd, month_usd / units if units else 0.0, units / (busy * PEAK) if busy else 0.0),
    )


def _break_even(node_usd: float, user_usd: float, users_of_a_node: float) -> float | None:
    """Users from which whole nodes always cost less than the API; None where a full node costs more than its users."""
    gain = user_usd * users_of_a_node / node_usd if node_usd else inf
    if gain <= 1 or not user_usd:
        return None
    nodes = ceil(1 / (gain - 1))  # with fewer, the next node costs more than the users who need it bring
    return max(1, nodes) * node_usd / user_usd


def own_table(limit: Own, as_expected: Own, unit: str = "user") -> Table:
    """The same requests on own accelerators, at the limit and as expected; `unit` is what the use is counted in."""
    both = (limit, as_expected)
    rows = (
        ("GPUs for the busiest hour", "GPUs", "gpus"),
        ("Their rent for a month", "$", "month_usd"),
        ("Utilization over the day", "%", "utilization"),
        ("A million input tokens", "$", "usd_per_mtok_prompt"),
        ("A million output tokens", "$", "usd_per_mtok_written"),
    )
    cells = [Row(label, unit, tuple(getattr(one, name) for one in both)) for label, unit, name in rows]
    what, month, _ = unit.partition(" a month")  # "2 requests a month"
    even = tuple(
        "never" if one.break_even is None else f"{quantities.count(ceil(one.break_even), what)}{month}" for one in both
    )
    return Table(("limit", "expected"), (*cells, Row("Pays off from", "word", even)), head="Own accelerators")
