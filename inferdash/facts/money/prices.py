"""What providers charge: dollars for a million tokens of each kind, by model and day.

The list is that of the package genai-prices, which carries it along; nothing is fetched. Where it is known to differ
from what a provider does, `presets/prices/corrections.toml` says so with its source.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fnmatch import fnmatch
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, Final

from pydantic import HttpUrl

from inferdash import shipped
from inferdash.facts.money.rates import PriceList, Rates, Tier, each_rate
from inferdash.validated import Validated

SERVICES: Final[Mapping[str, Mapping[str, str]]] = {
    "standard": {},
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
    "fast": {"service_tier": "fast"},
}
"""How soon an API answers, at prices of its own -> how the list of prices names it."""
_SERVICES_OF: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {("anthropic", "fast"): {"speed": "fast"}}
"""Provider and service -> its name, where it is another one there."""

_NOON: Final = 12
_SATURDAY: Final = 5

_LASTING: Final = frozenset({"batch", "flex"})
"""Services that cost the same share of the standard prices ever since makers have them, most often half."""


_FEES: Final = {"web searches": "web_searches_kcount", "file searches": "storage_searches_kcount"}
"""What logs count, in the plural -> its price in the list, for a thousand."""


class UnknownModelError(ValueError):
    """A model that the list does not have; its text is one sentence."""


class Correction(Validated):
    """Where the list is known to differ from what a provider does."""

    provider: str
    model: str = "*"
    """Pattern of the models, all of the provider's unless said."""
    inclusive: bool = False
    """Whether the higher tier holds at its number of tokens already."""
    input: Decimal | None = None
    output: Decimal | None = None
    batch: Decimal | None = None
    """What a batch costs as a share of the standard prices, where the list has no prices for it."""
    write_adds_input: bool = False
    """Whether the price of storing comes on top of the price of input."""
    weekend_as_hour: int | None = None
    """The hour of the day, in UTC, whose prices hold through Saturday and Sunday."""
    utc_offset: int = 0
    """Hours from UTC to the calendar whose weekend that is."""
    why: str
    source: HttpUrl | str
    checked: date


@cache
def corrections() -> tuple[Correction, ...]:
    """All of them, in the order of the file."""
    import tomllib  # noqa: PLC0415 - read once, by those who ask for prices

    text = (shipped("presets") / "prices" / "corrections.toml").read_text(encoding="utf-8")
    return tuple(Correction.model_validate(entry) for entry in tomllib.loads(text)["corrections"])


@cache
def providers_listed() -> Mapping[str, Any]:
    """Id -> provider, as the package has it."""
    from genai_prices import data  # noqa: PLC0415 - a list of two thousand models, for those who ask for prices

    return {provider.id: provider for provider in data.providers}


def providers() -> dict[str, str]:
    """Id -> name of each provider that prices tokens."""
    return {key: provider.name for key, provider in providers_listed().items()}


def models(provider: str) -> dict[str, str]:
    """Id -> name of each model of a provider that has a price of input and of output tokens."""
    now = datetime.now(UTC)
    return {
        model.id: model.name or model.id
        for model in providers_listed()[provider].models
        if not model.deprecated and _priced(model.get_prices(now))
    }


def _priced(prices: Any) -> bool:
    return prices.input_mtok is not None and prices.output_mtok is not None


def forget() -> None:
    """Forgets what was kept in memory of lists, after one came or went."""
    price_list.cache_clear()
    list_of.cache_clear()


@dataclass(frozen=True)
class ListOfDay:
    """The list of prices that holds on a day."""

    providers: Mapping[str, Any]
    """By id, as the package has them."""
    words: str
    """Which list it is."""
    newest: date
    """The day on which it was fetched; of the bundled one, that of the newest change that it dates."""


