"""Lines as numbers, by compiled loops: which of some templates a line of JSON follows, and the cells of a table."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inferdash.compiled import compiled, inlined
from inferdash.pricing.columns.signs import (
    digits_end,
    hashed,
    is_same,
    list_end,
    moment,
    number_end,
    plain_end,
    text_end,
    word_end,
)  # fmt: skip

END, INT, TEXT, KEY, REAL, MOMENT, REST = range(7)
"""What stands behind a literal: nothing, a whole number, a text, an id, a number or time as it is written, what says
nothing."""
IS_PROSE, IS_MADE, IS_LEVEL, IS_LIST = 1, 2, 4, 8
"""Of what says nothing: it may not be a number; its list is searched; it may not hold JSON; it must be a list."""
LENGTH_BITS: Final = 24
"""Bits of the length of a text, below those of its place."""
_MOST_DIGITS: Final = 15
_QUOTE, _BACKSLASH, _OPEN_LIST, _OPEN, _MINUS, _ZERO, _NINE = map(ord, '"\\[{-09')
_SPACE, _TAB, _RETURN, _SMALL_A, _SMALL_Z, _A, _Z = map(ord, " \t\razAZ")
_LAST_ASCII: Final = 127
_LONGEST_CELL: Final = 100_000
MOST_SHAPES: Final = 64
"""Kinds of rows of a table that are told apart."""
Bytes = NDArray[np.uint8]


@inlined
def _is_letter(sign: int) -> bool:
    return _SMALL_A <= sign <= _SMALL_Z or _A <= sign <= _Z


@inlined
def _whole(data: Any, at: int, stop: int) -> Any:
    number = np.int64(0)
    for place in range(np.uint64(at), np.uint64(stop)):
        number = number * 10 + (np.int64(data[place]) - _ZERO)
    return number


@inlined
def sign_at(data: Any, at: int, end: int, sign: int) -> Any:
    """Where a sign stands; the end where it does not."""
    here, last = np.uint64(at), np.uint64(end)
    while here < last and data[here] != sign:
        here += np.uint64(1)
    return np.int64(here)


@inlined
def cell_end(data: Any, at: int, end: int, sign: int) -> Any:
    """Where a cell without quotes ends; -1 where it has one, or the end of a line."""
    here, last = np.uint64(at), np.uint64(end)
    while here < last and data[here] != sign:
        if data[here] == _QUOTE or data[here] == _RETURN:
            return -1
        here += np.uint64(1)
    return np.int64(here)


@inlined
def _rest_end(data: Any, at: int, end: int, rule: int, words: Any, room: Any) -> Any:
    """Where a value ends that says nothing; -1 where it may say something."""
    sign = data[at]
    if sign == _OPEN_LIST:
        if rule & IS_PROSE and at + 1 < end:
            inner = data[at + 1]
            if inner != _OPEN and inner != _QUOTE and inner != _OPEN_LIST:
                return -1
        return list_end(data, at, end, words, rule & IS_MADE != 0, room)
    if rule & IS_LIST:
        return -1
    if sign == _QUOTE:
        if at + 1 >= end:
            return -1
        first = data[at + 1]
        if rule & IS_PROSE and not (_is_letter(first) or first == _QUOTE):
            return -1
        if rule & IS_LEVEL and (first == _OPEN or first == _BACKSLASH):
            return -1
        close = text_end(data, at + 1, end)
        return close + 1 if close >= 0 else -1
    if rule & IS_PROSE and sign != ord("n"):
        return -1
    if sign == _MINUS or _ZERO <= sign <= _NINE:
        return number_end(data, at, end)
    return word_end(data, at, end)


@inlined
def _fits(
    data: Any, at: int, end: int, row: int, ops: Any, first: int, literals: Any, words: Any, room: Any, values: Any
) -> bool:
    """Whether a line follows a template, whose values are put into the row of `values`."""
    op = first
    while True:
        kind, literal, length, out = ops[op, 0], ops[op, 1], ops[op, 2], ops[op, 3]
        if at + length > end or not is_same(data, at, literals, literal, length):
            return False
        at += length
        if kind == END:
            while at < end and (data[at] == _SPACE or data[at] == _RETURN or data[at] == _TAB):
                at += 1
            return at == end
        if at >= end:
            return False
        if kind == INT:
            stop = digits_end(data, at, end)
            if stop == at or stop - at > _MOST_DIGITS or (data[at] == _ZERO and stop > at + 1):
                return False
            values[row, out] = _whole(data, at, stop)
            at = stop
        elif kind == REST:
            at = _rest_end(data, at, end, out, words, room)
            if at < 0:
                return False
        elif kind == REAL:
            stop = number_end(data, at, end)
            if stop < 0:
                return False
            values[row, out] = at << LENGTH_BITS | (stop - at)
            at = stop
        else:
            if data[at] != _QUOTE:
                return False
            at += 1
            stop = plain_end(data, at, end)
            if stop < 0:
                return False
            if kind == TEXT:
                values[row, out] = at << LENGTH_BITS | (stop - at)
            elif kind == KEY:
                values[row, out] = np.int64(hashed(data, at, stop)) if stop > at else 0
            else:
                values[row, out] = moment(data, at, stop)
                if values[row, out] < 0:
                    return False
            at = stop + 1
        op += 1


@compiled
def matched(
    data: Any, starts: Any, ends: Any, rows: Any, ops: Any, firsts: Any, literals: Any, words: Any, room: Any,
    found: Any, values: Any,
) -> None:  # fmt: skip
    """Which of the templates some lines follow; -1 for those that follow none.

    Args:
        data: bytes of all lines.
        starts: where each begins.
        ends: where each ends.
        rows: the lines that are asked for.
        ops: steps of all templates: what stands there, where its literal is and how long, and where its value goes.
        firsts: first step of each.
        literals: bytes of all.
        words: as `signs.list_end`.
        room: as `signs.list_end`.
        found: the number of the template of each of `rows`, which this fills.
        values: theirs, which this fills: numbers, hashes, or place and length of a text.
    """
    last, many = 0, len(firsts)
    for place in range(len(rows)):
        row = rows[place]
        found[place] = -1
        for tried in range(many):
            which = (last + tried) % many
            if _fits(data, starts[row], ends[row], place, ops, firsts[which], literals, words, room, values):
                found[place] = last = which
                break


ABSENT, NUMBER, WORDS, TIME, NAMES = range(5)
"""What a cell of a table is: nothing, a whole number, a text, a moment, an id."""
COUNTS, TIMES, IDS, PROSE, LEVEL, OTHERS = range(6)
"""What cells of a column may be."""


@inlined
def _cell(data: Any, at: int, end: int, kind: int, filled: bool) -> tuple[int, Any]:
    """What a cell is, and its value; -1 where that is not certain."""
    while at < end and (data[at] == _SPACE or data[at] == _TAB):
        at += 1
    while end > at and (data[end - 1] == _SPACE or data[end - 1] == _TAB):
        end -= 1
    if at == end:
        return (NUMBER, 0) if filled else (ABSENT, 0)
    first, last = data[at], data[end - 1]
    if first <= _SPACE or last <= _SPACE or first > _LAST_ASCII or last > _LAST_ASCII or end - at > _LONGEST_CELL:
        return -1, 0
    is_whole = kind <= PROSE and kind != IDS and end - at <= _MOST_DIGITS and digits_end(data, at, end) == end
    if is_whole:
        return NUMBER, _whole(data, at, end)
    if kind == COUNTS:
        return -1, 0
    if kind == PROSE:
        return (ABSENT, 0) if _is_letter(first) else (-1, 0)
    if kind == TIMES:
        found = moment(data, at, end)
        return (TIME, found) if found >= 0 else (-1, 0)
    if kind == LEVEL and first == _OPEN:
        return -1, 0
    if kind == IDS:
        return NAMES, np.int64(hashed(data, at, end))
    return WORDS, at << LENGTH_BITS | (end - at)


@inlined
def _row(data: Any, at: int, end: int, sign: int, many: int, wanted: Any, filled: Any, values: Any, row: int) -> int:
    """The kinds of the cells of a row as one number, its values aside; -1 where that is not certain."""
    place, kept, shape, is_empty = 0, 0, 0, True
    while True:
        start = at
        quoted = at < end and data[at] == _QUOTE
        if quoted:
            start = at = at + 1
            at = sign_at(data, at, end, _QUOTE)
            if at >= end:
                return -1
            stop = at
            at += 1
            if at < end and data[at] != sign:
                return -1
        else:
            at = stop = cell_end(data, at, end, sign)
            if stop < 0:
                return -1
        is_empty = is_empty and stop == start
        if place >= many:
            return -1
        if wanted[place] >= 0:
            what, value = _cell(data, start, stop, wanted[place], filled[place])
            if what < 0:
                return -1
            values[row, kept] = value
            shape = shape * 5 + what
            kept += 1
        place += 1
        if at >= end:
            break
        at += 1
        if at == end:  # an empty cell stands last
            if place >= many:
                return -1
            if wanted[place] >= 0:
                what, value = _cell(data, end, end, wanted[place], filled[place])
                values[row, kept] = value
                shape = shape * 5 + what
            place += 1
            break
    return -1 if place != many or is_empty else shape


@compiled
def cells(
    data: Any, starts: Any, ends: Any, rows: Any, sign: int, wanted: Any, filled: Any, found: Any, values: Any
) -> None:
    """The cells of rows of a table.

    Args:
        data: bytes of all lines.
        starts: where each begins.
        ends: where each ends.
        rows: the lines that are asked for.
        sign: what stands between cells.
        wanted: what the cells of each column may be; -1 for those that say nothing.
        filled: whether an empty cell stands for 0.
        found: kinds of the cells of each of `rows` as one number, which this fills; -1 where that is not certain.
        values: theirs, which this fills.
    """
    for place in range(len(rows)):
        row = rows[place]
        end = ends[row]
        while end > starts[row] and data[end - 1] == _RETURN:
            end -= 1
        found[place] = _row(data, starts[row], end, sign, len(wanted), wanted, filled, values, place)


@compiled
def texts(data: Any, spans: Any, offsets: Any) -> Any:
    """Texts one after another, by their places and lengths; where each begins goes into `offsets`."""
    whole = 0
    for place in range(len(spans)):
        offsets[place] = whole
        whole += spans[place] & ((1 << LENGTH_BITS) - 1)
    offsets[len(spans)] = whole
    found = np.empty(whole, np.uint8)
    at = 0
    for place in range(len(spans)):
        start, length = spans[place] >> LENGTH_BITS, spans[place] & ((1 << LENGTH_BITS) - 1)
        for sign in range(np.uint64(length)):
            found[np.uint64(at) + sign] = data[np.uint64(start) + sign]
        at += length
    return found


@compiled
def hashes(data: Any, starts: Any, ends: Any, rows: Any) -> Any:
    """A hash of each of some lines, without the white space around it."""
    found = np.empty(len(rows), np.uint64)
    for place in range(len(rows)):
        at, end = starts[rows[place]], ends[rows[place]]
        if end - at > 2 and data[at] == 0xEF and data[at + 1] == 0xBB and data[at + 2] == 0xBF:
            at += 3
        while at < end and data[at] <= _SPACE:
            at += 1
        while end > at and data[end - 1] <= _SPACE:
            end -= 1
        found[place] = hashed(data, at, end)
    return found


@compiled
def keys(data: Any, ends: Any) -> Any:
    """A hash of each of some texts that stand one after another; 0 for an empty one."""
    found = np.zeros(len(ends) - 1, np.uint64)
    for place in range(len(found)):
        if ends[place + 1] > ends[place]:
            found[place] = hashed(data, ends[place], ends[place + 1])
    return found


@compiled
def repeated(hashes: Any) -> int:
    """How many of some hashes, none of them 0, stood before."""
    bits = 4
    while 1 << bits < 2 * len(hashes):
        bits += 1
    room, last = np.zeros(1 << bits, np.uint64), np.uint64((1 << bits) - 1)
    shift, many = np.uint64(64 - bits), 0
    for one in hashes:
        at = one >> shift
        while room[at] != 0 and room[at] != one:
            at = (at + np.uint64(1)) & last
        many += room[at] == one
        room[at] = one
    return many


@compiled
def is_balanced(data: Any, starts: Any, ends: Any) -> bool:
    """Whether each line has as many quotes that open as quotes that close, so that no text goes over lines."""
    for row in range(len(starts)):
        odd = False
        for place in range(np.uint64(starts[row]), np.uint64(ends[row])):
            odd ^= data[place] == _QUOTE
        if odd:
            return False
    return True
