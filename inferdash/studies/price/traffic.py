"""What the reader's own requests cost, why tokens were not read from the cache, and what other rules would cost."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.money.rates import PriceList
from inferdash.pricing.bills import all_at, bill
from inferdash.pricing.feature import DAYS
from inferdash.pricing.logs.blocks import SAY_IT, Written
from inferdash.pricing.logs.recorded import Recorded, recorded
from inferdash.pricing.replay import Replay
from inferdash.pricing.tally import Group
from inferdash.scenario import OWN, Scenario
from inferdash.studies.numbers import Headline, Row, Table
from inferdash.studies.price import billed, replayed
from inferdash.studies.price.billed import KINDS, Part, kinds
from inferdash.studies.price.own_log import File
from inferdash.studies.price.ways import Way

NAME: Final = "traffic"
TITLE: Final = "Your traffic"
QUESTION: Final = "What did your requests cost, and what does caching save?"
AS_BILLED: Final = "As billed"
"""The way in which each line has the list prices of its own model and day."""
FILES: Final = """
Upload a record of your requests; they are replayed in order through the cache rules below.

- A usage log, CSV or JSON: usage objects as APIs return them, logs of gateways and of observability tools,
  exports of consoles, or columns of your own such as date, model, input_tokens, cached_tokens (part of the input)
  and output_tokens.
- Session files of a coding assistant, or a ZIP archive of them.
- A trace with the block ids of its prompts, such as those of Mooncake and Bailian.

What is not understood is left out and named.

The file stays in the memory of this server while the page is open; nothing of it is stored, logged or passed on.
The example is the first 20 minutes of a public trace of a chat service, from Mooncake.
"""


@dataclass(frozen=True)
class Traffic:
    """What a file's requests cost."""

    found: tuple[tuple[str, Replay], ...]
    """The name of each way, and what the requests are billed in it: first as they were billed, where their models are
    known, then at the scenario's own prices."""
    left_out: int
    """Lines or requests that were not read."""
    lines: int
    """Lines or requests that were, those without a price included."""
    problems: tuple[str, ...]
    """What the reader should know about the file and its bill, in sentences."""
    notes: tuple[str, ...] = ()
    """How the file was understood, in sentences."""
    recorded: Recorded | None = None
    """What the file itself says of cost, beside the first bill."""
    block_tokens: int = 0
    """Tokens of a block, where the file is a trace that names blocks."""
    asks: str = ""
    """The price that is missing for the first bill, in a sentence."""
    as_billed: bool = False
    """Whether the first bill is that of each line at its own model and day."""
    unpriced: int = 0
    """Requests that this bill leaves out, as their model is not in the list of prices."""
    parts: tuple[Part, ...] = ()
    """The first bill by day and model."""
    noun: str = "request"
    """What is counted as requests: lines, where they sum up requests of no known number."""
    days: float | None = None
    """Days that the file covers; None where its times do not tell."""
    lacking: frozenset[str] = frozenset()
    """Names of ways whose prices lack one for what was stored for an hour, so that they have no bill."""

    @property
    def own(self) -> Replay:
        """The first bill."""
        return self.found[0][1]

    @property
    def month_usd(self) -> float | None:
        """Dollars of a month in which every day is as those of the file on average; None where it has less than one."""
        return None if self.days is None or self.days < 1 else float(self.own.cost_usd) / self.days * DAYS


