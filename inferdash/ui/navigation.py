"""The row of pages: links that can be copied and opened beside, and that keep the scenario when they are followed."""

from pathlib import Path
from typing import Final

import streamlit as st

from inferdash import links
from inferdash.studies.report import PAGES
from inferdash.ui import state

_SCRIPT: Final = Path(__file__).with_name("navigation.js").read_text(encoding="utf-8")
_KEY: Final = "pages"


def row(current: str) -> None:
    """Links to all pages, the open one marked.

    A click is told to the server, which goes on with the scenario as it is when the click arrives: an entry that is
    left by the very click counts. The address of a link, to be copied or opened beside, holds the scenario as shown.
    """
    st.components.v2.component("inferdash_navigation", html="<nav></nav>", js=_SCRIPT, isolate_styles=False)(
        key=_KEY,
        data={
            "pages": [[name, study.TITLE, name.replace("_", "-")] for name, study in PAGES.items()],
            "current": current,
            "query": links.encode(state.scenario()),
        },
        on_asked_change=_ask,
    )


def _ask() -> None:
    state.ask_for(str(st.session_state[_KEY].asked))
