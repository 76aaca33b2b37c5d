"""A log has times where any of its lines has one, wherever it stands; then those without are left out, and named."""

import io
import json
import random
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from inferdash.facts.money.price_names import edges
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import Counts, Summed, counted
from inferdash.studies.price import own_requests

USAGE = {"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 600}}
TIMED: list[dict[str, Any]] = [
    {"time": 1793000000 + 90_000 * at, "model": "gpt-5-mini", "usage": USAGE} for at in range(4)
]
UNTIMED: list[dict[str, Any]] = [
    {"model": "gpt-5-mini", "usage": USAGE, "web_search_requests": 2, "service_tier": "flex"},
    {"model": "own", "usage": {"prompt_tokens": 300_000, "completion_tokens": 7}},
]
COPIED: list[dict[str, Any]] = [{"id": "a", "model": "gpt-5-mini", "usage": USAGE}] * 2


def read(records: list[dict[str, Any]], engine: Any = None) -> tuple[Counts, Trace]:
    trace = Trace(io.BytesIO(b"".join(json.dumps(one).encode() + b"\n" for one in records)), engine=engine)
    return counted(trace, (), edges()), trace


def engines() -> list[Any]:
    """None, and the engine of blocks where it is there."""
    try:
        from inferdash.pricing.columns.engine import Engine  # noqa: PLC0415 - as said
    except ImportError:
        return [None]
    return [None, *(partial(Engine, block=size, fewest=0) for size in (200,))]


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize("seed", range(2))
def test_a_bill_does_not_depend_on_where_lines_without_a_time_stand(seed: int, engine: Any) -> None:
    records = [*TIMED, *UNTIMED]
    random.Random(seed).shuffle(records)  # noqa: S311 - a test
    counts, trace = read([*COPIED, *records], engine)
    plain, _ = read(TIMED)
    assert (counts.told, counts.apart, counts.first_s, counts.last_s, counts.whole_days) == (
        plain.told, plain.apart, plain.first_s, plain.last_s, plain.whole_days)  # fmt: skip
    assert trace.left_out == len(UNTIMED) + 1
    assert "3 lines have no time." in trace.problems
    assert not [one for one in (*trace.problems, *trace.notes) if "no times" in one or "web" in one or "flex" in one]


@pytest.mark.parametrize("engine", engines())
def test_where_no_line_has_a_time_all_count(engine: Any) -> None:
    counts, trace = read([*COPIED, *UNTIMED * 3], engine)
    assert sum(sums.requests for sums in counts.told.values()) == 7
    assert {group.day for group in counts.told} == {None}
    assert (trace.left_out, "The file has no times." in trace.problems) == (0, True)


@pytest.mark.parametrize("engine", engines())
def test_the_time_of_a_copy_that_does_not_count_is_no_time_of_the_log(engine: Any) -> None:
    day = 86_400
    times = {"a": (19_000 * day + 7, 20_000 * day), "b": (20_003 * day + 60,)}
    first, last, other = (
        {"id": name, "time": at, "model": "gpt-5-mini", "usage": USAGE} for name, ats in times.items() for at in ats
    )
    counts, _ = read([first, last, other], engine)
    assert (counts.first_s, counts.last_s, counts.whole_days) == (20_000 * day, 20_003 * day + 60, False)
    counts, _ = read([first, last, other | {"time": 20_003 * day}], engine)
    assert (counts.first_s, counts.last_s, counts.whole_days) == (20_000 * day, 20_003 * day, True)
    counts, trace = read([first, {"id": "a", "model": "gpt-5-mini", "usage": USAGE}, *UNTIMED], engine)
    assert (counts.first_s, trace.left_out, trace.problems[-1]) == (None, 0, "The file has no times.")


def test_what_is_taken_away_again_leaves_nothing() -> None:
    (request,) = Trace(io.BytesIO(json.dumps(UNTIMED[0] | {"cost": 0.25}).encode())).requests()
    one = Summed.of(request, (0, *sorted(edges())))
    counts = counted([one, one.negative()], (), edges())
    assert (counts.told, counts.apart) == ({}, {})
    assert one.sums.usd == Decimal("0.25")


def test_requests_without_a_time_are_not_sent_before_all_others() -> None:
    content = b"".join(json.dumps(one).encode() + b"\n" for one in [UNTIMED[1], *TIMED])
    own = own_requests.study(io.BytesIO(content))
    assert [*own.who.arrival_s] == [0, 90_000, 180_000, 270_000]
    assert "1 line has no time." in own.problems
