"""A button that copies a text."""

from pathlib import Path
from typing import Final

import streamlit as st

_SCRIPT: Final = (Path(__file__).parent / "assets" / "copying.js").read_text(encoding="utf-8")
_STYLE: Final = (Path(__file__).parent / "assets" / "copying.css").read_text(encoding="utf-8")


def copy_button(label: str, text: str) -> None:
    """A button that puts a text on the clipboard, and says so."""
    mount = st.components.v2.component(
        "inferdash_copying", html="<button type='button' aria-live='polite'></button>", css=_STYLE, js=_SCRIPT
    )
    mount(key=f"copy {label}", data={"label": label, "text": text}, width="content")
