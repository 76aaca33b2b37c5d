"""Ways to bill the same requests: prices and the rules of a cache, each under a name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from inferdash import quantities
from inferdash.facts.money.rates import PriceList, Rates
from inferdash.pricing.kept import Rules
from inferdash.scenario import FIELDS, OWN, Scenario
from inferdash.studies.price import api


@dataclass(frozen=True)
class Way:
    """Prices and the rules of a cache, under a name."""

    name: str
    rules: Rules
    prices: PriceList
    as_started: bool = False
    """Whether these are the prices that everyone starts with, so that nobody asked for them."""


def of(scenario: Scenario) -> tuple[Way, ...]:
    """The scenario's prices and rules, the other lifetimes of its API, then the models that the reader compares."""
    others = (other for _, other in api.compared_with(scenario) if other.api != scenario.api)
    return (*_lifetimes(scenario), *(_way(other, 0) for other in others))


def _lifetimes(scenario: Scenario) -> Iterator[Way]:
    rules = api.rules_of(scenario.price)
    for lifetime in range(len(rules.lifetimes) if rules else 1):
        yield _way(scenario, lifetime)


def _way(scenario: Scenario, lifetime: int) -> Way:
    price = scenario.price
    rules = api.rules_of(price)
    plain = api.resolved(scenario, lifetime=lifetime)
    name = price.name
    if rules and lifetime:
        name = f"{name}, {quantities.shown(plain.lifetime, 's')}"
        factor = Decimal(str(plain.write))
        price = replace(
            price,
            rates=_stored_at(price.rates, factor),
            tiers=tuple(replace(tier, rates=_stored_at(tier.rates, factor)) for tier in price.tiers),
        )
    kept = Rules(
        minimum_tokens=plain.minimum,
        increment_tokens=plain.increment,
        lifetime_s=plain.lifetime,
        renewed=plain.renewed,
    )
    started = scenario.api == OWN and all(
        getattr(scenario, field) == FIELDS[field].default for field in ("input_usd", "output_usd", "read", "write")
    )
    return Way(name, kept, price, started)


def _stored_at(rates: Rates, factor: Decimal) -> Rates:
    """Rates at which storing costs a multiple of the input."""
    return replace(rates, write=rates.input * factor)


def rules_of(asked: Sequence[Way]) -> tuple[Rules, ...]:
    """The rules of caches that play a part in some ways, each once."""
    return tuple(dict.fromkeys(way.rules for way in asked))
