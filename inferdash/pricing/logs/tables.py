"""Tables as records: CSV whose first line names the columns."""

import csv
from collections.abc import Iterator
from typing import Final

from inferdash.pricing.dialects.own_words import plain_column
from inferdash.pricing.dialects.reading import Reader
from inferdash.pricing.logs.file_notes import FileNotes, printable
from inferdash.pricing.logs.reasons import FORMS
from inferdash.pricing.logs.values import Record, UnreadLineError

_MOST_COLUMNS: Final = 1000
_MOST_SIGNS: Final = 100_000
"""Signs between columns that a line may have, those within texts included."""


class Table:
    """A table whose lines are read one after another."""

    def __init__(self, lines: Iterator[bytes | None], reader: Reader, told: FileNotes) -> None:
        """Reads the first line; `header` is empty where it names no list of requests, which is told."""
        self._lines, self._told = lines, told
        self._whole = True
        self.header: list[str] = []
        self.kept: list[tuple[int, str, str]] = []
        """Place, name, and what an empty cell stands for, of the columns that say something."""
        self.first = first = (next(lines, None) or b"").decode("utf-8-sig", errors="replace")
        self.sign = max(",;\t|", key=first.count)
        if first.count(self.sign) >= _MOST_COLUMNS:
            told.refuse(
                f"The first line has more than {_MOST_COLUMNS:,} columns, so it is not a list of requests.", here=True
            )
            return
        try:
            header = [name.strip() for name in next(csv.reader([first], delimiter=self.sign), [])]
        except csv.Error:
            header = [first.strip()]
        names = [*map(plain_column, header)]
        self.kept, lacking = reader.columns(names)
        twice = next((header[place] for place, name, _ in self.kept if names.count(name) > 1), None)
        if lacking:
            shown = ", ".join(printable(name[:30]) for name in header[:8])
            told.refuse(
                f"The file is not a known list of requests: it is not JSON, and its first line has {lacking}."
                f" It begins with: {shown}. {FORMS}",
                here=True,
            )
        elif twice is not None:
            told.refuse(
                f"The first line names the column {printable(twice[:30])} twice; rename one of them.", here=True
            )
        else:
            self.header = header
            for own, name in zip(header, names, strict=True):
                if own != name:
                    told.understood[f"The column “{printable(own[:30])}” is read as {name}."] = None

    def records(self, lines: Iterator[bytes | None] | None = None) -> Iterator[tuple[Record, list[str]]]:
        """Each row as a record, and as it stands there; of some lines, or of all."""
        header, kept = self.header, self.kept
        rows = csv.reader(self._texts(self._lines if lines is None else lines), delimiter=self.sign)
        while True:
            try:
                row = next(rows, None)
            except csv.Error:
                self._told.leave_out(UnreadLineError("csv"))
                continue
            if row is None:
                return
            if not row or row == header or not any(row):
                continue
            if len(row) != len(header) and (len(row) < len(header) or any(row[len(header) :])):
                if self._whole:
                    self._told.leave_out(UnreadLineError("columns"))
                else:
                    self._told.refuse("The last line is cut off.", here=True)
                continue
            yield {name: cell for place, name, empty in kept if (cell := row[place].strip() or empty)}, row

    def _texts(self, lines: Iterator[bytes | None]) -> Iterator[str]:
        """The lines, apart from those that cannot be one; `_whole` says whether the last one had an end."""
        sign = self.sign.encode()
        for line in lines:
            if line is None or line.count(sign) > _MOST_SIGNS:
                self._told.leave_out(UnreadLineError("long" if line is None else "columns"))
                continue
            self._whole = line.endswith(b"\n")
            yield line.decode(errors="replace")
