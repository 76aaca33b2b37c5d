"""Every ordered pair of pages for many scenarios, in a client that keeps widgets as the frontend does.

Quicker than a browser, and not the last word: `sweep_walks` is.
"""

import asyncio
import sys
from collections.abc import Iterator
from itertools import permutations
from typing import Final

from bench.client import Session
from bench.server import Server, serving
from bench.sweep import swept
from inferdash import links
from inferdash.scenario import BASE, FIELDS, Scenario
from inferdash.studies.report import PAGES
from tests.scenarios import valid

_LABELS: Final = {str(field.title): name for name, field in FIELDS.items()}
_COUNTED: Final = {name for name in FIELDS if isinstance(getattr(BASE, name), int)}
PATHS: Final = tuple(page.replace("_", "-") for page in PAGES)


def main() -> int:
    """Goes through the pairs and returns the exit status."""
    return swept("pairs of pages, without a browser", 10, found)


def found(count: int, seed: int) -> Iterator[str]:
    """What was lost between two pages, as it is found."""
    with serving() as server, asyncio.Runner() as runner:
        for number in range(seed, seed + count):
            scenario = valid(number, usual=True)
            direct = {page: runner.run(_direct(server, page, scenario)) for page in PATHS}
            for before, page in permutations(PATHS, 2):
                yield ""
                lost = runner.run(_lost(server, before, page, scenario, direct[page]))
                if lost:
                    yield f"seed {number}, {before} to {page}: {lost}"


async def _direct(server: Server, page: str, scenario: Scenario) -> dict[str, str]:
    async with Session(server.host) as session:
        await session.open(page, links.encode(scenario))
        return session.shown


async def _lost(server: Server, before: str, page: str, scenario: Scenario, direct: dict[str, str]) -> str:
    """What the second page shows otherwise than by its link, or an edit there changes beside its field."""
    async with Session(server.host) as session:
        await session.open(before, links.encode(scenario))
        await session.follow(page)
        wrong = [
            f"{label}: {session.shown.get(label)} for {value}"
            for label, value in direct.items()
            if session.shown.get(label) != value
        ]
        if wrong:
            return f"{', '.join(wrong[:4])} ({len(wrong)} controls)"
        label = next((one for one in session.numbers() if _LABELS.get(one) in _COUNTED), None)
        if label is None:
            return ""
        await session.press(label)
        name = _LABELS[label]
        edited, problems = links.read({**dict(scenario), name: getattr(scenario, name) + 1})
        target = links.parameters(scenario if problems else edited)
        here = session.scenario
        wrong = [f"{one}={here.get(one)}" for one in {**target, **here} if here.get(one) != target.get(one)]
        return f"an edit of {name} writes {', '.join(wrong[:4])} ({len(wrong)} fields)" if wrong else ""


if __name__ == "__main__":
    sys.exit(main())
