"""What the reader's own requests cost, why tokens were not read from the cache, and what other rules would cost."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.money.price_names import edges, longest
from inferdash.facts.money.rates import PriceList, Rates
from inferdash.pricing.bills import all_at, as_totals, bill
from inferdash.pricing.feature import DAYS
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.blocks import NAMES, SAY_IT, Written
from inferdash.pricing.logs.dates import Order
from inferdash.pricing.logs.engines import engine
from inferdash.pricing.logs.packed import Folder, Readable
from inferdash.pricing.logs.recorded import Recorded, recorded
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.replay import Replay
from inferdash.pricing.tally import Counts, Group, counted
from inferdash.scenario import FIELDS, OWN, Scenario
from inferdash.studies.numbers import Headline, Row, Table
from inferdash.studies.price import api, billed, places, replayed
from inferdash.studies.price.billed import KINDS, Part, kinds

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

_BLOCK_BYTES: Final = 1 << 23
_MEMORY: Final = "50MB"
"""Bytes at once, and memory of ids, of an engine that reads for a page: readers of a server share its memory."""
BLOCK: Final = "_block"
"""Where a page keeps the tokens of a block that its reader says."""
UNIT: Final = "_unit"
"""Where it keeps the unit of times."""
_UNITS: Final = {"inferred": ""} | {name: unit for unit, name in NAMES.items()}
UNIT_NAMES: Final = tuple(_UNITS)
DATES: Final = "_dates"
"""Where it keeps the order of dates."""
_ORDERS: Final[dict[str, Order]] = {"inferred": "", "month first (11/30/2026)": "month", "day first": "day"}
ORDER_NAMES: Final = tuple(_ORDERS)


@dataclass(frozen=True)
class Way:
    """Prices and the rules of a cache, under a name."""

    name: str
    rules: Rules
    prices: PriceList
    as_started: bool = False
    """Whether these are the prices that everyone starts with, so that nobody asked for them."""


@dataclass(frozen=True)
class File:
    """What a file holds, in sums that are small however long it is: its bill at any prices follows from them."""

    counts: Counts
    left_out: int
    """Lines or requests that were not read."""
    problems: tuple[str, ...]
    """What the reader should know about the file, in sentences."""
    notes: tuple[str, ...] = ()
    """How the file was understood, in sentences."""
    block_tokens: int = 0
    """Tokens of a block, where the file is a trace that names blocks."""
    models: tuple[str, ...] = ()
    """Models that it names."""
    totals: int = 0
    """Its lines that sum up a whole day."""
    written: Written = field(default_factory=Written)
    """What the reader said of how it is written."""

    def answers(self, rules: Collection[Rules], written: Written) -> bool:
        """Whether its bill follows under rules of a cache, without reading it again."""
        known = not any(self.counts.asked.values()) or set(rules) <= set(self.counts.asked)
        return known and written == self.written


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


def ways(scenario: Scenario) -> tuple[Way, ...]:
    """The scenario's prices and rules, the other lifetimes of its API, then the models that the reader compares."""
    others = (other for _, other in api.compared_with(scenario) if other.api != scenario.api)
    return (*_lifetimes(scenario), *(_way(other, 0) for other in others))


def _lifetimes(scenario: Scenario) -> Iterator[Way]:
    rules = api.rules_of(scenario.price)
    for lifetime in range(len(rules.lifetimes) if rules else 1):
        yield _way(scenario, lifetime)


def _way(scenario: Scenario, lifetime: int) -> Way:
    price = scenario.price
    rules = api.rules_of(price)
    plain = api.resolved(scenario, lifetime=lifetime)
    name = price.name
    if rules and lifetime:
        name = f"{name}, {quantities.shown(plain.lifetime, 's')}"
        factor = Decimal(str(plain.write))
        price = replace(
            price,
            rates=_stored_at(price.rates, factor),
            tiers=tuple(replace(tier, rates=_stored_at(tier.rates, factor)) for tier in price.tiers),
        )
    kept = Rules(
        minimum_tokens=plain.minimum,
        increment_tokens=plain.increment,
        lifetime_s=plain.lifetime,
        renewed=plain.renewed,
    )
    started = scenario.api == OWN and all(
        getattr(scenario, field) == FIELDS[field].default for field in ("input_usd", "output_usd", "read", "write")
    )
    return Way(name, kept, price, started)


def _stored_at(rates: Rates, factor: Decimal) -> Rates:
    """Rates at which storing costs a multiple of the input."""
    return replace(rates, write=rates.input * factor)


def written(block: int | None, unit: str | None, dates: str | None) -> Written:
    """How the reader says that a file is written; what is not said follows from the file."""
    return Written(block_tokens=block or 0, unit=_UNITS.get(unit or "", ""), dates=_ORDERS.get(dates or "", ""))


def is_open(result: Traffic, asked: Written) -> bool:
    """Whether a file leaves open how it is written, so that its reader must say it, or has said it."""
    return asked != Written() or any(SAY_IT in problem for problem in result.problems)


def rules_of(asked: Sequence[Way]) -> tuple[Rules, ...]:
    """The rules of caches that play a part in some ways, each once."""
    return tuple(dict.fromkeys(way.rules for way in asked))


def read(stream: Readable, rules: tuple[Rules, ...], written: Written | None = None) -> File:
    """Reads a file once.

    Args:
        stream: a file that is open for bytes.
        rules: of the caches that prompts go through, where the file tells what they have in common.
        written: tokens of a block, unit of times and order of dates, where the reader says them.

    Raises:
        OSError: where the file cannot be read.
    """
    trace = Trace(stream, written, engine=engine(_size(stream), block=_BLOCK_BYTES, memory=_MEMORY))
    return _file(trace, counted(trace, rules, edges()), written)


def read_at(place: str, rules: tuple[Rules, ...], written: Written | None = None) -> File:
    """Reads a file or a folder where it lies, or a table of a database, as `read`.

    Args:
        place: as the reader of a page names it; only what `places` allows is read.
        rules: as `read`.
        written: as `read`.
    """
    known = places.tables()
    try:
        if place in known:
            from inferdash.pricing.columns.warehouse import Warehouse  # noqa: PLC0415 - its packages may not be there

            records = Records(written or Written())
            requests = Warehouse(*known[place]).requests(records)
            return _file(records, counted(records.told.counted(requests), rules, edges()), written)
        files = Folder(places.allowed(place))
        trace = Trace(files, written, engine=engine(files.size, block=_BLOCK_BYTES, memory=_MEMORY))
        return _file(trace, counted(trace, rules, edges()), written)
    except ModuleNotFoundError:
        return File(Counts(), 1, ("A table needs more packages on this server: pip install 'inferdash[logs]'.",))
    except (ValueError, OSError) as error:
        return File(Counts(), 1, (str(error),))


def _file(trace: Trace | Records, counts: Counts, written: Written | None) -> File:
    counts, totals = as_totals(counts, longest)
    said = []
    if totals:
        lines = "1 line is" if totals == 1 else f"{totals:,} lines are"
        said.append(
            f"{lines} taken for totals of a day, so long-prompt prices are not applied there. If each is one request,"
            " add its time to the date."
        )
    return File(
        counts,
        trace.left_out,
        trace.problems,
        notes=(*trace.notes, *said),
        block_tokens=trace.block_tokens,
        models=tuple(sorted(trace.models)),
        totals=totals,
        written=written or Written(),
    )


def _size(stream: Any) -> int:
    """Bytes of a file that lies on a disk; 0 of others, whose end is not known."""
    try:
        return os.fstat(stream.fileno()).st_size
    except (AttributeError, OSError, ValueError):
        return 0


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
