"""Rows of a table that is written as text, as columns with types."""

import numpy as np

from inferdash.pricing.columns.blocks import Block
from inferdash.pricing.columns.cells import Column, Form
from inferdash.pricing.columns.lines import (
    ABSENT,
    COUNTS,
    IDS,
    LEVEL,
    MOST_SHAPES,
    NAMES,
    NUMBER,
    OTHERS,
    PROSE,
    TIME,
    TIMES,
    cells,
)  # fmt: skip
from inferdash.pricing.columns.parts import Part, Rows, halved, is_user, kinds_of, of_kind, part, roles_of
from inferdash.pricing.columns.sums import MOST_COLUMNS
from inferdash.pricing.dialects.plans import layout_of
from inferdash.pricing.dialects.shapes import TEXTS, is_text_level
from inferdash.pricing.logs.tables import Table

_KINDS = 5
_MOST = min(MOST_COLUMNS, 26)
"""Columns whose kinds are told by one number."""


class TableRows:
    """How the rows of one table become columns."""

    def __init__(self, table: Table, threads: int, *, users: bool) -> None:
        """`threads` share the rows of a block; `users`: who asked is to be known."""
        self._threads, self._sign = threads, ord(table.sign)
        self._kept = [one for one in table.kept if users or not is_user((one[1],))]
        self._wanted = np.full(len(table.header), -1, np.int64)
        self._filled = np.zeros(len(table.header), np.bool_)
        for place, name, empty in self._kept:
            self._wanted[place], self._filled[place] = _kind_of(name), empty == "0"
        self._is_read = len(self._kept) <= _MOST and {empty for _, _, empty in table.kept} <= {"", "0"}

    def parts(self, block: Block, rows: Rows) -> tuple[list[Part], Rows]:
        """Rows that are certain, by what their cells are, and those that are not."""
        if not self._is_read:
            return [], rows
        found = np.empty(len(rows), np.int64)
        values = np.empty((len(rows), max(1, len(self._kept))), np.int64)

        def work(some: slice) -> None:
            how = (self._sign, self._wanted, self._filled)
            cells(block.signs, block.starts, block.ends, rows[some], *how, found[some], values[some])

        halved(work, len(rows), self._threads)
        parts: list[Part] = []
        left = [rows[:0]]
        shapes, often = kinds_of(found)
        for place in np.argsort(-often):
            shape, many = int(shapes[place]), int(often[place])
            own = of_kind(rows, found, shape, many=many)
            columns = self._columns(shape) if shape >= 0 and len(parts) < MOST_SHAPES else []
            if layout_of([one.way for _, one in columns]).counts:
                cut = of_kind(values, found, shape, many=many)[:, [at for at, _ in columns]]
                parts.append(part(block, own, [one for _, one in columns], cut))
            else:
                left.append(own)
        return parts, np.sort(np.concatenate(left))

    def _columns(self, shape: int) -> list[tuple[int, Column]]:
        """The columns of rows with cells of some kinds, and their places among all that are kept."""
        kinds = [shape // _KINDS ** (len(self._kept) - 1 - place) % _KINDS for place in range(len(self._kept))]
        return [
            (place, Column(f"c{place}", (name,), _form_of(kind)))
            for place, (kind, (_, name, _)) in enumerate(zip(kinds, self._kept, strict=True))
            if kind != ABSENT
        ]


def _kind_of(name: str) -> int:
    own, roles = layout_of([(name,)]), roles_of((name,))
    if name in TEXTS:
        return PROSE
    if is_text_level(name):
        return LEVEL
    if own.counts or own.fees or roles & {"requests", "time_ms"}:
        return COUNTS
    if "time" in roles:
        return TIMES
    return IDS if roles & {"id", "message", "request"} else OTHERS


def _form_of(kind: int) -> Form:
    forms: dict[int, Form] = {NUMBER: "int", TIME: "moment", NAMES: "key"}
    return forms.get(kind, "text")
