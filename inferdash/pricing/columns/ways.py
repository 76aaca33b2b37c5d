"""How lines with the same columns are summed: the questions for it, planned once for all blocks of a log."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inferdash.pricing.columns.cells import CENT
from inferdash.pricing.columns.database import Database, Stream
from inferdash.pricing.columns.ids import Ids
from inferdash.pricing.columns.parts import Part, Rows, is_id
from inferdash.pricing.columns.sums import KEYS, NAMELESS, WHOLE, Found, Lines

_TYPES: Final = {
    "text": "string", "key": "uint64", "count": "int64", "int": "int64", "moment": "int64", "real": "float64",
    "decimal": CENT, "time": "timestamp",
}  # fmt: skip
_HELD: Final = 8
"""Blocks whose sums are told at once: there are as many of a block as of many."""
_NONE: Final = np.empty(0, np.int64)


class Way:
    """The lines of one kind of part, a block after another.

    Each block is taken, its sums are added up, and then what is wanted of its single lines is asked.
    """

    def __init__(self, name: str, database: Database, part: Part, *, edges: Sequence[int], threads: int) -> None:
        """Begins with a part of the kind.

        Args:
            name: of its lines in the database.
            database: that is asked.
            part: any of them.
            edges: input tokens at which any price changes, from 0 on.
            threads: that read lines.
        """
        self._database, self._threads = database, threads
        self._lines = Lines(part.columns, edges)
        names = {one.name: _TYPES[one.form] for one in part.columns}
        self._source = ibis.table({"row": "int64", **({WHOLE: "boolean"} if part.query else {}), **names}, name="lines")
        self._from = f"{part.query} from {name}"
        self._stream = Stream(part.table)
        database.with_table(name, self._stream)
        self._present: set[int] = set()
        self._read = self._sums = ""
        self._held: list[Any] = []
        self._has_ids = any(is_id(column.way) for column in part.columns)
        self._is_all = False

    def take(self, part: Part, questions: dict[tuple[Any, ...], str]) -> Iterator[Found]:
        """Sums the lines of another block; gives what was held until now, where that is enough or of another meaning.

        Args:
            part: of the same kind.
            questions: those for sums that any way has met, by all that they depend on.
        """
        self._stream.take(part.table, threads=self._threads)
        present = self._kinds(part)
        if not present <= self._present or not self._read:
            yield from self.told()
            self._present |= present
            self._plan(questions)
        if len(self._held) == _HELD:
            yield from self.told()
        self._held.append(self._database.sums(f"{self._said} {self._sums}"))
        self._is_all = pc.sum(self._held[-1]["lines"]).as_py() == len(part.table)

    def told(self) -> Iterator[Found]:
        """The sums that are held, as one."""
        if not self._held:
            return
        sums = pa.concat_tables(self._held)
        if len(self._held) > 1:
            self._database.with_table("held", sums)
            sums = self._database.sums(_as_one(sums.column_names))
        self._held.clear()
        yield from self._lines.found(sums.to_pylist())

    def keep_ids(self, ids: Ids, before: int) -> None:
        """Keeps the ids of the lines that are in the sums; `before`: lines of the file before the block."""
        if self._has_ids and len(self._held[-1]):
            ids.keep_said(self._said, self._summed, before)

    def nameless(self, part: Part) -> Rows:
        """Lines that are in the sums and have no id."""
        sums = self._held[-1]
        none_has_one = NAMELESS not in sums.column_names
        if none_has_one and self._is_all and self._lines.same.get("passed") is False:
            return np.asarray(part.table["row"].to_numpy(), np.int64)
        if not none_has_one and not pc.any(pc.greater(sums[NAMELESS], 0)).as_py():
            return _NONE
        return self._where(f"{self._summed} and message is null and request is null")

    def left(self) -> Rows:
        """Lines that are in no sum."""
        return _NONE if self._is_all else self._where("not good")

    def let_go(self) -> None:
        """Holds the lines of the block no longer."""
        self._stream.let_go()

    @property
    def _said(self) -> str:
        """The start of a question about the block, in which `said` is what its lines say."""
        return f"with lines as ({self._from}), said as ({self._read})"

    @property
    def _summed(self) -> str:
        """Which lines of `said` are requests that the sums hold."""
        return "not passed" if self._is_all else "good and not passed"

    def _where(self, condition: str) -> Rows:
        question = f"{self._said} select row from said where {condition}"  # noqa: S608 - names are our own
        return self._database.lines(question)

    def _kinds(self, part: Part) -> set[int]:
        """Which columns have values in these lines, for every kind of them."""
        if not part.varies:
            return {(1 << len(part.columns)) - 1}
        asked = _sql(self._source.select(kind=self._lines.presence(self._source)).distinct())
        found = self._database.run(f"with lines as ({self._from}) {asked}").fetchall()
        return {kind for (kind,) in found}

    def _plan(self, questions: dict[tuple[Any, ...], str]) -> None:
        """Makes the question for what each line of the kinds that were met says, and the one for the sums."""
        lines = self._lines
        read = lines.read(self._source, self._present)
        self._read = _sql(read)
        alike = (*lines.same.items(), *(one.told for one in lines.meant))
        key = (*read.schema().items(), *alike)  # all that the question for the sums depends on
        if key not in questions:
            questions[key] = _sql(lines.summed(ibis.table(read.schema(), name="said"), copied=True))
        self._sums = questions[key]


def _as_one(names: Iterable[str]) -> str:
    """The question that makes of several sums of the same kind one."""
    how = {name: name for name in KEYS} | {"first_s": "min(first_s)", "last_s": "max(last_s)"}
    asked = ", ".join(f"{how.get(name, f'sum({name})')} as {name}" for name in names)
    return f"select {asked} from held group by all"  # noqa: S608 - names are our own


def _sql(expression: Any) -> str:
    return str(ibis.to_sql(expression, dialect="duckdb"))
