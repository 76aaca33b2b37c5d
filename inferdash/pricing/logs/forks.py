"""Sessions with running totals: what one tells twice, and what it copies from the session that it goes on from."""

from collections.abc import Iterator
from typing import Any, Final

from inferdash.pricing.logs.values import Record
from inferdash.pricing.replay import Request

HEADER: Final = "session_meta"
"""Type of the lines that say which session a file is of."""
_ALIKE: Final = 3
"""Lines from the start of a session that repeat another's totals and counts, beyond which it is no accident."""
_REMEMBERED: Final = 500_000
"""Lines with a running total that are remembered of earlier files."""


class Forks:
    """Compares the lines of a session that have a running total with those before it, and with other sessions.

    A session that was forked, resumed or handed to a sub-agent begins with the lines of the one before it. Their times
    may be new, their totals and counts are not.
    """

    def __init__(self) -> None:
        self.event: Request | None = None
        """The last line with a running total, until an answer is found that it tells of."""
        self.enough = _ALIKE
        """Lines from the start on that must be those of another session; one is, where ids say that it goes on."""
        self._answer: Request | None = None
        self._running: tuple[int, ...] = ()
        self._at_start = True
        self._alike = 0
        self._own: set[int] = set()
        self._earlier: set[int] = set()
        self._own_ids: set[str] = set()
        self._ids: set[str] = set()

    def session(self, record: Record) -> None:
        """Takes in the ids of a session and of those that it goes on from."""
        ids = {*_ids(record.get("payload"))}
        if len(ids) > 1 or not self._ids.isdisjoint(ids):
            self.enough = 1
        self._own_ids |= ids

    def stands_still(self, running: tuple[int, ...], request: Request) -> bool:
        """Whether nothing was asked since the line before, or it tells of an answer that was read before it."""
        still = running == self._running or not (request.input_tokens or request.output_tokens)
        self._running = running
        if still:
            return True
        told = self._answer is not None and _same(self._answer, request)
        self._answer = None
        if told:  # a session that goes on from this one may have the line, and not the answer
            self._own.add(_key(running, request))
        self.event = None if told else request
        return told

    def was_told(self, answer: Request) -> bool:
        """Whether the line with a running total before this answer tells of it."""
        told = self.event is not None and _same(self.event, answer)
        self.event = None
        self._answer = None if told else answer
        return told

    def alike(self, running: tuple[int, ...], request: Request) -> int:
        """How many lines of the session, from its first to this one, another session has; 0 once one is its own."""
        key = _key(running, request)
        self._own.add(key)
        self._at_start = self._at_start and key in self._earlier
        self._alike += 1
        return self._alike if self._at_start else 0

    def end_of_file(self) -> None:
        """A session is over."""
        if self._own or self._own_ids:
            self._earlier = self._own if len(self._earlier) > _REMEMBERED else self._earlier | self._own
            self._ids |= self._own_ids
            self._own, self._own_ids = set(), set()
        self.event = self._answer = None
        self.enough, self._running, self._at_start, self._alike = _ALIKE, (), True, 0


def _ids(header: Any) -> Iterator[str]:
    """Ids of a session and of those that it goes on from, as Codex writes them."""
    if not isinstance(header, dict):
        return
    inner: Any = header.get("source")
    for name in ("subagent", "thread_spawn"):
        inner = inner.get(name) if isinstance(inner, dict) else None
    spawned = inner if isinstance(inner, dict) else {}
    named = (header.get("id") or header.get("session_id"), header.get("forked_from_id"))
    for one in (*named, header.get("parent_thread_id"), spawned.get("parent_thread_id")):
        if isinstance(one, str) and one:
            yield one


def _key(running: tuple[int, ...], request: Request) -> int:
    return hash((running, request.input_tokens, request.output_tokens, request.recorded))


def _same(one: Request, other: Request) -> bool:
    return one.output_tokens == other.output_tokens and one.input_tokens == other.input_tokens
