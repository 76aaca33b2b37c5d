"""Rents, purchases and grids: each price has its source and day, quartiles are those worked out elsewhere."""

import csv
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from inferdash.facts import library
from inferdash.facts.machines.accelerator import side_by_side
from inferdash.facts.models.precision import PRECISIONS
from inferdash.facts.money import rents
from inferdash.facts.money.carbon import grids
from inferdash.facts.money.purchases import prices_of, purchases
from inferdash.facts.money.rents import KINDS, Quote, age, quartiles

QUARTILES = list(
    csv.DictReader((Path(__file__).parent / "rents_quartiles.csv").read_text(encoding="utf-8").splitlines())
)
"""Quartiles of the same quotes, worked out apart. Spot and marketplace are one group there, `interruptible`."""
_GROUPS = {"on-demand": {"on-demand"}, "reserved": {"reserved"}, "interruptible": {"spot", "marketplace"}}
_WITH_SERVERLESS = {"A100 80GB SXM", "H100 SXM", "L40S", "T4"}
"""There, seconds of serverless functions count as on demand."""


def of(name: str, kinds: set[str]) -> list[Quote]:
    return [quote for quote in rents.quotes() if quote.name == name and quote.kind in kinds]


@pytest.mark.parametrize("row", QUARTILES, ids=lambda row: f"{row['accelerator']} {row['group']}")
def test_quartiles_are_those_worked_out_elsewhere(row: dict[str, str]) -> None:
    name, group = row["accelerator"], row["group"]
    found = quartiles(of(name, _GROUPS[group]))
    assert found is not None
    if group == "on-demand" and name in _WITH_SERVERLESS:
        assert any(quote.tier == "serverless" for quote in rents.quotes() if quote.name == name)
        assert found.middle < float(row["median"])
        return
    numbers = (found.low, found.lower_quartile, found.middle, found.upper_quartile, found.high)
    assert numbers == pytest.approx([float(row[key]) for key in ("low", "q1", "median", "q3", "high")], abs=1e-4)
    assert found.sellers == int(row["providers"])
    if row["oldest"]:
        assert found.newest == row["newest"]


def test_there_are_as_many_as_were_found() -> None:
    on_demand = [name for name, kinds in rents.by_name().items() if "on-demand" in kinds]
    assert (len(rents.quotes()), len(rents.by_name()), len(on_demand)) == (440, 60, 44)
    rented = {key for key, chip in library.accelerators().items() if chip.rent}
    assert {"h100-sxm", "mi300x", "rtx-5090", "l40", "t4"} <= rented
    assert library.accelerators()["m4-max"].rent is None


def test_kinds_are_never_mixed() -> None:
    h100 = rents.by_name()["H100 SXM"]
    assert set(h100) == set(KINDS)
    assert h100["spot"].middle < h100["on-demand"].middle
    assert library.accelerators()["h100-sxm"].rent == h100["on-demand"]
    a_seller_twice = [one for one in of("H100 SXM", {"on-demand"}) if one.seller in {"azure", "vast-ai"}]
    thrice = quartiles([*a_seller_twice, a_seller_twice[0]])
    assert thrice == quartiles(a_seller_twice)


def test_each_price_has_its_source_and_its_day_or_says_that_it_has_none() -> None:
    for quote in rents.quotes():
        assert quote.source
        assert quote.read or quote.note.startswith("undated")
    for purchase in purchases():
        assert purchase.source
        assert purchase.read
        assert purchase.low_usd <= purchase.high_usd
    for grid in grids().values():
        assert grid.source
        assert grid.licence
        assert grid.low is None or grid.high is None or grid.low <= grid.g_per_kwh <= grid.high
    assert {quote.accelerator for quote in rents.quotes()} - {""} <= set(library.accelerators())
    assert {one.accelerator for one in purchases()} - {""} <= set(library.accelerators())


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ("2026-09-06", ""),
        ("2026-10", ""),
        ("2026-H1", ""),
        ("2026-mid", ""),
        ("2022-11", "more than a year old"),
        ("2025-11-30", ""),
        ("2025-11-29", "more than a year old"),
        ("2025", "more than a year old"),
        ("", "of an unknown day"),
    ],
)
def test_what_is_old_says_so(read: str, said: str) -> None:
    assert age(read, date(2026, 11, 30)) == said


def test_what_is_bought_is_told_for_one() -> None:
    node = next(one for one in prices_of("h100-sxm") if one.covers == "server with 8")
    assert node.each_usd == 40_625  # (300,000 + 350,000) / 2 / 8
    assert next(one for one in prices_of("gb200") if one.low_usd == one.high_usd).each_usd == pytest.approx(41_666.67)


@pytest.mark.parametrize("changes", [{"usd_per_hour": "0"}, {"usd_per_hour": "nan"}, {"read": "lately"}])
def test_a_quote_that_is_none_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Quote.model_validate(rents.quotes()[0].model_dump() | changes)


def test_power_is_that_of_its_board() -> None:
    chips = library.accelerators()
    assert (chips["h100-sxm"].power.board, chips["h100-sxm"].power.node) == (700, 1275)
    assert (chips["h200-sxm"].power.idle, chips["b200-sxm"].power.site) == (76.8, 2170)
    assert chips["m4"].power.board is None
    assert sum(chip.power.board is not None for chip in chips.values()) == 74


def test_side_by_side_is_a_column_of_each() -> None:
    chips = [library.accelerators()[name] for name in ("a100-80gb-sxm", "h100-sxm", "b200-sxm")]
    together = side_by_side(chips)
    assert together.family == "nvidia-datacenter"
    assert np.asarray(together.bandwidth).tolist() == [[chip.bandwidth] for chip in chips]
    assert np.asarray(together.rate(PRECISIONS["fp8"])[1]).ravel() == pytest.approx([312e12, 1978.9e12, 4500e12])
    assert side_by_side([*chips, library.accelerators()["t4"]]).link_bandwidth is None
    with pytest.raises(ValueError, match="2 families"):
        side_by_side([*chips, library.accelerators()["mi300x"]])
