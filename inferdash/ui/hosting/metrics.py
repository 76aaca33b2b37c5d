"""What who runs the dashboard measures, for Prometheus, on a port of its own: never a scenario, a file or a client."""

import os
from typing import Final

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, start_http_server

from inferdash.http import app as api
from inferdash.studies.report import PAGES
from inferdash.ui.hosting import draining

_ADDRESS: Final = os.environ.get("INFERDASH_METRICS", "")
"""Port, or address and port, such as 0.0.0.0:9464; nothing is served without it."""
_PATHS: Final = {"/": "/", "/healthz": "/healthz", "/readyz": "/readyz", "/mcp": "/mcp"} | {
    f"/{name.replace('_', '-')}": "page" for name in PAGES
}
_OF_PROGRAMS: Final = {f"/api{one.path}" for one in api.routes if hasattr(one, "path")}
_FOLDERS: Final = {
    "/_stcore/upload_file/": "upload",
    "/media/": "download",
    "/static/": "static",
    "/api/page/": "/api/page",
    "/card/": "preview",
    "/oembed": "preview",
}
REQUESTS: Final = Counter("inferdash_requests", "Requests over HTTP.", ["route", "status"])
RUN_S: Final = Histogram(
    "inferdash_run_seconds",
    "Seconds of a run of a page, those that a newer one ended included.",
    ["page"],
    buckets=(0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 5, 10),
)
_SESSIONS: Final = Gauge("inferdash_sessions", "Sessions that are connected.")


def route(path: str) -> str:
    """What a path is counted as: there are few of them, whatever is asked for."""
    if path in _PATHS:
        return _PATHS[path]
    if path in _OF_PROGRAMS:
        return path
    return next((name for start, name in _FOLDERS.items() if path.startswith(start)), "other")


def serve() -> None:
    """Answers Prometheus from here on, where a port was named; memory and processor are among what it tells."""
    _SESSIONS.set_function(draining.sessions)
    if _ADDRESS:
        address, _, port = _ADDRESS.rpartition(":")
        start_http_server(int(port), address or "localhost", REGISTRY)
