"""Records of a log as requests: what one says, whether it was told before, and what is to be said of it."""

import json
from typing import Any, Final, TypeAlias

from inferdash.pricing.dialects.reading import Reader, Said
from inferdash.pricing.logs.block_traces import BlockTrace
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.copies import Copies
from inferdash.pricing.logs.file_notes import FileNotes
from inferdash.pricing.logs.forks import HEADER
from inferdash.pricing.logs.turns import OF_TURNS, TURN, Turns
from inferdash.pricing.logs.values import UnreadLineError
from inferdash.pricing.replay import UNTIMED, Request

_DECODER: Final = json.JSONDecoder()
Found: TypeAlias = tuple[Said | None, Request]
"""What a record says, None for one of a trace that names its blocks, and the request."""


class Records:
    """Takes the records of a log one after another, whatever file or table they lie in."""

    def __init__(self, written: Written, *, users: bool = False) -> None:
        """Begins with none.

        Args:
            written: how a trace is written, where its reader says so.
            users: whether it is to be known who asked.
        """
        self.users = users
        self.kind = "unknown"
        self.reader = Reader()
        self.copies = Copies()
        self.told = FileNotes(self.reader, self.copies)
        self.blocks = BlockTrace(written, self.told)
        self.turns = Turns()

    @property
    def left_out(self) -> int:
        """Lines or requests that were not read."""
        return self.told.left_out

    @property
    def block_tokens(self) -> int:
        """Tokens of a block of a trace; 0 where there are none."""
        return self.blocks.block_tokens

    @property
    def models(self) -> frozenset[str]:
        """Models that the log names, up to a hundred."""
        return frozenset(self.told.models)

    @property
    def dialects(self) -> tuple[str, ...]:
        """In which the records were read."""
        return tuple(self.reader.dialects)

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each reason why lines were left out, and for what is odd about those that were read."""
        return self.told.problems()

    @property
    def notes(self) -> tuple[str, ...]:
        """How the log was understood, in sentences."""
        return self.told.notes()

    def line(self, line: bytes) -> Request | None:
        """The request of a line of JSON, as `request`."""
        return self._offered(self.said_line(line))

    def request(self, record: Any, text: str, line: str | list[str] = "") -> Request | None:
        """The request of a record, or one that was held back before it; as `said`."""
        return self._offered(self.said(record, text, line))

    def _offered(self, found: Found | None) -> Request | None:
        if found is None:
            return None
        said, request = found
        return request if said is None else self.copies.offer(said, request)

    def said_line(self, line: bytes, *, noted: bool = True) -> Found | None:
        """What a line of JSON says, as `said`; one that is none is left out. `noted`: its repetitions are told."""
        text = line.decode(errors="replace").strip().lstrip("\ufeff")
        try:
            record, end = _DECODER.raw_decode(text)
            if end != len(text):
                raise ValueError(end)  # noqa: TRY301 - what follows is no JSON either
        except (ValueError, RecursionError):
            if line.endswith(b"\n"):
                self.told.leave_out(UnreadLineError("json"))
            else:
                self.told.refuse("The last line is cut off.", here=True)
            return None
        return self.said(record, text, text if noted else "")

    def said(self, record: Any, text: str, line: str | list[str] = "") -> Found | None:
        """What a record says, whether it was told before or not; None for what is left out or no request, and noted.

        Args:
            record: what was read.
            text: what it was read from, where that is JSON.
            line: the same as a line, whose repetitions are told.
        """
        try:
            if type(record) is not dict:
                raise UnreadLineError("object")  # noqa: TRY301 - counted with the others
            if "input_length" in record and "output_length" in record:
                self.kind = "mooncake"
                request = self.blocks.request(record)
                self.told.note(line)
                return None, request
            if self.kind == "unknown":
                self.kind = "usage"
            if type(kind := record.get("type")) is str and kind in OF_TURNS:
                record = self.turns.opened(record)
            said = self.reader.read(record, text)
            if said is not None and TURN in record:
                said = self.turns.own(said)
        except UnreadLineError as error:
            self.told.leave_out(error)
            return None
        if said is None:
            if record.get("type") == HEADER:
                self.copies.session(record)
            self.told.passed += 1
            return None
        if not said.message and not said.request and not said.running:
            self.told.note(line)
        return said, self._requested(said)

    def _requested(self, said: Said) -> Request:
        for model in said.models:
            if model not in self.told.models:
                self.told.note_model(model)
        counted, many = said.counted, said.requests
        each = 0
        if many != 1:
            self.told.summed += 1
            each = max(1, counted.input_tokens // many) if many else 1
        model = self.told.named(said.models[0]) if said.models else ""
        user = self.told.user(said.user) if self.users else ""
        start = (
            UNTIMED if said.time_s is None else said.time_s,
            counted.input_tokens,
            counted.output_tokens,
            (),
            0,
            counted.recorded,
        )
        # Twice as fast as by the names of its parts, for each line of a file.
        said_more = (said.usd, each, max(1, many), model, said.apart, said.service, "", -1.0, user)
        return tuple.__new__(Request, (*start, *said_more))
