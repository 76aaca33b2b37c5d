"""A field of the scenario as a widget: the kind of widget, its bounds and its help follow from the field."""

from collections.abc import Callable
from typing import Any, Final

import streamlit as st
from annotated_types import Ge, Le

from inferdash import quantities
from inferdash.scenario import BASE, FIELDS, Choices, Place, Scenario, Several, counts, mark
from inferdash.ui import state
from inferdash.validated import Quantity

_SLIDABLE: Final = 10
"""Up to this a number is played with on a slider; above it, it is typed."""
_FEW: Final = 3
"""Up to so many choices stand side by side; more are a list."""


def control(name: str, *, everywhere: bool = False) -> None:
    """The widget of a field that counts in this scenario, and below it what could not be read of its entry.

    Args:
        name: the field.
        everywhere: whether the frame draws it around every page.
    """
    if not counts(name, state.scenario()) or state.drawn(name):
        return
    _widget(name, state.shown(name), everywhere=everywhere)
    for problem in state.entry_problems(name):
        st.text(problem.sentence)


def controls(*names: str) -> None:
    """The widgets of some fields in a row that folds on a phone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in names:
            control(name)


def _widget(name: str, value: Any, *, everywhere: bool) -> None:
    label, key = str(FIELDS[name].title), state.key(name, everywhere=everywhere)
    common: dict[str, Any] = {
        "key": key,
        "help": FIELDS[name].description,
        "on_change": state.taken,
        "args": (name, key),
        "kwargs": {"everywhere": everywhere},
    }
    choices, several, default = mark(name, Choices), mark(name, Several), getattr(BASE, name)
    if choices:
        _choice(label, dict(choices.names()), value, common)
    elif several:
        names = several.of.names()
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
    elif mark(name, Quantity) or default is None:
        st.text_input(label, value, placeholder=_placeholder(name), **common)
    elif isinstance(default, bool):
        st.toggle(label, value, **common)
    elif isinstance(default, int):
        st.number_input(label, _bound(name, Ge), _bound(name, Le), value, step=1, **common)
    elif isinstance(default, float):
        low, high = float(_bound(name, Ge)), float(_bound(name, Le))
        widget = st.slider if high <= _SLIDABLE else st.number_input
        widget(label, low, high, value, step=mark(name, Place).step, **common)
    else:
        st.text_input(label, value, max_chars=_title_length(name), **common)


def _choice(label: str, names: dict[str, str], value: str, common: dict[str, Any]) -> None:
    shown = names.__getitem__
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
