"""Turns of a thread whose counts go on from those of the turn before, as `codex exec --json` tells them."""

from typing import Final

from inferdash.pricing.dialects.fitting import Counted
from inferdash.pricing.dialects.reading import Said
from inferdash.pricing.logs.values import Record, UnreadLineError
from inferdash.pricing.replay import Split

_STARTED: Final = "thread.started"
TURN: Final = "turn.completed"
"""Type of a line that tells a thread's counts up to here; the name under which its dialect is declared."""
OF_TURNS: Final = frozenset({_STARTED, TURN})
"""Types of the lines that are looked at here."""
_NONE: Final = Counted(0, 0, Split(0, 0, 0))


class Turns:
    """Keeps what each thread had counted, so that a turn is what it adds."""

    def __init__(self) -> None:
        self._thread = ""
        self._told: dict[str, Counted] = {}

    def opened(self, record: Record) -> Record:
        """The record with its counts under the name of its type, where it tells of a turn; a thread's start is kept."""
        kind = record.get("type")
        if kind == _STARTED:
            thread = record.get("thread_id")
            self._thread = thread if isinstance(thread, str) else ""
        elif isinstance(record.get("usage"), dict):
            return {TURN if name == "usage" else name: value for name, value in record.items()}
        return record

    def own(self, said: Said) -> Said:
        """What the turn adds to its thread, as a sum of requests whose number is not told.

        Raises:
            UnreadLineError: where it is not known which thread it goes on with, or there is less than before.
        """
        counted, before = said.counted, self._told.get(self._thread, _NONE)
        if counted.recorded is None or before.recorded is None or (before is not _NONE and not self._thread):
            raise UnreadLineError("running")
        added = Counted(
            counted.input_tokens - before.input_tokens,
            counted.output_tokens - before.output_tokens,
            Split(*(now - then for now, then in zip(counted.recorded, before.recorded, strict=True))),
        )
        if min(added.input_tokens, added.output_tokens, *(added.recorded or ())) < 0:
            raise UnreadLineError("running")
        self._told[self._thread] = counted
        return said._replace(counted=added, requests=0)
