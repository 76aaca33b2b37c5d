"""Replay: real requests, one after another, through the rules of a prompt cache.

Each prompt is split into tokens that the cache gives back, tokens that it stores, and the rest. The three are
disjoint and their sum is the prompt, so each token is billed once, at its own price.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, NamedTuple

from inferdash.facts.prices import KINDS, Kind, PriceList, Rates
from inferdash.pricing.tokens import Tokens, usd, without_cache

MOST_BLOCKS: Final = 3_000_000
"""Blocks that a replay keeps the clocks of, some 500 MB; before there are more, those used longest ago go.

Several rules at once share them evenly, and so the memory.
"""
_MOST_EXPIRED: Final = 500_000
"""Expired blocks after which the expired ones before them are forgotten, shared likewise."""
_SWEEP_AT_LEAST: Final = 65_536
_CLOCK_TICK_S: Final = 1e-6
"""Times that differ by less are equal; a difference of two times in floating point is not exact."""


class Split(NamedTuple):
    """What a log itself says about the prompt of one request, in tokens of that prompt."""

    read_tokens: int
    """Tokens that the cache gave back."""
    written_tokens: int
    """Tokens that were stored in the cache, those for the longer lifetime included."""
    written_long_tokens: int = 0
    """Tokens that were stored for the longer lifetime, at a price of their own."""


class Request(NamedTuple):
    """One request: when it came, its tokens, and what is known about the start of its prompt."""

    time_s: float
    """Seconds since any fixed moment."""
    input_tokens: int
    """All tokens of the prompt, cached or not."""
    output_tokens: int
    """All tokens that are billed as output, hidden reasoning included."""
    blocks: tuple[Hashable, ...] = ()
    """Ids of the blocks of the prompt from its start; equal ids mean the same whole prompt up to there."""
    block_tokens: int = 0
    """Tokens of a block; the last one of a prompt may be shorter."""
    recorded: Split | None = None
    """What the log says about the cache. Where it does, the rules do not guess."""
    usd: Decimal | None = None
    """What the log itself says that it cost."""
    each_tokens: int = 0
    """Where it sums several requests up, tokens of the prompt of each, by which its tier is known; 0 for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When a cache stores the start of a prompt, and when it gives it back."""

    minimum_tokens: int
    """The shortest start that is stored or given back, in tokens."""
    increment_tokens: int
    """A start is stored and given back in multiples of this many tokens."""
    lifetime_s: float
    """Seconds from storing a block, or from its last use, through which it is given back; the end is included."""
    renewed: bool
    """Whether a use starts the lifetime again."""

    def __post_init__(self) -> None:
        """Refuses what is no rule.

        Raises:
            ValueError: where the minimum is below 0, the increment below 1, or the lifetime not above 0.
        """
        if self.minimum_tokens < 0:
            raise ValueError(f"minimum is {self.minimum_tokens}; it is 0 tokens or more.")
        if self.increment_tokens < 1:
            raise ValueError(f"increment is {self.increment_tokens}; it is 1 token or more.")
        if not self.lifetime_s > 0:
            raise ValueError(f"lifetime is {self.lifetime_s:g}; it is more than 0 seconds.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Why tokens of prompts were not read from the cache: each such token has one reason."""

    gap_over_lifetime: int = 0
    """Their block was stored, and its lifetime was over, or that of a block before it."""
    below_minimum: int = 0
    """The whole prompt, or the part of it that was in the cache, was shorter than the minimum."""
    never_seen: int = 0
    """Their block came for the first time, or last so long ago that it was forgotten."""
    rest_of_block: int = 0
    """They lie after the last whole block, or after the last multiple of the increment."""
    not_told: int = 0
    """The log names no blocks of the prompt, or records by itself what was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a run of requests is billed under the rules of a cache, and without one."""

    requests: int
    """Requests in all."""
    tokens: Tokens
    """All their tokens, by what they are billed as."""
    usd: dict[Kind, Decimal]
    """Dollars by kind of token, each request at the rates of its size."""
    cost_without_cache_usd: Decimal
    """Dollars for the same tokens with every token of a prompt at the price of an input token."""
    why: NotRead = field(default_factory=NotRead)
    """Why tokens were not read: its parts add up to those stored and fresh."""
    over_tier: int = 0
    """Requests so long that they pay the rates of a higher tier."""
    over_tier_usd: Decimal = Decimal(0)
    """Dollars that these cost more than at the lowest rates."""
    forgotten_blocks: int = 0
    """Blocks that were dropped before their lifetime was over, because there were too many to keep."""

    @property
    def fresh_tokens(self) -> int:
        """Tokens of prompts that were neither read from the cache nor stored in it."""
        return self.tokens.fresh

    @property
    def written_tokens(self) -> int:
        """Tokens of prompts that were stored in the cache, for whatever lifetime."""
        return self.tokens.written + self.tokens.written_long

    @property
    def read_tokens(self) -> int:
        """Tokens of prompts that were read from the cache."""
        return self.tokens.read

    @property
    def output_tokens(self) -> int:
        """Output tokens."""
        return self.tokens.output

    @property
    def cost_usd(self) -> Decimal:
        """Dollars for all of it."""
        return _sum(self.usd.values())

    @property
    def read_share(self) -> float:
        """Share of the tokens of the prompts that were read from the cache; 0 where there are none."""
        return self.tokens.read / self.tokens.input if self.tokens.input else 0.0


