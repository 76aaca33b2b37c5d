"""What a log itself says that its requests cost, beside what they cost at given prices."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from inferdash.facts.money.rates import PriceList
from inferdash.pricing.bills import bill
from inferdash.pricing.kept import Rules
from inferdash.pricing.tally import Counts, Group


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


def recorded(counts: Counts, rules: Rules, prices: Callable[[Group], PriceList | None]) -> Recorded | None:
    """Both sums over requests that have prices; None where the log says nothing of cost."""
    said = [sums for group, sums in counts.groups(rules) if group.said and prices(group) is not None]
    if not said:
        return None
    priced = bill(counts, rules, prices, said=True)
    return Recorded(
        requests=sum(sums.requests for sums in said),
        usd=sum((sums.usd for sums in said), Decimal(0)),
        priced_usd=priced.cost_usd,
    )
