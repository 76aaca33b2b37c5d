"""What accelerators rent for by the hour: quotes of sellers, each with the day on which it was read, and quartiles.

On-demand, reserved, spot and marketplace prices are never mixed: they are promises of different kinds.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final, Literal, TypeAlias

import numpy as np
from pydantic import Field, PositiveFloat

from inferdash import shipped
from inferdash.validated import Validated

Kind: TypeAlias = Literal["on-demand", "reserved", "spot", "marketplace"]
"""What a seller promises: the machine until it is given back; for years; until another wants it; a stranger's."""
KINDS: Final[tuple[Kind, ...]] = ("on-demand", "reserved", "spot", "marketplace")
_KIND_OF: Final[Mapping[str, Kind]] = {
    "on-demand": "on-demand",
    "reserved-3y": "reserved",
    "spot": "spot",
    "marketplace": "marketplace",
    "community": "marketplace",
}
"""Tier of a quote -> what is promised. Serverless seconds and means over several kinds are none of them."""


class Quote(Validated):
    """What one seller asks for one accelerator and hour, as one source read it."""

    accelerator: str
    """Id of its preset; empty where there is none, or the quote does not say which of several it is."""
    name: str
    """As the source's seller calls it."""
    seller: str
    tier: str
    usd_per_hour: PositiveFloat
    read: str = Field(pattern=r"^(20\d\d(-\d\d(-\d\d)?)?)?$")
    """Day or month on which it was read; empty where the source does not say."""
    region: str
    note: str
    source: str
    """The collection in which it was found."""
    page: str
    """The seller's page or machine that the collection names; empty where it names none."""
    licence: str

    @property
    def kind(self) -> Kind | None:
        """What is promised; None where it is no rent of a whole machine by the hour."""
        return _KIND_OF.get(self.tier)


@dataclass(frozen=True)
class RentRange:
    """Dollars an hour for one accelerator, over the medians of its sellers."""

    low: float
    lower_quartile: float
    middle: float
    """The median."""
    upper_quartile: float
    high: float
    sellers: int
    oldest: str
    """Day or month of the oldest quote; empty where one has none."""
    newest: str

    def said(self) -> str:
        """When the quotes were read, in words."""
        if not self.oldest:
            return "undated" if not self.newest else f"read until {self.newest}, some undated"
        return f"read on {self.newest}" if self.oldest == self.newest else f"read {self.oldest} to {self.newest}"


def quartiles(quotes: Iterable[Quote]) -> RentRange | None:
    """The quartiles over the median of each seller, so that one with many quotes counts once; None without quotes."""
    of_seller: dict[str, list[float]] = {}
    days = []
    for quote in quotes:
        of_seller.setdefault(quote.seller, []).append(quote.usd_per_hour)
        days.append(quote.read)
    if not days:
        return None
    low, lower, middle, upper, high = np.percentile(
        [float(np.median(prices)) for prices in of_seller.values()], [0, 25, 50, 75, 100]
    )
    return RentRange(
        low=float(low),
        lower_quartile=float(lower),
        middle=float(middle),
        upper_quartile=float(upper),
        high=float(high),
        sellers=len(of_seller),
        oldest=min(days),
        newest=max(days),
    )


def age(read: str, today: date) -> str:
    """What to say of a price that is older than a year, or has no day; nothing of a newer one."""
    if not read:
        return "of an unknown day"
    # A half or a middle of a year counts from its start.
    parts = [int(part) if part.isdigit() else 1 for part in read.split("-")]
    year, month, day = (*parts, 1, 1)[:3]
    return "more than a year old" if (today - date(year, month, day)).days > 365 else ""  # noqa: PLR2004 - a year


@cache
def quotes() -> tuple[Quote, ...]:
    """Every quote, as presets/rents/quotes.csv has them."""
    with (shipped("presets") / "rents" / "quotes.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Quote.model_validate(row) for row in csv.DictReader(file))


@cache
def by_name() -> Mapping[str, Mapping[Kind, RentRange]]:
    """Name of each quoted accelerator, with a preset or without -> kind -> quartiles."""
    names = dict.fromkeys(quote.name for quote in quotes())
    found = {name: {kind: quartiles(_of(name, kind)) for kind in KINDS} for name in names}
    return {name: {kind: one for kind, one in kinds.items() if one} for name, kinds in found.items()}


def _of(name: str, kind: Kind) -> list[Quote]:
    return [quote for quote in quotes() if quote.name == name and quote.kind == kind]
