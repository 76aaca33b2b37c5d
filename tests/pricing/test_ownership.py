"""Owning, renting and calling: worked cases of others to the cent, and laws."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash.pricing.break_even import Way, break_evens, cheaper_from
from inferdash.pricing.ownership import (
    Purchase,
    capital_recovery,
    combined_rate,
    overtaking_month,
    owned,
    usd_per_mtok,
    yearly_capital_usd,
)

CASES = json.loads((Path(__file__).parent / "tco_cases.json").read_text(encoding="utf-8"))["cases"]


def cases(start: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [one for one in CASES if one["id"].startswith(start)], ids=lambda c: c["id"])


def cents(value: float) -> Any:
    return pytest.approx(value, abs=0.005)


@cases("mlsysim")
def test_a_cluster_as_mlsysim_counts_it(case: dict[str, Any]) -> None:
    """Its convention: equal parts of a life in days of 365; idle 30% of the TDP, the rest by utilization."""
    given, told = case["inputs"], case["expected"]
    count, hours = given["accelerators"], 24 * given["days"]
    bought = Purchase(
        price_usd=count * given["unit_cost_usd"] * given["infrastructure_multiplier"],
        years=given["amortisation_years"],
        upkeep_share=given["annual_maintenance_share_of_capex"],
        idle_w=count * given["tdp_W"] * given["idle_share_of_tdp"],
        busy_w=count * given["tdp_W"] * (given["idle_share_of_tdp"] + given["dynamic_share_of_tdp"]),
        site_factor=told["pue"],
        usd_per_kwh=given["kwh_price_usd"],
    )
    found = owned(bought, utilization=given["utilisation_mfu"], hours=hours)
    assert (found.capital_usd, found.upkeep_usd) == (cents(told["capex_usd"]), cents(told["maintenance_usd"]))
    assert (found.energy_usd, found.total_usd) == (cents(told["energy_usd"]), cents(told["total_usd"]))
    assert found.kwh == pytest.approx(told["facility_kwh"], rel=1e-9)
    assert found.kwh * given["grid_gco2_per_kwh"] / 1000 == cents(told["co2_kg"])


@cases("aiinframap")
def test_a_fleet_as_aiinframap_counts_it(case: dict[str, Any]) -> None:
    """Its convention: utilization scales the power as well, so that an idle GPU draws nothing; no interest."""
    given, told = case["inputs"], case["expected"]
    count = given["accelerators"]
    bought = Purchase(
        price_usd=count * given["unit_cost_usd"],
        years=given["years"],
        residual_share=given["residual_share"],
        interest=given["interest"],
        busy_w=count * given["tdp_W"],
        site_factor=given["pue"],
        usd_per_kwh=given["kwh_price_usd"],
    )
    hours = given["hours_per_year"] * given["years"]
    found = owned(bought, utilization=given["utilisation"], hours=hours)
    assert found.capital_usd == cents(told["acquisition_usd"])
    assert (found.energy_usd, found.total_usd) == (cents(told["power_usd"]), cents(told["total_usd"]))
    work = count * given["dense_fp16_tflops"] / 1000 * given["utilisation"] * given["years"]
    assert found.total_usd / work == cents(told["usd_per_effective_pflop_year"])


@cases("inferencex")
def test_a_million_tokens_as_inferencex_counts_them(case: dict[str, Any]) -> None:
    """Its convention: dollars of a GPU-hour over the tokens of that hour; watts are those of the whole site."""
    given, told = case["inputs"], case["expected"]
    if "all_in_kW_per_gpu" not in given:
        found = usd_per_mtok(usd_per_hour=given["usd_per_gpu_hour"], tokens_per_s=given["tokens_per_s_per_gpu"])
        assert found == pytest.approx(told["usd_per_million_tokens"], abs=5e-7)
        return
    rate = given["tokens_per_s_per_gpu"]
    for way, usd in given["usd_per_gpu_hour"].items():
        found = usd_per_mtok(usd_per_hour=usd, tokens_per_s=rate)
        assert found == pytest.approx(told["usd_per_million_tokens"][way], abs=5e-5)
    assert rate / given["all_in_kW_per_gpu"] * 1000 == cents(told["tokens_per_s_per_MW"])
    assert given["all_in_kW_per_gpu"] * 1000 / rate == pytest.approx(told["J_per_token_all_in"])


def test_a_month_as_clustermax_counts_it() -> None:
    """Its convention: a month has 720 hours."""
    (case,) = (one for one in CASES if one["id"] == "clustermax-gpu-month")
    given = case["inputs"]
    a_month = Purchase(given["gpus"] * given["usd_per_gpu_hour"] * given["hours_per_month"], years=720 / 8760)
    assert owned(a_month, utilization=1, hours=720).total_usd == cents(case["expected"]["gpu_usd_per_month"])


def test_capital_recovery_and_rates_as_inferecon_counts_them() -> None:
    """Its convention: equal yearly payments; prompts and answers each at their own rate."""
    (case,) = (one for one in CASES if one["id"] == "inferecon-method")
    told = case["derived_check"]
    assert capital_recovery(interest=0.08, years=4) == pytest.approx(told["crf_8pct_4y"], abs=5e-8)
    assert capital_recovery(interest=0.10, years=5) == pytest.approx(told["crf_10pct_5y"], abs=5e-9)
    example = told["harmonic_rate_example"]
    rate = combined_rate(
        prompt=example["prompt"],
        answer=example["output"],
        reading_per_s=example["prefill_tps"],
        writing_per_s=example["decode_tps"],
    )
    assert rate == pytest.approx(example["combined_tps"], abs=5e-5)


def test_one_machine_by_the_hour() -> None:
    """Convention: three years of 8,760 hours, always at its full power, no site around it."""
    (case,) = (one for one in CASES if one["id"] == "mac-mini-amortised-hour")
    given, told = case["inputs"], case["expected"]
    bought = Purchase(
        given["price_usd"],
        years=given["amortisation_hours"] / 8760,
        busy_w=given["power_W"],
        usd_per_kwh=given["kwh_price_usd"],
    )
    found = owned(bought, utilization=1, hours=1)
    numbers = (found.capital_usd, found.energy_usd, found.total_usd)
    keys = ("capital_usd_per_hour", "energy_usd_per_hour", "total_usd_per_hour")
    assert numbers == pytest.approx([told[key] for key in keys], abs=5e-7)


@given(interest=st.floats(1e-4, 0.5), years=st.integers(1, 10), residual=st.floats(0, 0.9))
def test_the_payments_are_worth_the_purchase(interest: float, years: int, residual: float) -> None:
    bought = Purchase(1000, years=years, residual_share=residual, interest=interest)
    yearly = yearly_capital_usd(bought)
    worth = sum(yearly / (1 + interest) ** year for year in range(1, years + 1))
    assert worth + 1000 * residual / (1 + interest) ** years == pytest.approx(1000)
    assert yearly >= yearly_capital_usd(Purchase(1000, years=years, residual_share=residual)) * (1 - 1e-9)


@given(rent=st.floats(0, 500), running=st.floats(0, 500), interest=st.floats(0, 0.3))
def test_buying_overtakes_in_the_first_month_in_which_it_has_cost_less(
    rent: float, running: float, interest: float
) -> None:
    bought = Purchase(1000, years=5, interest=interest)
    month = overtaking_month(bought, rent_usd=rent, running_usd=running)
    monthly = (1 + interest) ** (1 / 12)

    def left(months: int) -> float:
        return 1000 - sum((rent - running) / float(monthly**one) for one in range(1, months + 1))

    if month is None:
        assert left(60) > 0
    else:
        assert left(month) <= 1e-9
        assert left(month - 1) > -1e-9


WAYS = st.builds(
    Way,
    usd_per_token=st.floats(0, 1e-6),
    usd_per_machine=st.floats(1, 10_000),
    tokens_of_machine=st.just(1e10),
    usd_fixed=st.sampled_from([0.0, 500.0, 50_000.0]),
)


@given(own=WAYS, price=st.floats(1e-9, 1e-5))
def test_both_cost_the_same_where_they_break_even(own: Way, price: float) -> None:
    api = Way(price)
    found = break_evens(own, api)
    for tokens in found:
        assert own.usd(tokens) == pytest.approx(float(api.usd(tokens)), rel=1e-6)
    ends = np.arange(1, 60) * 1e10
    inside = np.concatenate([ends - 1, ends - 0.999999e10])
    gap = np.asarray(own.usd(inside)) - np.asarray(api.usd(inside))
    crossed = [n for n in range(59) if gap[n] * gap[59 + n] < -1e-6]
    near = [n for n in crossed if abs(gap[n]) > 1e-2 and abs(gap[59 + n]) > 1e-2]
    assert all(any(n * 1e10 < tokens <= (n + 1) * 1e10 for tokens in found) for n in near), "none is left out"


@given(own=WAYS, rented=WAYS)
def test_two_ways_with_machines_break_even_where_they_cost_the_same(own: Way, rented: Way) -> None:
    for tokens in break_evens(own, rented)[:20]:
        assert own.usd(tokens) == pytest.approx(float(rented.usd(tokens)), rel=1e-6)


@given(own=WAYS, price=st.floats(1e-9, 1e-5))
def test_from_some_tokens_on_it_never_costs_more(own: Way, price: float) -> None:
    start = cheaper_from(own, Way(price))
    many = np.geomspace(1e6, 1e13, 2000)
    if start is None:
        assert own.usd(1e15) >= 0.999 * price * 1e15
    else:
        after = many[many >= start]
        assert (own.usd(after) <= price * after * (1 + 1e-9)).all()
