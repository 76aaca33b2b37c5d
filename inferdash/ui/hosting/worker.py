"""A process that does one heavy piece of work with a limit of memory and of time.

`python -m inferdash.ui.hosting.worker`.

It reads a task from its standard input, then the file that the task reads, and writes what came of it. A number
behind its name is that of a file which is open already.
"""

import os
import pickle
import sys
from contextlib import suppress
from typing import Any, Final

MEMORY: Final = 2_000_000_000
"""Bytes of address space that a piece of work may have."""
CPU_S: Final = 900
"""Seconds of processor that it may take."""


def main() -> None:
    """Does the task; writes a pair of whether it was done and the result, or a sentence."""
    written = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    _limit()
    task, arguments, reads = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the server that started this
    try:
        files: list[Any] = [os.fdopen(int(number), "rb") for number in sys.argv[1:]] or [sys.stdin.buffer] * reads
        result = True, task(*files, *arguments)
    except MemoryError:
        result = False, f"This takes more than the {MEMORY / 1e9:.0f} GB of memory that one piece of work may have."
    os.close(0)
    with written:
        pickle.dump(result, written)


def _limit() -> None:
    os.nice(10)
    with suppress(ImportError, OSError, ValueError):  # where the system has no such limits
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


if __name__ == "__main__":
    main()
