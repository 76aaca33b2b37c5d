"""Traces that name the blocks of their prompts, as those of Mooncake and Bailian do, and sessions of such requests."""

import json
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from inferdash.pricing.dialects.names import LONGEST_NAME
from inferdash.pricing.logs import blocks as blocks_of
from inferdash.pricing.logs.blocks import UNITS, Written
from inferdash.pricing.logs.file_notes import FileNotes
from inferdash.pricing.logs.pieces import Text
from inferdash.pricing.logs.values import Record, UnreadLineError, is_number, number_time, tokens
from inferdash.pricing.replay import Request

REQUESTS: Final = re.compile(r'"requests"\s*:\s*\[')
_BLOCK_SIZE: Final = re.compile(r'"block_size"\s*:\s*(\d{1,9})')
_DEEPEST: Final = 50
"""Sub-agents below each other."""
_LARGEST_ID: Final = 2**63
_MS: Final = 1e3
"""Delays of a trace with sessions are in milliseconds, whatever its times are in (aiperf)."""
_LONGEST_SESSION: Final = 80
_LONGEST_PAUSE_S: Final = 30 * 86_400
_MOST_SESSIONS: Final = 200_000


class BlockTrace:
    """How a trace is written, as it follows from its first rows, and its requests."""

    def __init__(self, written: Written, told: FileNotes) -> None:
        self.block_tokens = 0
        """Tokens of a block; 0 where there are none."""
        self._written, self._told = written, told
        self._per_s = 1.0
        self._files = 0
        self._delays = False
        """Whether turns have delays, in milliseconds: then all of its times are in these (aiperf)."""
        self._ended: dict[str, float] = {}
        """When the last turn of a session ended, as far as it is told."""
        self._open = ""
        """Why it is not known how the trace is written."""

    def understand(self, head: str) -> None:
        """Finds how a trace is written from the start of a file; without blocks there is nothing to find."""
        self._delays = '"session_id"' in head and '"delay"' in head
        if '"hash_ids"' in head and '"input_length"' in head:
            self._follow(_rows(head), prompt="input_length", time="timestamp")

    def request(self, record: Record) -> Request:
        """The request of one record.

        Raises:
            UnreadLineError: where it is not understood.
        """
        ids = _blocks(record.get("hash_ids"))
        if ids and not self.block_tokens and not self._open:
            self._follow([record], prompt="input_length", time="timestamp")
        whose, pause_s = _session(record.get("session_id")), _pause_s(record.get("delay"), per_s=_MS)
        time_s = self._ended.get(whose, 0.0) + max(0.0, pause_s)  # of a turn that has a delay in place of a time
        if record.get("timestamp") is not None or whose not in self._ended:
            time_s = number_time(record.get("timestamp")) / self._per_s
        request = Request(
            time_s=time_s,
            input_tokens=tokens(record["input_length"], missing="input"),
            output_tokens=tokens(record["output_length"], missing="output"),
            blocks=ids,
            block_tokens=self.block_tokens,
            session=whose,
            pause_s=pause_s,
        )
        if whose and len(self._ended) < _MOST_SESSIONS:
            self._ended[whose] = time_s
        if ids and not self._written.block_tokens:
            self._check(request)
        return request

    def session(self, text: Text) -> Iterator[Request]:
        """Requests of a session of a coding assistant, those of its sub-agents where they were started."""
        self._told.noun = "request"
        header = text.up_to(REQUESTS)
        size = _BLOCK_SIZE.search(header)
        if size or self._written.block_tokens:
            self.block_tokens = self._written.block_tokens or max(1, int(size[1]) if size else 1)
        else:
            self._follow(_rows(text.text[text.at :]), prompt="in", time="t")
        self._files += 1
        whose = str(self._files)
        requests = (one for record, _ in text.objects() for one in self._of_session(record, 0.0, whose, 0))
        yield from filter(None, self._told.bounded(requests))
        if text.broken:
            self._told.refuse("The file is cut off, or is not valid JSON from some point on.", here=True)

    def _of_session(self, record: Any, started_s: float, whose: str, depth: int) -> Iterator[Request | None]:
        """The request of a record, or those of the sub-agent that it is; None for one that is left out.

        A sub-agent is a session of its own, which comes when it was started.
        """
        nested = record.get("requests") if isinstance(record, dict) else None
        if isinstance(nested, list) and depth < _DEEPEST:
            first = next((one.get("t") for one in nested if isinstance(one, dict)), None)
            own, inner = record.get("t"), first
            # A sub-agent cannot ask before it was started: such times count from its start.
            later = is_number(own) and is_number(inner) and inner < own
            inside = f"{whose}/{record.get('agent_id', own)!s:.40}"
            for one in nested:
                yield from self._of_session(one, started_s + (own / self._per_s if later else 0.0), inside, depth + 1)
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
                session=whose,
            )
            request = request._replace(pause_s=self._pause_s(record, request))
            if isinstance(model := record.get("model"), str):
                self._told.note_model(model)
                request = request._replace(model=self._told.named(model))
            if request.blocks and not self.block_tokens:
                self._check(request)
        except UnreadLineError as error:
            self._told.leave_out(error)
            yield None
            return
        yield request

    def _pause_s(self, record: Record, request: Request) -> float:
        """Seconds since the turn before: told, or the rest of the time after the answer to it; below 0 if neither."""
        told = _pause_s(record.get("think_time"), per_s=self._per_s)
        ended_s = self._ended.get(request.session)
        answered_s = _pause_s(record.get("api_time"), per_s=self._per_s)
        self._ended.pop(request.session, None)
        if answered_s >= 0 and len(self._ended) < _MOST_SESSIONS:
            self._ended[request.session] = request.time_s + answered_s
        return told if told >= 0 or ended_s is None else max(0.0, request.time_s - ended_s)

    def _follow(self, rows: Sequence[Record], *, prompt: str, time: str) -> None:
        """Takes over how rows are written; where they leave it open, that is told once."""
        try:
            told = self._delays and not self._written.unit
            given = replace(self._written, unit="ms") if told else self._written
            form, said = blocks_of.of_rows(rows, given, prompt=prompt, time=time)
            if told:
                said = said.replace("milliseconds, as you say", "milliseconds, as in traces whose turns have delays")
        except ValueError as error:
            self._open = str(error)
        else:
            self.block_tokens, self._per_s, self._open = form.block_tokens, UNITS[form.unit], ""
            self._told.understood[said] = None

    def _check(self, request: Request) -> None:
        """Nothing where it is known how the trace is written, and the request is so."""
        if self._open or not self.block_tokens:
            raise UnreadLineError("open", self._open)
        blocks_of.checked(request.input_tokens, request.blocks, self.block_tokens)


def _session(value: Any) -> str:
    """The name of a session, a short one; "" where none is told."""
    return str(value)[:_LONGEST_SESSION] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _pause_s(value: Any, *, per_s: float) -> float:
    """Seconds of a pause; below 0 where none is told."""
    return float(value) / per_s if is_number(value) and 0 <= value <= _LONGEST_PAUSE_S * per_s else -1.0


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
