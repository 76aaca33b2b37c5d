"""Dates of spreadsheets: whether the month or the day stands first, and the moment that one means."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, Literal, TypeAlias

Order: TypeAlias = Literal["", "month", "day"]
"""What stands first in dates such as 11/02/2026; "" where that is not known."""
_DATE: Final = re.compile(r"(?<![\d/.-])(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d/]|\.\d)")
_CLOCKS: Final = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S.%f")
_NAMED: Final = ("%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y/%m/%d")
_MONTHS: Final = 12
_CENTURY: Final = 2000
_ONE_DAY: Final = timedelta(days=1)


def order_of(text: str) -> tuple[Order, str]:
    """What stands first in the dates of a text, and one of its dates; both are empty where it has none.

    Points stand in dates with the day first. Between slashes a number above 12 tells, or that lines that follow one
    another are a day apart in the one reading and a month in the other. Where nothing tells, the order is "".
    """
    found = [match.groups() for match in _DATE.finditer(text)]
    if not found:
        return "", ""
    firsts, seconds = [int(one[0]) for one in found], [int(one[2]) for one in found]
    shown = "{0}{1}{2}{1}{3}".format(*max(found, key=lambda one: max(int(one[0]), int(one[2]))))
    month_first, day_first = max(firsts) <= _MONTHS, max(seconds) <= _MONTHS
    if all(one[1] == "." for one in found):
        return ("day" if day_first else ""), shown
    if month_first != day_first:
        return ("month" if month_first else "day"), shown
    if not month_first:
        return "", shown
    steps = {order: _daily_steps(found, order) for order in ("month", "day")}
    if steps["month"] != steps["day"]:
        return ("month" if steps["month"] > steps["day"] else "day"), shown
    return "", shown


def _daily_steps(found: Iterable[tuple[str, ...]], order: str) -> int:
    """Neighbours that are one day apart, with the month or the day first."""
    days = []
    for one in found:
        with suppress(ValueError):
            days.append(_day(one, order))
    return sum(abs(after - before) == _ONE_DAY for before, after in pairwise(days))


def _day(parts: tuple[str, ...], order: str) -> datetime:
    first, _, second, year = parts
    month, day = (first, second) if order == "month" else (second, first)
    return datetime(int(year) + (_CENTURY if len(year) == len("26") else 0), int(month), int(day), tzinfo=UTC)


def is_date(text: str) -> bool:
    """Whether a text begins as a date of a spreadsheet does."""
    return _DATE.match(text) is not None


def moment(text: str, order: Order) -> datetime | None:
    """The moment that a text of a spreadsheet means, in UTC; None where it is not known what stands first.

    Raises:
        ValueError: where it is none.
    """
    dated = _DATE.match(text)
    if dated is None:
        return _first(text, _NAMED)
    if not order:
        return None
    day, clock = _day(dated.groups(), order), text[dated.end() :].strip(" ,T")
    if not clock:
        return day
    at = _first(clock.upper(), _CLOCKS)
    return day + timedelta(hours=at.hour, minutes=at.minute, seconds=at.second, microseconds=at.microsecond)


def _first(text: str, forms: Iterable[str]) -> datetime:
    for form in forms:
        with suppress(ValueError):
            return datetime.strptime(text, form).replace(tzinfo=UTC)
    raise ValueError(text[:40])
