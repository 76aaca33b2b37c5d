"""A file in blocks of whole lines, many thousands at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inferdash.pricing.columns.signs import lines_of
from inferdash.pricing.logs.pieces import LONGEST

BLOCK: Final = 1 << 25
"""Bytes of a block: more leave the caches of a processor, less ask too often."""
_TURN: Final = b"turn.completed"
"""Type of a line that tells a running total, which says nothing without the lines before."""
_RUNNING: Final = (b"otal_token_usage", b"otalTokenUsage", _TURN)
"""The same and names of such totals."""
_FEW: Final = 8
"""Of so many lines fewer than one is looked at alone."""
_SHORT: Final = 32
"""Bytes of a line, where room for lines is made."""
_LAST_ASCII: Final = 127
_LINE_END: Final = 0x0A


@dataclass(frozen=True)
class Block:
    """Lines that follow one another, apart from those with nothing in them; until the next block is asked for."""

    data: bytes | bytearray
    """What they lie in; more may follow there."""
    signs: NDArray[np.uint8]
    """The lines."""
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    """Where each line ends, its own end not included."""
    ended: bool
    """Whether the last line has an end."""

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def text(self) -> bytes:
        """All lines."""
        return self.signs.tobytes()

    def line(self, row: int) -> bytes:
        """A line with its end."""
        is_last = row == len(self) - 1
        return bytes(self.data[self.starts[row] : self.ends[row]]) + (b"\n" if self.ended or not is_last else b"")

    def is_running(self, rows: NDArray[np.int64], *, typed: bool) -> bool:
        """Whether any of some lines may hold a running total; `typed`: or any other, of which some tell their type."""
        if typed and self._has(_TURN):
            return True
        if len(rows) >= len(self) // _FEW:
            return any(map(self._has, _RUNNING))
        texts = (self.data[self.starts[row] : self.ends[row]] for row in rows)
        return any(name in text for text in texts for name in _RUNNING)

    def _has(self, name: bytes) -> bool:
        return self.data.find(name, 0, len(self.signs)) >= 0


@dataclass(frozen=True)
class RowBlock:
    """Rows of a table that follow one another."""

    batch: Any
    text: bytes = b""
    """What lines there are as text: none."""

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def row(self, row: int) -> dict[str, Any]:
        """A row by the names of its columns."""
        return self.batch.slice(row, 1).to_pylist(maps_as_pydicts="lossy")[0]  # type: ignore[no-any-return]  # so it is


def blocks(pieces: Iterator[bytes], size: int = BLOCK) -> Iterator[Block | list[bytes]]:
    """The blocks of a file; last, where a line is too long for one, what was read of it, and the file goes on."""
    room = bytearray(size)  # the same for all blocks: new memory costs as much as reading it
    many = 0
    for piece in pieces:
        if many + len(piece) > len(room):
            room = room[:many] + bytearray(len(piece) + size // _FEW)
        memoryview(room)[many : many + len(piece)] = piece  # a slice of the array itself would copy the piece first
        many += len(piece)
        if many < size:
            continue
        end = room.rfind(b"\n", 0, many) + 1
        if not end:
            if many > LONGEST:
                yield [bytes(room[:many])]
                return
            continue
        yield of(room, end)
        room[: many - end] = room[end:many]
        many -= end
    if many:
        yield of(room, many)


def of(data: bytes | bytearray, size: int) -> Block:
    """The lines of so many bytes, whose signs that are no UTF-8 are replaced."""
    signs = np.frombuffer(data, np.uint8, size)
    if signs.max() > _LAST_ASCII:
        try:
            str(signs.data, "utf-8")
        except UnicodeDecodeError:
            data = str(signs.data, "utf-8", "replace").encode()
            signs = np.frombuffer(data, np.uint8)
    signs.flags.writeable = False
    places = np.empty((2, len(signs) // _SHORT + 1), np.int64)
    many = lines_of(signs, *places)
    if many > len(places[0]):
        places = np.empty((2, many), np.int64)
        lines_of(signs, *places)
    return Block(data, signs, places[0, :many], places[1, :many], bool(signs[-1] == _LINE_END))
