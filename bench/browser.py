"""A Chromium whose key presses, drawings and processor time can be measured."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import CDPSession, Page, sync_playwright

PATIENCE_MS: Final = 20_000
_OPTIONS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
_PRESS: Final = """(patience) => new Promise((done) => {
  const words = () => document.querySelector("[data-testid=stMain]").textContent;
  const old = words(), start = performance.now();
  const end = (value) => { watch.disconnect(); clearTimeout(late); done(value); };
  const watch = new MutationObserver(() => { if (words() !== old) end((performance.now() - start) / 1000); });
  const late = setTimeout(() => end(null), patience);
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
})"""
_MARK: Final = """() => {
  const drawn = [...document.querySelectorAll("svg.marks")];
  for (const one of drawn) one.dataset.before = "yes";
  return drawn.length;
}"""
_KEPT: Final = """() => document.querySelectorAll("svg.marks[data-before]").length"""


@dataclass(frozen=True)
class Browser:
    """One that runs, with the connection over which it tells of its processes."""

    tabs: tuple[Page, Page]
    processes: CDPSession

    def renderer_s(self) -> float:
        """Seconds of CPU of all processes that run pages."""
        found = self.processes.send("SystemInfo.getProcessInfo")["processInfo"]
        return sum(float(one["cpuTime"]) for one in found if one["type"] == "renderer")


@contextmanager
def browser() -> Iterator[Browser]:
    """Headless Chromium with two tabs: the system's, else Playwright's own."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_OPTIONS)
        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        yield Browser((context.new_page(), context.new_page()), chromium.new_browser_cdp_session())
        chromium.close()


def ready(tab: Page) -> None:
    """Waits until the script has run and its parts are there."""
    tab.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    tab.wait_for_function("document.querySelector('h1') && !document.querySelector('[data-testid=stSkeleton]')")


def focus(tab: Page, field: str) -> None:
    """Puts the cursor into a number field, opening the part of the page that holds it if need be."""
    number = tab.get_by_role("spinbutton", name=field, exact=True)
    number.wait_for(state="attached")
    number.focus()


def press(tab: Page) -> float:
    """Seconds from a key press in the focused field until a word of the page has changed, as the browser sees it.

    Raises:
        TimeoutError: where none does.
    """
    waited = tab.evaluate(_PRESS, PATIENCE_MS)
    if waited is None:
        raise TimeoutError(f"no word changed within {PATIENCE_MS / 1000:.0f} s of a key press")
    return float(waited)


def kept(tab: Page) -> tuple[int, int]:
    """How many drawings are the same node after a key press, and how many there were before it."""
    drawn = int(tab.evaluate(_MARK))
    press(tab)
    ready(tab)
    tab.wait_for_timeout(500)
    return int(tab.evaluate(_KEPT)), drawn
