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

from inferdash.facts import library
from inferdash.facts.money import prices
from inferdash.facts.money.prices import price_list
from inferdash.facts.money.rates import PriceList, Rates, Tier
from inferdash.pricing.bills import replay
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.usage import usage
from inferdash.pricing.prompt_cache import storage_usd
from inferdash.pricing.replay import Request
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


def api(provider: str, model: str, day: date = TODAY, *, hour: int = 12, service: str = "standard") -> PriceList:
    return price_list(provider, model, day=day, hour=hour, service=service)


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
    "loreai-503": (Tokens(500_000, 500_000, output=1_000_000), api("anthropic", "claude-sonnet-5-5", service="batch")),
    "claudit-1.9.2": (Tokens(read=1_000_000), api("anthropic", "claude-sonnet-5-5")),
    "models.dev-3956": (Tokens(read=1_000_000), listed("3")),
    "genai-prices-mistral-large": (Tokens(1_000_000), api("mistral", "mistral-large-latest")),
    "truefoundry-765": (Tokens(1_000_000), api("openai", "o3", service="batch")),
    "deepseek-weekend": (Tokens(1_000_000), api("deepseek", "deepseek-v4-pro", date(2026, 11, 28), hour=2)),
    "genai-prices-openrouter-argon": (Tokens(written=1_000_000), api("openrouter", "google/gemini-4-argon")),
    "kimi-1h-vs-5m": (Tokens(read=47_000_000, written_long=1_000_000), api("moonshotai", "kimi-k3")),
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


def test_a_weekday_has_peak_hours() -> None:
    """Friday 2026-11-27 at 02:00 UTC costs twice; so does Sunday at 23:00 UTC not, though Monday in Beijing began."""
    assert api("deepseek", "deepseek-v4-pro", date(2026, 11, 27), hour=2).rates.input == D("1.32")
    assert api("deepseek", "deepseek-v4-pro", date(2026, 11, 30), hour=2).rates.input == D("1.32")
    assert api("deepseek", "deepseek-v4-pro", date(2026, 11, 29), hour=23).rates.input == D("0.66")


def test_a_service_without_a_price_is_a_sentence() -> None:
    with pytest.raises(prices.UnknownModelError, match="no price for the service “priority”"):
        api("deepseek", "deepseek-v4-pro", service="priority")


def test_langfuse_10592_cached_tokens_are_part_of_the_prompt() -> None:
    tokens = of_total(17_903, read=17_817)
    assert (tokens.input, tokens.fresh) == (CASES["langfuse-10592"]["right"], 86)


@pytest.mark.parametrize("case", ["langsmith-2519", "pydantic-ai-3850"])
def test_anthropics_input_leaves_out_the_cache(case: str) -> None:
    fresh = CASES[case]["right"] if case == "langsmith-2519" else 100
    counted = usage(
        {
            "input_tokens": fresh,
            "cache_read_input_tokens": 38_000,
            "cache_creation_input_tokens": 1000,
            "output_tokens": 1,
        }
    )
    assert counted.recorded is not None
    assert counted.input_tokens == fresh + 39_000
    assert counted.input_tokens - counted.recorded.read_tokens - counted.recorded.written_tokens == fresh


def test_aider_5425_what_was_read_leaves_the_fresh_tokens() -> None:
    price = api("deepseek", "deepseek-v4-pro")
    rates = price.rates
    usd = ((1000 - 400) * rates.input + 400 * rates.of("read")) / 10**6
    assert bill(of_total(1000, read=400), price).total_usd == usd


def test_promptfuel_tiers_are_those_of_each_request() -> None:
    """Two requests of 60,000 tokens stay in the low tier of Haiku 5.5; their sum would not."""
    price = api("anthropic", "claude-haiku-5-5")
    one = Tokens(60_000)
    assert 2 * bill(one, price).total_usd < bill(one + one, price).total_usd


def test_ttl_expiry_share() -> None:
    case = CASES["ttl-expiry-share"]
    assert case["input"]["ttl_expiry"]["usd"] / case["input"]["spend_usd"] == pytest.approx(case["right"], abs=5e-4)


