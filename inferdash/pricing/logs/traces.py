"""Traces: files of real requests, read one after another, so that a file of any size takes little memory.

Kinds are known by their content: logs of usage (CSV, JSON lines or JSON) in any of the declared dialects, the session
files of coding assistants among them; traces that name the blocks of their prompts, as those of Mooncake do (JSON
lines) and sessions (one JSON object); the traces of Azure (CSV, nothing about prefixes). A folder or a ZIP archive is
read file by file. Nothing of a file is kept: what could not be read is counted by reason.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from inferdash.pricing.dialects.doubled import twice
from inferdash.pricing.logs.block_traces import REQUESTS
from inferdash.pricing.logs.blocks import SAY_IT, Written
from inferdash.pricing.logs.dates import order_of
from inferdash.pricing.logs.packed import Archive, Folder, Readable, archive_of, shown
from inferdash.pricing.logs.pieces import LONGEST, PIECE, Text, first_line, whole_lines
from inferdash.pricing.logs.reasons import FORMS
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.tables import Table
from inferdash.pricing.logs.values import UnreadLineError
from inferdash.pricing.replay import Request
from inferdash.pricing.tally import Summed

if TYPE_CHECKING:
    from inferdash.pricing.columns.engine import Engine

_COMPRESSED: Final = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")
_MORE: Final = 1 << 20
"""Bytes that are read at a time behind the first piece."""
_PARQUET: Final = b"PAR1"
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
Again: TypeAlias = Callable[[], Iterator[bytes]]
"""Gives a file from its start."""
_LIST: Final = re.compile(r"\[")
_LISTS: Final = ("messages", "data", "results", "rows", "records", "observations", "runs", "spans", "logs", "items")
"""Names under which one object may hold the list of its requests."""
_PAGED: Final = frozenset({"has_more", "hasMore", "next_page", "nextPage"})
"""Names of which an answer in pages has one beside its list, so that a file may hold several."""
_BEGAN: Final = frozenset({"start_time", "starting_at"})
"""Names of the time of a bucket, which its results do not say again."""
_SPANS: Final = "resourceSpans"
"""Name of the list that each object of an OpenTelemetry export holds."""
_OF_MODELS: Final = ("gen_ai.", "llm.", "ai.")
"""With which the attributes of a span begin that tells of a model."""


class Trace:
    """The requests of a file, or of several as one, read as they are asked for, once.

    After the last request, `problems` holds a sentence for each thing that a reader should know, `notes` how the file
    was understood, and `left_out` how many lines or requests were not read.
    """

    def __init__(
        self,
        stream: Readable | Folder | Archive,
        written: Written | None = None,
        *,
        engine: Callable[[Records], "Engine"] | None = None,
        users: bool = False,
        records: Records | None = None,
    ) -> None:
        """Reads the start of a file, by which its kind is known.

        Args:
            stream: a file that is open for bytes, or several.
            written: tokens of a block and unit of times, where they are not to follow from the file.
            engine: what sums lines up, many at once, as it pays where there are many.
            users: whether it is to be known who asked.
            records: those of a log of which this is not the first file, nor the last: who has them ends it.

        Raises:
            OSError: where the file cannot be read; also while going through the requests.
        """
        self._written = written or Written()
        self._is_part = records is not None
        self._records = records or Records(self._written, users=users)
        self._reader, self._copies = self._records.reader, self._records.copies
        self._told, self._blocks = self._records.told, self._records.blocks
        self._engine = engine(self._records) if engine else None
        several = isinstance(stream, Folder | Archive)
        requests = self._of_many(stream) if several else self._recognised(stream)  # type: ignore[arg-type]  # as it is asked
        self._requests = self._told.counted(self._whole(requests))

    def __iter__(self) -> Iterator[Request | Summed]:
        return self._requests

    def requests(self) -> Iterator[Request]:
        """The requests one by one, as they are without an engine; also those without a time."""
        return (one for one in self._requests if isinstance(one, Request))

    @property
    def kind(self) -> str:
        """What the file is: usage, azure, mooncake, session; unknown before its first request."""
        return self._records.kind

    @property
    def left_out(self) -> int:
        """Lines or requests that were not read."""
        return self._told.left_out

    @property
    def block_tokens(self) -> int:
        """Tokens of a block of a trace; 0 where there are none."""
        return self._records.block_tokens

    @property
    def models(self) -> frozenset[str]:
        """Models that the file names, up to a hundred."""
        return self._records.models

    @property
    def dialects(self) -> tuple[str, ...]:
        """In which its lines were read."""
        return self._records.dialects

    @property
    def apart(self) -> dict[str, int]:
        """What the requests count in other things than tokens, in the plural, and how many: none is in the bill."""
        return dict(self._told.apart)

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each reason why lines were left out, and for what is odd about those that were read."""
        return self._told.problems()

    @property
    def notes(self) -> tuple[str, ...]:
        """How the file was understood, in sentences."""
        return self._told.notes()

    def _whole(self, requests: Iterator[Request | Summed]) -> Iterator[Request | Summed]:
        """All requests of the log, which ends with the last one."""
        yield from requests
        if self._engine and not self._is_part:
            self._engine.end()

    # What kind of file it is

    def _of_many(self, many: Folder | Archive) -> Iterator[Request | Summed]:
        """The requests of several files, one after another."""
        try:
            for stream in many.files():
                self._told.next_file(shown(getattr(many, "name", "") or "A file"))
                yield from self._recognised(stream)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError):
            self._told.refuse("A file of the archive is broken; those after it are not read.")
        self._told.other_files = many.passed_over
        for sentence in many.said:
            self._told.refuse(sentence)
        if not self._told.files:
            self._told.refuse(f"There is no file of requests in it. {FORMS}")

    def _recognised(self, stream: Readable) -> Iterator[Request | Summed]:
        """The reader for the kind of file that its first bytes show."""
        pieces = self._pieces(stream)
        first: list[bytes] = []
        size = 0
        for piece in pieces:
            first.append(piece)
            size += len(piece)
            if size >= PIECE and (b"\n" in piece or size > LONGEST or first[0].lstrip()[:1] != b"{"):
                break  # of an object in one line the kind is known when it is whole
        head = b"".join(first)
        refused = ""
        if not head.strip():
            refused = "" if self._told.files else "The file is empty."
            if not refused:
                return iter(())
        elif head.startswith(_PARQUET):
            try:
                if self._engine:
                    return self._ended(self._engine.parquet(stream))
                refused = "The file is Parquet, which is read with the packages of inferdash[logs]."
            except ValueError as error:
                refused = str(error)
        elif head.startswith(_COMPRESSED):
            try:
                if not self._told.files and head.startswith(_COMPRESSED[1]):
                    return self._of_many(archive_of(stream, chain(first, pieces)))
                refused = "The file is compressed; unpack it first."
            except ValueError as error:
                refused = str(error)
        elif _CONTROL.search(head):
            refused = "The file is not UTF-8 text."
        if refused:
            self._told.refuse(refused, here=True)
            return iter(())
        text = head.decode("utf-8-sig", errors="replace").lstrip()
        self._date(text)
        return self._ended(self._reader_of(text, chain(first, pieces), _again(stream)))

    def _pieces(self, stream: Readable) -> Iterator[bytes]:
        """A file in pieces; one of several that breaks off ends there, and that is told."""
        size = PIECE  # the first one tells the kind of file
        while True:
            try:
                piece = stream.read(size)
            except OSError as error:
                if not self._told.files:
                    raise
                self._told.refuse(f"{self._told.file} ends early: {error.strerror or 'it cannot be read'}.")
                return
            if not piece:
                return
            yield piece
            size = _MORE

    def _date(self, head: str) -> None:
        """Finds what stands first in the dates of a spreadsheet."""
        order, shown = order_of(head)
        self._reader.order = self._written.dates or order
        if shown and self._reader.order:
            self._told.understood[f"Dates such as {shown} have the {self._reader.order} first."] = None
        elif shown:
            self._told.say(
                f"Whether the month or the day stands first in dates such as {shown} {SAY_IT}: lines are read"
                " without a time until you say it."
            )

    def _reader_of(self, text: str, pieces: Iterator[bytes], again: Again | None) -> Iterator[Request | Summed]:
        if text.startswith("["):
            self._told.noun = "request"
            listed = Text(pieces)
            listed.up_to(_LIST)
            return self._from_objects(listed, text)
        if not text.startswith("{"):
            return self._from_table(pieces, again)
        first, _, rest = text.partition("\n")
        try:
            record = json.loads(first)
        except (ValueError, RecursionError):
            record = None
        whole_line = isinstance(record, dict)
        is_session = isinstance(record, dict) and isinstance(record.get("requests"), list)
        if is_session or (
            not whole_line and REQUESTS.search(text) and ('"hash_ids"' in text or '"block_size"' in text)
        ):
            self._records.kind = "session"
            return self._blocks.session(Text(pieces))
        if isinstance(record, dict) and _SPANS in record:
            self._told.noun = "span"
            return self._from_objects(Text(pieces), text)
        if isinstance(record, dict) and not _PAGED.isdisjoint(record) and _inner(record):
            self._told.noun = "request"
            return self._from_objects(Text(pieces), text)
        listed_in = (
            isinstance(record, dict) and not rest.strip() and any(type(record.get(name)) is list for name in _LISTS)
        )
        if listed_in or (not whole_line and rest and first.rstrip().endswith(("{", "[", ","))):
            self._told.noun = "request"
            return self._from_objects(Text(pieces), text)
        return self._from_lines(pieces, text, again)

    def _ended(self, requests: Iterator[Request | Summed]) -> Iterator[Request | Summed]:
        """The requests of one file, and those that were held back for copies of them."""
        yield from requests
        yield from self._copies.end_of_file()

    # Its records

    def _from_lines(self, pieces: Iterator[bytes], head: str, again: Again | None) -> Iterator[Request | Summed]:
        """Requests of JSON lines, each on its own."""
        self._blocks.understand(head)
        if self._engine and again and '"input_length"' not in head:
            yield from self._engine.json(pieces, again)
            return
        for line in self._told.bounded(whole_lines(pieces)):
            if line is None:
                self._told.leave_out(UnreadLineError("long"))
                continue
            if request := self._records.line(line):
                yield request

    def _from_objects(self, text: Text, head: str) -> Iterator[Request | Summed]:
        """Requests of JSON objects that stand one after another, over lines or in a list, or in a list within one."""
        self._blocks.understand(head)
        for record, said in self._told.bounded(self._listed(text)):
            if request := self._records.request(record, said):
                yield request
        if text.broken:
            self._told.refuse("The file is cut off, or is not valid JSON from some point on.", here=True)

    def _listed(self, text: Text) -> Iterator[tuple[Any, str]]:
        """The records of objects, and the text of those that are one each."""
        for record, said in text.objects():
            found = [*_listed(record)]
            if len(found) == 1:
                yield found[0], said
            elif found and (name := twice(said)):
                self._told.leave_out(UnreadLineError("twice", name), lines=len(found))
            else:
                yield from ((one, "") for one in found)

    def _from_table(self, pieces: Iterator[bytes], again: Again | None) -> Iterator[Request | Summed]:
        """Requests of a table whose first line names the columns."""
        first, pieces = first_line(pieces) if self._engine and again else (b"", pieces)
        lines = iter([first]) if first else self._told.bounded(whole_lines(pieces))
        table = Table(lines, self._reader, self._told)
        if table.header:
            self._records.kind = "azure" if {"ContextTokens", "GeneratedTokens"} <= {*table.header} else "usage"
            if self._engine and again and first:
                yield from self._engine.table(table, pieces, lambda: first_line(again())[1])
                return
            for record, row in table.records():
                if request := self._records.request(record, "", row):
                    yield request


