"""What Streamlit's page lacks: numbers as people type them, a result that is spoken, a run after a restart."""

from pathlib import Path
from typing import Final

import streamlit as st

from inferdash.ui import state
from inferdash.ui.controls import typing

_HERE: Final = Path(__file__).parent
ICON: Final = (_HERE / "icon.svg").read_text(encoding="utf-8")
_STYLE: Final = f"<style>{(_HERE / 'frame.css').read_text(encoding='utf-8')}</style>"
_SCRIPT: Final = "".join((_HERE / name).read_text(encoding="utf-8") for name in ("typing.js", "sheet.js", "assist.js"))


def assist() -> None:
    """Speaks the page's sentence on change, and tells the number fields of this run what they are.

    To be called at the end of a run. When the connection to the server comes back it asks for a run, so that a new
    server knows the page's scenario.
    """
    st.components.v2.component("inferdash_assist", js=_SCRIPT)(
        key="assist", height=1, data={"fields": typing()}, on_reconnected_change=state.acted
    )


def style() -> None:
    """What the theme cannot say of the look."""
    st.html(_STYLE)
