"""What a study returns: frozen numbers, each with its label and unit."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final, NamedTuple

from inferdash import quantities
from inferdash.formula import Number
from inferdash.studies.ratios import Ratio


def number(unit: str | None, label: str) -> Any:
    """A field of a result.

    Args:
        unit: its base unit, as `quantities.shown` knows it; "word" for a word, None for that of the part it is in.
        label: what it is called on the page.
    """
    return field(metadata={"unit": unit, "label": label})


def part(label: str, unit: str | None = None) -> Any:
    """A field of a result that holds further numbers, with the unit of those that have none of their own."""
    return field(metadata={"unit": unit, "label": label})


EXPECTED: Final = "expected"
"""What a scenario shows first, unless it asks for the limit."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_FEW: Final = 2
"""Words that a number may have about it, as in "$2 to $3"."""
_WORDS: Final = {"memory": "memory bandwidth"}
"""What a page calls the bounds, whose names in the report are those of the field."""


@dataclass(frozen=True)
class Line:
    """One number of a result."""

    path: str
    """Its place, as in the JSON report: "decode.pass_s"."""
    labels: tuple[str, ...]
    """Its label, after those of the parts that it lies in."""
    value: Any
    unit: str

    @property
    def shown(self) -> str:
        """The value with its unit, as a page shows it."""
        return show(self.value, self.unit)


def lines(result: Any, path: str = "", labels: tuple[str, ...] = (), unit: str = "") -> Iterator[Line]:
    """Every number of a result, in order; `unit` is that of numbers without one of their own."""
    for one in fields(result):
        value, inner = getattr(result, one.name), f"{path}.{one.name}".lstrip(".")
        names = (*labels, one.metadata["label"])
        own = unit if one.metadata["unit"] is None else one.metadata["unit"]
        if is_dataclass(value):
            yield from lines(value, inner, names, own)
        else:
            yield Line(inner, names, value, own)


@dataclass(frozen=True)
class Estimate:
    """A number at the limit and as it is expected, with its band; None where it is not known."""

    limit: float | None = number(None, "limit")
    expected: float | None = number(None, "expected")
    low: float | None = number(None, "expected, lower end")
    high: float | None = number(None, "expected, upper end")

    def of(self, function: Callable[[float], float]) -> "Estimate":
        """The same of a number that follows from this one, growing with it or falling."""
        values = [None if one is None else function(one) for one in (self.limit, self.expected, self.low, self.high)]
        if values[2] is not None and values[3] is not None:
            values[2:] = sorted(one for one in values[2:] if one is not None)
        return Estimate(*values)

    def said(self, unit: str) -> str:
        """What is expected, in words; nothing where that is not known."""
        if self.expected is None or self.low is None or self.high is None:
            return ""
        middle, low, high = (quantities.shown(one, unit) for one in (self.expected, self.low, self.high))
        alike = low.unit == middle.unit == high.unit
        return f"expected {middle} ({low.number if alike else low} to {high.number if alike else high})"


class Headline(NamedTuple):
    """A number on top of a page."""

    label: str
    value: float | None
    unit: str
    beside: str = ""
    """What stands below it: the expectation of a limit, or the band and the limit of what is expected."""
    of: str = ""
    """What it is in every scenario, where the label says more: "Total throughput" of "Total throughput, batch 64"."""
    ratio: Ratio | None = None
    """How its ratio in two scenarios is said; None for shares, which are said both."""
    band: tuple[float, float] | None = None
    """Where four of five measurements lie of what is expected; None of a limit, or where no band is known."""

    @property
    def name(self) -> str:
        """By which the same number of another scenario is found."""
        return self.of or self.label.removesuffix(f" ({self.kind})")

    @property
    def kind(self) -> str:
        """Whether it is a limit or an expectation; empty where there is but one such number."""
        return next((kind for kind in ("limit", EXPECTED) if f"({kind})" in self.label), "")

    @property
    def shown(self) -> str:
        """The number with its unit, as a page shows it."""
        return show(self.value, self.unit)

    def told(self) -> dict[str, Any]:
        """It for a program: its label, its value in its base unit, and what the page shows of it."""
        unit = "share" if self.unit == "%" else self.unit
        return {"label": self.label, "value": self.value, "unit": unit, "shown": self.shown, "beside": self.beside}


