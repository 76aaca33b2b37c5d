"""Copies of one request: lines of a log that tell of the same answer count once, as the last of them says."""

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Final

from inferdash.pricing.dialects.names import LONGEST_NAME
from inferdash.pricing.dialects.reading import Said
from inferdash.pricing.logs.forks import Forks
from inferdash.pricing.logs.values import Record
from inferdash.pricing.replay import Request

_WINDOW: Final = 256
"""Answers that are held back for later copies of them."""
_REMEMBERED: Final = 200_000
"""Answers that were passed on, among which a copy is noticed."""


class Copies:
    """Holds back the last answers of a file, so that the last copy of each counts."""

    def __init__(self) -> None:
        self.repeated = 0
        """Lines that told again of an answer."""
        self.changed = 0
        """Lines that told again of an answer that was passed on before, with more output; they are not counted."""
        self.sharing = 0
        """Lines that share an id with an answer and count another prompt; each is a request."""
        self._held: dict[Hashable, Request] = {}
        """By the id of the answer; by "" and the id of the request where only that is known, or by a number."""
        self._order: deque[Hashable] = deque()
        self._asked: dict[Hashable, str] = {}
        """Id of the request of an answer that is held, where a copy said it."""
        self._by_request: dict[str, Hashable] = {}
        self._gone: dict[int, int] = {}
        self._gone_before: dict[int, int] = {}
        self.inherited = 0
        """Lines of a session that are those of the session that it goes on from."""
        self._forks = Forks()
        self._starting: list[int] = []
        """First lines of a session that another has as well; they are held until it is known whether that is chance."""
        self._count = 0

    def session(self, header: Record) -> None:
        """Takes in a line that says which session a file is of."""
        self._forks.session(header)

    def offer(self, said: Said, request: Request) -> Request | None:
        """Takes a line in, and gives a request of which no more copies are awaited, where there is one."""
        message, asked = said.message, said.request
        if said.running:
            if not self._is_new(said.running, request):
                return None
        elif message and self._forks.was_told(request):
            self.repeated += 1
            return None
        if message or asked:
            if len(message) > LONGEST_NAME or len(asked) > LONGEST_NAME:
                message, asked = _short(message), _short(asked)
            self._take(request, message, asked, certain=said.certain)
        elif self._order:
            self._hold(self._number(), request, "")
        else:
            return request
        return self._released() if len(self._order) > _WINDOW else None

    def skip(self, answers: int) -> Iterator[Request]:
        """Lets that many answers pass of which there are no copies, and gives the requests that they push out."""
        for _ in range(min(answers, _WINDOW + 1) if self._order else 0):
            self._order.append(self._number())
            if len(self._order) > _WINDOW and (request := self._released()):
                yield request

    def remember(self, message: str, asked: str, output: int) -> None:
        """An answer of an earlier file, which was passed on with so much output."""
        place = hash(_short(message) or ("", _short(asked)))
        if place not in self._gone_before:
            self._gone.setdefault(place, output)

    def end_of_file(self) -> Iterator[Request]:
        """Gives what was held back; a file is over."""
        while self._order:
            if request := self._released():
                yield request
        self._starting.clear()
        self._forks.end_of_file()

    def _is_new(self, running: tuple[int, ...], request: Request) -> bool:
        """Whether a line with a running total is a request of its own that need not be held back."""
        if self._forks.stands_still(running, request):
            self.repeated += 1
            return False
        alike = self._forks.alike(running, request)
        if alike >= self._forks.enough:
            self.inherited += 1 + len(self._starting)
            for key in self._starting:
                del self._held[key]
            self._starting.clear()
            return False
        if alike:
            self._starting.append(self._number())
            self._hold(self._starting[-1], request, "")
        return not alike

    def _take(self, request: Request, message: str, asked: str, *, certain: bool) -> None:
        """A line with an id: a copy of an answer, or the first that tells of it."""
        key: Hashable = message or ("", asked)
        held = self._held.get(key)
        if asked:
            if held is None:
                other = self._by_request.get(asked)
                if other is not None and not (message and _message(other)):  # one of the two lacks its id
                    key, held = other, self._held[other]
            elif self._asked.get(key, asked) != asked:
                key = (message, asked)
                held = self._held.get(key)
        if held is None:
            output = self._gone.get(place := hash(key), self._gone_before.get(place))
            if output is None:
                self._hold(key, request, asked)
                return
            self.changed += request.output_tokens > output
        elif not certain and _prompt(held) != _prompt(request):
            self.sharing += 1
            self._hold(self._number(), request, asked)
            return
        else:
            self._held[key] = request
            if asked:
                self._asked.setdefault(key, asked)
        self.repeated += 1

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _hold(self, key: Hashable, request: Request, asked: str) -> None:
        self._held[key] = request
        self._order.append(key)
        if asked:
            self._asked[key] = asked
            self._by_request[asked] = key

    def _released(self) -> Request | None:
        """The answer that was held back first; None where it turned out to be none."""
        key = self._order.popleft()
        request = self._held.pop(key, None)
        if request is None:
            return None
        if self._asked and (asked := self._asked.pop(key, "")) and self._by_request.get(asked) == key:
            del self._by_request[asked]
        if type(key) is not int:
            if len(self._gone) >= _REMEMBERED:
                self._gone, self._gone_before = {}, self._gone
            self._gone[hash(key)] = request.output_tokens
        return request


def _message(key: Hashable) -> str:
    """The id of the answer that is held by a key."""
    return key if isinstance(key, str) else key[0] if isinstance(key, tuple) else ""


def _prompt(request: Request) -> object:
    return request.input_tokens, request.recorded


def _short(name: str) -> str:
    """An id that takes little memory: a hash in place of a long one."""
    return name if len(name) <= LONGEST_NAME else f"#{hash(name)}"
