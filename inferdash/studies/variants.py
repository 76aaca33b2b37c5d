"""Several values of one field, side by side: a row a variant, a column a headline number."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from inferdash import links, quantities
from inferdash.links import Problem
from inferdash.scenario import FIELDS, Choices, Scenario, Several, counts, is_number, mark
from inferdash.studies import comparison, differing
from inferdash.studies.comparison import figures
from inferdash.studies.numbers import Headline, Row, Table, literal, show
from inferdash.validated import Quantity

MOST: Final = 8
"""Variants that a table holds."""
_APART: Final = re.compile(r"\s*;\s*|\s*,\s+|\s*\n\s*")
_COMMAS: Final = re.compile(r"\s*,\s*")


@dataclass(frozen=True)
class Variants:
    """A scenario with some values of one of its fields."""

    field: str
    scenarios: tuple[Scenario, ...]
    """Those that could be read, each once."""
    problems: tuple[Problem, ...]


def fields(scenario: Scenario) -> dict[str, str]:
    """The fields that count in a scenario and have more than one value to compare: name -> title."""
    return {
        name: str(FIELDS[name].title)
        for name in FIELDS
        if counts(name, scenario)
        and not mark(name, Several)
        and (
            mark(name, Choices) or is_number(name) or mark(name, Quantity) or isinstance(getattr(scenario, name), bool)
        )
    }


def values(text: str) -> list[str]:
    """The values of a list such as "1, 16, 64", "1,000; 2,000" or "80 GB, 141 GB"."""
    parts = [part for part in _APART.split(text.strip()) if part]
    if len(parts) == 1:
        try:
            quantities.number(parts[0])
        except ValueError:  # commas alone are between values where the whole is no number
            parts = [part for part in _COMMAS.split(parts[0]) if part]
    return parts


def variants(scenario: Scenario, field: str, given: Sequence[Any]) -> Variants:
    """The scenario with each value of a field, and what could not be read of them, or is too much."""
    found: dict[Scenario, None] = {}
    problems: list[Problem] = []
    for value in given[:MOST]:
        one, unread = links.read({field: value}, scenario)
        problems += unread
        if not unread:
            found[one] = None
    if len(given) > MOST:
        problems.append(Problem(field, f"There are {len(given):,} values; the table has the first {MOST}."))
    return Variants(field, tuple(found), tuple(problems))


def table(page: str, found: Variants, *, address: str = "") -> Table:
    """The headline numbers of a page for each variant; what one does not have is empty.

    Args:
        page: its name.
        found: the variants.
        address: of the page, by which each row is a link; without one a row is text.
    """
    shown = [{one.name: one for one in figures(page, scenario, of=found.field)} for scenario in found.scenarios]
    names = list(dict.fromkeys(name for row in shown for name in row))
    heads = [_head(name, [row[name] for row in shown if name in row]) for name in names]
    batches = [len({_batch(row[name]) for row in shown if name in row}) > 1 for name in names]
    rows = []
    for scenario, row in zip(found.scenarios, shown, strict=True):
        label = differing.said(found.field, scenario)
        if address:
            label = f"[{literal(label)}]({address}?{links.encode(scenario)})"
        cells = (_cell(row.get(name), batch=batch) for name, batch in zip(names, batches, strict=True))
        rows.append(Row(label, "word", tuple(cells)))
    return Table(tuple(heads), tuple(rows), head=str(FIELDS[found.field].title))


def note(found: Variants) -> str:
    """At which rent accelerators stand beside each other, and what sellers ask for each; empty of any other field."""
    if found.field != "accelerator" or not found.scenarios:
        return ""
    chips = [one.hardware for one in found.scenarios]
    asked = [f"{chip.name} ${chip.rent.middle:,.2f}" for chip in chips if chip.rent]
    sellers = f" Sellers ask at the median: {', '.join(asked)}." if asked else ""
    return f"Dollars are at ${found.scenarios[0].rent:g} a GPU-hour for each.{sellers}"


def records(page: str, found: Variants) -> list[dict[str, Any]]:
    """The same numbers in base units, with the link of each variant."""
    rows = []
    for scenario in found.scenarios:
        row: dict[str, Any] = {found.field: links.written(found.field, getattr(scenario, found.field))}
        row |= {f"{one.label}, {one.unit}": one.value for one in figures(page, scenario, of=found.field)}
        rows.append(row | {"link": f"?{links.encode(scenario)}"})
    return rows


def _head(name: str, shown: Sequence[Headline]) -> str:
    """The name with its kind, where all are of one kind."""
    kinds = {one.kind for one in shown}
    return f"{name} ({kinds.pop()})" if len(kinds) == 1 and "" not in kinds else name


def _batch(one: Headline) -> str:
    found = comparison.BATCH.search(one.label)
    return found[0] if found else ""


def _cell(one: Headline | None, *, batch: bool) -> str:
    if one is None:
        return "–"
    said = show(one.value, one.unit)
    return f"{said} ({_batch(one)})" if batch and _batch(one) else said
