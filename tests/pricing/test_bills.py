"""Bills that were publicly reported to be wrong: each with its usage, its rates, and what it really costs."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from genai_prices import Usage, calc_price
from hypothesis import given
from hypothesis import strategies as st

from inferdash.facts import prices
from inferdash.facts.prices import PriceList, Rates, Tier, price_list
from inferdash.pricing.tokens import InconsistentUsageError, Tokens, bill, of_total, without_cache

D = Decimal
CASES = {case["id"]: case for case in json.loads((Path(__file__).parent / "pricing_cases.json").read_text())["cases"]}
TODAY = date(2026, 11, 29)


def listed(
    in_: str, out: str = "0", *, read: str | None = None, write: str | None = None, long: str | None = None, **tier: Any
) -> PriceList:
    """A price list with these rates; `tier` is another one above a number of input tokens."""
    own = Rates(D(in_), D(out), *(None if rate is None else D(rate) for rate in (read, write, long)))
    tiers = (Tier(tier["above"], tier["rates"], tier.get("inclusive", False)),) if tier else ()
    return PriceList("test", "test", own, TODAY, "entered", tiers)


def api(provider: str, model: str, day: date = TODAY, *, batch: bool = False) -> PriceList:
    return price_list(provider, model, day=day, batch=batch)


SONNET_HIGH = Rates(D(6), D(30), D("0.6"), D("7.5"), D(12))
BILLS: dict[str, tuple[Tokens, PriceList]] = {
    "litellm-9812": (Tokens(3, 0, 12_304, 0, 550), listed("3", "15", read="0.3", write="3.75")),
    "litellm-31282": (Tokens(100, 200, 700), listed("3", read="0.3", write="3.75")),
    "aider-5516": (of_total(17_111, read=17_102), api("anthropic", "claude-haiku-4-5")),
    "mnfst-2051": (of_total(36_100, read=21_600, output=1200), listed("0.435", "0.87", read="0.003625")),
    "omp-6876": (Tokens(written_long=344_139), listed("5", write="6.25", long="10")),
    "pi-9457": (Tokens(written_long=8882), api("anthropic", "claude-opus-4-6")),
    "claude-hud-758": (Tokens(written_long=2_000_000), listed("3", write="3.75", long="6")),
    "genai-prices-241": (Tokens(300_000), listed("3", "15", above=200_000, rates=SONNET_HIGH)),
    "litellm-14834": (
        Tokens(162_732, output=1308),
        listed("3", "15", above=128_000, rates=Rates(D(6), D(30))),
    ),
    "haiku55-tier": (Tokens(100_001, output=1000), api("anthropic", "claude-haiku-5-5")),
    "xai-200k-inclusive": (Tokens(200_000), api("x-ai", "grok-4.6")),
    "litellm-40174-bedrock": (
        of_total(250_000, read=200_000, written=10_000, output=1000),
        listed("3", "15", above=200_000, rates=SONNET_HIGH),
    ),
    "litellm-40174-xai": (
        of_total(200_000, read=100_000, output=1000),
        listed("1.25", "2.5", above=200_000, rates=Rates(D("2.5"), D(5), D("0.4")), inclusive=True),
    ),
    "opencode-17566": (Tokens(14_746, output=1944), listed("30", "180")),
    "orbit-1274": (of_total(100_000, read=90_000), api("google", "gemini-3.7-flash")),
    "ccusage-1617": (
        of_total(935_040, read=875_306, written=57_610, output=11_150),
        listed("2", "12", read="0.2", write="2.5"),
    ),
    "xum-3705": (Tokens(written=3207), listed("5", read="0.5", write="6.25")),
    "loreai-503": (Tokens(500_000, 500_000, output=1_000_000), api("anthropic", "claude-sonnet-5-5", batch=True)),
    "claudit-1.9.2": (Tokens(read=1_000_000), api("anthropic", "claude-sonnet-5-5")),
    "models.dev-3956": (Tokens(read=1_000_000), listed("3")),
    "genai-prices-mistral-large": (Tokens(1_000_000), api("mistral", "mistral-large-latest")),
    "tokenlens-6": (Tokens(25), listed("0.30")),
}
"""Report -> tokens and rates; rates that an API has today are read from the list."""


@pytest.mark.parametrize("case", BILLS)
def test_a_reported_bill(case: str) -> None:
    tokens, price = BILLS[case]
    assert float(bill(tokens, price).total_usd) == pytest.approx(CASES[case]["right"], rel=1e-9)
    assert float(bill(tokens, price).total_usd) != pytest.approx(CASES[case]["wrong"], rel=1e-3)


@pytest.mark.parametrize(
    ("tokens", "price", "usd"),
    [
        (of_total(20_212, read=16_298, output=931), listed("0.5", "3", read="0.05"), "0.0055649"),
        (of_total(262_960, read=257_955, output=1744), listed("2.5", "15", read="0.625"), "0.199894375"),
        (of_total(262_960, read=257_955, output=1744), listed("2.5", "15", read="0.25"), "0.10316125"),
        (Tokens(10, 66_360, 32_435, 0, 5120), listed("5", "25", read="0.5", write="6.25"), "0.36394875"),
        (Tokens(2, 18_971, 100), listed("2", read="0.2", write="2.5"), "0.0040482"),
        (Tokens(written_long=344_139), listed("5", long="10"), "3.44139"),
        (Tokens(written_long=1_000_000), listed("3", above=200_000, rates=SONNET_HIGH), "12"),
        (Tokens(read=1_000_000), listed("10", read="0.25"), "0.25"),
        (of_total(2600, read=2000, written=400), listed("5", read="0.5", write="6.25"), "0.0045"),
        (of_total(2600, read=2000, written=400), listed("4", read="0.4", write="5"), "0.0036"),
        (
            Tokens(268_000, 3000, 3000),
            listed("5", above=272_000, rates=Rates(D(10), D(0), D(1), D("12.5"))),
            "2.7205",
        ),
        (Tokens(200_000, output=1000), listed("1.25", "10", above=200_000, rates=Rates(D("2.5"), D(15))), "0.26"),
        (Tokens(200_001, output=1000), listed("1.25", "10", above=200_000, rates=Rates(D("2.5"), D(15))), "0.5150025"),
        (Tokens(14_746, output=1944), listed("30", "180"), "0.7923"),
        (Tokens(1000, 2000, 50_000, 0, 500), listed("2.5", "10", read="1.25"), "0.135"),
    ],
    ids=[
        "C1",
        "C3",
        "C3-today",
        "C4",
        "C6",
        "C8",
        "C11",
        "C12",
        "C16",
        "C16-after",
        "C18",
        "C19",
        "C19-above",
        "C21",
        "C26",
    ],
)
def test_rows_of_the_public_reports(tokens: Tokens, price: PriceList, usd: str) -> None:
    assert bill(tokens, price).total_usd == D(usd)


def test_c31_a_regional_premium_is_a_factor() -> None:
    """Bedrock's regional profiles take a tenth more: 5.50 for a million tokens at 5."""
    assert Rates(D(5), D(25)).times(D("1.1")).input == D("5.50")


