"""Large uploads on their way to Streamlit: it is handed a name, and the file lies on the disk."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from streamlit import runtime

from inferdash.ui.hosting import spooling

CONTENT = b'{"a": 1}\n' * 5000
HEAD = (
    b'--x\r\nContent-Disposition: form-data; name="file"; filename="my log.jsonl"\r\nContent-Type: text/plain\r\n\r\n'
)
BODY = HEAD + CONTENT + b"\r\n--x--\r\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    files: dict[str, dict[str, Any]] = {"here": {}}
    own = SimpleNamespace(
        is_active_session=lambda session: session in files, uploaded_file_mgr=SimpleNamespace(file_storage=files)
    )
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: own)
    monkeypatch.setattr(spooling, "LARGE", 10_000)
    return files["here"]


async def _takes(scope: Scope, receive: Receive, send: Send) -> None:
    async with Request(scope, receive).form() as form:
        file = form["file"]
        assert isinstance(file, UploadFile)
        taken[:] = [await file.read(), (file.filename or "").encode()]
    await PlainTextResponse("ok")(scope, receive, send)


taken: list[bytes] = []


def upload(session: str) -> list[bytes]:
    async def receive() -> Any:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(_: Any) -> None:
        pass

    headers = [(b"content-length", str(len(BODY)).encode()), (b"content-type", b"multipart/form-data; boundary=x")]
    path = f"/_stcore/upload_file/{session}/f"
    scope = {"type": "http", "method": "PUT", "path": path, "headers": headers, "query_string": b""}
    asyncio.run(spooling.Spooled(_takes)(scope, receive, send))
    return taken


def test_a_large_file_lies_on_the_disk_until_its_session_lets_go(
    server: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, filename = upload("here")
    path = spooling.file_of(name)
    assert isinstance(path, Path)
    assert (path.read_bytes(), filename, len(name) < 200) == (CONTENT, b"my log.jsonl", True)
    server["f"] = SimpleNamespace(data=name)
    monkeypatch.setattr(spooling, "_KEPT_S", -1)
    spooling.forget()
    assert path.exists()
    del server["f"]
    spooling.forget()
    assert (path.exists(), spooling.file_of(name)) == (False, None)


def test_a_file_of_no_session_and_a_small_one_pass_as_they_are(
    server: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server == {}
    assert upload("elsewhere")[0] == CONTENT
    monkeypatch.setattr(spooling, "LARGE", 1 << 20)
    assert upload("here")[0] == CONTENT
