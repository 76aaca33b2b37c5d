"""Traces: files of real requests, read one after another, so that a file of any size takes little memory.

Four kinds are known by their content: the traces of Mooncake (JSON lines, blocks of 512 tokens), sessions of a coding
assistant (one JSON object, blocks of 64 tokens), the traces of Azure (CSV, nothing about prefixes), and plain logs of
usage (CSV, JSON lines or JSON) whose lines say what an API counted, in the words of its maker. Nothing of a file is
kept: what could not be read is counted by reason.
"""

import codecs
import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias

from inferdash.pricing.replay import Request, Split

MOONCAKE_BLOCK: Final = 512
"""Tokens of a block in the traces of Mooncake."""
SESSION_BLOCK: Final = 64
"""Tokens of a block in sessions of a coding assistant, where the file does not say."""
MOST_TOKENS: Final = 10**12
"""Above this a number of tokens is taken for a mistake."""

_PIECE: Final = 1 << 16
"""Bytes that are read at a time, and those at the start of a file by which its kind is known."""
_LONGEST: Final = 1 << 24
"""Bytes of the longest line, or the longest request, that is read."""
_REMEMBERED: Final = 200_000
"""Lines among which a repetition is noticed."""
_MOST_MODELS: Final = 100
_CLOCK_TICK_S: Final = 1e-6
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 1e20
"""A number of a time beyond this is none, in whatever unit."""
_UNITS_PER_S: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Above the first, a bare number of a time since 1970 counts this many units a second: ns, µs, ms."""
_COMPRESSED: Final = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

_WORDS: Final = {
    "time": "time timestamp ts t date datetime created createdat starttime starttimestamp requesttime",
    "time_ms": "timems timestampms createdms",
    "input": "inputtokens prompttokens contexttokens inputlength tokensin intokens inputtokencount",
    "input_or_text": "input prompt in",
    "output": "outputtokens completiontokens generatedtokens outputlength tokensout outtokens outputtokencount",
    "output_or_text": "output completion out",
    "read": "cachedtokens cached cachedinputtokens inputcachedtokens cachedprompttokens cachereadtokens cacheread"
    " readtokens read prompttokenscached",
    "written": "cachewritetokens cachewrite cachecreationtokens writtentokens written write",
    "read_apart": "cachereadinputtokens",
    "written_apart": "cachecreationinputtokens",
    "written_5m": "ephemeral5minputtokens",
    "written_1h": "ephemeral1hinputtokens",
    "google_input": "prompttokencount",
    "google_tools": "tooluseprompttokencount",
    "google_read": "cachedcontenttokencount",
    "google_output": "candidatestokencount",
    "google_thoughts": "thoughtstokencount",
    "model": "model modelversion",
}
"""What a log may call each number, without capitals and signs.

