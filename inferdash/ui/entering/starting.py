"""Entering what the reader's engine logged at its start."""

from typing import Final

import streamlit as st

from inferdash.facts.machines.start_log import UnreadLogError
from inferdash.studies.run import engine_memory
from inferdash.ui import state

_SAID: Final = "_start_said"
"""Session state: what came of the last entry."""
_TEXT: Final = "_start_log"
_LONGEST: Final = 200_000


def entry() -> None:
    """The lines of a log, and what came of the last ones."""
    st.text_area("Lines of the log", key=_TEXT, max_chars=_LONGEST, height=100, on_change=state.acted)
    with st.container(horizontal=True):
        st.button("Read", key="_start_read", icon=":material/add:", on_click=_read)
        if state.scenario().cache_room is not None:
            st.button("Remove the log’s numbers", key="_start_remove", icon=":material/close:", on_click=_remove)
    if st.session_state.get(_SAID):
        st.text(st.session_state[_SAID])


def _read() -> None:
    """Callback that makes the log's numbers those of the scenario, or says why not."""
    state.acted()
    try:
        fields, st.session_state[_SAID] = engine_memory.entered(state.scenario(), st.session_state[_TEXT])
    except UnreadLogError as error:
        st.session_state[_SAID] = str(error)
        return
    state.change(**fields)


def _remove() -> None:
    """Callback that takes them away."""
    st.session_state[_SAID] = ""
    state.change(**engine_memory.CLEARED)