def replay(requests: Iterable[Request], rules: Rules, prices: PriceList) -> Replay:
    """Goes through requests in the order given and splits each prompt into read, stored and fresh tokens.

    - A block can be cached where the prompt fills it. Of these whole blocks, the prompt's start up to the last
      multiple of the increment is stored, if it is no shorter than the minimum; what follows is fresh.
    - From the start on, blocks are found as long as each is in the cache and its clock is at most a lifetime old
      (a gap of exactly the lifetime still reads). What is found is rounded down to a multiple of the increment; if
      that is below the minimum, nothing is read and the whole start is stored again.
    - Each block has a clock of its own, set to the request's time when it is stored, and when it is read, if use
      renews. From the end of what was read on, everything is stored again and billed so, also a block whose own
      clock still runs behind one whose lifetime is over.
    - A request sees all that stand before it, also those of the same moment, and it is done at once: nothing is
      known of when its answer ended.
    - Where a log records by itself what was read and stored, that is taken as it is.
    - Each request pays the rates of the tier of its whole prompt.

    With use renewing, a longer lifetime never reads less. Without, it may: it also moves the moment of storing anew.

    Only the clocks of live blocks are kept, at most `MOST_BLOCKS`, and the ids of those that expired last.

    Raises:
        InconsistentUsageError: where a log records more tokens as read and stored than its prompts have.
    """
    return replays(requests, [(rules, prices)])[0]


def replays(requests: Iterable[Request], ways: Sequence[tuple[Rules, PriceList]]) -> tuple[Replay, ...]:
    """The same under several rules and prices, in one pass over the requests, in the order of `ways`.

    Raises:
        InconsistentUsageError: where a log records more tokens as read and stored than its prompts have.
    """
    edges = sorted({tier.above + (not tier.inclusive) for _, prices in ways for tier in prices.tiers})
    counted = [_Sums() for _ in range(len(edges) + 1)]
    rules = dict.fromkeys(rules for rules, _ in ways)
    asked = {one: (_Cache(one, among=len(rules)), [_Sums() for _ in counted]) for one in rules}
    for request in requests:
        place = bisect_right(edges, request.each_tokens or request.input_tokens)
        if request.recorded is not None or not request.blocks:
            counted[place].count(request)
        else:
            for cache, sums in asked.values():
                sums[place].ask(cache, request)
    sizes = (0, *edges)
    return tuple(_bill(prices, zip(sizes, counted, asked[one][1], strict=True), asked[one][0]) for one, prices in ways)


class _Sums:
    """Tokens of requests whose sizes no tier parts."""

    __slots__ = ("output", "prompts", "read", "requests", "untold", "why", "written", "written_long")

    def __init__(self) -> None:
        self.requests = self.prompts = self.read = self.written = self.written_long = self.output = self.untold = 0
        self.why = [0, 0, 0, 0]

    def count(self, request: Request) -> None:
        """Adds a request whose split the log records, or that says nothing about its prompt: no rules play a part."""
        self.requests += 1
        self.prompts += request.input_tokens
        self.output += request.output_tokens
        self.untold += request.input_tokens
        recorded = request.recorded
        if recorded is not None:
            self.read += recorded.read_tokens
            self.written += recorded.written_tokens
            self.written_long += recorded.written_long_tokens
            self.untold -= recorded.read_tokens

    def ask(self, cache: "_Cache", request: Request) -> None:
        """Adds a request that names its blocks, as the cache has them."""
        self.requests += 1
        self.prompts += request.input_tokens
        self.output += request.output_tokens
        read, stored, why = cache.ask(request)
        self.read += read
        self.written += stored
        for place, tokens in enumerate(why):
            self.why[place] += tokens

    def tokens(self) -> Tokens:
        """By what they are billed as."""
        fresh = self.prompts - self.written - self.read
        return Tokens(fresh, self.read, self.written - self.written_long, self.written_long, self.output)


