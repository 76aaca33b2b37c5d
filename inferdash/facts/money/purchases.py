"""What accelerators cost to buy, as sources said it, each with its day or year. NVIDIA publishes no list of prices."""

import csv
from datetime import date
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, PositiveFloat, PositiveInt

from inferdash import shipped
from inferdash.facts.money.rents import age
from inferdash.validated import Validated

ALONE: Final = "one accelerator"
"""What a price covers that has no server in it."""


def _absent(value: Any) -> Any:
    return None if value == "" else value


class Purchase(Validated):
    """A price at which one source says that something can be bought."""

    accelerator: str
    """Id of the preset; empty where it is not the price of accelerators alone or in a server."""
    item: str
    covers: str
    """What is in the price."""
    accelerators: Annotated[PositiveInt | None, BeforeValidator(_absent)]
    """How many are in it."""
    condition: str
    """New, used, a list price, a reference."""
    low_usd: PositiveFloat
    high_usd: PositiveFloat
    read: str
    """Day, month, half or year of the price."""
    source: str
    confidence: Literal["high", "medium", "low"]
    note: str

    @property
    def each_usd(self) -> float:
        """The middle of the range, for one accelerator."""
        return (self.low_usd + self.high_usd) / 2 / (self.accelerators or 1)


@cache
def purchases() -> tuple[Purchase, ...]:
    """Every price, as presets/purchases/prices.csv has them."""
    with (shipped("presets") / "purchases" / "prices.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Purchase.model_validate(row) for row in csv.DictReader(file))


def prices_of(accelerator: str) -> tuple[Purchase, ...]:
    """The prices of one accelerator, by the id of its preset."""
    return tuple(one for one in purchases() if one.accelerator == accelerator)


def taken(accelerator: str) -> tuple[Purchase, ...]:
    """The prices whose median is taken: those of accelerators alone, of whole servers where there are none."""
    told = prices_of(accelerator)
    return tuple(one for one in told if one.covers == ALONE) or told


def days(accelerator: str, today: date) -> str:
    """Of which days the prices are that are taken, in words, and whether some are old; empty without prices."""
    read = sorted({one.read for one in taken(accelerator)})
    if not read:
        return ""
    old = {age(day, today) for day in read}
    span = read[0] if len(read) == 1 else f"{read[0]} to {read[-1]}"
    said = "" if old == {""} else f", {old.pop()}" if len(old) == 1 else f", some {' or '.join(sorted(old - {''}))}"
    return span + said
