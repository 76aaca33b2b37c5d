"""Random valid scenarios on every page: no exception, and no number that is none, without an end, or cannot be."""

import logging
import sys
import time
from collections.abc import Iterator

from bench.sweep import swept
from inferdash import links
from inferdash.scenario import Scenario
from inferdash.studies.report import PAGES
from tests.numbers import Reading, wrong_results
from tests.scenarios import valid


def main() -> int:
    """Reads the pages and returns the exit status."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    return swept("random scenarios on every page", 3000, found)


def found(count: int, seed: int) -> Iterator[str]:
    """What is wrong, as it is found, each kind on a page once; and how long the slowest page took."""
    reading, slowest = Reading(), (0.0, "")
    told: set[tuple[str, str]] = set()
    for number in range(seed, seed + count):
        scenario = valid(number)
        for page in PAGES:
            yield ""
            begin = time.process_time()
            wrong = _wrong(reading, page, scenario)
            slowest = max(slowest, (time.process_time() - begin, f"{page}, seed {number}"))
            for kind in wrong.keys() - told:
                told.add(kind)
                link = links.encode(_least(reading, page, scenario, kind))
                yield f"seed {number}: {page.replace('_', '-')}?{link}\n    {wrong[kind]}"
        if (number - seed + 1) % 100 == 0:
            print(f"  {number - seed + 1} read; the slowest took {slowest[0]:.1f} s: {slowest[1]}", flush=True)


def _wrong(reading: Reading, page: str, scenario: Scenario) -> dict[tuple[str, str], str]:
    """Kind of what is wrong on a page -> what is wrong."""
    found = list(reading.wrong(page, scenario))
    try:
        found += wrong_results(page, scenario)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        found.append(f"study: {type(error).__name__}: {error}")
    return {(page, "".join(c for c in one[:60] if not c.isdigit())): one for one in found}


def _least(reading: Reading, page: str, scenario: Scenario, kind: tuple[str, str]) -> Scenario:
    """The scenario with as many fields as can be at the chapter's example, so that the same is still wrong."""
    for name in links.parameters(scenario):
        values = {one: value for one, value in links.parameters(scenario).items() if one not in (name, links.VERSION)}
        fewer, problems = links.read(values)
        if not problems and fewer != scenario and kind in _wrong(reading, page, fewer):
            scenario = fewer
    return scenario


if __name__ == "__main__":
    sys.exit(main())
