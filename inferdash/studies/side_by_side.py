"""The numbers, tables and reports of two scenarios side by side."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from inferdash.pairs import Pair
from inferdash.scenario import Scenario
from inferdash.studies import report
from inferdash.studies.comparison import answer, sentence
from inferdash.studies.differing import fields, told
from inferdash.studies.numbers import Line, Row, Table, lines, literal


def differences(a: Any, b: Any) -> list[dict[str, Any]]:
    """The numbers of two results that differ, with the ratio of B to A where there is one."""
    there = {line.path: line for line in lines(b)}
    pairs = ((line, there[line.path]) for line in lines(a) if line.path in there and line.unit != "rows")
    return [_difference(one, other) for one, other in pairs if one.value != other.value]


def _difference(a: Line, b: Line) -> dict[str, Any]:
    numbers = all(isinstance(one.value, int | float) and not isinstance(one.value, bool) for one in (a, b))
    return {
        "name": a.path,
        "label": ": ".join(a.labels),
        "a": a.value,
        "b": b.value,
        "ratio": b.value / a.value if numbers and a.value else None,
        "shown": [one.shown for one in (a, b)],
    }


def difference(a: Scenario, b: Scenario) -> dict[str, Any]:
    """What differs: fields with both values as in a link, and by page the sentence and the numbers that differ."""
    results = {name: (study.study(a), study.study(b)) for name, study in report.STUDIES.items()}
    return {
        "fields": fields(a, b),
        "sentences": {name: sentence(name, a, b) for name in report.STUDIES},
        "numbers": {name: rows for name, pair in results.items() if (rows := differences(*pair))},
    }


def beside(a: Table, b: Table) -> Table:
    """Two tables as one, row by row: each column that differs stands there for A and for B.

    Rows are found by their label; what one of them does not have is empty.
    """
    if a == b:
        return b
    there, here = (dict(_labelled(one)) for one in (a, b))
    labels = [*here, *(label for label in there if label not in here)]
    columns = [*b.columns, *(name for name in a.columns if name not in b.columns)]

    def cell(table: Table, rows: Mapping[tuple[str, int], Row], label: tuple[str, int], column: str) -> Any:
        row = rows.get(label)
        return row.values[table.columns.index(column)] if row and column in table.columns else ""

    def unit(label: tuple[str, int]) -> str:
        found = here.get(label) or there.get(label)
        return found.unit if found else ""

    both = {name: [(cell(a, there, label, name), cell(b, here, label, name)) for label in labels] for name in columns}
    heads: list[str] = []
    values: list[list[Any]] = []
    for name, cells in both.items():
        if all(one == other for one, other in cells):
            heads.append(name)
            values.append([one for one, _ in cells])
        else:
            heads += [f"{name}, A", f"{name}, B"]
            values += [[one for one, _ in cells], [other for _, other in cells]]
    rows = zip(*values, strict=True)
    found = (Row(label[0], unit(label), tuple(row)) for label, row in zip(labels, rows, strict=True))
    return Table(tuple(heads), tuple(found), head=b.head)


def _labelled(table: Table) -> Iterator[tuple[tuple[str, int], Row]]:
    seen: Counter[str] = Counter()
    for row in table.rows:
        yield (row.label, seen[row.label]), row
        seen[row.label] += 1


def markdown(pair: Pair, link: str) -> str:
    """A report as a person reads it; of two scenarios: what differs, then by page sentences and numbers of both."""
    a, b = pair.a, pair.b
    if b is None:
        return report.markdown(a, link)
    title = " and ".join(literal(one.title) for one in (a, b) if one.title) if a.title != b.title else literal(a.title)
    chapters = [f"# {title or 'Two scenarios'}", f"A: {a.subject}. B: {b.subject}.", f"<{link}>"]
    chapters.append(f"What differs: {literal(told(a, b))}")
    for name, study in report.STUDIES.items():
        results = study.study(a), study.study(b)
        chapters += [f"## {study.TITLE}", sentence(name, a, b)]
        chapters += [f"{who}: {answer(name, one).sentence}" for who, one in (("A", a), ("B", b))]
        of_a, of_b = ({line.path: line for line in lines(one) if line.unit != "rows"} for one in results)
        rows = [
            f"| {': '.join(line.labels)} | {line.shown} | {of_b[path].shown if path in of_b else ''} |"
            for path, line in of_a.items()
        ]
        chapters.append("\n".join(["| quantity | A | B |", "| --- | --- | --- |", *rows]))
    return "\n\n".join(chapters) + "\n"