@pytest.mark.parametrize(
    ("provider", "model", "tokens", "stored"),
    [
        ("anthropic", "claude-sonnet-4-6", 1500, 0),  # below-min-sonnet46: 2,048 and not 1,024
        ("openai", "gpt-5.6", 250, 0),  # xinyuwei-45
        ("openai", "gpt-5.6", 1024, 1024),
    ],
)
def test_below_the_minimum_nothing_is_stored(provider: str, model: str, tokens: int, stored: int) -> None:
    rules = library.rules_of(provider, model)
    assert rules is not None
    kept = Rules(minimum_tokens=rules.minimum(model), increment_tokens=rules.increment, lifetime_s=300, renewed=True)
    asked = Request(time_s=0, input_tokens=tokens, output_tokens=0, blocks=tuple(range(tokens)), block_tokens=1)
    assert replay([asked], kept, listed("3", write="3.75")).written_tokens == stored


def test_c22_reasoning_is_part_of_the_completion() -> None:
    counted = usage(
        {
            "prompt_tokens": 23_318,
            "completion_tokens": 251,
            "completion_tokens_details": {"reasoning_tokens": 53},
            "total_tokens": 23_569,
        }
    )
    assert (counted.input_tokens, counted.output_tokens) == (23_318, 251)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "deepseek", "x-ai", "moonshotai"])
def test_c25_a_read_costs_less_than_input_and_a_write_no_less(provider: str) -> None:
    for model in prices.models(provider):
        rates = api(provider, model).rates
        assert rates.of("read") <= rates.input <= rates.of("written") <= rates.of("written_long"), model


def test_c27_the_cache_of_opus_4_5_follows_its_own_input() -> None:
    rates = api("anthropic", "claude-opus-4-5").rates
    assert (rates.read, rates.write) == (D("0.5"), D("6.25"))


@pytest.mark.parametrize(
    ("model", "day", "usd"),
    [
        ("gemini-2.5-flash", TODAY, 1.0),
        ("gemini-2.5-pro", TODAY, 4.5),
        ("gemini-3.8-flash", TODAY, 0.5),
        ("gemini-3.8-flash", date(2027, 1, 1), 1.0),
    ],
)
def test_c28_a_million_tokens_kept_for_an_hour(model: str, day: date, usd: float) -> None:
    rules = library.rules_of("google", model)
    assert rules is not None
    hourly = rules.storage_price(model, day)
    assert hourly is not None
    assert storage_usd(tokens=1_000_000, hours=1, usd_per_mtok_hour=hourly) == usd


def test_c29_a_request_after_the_lifetime_costs_many_hits() -> None:
    """Measured: 8.5 times as much; by the prices alone a start costs 12.5 times as much stored as read."""
    rates = api("anthropic", "claude-sonnet-4-5").rates
    assert rates.of("written") / rates.of("read") == D("12.5")
    assert 1 < D("0.9987") / D("0.1178") < D("12.5")


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
    corrected = [one for one in prices.corrections() if one.provider == provider]
    assert all(one.weekend_as_hour == 12 or one.batch for one in corrected)  # which change nothing at that hour
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


def test_gemini_dead_zone_reads_come_in_blocks() -> None:
    """Blocks of 2,048 tokens, as a user measured: of 10,000 equal tokens 8,192 are read, and not none."""
    blocks = tuple(range(10_000))
    rules = Rules(minimum_tokens=2048, increment_tokens=2048, lifetime_s=240, renewed=True)
    asked = [Request(time_s=t, input_tokens=10_000, output_tokens=0, blocks=blocks, block_tokens=1) for t in (0, 60)]
    assert replay(asked, rules, listed("1", read="0.1")).read_tokens == 10_000 // 2048 * 2048


def test_every_case_of_the_public_reports_is_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [case for case in CASES if case not in BILLS and case.replace("-", "_") not in text.replace("-", "_")] == []