def study(file: File, asked: tuple[Way, ...], day: date) -> Traffic:
    """Bills the requests of a file in each way.

    Args:
        file: what was read.
        asked: prices and rules, the scenario's own first.
        day: the day of prices for requests whose own is not known.
    """
    own, (start, rules) = billed.prices_of(day), (asked[0], asked[0].rules)
    named = bool(file.models) and not any(file.counts.asked.values())
    each = bill(file.counts, rules, own) if named else None
    as_billed = each is not None and each.requests > 0
    shown = [way for way in asked if not (as_billed and way.as_started)]
    found = [(way.name, bill(file.counts, way.rules, _at(way.prices, own if as_billed else None))) for way in shown]
    prices = own if as_billed else all_at(start.prices)
    first = each if each and as_billed else found[0][1]
    said = recorded(file.counts, rules, prices)
    unknown = billed.unknown(file.counts) if named else {}
    missing = billed.lacks(file.counts, own) if as_billed else replayed.asks(first, start.prices)
    lacking = {way.name for way, (_, one) in zip(shown, found, strict=True) if replayed.asks(one, way.prices)}
    others = sorted(lacking - {start.name} | (lacking if as_billed else set()))
    hours = [f"No bill for {', '.join(others)}: no price is known for what was stored for an hour."] if others else []
    unserved = billed.unserved(file.counts, own) if as_billed else {}
    left = sum(unknown.values()) + sum(unserved.values())
    uncounted = first.requests + left <= file.totals
    noun = "line" if file.totals and uncounted else "request"
    doubts = (*file.problems, *replayed.problems(first, missing), *_other_rules(first))
    fees = billed.fee_sentences(billed.fees(file.counts, own))
    unpriced = (*billed.unknown_sentences(unknown), *billed.unserved_sentences(unserved))
    name = f"{AS_BILLED}, without {quantities.count(round(left), noun)}" if left else AS_BILLED
    return Traffic(
        (*([(name, first)] if as_billed else []), *found),
        file.left_out,
        sum(sums.lines for _, sums in file.counts.groups(rules)),
        (*doubts, *unpriced, *hours),
        notes=(*file.notes, *fees, *replayed.cost_sentences(said, first)),
        recorded=said,
        block_tokens=file.block_tokens,
        asks=missing,
        as_billed=as_billed,
        unpriced=left if as_billed else 0,
        parts=billed.parts(file.counts, rules, prices),
        noun=noun,
        days=file.counts.days,
        lacking=frozenset(lacking),
    )


def _at(prices: PriceList, own: Callable[[Group], PriceList | None] | None) -> Callable[[Group], PriceList | None]:
    """Prices for those groups alone that have some of their own, so that all bills are of the same requests."""
    whole = all_at(prices)
    return whole if own is None else lambda group: whole(group) if own(group) else None


def _other_rules(result: Replay) -> list[str]:
    if not (result.why.not_told and result.read_tokens):
        return []
    return ["The file says what was cached: other models are priced with the same cached and stored tokens."]


def is_open(result: Traffic, asked: Written) -> bool:
    """Whether a file leaves open how it is written, so that its reader must say it, or has said it."""
    return asked != Written() or any(SAY_IT in problem for problem in result.problems)


def subject(scenario: Scenario) -> str:
    """The prices and their day."""
    own = scenario.api == OWN
    return "own prices and rules" if own else f"{scenario.price.name}, prices of {scenario.prices}"


def sentence(scenario: Scenario, result: Traffic) -> str:
    """The result in words; a loss is called a loss."""
    own = result.own
    if not own.requests:
        return "No request of this file could be read."
    if result.asks:
        return result.asks
    cost, plain = own.cost_usd, own.cost_without_cache_usd
    name = "your own prices" if scenario.api == OWN else result.found[0][0]
    where = "as billed, each at its own model and day" if result.as_billed else f"at {name}"
    said = f"{_how_many(result)} cost {quantities.shown(float(cost), '$')} {where}"
    saved = float(1 - cost / plain) if plain else 0.0
    if abs(saved) < 0.0005:  # noqa: PLR2004 - what rounds to nothing
        return f"{said}; caching changes nothing."
    share = quantities.percent(abs(saved))
    if saved > 0:
        return f"{said}; caching saves {share}."
    return f"{said}; caching costs {share} more than no caching, a loss."


