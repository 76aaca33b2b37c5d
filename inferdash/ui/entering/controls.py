"""A field of the scenario as a widget: the kind of widget, its bounds and its help follow from the field."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

import streamlit as st
from annotated_types import Ge, Le

from inferdash import quantities
from inferdash.facts.models.precision import FILES
from inferdash.scenario import (
    BASE,
    CONFIG,
    FIELDS,
    OWN,
    Choices,
    Place,
    Scenario,
    Several,
    counts,
    is_number,
    is_whole,
    mark,
)
from inferdash.scenario.marks import AUTO
from inferdash.ui import state
from inferdash.validated import Quantity

_SLIDABLE: Final = 10
"""Up to this a number is played with on a slider; above it, it is typed."""
_SAID: Final[dict[str, dict[str, Callable[[Scenario], str]]]] = {
    "weights": {FILES: lambda s: f"{s.published} (as published)"},
}
"""Field -> id -> its name, where that follows from the scenario."""
_OF_READER: Final[dict[str, Callable[[Scenario], dict[str, str]]]] = {
    **dict.fromkeys(("api", "compared", "beside"), lambda s: s.price_book.named() if s.price_book else {}),
    "book": lambda s: {s.book: s.price_book.name} if s.price_book else {},
}
"""Field -> ids that nobody else is shown, with their names."""
_ASIDE: Final[dict[str, Callable[[Scenario], str]]] = {
    "weights": lambda s: s.format_note,
    "layout": lambda s: f"As engines do: {s.run.sharing.words}." if s.layout == AUTO else "",
}
"""Field -> a sentence below it."""
_NOTHING: Final[Mapping[str, int]] = MappingProxyType({})
_FEW: Final = 3
"""Up to so many choices stand side by side; more are a list."""


def control(name: str, *, everywhere: bool = False) -> None:
    """The widget of a field that counts in this scenario, and below it what could not be read of its entry.

    Args:
        name: the field.
        everywhere: whether the frame draws it around every page.
    """
    _drawn(name, everywhere=everywhere)
    _told(name)


def controls(*names: str, instead: Mapping[str, int] = _NOTHING) -> None:
    """The widgets of some fields in a row, and below it what could not be read of them.

    The first row of a page is what the page is about; on a phone it comes from below.

    Args:
        names: the fields.
        instead: field -> the number that its widget shows, where the page is of another than the scenario's.
    """
    first = None if state.fields() else "controls"
    with st.container(horizontal=True, vertical_alignment="bottom", key=first):
        for name in names:
            _drawn(name, instead=instead.get(name))
    _told(*names)


def _drawn(name: str, *, everywhere: bool = False, instead: int | None = None) -> None:
    if counts(name, state.scenario()):
        names = {one: said(state.scenario()) for one, said in _SAID.get(name, {}).items()}
        other = () if instead is None or state.unread(name) else (quantities.typed(instead),)
        key = state.drawn(name, *names.values(), *other, everywhere=everywhere)
        if key is not None:
            _widget(name, other[0] if other else state.shown(name), key, names, everywhere=everywhere)
            if everywhere and name in _ASIDE and (aside := _ASIDE[name](state.scenario())):
                st.caption(aside)


def _told(*names: str) -> None:
    drawn = [name for name in names if name in state.fields()]
    for problem in state.entry_problems(*drawn) if drawn else ():
        st.text(problem.sentence)


def _widget(name: str, value: Any, key: str, now: Mapping[str, str], *, everywhere: bool) -> None:
    label = str(FIELDS[name].title)
    common: dict[str, Any] = {
        "key": key,
        "help": FIELDS[name].description,
        "on_change": state.taken,
        "args": (name, key),
        "kwargs": {"everywhere": everywhere},
    }
    mine = _OF_READER[name](state.scenario()) if name in _OF_READER else {}
    choices, several, default = mark(name, Choices), mark(name, Several), getattr(BASE, name)
    if choices:
        names = {**choices.names(), **now, **mine}
        names.setdefault(value, value)
        _choice(label, names, value, common)
    elif several:
        names = {one: one for one in value} | dict(several.of.names()) | mine
        st.multiselect(
            label,
            list(names),
            default=value,
            format_func=names.__getitem__,
            max_selections=several.most,
            select_all=False,
            wrap=True,
            **common,
        )
    elif isinstance(default, bool):
        st.toggle(label, value, **common)
    elif isinstance(default, float) and is_slid(name) and not state.unread(name):
        low, high, step = float(_bound(name, Ge)), float(_bound(name, Le)), mark(name, Place).step
        number = getattr(state.scenario(), name)
        st.slider(label, low, high, number, step=step, format=f"%.{_decimals(number, step)}f", **common)
    elif is_number(name) or mark(name, Quantity):
        st.text_input(label, value, placeholder=_placeholder(name), **common)
    else:
        st.text_input(label, value, max_chars=_title_length(name), **common)


def is_slid(name: str) -> bool:
    """Whether a number is played with on a slider."""
    return isinstance(getattr(BASE, name), float) and is_number(name) and _bound(name, Le) <= _SLIDABLE


def _decimals(value: float, step: float) -> int:
    """Digits after the point, so that a slider shows all that count."""
    return max(-int(Decimal(str(one)).normalize().as_tuple().exponent) for one in (value, step, 1.0))


def typing() -> dict[str, dict[str, Any]]:
    """The fields of text that are numbers: key of the widget -> what its keys do, its unit, and what is wrong."""
    found: dict[str, dict[str, Any]] = {}
    for name, key in state.fields().items():
        unit = mark(name, Quantity)
        if is_number(name) and not is_slid(name):
            step = 1 if is_whole(name) else mark(name, Place).step
            found[key] = {"step": step, "least": _bound(name, Ge), "most": _bound(name, Le)}
        elif unit:
            found[key] = {"unit": unit.usual or unit.unit}
        if wrong := state.unread(name):
            found.setdefault(key, {})["wrong"] = wrong
    return found


def _choice(label: str, names: dict[str, str], value: str, common: dict[str, Any]) -> None:
    """One of some ids, by name; the reader's own are the first."""
    shown = names.__getitem__
    names = {key: names[key] for key in (OWN, CONFIG) if key in names} | names
    if len(names) <= _FEW:
        st.segmented_control(label, list(names), default=value, format_func=shown, required=True, **common)
    else:
        st.selectbox(label, list(names), list(names).index(value), format_func=shown, **common)


def _bound(name: str, kind: type[Ge] | type[Le]) -> int:
    bound: int = getattr(mark(name, kind), kind.__name__.lower())
    return bound


def _title_length(name: str) -> int | None:
    return next((m.max_length for m in FIELDS[name].metadata if hasattr(m, "max_length")), None)


DATASHEET: Final[dict[str, Callable[[Scenario], float | None]]] = {
    "memory": lambda s: s.hardware.memory,
    "bandwidth": lambda s: s.hardware.bandwidth,
    "peak": lambda s: s.deployment.peak,
}
"""Figures of the accelerator that a reader may replace -> the one that counts."""


def _placeholder(name: str) -> str | None:
    """The figure that counts while the field is empty."""
    if name not in DATASHEET:
        return None
    unit = mark(name, Quantity).unit
    value = DATASHEET[name](state.scenario())
    return "not published: enter yours" if value is None else f"{quantities.shown(value, unit)}"
