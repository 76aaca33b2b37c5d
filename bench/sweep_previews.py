"""Previews of generated links: right tags for valid ones, the same shape of HTML for hostile ones, and what they take.

python -m bench.sweep_previews --count 1000 --seed 7: so many valid links and a hundred times as many hostile ones; a
tenth of the valid ones also as pictures. Times and memory are printed at the end.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Final

from starlette.applications import Starlette
from starlette.testclient import TestClient

from bench import sweep_links
from bench.sweep import swept
from inferdash import cards, pairs
from inferdash.pairs import Pair
from inferdash.studies.report import PAGES
from inferdash.ui.server import ROUTES
from tests.scenarios import valid

_HOSTILE: Final = 100
"""Hostile links for each valid one."""
_DRAWN: Final = 10
"""One in so many valid links is drawn."""
_LONGEST: Final = 6000


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


def findings(count: int, seed: int) -> Iterator[str]:
    """A sentence for each link whose preview is wrong."""
    random = Random(seed)  # noqa: S311 - the same seed gives the same cases
    words: list[float] = []
    drawn: list[float] = []
    memory: list[int] = []
    with TestClient(Starlette(routes=ROUTES)) as client:
        shape = _Shape(client.get("/overview?v=2").text).tags
        client.get("/card/overview.png?v=2")
        for place in range(count):
            yield from _valid(client, seed + place, words, drawn if place % _DRAWN == 0 else None)
            for _ in range(_HOSTILE):
                text = sweep_links.query(random).partition("?")[2].encode("ascii", "ignore").decode()
                text = "".join(c for c in text if c.isprintable() and c != "#")[:_LONGEST]
                if _Shape(client.get(f"/kv-cache?{text}").text).tags != shape:
                    yield f"other tags for {text!r}"
            if place % 50 == 0:
                memory.append(_memory())
            yield ""
    for name, times in (("tags", words), ("picture", drawn)):
        if len(times) > 1:
            p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
            print(f"  {name}: p50 {1e3 * statistics.median(times):.0f} ms, p95 {1e3 * p95:.0f} ms of {len(times)}")
    print(f"  memory, MB: {', '.join(f'{one / 1e6:.0f}' for one in memory)}")


def _valid(client: TestClient, seed: int, words: list[float], drawn: list[float] | None) -> Iterator[str]:
    a = valid(seed, usual=seed % 2 == 0)
    pair = Pair(a, valid(seed + 1, usual=True)) if seed % 3 == 0 else Pair(a)
    page = Random(seed).choice([*PAGES])  # noqa: S311 - as above
    address, link = page.replace("_", "-"), pairs.encode(pair)
    begin = time.perf_counter()
    said = _Shape(client.get(f"/{address}?{link}").text).said
    words.append(time.perf_counter() - begin)
    expected = cards.words(page, pair)
    if (said.get("description"), said.get("og:title")) != (expected.sentence, expected.title):
        yield f"{address}?{link} says {said.get('description')!r}"
    if drawn is not None:
        begin = time.perf_counter()
        answer = client.get(f"/card/{address}.png?{link}")
        drawn.append(time.perf_counter() - begin)
        if answer.status_code != 200 and len(link) <= _LONGEST:
            yield f"no picture of {address}?{link}: {answer.status_code}"


def main() -> int:
    """Runs the sweep; 1 where something was found."""
    return swept("Previews", 1000, findings)


if __name__ == "__main__":
    sys.exit(main())
