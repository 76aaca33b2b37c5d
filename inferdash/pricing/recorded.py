"""What a log itself says that its requests cost, beside what they cost at given prices."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from inferdash.facts.prices import PriceList, Rates
from inferdash.pricing.replay import Request
from inferdash.pricing.tokens import Tokens, usd


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Two sums over the same requests: those whose cost the log says."""

    requests: int
    """Requests whose cost the log says."""
    usd: Decimal
    """What it says, in dollars."""
    priced_usd: Decimal
    """What the same requests cost at the prices given."""

    @property
    def difference_usd(self) -> Decimal:
        """Dollars that the log has more than the prices."""
        return self.usd - self.priced_usd


class Ledger:
    """Adds up what a log says of cost while its requests pass through."""

    def __init__(self, prices: PriceList) -> None:
        self._prices = prices
        self._requests = 0
        self._usd = Decimal(0)
        self._tokens: dict[Rates, Tokens] = {}

    def watched(self, requests: Iterable[Request]) -> Iterator[Request]:
        """The requests, as they are."""
        for request in requests:
            if request.usd is not None:
                self._add(request, request.usd)
            yield request

    def _add(self, request: Request, usd_said: Decimal) -> None:
        self._requests += 1
        self._usd += usd_said
        rates = self._prices.for_input(request.each_tokens or request.input_tokens)
        split = request.recorded
        read, stored, hour = (
            (split.read_tokens, split.written_tokens, split.written_long_tokens) if split else (0, 0, 0)
        )
        own = Tokens(request.input_tokens - read - stored, read, stored - hour, hour, request.output_tokens)
        self._tokens[rates] = self._tokens.get(rates, Tokens()) + own

    def recorded(self) -> Recorded | None:
        """Both sums; None where the log says nothing of cost."""
        if not self._requests:
            return None
        kinds = (dollars for rates, tokens in self._tokens.items() for dollars in usd(tokens, rates).values())
        priced = sum(kinds, Decimal(0))
        return Recorded(requests=self._requests, usd=self._usd, priced_usd=priced)
