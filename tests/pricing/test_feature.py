"""A feature by hand, then laws: what its turns hold, what is read of them, when a cache loses and own GPUs pay."""

from datetime import date
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash.facts import library
from inferdash.pricing import feature
from inferdash.pricing.feature import Cache, Turns
from inferdash.scenario import Scenario
from inferdash.studies.check import own_accelerators
from inferdash.studies.price import api, breakdown, feature_cost, other_models, prompt_cache, savings

PLAN = Turns(
    shared=1000, own=0, message=100, answer=50, thinking=10, turns=3, history_limit=10_000, gap_s=60.0, spread=1.0
)
FIVE_MINUTES = Cache(minimum=0, increment=1, lifetime_s=300.0, renewed=True)


def test_three_turns_by_hand() -> None:
    """Prompts of 1,100, 1,250 and 1,400 tokens; all come in time, and nobody else has been there."""
    turns = feature.session(PLAN, FIVE_MINUTES, requests_per_day=0)
    assert [turn.read for turn in turns] == [0, 1100, 1250]
    assert [turn.written for turn in turns] == [1100, 150, 150]
    assert [turn.fresh for turn in turns] == [0, 0, 0]
    assert [turn.output for turn in turns] == [60, 60, 60]


def test_turns_that_come_too_late_store_all_again() -> None:
    late = feature.session(PLAN, Cache(0, 1, 59.0, renewed=True), requests_per_day=0)
    assert [turn.read for turn in late] == [0, 0, 0]
    assert [turn.written for turn in late] == [1100, 1250, 1400]


def test_what_all_users_share_is_kept_warm_by_any_of_them() -> None:
    """A request every 300 s on average and a lifetime of 300 s: 1 - 1/e find it."""
    turns = feature.session(PLAN, Cache(0, 1, 300.0, renewed=True), requests_per_day=288)
    assert turns[0].read == pytest.approx(1000 * (1 - exp(-1)))


def test_a_minimum_and_an_increment() -> None:
    short = feature.session(PLAN, Cache(1200, 1, 300.0, renewed=True), requests_per_day=0)
    assert [turn.read for turn in short] == [0, 0, 1250]
    assert [turn.fresh for turn in short] == [1100, 0, 0]
    blocks = feature.session(PLAN, Cache(0, 128, 300.0, renewed=True), requests_per_day=0)
    assert [turn.read for turn in blocks] == [0, 1024, 1152]
    assert [turn.fresh for turn in blocks] == [76, 98, 120]


def test_a_history_that_is_cut_loses_what_follows_the_cut() -> None:
    cut = feature.session(Turns(1000, 0, 100, 50, 0, 4, 200, 60.0, 1.0), FIVE_MINUTES, requests_per_day=0)
    assert [turn.input for turn in cut] == [1100, 1250, 1300, 1300]
    assert [turn.read for turn in cut] == [0, 1100, 1000, 1000]


def test_the_money_of_three_turns_by_hand() -> None:
    """At 2 and 10 dollars, reads a tenth, writes a quarter more: 2,350 read, 1,400 stored, 180 written."""
    scenario = Scenario(
        tools_tokens=1000,
        system_tokens=0,
        user_tokens=0,
        documents_tokens=0,
        question=100,
        answer=50,
        reasoning=10,
        turns=3,
        spread=1,
        users=1,
        sessions=0,
    )
    result = feature_cost.study(scenario)
    assert result.per_session_usd == pytest.approx((2350 * 0.2 + 1400 * 2.5 + 180 * 10) / 1e6)
    assert result.read_share == pytest.approx(2350 / 3750)


plans = st.builds(
    Turns,
    shared=st.integers(0, 20_000),
    own=st.integers(0, 20_000),
    message=st.integers(0, 2000),
    answer=st.integers(1, 2000),
    thinking=st.integers(0, 2000),
    turns=st.integers(1, 20),
    history_limit=st.integers(0, 20_000),
    gap_s=st.floats(1, 10_000),
    spread=st.floats(1, 5),
)
caches = st.builds(
    Cache,
    minimum=st.integers(0, 5000),
    increment=st.integers(1, 3000),
    lifetime_s=st.floats(1, 50_000),
    renewed=st.booleans(),
)


