"""A reader without a browser: one session over Streamlit's websocket, with widgets as the frontend keeps them.

It holds the elements of the page by their place and the values of the widgets that are drawn, sends them all with
each edit as the frontend does, follows references to messages that it has, and knows a run that ended early for
another from one that is over.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qsl

from annotated_types import Le
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from inferdash import quantities
from inferdash.scenario import FIELDS, Place, is_number, is_whole, mark
from inferdash.ui.entering.controls import is_slid

_NUMBERS: Final = {str(one.title): name for name, one in FIELDS.items() if is_number(name) and not is_slid(name)}
"""Label of each number field -> its field."""
_WORDS: Final = frozenset({"heading", "markdown", "html", "text"})
"""Elements that are made of words."""
_EARLY: Final = ForwardMsg.FINISHED_EARLY_FOR_RERUN
_EVENTS: Final = "$$STREAMLIT_INTERNAL_KEY_{}__events"
"""Id under which the frontend sends what happened in a component."""
_KEPT_RUNS: Final = 2
"""Runs for which the frontend keeps a message that it was not sent again."""


@dataclass(frozen=True)
class Answer:
    """What came of an edit."""

    first_s: float
    """Seconds until the first word that is another; those until the end where none is."""
    whole_s: float
    """Seconds until the run was over."""


@dataclass
class Session(AbstractAsyncContextManager["Session"]):
    """A session of one reader, on one page at a time."""

    host: str
    query: str = "v=1"
    page: str = ""
    """Path of the page that is open."""
    elements: dict[tuple[int, ...], Delta] = field(default_factory=dict)
    """Place on the page -> what is there."""
    values: dict[str, WidgetState] = field(default_factory=dict)
    """Id of a widget that is drawn -> its value."""
    _hash: str = ""
    _id: str = ""
    _cache: dict[str, tuple[int, ForwardMsg]] = field(default_factory=dict)
    _run: int = 0

    async def __aenter__(self) -> Self:
        self._socket: ClientConnection = await connect(
            f"ws://{self.host}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
            compression=None,
            open_timeout=60,
            ping_interval=None,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()

    async def open(self, page: str, query: str | None = None) -> Answer:
        """Opens a page, by its link where a query is given, else as its link on another page does."""
        self.query, self.page, self._hash = self.query if query is None else query, page, ""
        return await self._rerun(name=page)

    async def follow(self, page: str) -> Answer:
        """Clicks on the link to a page in the row of all pages, as the component of the links tells it.

        Raises:
            LookupError: where there is no such row.
        """
        for delta in self.elements.values():
            part = delta.new_element.bidi_component
            content = json.loads(part.json or part.mixed.json or "null") if part.id else None
            if isinstance(content, dict) and content.get("kind") == "pages":
                paths = [one["page"].replace("_", "-") for _, group in content["groups"] for one in group]
                clicked = json.dumps([{"event": f"asked{paths.index(page)}", "value": True}])
                self.page = page
                return await self._rerun(WidgetState(id=_EVENTS.format(part.id), json_trigger_value=clicked))
        raise LookupError(f"There are no links on the page {self.page}.")

    def numbers(self) -> list[str]:
        """Labels of the number fields that are drawn."""
        return [label for one in self.elements.values() if (label := _label(one, "text_input")) in _NUMBERS]

    async def press(self, label: str, *, step: float | None = None) -> Answer:
        """Moves a number up by its step, or down where it is at its upper bound.

        Raises:
            LookupError: where no such field is drawn.
        """
        delta = next((one for one in self.elements.values() if _label(one, "text_input") == label), None)
        if delta is None or label not in _NUMBERS:
            raise LookupError(f"“{label}” is not on the page {self.page}.")
        name = _NUMBERS[label]
        state = self.values[delta.new_element.text_input.id]
        by = (1 if is_whole(name) else mark(name, Place).step) if step is None else step
        moved = quantities.number(state.string_value) + by
        moved = moved if moved <= mark(name, Le).le else moved - 2 * by
        state.string_value = quantities.typed(int(moved) if is_whole(name) else moved)
        return await self._rerun(fragment=delta.fragment_id)

    async def click(self, label: str) -> Answer:
        """Clicks on a button.

        Raises:
            LookupError: where there is none.
        """
        delta = next((one for one in self.elements.values() if _label(one, "button") == label), None)
        if delta is None:
            raise LookupError(f"“{label}” is not on the page {self.page}.")
        pressed = WidgetState(id=delta.new_element.button.id, trigger_value=True)
        return await self._rerun(pressed, fragment=delta.fragment_id)

    async def unfold(self, title: str) -> Answer:
        """Opens a section.

        Raises:
            LookupError: where there is none.
        """
        blocks = (one.add_block.expandable for one in self.elements.values() if one.WhichOneof("type") == "add_block")
        section = next((one for one in blocks if one.id and one.label == title), None)
        if section is None:
            raise LookupError(f"“{title}” is not on the page {self.page}.")
        return await self.take({section.id: WidgetState(id=section.id, bool_value=True)})

    async def fill(self, label: str, text: str) -> Answer:
        """Writes a text into a field, or chooses an option by its name.

        Raises:
            LookupError: where no such field is drawn.
        """
        for delta in self.elements.values():
            if label in {_label(delta, "text_input"), _label(delta, "selectbox")}:
                key = _id_of(delta)
                return await self.take({key: WidgetState(id=key, string_value=text)})
        raise LookupError(f"“{label}” is not on the page {self.page}.")

    async def take(self, states: Mapping[str, WidgetState]) -> Answer:
        """Sets widgets by id, as an upload does."""
        self.values.update(states)
        return await self._rerun()

    async def ask(self, message: BackMsg, answer: str) -> ForwardMsg:
        """Sends a message and returns the first of a kind that comes back."""
        await self._socket.send(message.SerializeToString())
        while True:
            got = await self._next()
            if got.WhichOneof("type") == answer:
                return got

    @property
    def session(self) -> str:
        """The server's id of this session."""
        return self._id

    @property
    def scenario(self) -> dict[str, str]:
        """The fields of the address."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def shown(self) -> dict[str, str]:
        """Label of each widget -> its value, as text."""
        found = {}
        for one in self.elements.values():
            key = _id_of(one)
            if key in self.values:
                label = str(getattr(getattr(one.new_element, one.new_element.WhichOneof("type") or ""), "label", ""))
                state = WidgetState()
                state.CopyFrom(self.values[key])
                state.id = ""
                found[label] = " ".join(str(state).split())
        return found

    @property
    def words(self) -> str:
        """The page's first heading."""
        return next(
            (one.new_element.heading.body for one in self.elements.values() if _label(one, "heading", "tag") == "h1"),
            "",
        )

    async def _rerun(self, *further: WidgetState, name: str = "", fragment: str = "") -> Answer:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash, asked.page_name = self.query, self._hash, name
        asked.fragment_id = fragment
        asked.widget_states.widgets.extend([*self.values.values(), *further])
        asked.cached_message_hashes.extend(self._cache)
        begin = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        return await self._followed(begin, whole=not fragment)

    async def _followed(self, begin: float, *, whole: bool) -> Answer:
        first, seen = 0.0, set[tuple[int, ...]]()
        self._run += 1
        while True:
            got = await self._next()
            match got.WhichOneof("type"):
                case "new_session":
                    self._hash, seen = got.new_session.page_script_hash, set()
                    self._id = got.new_session.initialize.session_id or self._id
                case "page_info_changed":
                    self.query = got.page_info_changed.query_string
                case "navigation":
                    self._hash = got.navigation.page_script_hash
                case "delta":
                    place = tuple(got.metadata.delta_path)
                    seen.add(place)
                    if self._draw(place, got.delta) and not first:
                        first = time.perf_counter() - begin
                case "script_finished" if got.script_finished != _EARLY:
                    end = time.perf_counter() - begin
                    self._clear(seen, whole=whole)
                    return Answer(first or end, end)

    async def _next(self) -> ForwardMsg:
        """The next message; one that refers to an earlier one stands for it."""
        got = ForwardMsg()
        content = await asyncio.wait_for(self._socket.recv(), timeout=120)
        got.ParseFromString(content if isinstance(content, bytes) else content.encode())
        if got.WhichOneof("type") == "ref_hash":
            meant = ForwardMsg()
            meant.CopyFrom(self._cache[got.ref_hash][1])
            meant.metadata.CopyFrom(got.metadata)
            self._cache[got.ref_hash] = self._run, self._cache[got.ref_hash][1]
            return meant
        if got.metadata.cacheable:
            self._cache[got.hash] = self._run, got
        return got

    def _draw(self, place: tuple[int, ...], delta: Delta) -> bool:
        """Puts an element where it belongs; whether its words are other ones than before."""
        before = self.elements.get(place)
        self.elements[place] = delta
        kind = delta.new_element.WhichOneof("type") if delta.WhichOneof("type") == "new_element" else ""
        _keep(kind or "", delta, self.values)
        same = before is not None and before.SerializeToString() == delta.SerializeToString()
        return kind in _WORDS and not same

    def _clear(self, seen: set[tuple[int, ...]], *, whole: bool) -> None:
        """Takes away what this run did not draw, and forgets its widgets' values, as the frontend does."""
        if whole:
            self.elements = {place: one for place, one in self.elements.items() if place in seen}
        drawn = {_id_of(one) for one in self.elements.values()}
        self.values = {key: state for key, state in self.values.items() if key in drawn}
        self._cache = {key: one for key, one in self._cache.items() if one[0] > self._run - _KEPT_RUNS}


