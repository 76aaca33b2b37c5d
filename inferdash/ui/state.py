"""The scenario of a session, which alone owns its values; and the only module that touches the query string.

A widget is drawn from the scenario in every run: the value is its default, and its key belongs to one edition of the
scenario. What a widget holds counts once, in the callback of the reader's own change (`taken`). Any other change, by
a button or by the address, begins a new edition, in which every widget is a new one that knows only the scenario.
So there is no second copy of a value that could be older than the first.

While two scenarios are compared, the one that is turned is B; A lies beside it and waits. No widget knows of A.

The session also keeps what is no part of the scenario: the open page and its open sections, the values of a table by
field, and whether pages are shown to an audience. Of these only the last is in the address.
"""

import logging
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from secrets import token_hex
from typing import Any, Final, NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from inferdash import links, pairs, quantities
from inferdash.facts.models.precision import FILES
from inferdash.links import BASELINE, Problem
from inferdash.pairs import Pair
from inferdash.scenario import BASE, FIELDS, Scenario, is_number, mark
from inferdash.validated import Quantity

_SESSION: Final = "_session"
Pairs = tuple[tuple[str, str], ...]


def _edition() -> str:
    """A name that no widget has had before, in this session or in one before a restart."""
    return token_hex(4)


@dataclass
class _Session:
    """What is known of one reader."""

    scenario: Scenario = BASELINE
    beside: Scenario | None = None
    """A, where the scenario is the B of a comparison."""
    edition: str = field(default_factory=_edition)
    page: str = ""
    visit: str = field(default_factory=_edition)
    """Of this stay on this page: a page that was left early is drawn anew."""
    address: Pairs | None = None
    """The query as last read or written; None before the first run."""
    first: Pairs = ()
    """The query with which the session began."""
    unread: dict[str, tuple[Any, Problem]] = field(default_factory=dict)
    """Entries that could not be read, which their fields go on showing, and why not."""
    untold: list[Problem] = field(default_factory=list)
    """Of these, the problems that this run has not told yet."""
    link_problems: tuple[Problem, ...] = ()
    edited: bool = False
    """Whether this run comes from a change of the scenario."""
    touched: bool = False
    """Whether a widget of a page changed the scenario in this edition, so that one in the frame may hold less."""
    acted: bool = False
    """Whether it comes from a widget that is no field of the scenario."""
    goal: tuple[str, Pairs | None] | None = None
    """The page that the reader asked for, and the scenario's address where it is another one."""
    drawn: dict[str, str] = field(default_factory=dict)
    """Fields that have a widget in this run, each with the key of its own."""
    presented: bool = False
    """Whether the pages are shown to an audience."""
    opened: set[str] = field(default_factory=set)
    """Sections that are open."""
    varied: str = ""
    """The field of which several values stand in a table."""
    values: dict[str, Any] = field(default_factory=dict)
    """Field -> its values in such a table, as they were entered."""
    opened_for: set[tuple[str, str]] = field(default_factory=set)
    """Sections that were opened for the reader, and for what."""


def sync(page: str) -> None:
    """Brings scenario and address together; to be called once, at the top of each run, with the page's name.

    A run takes the scenario from the address when it is the first, or when the reader went back or forward, or by a
    link that holds another scenario. Otherwise the address follows the scenario: one edit is one write, and one step
    back. A run by an edit or a button may come with the query of a moment ago, so there the address does not count,
    unless the page is another one too.
    """
    session = _session()
    address = _address()
    turned = session.page != page
    if session.address is None:
        session.first = address
        session.presented = _presented(address)
        _follow(session, address)
    elif address != session.address and _gone_to(address) and (turned or not (session.edited or session.acted)):
        session.presented = _presented(address)
        _follow(session, address)
        _write(address)  # an edit that was on its way may have come in between
    elif session.edited and not session.goal:
        _write(_parameters())
    if turned:
        session.page, session.visit = page, _edition()
        if session.touched:
            _renew(session)
    session.edited = session.acted = False
    session.drawn = {}
    session.untold = [problem for _, problem in session.unread.values()]


def scenario() -> Scenario:
    """The scenario of this run."""
    return _session().scenario


def page() -> str:
    """The name of the open page."""
    return _session().page


def beside() -> Scenario | None:
    """A, where the scenario of this run is the B of a comparison."""
    return _session().beside


def pair() -> Pair:
    """What the link of this run holds."""
    session = _session()
    return Pair(session.beside, session.scenario) if session.beside else Pair(session.scenario)


def compare() -> None:
    """Callback that pins the scenario as A; B begins as its copy."""
    _compared(beside=_session().scenario)


def swap() -> None:
    """Callback that exchanges A and B, so that what was A is turned now."""
    session = _session()
    if session.beside:
        _compared(scenario=session.beside, beside=session.scenario)


