"""Buying, images, tools and limits of a feature: sums done by hand, and laws."""

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash import links
from inferdash.facts import library
from inferdash.facts.machines.power import power_curve
from inferdash.facts.money.purchases import taken
from inferdash.facts.money.rents import age
from inferdash.scenario import Scenario
from inferdash.studies.learn import energy
from inferdash.studies.price import dated, extras, feature_cost, limits, ownership, session
from inferdash.studies.run import plan_rents, upkeep

API = "api=anthropic/claude-sonnet-5-5"


def scenario(query: str) -> Scenario:
    decoded = links.decode(f"{query}&v=2")
    assert decoded.problems == ()
    return decoded.scenario


def lines(one: Scenario) -> dict[str, float]:
    return {line.name: line.usd for line in extras.extras(one)}


def test_nothing_is_added_until_it_is_asked_for() -> None:
    plain = scenario(API)
    assert lines(plain) == {"The feature, text only": session.month_usd(plain)}


def test_an_image_counts_as_the_tokens_of_its_rule() -> None:
    """1,369 tokens of Sonnet 5.5 in each message are a message with 1,369 tokens more."""
    pictured = scenario(f"{API}&images=1")
    longer = scenario(f"{API}&question={pictured.question + 1369}")
    assert sum(lines(pictured).values()) == pytest.approx(session.month_usd(longer))
    unknown = scenario("api=anthropic/claude-haiku-5-5&images=1")
    assert lines(unknown)["Images"] == 0
    assert "no rule is known" in extras.table(unknown).markdown()


def test_fees_and_searches_are_worked_out_by_hand() -> None:
    one = scenario("use_as=month&volume=200000&turns=1&steps=3&tool_fee=10&searches=2&rerank_usd=1&search_tokens=100")
    found = lines(one)
    assert found["Tool fees"] == pytest.approx(200_000 * 2 * 10 / 1000)
    assert found["Searches"] == pytest.approx(200_000 * 2 * (100 * 0.1 / 1e6 + 1 / 1000))


@settings(max_examples=25, deadline=None)
@given(images=st.integers(0, 3), steps=st.integers(1, 6), again=st.floats(0, 0.8), more=st.floats(0, 0.1))
def test_more_of_it_is_never_cheaper(images: int, steps: int, again: float, more: float) -> None:
    base = scenario(f"{API}&turns=2")
    one = base.model_copy(update={"images": images, "steps": steps, "again": again})
    for changes in ({"images": images + 1}, {"steps": steps + 1}, {"again": again + more}):
        other = one.model_copy(update=changes)
        assert sum(lines(other).values()) >= sum(lines(one).values()) * (1 - 1e-9)


def test_limits_say_by_how_much_a_queue_grows() -> None:
    """1.44 million requests a month are 33.3 a minute; the busiest hour has 2.5 times as many."""
    one = scenario("use_as=month&volume=1440000&rpm=50&itpm=1000000000")
    requests, tokens, answers = limits.needs(one)
    assert requests.needed == pytest.approx(1_440_000 / 43_200 * 2.5)
    assert requests.queue_a_minute == pytest.approx(requests.needed - 50)
    assert tokens.queue_a_minute == answers.queue_a_minute == 0
    assert "are too low" in limits.sentence(one)
    assert "are enough for the busiest hour" in limits.sentence(scenario("use_as=month&volume=1000&rpm=50"))


def test_owning_adds_up_and_breaks_even_where_it_says() -> None:
    one = scenario(f"{API}&server_usd=40000&people_usd=1000&colocation_usd=200")
    found = ownership.ownership(one, feature_cost.study(one))
    assert found is not None
    month = found.owned
    assert month.people_usd == 1000
    assert month.colocation_usd == pytest.approx(found.bought.busy_w / 1000 * 200 * one.site_factor)
    parts = (month.capital_usd, month.upkeep_usd, month.energy_usd, month.colocation_usd, month.people_usd)
    assert month.total_usd == pytest.approx(sum(parts))
    # The curves of the chart pass through the three costs of the table.
    assert float(found.ways["API"].usd(found.tokens)) == pytest.approx(found.api_usd)
    assert float(found.ways["rented"].usd(found.tokens)) == pytest.approx(found.rent_usd)
    assert float(found.ways["owned"].usd(found.tokens)) == pytest.approx(month.total_usd)
    assert found.co2_kg == pytest.approx(month.kwh * 0.384)


def test_staff_is_paid_to_run_gpus_rented_or_bought() -> None:
    """It moves both by what was entered, and so the month at which buying overtakes renting not at all."""
    one = scenario(f"{API}&server_usd=20000&rent=3")
    paid = one.model_copy(update={"people_usd": 3000.0})
    before, after = (ownership.ownership(each, feature_cost.study(each)) for each in (one, paid))
    assert before is not None
    assert after is not None
    assert after.owned.total_usd - before.owned.total_usd == pytest.approx(3000)
    assert after.rent_usd - before.rent_usd == pytest.approx(3000)
    assert after.overtakes == before.overtakes is not None
    assert float(after.ways["rented"].usd(after.tokens)) == pytest.approx(after.rent_usd)
    assert after.api_usd == before.api_usd