Where input tokens leave out those of the cache (Anthropic), those stand apart. A prompt or an answer may be a text.
"""
_APART: Final = {"read_apart", "written_apart", "written_5m", "written_1h"}
_MEANINGS: Final = {word: meaning for meaning, words in _WORDS.items() for word in words.split()}
_USAGES: Final = ("usage", "usageMetadata", "usage_metadata")
_AROUND: Final = ("response", "message", "body")
_WITHIN: Final = (
    "prompt_tokens_details", "input_tokens_details", "promptTokensDetails", "inputTokensDetails", "cache_creation",
)  # fmt: skip
_WHOLE: Final = re.compile(r"-?\d+(\.0)?", re.ASCII)
_SPACE_OR_COMMA: Final = re.compile(r"[\s,]*")
_LIST: Final = re.compile(r"\[")
_REQUESTS: Final = re.compile(r'"requests"\s*:\s*\[')
_BLOCK_SIZE: Final = re.compile(r'"block_size"\s*:\s*(\d{1,9})')
_TIME_KEY: Final = re.compile(
    r'"(time|timestamp|ts|t|date|datetime|created|created_?at|start_?time|start_?timestamp|request_?time'
    r'|time_?ms|timestamp_?ms|created_?ms)"\s*:',
    re.IGNORECASE,
)

_Record: TypeAlias = dict[str, Any]

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

    def readline(self, size: int, /) -> bytes:
        """The rest of a line, at most so many bytes of it; nothing at the end of the file."""


class UnreadLineError(ValueError):
    """A line, or a record of usage, that is left out; its argument is a key of the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an API counted for one request, the same for all makers."""

    input_tokens: int
    """All tokens of the prompt: fresh, read from the cache, and stored in it."""
    output_tokens: int
    """All output tokens, hidden reasoning included."""
    recorded: Split | None
    """What was read and stored, where the log says it."""


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
        self._recent: set[Hashable] = set()
        self._recent_before: set[Hashable] = set()
        self._models: set[str] = set()
        self._now_s = -math.inf
        self._timed = True
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
        pieces = iter(partial(stream.readline, _PIECE), b"")
        first: list[bytes] = []
        size = 0
        for piece in pieces:
            first.append(piece)
            size += len(piece)
            if size >= _PIECE:
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
            listed = _Text(pieces)
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
            return self._from_session(_Text(pieces))
        if not whole_line and _REQUESTS.search(text) and ('"hash_ids"' in text or '"block_size"' in text):
            return self._from_session(_Text(pieces))
        self._timed = bool(_TIME_KEY.search(text))
        if not whole_line and rest and first.rstrip().endswith(("{", "[", ",")):
            self._noun = "request"
            return self._from_objects(_Text(pieces), self._line_request)
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

    def _note(self, key: Hashable) -> None:
        """Counts a line that came before, among the last ones."""
        if key in self._recent or key in self._recent_before:
            self._repeated += 1
        self._recent.add(key)
        if len(self._recent) > _REMEMBERED:
            self._recent, self._recent_before = set(), self._recent

    def _note_model(self, model: Any) -> None:
        if isinstance(model, str) and model and len(self._models) < _MOST_MODELS:
            self._models.add(model)

    # JSON

    def _from_lines(self, pieces: Iterator[bytes]) -> Iterator[Request]:
        """Requests of JSON lines, each on its own."""
        for line in _lines(pieces):
            if line is None:
                self._leave_out("long")
                continue
            text = line.decode("utf-8-sig", errors="replace").strip()
            if not text:
                continue
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
            self._note(("id", named) if isinstance(named, str) else hash(text))
            yield request

    def _from_objects(self, text: "_Text", request_of: Callable[[Any], Request]) -> Iterator[Request]:
        """Requests of JSON objects that stand one after another, over lines or in a list."""
        for record in text.objects():
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
        for one in (record, *(inner for name in _AROUND if isinstance(inner := record.get(name), dict))):
            numbers = _meant(one)
            time_s = _time_s(numbers) if time_s is None else time_s
            self._note_model(numbers.get("model"))
        if time_s is None and self._timed:
            raise UnreadLineError("time")
        return _of_usage(time_s or 0.0, counted)

    def _from_session(self, text: "_Text") -> Iterator[Request]:
        """Requests of a session of a coding assistant, those of its sub-agents where they were started."""
        self.kind = "session"
        self._noun = "request"
        header = text.up_to(_REQUESTS)
        size = _BLOCK_SIZE.search(header)
        block = max(1, int(size[1])) if size else SESSION_BLOCK
        for record in text.objects():
            yield from self._session_requests(record, block, 0.0)
        if text.broken:
            self._refuse("The file is cut off, or is not valid JSON from some place on.")

    def _session_requests(self, record: Any, block: int, started_s: float) -> Iterator[Request]:
        nested = record.get("requests") if isinstance(record, dict) else None
        if isinstance(nested, list):
            first = next((one.get("t") for one in nested if isinstance(one, dict)), None)
            own, inner = record.get("t"), first
            # A sub-agent cannot ask before it was started: such times count from its start.
            later = _is_number(own) and _is_number(inner) and inner < own
            for one in nested:
                yield from self._session_requests(one, block, started_s + (own if later else 0.0))
            return
        try:
            if not isinstance(record, dict):
                raise UnreadLineError("object")  # noqa: TRY301 - counted with the others
            request = Request(
                time_s=started_s + _number_time(record.get("t")),
                input_tokens=_tokens(record.get("in"), missing="input"),
                output_tokens=_tokens(record.get("out"), missing="output"),
                blocks=_blocks(record.get("hash_ids")),
                block_tokens=block,
            )
        except UnreadLineError as error:
            self._leave_out(str(error))
            return
        self._note_model(record.get("model"))
        yield request

    # CSV

    def _from_csv(self, pieces: Iterator[bytes]) -> Iterator[Request]:
        """Requests of a table whose first line names the columns."""
        last = b"\n"

        def texts() -> Iterator[str]:
            nonlocal last
            for line in _lines(pieces):
                if line is None:
                    self._leave_out("long")
                    continue
                last = line
                yield line.decode("utf-8-sig", errors="replace")

        lines = texts()
        header_line = next((line for line in lines if line.strip()), "")
        delimiter = max(",;\t|", key=header_line.count)
        try:
            header = [name.strip() for name in next(csv.reader([header_line], delimiter=delimiter), [])]
        except csv.Error:
            header = [header_line.strip()]
        columns = [_meaning(name) for name in header]
        inputs, outputs = ({f"google_{name}", name, f"{name}_or_text"} for name in ("input", "output"))
        if not inputs & set(columns) or not outputs & set(columns):
            shown = ", ".join(name[:30] for name in header[:8])
            self._refuse(
                "The file is no list of requests that is known: it is no JSON, and its first line names no columns"
                f" of input and output tokens. It begins with: {shown}."
            )
            return
        self.kind = "azure" if {"ContextTokens", "GeneratedTokens"} <= set(header) else "usage"
        self._timed = "time" in columns or "time_ms" in columns
        meant = [(place, meaning) for place, meaning in enumerate(columns) if meaning]
        rows = csv.reader(lines, delimiter=delimiter)
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
                if last.endswith(b"\n"):
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

    def _row_request(self, meant: Sequence[tuple[int, str]], row: Sequence[str]) -> Request:
        numbers: _Record = {}
        for place, meaning in meant:
            _put(numbers, meaning, row[place].strip() or None)
        time_s = _time_s(numbers)
        if time_s is None and self._timed:
            raise UnreadLineError("time")
        self._note_model(numbers.get("model"))
        return _of_usage(time_s or 0.0, _usage_of(numbers))


def usage(record: Mapping[str, Any]) -> Usage:
    """What one record of a log counts: a usage object of Anthropic, OpenAI or Google, or plain numbers.

    It may stand in the record itself, below `usage` or `usageMetadata`, or in the `response`, `message` or `body`
    around that. Anthropic's input tokens leave out those read and stored; all others' include them. Reasoning is
    inside the output tokens, but for Google's thoughts, which are counted apart.

    Raises:
        UnreadLineError: where input or output tokens are missing, or more are read and stored than there are.
    """
    found: Mapping[str, Any] = record
    for one in (record, *(inner for name in _AROUND if isinstance(inner := record.get(name), dict))):
        inner = next((one[name] for name in _USAGES if isinstance(one.get(name), dict)), None)
        if inner is not None:
            found = inner
            break
    numbers = _meant(found)
    for name in _WITHIN:
        if isinstance(part := found.get(name), dict):
            numbers = _meant(part) | numbers
    return _usage_of(numbers)


def _usage_of(numbers: Mapping[str, Any]) -> Usage:
    """Usage from numbers by their meaning."""

    def optional(meaning: str) -> int:
        value = numbers.get(meaning)
        return 0 if value is None else _tokens(value, missing="tokens")

    def one_of(meaning: str) -> int:
        value = numbers.get(meaning)
        return _tokens(numbers.get(f"{meaning}_or_text") if value is None else value, missing=meaning)

    if any(numbers.get(meaning) is not None for meaning in ("google_input", "google_output", "google_thoughts")):
        prompt = optional("google_input") + optional("google_tools")  # Google leaves out what is 0
        output = optional("google_output") + optional("google_thoughts")
        read, written = optional("google_read"), 0
    else:
        prompt, output = one_of("input"), one_of("output")
        if not numbers.keys().isdisjoint(_APART):
            read, hour = optional("read_apart"), optional("written_1h")
            whole = numbers.get("written_apart")
            written = optional("written_5m") + hour if whole is None else _tokens(whole, missing="tokens")
            split = Split(read_tokens=read, written_tokens=written, written_long_tokens=min(hour, written))
            return Usage(input_tokens=prompt + read + written, output_tokens=output, recorded=split)
        if "read" not in numbers and "written" not in numbers:
            return Usage(input_tokens=prompt, output_tokens=output, recorded=None)
        read, written = optional("read"), optional("written")
    if read + written > prompt:
        raise UnreadLineError("sum")
    return Usage(input_tokens=prompt, output_tokens=output, recorded=Split(read_tokens=read, written_tokens=written))


def _meant(record: Mapping[str, Any]) -> _Record:
    """The values of a record whose names mean something, by that meaning."""
    numbers: _Record = {}
    for name, value in record.items():
        if meaning := _meaning(name):
            _put(numbers, meaning, value)
    return numbers


def _put(numbers: _Record, meaning: str, value: Any) -> None:
    """Keeps the first value of a meaning; one that is nothing gives way."""
    if numbers.get(meaning) is None:
        numbers[meaning] = value


def _of_usage(time_s: float, counted: Usage) -> Request:
    return Request(
        time_s=time_s,
        input_tokens=counted.input_tokens,
        output_tokens=counted.output_tokens,
        recorded=counted.recorded,
    )


def _mooncake(record: _Record) -> Request:
    return Request(
        time_s=_number_time(record.get("timestamp")) / 1000,
        input_tokens=_tokens(record["input_length"], missing="input"),
        output_tokens=_tokens(record["output_length"], missing="output"),
        blocks=_blocks(record.get("hash_ids")),
        block_tokens=MOONCAKE_BLOCK,
    )


def _blocks(ids: Any) -> tuple[Hashable, ...]:
    if ids is None:
        return ()
    if not isinstance(ids, list) or not {*map(type, ids)} <= {int, str}:
        raise UnreadLineError("ids")
    return tuple(ids)


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) <= _LATEST


def _tokens(value: Any, *, missing: str, default: int | None = None) -> int:
    """A number of tokens: a whole number, or the text of one."""
    if value is None:
        if default is None:
            raise UnreadLineError(missing)
        return default
    if type(value) is not int:
        try:
            # In a text a point may part thousands: 100.0 is read, 10.000 is not.
            plain = type(value) is float or (type(value) is str and _WHOLE.fullmatch(value.strip()))
            number = float(value) if plain else math.nan
        except ValueError:
            number = math.nan
        if not number.is_integer():  # so it is neither a fraction nor infinite nor no number
            raise UnreadLineError("tokens")
        value = int(number)
    if value < 0:
        raise UnreadLineError("negative")
    if value > MOST_TOKENS:
        raise UnreadLineError("many")
    return int(value)


def _number_time(value: Any) -> float:
    if value is None:
        raise UnreadLineError("time")
    if not _is_number(value):
        raise UnreadLineError("bad time")
    return float(value)


def _time_s(numbers: Mapping[str, Any]) -> float | None:
    """Seconds of a time: a number since any moment (s, or ms, µs, ns since 1970), or ISO 8601, UTC if it has no zone.

    Raises:
        UnreadLineError: where there is one, and it is neither.
    """
    value, per_s = numbers.get("time"), 1.0
    if value is None or value == "":
        value, per_s = numbers.get("time_ms"), 1000.0
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            value = _moment_s(value.strip())
        except (ValueError, OverflowError):
            raise UnreadLineError("bad time") from None
    seconds = _number_time(value) / per_s
    if abs(seconds) <= _UNITS_PER_S[-1][0]:
        return seconds
    return next(seconds / units for above, units in _UNITS_PER_S if abs(seconds) > above)


def _moment_s(text: str) -> float:
    if text[4:5] != "-":
        return float(text)
    moment = datetime.fromisoformat(text)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


@lru_cache(maxsize=4096)
def _meaning(name: str) -> str:
    """What a name means, or nothing: `Input Tokens`, `inputTokens` and `usage.input_tokens` are one."""
    # In OpenTelemetry's names the input tokens include those of the cache.
    last = re.sub(r"\b(cache_(read|creation))\.input_tokens$", r"\1_tokens", name).rpartition(".")[2]
    return _MEANINGS.get(re.sub(r"[^a-z0-9]", "", last.lower()), "")


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes | None]:
    """Whole lines of pieces that may end within one; None for a line that is too long."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size <= _LONGEST:
            parts.append(piece)
        else:
            parts.clear()
        if piece.endswith(b"\n"):
            yield (piece if len(parts) == 1 else b"".join(parts)) if size <= _LONGEST else None
            parts.clear()
            size = 0
    if size:
        yield b"".join(parts) if size <= _LONGEST else None


