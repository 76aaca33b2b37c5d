"""A file in pieces: its lines, or its JSON values one after another, of which no more is held than one needs."""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

PIECE: Final = 1 << 16
"""Bytes that are read at a time, and those at the start of a file by which its kind is known."""
LONGEST: Final = 1 << 24
"""Bytes of the longest line, or the longest request, that is read."""
_BLANK: Final = re.compile(rb"\n\s*\n")
SPACE_OR_COMMA: Final = re.compile(r"[\s,]*")


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes | None]:
    """Lines with their ends, of pieces that may end within one; None for a line that is too long.

    Lines of nothing but white space are left out, many at once.
    """
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = _BLANK.sub(b"\n", piece).split(b"\n")
        size += len(first)
        if size <= LONGEST:
            held.append(first)
        else:
            held.clear()
        if not others:
            continue
        first = b"".join(held)
        if size > LONGEST:
            yield None
        elif first and not first.isspace():
            yield first + b"\n"
        *others, last = others
        for line in others:
            if line and not line.isspace():
                yield line + b"\n"
        held, size = [last], len(last)
    last = b"".join(held)
    if size > LONGEST:
        yield None
    elif last and not last.isspace():
        yield last


def first_line(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first line of a file that has something in it, and what comes after; nothing where it is no short one."""
    held = b""
    for piece in pieces:
        held = (held + piece).lstrip()
        line, end, rest = held.partition(b"\n")
        if end:
            return line + end, chain([rest], pieces)
        if len(held) > PIECE:
            break
    return b"", chain([held], pieces)


class Text:
    """Text that comes in pieces, of which no more is held than one object needs."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.decoded = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self.text = ""
        self.at = 0
        self.broken = False
        """Whether the text ended, or went wrong, within an object."""

    def more(self, size: int) -> bool:
        """Takes in at least so many bytes, and says whether there were any."""
        parts = [self.text[self.at :]]
        taken = 0
        for piece in self.pieces:
            parts.append(self.decoded.decode(piece))
            taken += len(piece)
            if taken >= size:
                break
        self.text, self.at = "".join(parts), 0
        return taken > 0

    def up_to(self, pattern: re.Pattern[str]) -> str:
        """What stands before a pattern; the text goes on behind it."""
        while not (found := pattern.search(self.text)) and len(self.text) < LONGEST:
            if not self.more(max(PIECE, len(self.text))):
                break
        if not found:
            self.broken = True
            self.text = ""
            return ""
        self.at = found.end()
        return self.text[: found.start()]

    def objects(self) -> Iterator[tuple[Any, str]]:
        """JSON values one after another, with commas or without, through the end of their list, and their texts."""
        decoder = json.JSONDecoder()
        size = PIECE
        while True:
            place = SPACE_OR_COMMA.match(self.text, self.at)
            self.at = place.end() if place else self.at
            if self.at >= len(self.text):
                if not self.more(PIECE):
                    return
                continue
            if self.text[self.at] == "]":
                return
            start = self.at
            try:
                value, self.at = decoder.raw_decode(self.text, start)
            except RecursionError:
                self.broken = True
                return
            except ValueError:
                if len(self.text) - self.at > LONGEST or not self.more(size):
                    self.broken = True
                    return
                size *= 2
                continue
            size = PIECE
            yield value, self.text[start : self.at]
