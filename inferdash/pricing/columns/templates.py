"""Templates of lines of JSON: most lines of a log are the same signs around other values.

A template is the signs between the values of one line. A line that follows it has the same names in the same order,
none of them twice, and values of the same kinds, so that what it says is known by that template's columns alone. What
follows none is left to the reader of lines.
"""

import json
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # it is there, and what `json` itself reads texts by
from typing import Any, Final, NamedTuple

import numpy as np

from inferdash.pricing.columns.blocks import Block
from inferdash.pricing.columns.cells import Column, Form
from inferdash.pricing.columns.lines import (
    END,
    INT,
    IS_LEVEL,
    IS_LIST,
    IS_MADE,
    IS_PROSE,
    KEY,
    MOMENT,
    REAL,
    REST,
    TEXT,
    matched,
)  # fmt: skip
from inferdash.pricing.columns.parts import Part, Rows, halved, is_id, is_relevant, kinds_of, of_kind, part, roles_of
from inferdash.pricing.columns.signs import SCRATCH, hashed_text, moment
from inferdash.pricing.columns.sums import MOST_COLUMNS
from inferdash.pricing.dialects.fees import MADE_OF, SPOKEN_OF
from inferdash.pricing.dialects.names import normal
from inferdash.pricing.dialects.plans import BY_MODEL, layout_of
from inferdash.pricing.dialects.shapes import DEEPEST, FLAGS, LABELS, TEXTS, Path, is_hit, is_text_level

_MOST: Final = 64
"""Templates of a file."""
_LEARNED: Final = 16
"""Lines at once from which templates are made."""
_MOST_DIGITS: Final = 15
_MOST_SIGNS: Final = 1 << 16
"""Of a line of which a template is made."""
_TYPE: Final = ("type",)
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\r\n"
_WORDS: Final = np.array([hashed_text(one) for one in (*LABELS, *SPOKEN_OF)], np.uint64)


class _NoTemplateError(ValueError):
    """A line of which no template is made."""


class _Leaf(NamedTuple):
    """A value of a line, and where it stands."""

    way: Path
    value: Any
    start: int
    end: int


@dataclass(frozen=True)
class Template:
    """The signs of a line between its values."""

    ops: tuple[tuple[int, bytes, int], ...]
    """What stands behind which literal, and the number of its column, or the rules of what says nothing."""
    columns: tuple[Column, ...]


def template_of(text: str, *, users: bool = False) -> Template | None:
    """The template that a line of JSON is of; None where it is none. `users`: who asked is a value of it."""
    leaves: list[_Leaf] = []
    try:
        if len(text) > _MOST_SIGNS or not text.startswith("{"):
            return None
        end = _walk(text, 0, (), leaves)
        if text[end:].strip(_SPACE):
            return None
        said = [_of_value(leaf, relevant=is_relevant(leaf.way, users=users)) for leaf in leaves]
    except (ValueError, IndexError, RecursionError):
        return None
    ops: list[tuple[int, bytes, int]] = []
    columns: list[Column] = []
    at = 0
    for leaf, (kind, form, rules) in zip(leaves, said, strict=True):
        if kind == END:  # what is true, false or null where it says nothing, and a number would
            continue
        ops.append((kind, text[at : leaf.start].encode(), rules if kind == REST else len(columns)))
        if kind != REST:
            columns.append(Column(f"c{len(columns)}", leaf.way, form))
        at = leaf.end
    ops.append((END, text[at:end].encode(), 0))
    own = layout_of([one.way for one in columns])
    is_one = not any(normal(name) == BY_MODEL for leaf in leaves for name in leaf.way)
    is_read = own.counts and not own.running and is_one and len(columns) <= MOST_COLUMNS
    return Template(tuple(ops), tuple(columns)) if is_read else None