@given(plans, caches, st.floats(0, 1e6))
def test_laws_of_a_session(plan: Turns, cache: Cache, requests: float) -> None:
    cached = feature.session(plan, cache, requests_per_day=requests)
    plain = feature.session(plan, None, requests_per_day=requests)
    for one, other in zip(cached, plain, strict=True):
        assert one.input == pytest.approx(other.input)
        assert min(one.fresh, one.read, one.written) >= 0
    longer = Cache(cache.minimum, cache.increment, 2 * cache.lifetime_s, cache.renewed)
    more = feature.session(plan, longer, requests_per_day=requests)
    assert feature.total(more).read >= feature.total(cached).read * (1 - 1e-9)


def test_ten_times_the_users_cost_ten_times_as_much_where_nothing_is_shared() -> None:
    scenario = Scenario(tools_tokens=0, system_tokens=0)
    result = feature_cost.study(scenario)
    assert result.month_tenfold_usd == pytest.approx(10 * result.month_usd)
    assert result.per_user_month_usd is not None
    assert result.month_usd == pytest.approx(result.per_user_month_usd * scenario.users)


def test_a_cache_that_loses_is_called_a_loss() -> None:
    scenario = Scenario(gap=3600, spread=1, turns=2, tools_tokens=0, system_tokens=0, sessions=0.01)
    result = feature_cost.study(scenario)
    assert result.month_usd > result.month_without_cache_usd
    assert "a loss" in feature_cost.sentence(scenario, result)


def test_own_accelerators_pay_from_the_break_even_on() -> None:
    scenario = Scenario(api="anthropic/claude-sonnet-5-5")
    even = feature_cost.study(scenario).break_even
    assert even is not None
    below, above = (
        feature_cost.study(scenario.model_copy(update={"users": int(even * factor)})) for factor in (0.98, 1.02)
    )
    assert below.own_expected.month_usd is not None
    assert above.own_expected.month_usd is not None
    assert below.own_expected.month_usd > below.month_usd
    assert above.own_expected.month_usd < above.month_usd
    assert feature_cost.study(scenario.model_copy(update={"rent": 5000.0})).break_even is None


def test_own_accelerators_are_expected_to_take_no_less_than_at_the_limit() -> None:
    result = feature_cost.study(Scenario(users=4_000_000))
    own, expected = result.own, result.own_expected
    assert own.gpus is not None
    assert expected.gpus is not None
    assert own.gpus <= expected.gpus
    for one in (own, expected):
        assert one.utilization is not None
        assert 0 < one.utilization <= 1 / own_accelerators.PEAK
        assert one.usd_per_mtok_prompt is not None
        assert one.usd_per_mtok_written is not None
        tokens = result.tokens
        prompt = tokens.fresh + tokens.read + tokens.written
        rent = prompt * one.usd_per_mtok_prompt / 1e6 + tokens.output * one.usd_per_mtok_written / 1e6
        assert rent == pytest.approx(one.month_usd)


def test_beyond_the_break_even_own_accelerators_always_cost_less() -> None:
    """A second node may be a loss again, so the users from which it pays are those after which it never is."""
    scenario = Scenario(
        api="openai/gpt-6-luna", turns=1, sessions=1, documents_tokens=6000, system_tokens=800, tools_tokens=0,
        user_tokens=0, question=50, answer=400,
    )  # fmt: skip
    even = feature_cost.study(scenario).break_even
    for users in (60_000, 80_000, 100_000, 150_000, 200_000, 400_000, 1_000_000):
        result = feature_cost.study(scenario.model_copy(update={"users": users}))
        assert result.own_expected.month_usd is not None
        if even is not None and users > even:
            assert result.own_expected.month_usd <= result.month_usd * (1 + 1e-9)
    assert even is None or even > 90_000


def test_a_model_that_does_not_hold_the_longest_request_is_left_out() -> None:
    scenario = Scenario(documents_tokens=500_000, turns=1)
    assert "Mistral Large 3 2512" in other_models.left_out(scenario)[0]
    assert "Mistral" not in other_models.table(scenario, other_models.compared(scenario)).markdown()
    assert "supports 8,192 tokens" in feature_cost.own_sentence(scenario, feature_cost.study(scenario))


def test_a_model_without_a_price_of_the_service_is_named() -> None:
    """DeepSeek sells no batches."""
    scenario = Scenario(api="openai/gpt-6-luna", service="batch")
    assert "deepseek/deepseek-v4-pro" in " ".join(other_models.left_out(scenario))
    assert "DeepSeek" not in other_models.table(scenario, other_models.compared(scenario)).markdown()


