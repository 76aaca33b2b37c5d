"""What a study returns: frozen numbers, each with its label and unit."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.formula import Number


def number(unit: str, label: str) -> Any:
    """A field of a result.

    Args:
        unit: its base unit, as `quantities.shown` knows it; "word" for a word.
        label: what it is called on the page.
    """
    return field(metadata={"unit": unit, "label": label})


def part(label: str) -> Any:
    """A field of a result that holds further numbers."""
    return field(metadata={"label": label})


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


def lines(result: Any, path: str = "", labels: tuple[str, ...] = ()) -> Iterator[Line]:
    """Every number of a result, in order."""
    for one in fields(result):
        value, inner = getattr(result, one.name), f"{path}.{one.name}".lstrip(".")
        names = (*labels, one.metadata["label"])
        if is_dataclass(value):
            yield from lines(value, inner, names)
        else:
            yield Line(inner, names, value, one.metadata["unit"])


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
        heads = ["| " + " | ".join((self.head, *self.columns)) + " |", "| --- |" + " ---: |" * len(self.columns)]
        said = f" {self.head.lower()}"  # a unit that the head says is not repeated in each cell
        cells = ([row.label, *(show(value, row.unit).removesuffix(said) for value in row.values)] for row in self.rows)
        return "\n".join([*heads, *(f"| {' | '.join(row)} |" for row in cells)])

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
