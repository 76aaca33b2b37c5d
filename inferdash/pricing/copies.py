"""Copies of one request: lines of a log that tell of the same answer count once, as the last of them says."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Final

from inferdash.pricing.dialects.names import LONGEST_NAME
from inferdash.pricing.dialects.reading import Said
from inferdash.pricing.replay import Request

_WINDOW: Final = 256
"""Answers that are held back for later copies of them."""
_REMEMBERED: Final = 200_000
"""Answers that were passed on, among which a copy is noticed."""


@dataclass(slots=True)
class _Held:
    """An answer whose copies may still come."""

    request: Request
    asked: str
    """Id of its request, where a copy said it."""
    message: str


class Copies:
    """Holds back the last answers of a file, so that the last copy of each counts."""

    def __init__(self) -> None:
        self.repeated = 0
        """Lines that told again of an answer."""
        self.changed = 0
        """Lines that told again of an answer that was passed on before, with more output; they are not counted."""
        self.sharing = 0
        """Lines that share an id with an answer and count another prompt; each is a request."""
        self._held: dict[Hashable, _Held] = {}
        self._by_request: dict[str, Hashable] = {}
        self._gone: dict[int, int] = {}
        self._gone_before: dict[int, int] = {}
        self._running: tuple[int, ...] = ()
        self._count = 0

    def offer(self, said: Said, request: Request) -> Request | None:
        """Takes a line in, and gives a request of which no more copies are awaited, where there is one."""
        if said.running:
            if said.running == self._running:  # a running total that stands still: nothing was asked since
                self.repeated += 1
                return None
            self._running = said.running
        if said.message or said.request:
            message, asked = said.message, said.request
            if len(message) > LONGEST_NAME or len(asked) > LONGEST_NAME:
                message, asked = _short(message), _short(asked)
            self._take(request, message, asked, certain=said.certain)
        elif self._held:
            self._count += 1
            self._held[self._count] = _Held(request, "", "")
        else:
            return request
        return self._released() if len(self._held) > _WINDOW else None

    def end_of_file(self) -> Iterator[Request]:
        """Gives what was held back; a file is over."""
        while self._held:
            yield self._released()
        self._running = ()

    def _take(self, request: Request, message: str, asked: str, *, certain: bool) -> None:
        """A line with an id: a copy of an answer, or the first that tells of it."""
        key: Hashable = message
        held = self._held.get(key) if message else None
        if held is None:
            other = self._by_request.get(asked)
            if other is not None and not (message and self._held[other].message):  # one of the two lacks its id
                key, held = other, self._held[other]
            elif not message:
                key = ("request", asked)
        elif held.asked and asked and held.asked != asked:
            key = (message, asked)
            held = self._held.get(key)
        if held is None:
            output = self._gone.get(place := hash(key), self._gone_before.get(place))
            if output is None:
                self._hold(key, _Held(request, asked, message))
                return
            self.changed += request.output_tokens > output
        elif not certain and _prompt(held.request) != _prompt(request):
            self.sharing += 1
            self._count += 1
            self._hold(self._count, _Held(request, asked, message))
            return
        else:
            held.request = request
            held.asked = held.asked or asked
        self.repeated += 1

    def _hold(self, key: Hashable, held: _Held) -> None:
        self._held[key] = held
        if held.asked:
            self._by_request[held.asked] = key

    def _released(self) -> Request:
        """The answer that was held back first."""
        key = next(iter(self._held))
        held = self._held.pop(key)
        if held.asked and self._by_request.get(held.asked) == key:
            del self._by_request[held.asked]
        if held.asked or held.message:
            if len(self._gone) >= _REMEMBERED:
                self._gone, self._gone_before = {}, self._gone
            self._gone[hash(key)] = held.request.output_tokens
        return held.request


def _prompt(request: Request) -> object:
    return request.input_tokens, request.recorded


def _short(name: str) -> str:
    """An id that takes little memory: a hash in place of a long one."""
    return name if len(name) <= LONGEST_NAME else f"#{hash(name)}"