def at_limit(label: str, one: Estimate, unit: str, *, of: str = "", ratio: Ratio | None = None) -> Headline:
    """A number whose limit is the lesson, what is expected below it."""
    return Headline(f"{label} (limit)", one.limit, unit, one.said(unit), of, ratio)


def leading(
    label: str, one: Estimate, unit: str, *, speed: str = EXPECTED, of: str = "", ratio: Ratio | None = None
) -> Headline:
    """A number as it is expected, its band and the limit below; the limit first where that is asked for or known alone.

    Args:
        label: what it is called.
        one: the number.
        unit: its base unit.
        speed: which of the two the scenario shows.
        of: what it is in every scenario, where the label says more.
        ratio: how its ratio in two scenarios is said.
    """
    if one.expected is None or speed != EXPECTED:
        return at_limit(label, one, unit, of=of, ratio=ratio)
    middle = quantities.shown(one.expected, unit)
    known = (one.low or 0.0) < (one.high or 0.0)
    ends = [quantities.shown(value or 0.0, unit) for value in (one.low, one.high)] if known else []
    alike = all(text.unit == middle.unit for text in ends)  # a unit is said of both ends or of none
    band = " to ".join(text.number if alike else str(text) for text in ends)
    most = None if one.limit is None else quantities.shown(one.limit, unit)
    ceiling = "" if most is None else f"limit {most.number if alike and most.unit == middle.unit else most}"
    beside = ", ".join(filter(None, (band, ceiling)))
    held = (one.low or 0.0, one.high or 0.0) if known else None
    return Headline(f"{label} (expected)", one.expected, unit, beside, of, ratio, held)


@dataclass(frozen=True)
class Row:
    """One quantity across the columns of a table."""

    label: str
    unit: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A table of quantities: what is shown and what is downloaded come from the same rows."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    head: str = "Quantity"
    """What the first column holds."""

    def markdown(self) -> str:
        """Its rows as a page shows them: a label, then a number with its unit in each column."""
        heads = [
            "| " + " | ".join((self.head, *self.columns)) + " |",
            "| --- |" + "".join(map(self._side, range(len(self.columns)))),
        ]
        said = f" {self.head.lower()}"  # a unit that the head says is not repeated in each cell
        cells = ([row.label, *(show(value, row.unit).removesuffix(said) for value in row.values)] for row in self.rows)
        return "\n".join([*heads, *(f"| {' | '.join(row)} |" for row in cells)])

    def _side(self, column: int) -> str:
        """Numbers lie at the right, words at the left."""
        words = any(
            len(_WORD.findall(row.values[column])) > _FEW for row in self.rows if isinstance(row.values[column], str)
        )
        return " --- |" if words else " ---: |"

    def records(self) -> list[dict[str, Any]]:
        """Its rows in base units, with the unit in a column of its own."""
        return [
            {"quantity": row.label, "unit": "share" if row.unit == "%" else row.unit}
            | dict(zip(self.columns, row.values, strict=True))
            for row in self.rows
        ]


def show(value: Any, unit: str) -> str:
    """A value of a result as a page shows it; what is not known says so."""
    match value:
        case None:
            return "not known"
        case tuple():
            return ", ".join(f"{one:.4g}" for one in value)
        case str():
            return _WORDS.get(value, value) if unit == "bound" else value
    return str(quantities.shown(value, unit))


def plain(value: Number | None) -> float | None:
    """A result of a formula as a Python number."""
    return None if value is None else float(value)


def literal(text: str) -> str:
    """Text whose signs no reader of Markdown takes for markup."""
    return "".join(f"\\{c}" if c.isascii() and not c.isalnum() and not c.isspace() else c for c in text)
