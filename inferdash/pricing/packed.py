"""Many files as one: the files of a folder, or of a ZIP archive, one after another."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, Protocol

_MOST_FILES: Final = 20_000
_MOST_BYTES: Final = 8 << 30
"""Bytes of all files of an archive, unpacked."""
_MOST_HELD: Final = 512 << 20
"""Bytes of an archive that is held, where one cannot go back in what is read."""
_READ: Final = (".jsonl", ".json", ".ndjson", ".csv", ".tsv", ".log", ".txt")
"""Ends of the names of files that are read; others of a folder are passed over."""


class Readable(Protocol):
    """A file, an upload or a pipe that is open for bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many; nothing at the end of the file."""


class Folder:
    """The files of a folder and of those within it, in the order of their names."""

    def __init__(self, folder: Path) -> None:
        self.passed_over = 0
        self._folder = folder

    def files(self) -> Iterator[Readable]:
        """Each of them, open for bytes until the next is asked for."""
        for path in sorted(self._folder.rglob("*")):
            if not path.is_file() or path.is_symlink():
                continue
            if path.suffix.lower() not in _READ:
                self.passed_over += 1
                continue
            with path.open("rb") as stream:
                yield stream


class Archive:
    """The files of a ZIP archive, in the order of their names."""

    def __init__(self, stream: IO[bytes]) -> None:
        """Opens an archive.

        Raises:
            ValueError: with a sentence, where it is none, is locked, or holds too much.
        """
        self.passed_over = 0
        try:
            self._archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
            raise ValueError("The file begins as a ZIP archive does, and is none that can be opened.") from None
        members = [member for member in self._archive.infolist() if not member.is_dir()]
        self._members = sorted((one for one in members if _is_read(one.filename)), key=lambda one: one.filename)
        self.passed_over = len(members) - len(self._members)
        if len(members) > _MOST_FILES or sum(member.file_size for member in self._members) > _MOST_BYTES:
            raise ValueError(f"The archive holds more than {_MOST_FILES:,} files or {_MOST_BYTES >> 30} GB; split it.")
        if any(member.flag_bits & 1 for member in members):
            raise ValueError("The archive is locked with a password.")

    def files(self) -> Iterator[Readable]:
        """Each of them, open for bytes until the next is asked for."""
        for member in self._members:
            with self._archive.open(member) as stream:
                yield stream


def _is_read(name: str) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in name.split("/")[-1:]) or name.startswith("__MACOSX")
    return not hidden and name.lower().endswith(_READ)


def archive_of(stream: object, pieces: Iterable[bytes]) -> Archive:
    """The archive that a stream is, of which these pieces were read or are to be read.

    Raises:
        ValueError: with a sentence, where it cannot be opened.
    """
    seek, seekable = getattr(stream, "seek", None), getattr(stream, "seekable", None)
    if seek and seekable and seekable():
        seek(0)
        return Archive(stream)  # type: ignore[arg-type]  # it can be read and gone back in
    held = io.BytesIO()
    for piece in pieces:
        if held.tell() + len(piece) > _MOST_HELD:
            raise ValueError(f"The archive is larger than {_MOST_HELD >> 20} MB; unpack it first.")
        held.write(piece)
    return Archive(held)
