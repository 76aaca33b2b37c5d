"""The server around the dashboard: routes, warm-up, health."""

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Final

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send
from streamlit import get_option, runtime

from inferdash import cards, http, links
from inferdash.charts.gallery import CHARTS
from inferdash.facts import library
from inferdash.pairs import Pair
from inferdash.serving.simulated.simulator import prepare
from inferdash.studies.report import STUDIES
from inferdash.ui.hosting import document, draining, metrics, preview, spooling
from inferdash.ui.hosting.responses import Responses

FRAME: Final = Path(__file__).parents[1] / "frame.py"
"""The script that Streamlit runs. It lies where no folder `pages` is beside it, which Streamlit would take over."""

_SWITCH_S: Final = 0.001
"""After which a script gives way, so that others and `/healthz` get their turn under load; Python's own is 5 ms."""
_FORGOTTEN_AFTER_S: Final = 30.0
"""Between two looks for sessions that have ended."""
_OF_A_SESSION: Final = ("/media/", "/_stcore/upload_file/")
_NOT_STICKY: Final = (
    "This file belongs to a session that is not here: it has ended, or several servers stand behind one name without "
    "sticky sessions."
)


async def _first_page(request: Request) -> RedirectResponse:
    """The root leads to the first page with its query, and leaves no step that Back would stop at."""
    return RedirectResponse(
        f"{next(iter(STUDIES)).replace('_', '-')}?{request.url.query or links.encode(links.BASELINE)}", status_code=307
    )


class Assistant:
    """`/mcp`: the numbers for an assistant, by a package that is read when it is first asked for, and may be absent."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            from inferdash.assistant import over_http  # noqa: PLC0415 - as said above
        except ModuleNotFoundError:
            absent = PlainTextResponse("This server lacks the package mcp: pip install 'inferdash[mcp]'.", 501)
            await absent(scope, receive, send)
            return
        await over_http(scope, receive, send, hosts=get_option("server.allowedHosts"))


async def _health(_: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


async def elsewhere(request: Request, error: Exception) -> PlainTextResponse:
    """An error in words; a file of a session that this process does not have says why that may be."""
    status, said = getattr(error, "status_code", 500), str(getattr(error, "detail", ""))
    if any(part in request.url.path for part in _OF_A_SESSION):
        logging.getLogger("inferdash").warning(_NOT_STICKY)
        said = f"{_NOT_STICKY} Load the page again; its link keeps the scenario."
    return PlainTextResponse(said, status)


@asynccontextmanager
async def warm_up(_: object) -> AsyncIterator[None]:
    """Builds what the first visitor would otherwise wait for, then leaves it to no later collection."""
    for build in (library.models, library.accelerators, *CHARTS):
        build()
    Thread(target=prepare, daemon=True).start()
    Thread(target=cards.image, args=(next(iter(STUDIES)), Pair(links.BASELINE)), daemon=True).start()
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_S)
    forgetting = asyncio.create_task(_forget_sessions())
    metrics.serve()
    draining.started()
    yield
    forgetting.cancel()
    spooling.remove()


async def _forget_sessions() -> None:
    """Streamlit lets go of a session that has ended, and of its files, only when another one ends."""
    while True:
        await asyncio.sleep(_FORGOTTEN_AFTER_S)
        if runtime.exists():
            manager: Any = runtime.get_instance()._session_mgr  # noqa: SLF001 - there is no public way
            for _, ended in manager._session_storage._cache.expire():  # noqa: SLF001 - as above
                ended.session.shutdown()
        spooling.forget()


ERRORS: Final = {400: elsewhere, 404: elsewhere}
ROUTES: Final = [
    Route("/", _first_page),
    Route("/healthz", _health),
    Route("/readyz", draining.ready),
    Route("/mcp", Assistant(), methods=["POST"]),
    Mount("/api", http.app),
    *preview.ROUTES,
    *document.ROUTES,
]
MIDDLEWARE: Final = [Middleware(Responses), Middleware(spooling.Spooled)]
