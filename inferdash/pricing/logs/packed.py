"""Many files as one: the files of a folder, or of a ZIP archive, one after another."""

import errno
import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final, Protocol

_MOST_FILES: Final = 20_000
_MOST_BYTES: Final = 8 << 30
"""Bytes of all files of an archive, unpacked."""
_MOST_HELD: Final = 512 << 20
"""Bytes of an archive that is held, where one cannot go back in what is read."""
_READ: Final = (".jsonl", ".json", ".ndjson", ".csv", ".tsv", ".log", ".txt", ".parquet")
"""Ends of the names of files that are read; others of a folder are skipped."""


_PACKED: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_NAMED: Final = 5
"""Files that a sentence names at most."""
_LONGEST_NAME: Final = 120


class Readable(Protocol):
    """A file, an upload or a pipe that is open for bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many; nothing at the end of the file."""


class Folder:
    """Files of a folder and of those within it, or some files, in the order of their names.

    What cannot be opened, what is empty and what grows while it is read is told, and the rest is read.
    """

    def __init__(self, *paths: Path) -> None:
        """Takes a folder, or files."""
        self.passed_over = 0
        self.said: list[str] = []
        """What is to be said of files, in sentences, after the last one."""
        self._before = 0
        self._current: IO[bytes] | None = None
        self.name = ""
        """The file that is being read."""
        self._paths = paths

    def paths(self) -> Iterator[Path]:
        """The files whose names say that they are read; those passed over are counted."""
        self.passed_over = 0
        yield from self._found()

    def _found(self) -> Iterator[Path]:
        """The files whose names say that they are read."""
        for path in self._paths:
            if not path.is_dir():
                yield path
                continue
            for inner in sorted(path.rglob("*")):
                if not inner.is_file() or inner.is_symlink():
                    continue
                if _kind_of(inner.name)[0] in _READ:
                    yield inner
                else:
                    self.passed_over += 1

    @property
    def bytes_read(self) -> int:
        """Bytes so far, as they lie there."""
        here = self._current
        return self._before + (0 if here is None or here.closed else here.tell())

    @property
    def size(self) -> int:
        """Bytes of all files, as they lie there."""
        found, self.passed_over = [*self._found()], 0
        return sum(path.stat().st_size for path in found if path.exists())

    def files(self) -> Iterator[Readable]:
        """Each of them, open for bytes until the next is asked for."""
        empty = []
        for path in self._found():
            self.name = path.name
            try:
                with path.open("rb") as self._current:
                    stream = self._current
                    size = os.fstat(stream.fileno()).st_size
                    if size:
                        yield _opened(Snapshot(stream, size), path.name)
                    else:
                        empty.append(path.name)
                    if (grown := os.fstat(stream.fileno()).st_size) > size:
                        self.said.append(
                            f"{shown(path.name)} grew while it was read: what came after its first {size:,} bytes is"
                            f" not read ({grown - size:,} more)."
                        )
            except OSError as error:
                self.said.append(f"{shown(path.name)} cannot be read: {error.strerror or 'it is broken'}.")
                continue
            self._before += size
        if empty:
            names = ", ".join(map(shown, empty[:_NAMED])) + (f" and {len(empty) - _NAMED} more" * (len(empty) > _NAMED))
            self.said.append(f"{names} {'is' if len(empty) == 1 else 'are'} empty.")


class Snapshot(io.RawIOBase):
    """A file as long as it was when it was opened."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        super().__init__()
        self._stream, self._size = stream, size

    def readinto(self, buffer: Any) -> int:
        """As files do."""
        left = max(0, self._size - self._stream.tell())
        piece = self._stream.read(min(left, len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Nothing: who opened the file closes it."""

    def tell(self) -> int:
        """As files do."""
        return self._stream.tell()

    def seek(self, offset: int, whence: int = 0) -> int:
        """As files do; the end is where it was."""
        return self._stream.seek(self._size + offset if whence == os.SEEK_END else offset, 0 if whence != 1 else 1)


class Unpacked(io.RawIOBase):
    """What a compressed file holds, from its start as often as it is asked for."""

    def __init__(self, stream: Any, how: str) -> None:
        super().__init__()
        self._stream, self._how = stream, how
        self._unpacked: Any = None

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """To its start."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """To its start, and nowhere else."""
        if offset or whence:
            raise io.UnsupportedOperation("seek")
        self._stream.seek(0)
        self._unpacked = None
        return 0

    def readinto(self, buffer: Any) -> int:
        """As files do.

        Raises:
            OSError: where it is broken.
        """
        import pyarrow as pa  # noqa: PLC0415 - for those who have such files

        if self._unpacked is None:
            self._unpacked = pa.CompressedInputStream(pa.PythonFile(self._stream, "r"), self._how)
        try:
            piece = self._unpacked.read(len(buffer))
        except (pa.ArrowException, OSError) as error:
            raise OSError(errno.EIO, "the compressed file is broken or cut off") from error
        buffer[: len(piece)] = piece
        return len(piece)


def _opened(stream: Snapshot, name: str) -> Readable:
    how = _kind_of(name)[1]
    return Unpacked(stream, how) if how else io.BufferedReader(stream, 1 << 20)


def _kind_of(name: str) -> tuple[str, str]:
    """The end of a file's name that says what it is, and how it is compressed."""
    path = Path(name.lower())
    how = _PACKED.get(path.suffix, "")
    return (path.with_suffix("").suffix if how else path.suffix), how


def shown(name: str) -> str:
    """A file's name without signs that no page shows."""
    return "".join(sign if sign.isprintable() else "?" for sign in name[:_LONGEST_NAME])


class Archive:
    """The files of a ZIP archive, in the order of their names."""

    def __init__(self, stream: IO[bytes]) -> None:
        """Opens an archive.

        Raises:
            ValueError: with a sentence, where it is none, is locked, or holds too much.
        """
        self.passed_over = 0
        self.said: list[str] = []
        """What is to be said of its files: nothing, as it is one file itself."""
        self.name = ""
        """The file that is being read."""
        try:
            self._archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
            raise ValueError("The file looks like a ZIP archive, but cannot be opened.") from None
        members = [member for member in self._archive.infolist() if not member.is_dir()]
        self._members = sorted((one for one in members if _is_read(one.filename)), key=lambda one: one.filename)
        self.passed_over = len(members) - len(self._members)
        if len(members) > _MOST_FILES or sum(member.file_size for member in self._members) > _MOST_BYTES:
            raise ValueError(f"The archive holds more than {_MOST_FILES:,} files or {_MOST_BYTES >> 30} GB; split it.")
        if any(member.flag_bits & 1 for member in members):
            raise ValueError("The archive is password-protected.")

    def files(self) -> Iterator[Readable]:
        """Each of them, open for bytes until the next is asked for."""
        for member in self._members:
            self.name = member.filename
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
