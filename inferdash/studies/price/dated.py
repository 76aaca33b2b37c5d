"""How old the prices of a page are: of which day the list of APIs is, and the quotes of rents."""

from datetime import date, timedelta
from typing import Final

from inferdash import quantities
from inferdash.facts.money import prices
from inferdash.facts.money.rents import age
from inferdash.scenario import OWN, Scenario

_LATE: Final = timedelta(days=31)
"""Between a list and the day that a scenario names, from which on that is said."""


def api_prices(scenario: Scenario, today: date) -> str:
    """Which list the prices of APIs are of, how old it is, and what a price book takes off."""
    day = date.fromisoformat(scenario.prices)
    listed = prices.list_of(day)
    old = age(listed.newest.isoformat(), today)
    whose = "Your own prices. APIs: prices" if scenario.api == OWN else "Prices"
    said = f"{whose} of {day}, from {listed.words}{f', {old}' if old else ''}."
    if day - listed.newest > _LATE:
        said += f" What changed since then, up to {day}, is not in it."
    if scenario.api != OWN and listed.newest - day > _LATE and not prices.is_dated(scenario.price):
        said += (
            f" It has one price of {scenario.price.name} and no day from which it holds, so this is not one of {day}."
        )
    if book := scenario.price_book:
        old = age(book.day.isoformat(), today)
        said += f" Price book {book.name} of {book.day}{f', {old}' if old else ''}."
        if off := book.off(scenario.price):
            said += f" It takes {quantities.percent(float(off))} off the listed prices of this API."
    return said


def rent(scenario: Scenario, today: date) -> str:
    """The rent as it was entered, beside what sellers ask on demand and when they were asked."""
    said = f"Rent: ${scenario.rent:g} a GPU-hour, as set"
    quoted = scenario.hardware.rent
    if quoted is None:
        return f"{said}; for {scenario.hardware.name} no quote was found."
    old = age(quoted.newest, today)
    return (
        f"{said}. On demand {quantities.count(quoted.sellers, 'seller')} of {scenario.hardware.name} ask "
        f"${quoted.middle:,.2f} at the median, {quoted.said()}{f', {old}' if old else ''}."
    )