class _Text:
    """Text that comes in pieces, of which no more is held than one object needs."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.decoded = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self.text = ""
        self.at = 0
        self.broken = False
        """Whether the text ended, or went wrong, within an object."""

    def more(self, size: int) -> bool:
        """Takes in at least so many bytes, and says whether there were any."""
        parts = [self.text[self.at :]]
        taken = 0
        for piece in self.pieces:
            parts.append(self.decoded.decode(piece))
            taken += len(piece)
            if taken >= size:
                break
        self.text, self.at = "".join(parts), 0
        return taken > 0

    def up_to(self, pattern: re.Pattern[str]) -> str:
        """What stands before a pattern; the text goes on behind it."""
        while not (found := pattern.search(self.text)) and len(self.text) < _LONGEST and self.more(_PIECE):
            pass
        if not found:
            self.broken = True
            self.text = ""
            return ""
        self.at = found.end()
        return self.text[: found.start()]

    def objects(self) -> Iterator[Any]:
        """JSON values one after another, with commas or without, through the end of their list."""
        decoder = json.JSONDecoder()
        size = _PIECE
        while True:
            place = _SPACE_OR_COMMA.match(self.text, self.at)
            self.at = place.end() if place else self.at
            if self.at >= len(self.text):
                if not self.more(_PIECE):
                    return
                continue
            if self.text[self.at] == "]":
                return
            try:
                value, self.at = decoder.raw_decode(self.text, self.at)
            except RecursionError:
                self.broken = True
                return
            except ValueError:
                if len(self.text) - self.at > _LONGEST or not self.more(size):
                    self.broken = True
                    return
                size *= 2
                continue
            size = _PIECE
            yield value
