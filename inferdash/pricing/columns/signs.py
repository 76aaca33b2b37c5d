"""Texts, numbers and moments in bytes, as compiled loops: where one ends, and what it is where that is certain."""

from typing import Any, Final

import numpy as np

from inferdash.compiled import compiled, inlined

_QUOTE, _BACKSLASH, _COMMA, _COLON, _MINUS, _PLUS, _POINT = map(ord, '"\\,:-+.')
_OPEN_LIST, _CLOSE_LIST, _OPEN, _CLOSE = map(ord, "[]{}")
_ZERO, _NINE, _SPACE, _TAB, _RETURN = map(ord, "09 \t\r")
_U, _SMALL_E, _LARGE_E, _T, _Z, _A, _F, _SMALL_A, _SMALL_F = map(ord, "ueETZAFaf")
_TRUE, _FALSE, _NULL = map(ord, "tfn")
_ESCAPED: Final = np.zeros(256, np.bool_)
_ESCAPED[[*b'"\\/bfnrt']] = True
_LONGEST_NUMBER: Final = 300
_DEEPEST: Final = 60
MOST_NAMES: Final = 32
"""Names of one object within a list that are told apart."""
SCRATCH: Final = (_DEEPEST + 2) * (MOST_NAMES + 1)
"""Numbers that a walk through a list needs room for."""
LABELS: Final = 3
"""Of the words that a list is searched for, those that are names; the others are values."""
_LONGEST_WORD: Final = 132
_K, _K2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_S8, _S16, _S24, _S29, _S32, _S56 = map(np.uint64, (8, 16, 24, 29, 32, 56))
_ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN, _EIGHT = map(np.uint64, range(1, 9))
_ONES, _TOPS, _LINE_ENDS = (np.uint64(sign * 0x0101010101010101) for sign in (1, 0x80, 0x0A))
_LINE_END: Final = 0x0A
_DAY: Final = 86_400
_MICROS: Final = 1_000_000
_YEAR, _MONTH, _FEBRUARY = 4, 12, 2
_HOURS, _SIXTY = 24, 60


@inlined
def word(data: Any, at: Any) -> Any:
    """Eight bytes as one number, which is one step of a processor; places without a sign are not looked at twice."""
    low = (
        np.uint64(data[at]) | np.uint64(data[at + _ONE]) << _S8
        | np.uint64(data[at + _TWO]) << _S16 | np.uint64(data[at + _THREE]) << _S24
    )  # fmt: skip
    high = (
        np.uint64(data[at + _FOUR]) | np.uint64(data[at + _FIVE]) << _S8
        | np.uint64(data[at + _SIX]) << _S16 | np.uint64(data[at + _SEVEN]) << _S24
    )  # fmt: skip
    return low | high << _S32


@inlined
def _is_empty(data: Any, start: Any, end: Any) -> Any:
    return start == end or (start + _ONE == end and data[start] == _RETURN)


@compiled
def lines_of(data: Any, starts: Any, ends: Any) -> int:
    """How many lines there are that are not empty; where each starts and ends is filled in, as far as there is room."""
    at, start, last, many = np.uint64(0), np.uint64(0), np.uint64(len(data)), 0
    while at <= last:
        stop = at + _EIGHT
        if stop <= last:
            other = word(data, at) ^ _LINE_ENDS
            if not (other - _ONES) & ~other & _TOPS:  # no byte of it is 0
                at = stop
                continue
        else:  # the end of all ends a line, too
            stop = last + _ONE
        for place in range(at, stop):
            if place == last or data[place] == _LINE_END:
                if not _is_empty(data, start, place):
                    if many < len(starts):
                        starts[many], ends[many] = start, place
                    many += 1
                start = place + _ONE
        at = stop
    return many


@inlined
def is_same(data: Any, at: int, other: Any, there: int, length: int) -> bool:
    """Whether so many bytes are the same at two places."""
    mine, others, end = np.uint64(at), np.uint64(there), np.uint64(at + length)
    while mine + _EIGHT <= end:
        if word(data, mine) != word(other, others):
            return False
        mine += _EIGHT
        others += _EIGHT
    while mine < end:
        if data[mine] != other[others]:
            return False
        mine += _ONE
        others += _ONE
    return True