@cache
def _bundled() -> ListOfDay:
    newest = max(
        one.constraint.start_date
        for provider in providers_listed().values()
        for model in provider.models
        for one in (model.prices if isinstance(model.prices, list) else ())
        if getattr(one.constraint, "start_date", None) and one.constraint.start_date <= datetime.now(UTC).date()
    )
    words = f"the list of genai-prices {version('genai-prices')}, whose latest dated change is of {newest}"
    return ListOfDay(providers_listed(), words, newest)


@lru_cache(maxsize=512)
def list_of(day: date) -> ListOfDay:
    """The newest list that was fetched by a day, or the bundled one."""
    from inferdash.facts.money import price_days  # noqa: PLC0415 - it speaks with the network, for those who ask for prices

    path = price_days.newest(day)
    if path is None:
        return _bundled()
    try:
        listed = {provider.id: provider for provider in price_days.read(path)}
        return ListOfDay(listed, f"the list of genai-prices as fetched on {path.stem}", date.fromisoformat(path.stem))
    except (price_days.PriceUpdateError, OSError) as error:
        warnings.warn(f"{path} is left out, the bundled prices hold: {error}", stacklevel=2)
        return _bundled()


def update(*, url: str, confirmed: bool) -> str:
    """Fetches the list of today, as `price_days.update` does; what came of it, in a sentence.

    Raises:
        price_days.PriceUpdateError: where it is not taken.
    """
    from inferdash.facts.money import price_days  # noqa: PLC0415 - as above

    today = datetime.now(UTC).date()
    checked = {
        (one.provider, one.model): (float(one.input), float(one.output))
        for one in corrections()
        if one.input is not None and one.output is not None
    }
    known = list(list_of(today).providers.values())
    taken = price_days.update(known, url=url, today=today, corrected=checked, confirmed=confirmed)
    forget()
    return f"Prices of {today}: {taken.models:,} models, {taken.changed:,} with another price. Kept in {taken.path}."


@lru_cache(maxsize=8192)
def price_list(provider: str, model: str, *, day: date, hour: int = _NOON, service: str = "standard") -> PriceList:
    """What a model costs on a day.

    Args:
        provider: the provider's id.
        model: the model as the provider's API calls it.
        day: the day of the requests, in UTC.
        hour: the hour of that day, in UTC, for those whose prices follow the clock.
        service: a key of `SERVICES`.

    Raises:
        UnknownModelError: where the provider, the model or the service is not in the list, or has no price for tokens.
    """
    known = list_of(day).providers.get(provider)
    if known is None:
        raise UnknownModelError(f"{provider[:80]} is not in the list of prices.")
    found = next((one for one in known.models if one.id == model), None) or known.find_model(model)
    if found is None:
        raise UnknownModelError(f"{provider} {model[:80]} is not in the list of prices.")
    meant = [one for one in corrections() if one.provider == provider and _is_meant(one, found.id, model)]
    at = datetime(day.year, day.month, day.day, hour, tzinfo=UTC)
    for one in meant:
        local = at + timedelta(hours=one.utc_offset)
        if one.weekend_as_hour is not None and local.weekday() >= _SATURDAY:
            at = at.replace(hour=one.weekend_as_hour)
    context = _SERVICES_OF.get((provider, service), SERVICES[service])
    held = [one for one in found.price_variants or () if context.items() <= one.when.items()]
    has_it = any(one.constraint is None or one.constraint.active(at) for one in held)
    prices = found.get_prices(at, dict(context))
    if not _priced(prices):
        raise UnknownModelError(f"{provider} {model[:80]} has no price for input and output tokens.")
    factor = next((one.batch for one in meant if one.batch and service == "batch"), None)
    later = min((one.constraint.start_date for one in held if not has_it and service in _LASTING), default=None)
    if context and not has_it and factor is None and (later is None or later < day):
        since = f" before {min(one.constraint.start_date for one in held)}" if held else ""
        raise UnknownModelError(
            f"{found.name or found.id} has no price for the service “{service}” in the list{since}."
        )
    starts = sorted({tier.start for price in vars(prices).values() for tier in getattr(price, "tiers", ())})
    listed = PriceList(
        provider=provider,
        model=found.id,
        name=found.name or found.id,
        rates=_rates(prices, 0),
        tiers=tuple(Tier(start, _rates(prices, start + 1)) for start in starts),
        day=day,
        source=(known.pricing_urls or [""])[0],
        context=found.context_window,
        note=found.price_comments or "",
        fees=tuple((what, fee) for what, name in _FEES.items() if isinstance(fee := getattr(prices, name), Decimal)),
    )
    for one in meant:
        listed = _corrected(listed, one)
    if has_it or not context:
        return listed
    if factor is not None:
        return each_rate(listed, lambda rates: rates.times(factor))
    return _as_later(listed, found, dict(context), later or day)


