"""What Streamlit's page lacks: a live result for a screen reader, and a run after a restart."""

from pathlib import Path
from typing import Final

import streamlit as st

from inferdash.ui import state

_SCRIPT: Final = Path(__file__).with_name("assist.js").read_text(encoding="utf-8")


def assist() -> None:
    """Speaks the page's sentence on change.

    When the connection to the server comes back it asks for a run, so that a new server knows the page's scenario.
    """
    st.components.v2.component("inferdash_assist", js=_SCRIPT)(
        key="assist", height=1, on_reconnected_change=state.acted
    )
