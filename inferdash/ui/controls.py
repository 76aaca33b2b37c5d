"""A field of the scenario as a widget: the kind of widget, its bounds and its help follow from the field."""

from collections.abc import Callable
from typing import Final

import streamlit as st
from annotated_types import Ge, Le

from inferdash import quantities
from inferdash.scenario import BASE, FIELDS, OWN, Choices, Place, Scenario, Several, counts, mark
from inferdash.ui import state
from inferdash.validated import Quantity

_SLIDABLE: Final = 10
"""Up to this a number is played with on a slider; above it, it is typed."""
_OWN_FIGURES: Final = "_own_figures"
_FEW: Final = 3
"""Up to so many choices stand side by side; more are a list."""


def control(name: str) -> None:
    """The widget of a field that counts in this scenario, and below it what could not be read of its entry."""
    if not counts(name, state.scenario()):
        return
    state.place(name)
    field = FIELDS[name]
    label, about = str(field.title), field.description
    choices, several = mark(name, Choices), mark(name, Several)
    unit, default = mark(name, Quantity), getattr(BASE, name)
    if choices:
        _choice(name, label, about, dict(choices.names()))
    elif several:
        names = several.of.names()
        st.multiselect(
            label,
            list(names),
            format_func=names.__getitem__,
            key=name,
            help=about,
            max_selections=several.most,
            select_all=False,
            wrap=True,
            persist_state="session",
        )
    elif unit:
        st.text_input(label, key=name, help=about, placeholder=_placeholder(name), persist_state="session")
    elif isinstance(default, bool):
        st.toggle(label, key=name, help=about, persist_state="session")
    elif isinstance(default, int):
        st.number_input(
            label, _bound(name, Ge), _bound(name, Le), step=1, key=name, help=about, persist_state="session"
        )
    elif isinstance(default, float):
        low, high = float(_bound(name, Ge)), float(_bound(name, Le))
        widget = st.slider if high <= _SLIDABLE else st.number_input
        step = mark(name, Place).step
        widget(label, low, high, step=step, key=name, help=about, persist_state="session")
    else:
        st.text_input(label, key=name, help=about, max_chars=_title_length(name), persist_state="session")
    for problem in state.entry_problems(name):
        st.text(problem.sentence)


def controls(*names: str) -> None:
    """The widgets of some fields in a row that folds on a phone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in names:
            control(name)


def _choice(name: str, label: str, about: str | None, names: dict[str, str]) -> None:
    if len(names) <= _FEW:
        st.segmented_control(
            label,
            list(names),
            format_func=names.__getitem__,
            key=name,
            help=about,
            required=True,
            persist_state="session",
        )
    else:
        st.selectbox(label, list(names), format_func=names.__getitem__, key=name, help=about, persist_state="session")


def _bound(name: str, kind: type[Ge] | type[Le]) -> int:
    bound: int = getattr(mark(name, kind), kind.__name__.lower())
    return bound


def _title_length(name: str) -> int | None:
    return next((m.max_length for m in FIELDS[name].metadata if hasattr(m, "max_length")), None)


_DATASHEET: Final[dict[str, Callable[[Scenario], float | None]]] = {
    "memory": lambda s: s.hardware.memory,
    "bandwidth": lambda s: s.hardware.bandwidth,
    "peak": lambda s: s.deployment.peak,
}


def _placeholder(name: str) -> str | None:
    """The figure that counts while the field is empty."""
    if name not in _DATASHEET:
        return None
    unit = mark(name, Quantity).unit
    value = _DATASHEET[name](state.scenario())
    return "not published: enter yours" if value is None else f"{quantities.shown(value, unit)}"


def sidebar() -> None:
    """The scenario that all pages share."""
    scenario = state.scenario()
    with st.sidebar:
        for group in ("model", "accelerator", "workload"):
            st.subheader(group.capitalize())
            for name in FIELDS:
                if mark(name, Place).group == group and name not in _DATASHEET:
                    control(name)
            if group == "accelerator":
                _own_figures(scenario)
        st.subheader("Link")
        control("title")
        st.button("Reset to the chapter’s example", key="reset", on_click=state.reset, width="stretch")


def _own_figures(scenario: Scenario) -> None:
    """The datasheet's figures, each to be replaced; open where they are needed or in use."""
    for name in _DATASHEET:
        state.place(name)
    entered = any(st.session_state[name] for name in _DATASHEET)
    needed = entered or scenario.accelerator == OWN or scenario.deployment.peak is None
    with st.expander("Own hardware figures", expanded=state.once(_OWN_FIGURES, needed)):
        for name in _DATASHEET:
            control(name)
