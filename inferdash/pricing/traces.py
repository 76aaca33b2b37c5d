"""Traces: files of real requests, read one after another, so that a file of any size takes little memory.

Kinds are known by their content: logs of usage (CSV, JSON lines or JSON) in any of the declared dialects, the session
files of coding assistants among them; traces that name the blocks of their prompts, as those of Mooncake do (JSON
lines) and sessions (one JSON object); the traces of Azure (CSV, nothing about prefixes). A folder or a ZIP archive is
read file by file. Nothing of a file is kept: what could not be read is counted by reason.
"""

import csv
import json
import math
import re
import zipfile
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar

from inferdash.pricing import blocks as blocks_of
from inferdash.pricing.blocks import UNITS, Written
from inferdash.pricing.copies import Copies
from inferdash.pricing.dates import order_of
from inferdash.pricing.dialects.names import LONGEST_NAME
from inferdash.pricing.dialects.reading import Reader, Said
from inferdash.pricing.packed import Archive, Folder, Readable, archive_of
from inferdash.pricing.pieces import PIECE, Text, whole_lines
from inferdash.pricing.reasons import FORMS, Reasons
from inferdash.pricing.replay import Request
from inferdash.pricing.values import Record, UnreadLineError, is_number, number_time, tokens

T = TypeVar("T")

MOST: Final = 5_000_000
"""Lines, or requests, of a file that are read."""
_MOST_COLUMNS: Final = 1000
_MOST_SIGNS: Final = 100_000
"""Signs between columns that a line may have, those within texts included."""
_LONGEST_MODEL: Final = 100
"""Characters of a model's name that are kept."""
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
_OBJECT: Final = re.compile(r"\{")
_REQUESTS: Final = re.compile(r'"requests"\s*:\s*\[')
_BLOCK_SIZE: Final = re.compile(r'"block_size"\s*:\s*(\d{1,9})')
_DECODER: Final = json.JSONDecoder()
_LISTS: Final = ("messages", "data", "results", "rows", "records", "observations", "runs", "spans", "logs", "items")
"""Names under which one object may hold the list of its requests."""