def _again(stream: Readable) -> Again | None:
    """Reads a file once more; None where it cannot be."""
    seek, seekable = getattr(stream, "seek", None), getattr(stream, "seekable", None)
    if not (seek and seekable and seekable()):
        return None

    def pieces() -> Iterator[bytes]:
        seek(0)
        with suppress(OSError):  # where it broke off before it does so again
            yield from iter(partial(stream.read, PIECE), b"")

    return pieces


def _listed(record: Any) -> Iterator[Any]:
    """The records of a list within one object; the object itself where it has none, or counts of its own."""
    if isinstance(record, dict) and _SPANS in record:
        yield from _spans(record)
        return
    inner = _inner(record) if isinstance(record, dict) else []
    if not inner or "usage" in record or "response" in record:
        yield record
        return
    began = {name: record[name] for name in _BEGAN if name in record} if _is_bucket(record) else {}
    for one in inner:
        info = one.get("info")
        if _is_bucket(one):
            yield from _listed(one) if _inner(one) else ()  # none of requests says nothing
        else:
            yield info if isinstance(info, dict) and "role" in info else {**began, **one}


def _is_bucket(record: dict[str, Any]) -> bool:
    """Whether an object tells what came of requests in some time."""
    return not _BEGAN.isdisjoint(record) and type(record.get("results")) is list


def _inner(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects in the lists of an object that may hold its requests."""
    return [one for name in _LISTS for one in _objects(record, name)]


def _spans(record: Any) -> Iterator[Any]:
    """The spans of an OpenTelemetry export; one that tells of no model is only a span."""
    for resource in _objects(record, _SPANS):
        for scope in _objects(resource, "scopeSpans"):
            for span in _objects(scope, "spans"):
                named = (str(one.get("key")) for one in _objects(span, "attributes"))
                yield span if any(name.startswith(_OF_MODELS) for name in named) else {"type": "SPAN"}


def _objects(record: Any, name: str) -> list[Any]:
    found = record.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