def _as_later(listed: PriceList, found: Any, context: dict[str, str], later: date) -> PriceList:
    """Prices of a service before the list has them: the same share of the standard ones as on its first day there."""
    first = datetime(later.year, later.month, later.day, _NOON, tzinfo=UTC)
    whole, part = (_rates(found.get_prices(first, one), 0) for one in ({}, context))

    def share(rates: Rates) -> Rates:
        shares = {
            name: usd * (getattr(part, name) / getattr(whole, name))
            for name in ("input", "output", "read", "write", "write_long")
            if (usd := getattr(rates, name)) is not None and getattr(whole, name) and getattr(part, name) is not None
        }
        return replace(rates, **shares)

    note = (
        f"The list has this service from {later} on; before, its share of the standard prices is taken as on that day."
    )
    return replace(each_rate(listed, share), note=" ".join(text for text in (listed.note, note) if text))


def is_dated(listed: PriceList) -> bool:
    """Whether the list says from which day on a price of this model holds; where not, its price counts for any day."""
    known = list_of(listed.day).providers.get(listed.provider)
    found = next((one for one in known.models if one.id == listed.model), None) if known else None
    several = found.prices if found is not None and isinstance(found.prices, list) else ()
    return any(getattr(one.constraint, "start_date", None) for one in several)


def at_service(listed: PriceList, service: str) -> PriceList | None:
    """The same model's prices for a service; None where the list has none.

    Prices that the reader entered or changed, or that are of a service already, hold for every one.
    """
    if service == "standard" or not listed.provider:
        return listed
    try:
        if listed != price_list(listed.provider, listed.model, day=listed.day):
            return listed
        return price_list(listed.provider, listed.model, day=listed.day, service=service)
    except UnknownModelError:
        return None


def _is_meant(correction: Correction, *names: str) -> bool:
    return any(fnmatch(name, correction.model) for name in names)


def _rates(prices: Any, input_tokens: int) -> Rates:
    def at(price: Any) -> Decimal | None:
        if price is None or isinstance(price, Decimal):
            return price
        held = [tier.price for tier in price.tiers if input_tokens > tier.start]
        return Decimal(held[-1] if held else price.base)

    known = {name: at(getattr(prices, f"{name}_mtok")) for name in ("input", "output")}
    return Rates(
        input=known["input"] or Decimal(0),
        output=known["output"] or Decimal(0),
        read=at(prices.cache_read_mtok),
        write=at(prices.cache_write_mtok),
        write_long=at(prices.cache_write_1h_mtok),
    )


def _corrected(listed: PriceList, correction: Correction) -> PriceList:
    rates = replace(
        listed.rates,
        input=listed.rates.input if correction.input is None else correction.input,
        output=listed.rates.output if correction.output is None else correction.output,
    )
    tiers = tuple(replace(tier, inclusive=tier.inclusive or correction.inclusive) for tier in listed.tiers)
    note = " ".join(text for text in (listed.note, correction.why) if text)
    listed = replace(listed, rates=rates, tiers=tiers, note=note)
    return each_rate(listed, _with_input) if correction.write_adds_input else listed


def _with_input(rates: Rates) -> Rates:
    """Rates at which storing a token comes on top of its price as input."""
    return rates if rates.write is None else replace(rates, write=rates.input + rates.write)
