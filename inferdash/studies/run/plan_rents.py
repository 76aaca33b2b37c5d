"""What an hour of each accelerator is taken to cost in a plan, who says so, and when."""

from datetime import date
from typing import Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.money.rents import age
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table, show


def quoted(scenario: Scenario, name: str) -> str:
    """Where the quotes lie of whose median the rent is; nothing where the reader entered the rent."""
    chips = library.accelerators()
    key = next((key for key in scenario.considered if chips[key].name == name and key not in scenario.rents), None)
    rent = chips[key].rent if key else None
    if rent is None or rent.lower_quartile == rent.upper_quartile:
        return ""
    half = f"${rent.lower_quartile:,.2f} to ${rent.upper_quartile:,.2f}"
    return f"Rent of {name}: ${rent.middle:,.2f} a GPU-hour, the median; half of the quotes are {half}."


def rent_table(scenario: Scenario) -> Table:
    """What an hour of each accelerator is taken to cost, and what sellers quote on demand, with the days."""
    rows = []
    for key in scenario.considered:
        chip, own = library.accelerators()[key], scenario.rents.get(key)
        rent = chip.rent
        taken = own if own is not None else rent and rent.middle
        quoted = "nothing" if rent is None else f"${rent.lower_quartile:,.2f} to ${rent.upper_quartile:,.2f}"
        sellers = "" if rent is None else f"{quantities.count(rent.sellers, 'seller')}, {rent.said()}"
        rows.append(Row(chip.name, "word", (show(taken, "$"), quoted, sellers, "you" if own is not None else "quotes")))
    return Table(("used, per hour", "middle half of quotes", "on demand", "from"), tuple(rows), head="One GPU")


def rent_days(scenario: Scenario, today: date) -> str:
    """When the rents were asked that a plan chooses by, and what of them is old."""
    chips = [library.accelerators()[key] for key in scenario.considered if key not in scenario.rents]
    rents = [chip.rent for chip in chips if chip.rent]
    if not rents:
        return "All rents are yours." if scenario.rents else ""
    oldest, newest = min(one.oldest for one in rents), max(one.newest for one in rents)
    when = f"read {oldest} to {newest}" if oldest else f"read until {newest}, some on a day unknown"
    said = f"Rents are medians of what sellers asked on demand, {when}"
    old = [chip.name for chip in chips if chip.rent and age(chip.rent.newest, today)]
    return f"{said}; more than a year old for {', '.join(old)}." if old else f"{said}. {NO_SERIES}"


NO_SERIES: Final = "Rents are not fetched: no open series was found that has these sellers with a day for each price."


def rent_sources(scenario: Scenario) -> str:
    """Who quotes the rents; where they disagree, the median of the sellers is taken."""
    chips = [library.accelerators()[key] for key in scenario.considered]
    sources = dict.fromkeys(one.source for chip in chips for one in chip.rents if one.kind == "on-demand")
    return f"Quoted by {'; '.join(sources)}. Quotes differ widely: enter what you pay." if sources else ""
