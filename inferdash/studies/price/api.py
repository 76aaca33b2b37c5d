"""The scenario with the prices and the caching rules of the API that it names in the place of those entered."""

from typing import Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.money.caching import CachingRules, Lifetime
from inferdash.facts.money.prices import UnknownModelError
from inferdash.facts.money.rates import PriceList, Rates
from inferdash.scenario import OWN, Scenario

_MOST_READ: Final = 0.99
"""Where a read costs no less than a fresh token, it is taken to cost this part of it."""
_NO_RULES: Final = (
    "The cache rules of this API are not known, so no cache hits are predicted: enter your cached share where you know "
    "it. A log is billed for the cached input that it records."
)
_NOTHING: Final = 10**12
"""A shortest start that no prompt reaches."""


def known_price(scenario: Scenario) -> PriceList | None:
    """The prices of a scenario that was not validated; None where its model had none that day."""
    try:
        return scenario.price
    except UnknownModelError:
        return None


def _asked(scenario: Scenario) -> list[Scenario]:
    """The scenario with each of the models that it is compared with, its own last unless it is among them."""
    keys = dict.fromkeys((*scenario.compared, *([scenario.api] if scenario.api != OWN else [])))
    return [scenario.model_copy(update={"api": key}) for key in keys]


def compared_with(scenario: Scenario) -> list[tuple[PriceList, Scenario]]:
    """The models that are compared, as far as they have a price of the service on the scenario's day."""
    return [(price, other) for other in _asked(scenario) if (price := known_price(other))]


def unpriced(scenario: Scenario) -> str:
    """Which models have no such price; empty where all have one."""
    names = [other.api for other in _asked(scenario) if not known_price(other)]
    return f"Left out, without a price of the service “{scenario.service}”: {', '.join(names)}." if names else ""


def rules_of(price: PriceList) -> CachingRules | None:
    """The rules of the cache behind a price; None where none are known, or the price was entered."""
    return library.rules_of(price.provider, price.model) if price.provider else None


def resolved(scenario: Scenario, *, lifetime: int = 0) -> Scenario:
    """The scenario with its API's prices and rules in the fields that hold those of the reader.

    Args:
        scenario: as the reader set it; it comes back as it is where no API is named. Where the rules of an API
            are not known, nothing is stored.
        lifetime: which of the API's lifetimes, the usual one first.
    """
    if scenario.api == OWN:
        return scenario
    price = scenario.price
    rules = rules_of(price)
    rates = price.rates
    usd = {"input_usd": float(rates.input), "output_usd": float(rates.output)}
    if rules is None or not rates.input:
        return scenario.model_copy(update={**usd, "read": _MOST_READ, "write": 1.0, "minimum": _NOTHING})
    kept = rules.lifetimes[lifetime]
    return scenario.model_copy(
        update={
            **usd,
            "read": min(_MOST_READ, float(rates.of("read") / rates.input)),
            "write": _write(rates, kept),
            "lifetime": kept.seconds,
            "renewed": kept.renewed,
            "minimum": rules.minimum(price.model),
            "increment": rules.increment,
        }
    )


def _write(rates: Rates, kept: Lifetime) -> float:
    """Price of a stored token as a multiple of the input's."""
    if kept.write is not None:
        return float(kept.write)
    return float(rates.of("written_long" if kept.long else "written") / rates.input)


def rule_sentences(scenario: Scenario) -> list[str]:
    """The rules of the API's cache, and what is uncertain about them."""
    if scenario.api == OWN:
        return ["Prices and cache rules are those that you entered."]
    price = scenario.price
    rules = rules_of(price)
    if rules is None:
        return [_NO_RULES]
    lives = " or ".join(
        f"{quantities.shown(kept.seconds, 's')} at {_write(price.rates, kept):.4g} times the input price"
        for kept in rules.lifetimes
    )
    stored = f"a prefix of at least {rules.minimum(price.model):,} tokens is cached"
    step = f", in steps of {rules.increment:,}" if rules.increment > 1 else ""
    renewed = "; each hit renews it" if rules.lifetimes[0].renewed else ""
    marked = f"; up to {rules.breakpoints} points of a prompt can be marked" if rules.breakpoints else ""
    read = (
        f"; cached input costs {float(price.rates.of('read') / price.rates.input):.4g} times"
        if price.rates.input
        else ""
    )
    return [
        f"{rules.name}: {stored}{step}, for {lives}{renewed}{read}{marked}.",
        *rules.uncertain,
        f"Read on {rules.checked} in {rules.source[0]}.",
    ]
