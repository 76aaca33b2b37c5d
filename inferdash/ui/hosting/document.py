"""The HTML document of a page: Streamlit's own, with what a link shows, and a page needs before its first run."""

from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from streamlit import file_util

from inferdash.studies.report import PAGES
from inferdash.ui.hosting import preview

_ADDED: Final = (Path(__file__).parents[1] / "assets" / "document.html").read_text(encoding="utf-8")
_SKIP: Final = '<a id="skip" href="#root" onclick="skip(event)">Skip to the controls</a>'
_TITLE: Final = "<title>Streamlit</title>"
_HEAD: Final = "<!-- title and preview -->"
"""Where what follows from a link comes in."""


def document(name: str) -> str:
    """The document at the address of a page, by its name, without title and preview."""
    whole = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
    titled = whole.replace(_TITLE, f"{_HEAD}\n{_ADDED}", 1)
    return titled.replace("<body>", f'<body data-page="{escape(str(PAGES[name].TITLE))}">\n{_SKIP}', 1)


def _answer(name: str) -> Callable[[Request], Awaitable[HTMLResponse]]:
    before, _, after = document(name).partition(_HEAD)

    async def answer(request: Request) -> HTMLResponse:
        title, tags = await preview.head(name, request)
        content = f"{before}<title>{title} · inferdash</title>\n{tags}{after}"
        return HTMLResponse(content, headers={"Cache-Control": "no-cache"})

    return answer


ROUTES: Final = [Route(f"/{name.replace('_', '-')}", _answer(name)) for name in PAGES]
"""Address of each page -> its document."""