def test_c32_a_price_has_a_day() -> None:
    """Gemini 3.8 Flash costs 0.75 until the end of 2026 and 1.50 from then on."""
    before, after = (api("google", "gemini-3.8-flash", day) for day in (date(2026, 12, 31), date(2027, 1, 1)))
    assert (before.rates.input, after.rates.input) == (D("0.75"), D("1.50"))


def test_c33_usage_that_contradicts_itself_names_two_numbers() -> None:
    with pytest.raises(InconsistentUsageError, match="100 tokens, but 200"):
        of_total(100, read=200)
    with pytest.raises(InconsistentUsageError, match="fewer than none"):
        Tokens(fresh=-1)


def test_c24_fresh_tokens_are_the_difference() -> None:
    assert of_total(29_065, read=28_634).fresh == 431
    assert of_total(696_219, read=696_190).fresh == 29


PROVIDERS = (
    *("anthropic", "openai", "google", "deepseek", "groq", "cohere"),
    *("moonshotai", "zai", "aws", "together", "minimax", "azure"),
)
USAGES = (Tokens(1000, output=100), Tokens(500, 400, 100, 0, 1000), Tokens(150_000, 100_000, 50_000, 0, 2000))


def some_models() -> list[tuple[str, str]]:
    """Four models of each of eleven providers, those with most prices first."""
    chosen = []
    for provider in PROVIDERS:
        found = list(prices.models(provider))
        chosen += [(provider, name) for name in found[:4]]
    return chosen


@pytest.mark.parametrize(("provider", "model"), some_models())
@pytest.mark.parametrize("usage", USAGES, ids=["small", "cached", "large"])
def test_the_list_agrees_with_its_package(provider: str, model: str, usage: Tokens) -> None:
    """At midday of one day. Providers that are corrected on purpose are not among them."""
    assert not any(correction.provider == provider for correction in prices.corrections())
    own = price_list(provider, model, day=TODAY)
    counted = Usage(
        input_tokens=usage.input,
        cache_read_tokens=usage.read,
        cache_write_tokens=usage.written,
        output_tokens=usage.output,
    )
    theirs = calc_price(
        counted,
        model_ref=own.model,
        provider_id=provider,
        genai_request_timestamp=datetime(2026, 11, 29, 12, tzinfo=UTC),
    )
    assert bill(usage, own).total_usd == theirs.total_price


def test_there_are_forty_models_of_ten_providers() -> None:
    assert len(some_models()) >= 40
    assert len({provider for provider, _ in some_models()}) >= 10


def test_an_unknown_model_is_a_sentence() -> None:
    for provider, model in (("anthropic", "claude-of-tomorrow"), ("nobody", "x")):
        with pytest.raises(prices.UnknownModelError, match="is not in the list"):
            price_list(provider, model, day=TODAY)


tokens_ = st.builds(Tokens, *(st.integers(0, 10**7) for _ in range(5)))


@given(tokens_, tokens_)
def test_laws(one: Tokens, other: Tokens) -> None:
    price = listed("2", "10", read="0.1", write="2.5", long="4")
    assert bill(one, price).total_usd >= 0
    assert one.fresh + one.read + one.written + one.written_long == one.input
    assert bill(one, price).total_usd + bill(other, price).total_usd == bill(one + other, price).total_usd
    assert without_cache(one).input == one.input
    parts = bill(one, price).usd
    assert sum(parts.values()) == bill(one, price).total_usd
