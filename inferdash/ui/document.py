"""The HTML document of a page: Streamlit's own, with what a page needs before its first run."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from streamlit import file_util

from inferdash.studies.report import PAGES

_ADDED: Final = Path(__file__).with_name("document.html").read_text(encoding="utf-8")
_SKIP: Final = '<a id="skip" href="#root" onclick="skip(event)">Skip to the controls</a>'
_TITLE: Final = "<title>Streamlit</title>"


def document(name: str) -> str:
    """The document at the address of a page, by its name."""
    title = escape(str(PAGES[name].TITLE))
    whole = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
    titled = whole.replace(_TITLE, f"<title>{title} · inferdash</title>\n{_ADDED}", 1)
    return titled.replace("<body>", f'<body data-page="{title}">\n{_SKIP}', 1)


def _answer(name: str) -> Callable[[Request], HTMLResponse]:
    content = document(name)
    return lambda _: HTMLResponse(content, headers={"Cache-Control": "no-cache"})


ROUTES: Final = [Route(f"/{name.replace('_', '-')}", _answer(name)) for name in PAGES]
"""Address of each page -> its document."""
