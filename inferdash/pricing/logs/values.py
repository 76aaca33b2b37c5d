"""Numbers and times as logs write them."""

import math
import re
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeGuard

from inferdash.pricing.logs import dates

MOST_TOKENS: Final = 10**12
"""Above this a number of tokens is taken for a mistake."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 1e20
"""A number of a time beyond this is none, in whatever unit."""
_UNITS_PER_S: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Above the first, a bare number of a time since 1970 counts this many units a second: ns, µs, ms."""
_WHOLE: Final = re.compile(r"-?\d+(\.0)?", re.ASCII)
_GROUPED: Final = re.compile(r"\d{1,3}(,\d{3})+", re.ASCII)
"""A whole number whose thousands are parted by commas; as a fraction it were no number of tokens."""
Record: TypeAlias = dict[str, Any]


class UnreadLineError(ValueError):
    """A line, or a record of usage, that is left out: a key of the reasons, and what it is about."""

    def __init__(self, reason: str, about: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.about = about


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a number that a time can be."""
    return type(value) in {int, float} and abs(value) <= _LATEST


def tokens(value: Any, *, missing: str) -> int:
    """A number of tokens: a whole number, or the text of one.

    Raises:
        UnreadLineError: where it is none, with the reason `missing` where there is nothing.
    """
    if value is None:
        raise UnreadLineError(missing)
    if type(value) is not int:
        if type(value) is str:
            value = ungrouped(value)
        try:
            # In a text a point may part thousands: 100.0 is read, 10.000 is not.
            plain = type(value) is float or (type(value) is str and _WHOLE.fullmatch(value.strip()))
            number = float(value) if plain else math.nan
        except ValueError:
            number = math.nan
        if not number.is_integer():  # so it is neither a fraction nor infinite nor no number
            raise UnreadLineError("tokens")
        value = int(number)
    if value < 0:
        raise UnreadLineError("negative")
    if value > MOST_TOKENS:
        raise UnreadLineError("many")
    return int(value)


def ungrouped(text: str) -> str:
    """The text of a number without the commas between its thousands."""
    return text.replace(",", "") if _GROUPED.fullmatch(text.strip()) else text


def number_time(value: Any) -> float:
    """A time that is a number, as it stands.

    Raises:
        UnreadLineError: where it is none.
    """
    if value is None:
        raise UnreadLineError("time")
    if not is_number(value):
        raise UnreadLineError("bad time")
    return float(value)


def time_of(value: Any, *, per_s: float = 1.0, order: dates.Order = "") -> float | None:
    """Seconds of a time: a number since any moment (s, or ms, µs, ns since 1970), ISO 8601 or a spreadsheet's date.

    Without a zone it is UTC.

    Args:
        value: the time; None and "" are none, and so is a date of which it is not known what stands first.
        per_s: units of a number in a second.
        order: what stands first in dates such as 11/02/2026.

    Raises:
        UnreadLineError: where there is one, and it is neither.
    """
    if type(value) is int and abs(value) <= _UNITS_PER_S[-1][0]:
        return value / per_s
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            value = _moment_s(value.strip(), order)
        except (ValueError, OverflowError):
            raise UnreadLineError("bad time") from None
    if value is None:
        return None
    seconds = number_time(value) / per_s
    if abs(seconds) <= _UNITS_PER_S[-1][0]:
        return seconds
    return next(seconds / units for above, units in _UNITS_PER_S if abs(seconds) > above)


def _moment_s(text: str, order: dates.Order) -> float | None:
    if text[4:5] == "-":
        moment: datetime | None = datetime.fromisoformat(text.removesuffix(" UTC"))  # as BigQuery writes it
    elif _is_plain(text):
        return float(text)
    else:
        moment = dates.moment(text, order)
    if moment is None:
        return None
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


def _is_plain(text: str) -> bool:
    """Whether it is to be read as a number: a date has other signs, or two points."""
    if text.isdigit():
        return True
    return not dates.is_date(text) and not any(c.isalpha() or c in "/," for c in text.lower().replace("e", ""))
