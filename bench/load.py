"""Many readers at one server, without browsers: what each waits for, and what the server takes for it.

A reader opens a page and presses a key in its field again and again. Latency is from the key to the first word that
changed, and to the end of the run; both as a client on the same two cores sees them, so it works beside the server.
"""

import asyncio
import contextlib
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.client import Session
from bench.fields import PRESSED, Pressed
from bench.server import Server, serving

MIXED: Final = tuple(one for one in PRESSED.values() if not one.before)
_S: Final = 20.0
"""Seconds that a load lasts."""
_LATEST_S: Final = 240.0


@dataclass
class Load:
    """So many readers, and what came of it."""

    readers: int
    every_s: float
    pages: Sequence[Pressed]
    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    failed: int = 0
    seconds: float = 0
    cpu: float = 0
    """Of one core."""
    memory: int = 0
    """Bytes of the server at the end."""

    async def run(self, server: Server) -> None:
        """Opens all sessions, then presses for a while."""
        few, together = asyncio.Semaphore(8), asyncio.Barrier(self.readers + 1)
        tasks = [asyncio.create_task(self._reader(server, place, few, together)) for place in range(self.readers)]
        await together.wait()
        watch = asyncio.create_task(self._health(server))
        cpu_s, begin = server.cpu_s(), time.monotonic()
        await asyncio.gather(*tasks)
        self.seconds = time.monotonic() - begin
        self.cpu = (server.cpu_s() - cpu_s) / self.seconds
        self.memory = server.memory()
        watch.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watch

    async def _reader(self, server: Server, place: int, few: asyncio.Semaphore, together: asyncio.Barrier) -> None:
        one = self.pages[place % len(self.pages)]
        chance = random.Random(place)  # noqa: S311 - when a reader presses is no secret
        async with Session(server.host) as session:
            async with few:
                # Each has a scenario of its own, so that nobody lives of what was kept for another.
                await session.open(one.page, f"prompt={1025 + place}&{one.query}")
            await together.wait()
            moment = time.monotonic() + chance.random() * self.every_s
            end = time.monotonic() + _S
            while moment < end:
                await asyncio.sleep(max(0.0, moment - time.monotonic()))
                try:
                    answer = await session.press(one.field)
                except (LookupError, TimeoutError, OSError):
                    self.failed += 1
                    return
                self.first.append(answer.first_s)
                self.whole.append(answer.whole_s)
                moment = max(moment + self.every_s, time.monotonic())

    async def _health(self, server: Server) -> None:
        while True:
            self.health.append(await asyncio.to_thread(server.health_s))
            await asyncio.sleep(0.5)

    def row(self, before: int) -> str:
        """A row of the table; `before` is the server's memory without sessions, in bytes."""
        where = self.pages[0].page if len(self.pages) == 1 else "mixed pages"
        cells = (
            f"{self.readers} on {where}, every {self.every_s:g} s",
            f"{len(self.whole) / self.seconds:.1f}",
            *(f"{1e3 * one:.0f}" for one in (*percentiles(self.first), *percentiles(self.whole))),
            f"{100 * self.cpu:.0f}%",
            f"{(self.memory - before) / self.readers / 1e6:.2f}",
            f"{1e3 * statistics.median(self.health):.0f} / {1e3 * max(self.health):.0f}",
            f"{self.failed}" if self.failed else "",
        )
        return f"| {' | '.join(cells)} |"


HEAD: Final = (
    "| readers | presses/s | text p50 ms | p95 | p99 | end p50 ms | p95 | p99 | CPU of a core | MB a session "
    "| /healthz p50 / max ms | failed |\n| --- |" + " ---: |" * 11
)


def percentiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The median, the 95th and the 99th percentile; endless where there is nothing."""
    if len(values) < 2:
        return (float("inf"),) * 3
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[94], cuts[98]


def loads(chosen: Sequence[Pressed] = MIXED) -> Iterator[str]:
    """Rows of the table: 20, 50 and 100 readers on mixed pages, then the loads that are to be carried."""
    yield HEAD
    mixed = [one for one in chosen if not one.before]
    asked = [Load(readers, 2.0, mixed) for readers in (20, 50, 100) if mixed]
    asked += [Load(20, 1.0, [one]) for one in chosen if one.page == "compute-vs-memory"]
    asked += [Load(10, 1.0, [one]) for one in chosen if one.page in {"serving", "plan"}]
    for load in asked:
        with serving() as server:
            try:
                asyncio.run(asyncio.wait_for(_warm(server, load.pages), _LATEST_S))
                before = server.memory()
                asyncio.run(asyncio.wait_for(load.run(server), _LATEST_S))
            except TimeoutError:
                yield f"| {load.readers} every {load.every_s:g} s | not measured: not done in {_LATEST_S:.0f} s |"
                continue
        yield load.row(before)


async def _warm(server: Server, pages: Sequence[Pressed]) -> None:
    """Runs each page once, as the first visit brings what all later ones use."""
    for one in pages:
        async with Session(server.host) as session:
            await session.open(one.page, one.query)


if __name__ == "__main__":
    for line in loads():
        print(line, flush=True)
