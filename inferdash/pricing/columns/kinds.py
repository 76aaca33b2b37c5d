"""Kinds of files that are read in blocks: how one is parted, becomes columns, and how a line is read on its own."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from inferdash.pricing.columns import flat
from inferdash.pricing.columns.blocks import Block, RowBlock, blocks
from inferdash.pricing.columns.cells import Column
from inferdash.pricing.pieces import whole_lines
from inferdash.pricing.records import Found, Records
from inferdash.pricing.replay import Request
from inferdash.pricing.tables import Table
from inferdash.pricing.values import Record

Pieces: TypeAlias = Iterator[bytes]
Part: TypeAlias = Block | RowBlock | list[bytes]
"""Lines, rows of a table, or the start of a line that is too long for a block."""
_ROWS: Final = 1 << 17
"""Rows of a table that are read at once."""


class Kind(Protocol):
    """One file."""

    key: str
    """What two lines that say the same have in common, as an expression; "" where that is not asked."""

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Part]:
        """The file in parts of so many bytes; `again`: once more, from its start."""

    def stops(self, block: Part) -> bool:
        """Whether the file can be read line by line alone, from this block on."""

    def learn(self, block: Any, rows: Sequence[int]) -> tuple[str, list[Column]] | None:
        """A query of the columns of blocks, and the columns, where these lines show any that were not known."""

    def read(self, block: Any, row: int, records: Records) -> Found | None:
        """What a line says on its own."""

    def rest(self, block: Part, others: Iterable[Part]) -> Iterator[Request]:
        """The requests from a block on, line by line."""


class JsonLines:
    """Lines of JSON."""

    key = flat.KEY

    def __init__(self, records: Records, pieces: Pieces, again: Callable[[], Pieces]) -> None:
        """`again` gives the file from its start."""
        self._records, self._pieces, self._again = records, pieces, again
        self._names = flat.Names()

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Part]:
        """As `Kind.blocks`."""
        return blocks(self._again() if again else self._pieces, size)

    def stops(self, block: Part) -> bool:
        """Where a line is too long, or tells a running total, which says nothing without the lines before."""
        return not isinstance(block, Block) or block.is_running

    def learn(self, block: Block, rows: Sequence[int]) -> tuple[str, list[Column]] | None:
        """As `Kind.learn`."""
        is_new = self._names.learn(_objects(block, rows))
        return flat.of_json(self._names) if is_new and self._names.fits else None

    def read(self, block: Block, row: int, records: Records) -> Found | None:
        """As `Kind.read`."""
        line = block.line(row)
        return None if line.isspace() else records.said_line(line, noted=False)

    def rest(self, block: Part, others: Iterable[Part]) -> Iterator[Request]:
        """As `Kind.rest`."""
        lines = whole_lines(_chained(block, others, self._pieces))
        return filter(None, (self._records.line(line) for line in lines if line))


class TableLines:
    """Lines of a table that are written as text."""

    key = flat.KEY

    def __init__(self, records: Records, table: Table, pieces: Pieces, again: Callable[[], Pieces]) -> None:
        """`table` has read the line that names the columns; the pieces begin behind it."""
        self._records, self._table, self._pieces, self._again = records, table, pieces, again
        self._learned = False

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Part]:
        """As `Kind.blocks`."""
        return blocks(self._again() if again else self._pieces, size)

    def stops(self, block: Part) -> bool:
        """Where a line is too long, or a text goes over several lines."""
        return not isinstance(block, Block) or not block.is_balanced

    def learn(self, block: Block, rows: Sequence[int]) -> tuple[str, list[Column]] | None:
        """As `Kind.learn`; the first line has told all."""
        del block, rows
        known, self._learned = self._learned, True
        table = self._table
        return None if known else flat.of_table(table.first, table.header, table.kept, table.sign)

    def read(self, block: Block, row: int, records: Records) -> Found | None:
        """As `Kind.read`."""
        found = next(self._table.records(iter([block.line(row)])), None)
        return found and records.said(found[0], "")

    def rest(self, block: Part, others: Iterable[Part]) -> Iterator[Request]:
        """As `Kind.rest`."""
        for record, line in self._table.records(whole_lines(_chained(block, others, self._pieces))):
            if request := self._records.request(record, "", line):
                yield request


class Parquet:
    """A table whose columns have types."""

    key = ""

    def __init__(self, stream: Any) -> None:
        """Opens a file.

        Raises:
            ValueError: with a sentence, where it is none.
        """
        try:
            self._file = pq.ParquetFile(stream)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"The file begins as Parquet does, and cannot be read: {str(error)[:80]}.") from None
        self._query, self._columns = flat.of_schema(self._file.schema_arrow) or ("", [])
        self._learned = False

    def blocks(self, size: int, *, again: bool = False) -> Iterator[Part]:
        """As `Kind.blocks`."""
        del size, again
        names = dict.fromkeys(column.way[0] for column in self._columns)
        for batch in self._file.iter_batches(batch_size=_ROWS, columns=[*names]):
            yield RowBlock(flat.naive(batch))

    def stops(self, block: Part) -> bool:
        """Never: each row stands for itself."""
        del block
        return False

    def learn(self, block: RowBlock, rows: Sequence[int]) -> tuple[str, list[Column]] | None:
        """As `Kind.learn`; the file has told all."""
        del block, rows
        known, self._learned = self._learned, True
        return None if known or not self._columns else (self._query, self._columns)

    def read(self, block: RowBlock, row: int, records: Records) -> Found | None:
        """As `Kind.read`."""
        return records.said(as_record(block.row(row)), "")

    def rest(self, block: Part, others: Iterable[Part]) -> Iterator[Request]:
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


def _objects(block: Block, rows: Iterable[int]) -> Iterator[Record]:
    for row in rows:
        try:
            record = json.loads(block.line(row))
        except (ValueError, RecursionError):
            continue
        if type(record) is dict:
            yield record


def _chained(block: Part, others: Iterable[Part], pieces: Pieces) -> Pieces:
    """A block and all that comes after it, as it is read on."""
    for one in chain([block], others):
        yield from one if isinstance(one, list) else [one.data]
    yield from pieces
