"""Traces: files of real requests, read one after another, so that a file of any size takes little memory.

Four kinds are known by their content: the traces of Mooncake (JSON lines, blocks of 512 tokens), sessions of a coding
assistant (one JSON object, blocks of 64 tokens), the traces of Azure (CSV, nothing about prefixes), and plain logs of
usage (CSV, JSON lines or JSON) whose lines say what an API counted, in the words of its maker. Nothing of a file is
kept: what could not be read is counted by reason.
"""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, Protocol, TypeVar

from inferdash.pricing.pieces import PIECE, Text, whole_lines
from inferdash.pricing.replay import Request
from inferdash.pricing.usage import (
    AROUND,
    Record,
    UnreadLineError,
    Usage,
    is_number,
    meaning_of,
    meant_by,
    number_time,
    put,
    time_of,
    tokens,
    usage,
    usage_of,
)

T = TypeVar("T")

MOONCAKE_BLOCK: Final = 512
"""Tokens of a block in the traces of Mooncake."""
SESSION_BLOCK: Final = 64
"""Tokens of a block in sessions of a coding assistant, where the file does not say."""

MOST: Final = 5_000_000
"""Lines, or requests, of a file that are read."""
_MOST_COLUMNS: Final = 1000
_MOST_SIGNS: Final = 100_000
"""Signs between columns that a line may have, those within texts included."""
_LONGEST_NAME: Final = 100
"""Characters of a model's name, or a block's id, that are kept."""
_DEEPEST: Final = 50
"""Sub-agents below each other."""
_LARGEST_ID: Final = 2**63
_REMEMBERED: Final = 200_000
"""Lines among which a repetition is noticed."""
_MOST_MODELS: Final = 100
_CLOCK_TICK_S: Final = 1e-6
_COMPRESSED: Final = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

_LIST: Final = re.compile(r"\[")
_REQUESTS: Final = re.compile(r'"requests"\s*:\s*\[')
_BLOCK_SIZE: Final = re.compile(r'"block_size"\s*:\s*(\d{1,9})')
_TIME_KEY: Final = re.compile(
    r'"(time|timestamp|ts|t|date|datetime|created|created_?at|start_?time|start_?timestamp|request_?time'
    r'|time_?ms|timestamp_?ms|created_?ms)"\s*:',
    re.IGNORECASE,
)


_REASONS: Final = {
    "time": ("has no time", "have no time"),
    "bad time": ("has a time that is not understood", "have a time that is not understood"),
    "input": ("has no number of input tokens", "have no number of input tokens"),
    "output": ("has no number of output tokens", "have no number of output tokens"),
    "tokens": (
        "has a number of tokens that is not read, as 10000 would be",
        "have a number of tokens that is not read, as 10000 would be",
    ),
    "negative": ("has a number of tokens below 0", "have a number of tokens below 0"),
    "many": ("has more than 10^12 tokens", "have more than 10^12 tokens"),
    "sum": (
        "reads and stores more tokens in the cache than its prompt has",
        "read and store more tokens in the cache than their prompts have",
    ),
    "ids": ("has block ids that are no numbers or words", "have block ids that are no numbers or words"),
    "json": ("is not valid JSON", "are not valid JSON"),
    "object": ("is not an object with names", "are not objects with names"),
    "columns": (
        "has another number of columns than the first line",
        "have another number of columns than the first line",
    ),
    "csv": ("is not valid CSV", "are not valid CSV"),
    "long": ("is longer than 16 MB", "are longer than 16 MB"),
}
"""Why a line was left out, said of one and of several."""


class Readable(Protocol):
    """A file, an upload or a pipe that is open for bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many; nothing at the end of the file."""


