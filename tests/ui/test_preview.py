"""What a link shows before it is opened: what the page says, right behind a proxy, with nothing in it that can run."""

from collections.abc import Iterator
from html.parser import HTMLParser
from random import Random
from struct import unpack

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from bench.sweeps.links import query
from inferdash import cards, links, pairs
from inferdash.studies import comparison
from inferdash.studies.report import PAGES
from inferdash.ui.hosting.preview import ROUTES as PREVIEWS
from inferdash.ui.hosting.server import ROUTES
from tests.scenarios import valid

FORWARDED = {"x-forwarded-proto": "https", "x-forwarded-host": "example.org", "x-forwarded-prefix": "/tools/inference"}
QUICK = ("overview", "kv-cache", "memory", "experts")


class Head(HTMLParser):
    """Tags of a document's head, by what they are called."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.said: dict[str, str] = {}
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.inside = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        found = dict(attrs)
        name = found.get("name") or found.get("property") or found.get("type") or ""
        self.said[name] = found.get("content") or found.get("href") or ""

    def handle_data(self, data: str) -> None:
        if self.inside == "title":
            self.said["title"] = self.said.get("title", "") + data
            self.inside = ""


@pytest.fixture(scope="module")
def asked() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=ROUTES)) as client:
        yield client


@pytest.mark.parametrize("seed", range(4))
def test_the_first_html_says_what_the_page_says(asked: TestClient, seed: int) -> None:
    scenario = valid(seed, usual=True)
    for address in QUICK:
        head = Head(asked.get(f"/{address}?{links.encode(scenario)}").text)
        said = comparison.answer(address.replace("-", "_"), scenario).sentence
        assert head.said["description"] == head.said["og:description"] == " ".join(said.split())[:400]
        assert head.said["title"] == f"{head.said['og:title']} · inferdash"


def test_of_two_scenarios_it_says_the_difference(asked: TestClient) -> None:
    link = "model=qwen3-32b&speed=limit&b.weights=fp8&v=2"
    said = Head(asked.get(f"/overview?{link}", headers=FORWARDED).text).said
    pair = pairs.decode(link).pair
    assert said["description"] == comparison.sentence("overview", pair.a, pair.edited)
    assert said["title"] == "Overview: A 52.2 tokens/s, B 104 tokens/s · inferdash"
    assert said["og:url"] == f"https://example.org/tools/inference/overview?{link}"
    assert said["og:image"] == f"https://example.org/tools/inference/card/overview.png?{link}"


def test_a_picture_has_its_size_and_is_made_once(asked: TestClient) -> None:
    first = asked.get("/card/kv-cache.png?v=2")
    assert first.headers["content-type"] == "image/png"
    assert unpack(">II", first.content[16:24]) == cards.PREVIEW
    assert asked.get("/card/kv-cache.png?v=2").content == first.content
    assert asked.get("/card/nothing.png").status_code == 404


def test_what_a_visitor_sends_cannot_run(asked: TestClient) -> None:
    shape = Head(asked.get("/kv-cache?v=2").text).tags
    random = Random(0)  # noqa: S311 - nothing is kept secret with it
    hostile = [
        'title="><script>alert(1)</script>&v=2',
        "b.title=%22%3E%3Cscript%3E&v=2",
        *(text.partition("?")[2] or text for text in (query(random) for _ in range(40))),
    ]
    for text in hostile:
        safe = "".join(c for c in text if c.isascii() and c.isprintable() and c != "#")[:3000]
        assert Head(asked.get(f"/kv-cache?{safe}").text).tags == shape, safe
    for name, value in (
        ("host", 'x"><script>'),
        ("x-forwarded-host", "evil .example"),
        ("x-forwarded-prefix", '/"><b>'),
    ):
        answer = asked.get("/kv-cache?v=2", headers={name: value})
        assert Head(answer.text).tags == shape
        assert value not in answer.text


def test_a_wiki_shows_the_page_in_a_frame(asked: TestClient) -> None:
    said = asked.get("/oembed", params={"url": "https://other.org/x/memory?batch=8&v=2", "maxwidth": "600"}).json()
    frame = Head(said["html"])
    assert (said["type"], said["version"], said["width"]) == ("rich", "1.0", 600)
    assert frame.tags[0][0] == "iframe"
    assert 'src="http://testserver/memory?batch=8&amp;v=2&amp;embed=true"' in said["html"]
    for address in ("https://other.org/nothing", "https://[", ""):
        assert asked.get("/oembed", params={"url": address}).status_code == 404
    assert asked.get("/oembed", params={"url": "/memory", "format": "xml"}).status_code == 501


def test_the_numbers_are_there_under_the_same_server(asked: TestClient) -> None:
    assert asked.get("/api/page/overview?v=2").json()["page"] == "overview"


def test_every_page_has_words_and_most_a_picture() -> None:
    assert {route.path for route in PREVIEWS} == {"/card/{page}.png", "/oembed"}
    pair = pairs.decode("?v=2").pair
    for page in PAGES:
        said = cards.words(page, pair)
        assert said.title.startswith(PAGES[page].TITLE)
        assert said.sentence[-1] in ".?"
