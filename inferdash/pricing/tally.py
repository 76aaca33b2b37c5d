"""A file's requests as few sums, by day, model and size: what they cost at any prices follows without reading again."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from itertools import chain
from typing import Final, NamedTuple, Self

from inferdash.pricing.kept import Cache, Rules
from inferdash.pricing.replay import UNTIMED, Request
from inferdash.pricing.tokens import Tokens

_MOST_GROUPS: Final = 50_000
"""Days and models that are told apart, some 50 MB; requests beyond them are counted without either."""
_MOST_GROUPS_OF_USERS: Final = 1_000_000
"""The same where users are told apart, too."""
DAY_S: Final = 86_400
"""Seconds of a day."""
DATED_S: Final = (1e9, 4e9)
"""Times between these are since 1970; others since any moment."""


class Group(NamedTuple):
    """What requests have in common by which their prices are known."""

    day: int | None
    """Days since 1970; None where their time is not known."""
    model: str
    """As the file names it; "" where it names none."""
    size: int
    """Input tokens that each of them has at least, up to the next size at which a price changes."""
    said: bool
    """Whether the file says what they cost."""
    total: bool = False
    """Whether each line sums up requests of no known number, so that no price of long prompts holds."""
    service: str = "standard"
    """By which service they were answered."""

    user: str = ""
    """Who asked, where that is to be known."""

    @property
    def priced_size(self) -> int:
        """Input tokens by which the prices of its requests are known."""
        return 0 if self.total else self.size


@dataclass(slots=True)
class Sums:
    """Tokens of the requests of one group."""

    lines: int = 0
    requests: int = 0
    prompts: int = 0
    """Input tokens of every kind."""
    read: int = 0
    written: int = 0
    written_long: int = 0
    output: int = 0
    untold: int = 0
    """Input tokens of which the file does not say why they were not read."""
    usd: Decimal = Decimal(0)
    """What the file says that they cost."""
    why: list[int] = field(default_factory=lambda: [0, 0, 0, 0])

    def count(self, request: Request) -> None:
        """Adds a request whose split the log records, or that says nothing about its prompt: no rules play a part."""
        self._add(request)
        self.untold += request.input_tokens
        recorded = request.recorded
        if recorded is not None:
            self.read += recorded.read_tokens
            self.written += recorded.written_tokens
            self.written_long += recorded.written_long_tokens
            self.untold -= recorded.read_tokens

    def ask(self, cache: Cache, request: Request) -> None:
        """Adds a request that names its blocks, as the cache has them."""
        self._add(request)
        read, stored, why = cache.ask(request.time_s, request.input_tokens, request.blocks, request.block_tokens)
        self.read += read
        self.written += stored
        for place, tokens in enumerate(why):
            self.why[place] += tokens

    def add(self, other: "Sums") -> None:
        """Adds the requests of another sum of the same group."""
        self.lines += other.lines
        self.requests += other.requests
        self.prompts += other.prompts
        self.read += other.read
        self.written += other.written
        self.written_long += other.written_long
        self.output += other.output
        self.untold += other.untold
        self.usd += other.usd
        self.why = [mine + more for mine, more in zip(self.why, other.why, strict=True)]

    def negative(self) -> "Sums":
        """The same to be taken away."""
        counts = {one.name: -getattr(self, one.name) for one in fields(self) if one.name != "why"}
        return Sums(**counts)

    def _add(self, request: Request) -> None:
        self.lines += 1
        self.requests += request.requests
        self.prompts += request.input_tokens
        self.output += request.output_tokens
        if request.usd is not None:
            self.usd += request.usd

    def tokens(self) -> Tokens:
        """By what they are billed as."""
        fresh = self.prompts - self.written - self.read
        return Tokens(fresh, self.read, self.written - self.written_long, self.written_long, self.output)


class Summed(NamedTuple):
    """Requests that came as sums, of one group."""

    group: Group
    sums: Sums
    apart: tuple[tuple[str, int], ...]
    """What they count in other things than tokens, in the plural, and how many."""
    first_s: float | None
    """Time of the earliest, since 1970; None where that is not known."""
    last_s: float | None
    whole_days: bool
    """Whether every time is the start of a day."""
    unsaid: int
    """Requests of which it is not said what their prompts have in common with others."""
    timed: bool = True
    """Whether they have times."""

    @classmethod
    def of(cls, request: Request, sizes: Sequence[int]) -> Self:
        """One request in which no rules play a part; `sizes` as those of `counted`, from 0 on."""
        sums = Sums()
        sums.count(request)
        unsaid = request.recorded is None and request.input_tokens > 0
        timed = request.time_s != UNTIMED
        return cls(_group(request, sizes), sums, request.apart, None, None, whole_days=True, unsaid=unsaid, timed=timed)

    def negative(self) -> Self:
        """The same to be taken away."""
        apart = tuple((what, -many) for what, many in self.apart)
        return self._replace(sums=self.sums.negative(), apart=apart, unsaid=-self.unsaid)


Told = dict[Group, Sums]


@dataclass
class Counts:
    """What a file holds: few sums, however many requests there are."""

    told: Told = field(default_factory=dict)
    """Requests in which the rules of a cache play no part."""
    asked: dict[Rules, Told] = field(default_factory=dict)
    """Those whose prompts are known, under each of the rules."""
    forgotten: dict[Rules, int] = field(default_factory=dict)
    """Blocks that were dropped too early, under each of the rules."""
    apart: Counter[tuple[int | None, str, str]] = field(default_factory=Counter)
    """Day, model and what is counted in other things than tokens, in the plural -> how many."""
    first_s: float | None = None
    """Time of the earliest request, since 1970; None where that is not known."""
    last_s: float | None = None
    whole_days: bool = True
    """Whether every time is the start of a day, as where only dates are told."""

    def groups(self, rules: Rules) -> Iterator[tuple[Group, Sums]]:
        """All sums under some rules."""
        return chain(self.told.items(), self.asked.get(rules, {}).items())

    @property
    def days(self) -> float | None:
        """Days that the requests cover, the first and last included where only dates are told; None if not known."""
        if self.first_s is None or self.last_s is None:
            return None
        return (self.last_s - self.first_s) / DAY_S + self.whole_days


def counted(requests: Iterable[Request | Summed], rules: Collection[Rules], edges: Iterable[int]) -> Counts:
    """Goes through requests once.

    Args:
        requests: in the order in which they came; sums of many are of groups by the same edges.
        rules: of the caches that the prompts go through.
        edges: input tokens at which any price changes.
    """
    counts = Counts(asked={one: {} for one in rules})
    caches = [(Cache(one, among=len(rules)), counts.asked[one]) for one in rules]
    sizes = (0, *sorted(edges))
    first, last, whole = float("inf"), 0.0, True
    for request in requests:
        if isinstance(request, Summed):
            _of(counts.told, request.group).add(request.sums)
            _apart(counts, request.group, request.apart)
            if request.first_s is not None and request.last_s is not None:
                first, last = min(first, request.first_s), max(last, request.last_s)
                whole = whole and request.whole_days
            continue
        time_s, group = request.time_s, _group(request, sizes)
        if group.day is not None:
            whole = whole and time_s % DAY_S == 0
            first, last = min(first, time_s), max(last, time_s)
        if request.apart:
            _apart(counts, group, request.apart)
        if request.recorded is not None or not request.blocks:
            _of(counts.told, group).count(request)
        else:
            for cache, told in caches:
                _of(told, group).ask(cache, request)
    counts.forgotten = {cache.rules: cache.forgotten for cache, _ in caches}
    _without_nothing(counts)
    if last:
        counts.first_s, counts.last_s, counts.whole_days = first, last, whole
    return counts


def joined(several: Iterable[Counts], rules: Collection[Rules]) -> Counts:
    """The counts of requests that came in parts which share no block.

    Args:
        several: of the parts.
        rules: of the caches, the same for all.
    """
    whole = Counts(asked={one: {} for one in rules}, forgotten=dict.fromkeys(rules, 0))
    for counts in several:
        for told, others in ((whole.told, counts.told), *((whole.asked[one], counts.asked[one]) for one in rules)):
            for group, sums in others.items():
                _of(told, group).add(sums)
        whole.apart += counts.apart
        for one in rules:
            whole.forgotten[one] += counts.forgotten[one]
        if counts.first_s is not None and counts.last_s is not None:
            whole.first_s = min(counts.first_s, counts.first_s if whole.first_s is None else whole.first_s)
            whole.last_s = max(counts.last_s, counts.last_s if whole.last_s is None else whole.last_s)
            whole.whole_days = whole.whole_days and counts.whole_days
    _without_nothing(whole)
    return whole


def _group(request: Request, sizes: Sequence[int]) -> Group:
    """What a request has in common with others."""
    size = sizes[bisect_right(sizes, request.each_tokens or request.input_tokens) - 1]
    day = int(request.time_s // DAY_S) if DATED_S[0] < request.time_s < DATED_S[1] else None
    is_said = request.usd is not None
    return Group(day, request.model, size, is_said, service=request.service, user=request.user)


def _without_nothing(counts: Counts) -> None:
    """Drops the groups of which all was taken away again."""
    for group in [group for group, sums in counts.told.items() if not sums.lines]:
        del counts.told[group]
    for key in [key for key, many in counts.apart.items() if not many]:
        del counts.apart[key]


def _apart(counts: Counts, group: Group, said: Iterable[tuple[str, int]]) -> None:
    for what, many in said:
        key = group.day, group.model, what
        if key in counts.apart or len(counts.apart) < _MOST_GROUPS:
            counts.apart[key] += many


def _of(told: Told, group: Group) -> Sums:
    found = told.get(group)
    if found is None:
        if len(told) >= (_MOST_GROUPS_OF_USERS if group.user else _MOST_GROUPS):
            group = Group(None, "", group.size, group.said, service=group.service)
        found = told.setdefault(group, Sums())
    return found
