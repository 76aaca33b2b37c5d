"""What Streamlit's page lacks: a live result for a screen reader, and a run after a restart."""

from pathlib import Path
from typing import Final

import streamlit as st

from inferdash.ui import state

_HERE: Final = Path(__file__).parent
ICON: Final = (_HERE / "icon.svg").read_text(encoding="utf-8")
_STYLE: Final = f"<style>{(_HERE / 'frame.css').read_text(encoding='utf-8')}</style>"
_SCRIPT: Final = (_HERE / "assist.js").read_text(encoding="utf-8")


def assist() -> None:
    """Speaks the page's sentence on change.

    When the connection to the server comes back it asks for a run, so that a new server knows the page's scenario.
    """
    st.components.v2.component("inferdash_assist", js=_SCRIPT)(
        key="assist", height=1, on_reconnected_change=state.acted
    )


def style() -> None:
    """What the theme cannot say of the look."""
    st.html(_STYLE)
