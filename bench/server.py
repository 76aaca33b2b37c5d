"""Servers to be measured: the dashboard, and the same server with an empty page in its place."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Final
from urllib.request import urlopen

ROOT: Final = Path(__file__).parent.parent
DASHBOARD: Final = (sys.executable, "-m", "inferdash")
EMPTY: Final = (sys.executable, "-m", "bench.empty_server")
_START_S: Final = 60


@dataclass(frozen=True)
class Server:
    """One that runs."""

    host: str
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        """Its address, without a path."""
        return f"http://{self.host}"

    def cpu_s(self) -> float:
        """Seconds of CPU that it has used."""
        return cpu_s(self.process.pid)

    def memory(self) -> int:
        """Bytes that it has in memory."""
        return memory(self.process.pid)

    def health_s(self) -> float:
        """Seconds until it says that it is well; endless where it does not in time."""
        begin = time.perf_counter()
        try:
            with urlopen(f"{self.address}/healthz", timeout=30) as answer:  # noqa: S310 - this machine
                answer.read()
        except OSError:
            return float("inf")
        return time.perf_counter() - begin


def cpu_s(process: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> int:
    """Bytes that a process has in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def serving(command: tuple[str, ...] = DASHBOARD) -> Iterator[Server]:
    """A server on a free port, from its first answer to its end.

    Raises:
        TimeoutError: where it does not answer within a minute.
    """
    with socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, "--port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    server = Server(f"localhost:{port}", process)
    end = time.monotonic() + _START_S
    try:
        while server.health_s() == float("inf"):
            if time.monotonic() > end or process.poll() is not None:
                raise TimeoutError("The server does not answer.")
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait()