def test_a_known_read_share_takes_the_place_of_timing() -> None:
    scenario = Scenario(share_known=True, read_share=0.4, gap=3600)
    result = feature_cost.study(scenario)
    assert result.read_share == pytest.approx(0.4)
    assert result.month_usd < feature_cost.study(scenario.model_copy(update={"read_share": 0.3})).month_usd


def test_a_link_says_what_its_prices_were_and_are() -> None:
    """Gemini 3.8 Flash doubles on 2027-01-01."""
    scenario = Scenario(api="google/gemini-3.8-flash", prices="2026-12-31")
    said = feature_cost.then_and_now(scenario, date(2027, 1, 1))
    assert "input $0.75 to $1.5" in said
    assert "2026-12-31" in said
    assert feature_cost.then_and_now(scenario, date(2026, 12, 30)) == ""


@pytest.mark.parametrize(
    ("model", "minimum", "lifetime"),
    [
        ("anthropic/claude-sonnet-5-5", 512, 300),
        ("anthropic/claude-haiku-4-5", 4096, 300),
        ("anthropic/claude-opus-4-7", 2048, 300),
        ("openai/gpt-6-sol", 1024, 1800),
        ("openai/gpt-5.5", 2048, 86_400),
        ("openai/gpt-4.1", 1024, 600),
        ("google/gemini-2.5-pro", 2048, 240),
        ("google/gemini-4-argon", 4096, 240),
    ],
)
def test_rules_of_an_api(model: str, minimum: int, lifetime: float) -> None:
    provider, _, name = model.partition("/")
    rules = library.rules_of(provider, name)
    assert rules is not None
    assert (rules.minimum(name), rules.lifetimes[0].seconds) == (minimum, lifetime)


def test_an_api_whose_rules_are_not_known_counts_all_input_as_fresh() -> None:
    scenario = Scenario(api="mistral/mistral-large")
    result = feature_cost.study(scenario)
    assert result.read_share == 0
    assert "not known" in api.rule_sentences(scenario)[0]


def test_the_page_of_the_cache_takes_an_apis_prices_and_rules() -> None:
    """Claude Sonnet 5.5: 2 dollars, reads a twentieth, writes 1.25, or 2 times for an hour: 20.8% and 51.3% pay."""
    scenario = Scenario(api="anthropic/claude-sonnet-5-5", interval=600.0)
    usual, long = api.resolved(scenario), api.resolved(scenario, lifetime=1)
    assert (usual.input_usd, usual.read, usual.write, usual.lifetime, usual.minimum) == (2.0, 0.05, 1.25, 300.0, 512)
    assert (long.write, long.lifetime) == (2.0, 3600.0)
    result = prompt_cache.study(scenario)
    assert result.break_even_read_share == pytest.approx(0.25 / 1.2)
    assert result.read_share == 0
    table = prompt_cache.lifetime_table(scenario)
    assert table is not None
    assert [row.values[0] for row in table.rows] == ["0%", "100%"]


@pytest.mark.parametrize(("tokens", "reused"), [(511, 0), (512, 512)])
def test_one_token_under_the_minimum_is_a_cliff(tokens: int, reused: int) -> None:
    scenario = Scenario(api="anthropic/claude-sonnet-5-5", shared=tokens)
    assert prompt_cache.study(scenario).reused_tokens == reused


def test_an_api_without_known_rules_stores_nothing() -> None:
    scenario = Scenario(api="mistral/mistral-large-2512")
    result = prompt_cache.study(scenario)
    assert result.reused_tokens == 0
    assert result.mean_request_tokens == result.uncached_request_tokens


TICKETS = {
    "use_as": "month",
    "volume": 200_000,
    "turns": 1,
    "tools_tokens": 0,
    "system_tokens": 1500,
    "user_tokens": 0,
    "documents_tokens": 3000,
    "question": 0,
    "answer": 250,
    "read": 0.05,
}
"""A summary of each support ticket, at $2 in and $10 out; storing costs 1.25 times the input."""


