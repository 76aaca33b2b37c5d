"""Heavy work in a process of its own, so that other sessions keep their answers: so many at once, and to be stopped."""

import os
import pickle
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore
from typing import IO, Any, Final, TypeVar, cast

from inferdash.ui.hosting.worker import CPU_S

T = TypeVar("T")

AT_ONCE: Final = 2
"""Pieces of work that run at the same time; more wait."""
WAITING: Final = "Waiting for other work on this server."
_TURNS: Final = BoundedSemaphore(AT_ONCE)
_MOMENT_S: Final = 0.2
"""After which it is told how far the work is, and so after which it may be stopped."""
_PIECE: Final = 1 << 16
_ROOT: Final = Path(__file__).parents[3]
"""Where the package lies."""
_SMALL: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""Of the surroundings of a process: no threads that it does not need, and no memory for each thread."""


class HeavyWorkError(Exception):
    """Work that came to no end; its text is one sentence."""


def done(
    task: Callable[..., T],
    *arguments: Any,
    told: Callable[[float, str], None],
    content: memoryview | None = None,
    path: Path | None = None,
) -> T:
    """What a task returns that runs in a process of its own.

    Args:
        task: a function of a module; its arguments and what it returns can be pickled.
        arguments: what it is called with, behind the file where there is one.
        told: is told every moment what share of the file was read, and what is waited for; what it raises ends the
            work, as does the end of this run.
        content: the bytes of a file, which the task reads as its first argument.
        path: where such a file lies, in place of its bytes.

    Raises:
        HeavyWorkError: where the task takes more memory or time than it may, or fails.
    """
    while not _TURNS.acquire(timeout=_MOMENT_S):
        told(0.0, WAITING)
    try:
        question = pickle.dumps((task, arguments, content is not None))
        if path is None:
            return cast("T", _result(question, content, told))
        with path.open("rb") as file:
            return cast("T", _result(question, None, told, file))
    finally:
        _TURNS.release()


def _result(
    question: bytes, content: memoryview | None, told: Callable[[float, str], None], file: IO[bytes] | None = None
) -> Any:
    command = [sys.executable, "-m", "inferdash.ui.hosting.worker", *([str(file.fileno())] if file else [])]
    with (
        # What is killed clears nothing up.
        TemporaryDirectory(prefix="inferdash-", ignore_cleanup_errors=True) as aside,
        subprocess.Popen(  # noqa: S603 - this program's own
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(file.fileno(),) if file else (),
            env={**os.environ, "PYTHONPATH": str(_ROOT), "TMPDIR": aside, **_SMALL},
        ) as process,
    ):
        try:
            answer = _answer(process, [memoryview(question), content or memoryview(b"")], told, file)
        except BaseException:  # the reader stopped it, or is gone
            process.kill()
            raise
    if not answer:
        why = f"more than {CPU_S / 60:.0f} minutes" if process.returncode == -signal.SIGXCPU else ""
        raise HeavyWorkError(f"This takes {why} of processor time." if why else "This failed; the server log says why.")
    succeeded, result = pickle.loads(answer)  # noqa: S301 - written by the process that was started above
    if not succeeded:
        raise HeavyWorkError(result)
    return result


def _answer(
    process: subprocess.Popen[bytes],
    parts: list[memoryview],
    told: Callable[[float, str], None],
    file: IO[bytes] | None,
) -> bytes:
    """Feeds a process, as fast as it reads, and takes what it answers, until it has said all.

    Where a process reads a file that lies on the disk, how far it is in it is known by the place that both share.
    """
    whole = os.fstat(file.fileno()).st_size if file else 0
    fed, answered = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    os.set_blocking(fed.fileno(), False)
    size, sent, answer = len(parts[-1]) or 1, -len(parts[0]), bytearray()
    told_s = time.monotonic()
    with selectors.DefaultSelector() as ready:
        ready.register(answered, selectors.EVENT_READ)
        ready.register(fed, selectors.EVENT_WRITE)
        while True:
            for key, _ in ready.select(_MOMENT_S):
                if key.fileobj is answered:
                    piece = os.read(answered.fileno(), _PIECE)
                    if not piece:
                        return bytes(answer)
                    answer += piece
                    continue
                while parts and not parts[0]:
                    parts.pop(0)
                try:
                    count = os.write(fed.fileno(), parts[0][:_PIECE]) if parts else 0
                except BrokenPipeError:  # it needs no more of the file
                    parts.clear()
                    count = 0
                if not parts:
                    ready.unregister(fed)
                    fed.close()
                    continue
                parts[0], sent = parts[0][count:], sent + count
            if time.monotonic() - told_s > _MOMENT_S:
                read, of = (os.lseek(file.fileno(), 0, os.SEEK_CUR), whole) if file else (sent, size)
                told(min(1.0, max(0, read) / (of or 1)), "")
                told_s = time.monotonic()
