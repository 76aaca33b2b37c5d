"""What who runs the dashboard sees of it: health, readiness, metrics, and why a file is not there."""

import asyncio
import logging
from types import SimpleNamespace

import pytest
from prometheus_client import generate_latest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.runtime.app_session import AppSessionState

from inferdash.ui.hosting import draining, metrics
from inferdash.ui.hosting.server import ERRORS, MIDDLEWARE, ROUTES


@pytest.fixture
def server() -> TestClient:
    return TestClient(Starlette(routes=ROUTES, middleware=MIDDLEWARE, exception_handlers=ERRORS))


def test_it_is_well_before_it_is_ready(server: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining.State, "started", False)
    assert (server.get("/healthz").status_code, server.get("/readyz").status_code) == (200, 404)
    monkeypatch.setattr(draining.State, "started", True)
    assert server.get("/readyz").text == "ready"
    monkeypatch.setattr(draining.State, "ending", True)
    assert (server.get("/healthz").status_code, server.get("/readyz").text) == (200, "ending")
    assert server.get("/readyz").status_code == 404
    monkeypatch.setattr(draining.State, "parting", True)
    assert server.get("/readyz").status_code == 503


def test_a_connection_ends_when_no_answer_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    states = dict.fromkeys(("quiet", "edits", "works"), AppSessionState.APP_NOT_RUNNING)
    ended: dict[str, int] = {}
    looks = 0

    def active() -> list[SimpleNamespace]:
        nonlocal looks
        looks += 1
        states["edits"] = AppSessionState.APP_IS_RUNNING if looks % 2 or looks < 6 else AppSessionState.APP_NOT_RUNNING
        states["works"] = AppSessionState.APP_IS_RUNNING if looks < 4 else AppSessionState.APP_NOT_RUNNING
        return [_connected(name, state, ended, looks) for name, state in states.items() if name not in ended]

    monkeypatch.setattr(draining, "_active", active)
    monkeypatch.setattr(draining, "_QUIET_S", 0.001)
    monkeypatch.setattr(draining, "_PARTING_S", 0.2)
    asyncio.run(draining.parted())
    assert ended == {"quiet": 2, "works": 5}


def _connected(name: str, state: AppSessionState, ended: dict[str, int], look: int) -> SimpleNamespace:
    async def close(code: int) -> None:
        assert code == 1012
        ended[name] = look

    session = SimpleNamespace(id=name, _state=state)
    return SimpleNamespace(session=session, client=SimpleNamespace(_websocket=SimpleNamespace(close=close)))


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/kv-cache", "page"),
        ("/api/report", "/api/report"),
        ("/api/page/kv-cache", "/api/page"),
        ("/media/1.png", "download"),
        ("/wp-login.php", "other"),
        ("/api/nothing", "other"),
    ],
)
def test_requests_are_counted_by_few_routes(path: str, route: str) -> None:
    assert metrics.route(path) == route


def test_metrics_tell_no_scenario(server: TestClient) -> None:
    server.get("/api/page/kv-cache?title=Secret&batch=7&v=2")
    told = generate_latest().decode()
    assert 'inferdash_requests_total{route="/api/page",status="200"}' in told
    assert "process_resident_memory_bytes" in told
    assert "inferdash_sessions 0.0" in told
    assert "Secret" not in told


def test_a_file_of_another_replica_says_what_is_needed(
    server: TestClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("inferdash"), "propagate", True)
    answer = server.get("/media/lost.csv")
    assert answer.status_code == 404
    assert "without sticky sessions" in answer.text
    assert "without sticky sessions" in caplog.text
    assert server.get("/nothing").text == "Not Found"