class Trace:
    """The requests of a file, or of several as one, read as they are asked for, once.

    After the last request, `problems` holds a sentence for each thing that a reader should know, `notes` how the file
    was understood, and `left_out` how many lines or requests were not read.
    """

    def __init__(self, stream: Readable | Folder | Archive, written: Written | None = None) -> None:
        """Reads the start of a file, by which its kind is known.

        Args:
            stream: a file that is open for bytes, or several.
            written: tokens of a block and unit of times, where they are not to follow from the file.

        Raises:
            OSError: where the file cannot be read; also while going through the requests.
        """
        self.left_out = 0
        self.kind = "unknown"
        self.block_tokens = 0
        """Tokens of a block of a trace; 0 where there are none."""
        self._written = written or Written()
        self._noun = "line"
        self._reasons = Reasons()
        self._said: list[str] = []
        self._understood: dict[str, None] = {}
        self._repeated = self._earlier = self._untold = self._count = self._passed = self._summed = self._files = 0
        self._passed_files = self._taken = 0
        self._whole = True
        self._recent: set[Hashable] = set()
        self._recent_before: set[Hashable] = set()
        self._models: set[str] = set()
        self._now_s = -math.inf
        self._timed: bool | None = None
        self._per_s = 1.0
        self._open = ""
        """Why it is not known how a trace is written."""
        self._reader = Reader()
        self._copies = Copies()
        if isinstance(stream, Folder | Archive):
            self._requests = self._counted(self._of_many(stream))
        else:
            self._requests = self._counted(self._recognised(stream))

    def __iter__(self) -> Iterator[Request]:
        return self._requests

    @property
    def models(self) -> frozenset[str]:
        """Models that the file names, up to a hundred."""
        return frozenset(self._models)

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each reason why lines were left out, and for what is odd about those that were read."""
        sentences = [*self._said, *self._reasons.sentences(self._noun)]
        if self._repeated:
            sentences.append(
                f"{self._lines(self._repeated)} repeat{'s' if self._repeated == 1 else ''} an earlier one; each is"
                " counted."
            )
        if shared := self._copies.sharing:
            share = "shares its" if shared == 1 else "share their"
            sentences.append(
                f"{self._lines(shared)} {share} id with an earlier one of another prompt; each is counted."
            )
        if changed := self._copies.changed:
            sentences.append(
                f"{self._lines(changed)} tell{'s' if changed == 1 else ''} of more output for an answer far before it;"
                " what was told first is counted. Put the copies of an answer together."
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
        if self._timed is False and self._count:
            sentences.append("The file has no times.")
        if not self._count and not sentences:
            sentences.append("The file holds no requests.")
        return tuple(sentences)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the file was understood, in sentences."""
        sentences = [*self._understood]
        if self._reader.dialects:
            names = [name for name, _ in self._reader.dialects.most_common(4)]
            sentences.append(f"Counts are read as those of {', '.join(names)}.")
        for (dialect, part), lines in self._reader.assumed.items():
            sentences.append(
                f"{self._lines(lines)} of {dialect} say{'s' if lines == 1 else ''} no number of tokens"
                f" {_PARTS[part]}, which is taken for none."
            )
        if copies := self._copies.repeated:
            repeat = "repeats" if copies == 1 else "repeat"
            sentences.append(f"{self._lines(copies)} {repeat} an answer; each counts once, as its last copy says.")
        if self._passed:
            holds = (
                "holds no request of its own and is" if self._passed == 1 else "hold no request of their own and are"
            )
            sentences.append(f"{self._lines(self._passed)} {holds} passed over.")
        if self._summed:
            sums = "sums" if self._summed == 1 else "sum"
            sentences.append(
                f"{self._lines(self._summed)} {sums} several requests up: prices by the size of a prompt hold for the"
                " average one where their number is known, else the lowest."
            )
        if self._files:
            passed = f"; {self._passed_files:,} of other kinds are passed over" if self._passed_files else ""
            sentences.append(f"{self._files:,} file{'' if self._files == 1 else 's'} are read as one{passed}.")
        return tuple(sentences)

    def _lines(self, count: int) -> str:
        return f"{count:,} {self._noun}{'' if count == 1 else 's'}"

    # What kind of file it is

    def _of_many(self, many: Folder | Archive) -> Iterator[Request]:
        """The requests of several files, one after another."""
        try:
            for stream in many.files():
                self._files += 1
                self._now_s = -math.inf
                yield from self._recognised(stream)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError):
            self._refuse("A file of the archive is broken; those after it are not read.")
        self._passed_files = many.passed_over
        if not self._files:
            self._refuse(f"There is no file of requests in it. {FORMS}")

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
            refused = "" if self._files else "The file is empty."
            if not refused:
                return iter(())
        elif head.startswith(_COMPRESSED):
            try:
                if not self._files and head.startswith(_COMPRESSED[1]):
                    return self._of_many(archive_of(stream, chain(first, pieces)))
                refused = "The file is compressed; unpack it first."
            except ValueError as error:
                refused = str(error)
        elif _CONTROL.search(head):
            refused = "The file is not text in UTF-8."
        if refused:
            self._refuse(refused)
            return iter(())
        text = head.decode("utf-8-sig", errors="replace").lstrip()
        self._date(text)
        return self._ended(self._reader_of(text, chain(first, pieces)))

    def _date(self, head: str) -> None:
        """Finds what stands first in the dates of a spreadsheet."""
        order, shown = order_of(head)
        self._reader.order = self._written.dates or order
        if shown and self._reader.order:
            self._understood[f"Dates such as {shown} have the {self._reader.order} first."] = None
        elif shown:
            self._said.append(
                f"Whether the month or the day stands first in dates such as {shown} {blocks_of.SAY_IT}: lines are read"
                " without a time until you say it."
            )

    def _reader_of(self, text: str, pieces: Iterator[bytes]) -> Iterator[Request]:
        if text.startswith("["):
            self._noun = "request"
            listed = Text(pieces)
            listed.up_to(_LIST)
            return self._from_objects(listed, text)
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
        listed_in = (
            isinstance(record, dict) and not rest.strip() and any(type(record.get(name)) is list for name in _LISTS)
        )
        if listed_in or (not whole_line and rest and first.rstrip().endswith(("{", "[", ","))):
            self._noun = "request"
            return self._from_objects(Text(pieces), text)
        return self._from_lines(pieces, text)

    def _refuse(self, sentence: str) -> None:
        self.left_out += 1
        self._said.append(sentence)

    def _leave_out(self, error: UnreadLineError) -> None:
        self.left_out += 1
        self._reasons.add(error.reason, _printable(error.about))

    def _ended(self, requests: Iterator[Request]) -> Iterator[Request]:
        """The requests of one file, and those that were held back for copies of them."""
        yield from requests
        yield from self._copies.end_of_file()

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

    def _note(self, line: str | list[str]) -> None:
        """Counts a line that came before, among the last ones."""
        if not line:
            return
        key = hash(line if isinstance(line, str) else tuple(line))
        if key in self._recent or key in self._recent_before:
            self._repeated += 1
        self._recent.add(key)
        if len(self._recent) > _REMEMBERED:
            self._recent, self._recent_before = set(), self._recent

    def _note_model(self, model: Any) -> None:
        if isinstance(model, str) and model and len(self._models) < _MOST_MODELS:
            self._models.add(_printable(model[:_LONGEST_MODEL]))

    def _bounded(self, records: Iterable[T]) -> Iterator[T]:
        """The first lines or requests of all files, and a sentence where there are more."""
        for record in records:
            if self._taken == MOST:
                self._refuse(f"The file has more than {MOST:,} {self._noun}s; those after them are not read.")
                return
            self._taken += 1
            yield record

    # JSON

    def _from_lines(self, pieces: Iterator[bytes], head: str) -> Iterator[Request]:
        """Requests of JSON lines, each on its own."""
        self._understand(head)
        for line in self._bounded(whole_lines(pieces)):
            if line is None:
                self._leave_out(UnreadLineError("long"))
                continue
            text = line.decode(errors="replace").strip().lstrip("\ufeff")
            try:
                record, end = _DECODER.raw_decode(text)
                if end != len(text):
                    raise ValueError(end)  # noqa: TRY301 - what follows is no JSON either
            except (ValueError, RecursionError):
                if line.endswith(b"\n"):
                    self._leave_out(UnreadLineError("json"))
                else:
                    self._refuse("The last line is cut off.")
                continue
            if request := self._request(record, text):
                yield request

    def _from_objects(self, text: Text, head: str) -> Iterator[Request]:
        """Requests of JSON objects that stand one after another, over lines or in a list, or in a list within one."""
        self._understand(head)
        records = (one for record in text.objects() for one in _listed(record))
        for record in self._bounded(records):
            if request := self._request(record, ""):
                yield request
        if text.broken:
            self._refuse("The file is cut off, or is not valid JSON from some place on.")

    def _request(self, record: Any, line: str | list[str]) -> Request | None:
        """The request of a record, or one that was held back before it."""
        try:
            if isinstance(record, dict) and "input_length" in record and "output_length" in record:
                self.kind = "mooncake"
                request = self._traced(record)
                self._note(line)
                return request
            said = self._usage(record)
        except UnreadLineError as error:
            self._leave_out(error)
            return None
        if said is None:
            self._passed += 1
            return None
        if not said.message and not said.request and not said.running:
            self._note(line)
        return self._copies.offer(said, self._requested(said))

    def _usage(self, record: Any) -> Said | None:
        """What one record of usage says; None where it is no request.

        Raises:
            UnreadLineError: where it has no time, no tokens, or impossible ones.
        """
        if not isinstance(record, dict):
            raise UnreadLineError("object")
        self.kind = "usage" if self.kind == "unknown" else self.kind
        said = self._reader.read(record)
        if said is not None:
            if self._timed is None:
                self._timed = said.time_s is not None
            if said.time_s is None and self._timed:
                raise UnreadLineError("time")
        return said

    def _requested(self, said: Said) -> Request:
        for model in said.models:
            if model not in self._models:
                self._note_model(model)
        counted = said.counted
        each = 0
        if said.requests != 1:
            self._summed += 1
            each = max(1, counted.input_tokens // said.requests) if said.requests else 1
        return Request(
            said.time_s or 0.0,
            counted.input_tokens,
            counted.output_tokens,
            recorded=counted.recorded,
            usd=said.usd,
            each_tokens=each,
            requests=max(1, said.requests),
            model=self._named(said.models),
        )

    def _named(self, models: Sequence[str]) -> str:
        """The first model of a record, as it is kept; "" for those beyond the hundred that are told apart."""
        kept = _printable(models[0][:_LONGEST_MODEL]) if models else ""
        return kept if kept in self._models else ""

    # Traces that name the blocks of prompts

    def _understand(self, head: str) -> None:
        """Finds how a trace is written from its first rows; without blocks there is nothing to find."""
        if '"hash_ids"' in head and '"input_length"' in head:
            self._follow(_rows(head), prompt="input_length", time="timestamp")

    def _follow(self, rows: Sequence[Record], *, prompt: str, time: str) -> None:
        """Takes over how rows are written; where they leave it open, that is told once."""
        try:
            form, said = blocks_of.of_rows(rows, self._written, prompt=prompt, time=time)
        except ValueError as error:
            self._open = str(error)
        else:
            self.block_tokens, self._per_s, self._open = form.block_tokens, UNITS[form.unit], ""
            self._understood[said] = None

    def _traced(self, record: Record) -> Request:
        self._timed = True
        ids = _blocks(record.get("hash_ids"))
        if ids and not self.block_tokens and not self._open:
            self._follow([record], prompt="input_length", time="timestamp")
        request = Request(
            time_s=number_time(record.get("timestamp")) / self._per_s,
            input_tokens=tokens(record["input_length"], missing="input"),
            output_tokens=tokens(record["output_length"], missing="output"),
            blocks=ids,
            block_tokens=self.block_tokens,
        )
        if ids and not self._written.block_tokens:
            self._check(request)
        return request

    def _check(self, request: Request) -> None:
        """Nothing where it is known how the trace is written, and the request is so."""
        if self._open or not self.block_tokens:
            raise UnreadLineError("open", self._open)
        blocks_of.checked(request.input_tokens, request.blocks, self.block_tokens)

    def _from_session(self, text: Text) -> Iterator[Request]:
        """Requests of a session of a coding assistant, those of its sub-agents where they were started."""
        self.kind = "session"
        self._noun = "request"
        self._timed = True
        header = text.up_to(_REQUESTS)
        size = _BLOCK_SIZE.search(header)
        if size or self._written.block_tokens:
            self.block_tokens = self._written.block_tokens or max(1, int(size[1]) if size else 1)
        else:
            self._follow(_rows(text.text[text.at :]), prompt="in", time="t")
        requests = (one for record in text.objects() for one in self._session_requests(record, 0.0, 0))
        yield from filter(None, self._bounded(requests))
        if text.broken:
            self._refuse("The file is cut off, or is not valid JSON from some place on.")

    def _session_requests(self, record: Any, started_s: float, depth: int) -> Iterator[Request | None]:
        """The request of a record, or those of the sub-agent that it is; None for one that is left out."""
        nested = record.get("requests") if isinstance(record, dict) else None
        if isinstance(nested, list) and depth < _DEEPEST:
            first = next((one.get("t") for one in nested if isinstance(one, dict)), None)
            own, inner = record.get("t"), first
            # A sub-agent cannot ask before it was started: such times count from its start.
            later = is_number(own) and is_number(inner) and inner < own
            for one in nested:
                yield from self._session_requests(one, started_s + (own / self._per_s if later else 0.0), depth + 1)
            return
        try:
            if not isinstance(record, dict):
                raise UnreadLineError("object")  # noqa: TRY301 - counted with the others
            request = Request(
                time_s=started_s + number_time(record.get("t")) / self._per_s,
                input_tokens=tokens(record.get("in"), missing="input"),
                output_tokens=tokens(record.get("out"), missing="output"),
                blocks=_blocks(record.get("hash_ids")),
                block_tokens=self.block_tokens,
            )
            if isinstance(model := record.get("model"), str):
                self._note_model(model)
                request = request._replace(model=self._named([model]))
            if request.blocks and not self.block_tokens:
                self._check(request)
        except UnreadLineError as error:
            self._leave_out(error)
            yield None
            return
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
        kept, lacking = self._reader.columns(header)
        if lacking:
            shown = ", ".join(_printable(name[:30]) for name in header[:8])
            self._refuse(
                f"The file is no list of requests that is known: it is no JSON, and its first line names {lacking}."
                f" It begins with: {shown}. {FORMS}"
            )
            return
        self.kind = "azure" if {"ContextTokens", "GeneratedTokens"} <= set(header) else "usage"
        rows = csv.reader(self._table_lines(lines, sign.encode()), delimiter=sign)
        while True:
            try:
                row = next(rows, None)
            except csv.Error:
                self._leave_out(UnreadLineError("csv"))
                continue
            if row is None:
                return
            if not row or row == header or not any(row):
                continue
            if len(row) != len(header) and (len(row) < len(header) or any(row[len(header) :])):
                if self._whole:
                    self._leave_out(UnreadLineError("columns"))
                else:
                    self._refuse("The last line is cut off.")
                continue
            record = {name: cell for place, name, empty in kept if (cell := row[place].strip() or empty)}
            if request := self._request(record, row):
                yield request

    def _table_lines(self, lines: Iterable[bytes | None], sign: bytes) -> Iterator[str]:
        """The lines of a table, apart from those that cannot be one; `_whole` says whether the last one had an end."""
        for line in lines:
            if line is None or line.count(sign) > _MOST_SIGNS:
                self._leave_out(UnreadLineError("long" if line is None else "columns"))
                continue
            self._whole = line.endswith(b"\n")
            yield line.decode(errors="replace")


_PARTS: Final = {
    "read": "read from a cache",
    "written": "stored in a cache",
    "hour": "stored for an hour",
    "undated": "stored in a cache",
    "tools": "that tools put in",
    "thought": "of reasoning",
    "answer": "of an answer",
}


def _listed(record: Any) -> Iterator[Any]:
    """The records of a list within one object; the object itself where it has none, or counts of its own."""
    names = [name for name in _LISTS if isinstance(record, dict) and type(record.get(name)) is list]
    inner = [one for name in names for one in record[name] if isinstance(one, dict)]
    if not inner or "usage" in record or "response" in record:
        yield record
        return
    for one in inner:
        info = one.get("info")
        yield info if isinstance(info, dict) and "role" in info else one


def _rows(text: str) -> list[Record]:
    """The objects that stand whole at the start of a text."""
    decoder = json.JSONDecoder()
    found: list[Record] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found
        if isinstance(value, dict):
            found.append(value)
        at = text.find("{", end)
    return found


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
    long = len(block) > LONGEST_NAME if isinstance(block, str) else not -_LARGEST_ID < block < _LARGEST_ID
    return ("long", hash(block)) if long else block


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
