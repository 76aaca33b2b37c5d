"""What the reader's own requests cost, why tokens were not read from the cache, and what other rules would cost."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.prices import Kind, PriceList, Rates
from inferdash.pricing.blocks import NAMES, SAY_IT, Written
from inferdash.pricing.packed import Readable
from inferdash.pricing.recorded import Ledger, Recorded
from inferdash.pricing.replay import Replay, Rules, replays
from inferdash.pricing.traces import Trace
from inferdash.scenario import OWN, Scenario
from inferdash.studies.numbers import Headline, Row, Table
from inferdash.studies.price import api

NAME: Final = "traffic"
TITLE: Final = "Your traffic"
QUESTION: Final = "What did your requests cost, and what does caching save?"
FILES: Final = """
Upload what your requests were; they are read one after another through the rules of the cache below.

- A log of usage, CSV or JSON: the usage objects of APIs as they return them, the logs of gateways and of tools that
  observe, the exports of consoles, or columns of your own. docs/files.md lists what is read.
- The session files of a coding assistant, or a ZIP archive of them.
- A trace that names the blocks of its prompts, as those of Mooncake and Bailian do.

What is not understood is left out and named.

The file stays in the memory of this server while the page is open; nothing of it is stored, logged or sent on.
The example is the first 20 minutes of a public trace of a chat service, from Mooncake.
"""

BLOCK: Final = "_block"
"""Where a page keeps the tokens of a block that its reader says."""
UNIT: Final = "_unit"
"""Where it keeps the unit of times."""
_UNITS: Final = {"as its numbers say": ""} | {name: unit for unit, name in NAMES.items()}
UNIT_NAMES: Final = tuple(_UNITS)


@dataclass(frozen=True)
class Way:
    """Prices and the rules of a cache, under a name."""

    name: str
    rules: Rules
    prices: PriceList


@dataclass(frozen=True)
class Traffic:
    """What came of a file."""

    found: tuple[tuple[str, Replay], ...]
    """The name of each way, and what the requests are billed in it; the scenario's own is the first."""
    left_out: int
    """Lines or requests that were not read."""
    problems: tuple[str, ...]
    """What the reader should know about the file, in sentences."""
    notes: tuple[str, ...] = ()
    """How the file was understood, in sentences."""
    recorded: Recorded | None = None
    """What the file itself says of cost, beside the scenario's prices."""
    block_tokens: int = 0
    """Tokens of a block, where the file is a trace that names blocks."""
    asks: str = ""
    """The price that is missing for the scenario's bill, in a sentence."""

    @property
    def own(self) -> Replay:
        """The bill at the scenario's prices and rules."""
        return self.found[0][1]


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
    return Way(name, kept, price)


def _stored_at(rates: Rates, factor: Decimal) -> Rates:
    """Rates at which storing costs a multiple of the input."""
    return replace(rates, write=rates.input * factor)


def written(block: int | None, unit: str | None) -> Written:
    """How the reader says that a trace is written; what is not said follows from the trace."""
    return Written(block_tokens=block or 0, unit=_UNITS.get(unit or "", ""))


def is_open(result: Traffic) -> bool:
    """Whether a trace leaves open how it is written, so that its reader must say it."""
    return any(SAY_IT in problem for problem in result.problems)


def study(stream: Readable, asked: tuple[Way, ...], written: Written | None = None) -> Traffic:
    """Reads a file once and bills its requests in each way.

    Args:
        stream: a file that is open for bytes.
        asked: prices and rules, the scenario's own first.
        written: tokens of a block and unit of times, where the reader says them.

    Raises:
        OSError: where the file cannot be read.
    """
    trace = Trace(stream, written)
    ledger = Ledger(asked[0].prices)
    results = replays(ledger.watched(trace), [(way.rules, way.prices) for way in asked])
    found = tuple((way.name, result) for way, result in zip(asked, results, strict=True))
    said = [*trace.problems, *problems(results[0], asked[0].prices)]
    if results[0].why.not_told and results[0].read_tokens:
        said.append("The file says itself what was read and stored: other rules and models change the prices alone.")
    named = sorted(trace.models)
    if len(named) == 1 and named[0] not in {asked[0].prices.model, ""} and results[0].requests:
        said.append(f"The file names the model {named[0][:80]}; choose it as the API model to see its own prices.")
    recorded = ledger.recorded()
    return Traffic(
        found,
        trace.left_out,
        tuple(said),
        notes=(*trace.notes, *cost_sentences(recorded, results[0])),
        recorded=recorded,
        block_tokens=trace.block_tokens,
        asks=asks(results[0], asked[0].prices),
    )


