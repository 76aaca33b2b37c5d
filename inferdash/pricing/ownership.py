"""What machines cost that are bought: capital, upkeep, power, people.

A year has 8,760 hours and a month a twelfth of them, unless the hours are said; what is paid by the month costs a whole
one in a month of any length. The residual value is what the machine
sells for at the end of its life, discounted to the day of the purchase; with interest the price is paid in equal parts.
"""

from dataclasses import dataclass
from typing import Final

from inferdash.formula import Number, formula

HOURS_OF_A_YEAR: Final = 8760.0
HOURS_OF_A_MONTH: Final = HOURS_OF_A_YEAR / 12


@formula(unit="number", ref="capital-recovery")
def capital_recovery(*, interest: Number, years: Number) -> Number:
    """The part of a price that is paid each year of its life, where interest is paid on what is left; not for 0."""
    return interest / (1 - (1 + interest) ** -years)


@formula(unit="$", ref="capital-recovery")
def present_price(*, price_usd: Number, residual_share: Number, interest: Number, years: Number) -> Number:
    """Dollars of a purchase less what it sells for at the end, as much as that is worth on the day of the purchase."""
    return price_usd * (1 - residual_share * (1 + interest) ** -years)


@formula(unit="W", ref="power-of-use")
def mean_watts(*, idle_w: Number, busy_w: Number, utilization: Number) -> Number:
    """What a machine draws on average that works for a share of its hours."""
    return idle_w + (busy_w - idle_w) * utilization


@formula(unit="kWh", ref="power-of-use")
def site_kwh(*, watts: Number, hours: Number, site_factor: Number) -> Number:
    """Energy at the meter; `site_factor` is the PUE, or what all of a site draws for a watt of its chips."""
    return watts * hours * site_factor / 1000


@formula(unit="$", ref="capital-recovery")
def usd_per_mtok(*, usd_per_hour: Number, tokens_per_s: Number) -> Number:
    """Dollars of a million tokens that come at a rate from what costs so much an hour."""
    return usd_per_hour / (tokens_per_s * 3600 / 1e6)


@formula(unit="tokens/s", ref="reading-and-writing")
def combined_rate(*, prompt: Number, answer: Number, reading_per_s: Number, writing_per_s: Number) -> Number:
    """Tokens a second over prompts and answers together, each at its own rate."""
    return (prompt + answer) / (prompt / reading_per_s + answer / writing_per_s)


@dataclass(frozen=True)
class Purchase:
    """Machines that are bought, and what it takes to run them."""

    price_usd: float
    """Of all of it: accelerators, servers, network."""
    years: float
    """Of its life."""
    residual_share: float = 0.0
    """What it sells for at the end, as a share of the price."""
    interest: float = 0.0
    """A year."""
    upkeep_share: float = 0.0
    """Repairs and support of a year, as a share of the price."""
    idle_w: float = 0.0
    busy_w: float = 0.0
    site_factor: float = 1.0
    """Watts at the meter for each of its own: the PUE."""
    usd_per_kwh: float = 0.0
    colocation_usd_per_kw_month: float = 0.0
    """For each kilowatt that it may draw, month by month, beside or in place of the price of power."""
    people_usd_per_month: float = 0.0


@dataclass(frozen=True)
class Owned:
    """Dollars of a time, by what they are for."""

    capital_usd: float
    upkeep_usd: float
    energy_usd: float
    colocation_usd: float
    people_usd: float
    kwh: float
    """At the meter of the site."""

    @property
    def total_usd(self) -> float:
        """All of it."""
        return self.running_usd + self.capital_usd

    @property
    def running_usd(self) -> float:
        """All but what it cost to buy."""
        return self.upkeep_usd + self.energy_usd + self.colocation_usd + self.people_usd


def yearly_capital_usd(bought: Purchase) -> float:
    """Dollars of a year of its life that pay for the purchase; without interest equal parts of what it loses."""
    if not bought.interest:
        return bought.price_usd * (1 - bought.residual_share) / bought.years
    price = present_price(
        price_usd=bought.price_usd,
        residual_share=bought.residual_share,
        interest=bought.interest,
        years=bought.years,
    )
    return float(price * capital_recovery(interest=bought.interest, years=bought.years))


def owned(
    bought: Purchase, *, utilization: float, hours: float = HOURS_OF_A_MONTH, months: float | None = None
) -> Owned:
    """What it costs to own for some hours.

    Args:
        bought: the machines.
        utilization: share of the hours in which they work, at their busy power; they are idle in the others.
        hours: of the time; a month unless said.
        months: for which people and space are paid; as many twelfths of a year as the hours are, unless said.
    """
    share = hours / HOURS_OF_A_YEAR
    paid = 12 * share if months is None else months
    watts = mean_watts(idle_w=bought.idle_w, busy_w=bought.busy_w, utilization=utilization)
    kwh = float(site_kwh(watts=watts, hours=hours, site_factor=bought.site_factor))
    return Owned(
        capital_usd=yearly_capital_usd(bought) * share,
        upkeep_usd=bought.price_usd * bought.upkeep_share * share,
        energy_usd=kwh * bought.usd_per_kwh,
        colocation_usd=bought.busy_w / 1000 * bought.colocation_usd_per_kw_month * paid,
        people_usd=bought.people_usd_per_month * paid,
        kwh=kwh,
    )


def overtaking_month(bought: Purchase, *, rent_usd: float, running_usd: float) -> int | None:
    """The month of its life at whose end buying has cost less than renting the same; None where none does.

    The price is paid on the first day and what it would sell for is left out, so this is when buying pays whatever
    becomes of the machine. Later dollars weigh less, by the interest.

    Args:
        bought: the machines.
        rent_usd: dollars of a month for the same machines, rented.
        running_usd: dollars of a month that owning takes beside its price.
    """
    factor = (1 + bought.interest) ** (1 / 12)
    saved = 0.0
    for month in range(1, round(12 * bought.years) + 1):
        saved += (rent_usd - running_usd) / factor**month
        if saved >= bought.price_usd:
            return month
    return None