@inlined
def hashed(data: Any, start: int, end: int) -> Any:
    """A number of 64 bits that two texts have in common only if they are the same, or by a chance of 1 in 2^64."""
    found, other = _K ^ np.uint64(end - start), _K2  # two at a time, as a processor can
    at, last = np.uint64(start), np.uint64(end)
    while at + _EIGHT + _EIGHT <= last:
        found = (found ^ word(data, at)) * _K
        other = (other ^ word(data, at + _EIGHT)) * _K
        found ^= found >> _S32
        other ^= other >> _S32
        at += _EIGHT + _EIGHT
    found = (found ^ (other << _S8 | other >> _S56)) * _K2
    found ^= found >> _S32
    if at + _EIGHT <= last:
        found = (found ^ word(data, at)) * _K
        found ^= found >> _S32
        at += _EIGHT
    rest = np.uint64(0)
    while at < last:
        rest = (rest << _S8) | np.uint64(data[at])
        at += _ONE
    found = (found ^ rest) * _K2
    found ^= found >> _S29
    found *= _K
    found ^= found >> _S32
    return found | _ONE


@compiled
def _hash(data: Any) -> Any:
    return hashed(data, 0, len(data))


def hashed_text(text: str) -> int:
    """The same of a text."""
    return int(_hash(np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)))


@inlined
def text_end(data: Any, start: int, end: int) -> Any:
    """Place of the quote that ends a JSON text, from behind the first; -1 where none is there that JSON allows."""
    at, last = np.uint64(start), np.uint64(end)
    while at < last:
        sign = data[at]
        if sign == _QUOTE:
            return np.int64(at)
        if sign < _SPACE:
            return -1
        if sign == _BACKSLASH:
            at += _ONE
            if at >= last:
                return -1
            if data[at] == _U:
                if at + _FOUR >= last:
                    return -1
                for place in (_ONE, _TWO, _THREE, _FOUR):
                    digit = data[at + place]
                    if not (_ZERO <= digit <= _NINE or _A <= digit <= _F or _SMALL_A <= digit <= _SMALL_F):
                        return -1
                at += _FOUR
            elif not _ESCAPED[data[at]]:
                return -1
        at += _ONE
    return -1


@inlined
def plain_end(data: Any, at: int, end: int) -> Any:
    """As `text_end`, of a text that stands there as it is, without an escape."""
    here, last = np.uint64(at), np.uint64(end)
    while here < last:
        sign = data[here]
        if sign == _QUOTE:
            return np.int64(here)
        if sign < _SPACE or sign == _BACKSLASH:
            return -1
        here += _ONE
    return -1


@inlined
def digits_end(data: Any, at: int, end: int) -> Any:
    """Where digits end."""
    here, last = np.uint64(at), np.uint64(end)
    while here < last and _ZERO <= data[here] <= _NINE:
        here += _ONE
    return np.int64(here)


@inlined
def number_end(data: Any, at: int, end: int) -> Any:
    """Where a JSON number ends; -1 where none begins there."""
    start = at
    if at < end and data[at] == _MINUS:
        at += 1
    first = at
    at = digits_end(data, at, end)
    if at == first or (data[first] == _ZERO and at > first + 1):
        return -1
    if at < end and data[at] == _POINT:
        first = at + 1
        at = digits_end(data, first, end)
        if at == first:
            return -1
    if at < end and (data[at] == _SMALL_E or data[at] == _LARGE_E):
        first = at + 1
        if first < end and (data[first] == _MINUS or data[first] == _PLUS):
            first += 1
        at = digits_end(data, first, end)
        if at == first:
            return -1
    return at if at - start <= _LONGEST_NUMBER else -1


@inlined
def word_end(data: Any, at: int, end: int) -> int:
    """Where true, false or null ends; -1 where none of them begins there."""
    sign = data[at]
    if sign == _TRUE:
        return at + 4 if at + 4 <= end and data[at + 1] == 114 and data[at + 2] == 117 and data[at + 3] == 101 else -1
    if sign == _NULL:
        return at + 4 if at + 4 <= end and data[at + 1] == 117 and data[at + 2] == 108 and data[at + 3] == 108 else -1
    if sign == _FALSE and at + 5 <= end:
        found = data[at + 1] == 97 and data[at + 2] == 108 and data[at + 3] == 115 and data[at + 4] == 101
        return at + 5 if found else -1
    return -1


@inlined
def _is_value_sought(data: Any, at: int, end: int, words: Any) -> bool:
    """Whether a text is one of some words, or may be, as it is written with escapes."""
    if end - at > _LONGEST_WORD:
        return False
    for place in range(at, end - 1):
        if data[place] == _BACKSLASH and data[place + 1] == _U:
            return True
    found = hashed(data, at, end)
    for place in range(LABELS, len(words)):
        if words[place] == found:
            return True
    return False