class Trace:
    """The requests of a file, read as they are asked for, once.

    After the last request, `problems` holds a sentence for each thing that a reader should know, and `left_out`
    how many lines or requests were not read.
    """

    def __init__(self, stream: Readable) -> None:
        """Reads the start of a file, by which its kind is known.

        Args:
            stream: a file that is open for bytes.

        Raises:
            OSError: where the file cannot be read; also while going through the requests.
        """
        self.left_out = 0
        self.kind = "unknown"
        self._noun = "line"
        self._reasons: Counter[str] = Counter()
        self._said: list[str] = []
        self._repeated = self._earlier = self._untold = self._count = 0
        self._recent: set[int] = set()
        self._recent_before: set[int] = set()
        self._models: set[str] = set()
        self._now_s = -math.inf
        self._timed = self._whole = True
        self._requests = self._recognised(stream)

    def __iter__(self) -> Iterator[Request]:
        return self._requests

    @property
    def models(self) -> frozenset[str]:
        """Models that the file names, up to a hundred."""
        return frozenset(self._models)

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each reason why lines were left out, and for what is odd about those that were read."""
        sentences = [*self._said]
        for reason, lines in self._reasons.items():
            one, several = _REASONS[reason]
            sentences.append(f"{self._lines(lines)} {one if lines == 1 else several}.")
        if self._repeated:
            sentences.append(
                f"{self._lines(self._repeated)} repeat{'s' if self._repeated == 1 else ''} an earlier one, or its"
                " request id; each is counted."
            )
        if self._earlier:
            sentences.append(
                f"{self._lines(self._earlier)} {'is' if self._earlier == 1 else 'are'} earlier in time than the one"
                " before; the order of the file is kept, so a prompt may read what was stored later. Sort it by time."
            )
        if self._untold:
            which = "The file does" if self._untold == self._count else f"{self._lines(self._untold)} do"
            which = f"{self._lines(1)} does" if self._untold == 1 < self._count else which
            sentences.append(f"{which} not say what prompts have in common, so nothing is read from the cache there.")
        if not self._timed and self._count:
            sentences.append("The file has no times.")
        if len(self._models) > 1:
            several = f"{len(self._models)}{' or more' if len(self._models) >= _MOST_MODELS else ''}"
            sentences.append(f"The requests went to {several} models; the same prices are used for all.")
        if not self._count and not sentences:
            sentences.append("The file holds no requests.")
        return tuple(sentences)

    def _lines(self, count: int) -> str:
        return f"{count:,} {self._noun}{'' if count == 1 else 's'}"

    # What kind of file it is

    def _recognised(self, stream: Readable) -> Iterator[Request]:
        """The reader for the kind of file that its first bytes show."""
        pieces = iter(partial(stream.read, PIECE), b"")
        first: list[bytes] = []
        size = 0
        for piece in pieces:
            first.append(piece)
            size += len(piece)
            if size >= PIECE:
                break
        head = b"".join(first)
        refused = ""
        if not head.strip():
            refused = "The file is empty."
        elif head.startswith(_COMPRESSED):
            refused = "The file is compressed; unpack it first."
        elif _CONTROL.search(head):
            refused = "The file is not text in UTF-8."
        if refused:
            self._refuse(refused)
            return iter(())
        text = head.decode("utf-8-sig", errors="replace").lstrip()
        return self._counted(self._reader(text, chain(first, pieces)))

    def _reader(self, text: str, pieces: Iterator[bytes]) -> Iterator[Request]:
        if text.startswith("["):
            self._timed = bool(_TIME_KEY.search(text))
            self._noun = "request"
            listed = Text(pieces)
            listed.up_to(_LIST)
            return self._from_objects(listed, self._line_request)
        if not text.startswith("{"):
            return self._from_csv(pieces)
        first, _, rest = text.partition("\n")
        try:
            record = json.loads(first)
        except (ValueError, RecursionError):
            record = None
        whole_line = isinstance(record, dict)
        if isinstance(record, dict) and isinstance(record.get("requests"), list):
            return self._from_session(Text(pieces))
        if not whole_line and _REQUESTS.search(text) and ('"hash_ids"' in text or '"block_size"' in text):
            return self._from_session(Text(pieces))
        self._timed = bool(_TIME_KEY.search(text))
        if not whole_line and rest and first.rstrip().endswith(("{", "[", ",")):
            self._noun = "request"
            return self._from_objects(Text(pieces), self._line_request)
        return self._from_lines(pieces)

    def _refuse(self, sentence: str) -> None:
        self.left_out += 1
        self._said.append(sentence)

    def _leave_out(self, reason: str) -> None:
        self.left_out += 1
        self._reasons[reason] += 1

    def _counted(self, requests: Iterator[Request]) -> Iterator[Request]:
        """Passes requests on, and notes what is odd about them."""
        for request in requests:
            self._count += 1
            if request.time_s < self._now_s - _CLOCK_TICK_S:
                self._earlier += 1
            self._now_s = request.time_s
            if request.input_tokens and not request.blocks and request.recorded is None:
                self._untold += 1
            yield request

    def _note(self, key: int) -> None:
        """Counts a line that came before, among the last ones."""
        if key in self._recent or key in self._recent_before:
            self._repeated += 1
        self._recent.add(key)
        if len(self._recent) > _REMEMBERED:
            self._recent, self._recent_before = set(), self._recent

    def _note_model(self, model: Any) -> None:
        if isinstance(model, str) and model and len(self._models) < _MOST_MODELS:
            self._models.add(_printable(model[:_LONGEST_NAME]))

    def _bounded(self, records: Iterable[T]) -> Iterator[T]:
        """The first lines or requests, and a sentence where there are more."""
        for count, record in enumerate(records):
            if count == MOST:
                self._refuse(f"The file has more than {MOST:,} {self._noun}s; those after them are not read.")
                return
            yield record

    # JSON

    def _from_lines(self, pieces: Iterator[bytes]) -> Iterator[Request]:
        """Requests of JSON lines, each on its own."""
        for line in self._bounded(whole_lines(pieces)):
            if line is None:
                self._leave_out("long")
                continue
            text = line.decode("utf-8-sig", errors="replace").strip()
            try:
                record = json.loads(text)
            except (ValueError, RecursionError):
                if line.endswith(b"\n"):
                    self._leave_out("json")
                else:
                    self._refuse("The last line is cut off.")
                continue
            try:
                request = self._line_request(record)
            except UnreadLineError as error:
                self._leave_out(str(error))
                continue
            named = record.get("request_id") or record.get("requestId")
            self._note(hash(("id", named)) if isinstance(named, str) else hash(text))
            yield request

    def _from_objects(self, text: "Text", request_of: Callable[[Any], Request]) -> Iterator[Request]:
        """Requests of JSON objects that stand one after another, over lines or in a list."""
        for record in self._bounded(text.objects()):
            try:
                yield request_of(record)
            except UnreadLineError as error:
                self._leave_out(str(error))
        if text.broken:
            self._refuse("The file is cut off, or is not valid JSON from some place on.")

    def _line_request(self, record: Any) -> Request:
        if isinstance(record, dict) and "input_length" in record and "output_length" in record:
            self.kind = "mooncake"
            return _mooncake(record)
        return self._usage_request(record)

    def _usage_request(self, record: Any) -> Request:
        """One record of usage.

        Raises:
            UnreadLineError: where it has no time, no tokens, or impossible ones.
        """
        if not isinstance(record, dict):
            raise UnreadLineError("object")
        self.kind = "usage"
        counted = usage(record)
        time_s = None
        for one in (record, *(inner for name in AROUND if isinstance(inner := record.get(name), dict))):
            numbers = meant_by(one)
            time_s = time_of(numbers) if time_s is None else time_s
            self._note_model(numbers.get("model"))
        if time_s is None and self._timed:
            raise UnreadLineError("time")
        return _of_usage(time_s or 0.0, counted)

    def _from_session(self, text: "Text") -> Iterator[Request]:
        """Requests of a session of a coding assistant, those of its sub-agents where they were started."""
        self.kind = "session"
        self._noun = "request"
        header = text.up_to(_REQUESTS)
        size = _BLOCK_SIZE.search(header)
        block = max(1, int(size[1])) if size else SESSION_BLOCK
        requests = (one for record in text.objects() for one in self._session_requests(record, block, 0.0, 0))
        yield from filter(None, self._bounded(requests))
        if text.broken:
            self._refuse("The file is cut off, or is not valid JSON from some place on.")

    def _session_requests(self, record: Any, block: int, started_s: float, depth: int) -> Iterator[Request | None]:
        """The request of a record, or those of the sub-agent that it is; None for one that is left out."""
        nested = record.get("requests") if isinstance(record, dict) else None
        if isinstance(nested, list) and depth < _DEEPEST:
            first = next((one.get("t") for one in nested if isinstance(one, dict)), None)
            own, inner = record.get("t"), first
            # A sub-agent cannot ask before it was started: such times count from its start.
            later = is_number(own) and is_number(inner) and inner < own
            for one in nested:
                yield from self._session_requests(one, block, started_s + (own if later else 0.0), depth + 1)
            return
        try:
            if not isinstance(record, dict):
                raise UnreadLineError("object")  # noqa: TRY301 - counted with the others
            request = Request(
                time_s=started_s + number_time(record.get("t")),
                input_tokens=tokens(record.get("in"), missing="input"),
                output_tokens=tokens(record.get("out"), missing="output"),
                blocks=_blocks(record.get("hash_ids")),
                block_tokens=block,
            )
        except UnreadLineError as error:
            self._leave_out(str(error))
            yield None
            return
        self._note_model(record.get("model"))
        yield request

    # CSV

    def _from_csv(self, pieces: Iterator[bytes]) -> Iterator[Request]:
        """Requests of a table whose first line names the columns."""
        lines = self._bounded(whole_lines(pieces))
        first = (next(lines, None) or b"").decode("utf-8-sig", errors="replace")
        sign = max(",;\t|", key=first.count)
        if first.count(sign) >= _MOST_COLUMNS:
            self._refuse(f"The first line has more than {_MOST_COLUMNS:,} columns, so it is no list of requests.")
            return
        try:
            header = [name.strip() for name in next(csv.reader([first], delimiter=sign), [])]
        except csv.Error:
            header = [first.strip()]
        columns = [meaning_of(name) for name in header]
        inputs, outputs = ({f"google_{name}", name, f"{name}_or_text"} for name in ("input", "output"))
        if not inputs & set(columns) or not outputs & set(columns):
            shown = ", ".join(_printable(name[:30]) for name in header[:8])
            self._refuse(
                "The file is no list of requests that is known: it is no JSON, and its first line names no columns"
                f" of input and output tokens. It begins with: {shown}."
            )
            return
        self.kind = "azure" if {"ContextTokens", "GeneratedTokens"} <= set(header) else "usage"
        self._timed = "time" in columns or "time_ms" in columns
        meant = [(place, meaning) for place, meaning in enumerate(columns) if meaning]
        rows = csv.reader(self._table_lines(lines, sign.encode()), delimiter=sign)
        while True:
            try:
                row = next(rows, None)
            except csv.Error:
                self._leave_out("csv")
                continue
            if row is None:
                return
            if not row or row == header or not any(row):
                continue
            if len(row) != len(columns) and (len(row) < len(columns) or any(row[len(columns) :])):
                if self._whole:
                    self._leave_out("columns")
                else:
                    self._refuse("The last line is cut off.")
                continue
            try:
                request = self._row_request(meant, row)
            except UnreadLineError as error:
                self._leave_out(str(error))
                continue
            self._note(hash(tuple(row)))
            yield request

    def _table_lines(self, lines: Iterable[bytes | None], sign: bytes) -> Iterator[str]:
        """The lines of a table, apart from those that cannot be one; `_whole` says whether the last one had an end."""
        for line in lines:
            if line is None or line.count(sign) > _MOST_SIGNS:
                self._leave_out("long" if line is None else "columns")
                continue
            self._whole = line.endswith(b"\n")
            yield line.decode("utf-8-sig", errors="replace")

    def _row_request(self, meant: Sequence[tuple[int, str]], row: Sequence[str]) -> Request:
        numbers: Record = {}
        for place, meaning in meant:
            put(numbers, meaning, row[place].strip() or None)
        time_s = time_of(numbers)
        if time_s is None and self._timed:
            raise UnreadLineError("time")
        self._note_model(numbers.get("model"))
        return _of_usage(time_s or 0.0, usage_of(numbers))


def _of_usage(time_s: float, counted: Usage) -> Request:
    return Request(
        time_s=time_s,
        input_tokens=counted.input_tokens,
        output_tokens=counted.output_tokens,
        recorded=counted.recorded,
    )


def _mooncake(record: Record) -> Request:
    return Request(
        time_s=number_time(record.get("timestamp")) / 1000,
        input_tokens=tokens(record["input_length"], missing="input"),
        output_tokens=tokens(record["output_length"], missing="output"),
        blocks=_blocks(record.get("hash_ids")),
        block_tokens=MOONCAKE_BLOCK,
    )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _blocks(ids: Any) -> tuple[Hashable, ...]:
    if ids is None:
        return ()
    if not isinstance(ids, list) or not (kinds := {*map(type, ids)}) <= {int, str}:
        raise UnreadLineError("ids")
    if kinds == {int} and min(ids) > -_LARGEST_ID and max(ids) < _LARGEST_ID:
        return tuple(ids)
    return tuple(_short(one) for one in ids)


def _short(block: int | str) -> Hashable:
    """An id of a block that takes little memory; a hash in place of a long one."""
    long = len(block) > _LONGEST_NAME if isinstance(block, str) else not -_LARGEST_ID < block < _LARGEST_ID
    return ("long", hash(block)) if long else block
