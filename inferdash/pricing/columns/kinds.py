"""Kinds of files that are read in blocks: how one is parted, becomes columns, and how a line is read on its own."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from inferdash.pricing.columns import flat
from inferdash.pricing.columns.blocks import Block, RowBlock, blocks
from inferdash.pricing.columns.lines import is_balanced
from inferdash.pricing.columns.parts import Part, Rows
from inferdash.pricing.columns.rows import TableRows
from inferdash.pricing.columns.templates import Templates
from inferdash.pricing.logs.pieces import whole_lines
from inferdash.pricing.logs.records import Found, Records
from inferdash.pricing.logs.tables import Table
from inferdash.pricing.logs.values import Record
from inferdash.pricing.replay import Request

Pieces: TypeAlias = Iterator[bytes]
Some: TypeAlias = Block | RowBlock | list[bytes]
"""Lines, rows of a table, or the start of a line that is too long for a block."""
_ROW_BYTES: Final = 64
"""Of a row of a table, by which so many are read at once as lie in a block."""
_FEWEST_ROWS: Final = 1 << 17


class Kind(Protocol):
    """One file."""

    is_text: bool
    """Whether lines that say the same are told."""

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Some]:
        """The file in parts of so many bytes; `again`: once more, from its start."""

    def stops(self, block: Any, left: Rows) -> bool:
        """Whether the file can be read line by line alone, from this block on, by the lines that are not certain."""

    def parts(self, block: Any, rows: Rows) -> tuple[list[Part], Rows]:
        """Lines as columns with types, and those that are not certain."""

    def read(self, block: Any, row: int, records: Records) -> Found | None:
        """What a line says on its own."""

    def rest(self, block: Some, others: Iterable[Some]) -> Iterator[Request]:
        """The requests from a block on, line by line."""


class JsonLines:
    """Lines of JSON."""

    is_text = True

    def __init__(self, records: Records, pieces: Pieces, again: Callable[[], Pieces], templates: Templates) -> None:
        """`again` gives the file from its start."""
        self._records, self._pieces, self._again = records, pieces, again
        self._templates, self.parts = templates, templates.parts

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Some]:
        """As `Kind.blocks`."""
        return blocks(self._again() if again else self._pieces, size)

    def stops(self, block: Block, left: Rows) -> bool:
        """Where a line tells a running total, which says nothing without the lines before."""
        return block.is_running(left, typed=self._templates.typed)

    def read(self, block: Block, row: int, records: Records) -> Found | None:
        """As `Kind.read`."""
        line = block.line(row)
        return None if line.isspace() else records.said_line(line, noted=False)

    def rest(self, block: Some, others: Iterable[Some]) -> Iterator[Request]:
        """As `Kind.rest`."""
        lines = whole_lines(_chained(block, others, self._pieces))
        return filter(None, (self._records.line(line) for line in lines if line))


class TableLines:
    """Lines of a table that are written as text."""

    is_text = True

    def __init__(
        self, records: Records, table: Table, pieces: Pieces, again: Callable[[], Pieces], threads: int
    ) -> None:
        """`table` has read the line that names the columns; the pieces begin behind it."""
        self._records, self._table, self._pieces, self._again = records, table, pieces, again
        self.parts = TableRows(table, threads, users=records.users).parts

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Some]:
        """As `Kind.blocks`."""
        return blocks(self._again() if again else self._pieces, size)

    def stops(self, block: Block, left: Rows) -> bool:
        """Where a text goes over several lines."""
        return not is_balanced(block.signs, block.starts[left], block.ends[left])

    def read(self, block: Block, row: int, records: Records) -> Found | None:
        """As `Kind.read`."""
        found = next(self._table.records(iter([block.line(row)])), None)
        return found and records.said(found[0], "")

    def rest(self, block: Some, others: Iterable[Some]) -> Iterator[Request]:
        """As `Kind.rest`."""
        for record, line in self._table.records(whole_lines(_chained(block, others, self._pieces))):
            if request := self._records.request(record, "", line):
                yield request


class Parquet:
    """A table whose columns have types."""

    is_text = False

    def __init__(self, stream: Any, *, users: bool) -> None:
        """Opens a file; `users`: who asked is to be known.

        Raises:
            ValueError: with a sentence, where it is none.
        """
        try:
            schema = pq.read_schema(stream)
            stream.seek(0)
            self._typed = flat.Typed(schema, users=users)
            self._file = pq.ParquetFile(stream, read_dictionary=self._typed.repeated)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"The file begins as Parquet does, and cannot be read: {str(error)[:80]}.") from None

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Some]:
        """As `Kind.blocks`."""
        del again
        names = dict.fromkeys(way[0] for way in self._typed.ways)
        rows = max(_FEWEST_ROWS, size // _ROW_BYTES)
        held: list[Any] = []
        for batch in self._file.iter_batches(batch_size=rows, columns=[*names]):
            held.append(batch)  # one of names that repeat ends with its group of rows
            if sum(map(len, held)) >= rows:
                yield RowBlock(flat.naive(pa.Table.from_batches(held).unify_dictionaries()))
                held.clear()
        if held:
            yield RowBlock(flat.naive(pa.Table.from_batches(held).unify_dictionaries()))

    def stops(self, block: RowBlock, left: Rows) -> bool:
        """Never: each row stands for itself."""
        del block, left
        return False

    def parts(self, block: RowBlock, rows: Rows) -> tuple[list[Part], Rows]:
        """As `Kind.parts`."""
        batch = block.batch.slice(len(block) - len(rows))  # those that were read alone came first
        return self._typed.parts(batch, rows)

    def read(self, block: RowBlock, row: int, records: Records) -> Found | None:
        """As `Kind.read`."""
        return records.said(as_record(block.row(row)), "")

    def rest(self, block: Some, others: Iterable[Some]) -> Iterator[Request]:
        """Nothing: see `stops`."""
        del block, others
        return iter(())


def as_record(row: Record) -> Record:
    """A row of an engine as a log would write it."""
    return {name: _written(value) for name, value in row.items() if value is not None}


def _written(value: Any) -> Any:
    if isinstance(value, dict):
        return as_record(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _chained(block: Some, others: Iterable[Some], pieces: Pieces) -> Pieces:
    """A block and all that comes after it, as it is read on."""
    for one in chain([block], others):
        yield from one if isinstance(one, list) else [one.text]
    yield from pieces