def test_a_part_of_a_server_says_what_the_server_costs() -> None:
    one = scenario(f"{API}&accelerator=h200-sxm&server_usd=40000")
    found = ownership.ownership(one, feature_cost.study(one))
    assert found is not None
    assert found.gpus % 8
    servers = -(-found.gpus // 8)
    assert f"${40_000 * found.gpus:,} on day one" in ownership.sentence(one, found)
    assert f"(${40_000 * 8 * servers:,} whole)" in ownership.sentence(one, found)
    whole = ownership.ownership(full := one.model_copy(update={"gpus": 8}), feature_cost.study(full))
    assert whole is not None
    assert " whole)" not in ownership.sentence(full, whole)


def test_a_price_of_years_ago_says_so() -> None:
    one = scenario(
        f"{API}&accelerator=rtx-4090&model=llama-3.1-8b&weights=fp8&documents_tokens=1000&volume=1000&use_as=month"
    )
    found = ownership.ownership(one, feature_cost.study(one))
    assert found is not None
    said = ownership.table(one, found, date(2026, 11, 30)).markdown()
    assert "prices of 2022-11, more than a year old" in said


def test_rents_and_prices_of_apis_say_their_days() -> None:
    now, later = date(2026, 11, 30), date(2028, 11, 30)
    for told in (plan_rents.rent_days, dated.rent, dated.api_prices):
        assert "2026-" in told(links.BASELINE, now)
        assert "more than a year old" not in told(links.BASELINE, now)
        assert "more than a year old" in told(links.BASELINE, later)


@pytest.mark.parametrize("key", library.accelerators())
def test_each_price_of_an_accelerator_has_its_day_and_says_when_it_is_old(key: str) -> None:
    now, one = date(2026, 11, 30), scenario(f"accelerator={key}&considered={key}")
    rents, bought = one.hardware.rents, [price.read for price in taken(key)]
    said = f"{dated.rent(one, now)} {plan_rents.rent_days(one, now)}"
    if one.hardware.rent is None:
        assert "no quote was found" in said
    else:
        assert re.search(r"read (on |until )?20\d\d|undated", said)
        assert ("more than a year old" in said or "unknown day" in said) == bool(age(one.hardware.rent.newest, now))
    table = ownership.rent_table(one, now)
    assert len(table.rows) == len({quote.kind for quote in rents} - {None})
    for row in table.rows:
        newest = max(quote.read for quote in rents if quote.kind == row.label)
        assert newest in str(row.values[-1])
        assert not age(newest, now) or age(newest, now) in str(row.values[-1])
    if bought:
        told = ownership.price_said(one, now)
        assert all(day in told for day in (min(bought), max(bought)))
        assert ("more than a year old" in told) == any(age(day, now) for day in bought)


def test_a_price_that_was_not_found_is_asked_for() -> None:
    one = scenario(f"{API}&accelerator=l40s")
    found = ownership.ownership(one, feature_cost.study(one))
    assert found is None
    assert "was not found" in ownership.sentence(one, found)


def test_a_larger_batch_writes_more_for_a_joule() -> None:
    rows = energy.rows(scenario("model=llama-3.1-8b"))
    found = [row["tokens_per_j"] for row in rows]
    assert found == sorted(found)
    assert "not known" in energy.sentence(scenario("accelerator=m4-max"))


def test_a_plan_says_rent_energy_and_owning_of_what_holds() -> None:
    one = scenario("considered=h100-sxm,b200-sxm,l40s&load=5")
    found = upkeep.kept(one)
    assert found
    for entry in found:
        assert entry.rent_usd == pytest.approx(entry.one.usd_per_hour * 720)
        if entry.watts is not None:
            board = library.accelerators()[entry.one.accelerator].power.board
            assert board is not None
            assert power_curve().idle * board <= entry.watts <= board
            assert entry.kwh_band is not None
            assert entry.kwh_band[0] < (entry.kwh or 0) < entry.kwh_band[1]
            assert entry.kwh == pytest.approx(entry.watts * entry.one.total_gpus * 720 * 1.6 / 1000)
        assert (entry.own_usd is None) == (entry.one.accelerator == "l40s"), "no price of an L40S was found"
    said = upkeep.sentence(one, found)
    assert "Least rent" in said
    assert "Least energy" in said
    assert "Cheapest to own" in said
    assert upkeep.bought_on(one, found, date(2026, 11, 30)).count("2026 to 2026-mid") == 2
    assert upkeep.bought_on(one, found, date(2028, 11, 30)).count("more than a year old") == 2


def test_what_replicas_draw_is_told_for_the_batch_that_was_simulated() -> None:
    said = upkeep.serving_sentence(scenario("replicas=2"), 16)
    assert "kWh at the meter" in said
    assert "not known" in upkeep.serving_sentence(scenario("accelerator=m4-max"), 16)
