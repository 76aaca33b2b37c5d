"""What every response passes on its way out: it is counted, gets headers, and is packed where it is a static file."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from inferdash.ui.hosting import metrics

_HEADERS: Final = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:; worker-src 'self' "
    "blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' "
    "ws: wss: data: blob:; media-src 'self' data: blob:; frame-src 'self'; object-src 'none'; form-action 'self'; "
    "base-uri 'self'"
)
"""A page takes nothing from elsewhere, whatever a file or a link says; Streamlit's charts compile their formulas."""
_NOT_FRAMED: Final = "; frame-ancestors 'self'"


class Responses:
    """Other sites may frame a page only where its link says `embed=true`; Streamlit sends static files as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self.plain = app
        self.packed = GZipMiddleware(app, minimum_size=1024, compresslevel=6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.plain(scope, receive, send)
            return
        path, embedded = scope["path"], b"embed=true" in scope["query_string"].split(b"&")

        async def finished(message: Message) -> None:
            if message["type"] == "http.response.start":
                metrics.REQUESTS.labels(metrics.route(path), str(message["status"])).inc()
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.append("Content-Security-Policy", _POLICY + ("" if embedded else _NOT_FRAMED))
            await send(message)

        await (self.packed if "/static/" in path else self.plain)(scope, receive, finished)
