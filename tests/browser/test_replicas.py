"""Two replicas behind HAProxy, below a path and behind TLS, while a browser edits and one of them is killed."""

import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from inferdash.workers import free_ports, proxy

from .conftest import PATH, ROOT, entered, said, settled, shared, unfold

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (proxy() and shutil.which("openssl")), reason="`make proxy` provides HAProxy and OpenSSL"),
]

BASE: Final = "/inference"
_START_S: Final = 90
_ALIVE: Final = "[data-test-connection-state=CONNECTED]"
LOG: Final = b"timestamp,model,input_tokens,output_tokens\n" + b"2026-11-02,gpt-4o,1000000,100000\n" * 3


class Replicas:
    """The dashboard as `make run WORKERS=2` starts it, behind TLS with a certificate of its own and below a path."""

    def __init__(self, folder: Path) -> None:
        self.port, metrics, _ = free_ports(3)
        self.metrics = (metrics, metrics + 1)
        self.address = f"https://localhost:{self.port}{BASE}"
        self.log = folder / "log"
        self.certificate, pem = folder / "cert.pem", folder / "dashboard.pem"
        made = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ]
        subprocess.run([*made, "-keyout", pem, "-out", self.certificate], check=True, capture_output=True)
        pem.write_bytes(pem.read_bytes() + self.certificate.read_bytes())
        given = {"BIND": f"127.0.0.1:{self.port} ssl crt {pem}", "BASE": BASE, "INFERDASH_DRAIN_S": "2"}
        command = [sys.executable, "-m", "inferdash", "--workers", "2", "--host", "localhost"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **given, "INFERDASH_METRICS": str(metrics)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def workers(self) -> list[int]:
        """Process ids of the replicas, in the order in which they were started."""
        children = (
            Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii").split()
        )
        lines = {int(one): Path(f"/proc/{one}/cmdline").read_bytes() for one in children}
        return [one for one, line in lines.items() if b"inferdash\0--port" in line]

    def sessions(self) -> list[int]:
        """How many sessions each replica has, as it tells Prometheus."""
        found = []
        for port in self.metrics:
            with urlopen(f"http://localhost:{port}/metrics", timeout=5) as answer:
                found.append(int(float(re.findall(rb"^inferdash_sessions (\S+)", answer.read(), re.MULTILINE)[0])))
        return found

    def status(self, path: str, cookie: str = "") -> tuple[int, str]:
        """Status and text at a path below the base, as a client has it that may have been sent to a replica before."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        with closing(HTTPSConnection(f"localhost:{self.port}", timeout=20, context=context)) as connection:
            try:
                connection.request("GET", f"{BASE}{path}", headers={"Cookie": cookie} if cookie else {})
                answer = connection.getresponse()
                return answer.status, answer.read().decode(errors="replace")
            except ConnectionError as error:
                return 0, str(error)

    def wait(self) -> None:
        """Until both replicas take sessions."""
        end = time.monotonic() + _START_S
        while not self._both():
            assert time.monotonic() < end, self.log.read_text(encoding="utf-8")
            time.sleep(0.1)

    def _both(self) -> bool:
        try:
            return len(self.sessions()) == 2 and self.status("/readyz")[1] == "ready"
        except OSError:
            return False


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    both = Replicas(tmp_path_factory.mktemp("replicas"))
    try:
        both.wait()
        yield both
    finally:
        both.process.terminate()
        both.process.wait()
    assert "Traceback" not in both.log.read_text(encoding="utf-8")


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Page]:
    with browser.new_context(ignore_https_errors=True, reduced_motion="reduce") as profile:
        yield profile.new_page()


def test_a_browser_loses_nothing_when_its_replica_is_killed(visitor: Page, replicas: Replicas) -> None:
    visitor.goto(f"{replicas.address}/?batch=4&v=1")
    expect(visitor).to_have_url(re.compile(f"{BASE}/overview"))
    visitor.goto(f"{replicas.address}{PATH}?batch=4&v=1")
    entered(visitor, "Batch", "5")
    _shows(visitor, replicas, "batch=5&v=1")
    assert shared(visitor) == f"{replicas.address}{PATH}?batch=5&v=1"
    picture = visitor.get_by_role("img", name="QR code of the link")
    assert picture.evaluate("one => one.naturalWidth") > 100
    media = str(picture.get_attribute("src")).partition(BASE)[2]
    # A replica that the proxy did not choose for this browser has none of its files, and says what is needed.
    assert replicas.status(media, _cookie(visitor))[0] == 200
    others = {replicas.status(media)[1] for _ in range(4)}
    assert any("without sticky sessions" in one for one in others)
    visitor.keyboard.press("Escape")
    told = replicas.status(f"{PATH}?batch=5&v=1")[1]
    assert f"{replicas.address}/card/compute-vs-memory.png?batch=5" in told  # the preview of the link
    unfold(visitor, "Both passes in numbers")
    with visitor.expect_download() as download:
        visitor.get_by_role("button", name="Download as CSV").click()
    assert "decode" in download.value.path().read_text(encoding="utf-8").lower()

    visitor.goto(f"{replicas.address}/traffic?v=1")
    visitor.locator("input[type=file]").set_input_files({"name": "log.csv", "mimeType": "text/csv", "buffer": LOG})
    expect(visitor.get_by_role("heading", level=1)).to_contain_text("3", timeout=30_000)
    visitor.goto(f"{replicas.address}{PATH}?batch=5&v=1")
    settled(visitor)
    (mine,) = (place for place, count in enumerate(replicas.sessions()) if count)
    os.kill(replicas.workers()[mine], signal.SIGKILL)
    entered(visitor, "Batch", "6")
    visitor.locator(_ALIVE).wait_for()
    _shows(visitor, replicas, "batch=6&v=1")


def test_a_rolling_restart_shows_no_error(visitor: Page, replicas: Replicas) -> None:
    replicas.wait()
    before, statuses, batch = {*replicas.workers()}, set(), 5
    visitor.goto(f"{replicas.address}{PATH}?batch=5&v=1")
    settled(visitor)
    replicas.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + _START_S
    while before & {*replicas.workers()}:
        assert time.monotonic() < end
        statuses |= {replicas.status(f"{PATH}?v=1")[0], replicas.status(f"{PATH}?v=1", _cookie(visitor))[0]}
        visitor.locator(_ALIVE).wait_for()
        batch += 1
        entered(visitor, "Batch", f"{batch}")
        visitor.wait_for_timeout(300)
    assert batch > 6
    _shows(visitor, replicas, f"batch={batch}&v=1")
    assert statuses == {200}


def _cookie(page: Page) -> str:
    return "; ".join(f"{one.get('name')}={one.get('value')}" for one in page.context.cookies())


def _shows(page: Page, replicas: Replicas, query: str) -> None:
    expect(page).to_have_url(f"{replicas.address}{PATH}?{query}")
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(said(query))
