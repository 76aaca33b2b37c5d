"""The script that Streamlit runs: the frame around every page."""

import logging
from typing import Final

import streamlit as st

from inferdash.ui import comparing, lookups, navigation, share, state
from inferdash.ui.assist import ICON, assist, style
from inferdash.ui.entering.varying import varying
from inferdash.ui.hosting import metrics
from inferdash.ui.mending import mended
from inferdash.ui.sidebar import sidebar

_SIDEBAR: Final = 290
"""Its width in pixels; on a phone it is closed."""


def _home() -> None:
    """The root holds no page of its own."""


lookups.quicken()
st.set_page_config(page_title="inferdash", page_icon=ICON, layout="wide", initial_sidebar_state=_SIDEBAR)
_pages = navigation.pages()
_current = st.navigation([st.Page(_home, title="inferdash", default=True), *_pages.values()], position="hidden")
_name = next((name for name, page in _pages.items() if page == _current), None)
if _name is None:
    state.start(next(iter(_pages.values())))
with metrics.RUN_S.labels(_name).time():
    state.sync(_name)
    state.go_on(_pages)
    style()
    _top = st.container(horizontal=True, vertical_alignment="center", key="top")
    share.problems()
    _above = st.container()
    share.title()
    comparing.row()
    try:
        _current.run()
        varying(_name)
    except Exception:  # whatever it is, the reader keeps the way to the other pages and to a scenario that works
        logging.getLogger("inferdash").exception("The page %s failed.", _name)
        mended(_name)
    # The answer is on its way before what stands around it.
    if not state.presented():
        sidebar(_name)
    with _above:
        share.entry_problems()
    with _top:
        navigation.row(_name)
        share.buttons()
    assist()
