"""Every ordered pair of pages by mouse in a browser: ten scenarios, in every way there is, also on a slow machine.

A run takes hours; `--count` is the number of scenarios, `--seed` the first one's.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, Protocol

from playwright.sync_api import Page, TimeoutError, sync_playwright  # noqa: A004 - it is what a click raises

from bench.sweep import swept
from inferdash.studies.report import PAGES
from tests.browser.conftest import CHROMIUM, serving
from tests.browser.walking import Walk, back_and_forth, circuit, from_links, in_one_session
from tests.scenarios import valid


class _Way(Protocol):
    def __call__(self, walk: Walk, pairs: Sequence[tuple[str, str]]) -> None: ...


WAYS: Final[dict[str, _Way]] = {
    "from a link, with a pause": partial(from_links, pause=True),
    "from a link, at once": partial(from_links, pause=False),
    "in one session, with a pause": partial(in_one_session, pause=True),
    "in one session, at once": partial(in_one_session, pause=False),
    "Back and Forward, with a pause": partial(back_and_forth, pause=True),
    "Back and Forward, at once": partial(back_and_forth, pause=False),
}
SLOWER: Final = (1, 6)
"""Times as slow as the machine is."""


def main() -> int:
    """Runs the walks and returns the exit status."""
    return swept("pages after pages, in a browser", 10, found)


def found(count: int, seed: int) -> Iterator[str]:
    """What was wrong, as it is found."""
    with serving() as server, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM)
        for number in range(seed, seed + count):
            for slower in SLOWER:
                for name, way in WAYS.items():
                    with chromium.new_context(base_url=server.address, reduced_motion="reduce") as context:
                        context.on("page", partial(_slowed, slower))
                        yield ""
                        yield from _walked(context.new_page(), number, f"seed {number}, {name}, x{slower}", way)


def _walked(tab: Page, seed: int, said: str, way: _Way) -> list[str]:
    a = valid(seed + 1, usual=True) if seed % 3 == 2 else None
    walk = Walk(tab, valid(seed, usual=True), unfolded="in one session" in said, beside=a)
    try:
        walk.begin()
        way(walk, circuit(tuple(PAGES)))
    except TimeoutError as error:  # of the walk itself, on a machine that is too slow
        walk.found.append(f"it ended: {error}")
    print(f"  {said}: {len(walk.found)}", flush=True)
    return [f"{said}: {one}" for one in walk.found]


def _slowed(rate: int, tab: Page) -> None:
    tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": rate})


if __name__ == "__main__":
    sys.exit(main())
