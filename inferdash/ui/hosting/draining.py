"""Stopping without dropping anyone: a proxy is told first, and those who are connected may end what they do."""

import asyncio
import os
import signal
import time
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from streamlit import runtime
from streamlit.runtime.app_session import AppSessionState

_PATIENCE_S: Final = float(os.environ.get("INFERDASH_DRAIN_S", "0"))
"""For which sessions may go on after the signal to end."""
_NOTICED_S: Final = 5.0
"""After which a proxy that looks every second or two sends nobody here any more."""
_LOOK_S: Final = 0.5
_QUIET_S: Final = 0.1
"""Between two looks at a session that has nothing under way."""
_PARTING_S: Final = 10.0
"""After which a session ends whatever it does."""
_RESTART: Final = 1012
"""Status of a WebSocket whose server starts anew."""


class State:
    """Whether this process takes sessions."""

    started = False
    ending = False
    parting = False
    """Whether it takes not even those any more that come back to it."""


def sessions() -> int:
    """Sessions that are connected."""
    return len(_active())


async def ready(_: Request) -> PlainTextResponse:
    """Whether new sessions may be sent here. By 404 HAProxy keeps those that there are, by 503 it sends none at all."""
    if State.started and not State.ending:
        return PlainTextResponse("ready")
    return PlainTextResponse("ending" if State.ending else "starting", 503 if State.parting else 404)


def started() -> None:
    """Is ready from here on; ends at SIGTERM when no session is left or the time is over, at a second one at once."""
    State.started = True
    if not _PATIENCE_S or current_thread() is not main_thread():
        return
    end, loop, tasks = signal.getsignal(signal.SIGTERM), asyncio.get_running_loop(), []

    def ends(_: object = None) -> None:
        signal.signal(signal.SIGTERM, end)
        signal.raise_signal(signal.SIGTERM)

    def drains() -> None:
        tasks.append(loop.create_task(_drained()))
        tasks[0].add_done_callback(ends)

    def asked(_: int, __: FrameType | None) -> None:
        if State.ending:
            ends()
        else:
            State.ending = True
            loop.call_soon_threadsafe(drains)

    signal.signal(signal.SIGTERM, asked)


async def _drained() -> None:
    """Until no session is left: each may go on for a time, and then comes back elsewhere."""
    since_s, over_s = time.monotonic(), 0.0
    while over_s < _PATIENCE_S and (over_s < _NOTICED_S or sessions()):
        await asyncio.sleep(_LOOK_S)
        over_s = time.monotonic() - since_s
    if sessions():
        State.parting = True
        await asyncio.sleep(_NOTICED_S)
        await parted()


async def parted() -> None:
    """Ends each connection in a moment in which no answer is under way: an edit would be lost with its socket."""
    since_s, quiet = time.monotonic(), set[str]()
    while (active := _active()) and time.monotonic() - since_s < _PARTING_S:
        idle = {one.session.id for one in active if one.session._state is AppSessionState.APP_NOT_RUNNING}  # noqa: SLF001 - there is no public way
        for one in active:
            if one.session.id in idle & quiet:
                await one.client._websocket.close(_RESTART)  # noqa: SLF001 - as above
        quiet = idle
        await asyncio.sleep(_QUIET_S)


def _active() -> list[Any]:
    if not runtime.exists():
        return []
    found: list[Any] = runtime.get_instance()._session_mgr.list_active_sessions()  # noqa: SLF001 - there is no public way
    return found
