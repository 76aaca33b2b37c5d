"""Which inputs of a feature have a range, by what their fields are called, and the range of each."""

import re
from collections.abc import Mapping
from typing import Final

import streamlit as st

from inferdash.scenario import FIELDS, counts
from inferdash.scenario.costs import RANGED
from inferdash.ui import state

_START: Final = "±25%"
"""The range that a chosen input begins with."""
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def ranging() -> None:
    """A list of inputs, and for each that is chosen a field for its range."""
    key = state.drawn("ranges")
    if key is None:
        return
    given = _entries(str(state.shown("ranges")))
    names = [name for name in RANGED if counts(name, state.scenario()) or name in given]
    titles = {name: str(FIELDS[name].title) for name in (*names, *given) if name in FIELDS}
    st.multiselect(
        "Inputs with a range",
        [*titles],
        [name for name in given if name in titles],
        format_func=titles.__getitem__,
        key=key,
        on_change=_taken,
        args=(key, given),
        placeholder="Choose inputs",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, written in given.items():
            if name in titles:
                st.text_input(
                    f"{titles[name]}, range",
                    written,
                    key=f"{key} {name}",
                    help=_HELP,
                    on_change=_taken,
                    args=(key, given),
                )
    for problem in state.entry_problems("ranges"):
        st.text(problem.sentence)


_HELP: Final = "Two ends 20k..60k, a share ±20%, or low/likely/high 200/400/900."


def _taken(key: str, given: Mapping[str, str]) -> None:
    """Callback that writes the ranges of the chosen inputs as one field."""
    chosen = st.session_state[key]
    written = {name: st.session_state.get(f"{key} {name}", given.get(name, _START)) for name in chosen}
    text = ", ".join(f"{name} {_GROUPED.sub('', entry).strip()}" for name, entry in written.items() if entry.strip())
    state.entered("ranges", text)


def _entries(text: str) -> dict[str, str]:
    """Input -> its range as it is written, readable or not."""
    parted = (entry.strip().partition(" ") for entry in text.split(",") if entry.strip())
    return {name: written.strip() for name, _, written in parted}
