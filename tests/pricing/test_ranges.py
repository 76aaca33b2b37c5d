"""Ranges: how they are read, what they give against the feature itself, and laws."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash import links
from inferdash.facts import library
from inferdash.pricing.ranges import Range, read_range, spread, uniforms, variance_shares
from inferdash.scenario import Scenario
from inferdash.studies.price import drawn as drawn_inputs
from inferdash.studies.price import feature_cost, ownership, ranges, session
from tests.scenarios import valid


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("20k..60k", Range(20_000, 60_000)),
        ("±20%", Range(around=0.2)),
        ("+-7.5%", Range(around=0.075)),
        ("200/400/900", Range(200, 900, 400)),
        ("5..5", Range(5, 5)),
    ],
)
def test_ranges_are_read_as_people_write_them(text: str, meant: Range) -> None:
    assert read_range(text) == meant


@pytest.mark.parametrize("text", ["", "5", "9..3", "1/2", "1..2..3", "3/2/1", "±200%", "a..b", "-3..4", "±%"])
def test_what_is_no_range_is_refused(text: str) -> None:
    if text == "1/2":  # two ends
        assert read_range(text) == Range(1, 2)
        return
    with pytest.raises(ValueError, match=r"range"):
        read_range(text)


def test_a_link_says_what_is_wrong_with_its_ranges() -> None:
    (problem,) = links.decode("ranges=speed 1..2&v=2").problems
    assert "speed" in problem.sentence
    link = "ranges=users 20k..60k, answer ±20%&v=2"
    assert links.decode(link).scenario.ranged == {"users": Range(20_000, 60_000), "answer": Range(around=0.2)}


def test_a_triangle_is_drawn_as_one() -> None:
    """Its mean is a third of the sum of its three numbers, its variance that of the textbook."""
    drawn = read_range("100/200/600").drawn(0.0, uniforms(("x",), seed=1, count=200_000)["x"])
    assert drawn.mean() == pytest.approx(300, rel=0.005)
    assert drawn.var() == pytest.approx((100**2 + 200**2 + 600**2 - 100 * 200 - 100 * 600 - 200 * 600) / 18, rel=0.02)
    assert drawn.min() >= 100
    assert drawn.max() <= 600


def test_shares_of_a_sum_are_those_of_its_parts() -> None:
    """A variance of 1 and one of 9 make a tenth and nine tenths."""
    drawn = uniforms(("a", "b"), seed=3, count=100_000)
    shares = variance_shares(drawn, lambda x: x["a"] + 3 * x["b"], {"a": 0.5, "b": 0.5})
    assert list(shares) == ["b", "a"]
    assert shares["b"] == pytest.approx(0.9, abs=0.01)
    assert shares["a"] == pytest.approx(0.1, abs=0.01)


APIS = ("own", "anthropic/claude-sonnet-5-5", "openai/gpt-6-sol", "google/gemini-4-argon", "moonshotai/kimi-k3.1-pro")


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), api=st.sampled_from(APIS))
def test_at_the_point_it_is_the_feature_itself(seed: int, api: str) -> None:
    """For generated scenarios, and as a range without width."""
    drawn = valid(seed, usual=True)
    scenario = drawn.model_copy(update={"api": api, "prices": "2026-11-29", "service": "standard", "ranges": ""})
    month = session.month_usd(scenario)
    assert float(np.max(drawn_inputs.month(scenario)({}))) == pytest.approx(month, rel=1e-9)
    flat = scenario.model_copy(update={"ranges": f"question {scenario.question}..{scenario.question}, turns ±0%"})
    found = spread(np.broadcast_to(drawn_inputs.month(flat)(drawn_inputs.draws(flat, count=50)), 50))
    assert [found.low, found.middle, found.high] == pytest.approx([month] * 3, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(low=st.integers(1, 10**6), width=st.integers(0, 10**6), share=st.integers(0, 100))
def test_the_middle_lies_between_low_and_high(low: int, width: int, share: int) -> None:
    scenario = Scenario(ranges=f"users {low}..{low + width}, answer ±{share}%, gap 1..1000")
    drawn = drawn_inputs.draws(scenario, count=2000)
    found = spread(np.asarray(drawn_inputs.month(scenario)(drawn)))
    assert found.low <= found.middle <= found.high
    again = drawn_inputs.draws(scenario, count=2000)
    assert all((drawn[name] == again[name]).all() for name in drawn), "the same draws from a seed"


def test_the_table_names_each_way_with_its_point() -> None:
    decoded = links.decode("api=anthropic/claude-sonnet-5-5&ranges=users ±50%&v=2")
    assert decoded.problems == ()
    found = ranges.results(decoded.scenario, feature_cost.study(decoded.scenario))
    point, one = found["Claude Sonnet 5.5"]
    assert point == pytest.approx(session.month_usd(decoded.scenario))
    # The month is linear in its users but for what they keep warm together.
    assert (one.low, one.middle, one.high) == pytest.approx((0.6 * point, point, 1.4 * point), rel=0.03)
    assert next(iter(ranges.shares(decoded.scenario).values())) == pytest.approx(1)


def test_the_question_of_the_tickets_is_answered_by_its_link() -> None:
    """Three APIs, and GPUs rented and bought: each with its low, middle and high; bought ones as owning counts them."""
    one = links.decode(library.scenarios()["15-tickets"].link).scenario
    result = feature_cost.study(one)
    found = ranges.results(one, result)
    assert len(found) == 5
    assert all(each.low <= each.middle <= each.high for _, each in found.values())
    own = ownership.ownership(one, result)
    assert own is not None
    assert found["Qwen3 32B on NVIDIA H200 SXM, bought"][0] == pytest.approx(own.owned.total_usd)
    assert found["Qwen3 32B on NVIDIA H200 SXM, rented"][0] == pytest.approx(own.rent_usd)
    paid = ranges.results(one.model_copy(update={"people_usd": 5000}), result)
    assert paid["Qwen3 32B on NVIDIA H200 SXM, bought"][0] == pytest.approx(own.owned.total_usd + 5000)
    assert paid["Qwen3 32B on NVIDIA H200 SXM, rented"][0] == pytest.approx(own.rent_usd + 5000)
    low, middle, high = (f"${value:,.0f}" for value in (found["Claude Sonnet 5.5"][1].low,
                         found["Claude Sonnet 5.5"][1].middle, found["Claude Sonnet 5.5"][1].high))  # fmt: skip
    assert f"over its ranges {middle} at the median (P10 to P90: {low} to {high})" in feature_cost.sentence(one, result)
    still = one.model_copy(update={"ranges": "server_usd ±25%"})
    assert "over its ranges" not in feature_cost.sentence(still, result)
    assert "Number of requests 224,000 on average, 200,000 entered" in ranges.leaning(one)
    assert ranges.still(found) == ""
    for said in ranges.suggested(one).values():
        assert links.decode(f"ranges={said['ranges']}&use_as=month&v=2").problems == ()


def test_machines_that_are_bought_move_with_their_price_and_that_of_power() -> None:
    """At a point of the draws the month is that of owning at the same inputs, worked out apart from the ranges."""
    base = links.decode(f"{library.scenarios()['15-tickets'].link}&people_usd=4000").scenario
    result, name = feature_cost.study(base), "Qwen3 32B on NVIDIA H200 SXM, bought"
    for changes in ({"server_usd": 52_000.0}, {"kwh_usd": 0.31}, {"people_usd": 9000.0}):
        ((field, value),) = changes.items()
        fixed = base.model_copy(update={"ranges": f"{field} {value}..{value}"})
        (_, one), own = (
            ranges.results(fixed, result)[name],
            ownership.ownership(base.model_copy(update=changes), result),
        )
        assert own is not None
        assert (one.low, one.high) == pytest.approx([own.owned.total_usd] * 2)
    only_use = ranges.results(base.model_copy(update={"ranges": "volume ±1%"}), result)
    assert "bought" in ranges.still(only_use)


def test_a_hundred_thousand_draws_take_a_moment() -> None:
    """The least of several, as other work on a machine only adds to it; a tenth of a second where nothing else runs."""
    ranged = (
        "users 20k..60k, sessions ±25%, turns 2..8, gap ±25%, answer ±20%, question 200/400/900, documents_tokens ±9%"
    )
    scenario = links.decode(f"api=anthropic/claude-sonnet-5-5&ranges={ranged}&v=2").scenario
    assert len(scenario.ranged) == 7
    month, taken = drawn_inputs.month(scenario), []
    for _ in range(5):
        start = time.process_time()
        month(drawn_inputs.draws(scenario, count=100_000))
        taken.append(time.process_time() - start)
    assert min(taken) < 0.25


def test_a_range_that_changes_nothing_is_no_spread_however_sums_are_rounded() -> None:
    """All input is a free cached read, at stated requests a day: turns change when they come, not what they cost."""
    fields = "answer=1&reasoning=112&output_usd=10000&read=0&use_as=day&share_known=true&read_share=1"
    scenario = links.decode(f"{fields}&ranges=turns 1..500&v=2").scenario
    assert ranges.histogram_rows(scenario) == []
    assert ranges.share_sentence(scenario) == ""
