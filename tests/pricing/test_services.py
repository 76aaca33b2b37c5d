"""Logs that tell by which service a request was answered: its price, or the line is left out and named."""

import io
import json
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from inferdash.facts.money.price_names import edges
from inferdash.facts.money.prices import UnknownModelError, price_list
from inferdash.pricing.columns.engine import Engine
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import counted
from inferdash.studies.price.bill import Bill, bill

DAY = date(2026, 11, 30)
RESPONSE = {
    "input_tokens": 12_000,
    "input_tokens_details": {"cached_tokens": 8000},
    "output_tokens": 900,
    "output_tokens_details": {"reasoning_tokens": 600},
    "total_tokens": 12_900,
}
CHAT = {"prompt_tokens": 12_000, "completion_tokens": 900, "total_tokens": 12_900}
MESSAGE = {"input_tokens": 12_000, "output_tokens": 900}
GOOGLE = {"promptTokenCount": 12_000, "candidatesTokenCount": 900, "totalTokenCount": 12_900}
SONNET, OPUS = "claude-sonnet-4-5-20250929", "claude-opus-4-6"
BUCKET = {
    "object": "organization.usage.completions.result",
    "input_tokens": 120_000,
    "output_tokens": 9000,
    "input_cached_tokens": 80_000,
    "input_audio_tokens": 0,
    "output_audio_tokens": 0,
    "num_model_requests": 10,
    "model": "gpt-5-mini-2025-08-07",
}


def of(*records: Any, engine: bool) -> tuple[Bill, tuple[str, ...]]:
    """The bill of some records, a line each, by one of the two readers."""
    content = "".join(json.dumps(one) + "\n" for one in records).encode()
    how = partial(Engine, block=1 << 20, fewest=0) if engine else None
    trace = Trace(io.BytesIO(content), engine=how)
    return bill(counted(trace, (), edges()), by=(), against=(), day=DAY), trace.problems


@pytest.mark.parametrize("engine", [False, True])
@pytest.mark.parametrize(
    ("record", "usd"),
    [
        # (12,000 - 8,000) x 0.25 + 8,000 x 0.025 + 900 x 2 dollars a million, half of it by flex, 1.8 times by priority
        ({"model": "gpt-5-mini", "service_tier": "default", "usage": RESPONSE}, "0.003"),
        ({"model": "gpt-5-mini", "service_tier": None, "usage": RESPONSE}, "0.003"),
        ({"model": "gpt-5-mini", "service_tier": "flex", "usage": RESPONSE}, "0.0015"),
        ({"model": "gpt-5-mini", "service_tier": "priority", "usage": RESPONSE}, "0.0054"),
        ({"type": "x", "response": {"model": "gpt-5-mini", "service_tier": "flex", "usage": RESPONSE}}, "0.0015"),
        # 12,000 x 0.25 + 900 x 2, half of it in a batch, whatever its body says
        (
            {"custom_id": "a", "response": {"status_code": 200, "body": {"model": "gpt-5-mini", "usage": CHAT}}},
            "0.0024",
        ),
        (
            {"custom_id": "a", "response": {"body": {"model": "gpt-5-mini", "service_tier": "default", "usage": CHAT}}},
            "0.0024",
        ),
        (BUCKET | {"batch": True}, "0.015"),
        (BUCKET | {"batch": False}, "0.03"),
        # as databases and spreadsheets write yes and no
        *((BUCKET | {"batch": yes}, "0.015") for yes in ("t", "yes", "Y")),
        *((BUCKET | {"batch": no}, "0.03") for no in (0, "f", "no", "N")),
        # the console's word for a batch; any other is of something else
        (BUCKET | {"usage_type": "batch"}, "0.015"),
        (BUCKET | {"usage_type": "message"}, "0.03"),
        # 12,000 x 3 + 900 x 15, half of it in a batch
        ({"type": "message", "model": SONNET, "usage": MESSAGE | {"service_tier": "standard"}}, "0.0495"),
        ({"type": "message", "model": SONNET, "usage": MESSAGE | {"service_tier": "batch"}}, "0.02475"),
        (
            {"custom_id": "a", "result": {"type": "succeeded", "message": {"model": SONNET, "usage": MESSAGE}}},
            "0.02475",
        ),
        # 12,000 x 0.3 + 900 x 2.5, half of it in a batch
        ({"modelVersion": "gemini-2.5-flash", "usageMetadata": GOOGLE | {"trafficType": "ON_DEMAND"}}, "0.00585"),
        ({"key": "r", "response": {"modelVersion": "gemini-2.5-flash", "usageMetadata": GOOGLE}}, "0.002925"),
        (
            {"model": "gpt-5-mini", "service_tier": "auto", "response": {"service_tier": "flex", "usage": CHAT}},
            "0.0024",
        ),
        ({"model": "openai/gpt-oss-120b", "service_tier": "on_demand", "usage": CHAT}, None),
        ({"model": "gpt-5-mini", "speed": "31 tokens a second", "batch": 8, "usage": CHAT}, "0.0048"),
    ],
)
def test_a_request_costs_what_its_model_does_by_its_service(record: Any, usd: str | None, *, engine: bool) -> None:
    found, _ = of(record, engine=engine)
    assert found.whole.requests in {1, 10}
    if usd is not None:
        assert found.whole.cost_usd == Decimal(usd)


