"""Previews of generated links: right tags for valid ones, the same shape of HTML for hostile ones, and what they take.

python -m bench.sweeps.previews --count 1000 --seed 7: so many valid links and a hundred times as many hostile ones; a
tenth of the valid ones also as pictures. Times and memory are printed at the end.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Final

from httpx2 import Response
from starlette.applications import Starlette
from starlette.testclient import TestClient

from bench.sweep import swept
from bench.sweeps import links as sweep_links
from inferdash import cards, pairs
from inferdash.pairs import Pair
from inferdash.studies.report import PAGES
from inferdash.ui.hosting.server import ROUTES
from tests.scenarios import valid

_HOSTILE: Final = 100
"""Hostile links for each valid one."""
_DRAWN: Final = 10
"""One in so many valid links is drawn."""
_LONGEST: Final = 6000
_MEASURED: Final = 50
"""Links between two looks at the memory."""


class _Shape(HTMLParser):
    """The tags of a document with the names of their attributes, and the texts of its description."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.said: dict[str, str] = {}
        self.feed(document.partition("<style>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))
        found = dict(attrs)
        self.said[found.get("name") or found.get("property") or ""] = found.get("content") or ""


def _memory() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


@dataclass
class _Times:
    """What answers of one kind took: seconds on the clock, and of CPU, to which other work adds little."""

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def of(self, ask: Callable[[], Response]) -> Response:
        """Asks, and keeps what it took."""
        clock, cpu = time.perf_counter(), time.process_time()
        answer = ask()
        self.clock.append(time.perf_counter() - clock)
        self.cpu.append(time.process_time() - cpu)
        return answer

    def said(self) -> str:
        """Median, 95th percentile and longest, in milliseconds."""
        return "; ".join(
            f"{name} p50 {1e3 * statistics.median(one):.0f}, p95 {1e3 * _p95(one):.0f}, longest {1e3 * max(one):.0f} ms"
            for name, one in (("clock", self.clock), ("CPU", self.cpu))
        )


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20, method="inclusive")[-1]


@dataclass
class _Seen:
    """What a sweep has seen."""

    tags: _Times = field(default_factory=_Times)
    pictures: _Times = field(default_factory=_Times)
    memory: list[int] = field(default_factory=list)
    alone: int = 0
    """Links whose answer took longer than a preview waits, so that the page said its name alone."""


def findings(count: int, seed: int) -> Iterator[str]:
    """A sentence for each link whose preview is wrong."""
    random = Random(seed)  # noqa: S311 - the same seed gives the same cases
    seen = _Seen()
    with TestClient(Starlette(routes=ROUTES)) as client:
        shape = _Shape(client.get("/overview?v=2").text).tags
        client.get("/card/overview.png?v=2")
        for place in range(count):
            yield from _valid(client, seed + place, seen, drawn=place % _DRAWN == 0)
            for _ in range(_HOSTILE):
                text = sweep_links.query(random).partition("?")[2].encode("ascii", "ignore").decode()
                text = "".join(c for c in text if c.isprintable() and c != "#")[:_LONGEST]
                if _Shape(client.get(f"/kv-cache?{text}").text).tags != shape:
                    yield f"other tags for {text!r}"
            if place % _MEASURED == 0:
                seen.memory.append(_memory())
                print(f"  {place:,} links, {seen.memory[-1] / 1e6:.0f} MB", flush=True)
            yield ""
    print(f"  tags of {count:,}: {seen.tags.said()}; {seen.alone} took too long and said the page's name alone")
    print(f"  pictures of {len(seen.pictures.cpu):,}: {seen.pictures.said()}")


def _valid(client: TestClient, seed: int, seen: _Seen, *, drawn: bool) -> Iterator[str]:
    a = valid(seed, usual=seed % 2 == 0)
    pair = Pair(a, valid(seed + 1, usual=True)) if seed % 3 == 0 else Pair(a)
    page = Random(seed).choice([*PAGES])  # noqa: S311 - as above
    address, link = page.replace("_", "-"), pairs.encode(pair)
    said = _Shape(seen.tags.of(lambda: client.get(f"/{address}?{link}")).text).said
    found, expected = (said.get("description"), said.get("og:title")), cards.words(page, pair)
    if found == (cards.alone(page).sentence, cards.alone(page).title):
        seen.alone += 1
    elif found != (expected.sentence, expected.title):
        yield f"{address}?{link} says {said.get('description')!r}"
    if drawn:
        answer = seen.pictures.of(lambda: client.get(f"/card/{address}.png?{link}"))
        if answer.status_code != 200 and len(link) <= _LONGEST:
            yield f"no picture of {address}?{link}: {answer.status_code}"


def main() -> int:
    """Runs the sweep; 1 where something was found."""
    return swept("Previews", 1000, findings)


if __name__ == "__main__":
    sys.exit(main())
