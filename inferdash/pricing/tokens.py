"""What a request is billed: tokens of five kinds that do not overlap, each at its price, in exact decimals."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from inferdash.facts.money.rates import KINDS, Kind, PriceList, Rates

_MILLION: Final = Decimal(1_000_000)


class InconsistentUsageError(ValueError):
    """A record of usage whose numbers contradict each other; its text is one sentence that names two of them."""


@dataclass(frozen=True)
class Tokens:
    """Tokens of one request or of many, each counted once."""

    fresh: int = 0
    """Input that is neither read from a cache nor stored."""
    read: int = 0
    """Input that is read from a cache."""
    written: int = 0
    """Input that is stored for the usual lifetime."""
    written_long: int = 0
    """Input that is stored for the longer lifetime."""
    output: int = 0
    """Output, with the thinking that is billed as output."""

    def __post_init__(self) -> None:
        for kind in KINDS:
            if self.of(kind) < 0:
                raise InconsistentUsageError(f"{kind} tokens are {self.of(kind):,}, fewer than none.")

    def of(self, kind: Kind) -> int:
        """Tokens of a kind."""
        return int(getattr(self, kind))

    @property
    def input(self) -> int:
        """All input tokens, which decide on the tier."""
        return self.fresh + self.read + self.written + self.written_long

    def __add__(self, other: "Tokens") -> "Tokens":
        """The sum, kind by kind."""
        return Tokens(*(self.of(kind) + other.of(kind) for kind in KINDS))


def of_total(total: int, *, read: int = 0, written: int = 0, written_long: int = 0, output: int = 0) -> Tokens:
    """Tokens of a record whose input includes what was read and stored, as OpenAI's and Google's do.

    Raises:
        InconsistentUsageError: where more was read and stored than the input has.
    """
    apart = read + written + written_long
    if apart > total:
        raise InconsistentUsageError(f"The input is {total:,} tokens, but {apart:,} of it were read or stored.")
    return Tokens(total - apart, read, written, written_long, output)


def usd(tokens: Tokens, rates: Rates) -> dict[Kind, Decimal]:
    """Dollars by kind of token."""
    return {kind: tokens.of(kind) * rates.of(kind) / _MILLION for kind in KINDS}


@dataclass(frozen=True)
class Bill:
    """Dollars of a request."""

    rates: Rates
    """Those of its size."""
    usd: Mapping[Kind, Decimal]
    """By kind of token."""

    @property
    def total_usd(self) -> Decimal:
        """Dollars in all."""
        return sum(self.usd.values(), Decimal(0))


def bill(tokens: Tokens, prices: PriceList) -> Bill:
    """What one request costs. The tier is that of its whole input, and holds for every token of it."""
    rates = prices.for_input(tokens.input)
    return Bill(rates, usd(tokens, rates))


def without_cache(tokens: Tokens) -> Tokens:
    """The same request where nothing is read or stored."""
    return Tokens(fresh=tokens.input, output=tokens.output)
