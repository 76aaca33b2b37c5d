"""A server of the dashboard, a Chromium, and how tests open and read a page."""

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebError, expect, sync_playwright

from inferdash import links
from inferdash.quantities import typed, written
from inferdash.scenario import FIELDS, Choices, mark
from inferdash.studies.learn import compute_vs_memory

ROOT: Final = Path(__file__).parents[2]
PATH: Final = "/compute-vs-memory"
_START_S: Final = 60
CHROMIUM: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")

_PATIENCE_MS: Final = 30_000
_STILL: Final = 3
"""Times in a row that something is seen before it is taken to stay."""

expect.set_options(timeout=_PATIENCE_MS)


class Server:
    """The dashboard as a process of its own, which can end and start again on the same port."""

    def __init__(self, log: IO[bytes]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.host = f"localhost:{free.getsockname()[1]}"
        self.address = f"http://{self.host}"
        self.log = log

    def start(self) -> None:
        command = [sys.executable, "-m", "inferdash", "--port", self.host.partition(":")[2]]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=self.log, stderr=subprocess.STDOUT)
        end = time.monotonic() + _START_S
        while not self._healthy():
            assert self.process.poll() is None, self.logged()
            assert time.monotonic() < end, self.logged()
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def logged(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def _healthy(self) -> bool:
        with closing(HTTPConnection(self.host, timeout=5)) as connection:
            try:
                connection.request("GET", "/healthz")
                return connection.getresponse().read() == b"ok"
            except OSError:
                return False


@contextmanager
def serving() -> Iterator[Server]:
    """A server that no one has visited, in whose log there may be no traceback at its end."""
    with tempfile.TemporaryFile() as log:
        fresh = Server(log)
        try:
            fresh.start()
            yield fresh
            assert fresh.process.poll() is None, f"the server ended with {fresh.process.returncode}"
        finally:
            fresh.kill()
        assert "Traceback" not in fresh.logged(), fresh.logged()


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """The server that most tests share."""
    with serving() as shared:
        yield shared


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's Chromium, else Playwright's own. While it is open no other test could run an event loop."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM)


@pytest.fixture(scope="package")
def context(browser: Browser, server: Server) -> BrowserContext:
    """One browser profile, so that scripts are fetched and compiled once. A session of the dashboard is a tab's."""
    profile = browser.new_context(
        base_url=server.address, reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"]
    )
    profile.set_default_timeout(_PATIENCE_MS)
    return profile


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab at whose end no script may have failed; those opened beside it end with it."""
    failed: list[object] = []

    def note(error: WebError) -> None:
        failed.append(error.error)

    context.on("weberror", note)
    tab = context.new_page()
    tab.set_viewport_size({"width": 1400, "height": 1000})
    yield tab
    for each in context.pages:
        each.close()
    context.remove_listener("weberror", note)
    assert not failed


def settled(page: Page) -> None:
    """Waits until the script has run and its parts are drawn."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.get_by_role("heading", level=1).wait_for()
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    page.wait_for_function("document.getAnimations().every(moving => moving.playState !== 'running')")


def opened(page: Page, query: str) -> None:
    """Opens the page by the query of a link."""
    page.goto(f"{PATH}?{query}")
    settled(page)


def entered(page: Page, label: str, text: str) -> None:
    """Writes a text into a field and leaves it with Enter."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def said(query: str) -> str:
    """The page's sentence for the query of a link."""
    scenario = links.decode(query).scenario
    return compute_vs_memory.sentence(scenario, compute_vs_memory.study(scenario))


def unfold(page: Page, title: str) -> None:
    """Opens a section of the page, unless it is open; a page that is drawn anew meanwhile is waited for."""
    section = page.get_by_test_id("stExpander").filter(has=page.get_by_text(title, exact=True))
    still = 0
    while still < _STILL:
        settled(page)
        opened_ = section.locator("details[open]").count() == 1
        still = still + 1 if opened_ else 0
        if not opened_:
            section.locator("summary").click()
        page.wait_for_timeout(50)


def shows(page: Page, query: str) -> None:
    """Asserts that the address is that of a link, and that sentence and widgets tell its scenario."""
    expect(page).to_have_url(re.compile(f"{re.escape(f'{PATH}?{query}')}$"))
    settled(page)
    unfold(page, "Own hardware figures")
    unfold(page, "Speculative decoding")
    scenario = links.decode(query).scenario
    cache = mark("kv", Choices).names()[scenario.kv]
    expect(page.get_by_role("heading", level=1)).to_have_text(said(query))
    expect(page.get_by_role("radiogroup", name="KV cache precision").get_by_role("radio", name=cache)).to_be_checked()
    expect(page.get_by_role("slider", name="Acceptance")).to_have_value(str(scenario.acceptance))
    for name, value in (
        ("model", mark("model", Choices).names()[scenario.model]),
        ("memory", "" if scenario.memory is None else written(scenario.memory, "B")),
        ("batch", typed(scenario.batch)),
        ("title", scenario.title),
    ):
        expect(page.get_by_label(str(FIELDS[name].title), exact=True).and_(page.locator("input"))).to_have_value(value)


def working(page: Page) -> None:
    """Opens Working."""
    unfold(page, "Working")
    page.locator(".katex").first.wait_for()
    settled(page)


def shared(page: Page) -> str:
    """Opens the Share window and returns the link in it."""
    page.get_by_role("button", name="Share").click()
    page.get_by_role("dialog").get_by_role("img", name="QR code of the link").wait_for()
    settled(page)
    return page.get_by_role("dialog").get_by_test_id("stCode").first.inner_text().strip()
