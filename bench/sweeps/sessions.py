"""Sessions that come, edit, upload and go: what the server keeps of them.

The memory after all of them is held against that after the first 100.
"""

import asyncio
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Final

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bench.client import Session
from bench.fields import PRESSED
from bench.server import Server, serving
from bench.sweep import swept
from inferdash import links
from tests.scenarios import valid

FIRST: Final = 100
MOST_BYTES: Final = 50e6
_FILE: Final = b"timestamp,input_tokens,output_tokens\n" + b"".join(b"%d,1000,200\n" % second for second in range(5000))
"""A log of usage of 80 kB."""
_KEPT_S: Final = 130.0
"""After so long the server has given up sessions whose reader is gone."""


def main() -> int:
    """Lets the sessions come and go, and returns the exit status."""
    return swept("sessions that come and go", 1000, found)


def found(count: int, seed: int) -> Iterator[str]:
    """Whether the server has grown, or a session failed."""
    with serving() as server, asyncio.Runner() as runner:
        after_first = 0.0
        for number in range(count):
            yield runner.run(_tried(server, seed + number))
            if number + 1 == FIRST:
                after_first = server.memory()
            if (number + 1) % FIRST == 0:
                print(f"  {number + 1} sessions: {server.memory() / 1e6:,.0f} MB", flush=True)
        runner.run(asyncio.sleep(_KEPT_S))
        runner.run(_one(server, seed))  # with the next one to come the server lets go of what is left
        grown = server.memory() - after_first
        print(f"  {_KEPT_S:.0f} s later: {server.memory() / 1e6:,.0f} MB, {grown / 1e6:+,.0f} MB", flush=True)
        if count > FIRST and grown > MOST_BYTES:
            yield f"the server grew by {grown / 1e6:,.0f} MB after the first {FIRST} sessions"


async def _tried(server: Server, number: int) -> str:
    """What went wrong in a session; empty where nothing did."""
    try:
        await asyncio.wait_for(_one(server, number), 120)
    except (LookupError, OSError, TimeoutError) as error:
        return f"session {number}: {type(error).__name__}: {error}"
    return ""


async def _one(server: Server, seed: int) -> None:
    """One session: a page by a link of its own, an edit, the next page, an upload, and away."""
    pages = list(PRESSED.values())
    one, then = pages[seed % len(pages)], pages[(seed // len(pages) + seed + 1) % len(pages)]
    async with Session(server.host) as session:
        await session.open(one.page, links.encode(valid(seed, usual=True)))
        await _edited(session)
        await session.follow(then.page)
        await _edited(session)
        await session.follow("traffic" if seed % 2 else "serving")
        if not seed % 2:
            await session.unfold("Your own requests")
        await upload(server, session, _FILE + b"%d,1,1\n" % seed)


async def _edited(session: Session) -> None:
    """Presses a key in the first number field, where the page has one."""
    for label in session.numbers()[:1]:
        await session.press(label)


async def upload(server: Server, session: Session, content: bytes) -> None:
    """Sends a file to the page's uploader, as the frontend does."""
    asked = BackMsg()
    asked.file_urls_request.request_id = "one"
    asked.file_urls_request.file_names.append("log.csv")
    asked.file_urls_request.session_id = session.session
    urls = (await session.ask(asked, "file_urls_response")).file_urls_response.file_urls[0]
    await asyncio.to_thread(_put, server, urls.upload_url, content)
    drawn = [one.new_element.file_uploader for one in session.elements.values() if one.HasField("new_element")]
    uploader = next(one for one in drawn if one.id)
    state = WidgetState(id=uploader.id)
    info = UploadedFileInfo(file_id=urls.file_id, name="log.csv", size=len(content), file_urls=urls)
    state.file_uploader_state_value.uploaded_file_info.append(info)
    await session.take({uploader.id: state})


def _put(server: Server, path: str, content: bytes) -> None:
    border = "file-between-lines"
    head = f'--{border}\r\nContent-Disposition: form-data; name="f"; filename="log.csv"\r\n\r\n'.encode()
    connection = HTTPConnection(server.host, timeout=60)
    try:
        connection.request("GET", "/_stcore/health")
        first = connection.getresponse()
        first.read()
        cookie = (first.getheader("Set-Cookie") or "").partition(";")[0]
        headers = {"Content-Type": f"multipart/form-data; boundary={border}", "Cookie": cookie}
        headers["X-Xsrftoken"] = cookie.partition("=")[2]
        connection.request("PUT", path, head + content + f"\r\n--{border}--\r\n".encode(), headers)
        answer = connection.getresponse()
        if answer.status >= 300:
            raise OSError(f"the upload was answered {answer.status}: {answer.read()[:200]!r}")
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