def _label(delta: Delta, kind: str, name: str = "label") -> str:
    is_one = delta.WhichOneof("type") == "new_element" and delta.new_element.WhichOneof("type") == kind
    return str(getattr(getattr(delta.new_element, kind), name)) if is_one else ""


def _id_of(delta: Delta) -> str:
    if delta.WhichOneof("type") == "add_block":
        return str(delta.add_block.expandable.id)
    element = delta.new_element
    kind = element.WhichOneof("type") if delta.WhichOneof("type") == "new_element" else None
    return str(getattr(getattr(element, kind), "id", "")) if kind else ""


def _keep(kind: str, delta: Delta, values: dict[str, WidgetState]) -> None:
    """The value that a widget's element has when it is drawn: the server's where it sets one, else the one it had."""
    one: Any = getattr(delta.new_element, kind) if kind else None
    key = getattr(one, "id", "")
    if not key or (key in values and not one.set_value if hasattr(one, "set_value") else True):
        return
    state = WidgetState(id=key)
    given: Any = one.value if one.set_value and hasattr(one, "value") else getattr(one, "default", None)
    match kind:
        case "text_input" | "text_area":
            state.string_value = given
        case "checkbox":
            state.bool_value = given
        case "slider":
            state.double_array_value.data[:] = given
        case "selectbox" if one.HasField("raw_value") or one.HasField("default"):
            state.string_value = one.raw_value if one.set_value else one.options[one.default]
        case "button_group":
            contents = [one.options[place].content for place in one.default]
            state.string_array_value.data[:] = one.raw_values if one.set_value else contents
        case "multiselect":
            options = [one.options[place] for place in one.default]
            state.string_array_value.data[:] = one.raw_values if one.set_value else options
        case _:
            return
    values[key] = state
