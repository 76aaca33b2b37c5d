"""What requests cost that were counted, under some rules and prices."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from inferdash.facts.money.prices import at_service
from inferdash.facts.money.rates import KINDS, PriceList, Rates
from inferdash.pricing.kept import Rules
from inferdash.pricing.replay import NotRead, Replay, Request
from inferdash.pricing.tally import Counts, Group, Sums, counted
from inferdash.pricing.tokens import Tokens, usd, without_cache

_FEWEST_TOTALS: Final = 3
"""Lines of which each has a day and model of its own, that are taken for totals of days."""


def as_totals(counts: Counts, longest: Callable[[str], int]) -> tuple[Counts, int]:
    """The counts where lines that sum up a day have no size, and how many such lines there are.

    They are known by more input than any request to their model can have. Where the file tells dates alone, all its
    lines are totals if one is, or if each day and model has one line.

    Args:
        counts: of a file.
        longest: the most input tokens of a request to a model, by the name in the file.
    """
    beyond = {group for group in counts.told if group.size > longest(group.model)}
    often = Counter[tuple[int | None, str]]()
    for group, sums in counts.told.items():
        often[group.day, group.model] += sums.lines
    daily = counts.first_s is not None and counts.whole_days and not any(counts.asked.values())
    single = len(often) >= _FEWEST_TOTALS and set(often.values()) == {1} and all(day is not None for day, _ in often)
    chosen = {group for group in counts.told if group.size} if daily and (beyond or single) else beyond
    if not chosen:
        return counts, 0
    told = {group._replace(total=group in chosen): sums for group, sums in counts.told.items()}
    return replace(counts, told=told), sum(counts.told[group].lines for group in chosen)


def all_at(prices: PriceList) -> Callable[[Group], PriceList]:
    """The same model's prices for every group, at its own service where the list has that."""
    return lambda group: at_service(prices, group.service) or prices


def bill(
    counts: Counts, rules: Rules, prices: Callable[[Group], PriceList | None], *, said: bool | None = None
) -> Replay:
    """What all requests cost under some rules.

    Args:
        counts: of a file.
        rules: of the cache, among those that it was counted under where prompts are known.
        prices: those of a group; None where they are not known, so that it is left out.
        said: only requests whose cost the file says, or only the others.

    Raises:
        InconsistentUsageError: where a log records more tokens as read and stored than its prompts have.
    """
    return bills(counts, rules, prices, lambda group: said in {None, group.said} or None).get(True, _NOTHING)


def bills(
    counts: Counts, rules: Rules, prices: Callable[[Group], PriceList | None], by: Callable[[Group], Hashable]
) -> dict[Hashable, Replay]:
    """The same in parts, such as by day; a part None is left out."""
    parts: dict[Hashable, list[tuple[Sums, Rates, Rates]]] = {}
    for group, sums in counts.groups(rules):
        part, listed = by(group), prices(group)
        if part is not None and listed is not None:
            parts.setdefault(part, []).append((sums, listed.for_input(group.priced_size), listed.rates))
    return {part: _bill(found, counts.forgotten.get(rules, 0)) for part, found in parts.items()}


def _bill(parts: Sequence[tuple[Sums, Rates, Rates]], forgotten: int) -> Replay:
    found: dict[tuple[Rates, Rates], Tokens] = {}
    for sums, rates, lowest in parts:
        found[rates, lowest] = found.get((rates, lowest), Tokens()) + sums.tokens()
    dollars = [usd(tokens, rates) for (rates, _), tokens in found.items()]
    over = {pair: tokens for pair, tokens in found.items() if pair[0] != pair[1]}
    gap, short, never, rest = (sum(sums.why[place] for sums, *_ in parts) for place in range(4))
    return Replay(
        requests=sum(sums.requests for sums, *_ in parts),
        tokens=sum(found.values(), Tokens()),
        usd={kind: _sum(part[kind] for part in dollars) for kind in KINDS},
        cost_without_cache_usd=_sum(_cost(without_cache(tokens), rates) for (rates, _), tokens in found.items()),
        why=NotRead(
            gap_over_lifetime=gap,
            below_minimum=short,
            never_seen=never,
            rest_of_block=rest,
            not_told=sum(sums.untold for sums, *_ in parts),
        ),
        over_tier=sum(sums.requests for sums, rates, lowest in parts if rates != lowest),
        over_tier_usd=_sum(_cost(tokens, rates) - _cost(tokens, lowest) for (rates, lowest), tokens in over.items()),
        forgotten_blocks=forgotten,
    )


_NOTHING: Final = Replay(
    requests=0, tokens=Tokens(), usd=dict.fromkeys(KINDS, Decimal(0)), cost_without_cache_usd=Decimal(0)
)


def _cost(tokens: Tokens, rates: Rates) -> Decimal:
    return _sum(usd(tokens, rates).values())


def _sum(dollars: Iterable[Decimal]) -> Decimal:
    return sum(dollars, Decimal(0))


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
    edges = {tier.above + (not tier.inclusive) for _, prices in ways for tier in prices.tiers}
    counts = counted(requests, dict.fromkeys(rules for rules, _ in ways), edges)
    return tuple(bill(counts, rules, all_at(prices)) for rules, prices in ways)
