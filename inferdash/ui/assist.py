"""What Streamlit's page lacks: numbers as people type them, a result that is spoken, a run after a restart."""

import json
from pathlib import Path
from typing import Final

import streamlit as st

from inferdash.facts import library
from inferdash.ui import state
from inferdash.ui.entering.controls import typing

_HERE: Final = Path(__file__).parent / "assets"
ICON: Final = (_HERE / "icon.svg").read_text(encoding="utf-8")
_STYLE, _PRESENTED = (
    f"<style>{(_HERE / name).read_text(encoding='utf-8')}</style>" for name in ("frame.css", "present.css")
)
_HUB: Final = {one.hf_id.lower(): one.name for one in library.models().values() if one.hf_id}
"""Id on the hub -> name of the model."""
_SCRIPT: Final = f"const HUB = {json.dumps(_HUB)};\n" + "".join(
    (_HERE / f"{name}.js").read_text(encoding="utf-8")
    for name in ("typing", "kept", "search", "anchors", "sheet", "present", "assist")
)


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
    st.html(_STYLE + _PRESENTED if state.presented() else _STYLE)