def _bill(prices: PriceList, parts: Iterable[tuple[int, _Sums, _Sums]], cache: "_Cache") -> Replay:
    """The bill of requests by their size; each part is the least of its sizes, those counted, and those asked."""
    found = {rates: Tokens() for rates in (prices.rates, *(tier.rates for tier in prices.tiers))}
    requests, over_tier, untold, why = 0, 0, 0, [0, 0, 0, 0]
    for size, *both in parts:
        rates = prices.for_input(size)
        for sums in both:
            found[rates] += sums.tokens()
            requests += sums.requests
            over_tier += sums.requests if rates != prices.rates else 0
            untold += sums.untold
            why = [one + more for one, more in zip(why, sums.why, strict=True)]
    dollars = {rates: usd(tokens, rates) for rates, tokens in found.items()}
    gap, short, never, rest = why
    return Replay(
        requests=requests,
        tokens=sum(found.values(), Tokens()),
        usd={kind: _sum(part[kind] for part in dollars.values()) for kind in KINDS},
        cost_without_cache_usd=_sum(_cost(without_cache(tokens), rates) for rates, tokens in found.items()),
        why=NotRead(gap_over_lifetime=gap, below_minimum=short, never_seen=never, rest_of_block=rest, not_told=untold),
        over_tier=over_tier,
        over_tier_usd=_sum(_cost(found[rates], rates) - _cost(found[rates], prices.rates) for rates in found),
        forgotten_blocks=cache.forgotten,
    )


def _cost(tokens: Tokens, rates: Rates) -> Decimal:
    return _sum(usd(tokens, rates).values())


def _sum(dollars: Iterable[Decimal]) -> Decimal:
    return sum(dollars, Decimal(0))


class _Cache:
    """The blocks that were stored, each with its clock; what has expired is dropped."""

    def __init__(self, rules: Rules, *, among: int) -> None:
        """`among` is how many caches share the memory."""
        self.rules = rules
        self.most, self.most_expired = MOST_BLOCKS // among, _MOST_EXPIRED // among
        self.through_s = rules.lifetime_s + _CLOCK_TICK_S
        self.clocks: dict[Hashable, float] = {}
        self.expired: set[Hashable] = set()
        self.expired_before: set[Hashable] = set()
        self.sweep_at = _SWEEP_AT_LEAST
        self.forgotten = 0

    def ask(self, request: Request) -> tuple[int, int, tuple[int, int, int, int]]:
        """Tokens of a prompt that are read, and stored, and why the others are not read; the clocks move.

        The reasons stand in the order of the fields of `NotRead`: gap, minimum, never seen, rest of a block.
        """
        size, now, rules = request.block_tokens, request.time_s, self.rules
        whole = min(len(request.blocks), request.input_tokens // size)
        blocks = request.blocks[:whole]
        storable = self._in_steps(whole * size)
        if storable == 0:
            short = whole * size if whole * size < rules.minimum_tokens else 0
            return 0, 0, (0, short, 0, request.input_tokens - short)

        clocks, through_s = self.clocks, self.through_s
        found = 0
        for block in blocks:
            clock = clocks.get(block)
            if clock is None or now - clock > through_s:
                break
            found += 1
        read = self._in_steps(found * size)
        kept = -(-storable // size)
        new = max(0, storable - found * size)
        known = sum(1 for block in blocks[found:kept] if block in clocks or self._has_expired(block))
        gap = min(new, known * size)
        unread = found * size - read
        short = unread if found * size < rules.minimum_tokens else 0

        # From the end of what was read on, everything is stored anew, and its clock starts anew too.
        first = 0 if rules.renewed else -(-read // size)
        clocks.update(dict.fromkeys(blocks[first:kept], now))
        if len(clocks) > self.sweep_at:
            self._sweep(now)
        rest = request.input_tokens - read - gap - short - (new - gap)
        return read, storable - read, (gap, short, new - gap, rest)

    def _in_steps(self, tokens: int) -> int:
        """The start of that many known tokens that the cache keeps: multiples of the increment, or nothing."""
        kept = tokens // self.rules.increment_tokens * self.rules.increment_tokens
        return kept if kept >= self.rules.minimum_tokens else 0

    def _has_expired(self, block: Hashable) -> bool:
        return block in self.expired or block in self.expired_before

    def _sweep(self, now: float) -> None:
        """Drops what has expired; as rare as the blocks are many, so that it costs little for each."""
        live = {block: clock for block, clock in self.clocks.items() if now - clock <= self.through_s}
        self.expired.update(block for block in self.clocks if block not in live)
        if len(self.expired) > self.most_expired:
            self.expired, self.expired_before = set(), self.expired
        if len(live) > self.most * 3 // 4:
            newest = sorted(live, key=live.__getitem__)[-(self.most // 2) :]
            self.forgotten += len(live) - len(newest)
            live = {block: live[block] for block in newest}
        self.clocks = live
        self.sweep_at = min(2 * len(live) + _SWEEP_AT_LEAST, self.most)
