"""What `make bench` prints: ratios, each of two things measured in this one run on this one machine.

Times of a machine say little about the next one, so none is kept; a ratio that grows is a page or a formula that
got slower.
"""

import io
import json
import lzma
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import timeit
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from heapq import heappop, heappush
from pathlib import Path
from typing import Final

import numpy as np
from playwright.sync_api import Page, sync_playwright

from bench.planning import planning
from inferdash.facts import library
from inferdash.facts.prices import Rates, entered
from inferdash.formula import recording
from inferdash.physics import roofline
from inferdash.physics.passes import decode
from inferdash.pricing.replay import Rules, replay
from inferdash.pricing.traces import Trace
from inferdash.scenario import BASE
from inferdash.serving.pass_times import pass_times
from inferdash.serving.requests import poisson, requests
from inferdash.serving.scheduling import Scheduling, room_pages
from inferdash.serving.simulator import simulate
from inferdash.serving.summary import ceiling
from inferdash.studies.report import STUDIES
from tests.serving.one_by_one import one_by_one

MOONCAKE: Final = "presets/traces/mooncake_conversation_first1200s.jsonl.xz"
ROOT: Final = Path(__file__).parent.parent
PRESSES: Final = 80
PAGES: Final = tuple(name.replace("_", "-") for name in STUDIES)
FIELDS: Final = {
    "prompt-cache": "Requests",
    "serving": "Load, requests per second",
    "plan": "Load, requests per second",
}
"""Page -> the number field that is pressed, where the batch changes no word on it."""
QUERIES: Final = {"experts": "model=mixtral-8x7b&v=1"}
"""Page -> its link, where the baseline shows little."""


def main() -> None:
    """Measures and prints every ratio."""
    for line in (*formula_calls(), *arrays(), *traffic(), *simulation(), *planning(), *pages()):
        print(line)


def formula_calls() -> Iterator[str]:
    """One call of a formula, plain, as a formula, and while recording."""
    inputs = {"bytes_read": 1.5e10, "gpus": 1, "bandwidth": 3.35e12}

    def best(call: Callable[[], object]) -> float:
        return min(timeit.repeat(call, number=20_000, repeat=9))

    plain = best(lambda: roofline.load_s.function(**inputs))
    formula = best(lambda: roofline.load_s(**inputs))
    with recording() as steps:

        def call() -> None:
            roofline.load_s(**inputs)
            steps.clear()

        recorded = best(call)
    yield f"formula call over the bare function          {formula / plain:6.2f} times"
    yield f"formula call while recording over not        {recorded / formula:6.2f} times"


def arrays() -> Iterator[str]:
    """65,536 decode passes over batch and context, through the formulas and written by hand."""
    machine = BASE.deployment
    batches = np.geomspace(1, 4096, 256)[:, None]
    contexts = np.geomspace(1, 131_072, 256)[None, :]

    def by_hand() -> np.ndarray:
        flops = batches * (2 * 7_504_924_672 + 4 * 32 * 32 * 128 * (contexts + 1))
        return np.maximum(flops / 989.4e12, (15_009_849_344 + batches * (131_072 * contexts)) / 3.35e12)

    def by_formulas() -> np.ndarray:
        return np.asarray(decode(machine, requests=batches, past=contexts).pass_s)

    np.testing.assert_allclose(by_formulas(), by_hand(), rtol=1e-12)
    pairs = [(timeit.timeit(by_formulas, number=20), timeit.timeit(by_hand, number=20)) for _ in range(15)]
    ratio = statistics.median(formulas / hand for formulas, hand in pairs)
    yield f"65,536 passes, formulas over numpy by hand   {ratio:6.2f} times (want below 3)"


def traffic() -> Iterator[str]:
    """20 minutes of real requests through the rules of a cache, over a loop that only parses their lines."""
    content = lzma.decompress((ROOT / MOONCAKE).read_bytes())
    requests = content.count(b"\n")
    rules = Rules(minimum_tokens=512, increment_tokens=512, lifetime_s=300, renewed=True)
    rates = entered(Rates(input=Decimal(2), output=Decimal(10), read=Decimal("0.1"), write=Decimal("2.5")))

    def replayed() -> None:
        assert replay(Trace(io.BytesIO(content)), rules, rates).requests == requests

    def parsed() -> None:
        for line in io.BytesIO(content):
            json.loads(line)

    pairs = [(timeit.timeit(replayed, number=1), timeit.timeit(parsed, number=1)) for _ in range(15)]
    ratio = statistics.median(parse / whole for whole, parse in pairs)
    yield f"requests/s, replayed over only parsed        {ratio:6.2f} times"


