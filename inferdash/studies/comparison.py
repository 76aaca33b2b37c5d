"""Two scenarios side by side: what differs, what that does to the numbers of a page, and the difference in words.

Ratios are of B to A. A limit is never held against an expectation, and a number that one of the two does not have
has no ratio.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from inferdash import links, quantities
from inferdash.pairs import Pair
from inferdash.scenario import FIELDS, Choices, Scenario, Several, counts, mark
from inferdash.scenario.marks import clipped
from inferdash.studies import report
from inferdash.studies.numbers import Headline, Line, Row, Table, lines, literal, show
from inferdash.studies.price import traffic
from inferdash.validated import Quantity

_MOST: Final = 4
"""Numbers that a sentence compares."""
_SOME: Final = 8
"""Fields that are named as differing; more are counted."""
_ALIKE: Final = 0.005
"""Up to so far from 1 a ratio is no difference."""
_TIMES: Final = 1.5
"""From here on a ratio is said as times, below it as per cent."""
_TINY: Final = 0.01
BATCH: Final = re.compile(r"batch ([\d,]+)")
"""The batch in the label of a number."""

_Words = tuple[str, str, str]
"""Of a ratio: what is said after "times", after per cent where it is above 1, and below."""
_FAST: Final[_Words] = ("as fast", "faster", "slower")
_LONG: Final[_Words] = ("as long", "longer", "less time")
_MUCH: Final[_Words] = ("as much", "more", "less")
_MANY: Final[_Words] = ("as many", "more", "fewer")
_LARGE: Final[_Words] = ("as large", "larger", "smaller")
_LENGTH: Final[_Words] = ("as long", "longer", "shorter")
_HIGH: Final[_Words] = ("as high", "higher", "lower")
_PHRASES: Final[Mapping[str, tuple[str, _Words]]] = {
    "Output speed per request": ("a request is {}", _FAST),
    "Total throughput": ("{} tokens per second are generated", _MANY),
    "Time to first token": ("the first token takes {}", _LONG),
    "Largest batch": ("{} requests fit", _MANY),
    "Requests that fit": ("{} requests fit", _MANY),
    "Cost per million output tokens": ("a million output tokens cost {}", _MUCH),
    "Decode pass": ("a decode pass takes {}", _LONG),
    "Prefill of the prompt": ("the prefill takes {}", _LONG),
    "Memory read time of a decode": ("reading the memory for a decode takes {}", _LONG),
    "Memory read of a decode": ("a decode reads {}", _MUCH),
    "Prefill, memory read time": ("reading the memory for the prefill takes {}", _LONG),
    "Cache per token": ("the cache of a token is {}", _LARGE),
    "Cache per request after its prompt": ("the cache of a request is {}", _LARGE),
    "Cache of a request outgrows parameters at": ("a cache outgrows the parameters at {} tokens", _MANY),
    "Cache per further token, bf16": ("the cache of a further token is {}", _LARGE),
    "Billed input, cache hit": ("a cache hit bills {} input", _MUCH),
    "Billed input, no cache": ("a request without a cache bills {} input", _MUCH),
    "Weight, scale included": ("a weight with its share of the scale takes {} bits", _MANY),
    "Parameters in bf16": ("its parameters in bf16 take {} memory", _MUCH),
    "Parameters in fp8": ("in fp8 {} memory", _MUCH),
    "Parameters in int4, group 128": ("in int4 {} memory", _MUCH),
    "Parameters": ("the model has {} parameters", _MANY),
    "Active per token, without the input embedding": ("{} of them are active per token", _MANY),
    "Active, without the input embedding": ("{} of them are active per token", _MANY),
    "Operations per token, without attention": ("a token takes {} operations", _MANY),
    "Fewest GPUs for the parameters": ("it takes {} GPUs", _MANY),
    "Fewest GPUs for this batch": ("it takes {} GPUs", _MANY),
    "Files in the maker’s format": ("its files are {}", _LARGE),
    "Parameters on one GPU": ("the parameters on one GPU are {}", _LARGE),
    "Caches of the batch on one GPU": ("the caches of the batch on one GPU are {}", _LARGE),
    "A month": ("a month costs {}", _MUCH),
    "A request": ("a request costs {}", _MUCH),
    "Per user per month": ("a user costs {} per month", _MUCH),
    "Without caching": ("a month without caching costs {}", _MUCH),
    "Time to first token, p90": ("the first token takes {}", _LONG),
    "Inter-token latency, p90": ("the inter-token latency is {}", _LENGTH),
    "Output throughput": ("{} tokens per second are generated", _MANY),
    "Capacity": ("{} requests per second can be served", _MANY),
    "Rent per hour": ("the cheapest set-up costs {} an hour", _MUCH),
    "Rent per month": ("the cheapest set-up costs {} a month", _MUCH),
}
"""Name of a headline number -> how its ratio is said."""
_TOLD_BY: Final = {"Rent per month": "Rent per hour", "Per user per month": "A month", "A request": "A month"}
"""Numbers whose ratio says no more than that of another."""

_UNSAID: Final = {"A cache hit is cheaper by", "Memory read per pass, a long context vs none"}
"""Ratios of ratios, which nobody would say."""


SAID: Final = {*_PHRASES, *_UNSAID}
"""Names of the headline numbers whose ratio is said in words of its own, or in none."""
PAGES: Final = {name: study for name, study in report.PAGES.items() if name != traffic.NAME}
"""The pages whose numbers follow from a link."""


class Answer(NamedTuple):
    """What a page says of a scenario."""

    sentence: str
    shown: tuple[Headline, ...]


@dataclass(frozen=True)
class Beside:
    """A headline number of both scenarios; None where one of them does not have it."""

    name: str
    a: Headline | None
    b: Headline | None

    @property
    def unit(self) -> str:
        """Its base unit."""
        found = self.a or self.b
        return found.unit if found else ""

    @property
    def comparable(self) -> bool:
        """Whether both are known, in one unit, and both at the limit or both expected."""
        return (
            self.a is not None
            and self.b is not None
            and (self.a.unit, self.a.kind) == (self.b.unit, self.b.kind)
            and self.a.value is not None
            and self.b.value is not None
        )

    @property
    def ratio(self) -> float | None:
        """B over A; None where they cannot be compared, or A is 0."""
        if not self.comparable or not (self.a and self.b and self.a.value) or self.b.value is None:
            return None
        return self.b.value / self.a.value

    @property
    def said(self) -> str:
        """B to A, as it stands in a column: a factor, or the difference of two shares; why not, where there is none."""
        if self.a and self.b and not self.comparable:
            return "limit and expected" if self.a.kind != self.b.kind and self.a.unit == self.b.unit else ""
        if self.unit == "%" and self.a and self.b:
            points = 100 * ((self.b.value or 0.0) - (self.a.value or 0.0))
            return "the same" if abs(points) < 0.05 else f"{points:+.1f} points"  # noqa: PLR2004 - as it is rounded
        if self.ratio is None:
            return ""
        return "the same" if self.ratio == 1 else f"× {quantities.digits(self.ratio)}"


@lru_cache(maxsize=64)
def answer(page: str, scenario: Scenario) -> Answer:
    """The sentence and the headline numbers of a page of `PAGES`."""
    study = PAGES[page]
    drawn = study.as_drawn(scenario) if hasattr(study, "as_drawn") else scenario
    result = study.study(drawn)
    return Answer(study.sentence(scenario, result), tuple(study.headline_numbers(drawn, result)))


def headlines(page: str, a: Scenario, b: Scenario) -> list[Beside]:
    """The headline numbers of a page for both, in the order of the page, those of B alone last."""
    of_a, of_b = ({one.name: one for one in answer(page, scenario).shown} for scenario in (a, b))
    return [Beside(name, of_a.get(name), of_b.get(name)) for name in of_a | of_b]


def sentence(page: str, a: Scenario, b: Scenario) -> str:
    """What B does to the numbers of a page, in words."""
    if not differing(a, b):
        return "A and B are the same scenario."
    found = [one for one in headlines(page, a, b) if one.a and one.b]
    if not any(one.comparable for one in found):
        return "A and B have no number of this page in common that can be compared."
    phrases = {phrase: one for one in found if (phrase := _phrase(one, found))}
    if not phrases:
        return "The headline numbers of this page are the same for A and B."
    shown = dict([*phrases.items()][:_MOST])
    inline, end = _batches(shown)
    said = [f"{phrase}{inline.get(phrase, '')}" for phrase in shown]
    return f"With B, {_listed(said)}.{end}"


def _batches(phrases: Mapping[str, Beside]) -> tuple[dict[str, str], str]:
    """That numbers are of another batch in B than in A, as where one does not fit.

    What is said behind each phrase, and at the end of the sentence where that is one thing for several.
    """
    batches: dict[str, tuple[str, str]] = {}
    for phrase, one in phrases.items():
        a, b = (BATCH.search(shown.label) if shown else None for shown in (one.a, one.b))
        if a and b and a[0] != b[0]:
            batches[phrase] = a[1], b[1]
    if len(batches) > 1 and len({*batches.values()}) == 1:
        a_batch, b_batch = next(iter(batches.values()))
        return {}, f" B is at a batch of {b_batch}, A at {a_batch}."
    return {phrase: f" (batch {b_batch} against {a_batch})" for phrase, (a_batch, b_batch) in batches.items()}, ""


def _phrase(one: Beside, found: Sequence[Beside]) -> str:
    """How a number of B differs from that of A; nothing where it does not, or another number says it."""
    said = {beside.name: beside.ratio for beside in found}
    if one.name in _UNSAID:
        return ""
    if one.name in _TOLD_BY and one.ratio is not None:
        other = said.get(_TOLD_BY[one.name])
        if other is not None and abs(one.ratio / other - 1) < _ALIKE:
            return ""
    if one.unit == "%" and one.comparable and one.a and one.b:
        was, now = (show(shown.value, "%") for shown in (one.a, one.b))
        return "" if was == now else f"the {_lower(one.name)} is {now} instead of {was}"
    if one.ratio is None or abs(one.ratio - 1) < _ALIKE:
        return ""
    text, words = _PHRASES.get(one.name, (f"{_lower(one.name)} is {{}}", _HIGH))
    return text.format(_compared(one.ratio, words))


def _lower(name: str) -> str:
    return name if name[:2].isupper() else name[0].lower() + name[1:]


def _compared(ratio: float, words: _Words) -> str:
    times, above, below = words
    if ratio >= _TIMES:
        return f"{quantities.digits(ratio)} times {times}"
    if ratio > 1:
        return f"{quantities.percent(ratio - 1)} {above}"
    if ratio > _TINY:
        return f"{quantities.percent(1 - ratio)} {below}"
    return f"less than a hundredth {times}"


def _listed(phrases: Sequence[str]) -> str:
    if len(phrases) == 1:
        return phrases[0]
    comma = "," if len(phrases) > 2 else ""  # noqa: PLR2004 - a pair has none
    return f"{', '.join(phrases[:-1])}{comma} and {phrases[-1]}"


def tab(title: str, shown: Sequence[Headline], found: Sequence[Beside] = ()) -> str:
    """The answer in a few words, for a tab, a bookmark or a preview: the page and the first of its numbers.

    Args:
        title: the page's name.
        shown: its headline numbers.
        found: those of two scenarios, whose first is said for both.
    """
    first = next((one for one in found if one.comparable and one.a and one.b), None)
    if first and first.a and first.b:
        said = (f"{who} {show(one.value, one.unit)}" for who, one in (("A", first.a), ("B", first.b)))
        return f"{title}: {', '.join(said)}"
    known = [show(one.value, one.unit) for one in shown[:1] if one.value is not None]
    return f"{title}{''.join(f': {one}' for one in known)}"


def differing(a: Scenario, b: Scenario) -> list[str]:
    """The fields in which two scenarios differ and that say something in one of them, in their order."""
    return [name for name in FIELDS if getattr(a, name) != getattr(b, name) and (counts(name, a) or counts(name, b))]


def told(a: Scenario, b: Scenario) -> str:
    """What differs, in one line of plain text."""
    names = differing(a, b)
    if not names:
        return "Nothing differs yet: what you change from here on is changed in B."
    shown = [f"{FIELDS[name].title}: {said(name, a)} → {said(name, b)}" for name in names[:_SOME]]
    more = [f"{len(names) - _SOME} more"] if len(names) > _SOME else []
    return "; ".join(shown + more)


def said(name: str, scenario: Scenario) -> str:
    """The value of a field as a reader knows it; a dash where it says nothing in this scenario."""
    value = getattr(scenario, name)
    if not counts(name, scenario) or value is None or value in ("", ()):
        return "–"
    choices, several, quantity = mark(name, Choices), mark(name, Several), mark(name, Quantity)
    if choices:
        return str(choices.names().get(value, value))
    if several:
        names = several.of.names()
        return clipped(", ".join(names.get(one, one) for one in value))
    if quantity:
        return str(quantities.shown(value, quantity.unit))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return quantities.typed(value) if isinstance(value, int | float) else clipped(value)


def fields(a: Scenario, b: Scenario) -> dict[str, list[str]]:
    """The fields that differ, each with both values as in a link."""
    return {name: [links.written(name, getattr(one, name)) for one in (a, b)] for name in differing(a, b)}


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