@pytest.mark.parametrize("engine", [False, True])
@pytest.mark.parametrize(
    ("record", "about"),
    [
        ({"model": "gpt-5-mini", "service_tier": "scale", "usage": RESPONSE}, "scale"),
        ({"model": "gpt-5-mini", "service_tier": "flex", "batch": True, "usage": RESPONSE}, "batch and flex"),
        (
            {"model": "gpt-5-mini", "service_tier": "flex", "response": {"service_tier": "default", "usage": CHAT}},
            "flex and standard",
        ),
        ({"model": OPUS, "type": "message", "usage": MESSAGE | {"inference_geo": "us"}}, "us"),
        (
            {"modelVersion": "gemini-2.5-flash", "usageMetadata": GOOGLE | {"trafficType": "PROVISIONED_THROUGHPUT"}},
            "PROVISIONED_THROUGHPUT",
        ),
    ],
)
def test_a_service_without_known_prices_is_left_out_and_named(record: Any, about: str, *, engine: bool) -> None:
    found, problems = of(record, engine=engine)
    assert found.whole.requests == 0
    assert f"1 line was answered by a service with unknown prices: {about}." in problems


@pytest.mark.parametrize("engine", [False, True])
def test_a_model_without_a_price_for_the_service_is_named(*, engine: bool) -> None:
    plain = {"type": "message", "model": SONNET, "usage": MESSAGE}
    found, _ = of(plain, plain | {"usage": MESSAGE | {"service_tier": "priority"}}, engine=engine)
    assert (found.whole.requests, found.whole.cost_usd) == (1, Decimal("0.0495"))
    assert any("none for claude-sonnet-4-5-20250929 by the service “priority”" in one for one in found.problems)


def test_another_model_without_the_service_has_no_bill() -> None:
    content = json.dumps({"model": "gpt-5-mini", "service_tier": "flex", "usage": CHAT}).encode()
    counts = counted(Trace(io.BytesIO(content)), (), edges())
    found = bill(counts, by=(), against=("claude-sonnet-4-5", "gpt-5"), day=DAY)
    assert [lacks for _, _, lacks in found.others] == ["it has no price for the service flex on each of the days", ""]


def test_before_the_list_has_a_batch_it_costs_the_same_share() -> None:
    early = date(2025, 11, 30)
    whole, half = (price_list("openai", "gpt-5-mini", day=early, service=one).rates for one in ("standard", "batch"))
    assert (half.input, half.output) == (whole.input / 2, whole.output / 2)
    kept = price_list("google", "gemini-2.5-flash", day=early, service="batch").rates
    assert (kept.input, kept.read) == (Decimal("0.15"), Decimal("0.03"))  # what is cached has no second discount
    with pytest.raises(UnknownModelError, match="no price for the service “priority” in the list before 2026-10-12"):
        price_list("openai", "gpt-5-mini", day=early, service="priority")
