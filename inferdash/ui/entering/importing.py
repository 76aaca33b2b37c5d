"""Reading a config.json into the scenario: pasted, from a file, or from the hub when the reader asks."""

import json
import os
from collections.abc import Callable
from typing import Final

import streamlit as st

from inferdash.facts.models import hub, huggingface
from inferdash.facts.models.huggingface import Found, UnreadConfigError
from inferdash.scenario import CONFIG, Scenario
from inferdash.ui import state

_OPEN: Final = "INFERDASH_HUB_TOKEN"
"""Variable that is 1 where whoever opens the dashboard may read what the token of this machine opens on the hub."""
_NAME: Final = "_config_name"
"""Session state: what the reader calls the model."""
_SAID: Final = "_config_said"
"""Session state: what came of the last config.json that was read, and the model that it was said of."""


def importer() -> None:
    """The three ways in, the name that the model gets, and what came of the last one."""
    st.text_input(
        "Name of the model",
        key=_NAME,
        max_chars=60,
        placeholder="as the file says",
        help="What pages and links call it. Empty: the name in the file, else its kind.",
        on_change=state.acted,
    )
    pasted, uploaded, named = st.tabs(["Paste", "Upload", "Hugging Face"])
    with pasted:
        st.text_area("config.json of a model", key="_pasted", height=160, on_change=state.acted)
        # The click may come with a text that the script has not seen yet, so each reader asks the session for it.
        st.button("Read it", key="_read_pasted", on_click=_take, args=(lambda: _parsed(st.session_state["_pasted"]),))
    with uploaded:
        file = st.file_uploader("A config.json", type="json", key="_uploaded", on_change=state.acted)
        if file:
            st.button("Read it", key="_read_uploaded", on_click=_take, args=(lambda: _parsed(file.getvalue()),))
    with named:
        st.text_input("Name on the Hugging Face hub", key="_hf_id", placeholder="Qwen/Qwen3-8B", on_change=state.acted)
        st.button(
            "Read from the hub",
            key="_read_hub",
            on_click=_take,
            args=(lambda: hub.read(st.session_state["_hf_id"].strip(), token=os.environ.get(_OPEN) == "1"),),
        )
        st.caption("Reads its config.json and tensor headers over the network, never its weights.")
    sentence, model = st.session_state.get(_SAID, ("", None))
    if sentence and model == _model(state.scenario()):
        st.text(sentence)


def _parsed(content: str | bytes) -> Found:
    return huggingface.read(huggingface.parse(content))


def _model(scenario: Scenario) -> tuple[str, str]:
    return scenario.model, scenario.config


def _take(read: Callable[[], Found]) -> None:
    """Callback that makes what was read the model of the scenario, or says why not."""
    state.acted()
    try:
        found = read()
    except UnreadConfigError as error:
        st.session_state[_SAID] = str(error), _model(state.scenario())
        return
    name = st.session_state.get(_NAME, "").strip() or found.architecture.hf_id
    named = {"_name_or_path": name} if name else {}
    fields = json.dumps({**found.used, **named}, separators=(",", ":"))
    if len(fields) > state.longest("config"):
        st.session_state[_SAID] = "This file has too many fields for a link.", _model(state.scenario())
        return
    state.change(model=CONFIG, config=fields)
    st.session_state[_SAID] = (
        f"{state.scenario().architecture.name} is now the model on every page.",
        (CONFIG, fields),
    )