def _walk(text: str, at: int, above: Path, leaves: list[_Leaf]) -> int:
    """The values of the object that begins at a place; where it ends."""
    if len(above) > DEEPEST:
        raise _NoTemplateError
    names: set[str] = set()
    at = _after_space(text, at + 1)
    if text[at] == "}":
        return at + 1
    while True:
        if text[at] != '"':
            raise _NoTemplateError
        name, at = scanstring(text, at + 1)
        if name in names:
            raise _NoTemplateError
        names.add(name)
        at = _after_space(text, at)
        if text[at] != ":":
            raise _NoTemplateError
        at = _after_space(text, at + 1)
        if text[at] == "{":
            end = _walk(text, at, (*above, name), leaves)
        else:
            value, end = _DECODER.raw_decode(text, at)
            leaves.append(_Leaf((*above, name), value, at, end))
        at = _after_space(text, end)
        if text[at] == "}":
            return at + 1
        if text[at] != ",":
            raise _NoTemplateError
        at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _of_value(leaf: _Leaf, *, relevant: bool) -> tuple[int, Form, int]:
    """What stands at a place, how its column is written, and the rules of what says nothing."""
    value, name = leaf.value, leaf.way[-1]
    rules = (IS_PROSE if name in TEXTS else 0) | (IS_MADE if name in MADE_OF else 0) | (IS_LEVEL * is_text_level(name))
    if name in TEXTS and type(value) is bool:
        raise _NoTemplateError
    if type(value) is list:
        return REST, "text", rules | IS_LIST
    if name in TEXTS and type(value) is str:
        return REST, "text", rules
    if not relevant:
        return REST, "text", rules
    if type(value) is bool and (normal(name) in FLAGS or is_hit(leaf.way)):
        raise _NoTemplateError
    if value is None or type(value) is bool:
        return END, "text", 0
    return (*_of_number(leaf), 0) if type(value) is not str else (*_of_text(leaf), 0)


def _of_number(leaf: _Leaf) -> tuple[int, Form]:
    value, roles = leaf.value, roles_of(leaf.way)
    if type(value) is int:
        if not 0 <= value < 10**_MOST_DIGITS:
            raise _NoTemplateError
        return INT, "int"
    if not roles or not roles <= {"cost", "ticks", "time", "time_ms"}:
        raise _NoTemplateError
    return REAL, "text"


def _of_text(leaf: _Leaf) -> tuple[int, Form]:
    roles = roles_of(leaf.way)
    if is_id(leaf.way):
        return KEY, "key"
    signs = np.frombuffer(leaf.value.encode(errors="replace"), np.uint8)
    if "time" in roles and moment(signs, 0, len(signs)) >= 0:
        return MOMENT, "moment"
    return TEXT, "text"


class Templates:
    """The templates of a file, as they are met."""

    def __init__(self, threads: int, *, users: bool) -> None:
        """`threads` share the lines of a block; `users`: who asked is to be known."""
        self._threads, self._users = threads, users
        self._known: dict[Template, None] = {}
        self.typed = False
        """Whether lines that follow one of them may tell their type."""
        self._ops = np.empty((0, 4), np.int64)
        self._firsts = np.empty(0, np.int64)
        self._literals = np.empty(0, np.uint8)

    def parts(self, block: Block, rows: Rows) -> tuple[list[Part], Rows]:
        """Lines that follow a template, and those that follow none."""
        found: list[Part] = []
        left = rows
        if self._known:
            left = self._matched(block, rows, found)
        while len(left) and len(self._known) < _MOST and self._learn(block, left):
            left = self._matched(block, left, found)
        return found, left

    def _learn(self, block: Block, rows: Rows) -> bool:
        """Takes in the templates of some lines, and says whether any was new."""
        before = len(self._known)
        for row in rows[:: max(1, len(rows) // _LEARNED)]:
            if one := template_of(block.line(int(row)).decode().rstrip(), users=self._users):
                self._known.setdefault(one)
            if len(self._known) == _MOST:
                break
        if len(self._known) == before:
            return False
        self.typed = any(column.way == _TYPE for one in self._known for column in one.columns)
        ops: list[tuple[int, ...]] = []
        literals: list[bytes] = []
        firsts: list[int] = []
        at = 0
        for one in self._known:
            firsts.append(len(ops))
            for kind, literal, out in one.ops:
                ops.append((kind, at, len(literal), out))
                literals.append(literal)
                at += len(literal)
        self._ops, self._firsts = np.array(ops, np.int64), np.array(firsts, np.int64)
        self._literals = np.frombuffer(b"".join(literals), np.uint8)
        return True

    def _matched(self, block: Block, rows: Rows, parts: list[Part]) -> Rows:
        known = [*self._known]
        found = np.empty(len(rows), np.int64)
        values = np.empty((len(rows), max(len(one.columns) for one in known)), np.int64)

        def work(some: slice) -> None:
            room = np.zeros(SCRATCH, np.uint64)
            steps = (self._ops, self._firsts, self._literals, _WORDS, room)
            matched(block.signs, block.starts, block.ends, rows[some], *steps, found[some], values[some])

        halved(work, len(rows), self._threads)
        for which, many in zip(*kinds_of(found), strict=True):
            if which >= 0:
                own = [of_kind(one, found, which, many=many) for one in (rows, values)]
                parts.append(part(block, own[0], known[which].columns, own[1]))
        return rows[found < 0]
