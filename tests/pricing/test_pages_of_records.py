"""Records in lists within one object, as APIs answer: pages, buckets of time, and all of it in one line."""

import io
import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from inferdash.pricing.bills import bill
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import counted
from inferdash.studies.price.billed import prices_of

RULES = Rules(minimum_tokens=1, increment_tokens=1, lifetime_s=300, renewed=True)
OPENAI: dict[str, Any] = {
    "object": "organization.usage.completions.result", "input_tokens": 3000, "output_tokens": 600,
    "input_cached_tokens": 1200, "input_audio_tokens": 0, "output_audio_tokens": 0, "num_model_requests": 3,
    "project_id": None, "user_id": None, "api_key_id": None, "model": "gpt-5-mini", "batch": False,
}  # fmt: skip
"""As https://platform.openai.com/docs/api-reference/usage/completions shows it."""
ANTHROPIC: dict[str, Any] = {
    "uncached_input_tokens": 100,
    "cache_creation": {"ephemeral_1h_input_tokens": 100, "ephemeral_5m_input_tokens": 500},
    "cache_read_input_tokens": 2000, "output_tokens": 50, "model": "claude-sonnet-4-6", "service_tier": "standard",
    "context_window": "0-200k", "workspace_id": None, "api_key_id": None,
    "server_tool_use": {"web_search_requests": 0},
}  # fmt: skip
"""As https://platform.claude.com/docs/en/api/admin-api/usage-cost/get-messages-usage-report shows it."""
DAY = 1_793_577_600
"""2 November 2026."""


def usd_of(content: bytes) -> tuple[Decimal, int, set[int | None], int]:
    """The bill, its requests, the days of its groups, and what was left out."""
    trace = Trace(io.BytesIO(content))
    counts = counted(trace, (), (200_000, 272_000))
    found = bill(counts, RULES, prices_of(date(2026, 12, 1)))
    return found.cost_usd, found.requests, {group.day for group in counts.told}, trace.left_out


def page(*buckets: dict[str, Any], more: bool = False) -> dict[str, Any]:
    return {"object": "page", "data": [*buckets], "has_more": more, "next_page": "x" if more else None}


def bucket(*results: dict[str, Any], day: int = 0) -> dict[str, Any]:
    starts = DAY + 86_400 * day
    return {"object": "bucket", "start_time": starts, "end_time": starts + 86_400, "results": [*results]}


# $0.25, $0.025 and $2 a million: 1,800 fresh, 1,200 read, 600 written by the model.
EACH = Decimal("0.00168")


def test_a_bucket_of_openai_lends_its_results_its_day() -> None:
    written = page(bucket(OPENAI), bucket(), bucket(OPENAI, OPENAI | {"model": "gpt-5"}, day=2))
    for content in (json.dumps(written), json.dumps(written, indent=2), json.dumps(written["data"])):
        cost, requests, days, left = usd_of(content.encode())
        assert (cost, requests, left) == (2 * EACH + 5 * EACH, 9, 0)  # gpt-5 costs five times as much
        assert days == {DAY // 86_400, DAY // 86_400 + 2}


def test_a_bucket_of_anthropic_lends_its_results_its_day() -> None:
    one = {"starting_at": "2026-11-02T00:00:00Z", "ending_at": "2026-11-03T00:00:00Z", "results": [ANTHROPIC]}
    content = json.dumps({"data": [one], "has_more": False, "next_page": None}).encode()
    each = Decimal("0.0003") + Decimal("0.0006") + Decimal("0.001875") + Decimal("0.0006") + Decimal("0.00075")
    assert usd_of(content) == (each, 1, {DAY // 86_400}, 0)


def test_pages_one_after_another_are_one_log() -> None:
    lines = [json.dumps(page(bucket(OPENAI, day=day), more=day == 0)) for day in range(2)]
    assert usd_of("\n".join(lines).encode())[:2] == (2 * EACH, 6)


@pytest.mark.parametrize("many", [10, 3000])
@pytest.mark.parametrize("ends", ["", "\n"])
def test_a_list_in_one_line_is_read_however_long_it_is(many: int, ends: str) -> None:
    content = json.dumps(page(*(bucket(OPENAI, day=day % 20) for day in range(many)))) + ends
    assert usd_of(content.encode())[:2] == (many * EACH, 3 * many)


def test_one_long_line_is_a_line_where_others_follow() -> None:
    first = {"note": "x" * 100_000, "model": "gpt-5-mini", "usage": {"prompt_tokens": 4, "completion_tokens": 5}}
    lines = [json.dumps(first), "{broken", json.dumps(first | {"note": ""})]
    trace = Trace(io.BytesIO("\n".join(lines).encode()))
    assert (len([*trace]), trace.left_out) == (2, 1)


def test_a_name_that_stands_twice_in_a_list_leaves_its_records_out() -> None:
    content = json.dumps(page(bucket(OPENAI, OPENAI))).replace(
        '"output_tokens": 600', '"output_tokens": 6, "output_tokens": 600', 1
    )
    trace = Trace(io.BytesIO(content.encode()))
    assert ([*trace], trace.left_out) == ([], 2)
    assert "output_tokens" in trace.problems[0]
