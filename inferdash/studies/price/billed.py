"""Requests of a file at the prices of their own models and days, by day and by model."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.money.price_names import meant
from inferdash.facts.money.prices import UnknownModelError, price_list
from inferdash.facts.money.rates import Kind, PriceList
from inferdash.pricing.bills import bills
from inferdash.pricing.kept import Rules
from inferdash.pricing.replay import Replay
from inferdash.pricing.tally import Counts, Group
from inferdash.studies.numbers import Row, Table, literal

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC).date()
_MOST_DAYS: Final = 92
"""Days beyond which a chart has a bar a month."""
_SOME: Final = 5
"""Models that a sentence names at most."""


@dataclass(frozen=True)
class Part:
    """What the requests of a day to a model cost."""

    day: int | None
    """Days since 1970; None where it is not known."""
    model: str
    """As the file names it; "" where it names none."""
    bill: Replay


def prices_of(day: date) -> Callable[[Group], PriceList | None]:
    """The list prices of a group's own model on its own day, or on the day given where its own is not known."""

    def prices(group: Group) -> PriceList | None:
        found = meant(group.model) if group.model else None
        if found is None:
            return None
        at = day if group.day is None else _EPOCH + timedelta(days=group.day)
        try:
            return price_list(*found, day=at, service=group.service)
        except UnknownModelError:
            return None

    return prices


def unknown(counts: Counts) -> dict[str, int]:
    """Models that are not in the list of prices -> their requests; "" where a request names none."""
    found: dict[str, int] = {}
    for group, sums in counts.told.items():
        if not group.model or meant(group.model) is None:
            found[group.model] = found.get(group.model, 0) + sums.requests
    return found


def unserved(counts: Counts, prices: Callable[[Group], PriceList | None]) -> dict[tuple[str, str], int]:
    """Models that are in the list of prices, and a service for which they have none there -> their requests."""
    found: dict[tuple[str, str], int] = {}
    for group, sums in counts.told.items():
        if group.model and meant(group.model) and prices(group) is None:
            key = group.model, group.service
            found[key] = found.get(key, 0) + sums.requests
    return found


def lacks(counts: Counts, prices: Callable[[Group], PriceList | None]) -> str:
    """Which model has no price for what was stored for an hour, in a sentence; nothing where none lacks it."""
    for group, sums in counts.told.items():
        found = prices(group)
        if sums.written_long and found is not None and found.rates.write_long is None:
            return (
                f"{sums.written_long:,} tokens were stored for an hour at {group.model[:60]}, and the list of prices"
                " has none for that."
            )
    return ""


def unknown_sentences(found: dict[str, int]) -> list[str]:
    """Which models have no price, and how many requests went to them."""
    named = sorted((name for name in found if name), key=lambda name: -found[name])
    said = []
    if named:
        more = f" and {len(named) - _SOME} more" if len(named) > _SOME else ""
        shown = ", ".join(f"{name[:60]} ({quantities.count(found[name], 'request')})" for name in named[:_SOME])
        said.append(f"Not in the list of prices, so not in the bill of their own models: {shown}{more}.")
    if "" in found and len(found) > len(named):
        said.append(f"{quantities.count(found[''], 'request')} without a model: not in the bill of their own models.")
    return said


def unserved_sentences(found: dict[tuple[str, str], int]) -> list[str]:
    """Which services of which models have no price, and how many requests they answered."""
    return [
        f"The list of prices has none for {model[:60]} by the service “{service}”, so"
        f" {quantities.count(many, 'request')} of it {'is' if many == 1 else 'are'} not in the bill."
        for (model, service), many in found.items()
    ]


def fees(counts: Counts, prices: Callable[[Group], PriceList | None]) -> dict[str, tuple[int, Decimal]]:
    """What is billed beside tokens at a known price, each at its own model and day: how many, and dollars."""
    found: dict[str, tuple[int, Decimal]] = {}
    for (day, model, what), many in counts.apart.items():
        listed = prices(Group(day, model, 0, said=False))
        fee = dict(listed.fees).get(what) if listed else None
        if fee is not None:
            before, usd = found.get(what, (0, Decimal(0)))
            found[what] = before + many, usd + fee * many / 1000
    return found


def fee_sentences(found: dict[str, tuple[int, Decimal]]) -> list[str]:
    """What the fees come to, beside the tokens."""
    if not found:
        return []
    each = ", ".join(f"{many:,} {what} for {quantities.shown(float(usd), '$')}" for what, (many, usd) in found.items())
    whole = quantities.shown(float(sum(usd for _, usd in found.values())), "$")
    return [f"Fees at list prices add {whole} to the tokens: {each}."]


