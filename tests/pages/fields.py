"""How tests find the widget of a field, and unfold a page."""

from typing import Any

from streamlit.testing.v1 import AppTest


def field(app: AppTest, name: str) -> Any:
    """The one widget of a field of the scenario: its key is new in each edition, and begins with the name."""
    (found,) = [
        one
        for part in (app.main, app.sidebar)
        for one in part
        if (getattr(one, "key", "") or "").startswith(f"{name} ")
    ]
    return found


class _Every(set[str]):
    def __contains__(self, _: object) -> bool:
        return True


def unfolded(app: AppTest) -> AppTest:
    """The session with every section of every page open, from its next run on."""
    app.session_state["_session"].opened = _Every()
    return app


def title(app: AppTest) -> str:
    """The sentence of the page, with plain spaces."""
    return str(app.title[0].value).replace("\N{NO-BREAK SPACE}", " ")
