"""What is to be said of a file: what was left out and why, how it was understood, what is odd about it."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final, TypeVar

from inferdash.pricing.dialects.declared import dialects
from inferdash.pricing.dialects.reading import Reader
from inferdash.pricing.dialects.services import STANDARD
from inferdash.pricing.logs.copies import Copies
from inferdash.pricing.logs.reasons import Reasons
from inferdash.pricing.logs.untimed import Untimed
from inferdash.pricing.logs.values import UnreadLineError
from inferdash.pricing.replay import UNTIMED, Request
from inferdash.pricing.tally import Summed

T = TypeVar("T")

MOST: Final = 5_000_000
"""Lines, or requests, of a file that are read."""
_LONGEST_MODEL: Final = 100
"""Characters of a model's name that are kept."""
_REMEMBERED: Final = 200_000
"""Lines among which a repetition is noticed."""
_MOST_MODELS: Final = 100
_MOST_USERS: Final = 10_000
OTHER_USERS: Final = "other users"
"""Stands for users beyond those that are told apart."""
_CLOCK_TICK_S: Final = 1e-6


class FileNotes:
    """Counts what happens while a file is read; its sentences are whole after the last request."""

    def __init__(self, reader: Reader, copies: Copies) -> None:
        self.noun = "line"
        """What one record of the file is called."""
        self.left_out = 0
        self.passed = 0
        """Lines that hold no request."""
        self.summed = 0
        """Lines that sum several requests up."""
        self.files = self.other_files = 0
        self.file = ""
        """Name of the one that is being read, where there are several."""
        self.timed = 0
        """Requests that have a time: where there are any, those that have none are left out."""
        self.models: set[str] = set()
        self.users: set[str] = set()
        self.apart: Counter[str] = Counter()
        """What the requests count in other things than tokens."""
        self.services: Counter[str] = Counter()
        """Requests that were answered by another service than the standard one."""
        self.understood: dict[str, None] = {}
        """Sentences on how a trace is written."""
        self._reader, self._copies = reader, copies
        self._reasons = Reasons()
        self._said: list[str] = []
        self._repeated = self._earlier = self._untold = self._count = self._taken = 0
        self._untimed = Untimed()
        self._recent: set[Hashable] = set()
        self._recent_before: set[Hashable] = set()
        self._now_s = -math.inf
        self._in_order = True
        """Whether requests came one by one; sums have no order, and need none."""

    def refuse(self, sentence: str, *, here: bool = False) -> None:
        """Something is not read; `here`: of the file that is being read, whose name is told where there are several."""
        self.left_out += 1
        self._said.append(f"{self.file}: {sentence}" if here and self.file else sentence)

    def say(self, sentence: str) -> None:
        """Something that a reader should know."""
        self._said.append(sentence)

    def leave_out(self, error: UnreadLineError, *, lines: int = 1) -> None:
        """A line is not read, or several for the same reason."""
        self.left_out += lines
        self._reasons.add(error.reason, printable(error.about), lines=lines)

    def next_file(self, name: str) -> None:
        """Another of several files begins, whose times have nothing to do with those before."""
        self.files += 1
        self.file = name
        self._now_s = -math.inf

    def bounded(self, records: Iterable[T]) -> Iterator[T]:
        """The first lines or requests of all files, and a sentence where there are more."""
        for record in records:
            if self._taken == MOST:
                self.refuse(f"The file has more than {MOST:,} {self.noun}s; those after them are not read.")
                return
            self._taken += 1
            yield record

    def counted(self, requests: Iterable[Request | Summed]) -> Iterator[Request | Summed]:
        """Passes requests on, and notes what is odd about them.

        Whether any request has a time is known after the last one; those without are taken away again then.
        """
        for request in requests:
            if isinstance(request, Summed):
                self._in_order = False
                self._sum(request)
                if request.timed:
                    self.timed += request.sums.lines
                else:
                    self._untimed.add(request)
                yield request
                continue
            self._count += 1
            if request.service != STANDARD:
                self._serve(request.service, request.requests)
            time_s = request.time_s
            if time_s == UNTIMED:
                self._untimed.add(request)
            else:
                self.timed += 1
                self._earlier += time_s < self._now_s - _CLOCK_TICK_S
                self._now_s = time_s
            if request.recorded is None and request.input_tokens and not request.blocks:
                self._untold += 1
            if request.apart:
                self.apart.update(dict(request.apart))
            yield request
        for summed in self._untimed.taken_away() if self.timed else ():
            self.leave_out(UnreadLineError("time"), lines=-summed.sums.lines)
            self._sum(summed)
            yield summed

    def _sum(self, summed: Summed) -> None:
        """Notes requests that come as sums."""
        self._count += summed.sums.lines
        self._untold += summed.unsaid
        self._serve(summed.group.service, summed.sums.requests)
        self.apart.update(dict(summed.apart))

    def _serve(self, service: str, requests: int) -> None:
        if service != STANDARD:
            self.services[service] += requests

    def note(self, line: str | list[str]) -> None:
        """Counts a line that came before, among the last ones."""
        if not line:
            return
        key = hash(line if isinstance(line, str) else tuple(line))
        if key in self._recent or key in self._recent_before:
            self._repeated += 1
        self._recent.add(key)
        if len(self._recent) > _REMEMBERED:
            self._recent, self._recent_before = set(), self._recent

    def repeat(self, lines: int) -> None:
        """Counts lines that came before, as `note` does."""
        self._repeated += lines

    def note_model(self, model: Any) -> None:
        """Keeps the name of a model."""
        if isinstance(model, str) and model and len(self.models) < _MOST_MODELS:
            self.models.add(printable(model[:_LONGEST_MODEL]))

    def named(self, model: str) -> str:
        """A model's name as it is kept; "" for those beyond the hundred that are told apart."""
        if model in self.models:
            return model
        kept = printable(model[:_LONGEST_MODEL])
        return kept if kept in self.models else ""

    def user(self, name: str) -> str:
        """A user's name as it is kept; one name for those beyond the many that are told apart."""
        if name not in self.users:
            name = printable(name[:_LONGEST_MODEL])
            if len(self.users) >= _MOST_USERS:
                return name if name in self.users else OTHER_USERS
            self.users.add(name)
        return name

    def problems(self) -> tuple[str, ...]:
        """A sentence for each reason why lines were left out, and for what is odd about those that were read."""
        sentences = [*self._said, *self._reasons.sentences(self.noun)]
        copies = self._copies
        if many := self._repeated:
            sentences.append(f"{self._lines(many)} {_of(many, 'repeats', 'repeat')} an earlier one; each is counted.")
        if many := copies.sharing:
            share = _of(many, "shares its", "share their")
            sentences.append(f"{self._lines(many)} {share} id with an earlier one of another prompt; each is counted.")
        if many := copies.changed:
            sentences.append(
                f"{self._lines(many)} {_of(many, 'reports', 'report')} more output for a much earlier answer;"
                " the earlier figure is counted. Put the copies of an answer next to each other."
            )
        if self._in_order and (many := self._earlier):
            sentences.append(
                f"{self._lines(many)} {_of(many, 'is', 'are')} earlier in time than the one before; the file’s order is"
                " kept, so a prompt may read what was stored later. Sort the file by time."
            )
        if many := self._untold:
            which = "The file does" if many == self._count else f"{self._lines(many)} {_of(many, 'does', 'do')}"
            sentences.append(f"{which} not say what prompts have in common, so nothing is read from the cache there.")
        if apart := sorted((+self.apart).items(), key=lambda one: (-one[1], one[0])):
            listed = ", ".join(f"{printable(what)} ({many:,})" for what, many in apart)
            sentences.append(f"Billed separately from tokens and not in this bill: {listed}.")
        if not self.timed and self._count:
            sentences.append("The file has no times.")
        if not self._count and not sentences:
            sentences.append("The file holds no requests.")
        return tuple(sentences)

    def notes(self) -> tuple[str, ...]:
        """How the file was understood, in sentences."""
        sentences = [*self.understood]
        if self._reader.dialects:
            names = [_with_cache(name) for name, _ in self._reader.dialects.most_common(4)]
            sentences.append(f"Counts are read as those of {', '.join(names)}.")
        for (dialect, part), many in self._reader.assumed.items():
            give = _of(many, "gives", "give")
            sentences.append(
                f"{self._lines(many)} of {dialect} {give} no count of tokens {_PARTS[part]}; 0 is assumed."
            )
        if many := self._copies.repeated:
            repeat = _of(many, "repeats", "repeat")
            sentences.append(f"{self._lines(many)} {repeat} an answer; each counts once, as its last copy says.")
        if many := self._copies.inherited:
            sentences.append(
                f"{self._lines(many)} {_of(many, 'is', 'are')} copied from the session that {_of(many, 'its', 'their')}"
                " own goes on from, and counted there alone."
            )
        if many := self.passed:
            holds = _of(many, "contains no request and is", "contain no request and are")
            sentences.append(f"{self._lines(many)} {holds} skipped.")
        if many := self.summed:
            sentences.append(
                f"{self._lines(many)} {_of(many, 'adds up', 'add up')} several requests: long-prompt prices follow the"
                " average prompt where their number is known, and do not apply elsewhere."
            )
        if served := sorted((+self.services).items(), key=lambda one: (-one[1], one[0])):
            listed = ", ".join(f"{service} ({many:,})" for service, many in served)
            sentences.append(
                f"Requests by another service than the standard one: {listed}. They cost what their model does by it,"
                " or the prices that are entered, as they are."
            )
        if self.files:
            passed = f"; {self.other_files:,} of other kinds are skipped" if self.other_files else ""
            sentences.append(f"{self.files:,} file{_of(self.files, ' is read', 's are read as one')}{passed}.")
        return tuple(sentences)

    def _lines(self, count: int) -> str:
        return f"{count:,} {self.noun}{_of(count, '', 's')}"


_PARTS: Final = {
    "read": "read from a cache",
    "written": "stored in a cache",
    "hour": "stored for an hour",
    "undated": "stored in a cache",
    "tools": "that tools put in",
    "thought": "of reasoning",
    "answer": "of an answer",
}


def _with_cache(name: str) -> str:
    """The name of a dialect, and whether cached tokens are part of its count of the input, where it tells them."""
    inside = next((one.counts_cache_in_input for one in dialects() if one.name == name), None)
    if inside is None or "cache" in name:
        return name
    return f"{name} ({'input includes cached tokens' if inside else 'cached tokens come on top of input'})"


def _of(count: int, one: str, several: str) -> str:
    return one if count == 1 else several


def printable(text: str) -> str:
    """A text without signs that no page shows."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
