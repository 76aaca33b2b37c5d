"""A rerun with two scenarios, and with a table of eight variants, over a rerun with one on the same page.

Three sessions at one server are pressed in turn, a burst on each, so that what the machine does meanwhile falls on
all. Each has a prompt of its own, so that none lives of what was kept for another.
"""

import asyncio
import statistics
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from bench.client import Session
from bench.fields import Pressed
from bench.server import Server, serving
from inferdash.studies import comparison

BURST: Final = 5
_WARM: Final = 2
_LIMIT_S: Final = 240.0
EIGHT: Final = {
    "prompt-cache": ("Requests", "2; 4; 8; 16; 32; 64; 128; 256"),
    "feature-cost": ("Turns per session", "1; 2; 3; 4; 5; 6; 7; 8"),
}
"""Page -> the field of which it shows eight variants, and their values; the others, of the answer's length."""
_ELSE: Final = ("Answer tokens", "50; 100; 150; 200; 250; 300; 350; 400")
_SECTION: Final = "Variants in one table"
HEAD: Final = (
    "| page | CPU of one, ms | of two | times | wait, times | CPU of eight variants | times | wait, times | presses |\n"
    "| --- |" + " ---: |" * 8
)


@dataclass
class _Presses:
    session: Session
    waits: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    async def burst(self, one: Pressed, server: Server) -> None:
        cpu_s = server.cpu_s()
        self.waits += [(await self.session.press(one.field)).whole_s for _ in range(BURST)]
        self.cpu_s += server.cpu_s() - cpu_s

    @property
    def cpu_ms(self) -> float:
        return 1e3 * self.cpu_s / len(self.waits)


def comparing(chosen: Sequence[Pressed], presses: int) -> Iterator[str]:
    """Rows of the table, each as soon as it is measured."""
    yield HEAD
    with serving() as server:
        for one in chosen:
            if one.page.replace("-", "_") not in comparison.PAGES:
                continue
            try:
                yield asyncio.run(asyncio.wait_for(_row(one, presses, server), _LIMIT_S))
            except (LookupError, TimeoutError, OSError) as error:
                yield f"| {one.page} | not measured: {error or type(error).__name__} |" + " |" * 7


async def _row(one: Pressed, presses: int, server: Server) -> str:
    async with AsyncExitStack() as sessions:
        alone, two, eight = [_Presses(await sessions.enter_async_context(Session(server.host))) for _ in range(3)]
        await alone.session.open(one.page, f"prompt=1025&{one.query}")
        await two.session.open(one.page, f"prompt=1026&b.prompt=2049&{one.query}")
        await eight.session.open(one.page, f"prompt=1027&{one.query}")
        name, values = EIGHT.get(one.page, _ELSE)
        await eight.session.unfold(_SECTION)
        await eight.session.fill("Field", name)
        await eight.session.fill("Values", values)
        for each in (alone, two, eight) * _WARM:
            await each.session.press(one.field)
        while len(alone.waits) < presses:
            for each in (alone, two, eight):
                await each.burst(one, server)
    cells = [one.page, f"{alone.cpu_ms:.0f}"]
    for each in (two, eight):
        wait = statistics.median(each.waits) / statistics.median(alone.waits)
        cells += [f"{each.cpu_ms:.0f}", f"{each.cpu_ms / alone.cpu_ms:.2f}", f"{wait:.2f}"]
    return f"| {' | '.join([*cells, str(len(alone.waits))])} |"


if __name__ == "__main__":
    from bench.fields import PRESSED

    for line in comparing([*PRESSED.values()], 40):
        print(line, flush=True)