def parts(counts: Counts, rules: Rules, prices: Callable[[Group], PriceList | None]) -> tuple[Part, ...]:
    """The bill by day and model, the days in their order."""
    found: dict[Any, Replay] = bills(counts, rules, prices, lambda group: (group.day, group.model))
    ordered = sorted(found, key=lambda key: (key[0] is None, key[0] or 0, key[1]))
    return tuple(Part(day, model, found[day, model]) for day, model in ordered)


def priced_as(model: str) -> str:
    """Under which name of the list a model of a file is billed."""
    found = meant(model) if model else None
    return "/".join(found) if found else "not in the list"


def model_table(found: tuple[Part, ...], *, own: bool, noun: str = "request") -> Table:
    """Requests, tokens and dollars of each model, the dearest first; `own`: at the prices of each."""
    sums: dict[str, list[float]] = {}
    for part in found:
        one, tokens = part.bill, part.bill.tokens
        row = sums.setdefault(part.model, [0, 0, 0, 0, 0.0])
        for place, more in enumerate((one.requests, tokens.input, tokens.read, tokens.output, float(one.cost_usd))):
            row[place] += more
    whole = sum(row[-1] for row in sums.values())
    rows = []
    for model, (requests, prompts, read, output, usd) in sorted(sums.items(), key=lambda item: -item[1][-1]):
        share = quantities.percent(usd / whole if whole else 0.0)
        cells = (_usd(usd), share, f"{requests:,.0f}", f"{prompts:,.0f}", f"{read:,.0f}", f"{output:,.0f}")
        rows.append(Row(_plain(model), "word", (*cells, *([priced_as(model)] if own else []))))
    columns = ("cost", "share", f"{noun}s", "input tokens", "of it cached", "output tokens")
    return Table((*columns, *["priced as"] * own), tuple(rows), head="Model")


def _plain(model: str) -> str:
    """A name of a file that no reader of Markdown takes for markup or an address."""
    kept = "".join(c if c.isalnum() or c in "-._:/ " else "?" for c in model)
    return literal(kept.replace("://", ":?/").replace("www.", "www?")) or "not named"


def _day(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


def day_rows(found: tuple[Part, ...]) -> dict[str, list[dict[str, Any]]]:
    """Dollars by day, those without a request included, or by month where there are many: a bar each, by kind."""
    dated = [part for part in found if part.day is not None]
    days = [part.day or 0 for part in dated]
    between = range(min(days, default=0), max(days, default=-1) + 1)
    long = len(between) > _MOST_DAYS
    first, meaning, _ = KINDS[0]
    sums: dict[tuple[str, str, str], float] = {} if long else {(_day(day), first, meaning): 0.0 for day in between}
    for part in dated:
        at = _day(part.day or 0)[: len("2026-11") if long else None]
        for name, meaning, usd in kinds(part.bill):
            sums[at, name, meaning] = sums.get((at, name, meaning), 0.0) + usd
    return {
        "days": [
            {
                "day": at,
                "place": _PLACES[name],
                "meaning": meaning,
                "usd": usd,
                "label": f"{name} {quantities.shown(usd, '$')}",
            }
            for (at, name, meaning), usd in sums.items()
        ]
    }


def day_table(found: tuple[Part, ...], *, noun: str = "request") -> Table:
    """Requests, tokens and dollars of each day."""
    sums: dict[int, list[float]] = {}
    for part in found:
        if part.day is not None:
            one, tokens = part.bill, part.bill.tokens
            row = sums.setdefault(part.day, [0, 0, 0, 0, 0.0])
            for place, more in enumerate((one.requests, tokens.input, tokens.read, tokens.output, float(one.cost_usd))):
                row[place] += more
    rows = (
        Row(_day(day), "word", (f"{count:,.0f}", f"{prompts:,.0f}", f"{read:,.0f}", f"{output:,.0f}", _usd(usd)))
        for day, (count, prompts, read, output, usd) in sorted(sums.items())
    )
    return Table((f"{noun}s", "input tokens", "of it cached", "output tokens", "cost"), tuple(rows), head="Day")


KINDS: Final[tuple[tuple[str, str, tuple[Kind, ...]], ...]] = (
    ("input", "compute", ("fresh",)),
    ("cache write", "memory", ("written", "written_long")),
    ("cached input", "cache", ("read",)),
    ("output", "money", ("output",)),
)
"""What a part of a bill is called, the meaning of its colour, and the kinds of tokens in it."""


_PLACES: Final = {name: place for place, (name, *_) in enumerate(KINDS)}


def kinds(one: Replay) -> list[tuple[str, str, float]]:
    """Dollars of a bill by kind of token: name, meaning of its colour, dollars."""
    return [(name, meaning, float(sum(one.usd[kind] for kind in parts_))) for name, meaning, parts_ in KINDS]


def _usd(dollars: float) -> str:
    return str(quantities.shown(dollars, "$"))
