"""A file in blocks of whole lines, many thousands at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inferdash.pricing.pieces import LONGEST

BLOCK: Final = 1 << 24
"""Bytes of a block."""
_RUNNING: Final = (b"otal_token_usage", b"otalTokenUsage", b"turn.completed")
"""Names of running totals, which say nothing without the lines before."""
_LINE_END, _RETURN, _QUOTE = b'\n\r"'


@dataclass(frozen=True)
class Block:
    """Lines that follow one another, apart from those with nothing in them."""

    data: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    """Where each line ends, its own end not included."""
    ended: bool
    """Whether the last line has an end."""

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, row: int) -> bytes:
        """A line with its end."""
        is_last = row == len(self) - 1
        return self.data[self.starts[row] : self.ends[row]] + (b"\n" if self.ended or not is_last else b"")

    def text(self, row: int) -> str:
        """A line as an engine has it, with all that comes before the next."""
        end = self.starts[row + 1] if row + 1 < len(self) else len(self.data)
        return self.data[self.starts[row] : end].decode()

    def table(self, rows: NDArray[np.int64], threads: int) -> Any:
        """Some of the lines with their numbers, parted for so many threads."""
        lines = pa.array([], pa.string())
        if len(rows):
            offsets = np.append(self.starts, len(self.data)).astype(np.int32)
            whole = pa.StringArray.from_buffers(len(self), pa.py_buffer(offsets), pa.py_buffer(self.data))
            lines = whole if len(rows) == len(self) else whole.take(pa.array(rows))
        part = max(1, -(-len(rows) // threads))
        numbered = pa.table({"row": pa.array(rows), "line": lines})
        return pa.Table.from_batches(numbered.to_batches(max_chunksize=part), numbered.schema)

    @property
    def is_running(self) -> bool:
        """Whether a line may hold a running total."""
        return any(name in self.data for name in _RUNNING)

    @property
    def is_balanced(self) -> bool:
        """Whether each line has as many quotes that open as quotes that close, so that no text goes over lines."""
        quotes = np.frombuffer(self.data, np.uint8) == _QUOTE
        if not quotes.any():
            return True
        before = np.concatenate(([0], np.cumsum(quotes)))
        return not ((before[self.ends] - before[self.starts]) % 2).any()


@dataclass(frozen=True)
class RowBlock:
    """Rows of a table that follow one another."""

    batch: Any
    data: bytes = b""
    """What lines there are as text: none."""

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def row(self, row: int) -> dict[str, Any]:
        """A row by the names of its columns."""
        return self.batch.slice(row, 1).to_pylist()[0]  # type: ignore[no-any-return]  # so it is

    def table(self, rows: NDArray[np.int64], threads: int) -> Any:
        """As `Block.table`, with the columns in place of the lines."""
        whole = self.batch if len(rows) == len(self) else self.batch.take(pa.array(rows))
        numbered = pa.Table.from_batches([whole]).append_column("row", pa.array(rows))
        part = max(1, -(-len(rows) // threads))
        return pa.Table.from_batches(numbered.to_batches(max_chunksize=part), numbered.schema)


def blocks(pieces: Iterator[bytes], size: int = BLOCK) -> Iterator[Block | list[bytes]]:
    """The blocks of a file; last, where a line is too long for one, what was read of it, and the file goes on."""
    held: list[bytes] = []
    many = 0
    for piece in pieces:
        held.append(piece)
        many += len(piece)
        if many < size:
            continue
        data = b"".join(held)
        end = data.rfind(b"\n") + 1
        if not end:
            if len(data) > LONGEST:
                yield [data]
                return
            held = [data]
            continue
        yield of(data[:end])
        held, many = [data[end:]], len(data) - end
    if data := b"".join(held):
        yield of(data)


def of(data: bytes) -> Block:
    """The lines of some bytes, whose signs that are no UTF-8 are replaced."""
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode(errors="replace").encode()
    signs = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(signs == _LINE_END)
    ended = data.endswith(b"\n")
    if not ended:
        ends = np.append(ends, len(data))
    starts = np.concatenate(([0], ends[:-1] + 1))
    empty = (ends == starts) | ((ends == starts + 1) & (signs[np.minimum(starts, len(data) - 1)] == _RETURN))
    return Block(data, starts[~empty], ends[~empty], ended)