@compiled
def list_end(data: Any, at: int, end: int, words: Any, made: bool, room: Any) -> int:
    """Where a JSON list ends; -1 where it is none, says something of a request, or may.

    Args:
        data: bytes.
        at: where it begins.
        end: of the line.
        words: names that label counts, then types of what is billed apart, as hashes.
        made: whether these types are looked for.
        room: for the names of objects, of which none may stand twice.
    """
    depth, objects, state = 1, 0, 0  # 0: a first value, 1: another, 2: behind one, 3: a first name, 4: another
    at += 1
    while at < end:
        sign = data[at]
        if sign == _SPACE or sign == _TAB or sign == _RETURN:
            at += 1
        elif (state == 2 or state == 0) and sign == _CLOSE_LIST and not objects & 1:
            depth, objects, state = depth - 1, objects >> 1, 2
            at += 1
            if depth == 0:
                return at
        elif (state == 2 or state == 3) and sign == _CLOSE and objects & 1:
            depth, objects, state = depth - 1, objects >> 1, 2
            at += 1
        elif state == 2:
            if sign != _COMMA:
                return -1
            state = 4 if objects & 1 else 1
            at += 1
        elif state >= 3:
            close = plain_end(data, at + 1, end) if sign == _QUOTE else -1
            if close < 0:
                return -1
            found = hashed(data, at + 1, close)
            for place in range(LABELS):
                if words[place] == found:
                    return -1
            own = depth * (MOST_NAMES + 1)
            many = room[own]
            if many >= MOST_NAMES:
                return -1
            for place in range(own + 1, own + 1 + many):
                if room[place] == found:
                    return -1
            room[own + 1 + many] = found
            room[own] = many + _ONE
            at = close + 1
            while at < end and (data[at] == _SPACE or data[at] == _TAB):
                at += 1
            if at >= end or data[at] != _COLON:
                return -1
            at += 1
            state = 1
        elif sign == _QUOTE:
            close = text_end(data, at + 1, end)
            if close < 0 or (made and _is_value_sought(data, at + 1, close, words)):
                return -1
            at, state = close + 1, 2
        elif sign == _OPEN or sign == _OPEN_LIST:
            if depth >= _DEEPEST:
                return -1
            depth, objects = depth + 1, objects << 1 | (sign == _OPEN)
            state = 3 if sign == _OPEN else 0
            room[depth * (MOST_NAMES + 1)] = np.uint64(0)
            at += 1
        else:
            at = number_end(data, at, end) if sign == _MINUS or _ZERO <= sign <= _NINE else word_end(data, at, end)
            if at < 0:
                return -1
            state = 2
    return -1


@inlined
def _two(data: Any, at: int) -> Any:
    """The number of two digits; -1 where they are none."""
    tens, ones = np.int64(data[at]) - _ZERO, np.int64(data[at + 1]) - _ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -1


@compiled
def moment(data: Any, at: int, end: int) -> Any:
    """Microseconds since 1970 of a moment as ISO 8601 writes it, in UTC where it has no zone; -1 where it is none."""
    if end - at < 10 or data[at + 4] != _MINUS or data[at + 7] != _MINUS:
        return -1
    high, low, month, day = _two(data, at), _two(data, at + 2), _two(data, at + 5), _two(data, at + 8)
    if high < 19 or low < 0 or not 1 <= month <= _MONTH or day < 1:
        return -1
    year = high * 100 + low
    leap = year % _YEAR == 0 and (year % 100 != 0 or year % 400 == 0)
    longest = 28 + leap if month == _FEBRUARY else 30 if month in (4, 6, 9, 11) else 31
    if day > longest or year < 1970:
        return -1
    shifted = year - (month <= _FEBRUARY)
    days = 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400
    days += (153 * ((month + 9) % 12) + 2) // 5 + day - 1 - 719_468
    seconds = days * _DAY
    micros: Any = 0
    at += 10
    if at < end:
        if end - at < 9 or (data[at] != _T and data[at] != _SPACE) or data[at + 3] != _COLON or data[at + 6] != _COLON:
            return -1
        hour, minute, second = _two(data, at + 1), _two(data, at + 4), _two(data, at + 7)
        if not (0 <= hour < _HOURS and 0 <= minute < _SIXTY and 0 <= second < _SIXTY):
            return -1
        seconds += hour * 3600 + minute * 60 + second
        at += 9
        if at < end and data[at] == _POINT:
            first = at + 1
            at = digits_end(data, first, end)
            if not 1 <= at - first <= 6:
                return -1
            for place in range(6):
                micros = micros * 10 + (np.int64(data[first + place]) - _ZERO if first + place < at else 0)
        if at < end and data[at] == _Z:
            at += 1
        elif end - at == 6 and (data[at] == _PLUS or data[at] == _MINUS) and data[at + 3] == _COLON:
            hour, minute = _two(data, at + 1), _two(data, at + 4)
            if not (0 <= hour < _HOURS and 0 <= minute < _SIXTY):
                return -1
            away = hour * 3600 + minute * 60
            seconds -= away if data[at] == _PLUS else -away
            at += 6
    return seconds * _MICROS + micros if at == end and seconds >= 0 else -1
