"""The scenario in the address and in the widgets: the only module that touches the query string.

The widgets' keys are the scenario's fields. A run takes the scenario from the address when it is the first, or when
the reader went back or forward; otherwise from the widgets, and then the address follows. One edit is one write and
so one step back.
"""

from collections.abc import Mapping
from typing import Any, Final, NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from inferdash import links
from inferdash.links import Problem
from inferdash.scenario import BASE, FIELDS, Scenario, mark
from inferdash.validated import Quantity

_ADDRESS: Final = "_address"
"""Session state: the query as last read or written, as pairs."""
_FIRST: Final = "_first"
"""Session state: the query with which the session began."""
_HELD: Final = "_held"
"""Session state: the fields' values as their widgets hold them, where no widget has been drawn yet."""
_PLACED: Final = "_placed"
"""In it: names of the fields whose widgets have been drawn."""
_SEEN: Final = "_seen"
"""Session state: the widgets' values in the last run."""
_ACTED: Final = "_acted"
"""Session state: whether this run comes from a widget that is no field of the scenario."""
_LINK_PROBLEMS: Final = "_link_problems"
_CURRENT: Final = "_current"

Pairs = tuple[tuple[str, str], ...]


def sync() -> None:
    """Brings scenario, widgets and address together; to be called once, at the top of each run."""
    state = st.session_state
    address = _address()
    first = _ADDRESS not in state
    edited = not first and _widgets() != state[_SEEN]
    acted = bool(state.pop(_ACTED, False))
    moved = not first and not edited and not acted and address != state.get(_ADDRESS) and _gone_to(address)
    if first:
        state[_FIRST] = address
    if first or moved:
        decoded = links.decode(address)
        change(**dict(decoded.scenario))
        state[_LINK_PROBLEMS] = decoded.problems
        state[_ADDRESS] = address
    elif edited:
        state[_LINK_PROBLEMS] = ()
    scenario, unread = links.read(_entered())
    state[_SEEN] = _widgets()
    state[_CURRENT] = scenario, list(unread)
    if edited:
        target = tuple(links.parameters(scenario).items())
        state[_ADDRESS] = target
        if target != address:
            st.query_params.from_dict(dict(target))


def scenario() -> Scenario:
    """The scenario of this run."""
    current: Scenario = st.session_state[_CURRENT][0]
    return current


def entry_problems(*fields: str) -> list[Problem]:
    """What could not be read of the widgets of some fields, of all where none is named; each is told once in a run."""
    untold: list[Problem] = st.session_state[_CURRENT][1]
    found = [problem for problem in untold if not fields or problem.field in fields]
    untold[:] = [problem for problem in untold if problem not in found]
    return found


def link_problems() -> tuple[Problem, ...]:
    """What could not be read of the link, until the first edit."""
    problems: tuple[Problem, ...] = st.session_state[_LINK_PROBLEMS]
    return problems


def acted() -> None:
    """Callback of widgets that are no fields: their run does not come from Back or Forward."""
    st.session_state[_ACTED] = True


def once(key: str, now: bool) -> bool:
    """Whether something has been so in this session: what was opened for the reader is not closed under the hand."""
    st.session_state[key] = now or bool(st.session_state.get(key))
    return bool(st.session_state[key])


def reset() -> None:
    """Callback that sets every field to the chapter's example."""
    change(**dict(BASE))


def change(**fields: Any) -> None:
    """Callback that sets some fields."""
    held = st.session_state.setdefault(_HELD, {_PLACED: set()})
    for name, value in fields.items():
        held[name] = _as_widget(name, value)
        if name in held[_PLACED]:
            st.session_state[name] = held[name]


def longest(name: str) -> int:
    """Characters that a field of text may have."""
    return next(int(m.max_length) for m in FIELDS[name].metadata if hasattr(m, "max_length"))


def place(name: str) -> None:
    """Gives a field's value to its widget, which is about to be drawn.

    Streamlit looks through all keys of a session once for each widget, so a field has a key of its own only once
    its widget has been drawn.
    """
    held = st.session_state[_HELD]
    if name not in held[_PLACED]:
        held[_PLACED].add(name)
        st.session_state[name] = held[name]


def offer(label: str, **changes: Any) -> None:
    """A button that sets some fields of the scenario."""
    st.button(label, on_click=change, kwargs=changes)


def go_on(page: StreamlitPage) -> NoReturn:
    """Goes on to a page with the address's query as it is, or with the baseline's where there is none."""
    st.switch_page(page, query_params=_address() or tuple(links.parameters(BASE).items()))


def _address() -> Pairs:
    return tuple((name, value) for name in st.query_params for value in st.query_params.get_all(name))


def _gone_to(address: Pairs) -> bool:
    """Whether an address can be one that the reader went to: an empty one, the first, or one with a version."""
    return not address or address == st.session_state[_FIRST] or any(name == links.VERSION for name, _ in address)


def _widgets() -> dict[str, Any]:
    held = st.session_state.setdefault(_HELD, {_PLACED: set()})
    return {name: st.session_state.get(name) if name in held[_PLACED] else held.get(name) for name in FIELDS}


def _entered() -> Mapping[str, Any]:
    """The widgets' values; an empty one stands for the baseline's."""
    return {name: value for name, value in _widgets().items() if value is not None and value != ""}


def _as_widget(name: str, value: Any) -> Any:
    """A field's value as its widget holds it: quantities are text, several choices a list."""
    if isinstance(value, tuple):
        return [*value]
    return links.written(name, value) if mark(name, Quantity) else value
