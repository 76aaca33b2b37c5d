"""The script that Streamlit runs: the frame around every page."""

from pathlib import Path
from typing import Final

import streamlit as st

from inferdash import links, shipped
from inferdash.studies.report import PAGES
from inferdash.ui import controls, share, state
from inferdash.ui.assist import assist

ICON: Final = Path(__file__).with_name("icon.svg")
STYLE: Final = Path(__file__).with_name("frame.css")


def _home() -> None:
    """The root holds no page of its own."""


st.set_page_config(page_title="inferdash", page_icon=str(ICON), layout="wide", initial_sidebar_state="auto")
_pages = [
    st.Page(shipped("pages") / f"{name}.py", title=study.TITLE, url_path=name.replace("_", "-"))
    for name, study in PAGES.items()
]
_current = st.navigation([st.Page(_home, title="inferdash", default=True), *_pages], position="hidden")
if _current not in _pages:
    state.go_on(_pages[0])
state.sync()
st.html(STYLE)
controls.sidebar()
with st.container(horizontal=True, vertical_alignment="center", key="top"):
    with st.container(horizontal=True, key="pages"):
        for page in _pages:
            st.page_link(page, query_params=links.parameters(state.scenario()))
    share.button()
share.problems()
share.title()
_current.run()
assist()