def drop(which: str) -> None:
    """Callback that ends a comparison with the other one as the scenario: drops "a" or "b"."""
    session = _session()
    _compared(scenario=session.beside if which == "b" and session.beside else session.scenario, beside=None)


def _compared(*, beside: Scenario | None, scenario: Scenario | None = None) -> None:
    session = _session()
    if scenario:
        session.scenario, session.unread = scenario, {}
    session.beside, session.edited, session.link_problems = beside, True, ()
    _renew(session)


def shown(name: str) -> Any:
    """What the widget of a field shows: the scenario's value, or an entry that could not be read, until it is mended.

    Numbers and quantities are text; several choices are a list.
    """
    session = _session()
    if name in session.unread:
        return session.unread[name][0]
    value = getattr(session.scenario, name)
    if isinstance(value, tuple):
        return [*value]
    if is_number(name) and value is not None:
        return quantities.typed(value)
    return links.written(name, value) if mark(name, Quantity) or getattr(BASE, name) is None else value


def drawn(name: str, *said: str, everywhere: bool = False) -> str | None:
    """The key of a field's widget, which it has from now on in this run; None where it has one already.

    Args:
        name: the field.
        said: what it shows that is not the field's value, or a name of it that follows from the scenario: where that
            changes, another widget shows it, as Streamlit keeps what one shows by its key.
        everywhere: whether the frame draws it around every page.
    """
    session = _session()
    if name in session.drawn:
        return None
    parts = (name, session.edition, *(() if everywhere else (session.visit,)), *said)
    return session.drawn.setdefault(name, " ".join(parts))


def fields() -> Mapping[str, str]:
    """The fields that have a widget in this run, each with the key of its own."""
    return _session().drawn


def unread(name: str) -> str:
    """Why the entry of a field could not be read; empty where it could."""
    return next((problem.sentence for one, (_, problem) in _session().unread.items() if one == name), "")


def taken(name: str, widget: str, *, everywhere: bool) -> None:
    """Callback of the reader’s change of a field’s widget, by its key: the scenario takes it, or it stays as unread.

    With a model comes the format in which its maker publishes it.
    """
    entry, unit = st.session_state[widget], mark(name, Quantity)
    fields = _published({name: unit.typed(entry) if unit and entry else entry})
    if len(fields) > 1:  # another widget shows less than the scenario now
        change(**fields)
        return
    _session().touched |= not everywhere
    _read(fields)
    if entry == "" != shown(name):
        _renew(_session())  # what was emptied shows what stands for it


def entered(name: str, entry: Any) -> None:
    """What a callback of several widgets that make up one field does: the scenario takes it, or it stays as unread."""
    _session().touched = True
    _read({name: entry})


