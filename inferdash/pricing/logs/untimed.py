"""Requests of a log without a time: they count where none of it has one, and are left out where others have."""

from collections import Counter
from collections.abc import Iterator

from inferdash.facts.money.price_names import edges
from inferdash.pricing.replay import Request
from inferdash.pricing.tally import Group, Summed, Sums


class Untimed:
    """Keeps the sums of what was passed on without a time, as long as it is not known whether others have one."""

    def __init__(self) -> None:
        self._sizes = (0, *sorted(edges()))
        self._told: dict[Group, Sums] = {}
        self._apart: dict[Group, Counter[str]] = {}
        self._unsaid = Counter[Group]()

    def add(self, one: Request | Summed) -> None:
        """Another request, or several as sums."""
        summed = one if isinstance(one, Summed) else Summed.of(one, self._sizes)
        self._told.setdefault(summed.group, Sums()).add(summed.sums)
        self._unsaid[summed.group] += summed.unsaid
        if summed.apart:
            self._apart.setdefault(summed.group, Counter()).update(dict(summed.apart))

    def taken_away(self) -> Iterator[Summed]:
        """What takes them out of all sums again; they are forgotten."""
        told, self._told = self._told, {}
        for group, sums in ((group, sums) for group, sums in told.items() if sums.lines):  # else taken away before
            apart = tuple(self._apart.get(group, {}).items())
            unsaid = self._unsaid[group]
            yield Summed(group, sums, apart, None, None, whole_days=True, unsaid=unsaid).negative()
        self._apart.clear()
        self._unsaid.clear()
