"""A scenario, or two, as a workbook: every number with its unit, a month and a plan as formulas, and the sources.

What a reader may change stands in cells of its own, and the formulas go on from there: prices, use, rent, replicas.
Expected tokens of each turn are numbers, as they follow from how often a cache is met.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from inferdash.facts.money.rates import Kind
from inferdash.pairs import Pair
from inferdash.pricing.feature import DAYS, HOURS
from inferdash.scenario import FIELDS, Scenario, counts
from inferdash.studies import differing
from inferdash.studies.numbers import lines
from inferdash.studies.price import feature_cost, rented, savings, session
from inferdash.studies.report import STUDIES
from inferdash.studies.run import plan, planning

_KINDS: Final[dict[Kind, str]] = {
    "fresh": "input",
    "written": "cache write",
    "read": "cached input",
    "output": "output",
}
"""Kind of token -> what it is called."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_WIDE: Final = 60
"""Letters of the widest column."""
_MONEY: Final = "$#,##0.00"
_FINE: Final = "$#,##0.000000"
_TOKENS: Final = "#,##0.0"
_COMPUTED: Final = 16
"""Letters of a column in which a formula stands: what is too long for its column is shown as ###."""


@dataclass(frozen=True)
class _Cell:
    """A formula or a number of a cell, and how it is shown."""

    value: str | float
    shown: str = "General"


def workbook(pair: Pair, *, link: str, day: str) -> bytes:
    """The file, as XLSX.

    Args:
        pair: one scenario or two.
        link: where the numbers are from.
        day: when they were made.
    """
    from openpyxl import Workbook  # noqa: PLC0415 - for those who ask for one

    book = Workbook()
    both = [("A", pair.a), ("B", pair.b)] if pair.b else [("", pair.a)]
    first = book.active
    first.title = "Scenario"
    _scenario(first, pair, link=link, day=day)
    _numbers(book.create_sheet("Numbers"), pair)
    for name, scenario in both:
        if scenario:
            month = _rented_month if rented.chosen(scenario) else _month
            month(book.create_sheet(f"Month {name}".strip()), scenario)
            _plan(book.create_sheet(f"Plan {name}".strip()), scenario)
    _sources(book.create_sheet("Sources"), [(name, one) for name, one in both if one])
    for sheet in book.worksheets:
        _fitted(sheet)
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def _scenario(sheet: Any, pair: Pair, *, link: str, day: str) -> None:
    """What was asked: the link, the day, and every field that says something."""
    a, b = pair.a, pair.b
    _row(sheet, ["inferdash", link])
    _row(sheet, ["Made on", day])
    _row(sheet, ["About", a.subject, *([b.subject] if b else [])])
    if b:
        _row(sheet, ["What differs", differing.told(a, b)])
    _row(sheet, [])
    _row(sheet, ["Field", *(["A", "B"] if b else ["Value"]), "What it is"], bold=True)
    for name, field in FIELDS.items():
        scenarios = [one for one in (a, b) if one]
        if any(counts(name, one) for one in scenarios):
            said = [differing.said(name, one) for one in scenarios]
            _row(sheet, [field.title, *said, field.description])


def _numbers(sheet: Any, pair: Pair) -> None:
    """Every number of every page in base units, and of two scenarios B over A as a formula."""
    both = pair.b is not None
    _row(sheet, ["Page", "Quantity", "Unit", *(["A", "B", "B to A"] if both else ["Value"])], bold=True)
    for study in STUDIES.values():
        of_a = [line for line in lines(study.study(pair.a)) if line.unit != "rows"]
        of_b = {line.path: line for line in lines(study.study(pair.b))} if pair.b else {}
        for line in of_a:
            unit = "share" if line.unit == "%" else line.unit
            cells = [study.TITLE, ": ".join(line.labels), unit, _value(line.value)]
            if both:
                place = sheet.max_row + 1
                other = of_b.get(line.path)
                ratio = f'=IF(AND(ISNUMBER(D{place}),ISNUMBER(E{place})),IF(D{place}=0,"",E{place}/D{place}),"")'
                cells += [_value(other.value) if other else "", _Cell(ratio)]
            _row(sheet, cells)


def _month(sheet: Any, scenario: Scenario) -> None:
    """What a feature costs in a month: use times a session, a session the sum of its turns."""
    price = scenario.price
    turns = session.turns(scenario, price, session.marking(scenario, price))
    tiers = {round(turn.input): price.for_input(round(turn.input)) for turn in turns}
    rates = list(dict.fromkeys(tuple(float(one.of(kind)) for kind in _KINDS) for one in tiers.values()))
    users = scenario.use_as == "users"
    _row(sheet, ["What a feature costs in a month", savings.price_sentence(scenario).replace("\\$", "$")], bold=True)
    if users:
        _row(sheet, ["Users", "users", scenario.users])
        _row(sheet, ["Sessions of a user and day", "sessions", scenario.sessions])
        _row(sheet, ["Days of a month", "days", DAYS])
        _row(sheet, ["Sessions of a month", "sessions", _Cell("=C2*C3*C4")])
    else:
        _row(sheet, ["Requests of a month", "requests", session.requests_a_month(scenario)])
        _row(sheet, ["Turns of a session", "requests", scenario.turns])
        _row(sheet, ["Days of a month", "days", DAYS])
        _row(sheet, ["Sessions of a month", "sessions", _Cell("=C2/C3")])
    _row(sheet, [])
    _row(sheet, ["Prices, $ per million tokens", "", *_KINDS.values()], bold=True)
    begin = sheet.max_row + 1
    for place, rate in enumerate(rates):
        _row(sheet, [f"Prompts of size {place + 1}" if len(rates) > 1 else "Every prompt", "$", *rate])
    _row(sheet, [])
    _row(sheet, ["Expected tokens of a turn", "", *_KINDS.values(), "dollars"], bold=True)
    start = sheet.max_row + 1
    for place, turn in enumerate(turns):
        of = begin + rates.index(tuple(float(tiers[round(turn.input)].of(kind)) for kind in _KINDS))
        here = sheet.max_row + 1
        cost = _Cell(f"=SUMPRODUCT(C{here}:F{here},C{of}:F{of})/1000000", _FINE)
        _row(sheet, [f"Turn {place + 1}", "tokens", *(_Cell(getattr(turn, kind), _TOKENS) for kind in _KINDS), cost])
    last = sheet.max_row
    _row(sheet, [])
    _row(sheet, ["A session", "$", _Cell(f"=SUM(G{start}:G{last})", _FINE)])
    _row(sheet, ["A month", "$", _Cell(f"=C{sheet.max_row}*C5", _MONEY)], bold=True)
    if users:
        _row(sheet, ["A user and month", "$", _Cell(f"=C{sheet.max_row}/C2", _MONEY)])


