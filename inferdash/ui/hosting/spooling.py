"""Large uploads lie on the disk, not in the memory of the server.

Streamlit holds a file in memory. Of a large one it is handed a name instead, which nobody can guess, and the file goes
to a folder that only this process uses, until the session has let go of the name.
"""

import shutil
import tempfile
import time
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Final

from anyio import to_thread
from starlette.datastructures import Headers, UploadFile
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import get_option, runtime

LARGE: Final = 16 << 20
"""Bytes of a request from which on its file goes to the disk."""
_AT: Final = "/_stcore/upload_file/"
_NAME: Final = b"inferdash-file-"
_KEPT_S: Final = 120.0
"""For which a file is kept that no session has yet."""
_MEGABYTE: Final = 1 << 20
_files: dict[bytes, tuple[Path, float]] = {}
_folder: list[Path] = []


def file_of(content: bytes) -> Path | None:
    """Where the file lies of which this is the name; None where it is none."""
    found = _files.get(content)
    return found[0] if found else None


def remove() -> None:
    """Removes all of them: the server ends."""
    for folder in _folder:
        shutil.rmtree(folder, ignore_errors=True)


class Spooled:
    """Takes large files out of uploads on their way to Streamlit."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or not _is_large(scope):
            await self.app(scope, receive, send)
            return
        async with Request(scope, receive).form(max_files=1) as form:
            files = [one for one in form.values() if isinstance(one, UploadFile)]
            name = await to_thread.run_sync(_kept, files[0].file) if files else b""
            filename = (files[0].filename or "") if files else ""
        body = _body(name, filename)
        headers = [one for one in scope["headers"] if one[0].lower() not in {b"content-length", b"content-type"}]
        headers += [(b"content-length", str(len(body)).encode()), (b"content-type", _TYPE)]
        sent = False

        async def small() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app({**scope, "headers": headers}, small, send)


def forget() -> None:
    """Removes the files of which no session has the name any more."""
    if not _files or not runtime.exists():
        return
    manager: Any = runtime.get_instance().uploaded_file_mgr
    held = {one.data for of in [*manager.file_storage.values()] for one in [*of.values()] if len(one.data) < _MEGABYTE}
    for name, (path, since) in [*_files.items()]:
        if name not in held and time.monotonic() - since > _KEPT_S:
            del _files[name]
            path.unlink(missing_ok=True)


_BOUNDARY: Final = "inferdash-one-file"
_TYPE: Final = f"multipart/form-data; boundary={_BOUNDARY}".encode()


def _body(name: bytes, filename: str) -> bytes:
    plain = "".join(sign if sign.isprintable() and sign not in '"\\' else "_" for sign in filename)
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"\r\n\r\n'
    return head.encode() + name + f"\r\n--{_BOUNDARY}--\r\n".encode()


def _is_large(scope: Scope) -> bool:
    """Whether a request brings a large file of a session that is here, and not one too large."""
    _, at, place = scope["path"].partition(_AT)
    size = Headers(scope=scope).get("content-length", "")
    if not at or not size.isdecimal() or not LARGE <= int(size) <= get_option("server.maxUploadSize") * _MEGABYTE:
        return False
    return runtime.exists() and runtime.get_instance().is_active_session(place.partition("/")[0])


def _kept(stream: IO[bytes]) -> bytes:
    """The name under which a file is kept from now on."""
    if not _folder:
        _folder.append(Path(tempfile.mkdtemp(prefix="inferdash-uploads-")))
    name = _NAME + token_hex().encode()
    path = _folder[0] / token_hex(8)
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file, _MEGABYTE)
    _files[name] = path, time.monotonic()
    return name
