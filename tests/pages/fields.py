"""How tests find the widget of a field: its key is new in each edition of the scenario and begins with the name."""

from typing import Any

from streamlit.testing.v1 import AppTest


def field(app: AppTest, name: str) -> Any:
    """The one widget of a field of the scenario on the page."""
    (found,) = [
        one
        for part in (app.main, app.sidebar)
        for one in part
        if (getattr(one, "key", "") or "").startswith(f"{name} ")
    ]
    return found