def test_marking_the_system_prompt_alone_is_the_best_of_a_ticket() -> None:
    """Of 11,500 millionths of a dollar, 1,500 tokens at a twentieth of the price leave 8,650: 24.8% less."""
    result = feature_cost.study(Scenario(**TICKETS, marked="best"))
    assert result.month_without_cache_usd == pytest.approx(0.2 * 11_500)
    assert result.month_usd == pytest.approx(0.2 * 8650)
    said = feature_cost.sentence(Scenario(**TICKETS, marked="best"), result)
    assert said == (
        "200,000 requests a month cost $1,730.00 at your own prices; caching the system prompt only saves 24.8%."
    )
    whole = Scenario(**TICKETS)
    said = feature_cost.sentence(whole, feature_cost.study(whole))
    assert said.endswith("caching saves 11.7%; for the system prompt only it would save 24.8%.")


def test_ways_to_save_say_dollars_and_per_cent() -> None:
    scenario = Scenario(**TICKETS, api="anthropic/claude-sonnet-5-5", marked="best")
    result = feature_cost.study(scenario)
    found = {row.label: row.values for row in savings.table(scenario, result).rows}
    assert found["As it is"][0] == "$1,730.00"
    assert found["Send it as a batch"][:3] == ("$865.00", "$865.00", "50%")
    assert found["Mark for caching what pays off"][:3] == ("$1,730.00", "nothing more", "")
    assert found["A quarter off the documents"][1] == "$300.00"  # 750 tokens at $2, 200,000 times
    batch = scenario.model_copy(update={"service": "batch"})
    assert "as a batch" in feature_cost.sentence(batch, feature_cost.study(batch))
    assert "cached input $0.10, cache write $2.50 (60 min: $4), output $10" in savings.price_sentence(scenario)


def test_nothing_saved_has_a_reason() -> None:
    """Gemini stores no start of less than 4,096 tokens; Mistral's rules are not known."""
    for api_, why in (
        ("google/gemini-4-argon", "fewer than the minimum of 4,096"),
        ("mistral/mistral-large-2512", "not known"),
    ):
        scenario = Scenario(**TICKETS, api=api_)
        assert why in feature_cost.sentence(scenario, feature_cost.study(scenario))


def test_requests_a_day_are_thirty_of_a_month() -> None:
    month, day = (Scenario(**(TICKETS | {"use_as": way, "volume": n})) for way, n in (("month", 3000), ("day", 100)))
    assert feature_cost.study(month).month_usd == pytest.approx(feature_cost.study(day).month_usd)


def test_growth_adds_up_twelve_months() -> None:
    """With nothing shared a month costs in proportion: 1.1 to the power of 12, less 1, over 0.1."""
    result = feature_cost.study(Scenario(**(TICKETS | {"system_tokens": 0}), growth=10.0))
    assert result.year_usd == pytest.approx(result.month_usd * (1.1**12 - 1) / 0.1)
    assert result.month_twofold_usd == pytest.approx(2 * result.month_usd)


def test_a_chat_whose_history_grows() -> None:
    """Thirty turns: a mean prompt of 4,000 + 14.5 x 336 + 80 tokens."""
    scenario = Scenario(
        turns=30, tools_tokens=0, system_tokens=4000, user_tokens=0, documents_tokens=0, question=80, answer=256
    )
    assert f"A prompt has {4000 + 14.5 * 336 + 80:,.0f} tokens on average" in breakdown.turn_sentence(scenario)


@given(plans, caches, st.floats(0, 1e6), st.sampled_from(feature.MARKINGS))
def test_parts_of_a_prompt_add_up_to_it(plan: Turns, cache: Cache, requests: float, marked: str) -> None:
    turns = feature.session(plan, cache, requests_per_day=requests, marked=marked)
    for one, turn in zip(feature.prompts(plan, cache, requests_per_day=requests, marked=marked), turns, strict=True):
        fresh, written, read = (
            sum(part)
            for part in zip(*feature.split(one, (plan.shared, plan.own, one.history, plan.message)), strict=True)
        )
        assert (fresh, written, read) == pytest.approx((turn.fresh, turn.written, turn.read), abs=1e-6)
        assert min(fresh, written, read) >= 0


def test_money_by_part_is_the_month() -> None:
    scenario = Scenario(api="anthropic/claude-sonnet-5-5")
    parts = breakdown.usd_by_part(scenario)
    assert sum(usd for _, usd in parts.values()) == pytest.approx(feature_cost.study(scenario).per_session_usd)