def _rented_month(sheet: Any, scenario: Scenario) -> None:
    """What a feature costs in a month on rented GPUs: those of the busiest hour times rent times hours."""
    found = feature_cost.study(scenario)
    _row(sheet, ["What a feature costs in a month", feature_cost.sentence(scenario, found)], bold=True)
    gpus = feature_cost.rented_gpus(scenario, found)
    if gpus is None:
        return
    _row(sheet, ["GPUs for the busiest hour", "GPUs", gpus])
    _row(sheet, ["Rent of one GPU", "$ an hour", scenario.rent])
    _row(sheet, ["Hours of a month", "hours", HOURS])
    _row(sheet, ["A month", "$", _Cell("=C2*C3*C4", _MONEY)], bold=True)
    if scenario.use_as == "users":
        _row(sheet, ["Users", "users", scenario.users])
        _row(sheet, ["A user and month", "$", _Cell("=C5/C6", _MONEY)])


def _plan(sheet: Any, scenario: Scenario) -> None:
    """What the cheapest set-up costs in a month: GPUs times rent times hours, those that prefill alone apart."""
    found = plan.study(scenario)
    _row(sheet, ["The cheapest set-up that keeps the promise", plan.sentence(scenario, found)], bold=True)
    best = found.best
    if best is None:
        return
    _row(sheet, ["GPUs of a replica", "GPUs", best.gpus])
    _row(sheet, ["Replicas", "replicas", best.replicas])
    planned = planning.planned(scenario)
    readers = planned.best.readers if planned and planned.best else None
    gpus, usd = best.total_gpus, best.usd_per_hour
    if readers:
        gpus, usd = gpus - readers.total_gpus, usd - readers.usd_per_hour
    _row(sheet, ["GPUs that decode" if readers else "GPUs in all", "GPUs", _Cell("=C2*C3")])
    _row(sheet, ["Rent of one GPU", "$ an hour", usd / gpus])
    hourly = "=C4*C5"
    if readers:
        _row(sheet, ["GPUs that prefill", "GPUs", readers.total_gpus])
        _row(sheet, ["Rent of one of these", "$ an hour", readers.usd_per_hour / readers.total_gpus])
        hourly += "+C6*C7"
    _row(sheet, ["Rent an hour", "$", _Cell(hourly, _MONEY)])
    hour = sheet.max_row
    _row(sheet, ["Hours of a month", "hours", HOURS])
    _row(sheet, ["Rent a month", "$", _Cell(f"=C{hour}*C{hour + 1}", _MONEY)], bold=True)


def _sources(sheet: Any, both: Sequence[tuple[str, Scenario]]) -> None:
    """Where the facts come from, and the day they were checked."""
    _row(sheet, ["Scenario", "Fact", "Source", "Checked"], bold=True)
    for name, scenario in both:
        for fact in (scenario.architecture, scenario.hardware):
            for source in fact.source or ("entered by the reader",):
                _row(sheet, [name, fact.name, source, fact.checked.isoformat() if fact.source else ""])
        _row(sheet, [name, "Prices", savings.price_sentence(scenario).replace("\\$", "$"), scenario.prices])


def _value(value: Any) -> Any:
    """A number as it is, all else as text; what is not known is empty."""
    if value is None:
        return ""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _row(sheet: Any, cells: Iterable[Any], *, bold: bool = False) -> None:
    """Appends a row; a text that begins like a formula stays a text, whoever wrote it."""
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415 - as above

    place = sheet.max_row + 1 if sheet.max_row > 1 or sheet["A1"].value is not None else 1
    sheet.append([])
    for column, value in enumerate(cells, start=1):
        cell = sheet.cell(place, column)
        if isinstance(value, _Cell):
            cell.value, cell.number_format = value.value, value.shown
        elif isinstance(value, str):
            cell.value = _CONTROL.sub(" ", value)
            cell.data_type = "s"
            cell.alignment = Alignment(wrap_text=len(value) > _WIDE, vertical="top")
        else:
            cell.value = value
        if bold:
            cell.font = Font(bold=True)


def _fitted(sheet: Any) -> None:
    """Columns as wide as what stands in them, up to a bound."""
    for column in sheet.columns:
        longest = max(_COMPUTED if cell.data_type == "f" else len(str(cell.value or "")) for cell in column)
        sheet.column_dimensions[column[0].column_letter].width = min(_WIDE, max(10, longest + 2))