def simulation() -> Iterator[str]:
    """10,000 requests of 1,024 tokens in and 256 out on Llama 3 8B and one H100, at 65% of what it can serve.

    Over as many pushes to a heap and pops from it, and one by one over 500 of them.
    """
    places, how = 256, Scheduling(places=256, pages=room_pages(BASE.deployment, tokens=1280, page=16))
    times = pass_times(BASE.deployment, library.engines()["vllm"], places=places, tokens=1280, pass_tokens=8192)
    assert times is not None
    rate = 0.65 * ceiling(times, places=places, prompt=1024, answer=256)
    many, few = (requests(poisson(n, per_s=rate, seed=0), prompt=1024, answer=256) for n in (10_000, 500))
    numbers = np.random.default_rng(0).random(10_000).tolist()

    def heaped() -> None:
        heap: list[float] = []
        for number in numbers:
            heappush(heap, number)
        for _ in numbers:
            heappop(heap)

    def best(call: Callable[[], object], repeat: int = 15) -> float:
        return min(timeit.repeat(call, number=1, repeat=repeat))

    quick_s = best(lambda: simulate(many, times, how))
    yield f"10,000 requests simulated over a heap        {quick_s / best(heaped):6.2f} times ({1e4 / quick_s:,.0f}/s)"
    ratio = best(lambda: one_by_one(few, times, how), 3) / best(lambda: simulate(few, times, how))
    yield f"pass by pass over from event to event        {ratio:6.2f} times"


def pages() -> Iterator[str]:
    """Each page over an empty one: CPU of the server for a rerun, and the time from a key press to new text."""
    bare = [sys.executable, "-m", "streamlit", "run", str(ROOT / "bench" / "empty.py")]
    empty = measured(bare, "--server.port", "", "Batch")
    for name in PAGES:
        path, field = f"{name}?{QUERIES.get(name, 'v=1')}", FIELDS.get(name, "Batch")
        page = measured([sys.executable, "-m", "inferdash"], "--port", path, field)
        for what, a, b in zip(("CPU of a rerun", "key to text, p50", "key to text, p95"), page, empty, strict=True):
            yield f"{name}: {what} over an empty page".ljust(58) + f"{a / b:6.2f} times ({a:.0f} ms over {b:.0f} ms)"


def measured(command: list[str], port_option: str, path: str, label: str) -> tuple[float, float, float]:
    """Milliseconds of server CPU a rerun, and of a key press to new text at the median and the 95th percentile."""
    with serving(command, port_option) as (address, process), browser() as page:
        page.goto(f"{address}/{path}")
        field = page.get_by_label(label, exact=True)
        field.wait_for()
        field.focus()
        press(page)
        press(page)
        before = cpu_s(process)
        waits = [press(page) for _ in range(PRESSES)]
        cpu = (cpu_s(process) - before) / PRESSES
    return 1e3 * cpu, 1e3 * statistics.median(waits), 1e3 * statistics.quantiles(waits, n=20)[-1]


def press(page: Page) -> float:
    """Seconds from a key press in the focused field until a word of the page has changed, as the browser sees it."""
    return float(
        page.evaluate(
            """() => new Promise((done) => {
                const words = () => document.querySelector("[data-testid=stMain]").textContent;
                const old = words(), start = performance.now();
                const watch = new MutationObserver(() => {
                    if (words() === old) return;
                    watch.disconnect();
                    done((performance.now() - start) / 1000);
                });
                watch.observe(document.body, { childList: true, subtree: true, characterData: true });
                document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
            })"""
        )
    )


def cpu_s(process: subprocess.Popen[bytes]) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(command: list[str], port_option: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server on a free port, until it answers, and then its end."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, port_option, str(port)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://localhost:{port}"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health")  # noqa: S310 - this machine
                break
            except OSError:
                time.sleep(0.1)
        yield address, process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def browser() -> Iterator[Page]:
    """A page in headless Chromium: the system's, else Playwright's own."""
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        yield chromium.new_page(viewport={"width": 1400, "height": 900})
        chromium.close()


if __name__ == "__main__":
    main()
