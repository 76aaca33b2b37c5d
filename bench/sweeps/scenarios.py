"""Random valid scenarios on every page: no exception, and no number that is none, without an end, or cannot be."""

import logging
import sys
import time
from collections.abc import Iterator
from random import Random

from bench.sweep import swept
from inferdash import links, pairs
from inferdash.pairs import Pair
from inferdash.scenario import Scenario
from inferdash.studies import variants
from inferdash.studies.report import PAGES
from tests.numbers import Reading, wrong_results
from tests.scenarios import beside, canonical, valid


def main() -> int:
    """Reads the pages and returns the exit status."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    return swept("random scenarios on every page", 3000, found)


def found(count: int, seed: int) -> Iterator[str]:
    """What is wrong, as it is found, each kind on a page once; and how long the slowest page took."""
    reading, slowest = Reading(), (0.0, "")
    told: set[tuple[str, str]] = set()
    for number in range(seed, seed + count):
        random = Random(f"read {number}")  # noqa: S311 - nothing is kept secret with it
        for pair in _pairs(number):
            varied = random.choice([*variants.fields(pair.edited)])
            for page in PAGES:
                yield ""
                begin = time.process_time()
                wrong = _wrong(reading, page, pair, varied)
                slowest = max(slowest, (time.process_time() - begin, f"{page}, seed {number}"))
                for kind in wrong.keys() - told:
                    told.add(kind)
                    link = pairs.encode(_least(reading, page, pair, varied, kind))
                    yield f"seed {number}: {page.replace('_', '-')}?{link}\n    variants of {varied}: {wrong[kind]}"
        if (number - seed + 1) % 100 == 0:
            print(f"  {number - seed + 1} read; the slowest took {slowest[0]:.1f} s: {slowest[1]}", flush=True)


def _pairs(number: int) -> Iterator[Pair]:
    """The scenario of a seed, and every third one as the B of a comparison."""
    scenario = valid(number)
    yield Pair(scenario)
    if number % 3 == 0:
        yield Pair(beside(number, scenario), scenario)


def _wrong(reading: Reading, page: str, pair: Pair, varied: str) -> dict[tuple[str, str], str]:
    """Kind of what is wrong on a page -> what is wrong."""
    found = list(reading.wrong(page, pair, varied=varied))
    try:
        found += wrong_results(page, pair.edited)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        found.append(f"study: {type(error).__name__}: {error}")
    return {(page, "".join(c for c in one[:60] if not c.isdigit())): one for one in found}


def _least(reading: Reading, page: str, pair: Pair, varied: str, kind: tuple[str, str]) -> Pair:
    """A pair with as many fields as can be at the chapter's example, so that the same is still wrong."""
    for alone in (Pair(pair.edited), Pair(pair.a)):
        if pair.b and kind in _wrong(reading, page, alone, varied):
            pair = alone
    for name in {**links.parameters(pair.a), **links.parameters(pair.edited)}:
        fewer = Pair(_without(pair.a, name), pair.b and _without(pair.b, name))
        if fewer != pair and kind in _wrong(reading, page, fewer, varied):
            pair = fewer
    return pair


def _without(scenario: Scenario, name: str) -> Scenario:
    """The scenario with one field at the chapter's example, where it can be."""
    decoded = links.decode([one for one in links.parameters(scenario).items() if one[0] != name])
    return scenario if decoded.problems else canonical(decoded.scenario)


if __name__ == "__main__":
    sys.exit(main())
