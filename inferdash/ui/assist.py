"""What Streamlit's page lacks for keyboard and screen reader: a navigation landmark and a live result."""

from pathlib import Path
from typing import Final

import streamlit as st

_SCRIPT: Final = Path(__file__).with_name("assist.js").read_text(encoding="utf-8")


def assist() -> None:
    """Marks the row of pages as navigation, the open page as current, and speaks the page's sentence on change."""
    st.components.v2.component("inferdash_assist", js=_SCRIPT)(key="assist", height=1)
