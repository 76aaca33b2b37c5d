"""A server of the dashboard, a Chromium, and how tests open and read a page."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from inferdash import links
from inferdash.quantities import written
from inferdash.scenario import FIELDS, Choices, mark
from inferdash.studies import compute_vs_memory

ROOT: Final = Path(__file__).parents[2]
PATH: Final = "/compute-vs-memory"
_START_S: Final = 60
_CHROMIUM: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")

expect.set_options(timeout=15_000)


class Server:
    """The dashboard as a process of its own, which can end and start again on the same port."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.host = f"localhost:{self.port}"
        self.address = f"http://{self.host}"
        self.log = tempfile.TemporaryFile()

    def start(self) -> None:
        command = [sys.executable, "-m", "inferdash", "--port", str(self.port)]
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
        connection = HTTPConnection("localhost", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().read() == b"ok"
        except OSError:
            return False
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.kill()
        with self.log:
            assert "Traceback" not in self.logged(), self.logged()


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """The server that most tests share."""
    with Server() as shared:
        yield shared


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's Chromium, else Playwright's own. While it is open no other test could run an event loop."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_CHROMIUM)


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A visitor of the shared server who was never there."""
    with visit(browser, server) as fresh:
        yield fresh


@contextmanager
def visit(
    browser: Browser,
    server: Server,
    *,
    width: int = 1400,
    height: int = 1000,
    scheme: Literal["light", "dark"] = "light",
) -> Iterator[Page]:
    """An empty page with a storage of its own, at whose close no script may have failed."""
    with browser.new_context(
        base_url=server.address,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    ) as context:
        page = context.new_page()
        failed: list[str] = []
        page.on("pageerror", lambda error: failed.append(str(error)))
        yield page
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


def shows(page: Page, query: str) -> None:
    """Asserts that the address is that of a link, and that sentence and widgets tell its scenario."""
    expect(page).to_have_url(f"{PATH}?{query}")
    settled(page)
    scenario = links.decode(query).scenario
    weights = mark("weights", Choices).names()[scenario.weights]
    expect(page.get_by_role("heading", level=1)).to_have_text(said(query))
    expect(page.get_by_role("radiogroup", name="Parameters in").get_by_role("radio", name=weights)).to_be_checked()
    for name, value in (
        ("model", mark("model", Choices).names()[scenario.model]),
        ("memory", "" if scenario.memory is None else written(scenario.memory, "B")),
        ("batch", str(scenario.batch)),
        ("title", scenario.title),
    ):
        expect(page.get_by_label(str(FIELDS[name].title), exact=True).and_(page.locator("input"))).to_have_value(value)


def working(page: Page) -> None:
    """Opens Working."""
    page.get_by_text("Working", exact=True).click()
    page.locator(".katex").first.wait_for()
    settled(page)


def shared(page: Page) -> str:
    """Opens the Share window and returns the link in it."""
    page.get_by_role("button", name="Share", exact=False).click()
    page.get_by_role("dialog").get_by_role("img", name="QR code of the link").wait_for()
    settled(page)
    return page.get_by_role("dialog").get_by_test_id("stCode").first.inner_text().strip()
