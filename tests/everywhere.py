"""The numbers on top of every page by every way to them: page, report, HTTP, assistant, notebook."""

import asyncio
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from typing import Any, Final, TypeAlias
from xml.etree import ElementTree as ET

from mcp import Client
from starlette.testclient import TestClient

import inferdash
from inferdash import http, links
from inferdash.assistant import server
from inferdash.cli import main
from inferdash.scenario import Scenario
from inferdash.studies.report import STUDIES
from tests.numbers import Reading

Shown: TypeAlias = list[tuple[str, str, str]]
"""Label, number with unit, and what stands below it, of each number on top of a page."""
_SAID_BY_LABEL: Final = " parameters"
"""A unit that a page leaves to the label."""


class Everywhere:
    """One session of the dashboard and one client of each other kind, for one scenario after another."""

    def __init__(self) -> None:
        self.reading = Reading()
        self.client = TestClient(http.app)

    def close(self) -> None:
        """Ends the session."""
        self.reading.close()

    def unlike(self, scenario: Scenario) -> Iterator[str]:
        """What one way shows otherwise than the page does."""
        query = links.encode(scenario)
        pages = {name: self._page(name, scenario) for name in STUDIES}
        for way, found in self._ways(query).items():
            for name, shown in pages.items():
                if found[name] != shown:
                    yield f"{name}, {way}: {found[name]} where the page shows {shown}, ?{query}"

    def _ways(self, query: str) -> Mapping[str, Mapping[str, Shown]]:
        over_http = {name: self.client.get(f"/page/{name}?{query}").json() for name in STUDIES}
        notebook = inferdash.report(query)
        return {
            "report": _told(json.loads(_printed("report", f"?{query}", "--json"))),
            "report as Markdown": _bullets(_printed("report", f"?{query}", "--markdown")),
            "HTTP, page": _told(over_http),
            "HTTP, report": _told(self.client.get(f"/report?{query}").json()),
            "assistant": _told(asyncio.run(_assistant(query))),
            "Python": {
                name: [(one.label, one.shown.removesuffix(_SAID_BY_LABEL), one.beside) for one in found]
                for name, found in notebook.headlines.items()
            },
        }

    def _page(self, name: str, scenario: Scenario) -> Shown:
        wrong = [*self.reading.wrong(name, scenario)]
        assert not wrong, wrong
        bodies = [one.proto.body for one in self.reading.app.get("html")]
        tops = [body for body in bodies if 'class="numbers"' in body]
        if not tops:  # a page on which nothing is known has no number on top
            return []
        (top,) = tops
        top = top.replace("\N{NO-BREAK SPACE}", " ")  # a page keeps numbers and units on one line
        cells = (["".join(part.itertext()).strip() for part in cell] for cell in ET.fromstring(top))  # noqa: S314 - ours
        return [(label, number, "".join(beside)) for label, number, *beside in cells]


def _told(pages: Mapping[str, Any]) -> dict[str, Shown]:
    return {
        name: [
            (one["label"], one["shown"].removesuffix(_SAID_BY_LABEL), one["beside"]) for one in pages[name]["headlines"]
        ]
        for name in STUDIES
    }


def _printed(*command: str) -> str:
    text = io.StringIO()
    with redirect_stdout(text):
        main(command)
    return text.getvalue()


def _bullets(markdown: str) -> dict[str, Shown]:
    """The numbers on top of each page, read from its list; a label or a number may hold a colon or brackets."""
    found = {}
    for name, study in STUDIES.items():
        _, _, chapter = markdown.partition(f"\n## {study.TITLE}\n")
        lines = chapter.partition("\n| quantity")[0].split("\n")
        found[name] = [_bullet(line.removeprefix("- ")) for line in lines if line.startswith("- ")]
    return found


def _bullet(line: str) -> tuple[str, str, str]:
    label, _, rest = line.rpartition(": ")
    number, bracket, beside = rest.partition(" (")
    return label, number.removesuffix(_SAID_BY_LABEL), beside.removesuffix(")") if bracket else ""


async def _assistant(query: str) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    async with Client(server) as client:
        for name in STUDIES:
            answers[name] = await client.call_tool("numbers", {"link": f"?{query}", "page": name})
    return {name: json.loads(answer.content[0].text) for name, answer in answers.items()}