def _published(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The same, and with another model the format in which its maker publishes it, where none is said.

    A widget that the server had forgotten says its value again, as if new: the model that is there is no change.
    """
    if "weights" in fields or fields.get("model", scenario().model) == scenario().model:
        return dict(fields)
    found, _ = links.read(fields, scenario())
    return dict(fields) if found.weights in {FILES, found.architecture.weights} else {"weights": FILES, **fields}


def change(**fields: Any) -> None:
    """Callback that sets some fields; every widget is drawn anew from the scenario.

    A model is set with its maker's format, where none is said.
    """
    _renew(_session())
    _read(_published(fields))


def reset() -> None:
    """Callback that sets every field to the chapter's example."""
    change(**dict(BASELINE))


def offer(label: str, **changes: Any) -> None:
    """A button that sets some fields of the scenario."""
    st.button(label, on_click=change, kwargs=changes)


def offers(ways: Mapping[str, Mapping[str, Any]]) -> None:
    """Such buttons in a row, by what they say; nothing where there are none."""
    if ways:
        with st.container(horizontal=True):
            for label, changes in ways.items():
                offer(label, **changes)


def entry_problems(*fields: str) -> list[Problem]:
    """What could not be read of the widgets of some fields, of all where none is named; each is told once in a run."""
    untold = _session().untold
    found = [problem for problem in untold if not fields or problem.field in fields]
    untold[:] = [problem for problem in untold if problem not in found]
    return found


def link_problems() -> tuple[Problem, ...]:
    """What could not be read of the link, until the first edit."""
    return _session().link_problems


def acted() -> None:
    """Callback of widgets that are no fields: their run does not come from Back or Forward."""
    _session().acted = True


def presented() -> bool:
    """Whether the pages are shown to an audience."""
    return _session().presented


def present(*, on: bool) -> None:
    """Callback that begins or ends the showing."""
    session = _session()
    session.presented, session.edited = on, True


def query() -> Pairs:
    """The query of the scenario as it is shown, by which its other pages are linked."""
    return _parameters()


def is_open(section: str) -> bool:
    """Whether a section of the open page is open."""
    return _section(section) in _session().opened


def opens(section: str, *, once: str = "") -> None:
    """Opens a section; to be called before it is drawn.

    Args:
        section: its heading.
        once: for what it opens; after that the reader may close it. Empty: it stays open.
    """
    session = _session()
    if not once or (section, once) not in session.opened_for:
        session.opened_for.add((section, once))
        session.opened.add(_section(section))


def toggled(section: str, widget: str) -> None:
    """Callback of the click that opens or closes a section, by its key; it stays so for the session."""
    acted()
    opened = _session().opened
    (opened.add if st.session_state[widget] else opened.discard)(_section(section))


def varied() -> tuple[str, Mapping[str, Any]]:
    """The field of which several values stand in a table, and by field what was entered for it."""
    return _session().varied, _session().values


def vary(name: str | None, widget: str) -> None:
    """Callback that takes the values of a field for a table, or the field itself where none is named."""
    acted()
    entry, session = st.session_state[widget], _session()
    if name is None:
        session.varied = entry
    else:
        session.values[name] = entry


def visit(name: str) -> str:
    """The key of something on the open page that is no field: new with each stay on the page."""
    return f"{name} {_session().visit}"


def _section(section: str) -> str:
    return f"{_session().page} {section}"


def longest(name: str) -> int:
    """Characters that a field of text may have."""
    return next(int(m.max_length) for m in FIELDS[name].metadata if hasattr(m, "max_length"))


def ask_for(page: str, query: str | None = None) -> None:
    """Callback of a link: the run that begins goes on to the page, with the scenario as it then is, or a link's."""
    acted()
    _session().goal = page, None if query is None else tuple(pairs.parameters(pairs.decode(query).pair).items())


def go_on(pages: Mapping[str, StreamlitPage]) -> None:
    """Goes on to the page that was asked for, if one was; to be called after `sync`."""
    session = _session()
    goal, session.goal = session.goal, None
    if goal and goal != (session.page, None):
        page, address = goal
        if address is not None:
            _follow(session, address)
        session.address = _parameters()
        st.switch_page(pages[page], query_params=session.address)


def start(page: StreamlitPage) -> NoReturn:
    """Goes on to a page with the address's query as it is, or with the baseline's where there is none."""
    st.switch_page(page, query_params=_address() or tuple(links.parameters(BASELINE).items()))


_now: ContextVar[_Session] = ContextVar("session")
"""Whose run it is; Streamlit looks a key up in several dictionaries, and a run asks some hundred times."""


def _session() -> _Session:
    session = _now.get(None)
    if session is None:
        session = st.session_state.setdefault(_SESSION, _Session())
        _now.set(session)
    return session


def _read(fresh: Mapping[str, Any]) -> None:
    """Takes entries into the scenario; an empty one stands for the baseline's where it cannot be read as it is.

    One that cannot be read changes nothing, and is tried again beside the next: what it contradicted may have changed.
    """
    session = _session()
    entries = {name: entry for name, (entry, _) in session.unread.items()} | dict(fresh)
    values = {name: getattr(BASELINE, name) if _is_blank(name, entry) else entry for name, entry in entries.items()}
    session.scenario, problems = links.read(values, session.scenario)
    latest = next(reversed(entries))
    told = [(problem.field if problem.field in entries else latest, problem) for problem in problems]
    session.unread = {name: (entries[name], problem) for name, problem in told}
    session.link_problems = ()
    session.edited = True


def _is_blank(name: str, entry: Any) -> bool:
    return entry is None or (entry == "" and bool(links.read({name: entry})[1]))


def _follow(session: _Session, address: Pairs) -> None:
    try:
        decoded = pairs.decode(address)
    except Exception:  # reading a link never fails; if it does, the reader still has a page
        logging.getLogger("inferdash").exception("a link of %d parameters", len(address))
        decoded = pairs.Decoded(Pair(BASELINE), (Problem("", "The link could not be read."),))
    found = decoded.pair
    session.scenario, session.beside = found.edited, found.a if found.b else None
    session.link_problems = decoded.problems
    session.unread, session.address = {}, address
    _renew(session)


def _renew(session: _Session) -> None:
    session.edition, session.touched = _edition(), False


def _write(address: Pairs) -> None:
    _session().address = address
    if address != _address():
        st.query_params.from_dict(dict(address))


def _parameters() -> Pairs:
    shown = ((links.PRESENT, "1"),) if _session().presented else ()
    return (*shown, *_written(pair()))


@lru_cache(maxsize=64)
def _written(shown: Pair) -> Pairs:
    """What a link holds; asked for by an edit, and again by what is drawn after it."""
    return tuple(pairs.parameters(shown).items())


def _presented(address: Pairs) -> bool:
    return (links.PRESENT, "1") in address


def _address() -> Pairs:
    return tuple((name, value) for name in st.query_params for value in st.query_params.get_all(name))


def _gone_to(address: Pairs) -> bool:
    """Whether an address can be one that the reader went to: an empty one, the first, or one with a version."""
    return not address or address == _session().first or any(name == links.VERSION for name, _ in address)
