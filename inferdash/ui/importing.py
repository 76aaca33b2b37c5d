"""Reading a config.json into the scenario: pasted, from a file, or from the hub when the reader asks."""

import json
from collections.abc import Callable
from typing import Final

import streamlit as st

from inferdash.facts import hub, huggingface
from inferdash.facts.huggingface import Found, UnreadConfigError
from inferdash.scenario import CONFIG
from inferdash.ui import state

_SAID: Final = "_config_said"
"""Session state: what came of the last config.json that was read."""


def importer() -> None:
    """The three ways in, and what came of the last one."""
    pasted, uploaded, named = st.tabs(["Paste", "Upload", "Hugging Face"])
    with pasted:
        text = st.text_area("config.json of a model", key="_pasted", height=160, on_change=state.acted)
        st.button("Read it", key="_read_pasted", on_click=_take, args=(lambda: _parsed(text),))
    with uploaded:
        file = st.file_uploader("A config.json", type="json", key="_uploaded", on_change=state.acted)
        if file:
            st.button("Read it", key="_read_uploaded", on_click=_take, args=(lambda: _parsed(file.getvalue()),))
    with named:
        hf_id = st.text_input(
            "Name on the Hugging Face hub", key="_hf_id", placeholder="Qwen/Qwen3-8B", on_change=state.acted
        )
        st.button("Read from the hub", key="_read_hub", on_click=_take, args=(lambda: hub.read(hf_id.strip()),))
        st.caption("Reads its config.json and the headers of its tensors over the network, never its weights.")
    for sentence in st.session_state.get(_SAID, ()):
        st.text(sentence)


def _parsed(content: str | bytes) -> Found:
    return huggingface.read(huggingface.parse(content))


def _take(read: Callable[[], Found]) -> None:
    """Callback that makes what was read the model of the scenario, or says why not."""
    state.acted()
    try:
        found = read()
    except UnreadConfigError as error:
        st.session_state[_SAID] = (str(error),)
        return
    named = {"_name_or_path": found.architecture.hf_id} if found.architecture.hf_id else {}
    fields = json.dumps({**found.used, **named}, separators=(",", ":"))
    if len(fields) > state.longest("config"):
        st.session_state[_SAID] = ("The fields of this file are too many for a link.",)
        return
    state.change(model=CONFIG, config=fields, weights=found.architecture.weights)
    st.session_state[_SAID] = (f"Read: {found.architecture.name} is the model of every page now.", *found.problems)
