"""What providers charge: dollars for a million tokens of each kind, by model and day.

The list is that of the package genai-prices, which carries it along; nothing is fetched. Where it is known to differ
from what a provider does, `presets/prices/corrections.toml` says so with its source.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from pydantic import HttpUrl

from inferdash import shipped
from inferdash.validated import Validated

Kind: TypeAlias = Literal["fresh", "read", "written", "written_long", "output"]
"""Tokens by what they are billed as: input that is neither read nor stored, input read from a cache, input stored for
the usual lifetime, input stored for the longer one, and output with its thinking."""
KINDS: Final[tuple[Kind, ...]] = ("fresh", "read", "written", "written_long", "output")


@dataclass(frozen=True)
class Rates:
    """Dollars for a million tokens. A price that a provider does not have is None, never 0."""

    input: Decimal
    output: Decimal
    read: Decimal | None = None
    write: Decimal | None = None
    write_long: Decimal | None = None

    def of(self, kind: Kind) -> Decimal:
        """Dollars for a million tokens of a kind.

        Without a price of its own a token that is read or written costs as much as a fresh one, and one that is
        stored for longer as much as one that is stored.
        """
        write = self.input if self.write is None else self.write
        return {
            "fresh": self.input,
            "read": self.input if self.read is None else self.read,
            "written": write,
            "written_long": write if self.write_long is None else self.write_long,
            "output": self.output,
        }[kind]

    def times(self, factor: Decimal) -> "Rates":
        """All of them times a factor, such as a regional premium."""
        return Rates(
            self.input * factor,
            self.output * factor,
            None if self.read is None else self.read * factor,
            None if self.write is None else self.write * factor,
            None if self.write_long is None else self.write_long * factor,
        )


@dataclass(frozen=True)
class Tier:
    """Rates of the whole request once its input is large."""

    above: int
    """Input tokens, of every kind together, above which the rates hold."""
    rates: Rates
    inclusive: bool = False
    """Whether they hold at that number already."""

    def holds(self, input_tokens: int) -> bool:
        """Whether a request with that many input tokens pays these rates."""
        return input_tokens >= self.above if self.inclusive else input_tokens > self.above


@dataclass(frozen=True)
class PriceList:
    """What one model costs at one provider on one day."""

    provider: str
    model: str
    rates: Rates
    day: date
    source: str
    tiers: tuple[Tier, ...] = ()
    name: str = ""
    context: int | None = None
    """Input tokens that the model takes."""
    note: str = ""

    def for_input(self, input_tokens: int) -> Rates:
        """The rates of a request with that many input tokens of every kind together."""
        held = [tier.rates for tier in self.tiers if tier.holds(input_tokens)]
        return held[-1] if held else self.rates


def entered(rates: Rates) -> PriceList:
    """Prices that the reader entered, of no provider."""
    return PriceList("", "", rates, datetime.now(UTC).date(), "entered by the reader", name="Own prices")


class UnknownModelError(ValueError):
    """A model that the list does not have; its text is one sentence."""


class Correction(Validated):
    """Where the list is known to differ from what a provider does."""

    provider: str
    model: str = ""
    """The model, or all of the provider's where empty."""
    inclusive: bool = False
    """Whether the higher tier holds at its number of tokens already."""
    input: Decimal | None = None
    output: Decimal | None = None
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
def _providers() -> Mapping[str, Any]:
    from genai_prices import data  # noqa: PLC0415 - a list of two thousand models, for those who ask for prices

    return {provider.id: provider for provider in data.providers}


def providers() -> dict[str, str]:
    """Id -> name of each provider that prices tokens."""
    return {key: provider.name for key, provider in _providers().items()}


def models(provider: str) -> dict[str, str]:
    """Id -> name of each model of a provider that has a price of input and of output tokens."""
    now = datetime.now(UTC)
    return {
        model.id: model.name or model.id
        for model in _providers()[provider].models
        if not model.deprecated and _priced(model.get_prices(now))
    }


def _priced(prices: Any) -> bool:
    return prices.input_mtok is not None and prices.output_mtok is not None


def price_list(provider: str, model: str, *, day: date, batch: bool = False) -> PriceList:
    """What a model costs on a day.

    Args:
        provider: the provider's id.
        model: the model as the provider's API calls it.
        day: the day of the requests, in UTC.
        batch: whether they are sent as a batch, where the provider has a price for that.

    Raises:
        UnknownModelError: where the provider or the model is not in the list, or has no price for tokens.
    """
    known = _providers().get(provider)
    if known is None:
        raise UnknownModelError(f"{provider[:80]} is not in the list of prices.")
    found = next((one for one in known.models if one.id == model), None) or known.find_model(model)
    if found is None:
        raise UnknownModelError(f"{provider} {model[:80]} is not in the list of prices.")
    at_noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    prices = found.get_prices(at_noon, {"processing": "batch"} if batch else None)
    if not _priced(prices):
        raise UnknownModelError(f"{provider} {model[:80]} has no price for input and output tokens.")
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
    )
    for correction in corrections():
        if correction.provider == provider and correction.model in {"", found.id, model}:
            listed = _corrected(listed, correction)
    return listed


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
    return replace(listed, rates=rates, tiers=tiers, note=note)
