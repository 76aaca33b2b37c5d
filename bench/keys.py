"""A key press on each page over one on an empty page: the server's CPU, the wait for a new word, the browser's CPU.

Both pages come from the same server class, socket and settings, and are pressed in turn, a burst on each, so that
what the machine does meanwhile falls on both. A press waits until the run before it is over.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Error, Page

from bench.browser import Browser, browser, focus, kept, press, ready
from bench.fields import Pressed
from bench.limits import LIMIT_S
from bench.server import EMPTY, Server, serving

BURST: Final = 10
_WARM: Final = 2
HEAD: Final = (
    "| page | CPU of the server, ms | times | key to text p50, ms | times | p95, ms | times | charts kept "
    "| CPU of the browser, ms | times | presses |\n| --- |" + " ---: |" * 10
)


@dataclass
class Presses:
    """What key presses on one page took."""

    waits: list[float] = field(default_factory=list)
    server_s: float = 0
    browser_s: float = 0

    def burst(self, tab: Page, server: Server, chromium: Browser) -> None:
        """Presses some times, each after the run before it."""
        tab.bring_to_front()
        server_s, browser_s = server.cpu_s(), chromium.renderer_s()
        for _ in range(BURST):
            self.waits.append(press(tab))
            ready(tab)
        self.server_s += server.cpu_s() - server_s
        self.browser_s += chromium.renderer_s() - browser_s

    def figures(self) -> tuple[float, float, float, float]:
        """Milliseconds a press: CPU of the server, the median wait, the 95th percentile of waits, the browser's CPU."""
        count = len(self.waits)
        p95 = statistics.quantiles(self.waits, n=20, method="inclusive")[-1]
        return (
            1e3 * self.server_s / count,
            1e3 * statistics.median(self.waits),
            1e3 * p95,
            1e3 * self.browser_s / count,
        )


def keys(chosen: Sequence[Pressed], presses: int) -> Iterator[str]:
    """Rows of the table, each as soon as it is measured."""
    yield HEAD
    with serving() as server, serving(EMPTY) as bare, browser() as chromium:
        tab, empty = chromium.tabs
        _begin(empty, bare, Pressed(""))
        for one in chosen:
            try:
                yield _row(one, presses, server, bare, chromium)
            except (Error, TimeoutError) as error:
                yield f"| {one.page} | not measured: {str(error).splitlines()[0]} |" + " |" * 9
                tab.goto("about:blank")


def _row(one: Pressed, presses: int, server: Server, bare: Server, chromium: Browser) -> str:
    tab, empty = chromium.tabs
    tab.bring_to_front()
    _begin(tab, server, one)
    same, drawn = kept(tab)
    here, there = Presses(), Presses()
    end = time.monotonic() + LIMIT_S
    while len(here.waits) < presses and time.monotonic() < end:
        there.burst(empty, bare, chromium)
        here.burst(tab, server, chromium)
    (cpu, cpu0), (p50, p50_0), (p95, p95_0), (drawing, drawing0) = zip(here.figures(), there.figures(), strict=True)
    cells = (
        one.page,
        f"{cpu:.0f} over {cpu0:.0f}",
        f"{cpu / cpu0:.1f}",
        f"{p50:.0f} over {p50_0:.0f}",
        f"{p50 / p50_0:.2f}",
        f"{p95:.0f} over {p95_0:.0f}",
        f"{p95 / p95_0:.2f}",
        f"{same} of {drawn}",
        f"{drawing:.0f} over {drawing0:.0f}",
        f"{drawing / drawing0:.1f}" if drawing0 else "",
        f"{len(here.waits)}",
    )
    return f"| {' | '.join(cells)} |"


def _begin(tab: Page, server: Server, one: Pressed) -> None:
    """Opens the page, clicks what comes before, and warms it up."""
    tab.goto(f"{server.address}/{one.page}?{one.query}")
    ready(tab)
    if one.before:
        heading: Callable[[], str] = tab.get_by_role("heading", level=1).inner_text
        question = heading()
        tab.get_by_role("button", name=one.before).click()
        tab.wait_for_function("(old) => document.querySelector('h1').textContent !== old", arg=question)
        ready(tab)
    focus(tab, one.field)
    for _ in range(_WARM):
        press(tab)
        ready(tab)