def cost_sentences(recorded: Recorded | None, result: Replay) -> list[str]:
    """What the file says that its requests cost, what they cost at the prices, and the difference."""
    if recorded is None:
        return []
    which = "its requests" if recorded.requests == result.requests else f"{recorded.requests:,} of its requests"
    more = "more" if recorded.difference_usd >= 0 else "less"
    own, here, apart = _usd(recorded.usd), _usd(recorded.priced_usd), _usd(abs(recorded.difference_usd))
    return [f"The file itself says that {which} cost {own}; at these prices they cost {here}. It has {apart} {more}."]


def asks(result: Replay, prices: PriceList) -> str:
    """The price without which there is no bill, in a sentence; nothing where none is missing."""
    if not result.tokens.written_long or prices.rates.write_long is not None:
        return ""
    return (
        f"{result.tokens.written_long:,} tokens were stored for an hour, and these prices have none for that: say what"
        " a million of them cost (write_long)."
    )


def problems(result: Replay, prices: PriceList) -> list[str]:
    """What a reader should know about a replay, in sentences."""
    sentences = []
    if result.forgotten_blocks:
        sentences.append(f"{result.forgotten_blocks:,} blocks were forgotten early, as there were too many to keep.")
    if missing := asks(result, prices):
        sentences.append(missing)
    return sentences


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
    said = f"{quantities.count(own.requests, 'request')} cost {quantities.shown(float(cost), '$')} at {name}"
    saved = float(1 - cost / plain) if plain else 0.0
    if abs(saved) < 0.0005:  # noqa: PLR2004 - what rounds to nothing
        return f"{said}; caching changes nothing."
    share = quantities.percent(abs(saved))
    if saved > 0:
        return f"{said}; caching saves {share}."
    return f"{said}; caching costs {share} more than none, a loss."


def headline_numbers(result: Traffic) -> list[Headline]:
    """The four numbers on top."""
    own = result.own
    return [
        Headline("Cost", None if result.asks else float(own.cost_usd), "$"),
        Headline("Without a cache", float(own.cost_without_cache_usd), "$"),
        Headline("Read from the cache, of the input", own.read_share, "%"),
        Headline("Requests", own.requests, "requests"),
    ]


_KINDS: Final[tuple[tuple[str, str, tuple[Kind, ...]], ...]] = (
    ("fresh", "compute", ("fresh",)),
    ("stored", "memory", ("written", "written_long")),
    ("read", "cache", ("read",)),
    ("output", "money", ("output",)),
)


def bar_rows(result: Traffic) -> dict[str, list[dict[str, Any]]]:
    """Dollars by kind of token, in each way."""
    rows = []
    for way, one in result.found:
        start = 0.0
        for name, meaning, kinds in _KINDS:
            dollars = float(sum(one.usd[kind] for kind in kinds))
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
        (name, sum(own.tokens.of(kind) for kind in kinds), sum(own.usd[kind] for kind in kinds))
        for name, _, kinds in _KINDS
    ]
    cells = [Row(name.capitalize(), "word", (f"{count:,}", _usd(usd))) for name, count, usd in rows]
    if own.over_tier:
        over = quantities.count(own.over_tier, "request")
        cells.append(Row(f"Of it for {over} over a tier", "word", ("", _usd(own.over_tier_usd))))
    return Table(("tokens", "dollars"), tuple(cells), head="Billed as")


def _usd(dollars: Decimal | int) -> str:
    return str(quantities.shown(float(dollars), "$"))


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
    return Table(("tokens", "share"), rows, head="Not read, as they were")


def way_table(result: Traffic) -> Table:
    """The same requests at other lifetimes and on other models."""
    rows = (
        Row(
            name,
            "$",
            (float(one.cost_usd), float(one.cost_without_cache_usd), quantities.percent(one.read_share)),
        )
        for name, one in result.found
    )
    return Table(("cost", "without a cache", "read"), tuple(rows), head="Model")
