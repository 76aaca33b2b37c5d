"""Stopping without dropping anyone: a proxy is told first, and those who are connected may end what they do."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse

_PATIENCE_S: Final = float(os.environ.get("INFERDASH_DRAIN_S", "0"))
"""For which sessions may go on after the signal to end."""
_NOTICED_S: Final = 5.0
"""After which a proxy that looks every second or two sends nobody here any more."""
_LOOK_S: Final = 0.5


class State:
    """Whether this process takes new sessions."""

    started = False
    ending = False


async def ready(_: Request) -> PlainTextResponse:
    """Whether new sessions may be sent here. By 404 HAProxy keeps those that there are and sends no other."""
    if State.started and not State.ending:
        return PlainTextResponse("ready")
    return PlainTextResponse("ending" if State.ending else "starting", 404)


def started(sessions: Callable[[], int]) -> None:
    """Is ready from here on, and ends at SIGTERM when no session is left or the time is over; at a second one at once.

    Args:
        sessions: how many are connected.
    """
    State.started = True
    if not _PATIENCE_S or current_thread() is not main_thread():
        return
    end, loop = signal.getsignal(signal.SIGTERM), asyncio.get_running_loop()

    def look(since_s: float) -> None:
        """Ends, or looks again in a moment."""
        over_s = time.monotonic() - since_s
        if over_s >= _PATIENCE_S or (over_s >= _NOTICED_S and not sessions()):
            signal.signal(signal.SIGTERM, end)
            signal.raise_signal(signal.SIGTERM)
        else:
            loop.call_later(_LOOK_S, look, since_s)

    def asked(_: int, __: FrameType | None) -> None:
        if State.ending:
            look(-_PATIENCE_S)
        else:
            State.ending = True
            loop.call_soon_threadsafe(look, time.monotonic())

    signal.signal(signal.SIGTERM, asked)
