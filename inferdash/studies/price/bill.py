"""The bill of a log by day and model at the list prices of each, and what the same tokens would cost elsewhere."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from inferdash.facts.money.price_names import longest, meant
from inferdash.facts.money.prices import UnknownModelError, price_list
from inferdash.facts.money.rates import KINDS, PriceList
from inferdash.pricing.bills import as_totals, bills
from inferdash.pricing.kept import Rules
from inferdash.pricing.replay import Replay
from inferdash.pricing.tally import Counts, Group
from inferdash.pricing.tokens import Tokens
from inferdash.studies.price import billed

BY: Final = ("model", "day", "month", "user")
"""What a bill can be parted by."""
NO_RULES: Final = Rules(minimum_tokens=1, increment_tokens=1, lifetime_s=1.0, renewed=False)
"""Rules of a cache that play no part, as the log says itself what was read."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC).date()

NOTHING: Final = Replay(
    requests=0, tokens=Tokens(), usd=dict.fromkeys(KINDS, Decimal(0)), cost_without_cache_usd=Decimal(0)
)
"""The bill of no request."""


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What a log costs."""

    whole: Replay
    """All requests whose model is in the list of prices."""
    parts: tuple[tuple[tuple[str, ...], Replay], ...]
    """The same in parts: what each is of, in the order asked, and its bill."""
    others: tuple[tuple[str, Replay, str], ...]
    """Name of another model, the same tokens at its prices of the same days, and why there is no bill, or ""."""
    problems: tuple[str, ...]
    """What is not in the bill, in sentences."""


def bill(
    counts: Counts, *, by: Sequence[str], against: Sequence[str], day: date, dialects: Collection[str] = ()
) -> Bill:
    """The bill of a log.

    Args:
        counts: what the log holds.
        by: members of `BY`.
        against: names of other models, as logs write them.
        day: the day of prices for requests whose own is not known.
        dialects: in which its lines were read, to be named where they lack what is asked for.

    Raises:
        ValueError: with a sentence, where `by` or `against` has what is not known.
    """
    if unknown := [name for name in by if name not in BY]:
        raise ValueError(f"--by: {unknown[0]} is not known; it takes {', '.join(BY)}.")
    if "user" in by and counts.told and not any(group.user for group in counts.told):
        named = f" ({', '.join(sorted(dialects))})" if dialects else ""
        raise ValueError(f"--by user: no line of this log{named} names a user or a key.")
    counts, totals = as_totals(counts, longest)
    own = billed.prices_of(day)
    whole = bills(counts, NO_RULES, own, lambda _: True).get(True, NOTHING)
    parts: dict[Any, Replay] = bills(counts, NO_RULES, own, lambda group: tuple(_part(group, name) for name in by))
    said = billed.unknown_sentences(billed.unknown(counts))
    said += billed.unserved_sentences(billed.unserved(counts, own))
    said += billed.fee_sentences(billed.fees(counts, own))
    said += [lacking] if (lacking := billed.lacks(counts, own)) else []
    if totals:
        said.append(
            f"{totals:,} of its lines are totals of a whole day, so long-prompt prices are not applied to them."
        )
    if any(counts.asked.values()):
        said.append("Requests that name the blocks of their prompts are not in the bill: inferdash replay reads them.")
    return Bill(
        whole=whole,
        parts=tuple(sorted(parts.items())) if by else (),
        others=tuple(_elsewhere(counts, name, day) for name in against),
        problems=tuple(said),
    )


def day_of(days: int) -> date:
    """The date of so many days since 1970."""
    return _EPOCH + timedelta(days=days)


def _part(group: Group, name: str) -> str:
    if name == "model":
        return group.model or "not named"
    if name == "user":
        return group.user or "not named"
    if group.day is None:
        return "no day"
    day = day_of(group.day).isoformat()
    return day if name == "day" else day[: len("2026-11")]


def _elsewhere(counts: Counts, name: str, day: date) -> tuple[str, Replay, str]:
    """The same tokens at the prices of another model."""
    found = meant(name)
    if found is None:
        raise ValueError(f"--against: {name[:80]} is not in the list of prices.")
    prices = _prices(found, day)
    replay = bills(counts, NO_RULES, prices, lambda _: True).get(True, NOTHING)
    unserved = sorted({group.service for group, _ in counts.groups(NO_RULES) if prices(group) is None})
    if unserved:
        return "/".join(found), replay, f"it has no price for the service {', '.join(unserved)} on each of the days"
    lacks = any(
        sums.written_long and (listed := prices(group)) is not None and listed.rates.write_long is None
        for group, sums in counts.told.items()
    )
    return "/".join(found), replay, "it has no price for what was stored for an hour" if lacks else ""


def _prices(found: tuple[str, str], day: date) -> Callable[[Group], PriceList | None]:
    def prices(group: Group) -> PriceList | None:
        try:
            return price_list(*found, day=day if group.day is None else day_of(group.day), service=group.service)
        except UnknownModelError:
            return None

    return prices


def rows(found: Bill, by: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each part as a row of a table: dollars are exact decimals."""
    for names, one in found.parts:
        yield dict(zip(by, names, strict=True)) | numbers(one)


def numbers(one: Replay) -> dict[str, Any]:
    """Tokens and dollars of a bill."""
    tokens = {f"{kind}_tokens": one.tokens.of(kind) for kind in KINDS}
    return {"requests": one.requests, **tokens, "usd": exact(one.cost_usd)}


def exact(usd: Decimal) -> str:
    """Dollars to their last digit."""
    text = f"{usd:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def text(found: Bill, by: Sequence[str]) -> str:
    """The bill for a terminal."""
    head = (*by, "requests", "input", "cached", "output", "cost")
    table = [head, *((*names, *_cells(one)) for names, one in found.parts)]
    table.append((*(("all", *[""] * (len(by) - 1)) if by else ()), *_cells(found.whole)))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) if place < len(by) else cell.rjust(width)
                  for place, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in table
    ]  # fmt: skip
    for name, one, lacks in found.others:
        lines.append(f"at {name}: {f'no bill, as {lacks}' if lacks else f'${exact(one.cost_usd)}'}")
    return "\n".join(lines)


def _cells(one: Replay) -> tuple[str, ...]:
    tokens = one.tokens
    return (
        f"{one.requests:,}", f"{tokens.input:,}", f"{tokens.read:,}", f"{tokens.output:,}", f"${exact(one.cost_usd)}"
    )  # fmt: skip
