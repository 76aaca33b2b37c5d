"""Entering the reader's own measurements into the scenario."""

from typing import Final

import streamlit as st
from pydantic_core import PydanticCustomError

from inferdash.scenario.measured import KINDS
from inferdash.studies.check import calibration
from inferdash.ui import parts, state
from inferdash.validated import Quantity

_SAID: Final = "_measured_said"
"""Session state: why the last entry was not taken."""

_SUCH_AS: Final = {"itl": "9.5 ms", "ttft": "120 ms", "tps": "1,500"}
"""Kind of measurement -> what one looks like."""
_TIME: Final = Quantity("s", usual="ms")
"""As load tests print times."""


def entry() -> None:
    """The kind of measurement, its value, and what came of the last one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = parts.pick("Measured", KINDS, key="_measured_kind")
        st.text_input(
            "Value",
            key="_measured_value",
            help=calibration.HELP[kind],
            placeholder=_SUCH_AS[kind],
            on_change=state.acted,
        )
        st.button("Add", key="_measured_add", icon=":material/add:", on_click=_add, args=(kind,))
    with st.container(horizontal=True):
        for place, one in enumerate(state.scenario().measurements):
            st.button(
                calibration.removal(one),
                key=f"_measured_{place}",
                icon=":material/close:",
                on_click=_remove,
                args=(place,),
            )
    if st.session_state.get(_SAID):
        st.text(st.session_state[_SAID])


def _add(kind: str) -> None:
    """Callback that makes the entry a measurement of the scenario, or says why not."""
    state.acted()
    st.session_state[_SAID] = ""
    try:
        entry = st.session_state["_measured_value"]
        text = calibration.added(state.scenario(), kind, entry if kind == "tps" else _TIME.typed(entry))
    except PydanticCustomError as error:
        st.session_state[_SAID] = f"Your entry {error.message()}."
        return
    st.session_state["_measured_value"] = ""
    state.change(measured=text)


def _remove(place: int) -> None:
    """Callback that takes one away."""
    st.session_state[_SAID] = ""
    state.change(measured=calibration.without(state.scenario(), place))