def _how_many(result: Traffic) -> str:
    """What was billed, of how much; lines that were not read have no number of requests, so these are lines then."""
    billed_, left = result.own.requests, result.unpriced
    each_line = result.lines == billed_ + left
    whole = billed_ + left + (result.left_out if each_line else 0)
    part_of = f" of {whole:,}" if whole > billed_ else ""
    said = f"{billed_:,}{part_of} {result.noun}{'' if whole == 1 else 's'}"
    if each_line or not result.left_out:
        return said
    return f"{said} in {result.lines:,} of {result.lines + result.left_out:,} lines"


def headline_numbers(result: Traffic) -> list[Headline]:
    """The four numbers on top; where the file covers less than a day, its requests in place of a month."""
    own, month = result.own, result.month_usd
    return [
        Headline("Cost", None if result.asks else float(own.cost_usd), "$"),
        Headline(f"{result.noun.capitalize()}s", own.requests, f"{result.noun}s")
        if month is None
        else Headline(f"A month of {DAYS} days at this rate", None if result.asks else month, "$"),
        Headline("Without caching", float(own.cost_without_cache_usd), "$"),
        Headline("Cached share of input", own.read_share, "%"),
    ]


def bar_rows(result: Traffic) -> dict[str, list[dict[str, Any]]]:
    """Dollars by kind of token, in each way."""
    rows = []
    for way, one in result.found:
        if way in result.lacking:
            continue
        start = 0.0
        for name, meaning, dollars in kinds(one):
            label = f"{name} {quantities.shown(dollars, '$')}"
            rows.append(
                {"way": way, "kind": name, "meaning": meaning, "start": start, "end": start + dollars, "label": label}
            )
            start += dollars
    return {"bars": rows}


def kind_table(result: Traffic) -> Table:
    """Where the money went: tokens and dollars by what they are billed as."""
    own = result.own
    rows = [
        (name, sum(own.tokens.of(kind) for kind in mine), sum(own.usd[kind] for kind in mine))
        for name, _, mine in KINDS
    ]
    cells = [Row(name.capitalize(), "word", (f"{count:,}", replayed.usd(usd))) for name, count, usd in rows]
    if own.over_tier:
        over = quantities.count(own.over_tier, "request")
        cells.append(Row(f"Of it for {over} over a tier", "word", ("", replayed.usd(own.over_tier_usd))))
    return Table(("tokens", "dollars"), tuple(cells), head="Billed as")


def month_sentence(result: Traffic) -> str:
    """How a month follows from the days of the file, in words."""
    if result.days is None:
        return "The file does not say when its requests came, so it has no days and no month."
    covered = quantities.shown(result.days * 86_400, "s")
    if result.month_usd is None:
        return f"The file covers {covered}, less than a day, so no month is made of it."
    return (
        f"The file covers {quantities.digits(round(result.days, 1))} days; a month of {DAYS} such days costs"
        f" {replayed.usd(Decimal(result.month_usd))}."
    )


_WHY: Final = {
    "never_seen": "first seen here",
    "gap_over_lifetime": "stored, but longer ago than the lifetime",
    "below_minimum": "in a start shorter than the minimum",
    "rest_of_block": "after the last whole block or step",
    "not_told": "the file does not say, or says itself what was read",
}


def why_table(result: Traffic) -> Table:
    """Why tokens were not read from the cache."""
    own = result.own
    unread = own.tokens.input - own.tokens.read
    cells = ((meaning, count) for name, meaning in _WHY.items() if (count := getattr(own.why, name)))
    rows = tuple(
        Row(meaning.capitalize(), "word", (f"{count:,}", quantities.percent(count / unread)))
        for meaning, count in cells
    )
    return Table(("tokens", "share"), rows, head="Input that was not cached")


def way_table(result: Traffic) -> Table:
    """The same requests at other lifetimes and on other models."""
    rows = (
        Row(
            name,
            "$",
            (
                "a price is missing" if name in result.lacking else float(one.cost_usd),
                float(one.cost_without_cache_usd),
                quantities.percent(one.read_share),
            ),
        )
        for name, one in result.found
    )
    return Table(("cost", "without a cache", "read"), tuple(rows), head="Model")
