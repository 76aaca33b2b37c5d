"""A list of prices: dollars for a million tokens of each kind, and what changes where a prompt is large."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final, Literal, TypeAlias

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
    fees: tuple[tuple[str, Decimal], ...] = ()
    """What is billed beside tokens, in the plural, and dollars for a thousand."""

    def for_input(self, input_tokens: int) -> Rates:
        """The rates of a request with that many input tokens of every kind together."""
        held = [tier.rates for tier in self.tiers if tier.holds(input_tokens)]
        return held[-1] if held else self.rates


def entered(rates: Rates) -> PriceList:
    """Prices that the reader entered, of no provider."""
    return PriceList("", "", rates, datetime.now(UTC).date(), "entered by the reader", name="Own prices")


def each_rate(listed: PriceList, change: Callable[[Rates], Rates]) -> PriceList:
    """Prices with all rates changed alike, those of large requests too."""
    tiers = tuple(replace(tier, rates=change(tier.rates)) for tier in listed.tiers)
    return replace(listed, rates=change(listed.rates), tiers=tiers)
