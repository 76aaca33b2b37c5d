"""Many readers at several processes behind the proxy, without browsers, and programs that ask beside them.

Client, proxy and processes share the machine, so what comes out is what that machine carries with its own load.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from bench.load import HEAD, MIXED, Load, percentiles
from bench.server import ROOT, Server, cpu_s, memory
from inferdash.workers import free_ports

_START_S = 120
_LOAD_S = 240.0


class Together(Server):
    """The processes of a machine and their proxy, as one."""

    def cpu_s(self) -> float:
        """Seconds of CPU that all have used."""
        return sum(cpu_s(one) for one in self._all())

    def memory(self) -> int:
        """Bytes that all have in memory."""
        return sum(memory(one) for one in self._all())

    def _all(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(one) for one in children.read_text(encoding="ascii").split()]


@contextmanager
def replicas(count: int) -> Iterator[tuple[Server, list[int]]]:
    """The dashboard in several processes, from the time when all take sessions; with the ports of their metrics."""
    port, metrics = free_ports(2)
    command = [sys.executable, "-m", "inferdash", "--port", str(port), "--workers", str(count)]
    given = {"INFERDASH_METRICS": str(metrics), "INFERDASH_DRAIN_S": "1", "API_RATE": "100000"}
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **given}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    server = Together(f"localhost:{port}", process)
    try:
        end = time.monotonic() + _START_S
        while not all(_answers(metrics + place) for place in range(count)) or server.health_s() == float("inf"):
            if time.monotonic() > end:
                raise TimeoutError("The replicas do not answer.")
            time.sleep(0.2)
        yield server, [metrics + place for place in range(count)]
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://localhost:{port}/metrics", timeout=5):
            return True
    except OSError:
        return False


async def loaded(server: Server, load: Load) -> tuple[list[float], list[float]]:
    """Runs a load; seconds of a program that asks for each report twice, ten a second: the first time, and again."""
    first: list[float] = []
    again: list[float] = []

    async def ask() -> None:
        number = 0
        while True:
            begin = time.perf_counter()
            await asyncio.to_thread(_report, server, number // 2)
            (again if number % 2 else first).append(time.perf_counter() - begin)
            number += 1
            await asyncio.sleep(0.1)

    asking = asyncio.create_task(ask())
    await asyncio.wait_for(load.run(server), _LOAD_S)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    return first, again


def _report(server: Server, number: int) -> None:
    with urlopen(f"{server.address}/api/report?prompt={3000 + number}&v=2", timeout=30) as answer:  # noqa: S310 - ours
        answer.read()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two presses of a reader")
    given = parser.parse_args()
    load = Load(given.readers, given.every, MIXED)
    with replicas(given.workers) as (server, _):
        before = server.memory()
        first, again = asyncio.run(loaded(server, load))
    print(HEAD, load.row(before), sep="\n")
    for name, seconds in (("asked first", first), ("asked again", again)):
        p50, p95, p99 = (1e3 * one for one in percentiles(seconds))
        print(f"HTTP report beside it, {name}: {len(seconds)}, p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f} ms")
    print(f"A press takes {1e3 * load.cpu * load.seconds / max(1, len(load.whole)):.0f} ms of a core, reports included")


if __name__ == "__main__":
    main()
