"""Many files one after another, with what came of them kept in a folder: what was stopped goes on where it was."""

import pickle
import shutil
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.packed import Folder, shown
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import Counts, counted, joined

_STATE: Final = "progress"
_IDS: Final = "ids.duckdb"
_EVERY_S: Final = 10.0
"""Seconds between two times that what came of the files is kept."""
_FORM: Final = 3
"""Of what is kept; another is not read."""
_PLAIN: Final = {
    ("builtins", "set"): set, ("builtins", "frozenset"): frozenset, ("collections", "Counter"): Counter,
    ("collections", "deque"): deque, ("decimal", "Decimal"): Decimal,
}  # fmt: skip
Stamp = tuple[str, int, int]
"""A file's path, its bytes and when it was written last."""


@dataclass
class Progress:
    """What came of the files so far."""

    asked: tuple[Any, ...]
    """What the files are read for."""
    records: Records
    counts: Counts
    done: list[Stamp] = field(default_factory=list)
    passed_over: int = 0
    engine_file: int = 0
    form: int = _FORM


class _Reader(pickle.Unpickler):
    """Reads what was kept, which is made of this program's own classes and of plain ones, and of nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """The class of what was kept.

        Raises:
            UnpicklingError: where it is another's.
        """
        if (module, name) in _PLAIN:
            return _PLAIN[module, name]
        found = super().find_class(module, name) if module.startswith("inferdash.pricing.") else None
        if not (isinstance(found, type) and found.__module__ == module):
            raise pickle.UnpicklingError(name)
        return found


class Kept:
    """A folder in which progress is kept."""

    def __init__(self, folder: Path) -> None:
        """Opens a folder, or makes one.

        Raises:
            ValueError: with a sentence, where it holds something else.
        """
        self._folder, self._state = folder, folder / _STATE
        if folder.exists() and (not folder.is_dir() or {*folder.iterdir()} - {self._state, *folder.glob(f"{_IDS}*")}):
            raise ValueError(f"{folder} is no folder of a bill that was stopped.")
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def ids(self) -> Path:
        """Where an engine keeps the ids of answers."""
        return self._folder / _IDS

    def load(self, asked: tuple[Any, ...]) -> Progress | None:
        """What was kept; None where nothing was.

        Raises:
            ValueError: with a sentence, where it is of another question or of files that changed.
        """
        if not self._state.exists():
            self.ids.unlink(missing_ok=True)
            return None
        try:
            with self._state.open("rb") as stream:
                found = _Reader(stream).load()
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, TypeError, IndexError, ValueError):
            found = None
        if not isinstance(found, Progress) or found.form != _FORM:
            raise ValueError(f"What {self._folder} holds cannot be read; remove it to begin again.")
        if found.asked != asked:
            raise ValueError(f"{self._folder} is of a bill with other options; remove it to begin again.")
        for path, *before in found.done:
            if _stamp(Path(path))[1:] != tuple(before):
                raise ValueError(f"{shown(Path(path).name)} changed since; remove {self._folder} to begin again.")
        return found

    def save(self, progress: Progress) -> None:
        """Keeps it, whole or not at all."""
        beside = self._state.with_suffix(".part")
        beside.write_bytes(pickle.dumps(progress))
        beside.replace(self._state)

    def remove(self) -> None:
        """Leaves nothing behind."""
        shutil.rmtree(self._folder, ignore_errors=True)


def resumed(
    files: Folder,
    kept: Kept,
    *,
    rules: Collection[Rules],
    edges: Sequence[int],
    written: Written,
    users: bool,
    engine: Callable[..., Any] | None,
    watched: Callable[[Iterator[Any], Callable[[], int]], Iterator[Any]],
) -> tuple[Records, Counts]:
    """All files as one log, those that were done before not again.

    Args:
        files: in the order in which they are read.
        kept: where progress is kept.
        rules: as `counted`.
        edges: as `counted`.
        written: as `Trace`.
        users: as `Trace`.
        engine: what sums lines up, made of the records and where it keeps ids.
        watched: passes on what is read; it is told how many bytes were.

    Raises:
        ValueError: with a sentence, where what was kept is of something else.
    """
    asked = (written, users, engine is not None)
    state = kept.load(asked) or Progress(asked, Records(written, users=users), joined([], rules))
    records = state.records
    ready = engine(records, database=str(kept.ids), file=state.engine_file) if engine else None
    try:
        saved, before = time.monotonic(), sum(size for _, size, _ in state.done)
        done = {path for path, *_ in state.done}
        for path in files.paths():
            if str(path) in done:
                continue
            stamp, one = _stamp(path), Folder(path)
            trace = Trace(one, written, records=records, engine=(lambda _: ready) if ready else None)
            items = watched(iter(trace), lambda one=one, before=before: before + one.bytes_read)  # type: ignore[misc]  # its own
            state.counts = joined([state.counts, counted(items, rules, edges)], rules)
            state.done.append(stamp)
            before += stamp[1]
            if time.monotonic() - saved > _EVERY_S:
                if ready:
                    state.engine_file = ready.settled()
                kept.save(state)
                saved = time.monotonic()
        records.told.other_files = files.passed_over
        if ready:
            ready.end()
    finally:
        if ready:
            ready.close()
    return records, state.counts


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_size, found.st_mtime_ns
