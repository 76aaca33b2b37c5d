"""Random valid scenarios on every page: no exception, and no number that is none, without an end, or cannot be."""

from collections.abc import Iterator

import pytest

from inferdash import links
from inferdash.scenario import FIELDS, Choices, Several, mark
from inferdash.studies.report import PAGES
from tests.numbers import Reading, wrong_results
from tests.scenarios import valid

LINKS = (
    "tools_tokens=0&system_tokens=0&user_tokens=0&documents_tokens=0&question=0&turns=1&v=1",
    "addends=-1e12, -1e12, 1e12, 1e12&v=1",
)


@pytest.fixture(scope="module")
def reading() -> Iterator[Reading]:
    session = Reading()
    yield session
    session.close()


@pytest.mark.parametrize("seed", range(2000, 2005))
def test_a_random_scenario_gives_numbers_on_every_page(reading: Reading, seed: int) -> None:
    scenario = valid(seed)
    found = [(page, one) for page in PAGES for one in reading.wrong(page, scenario)]
    found += [(page, one) for page in PAGES for one in wrong_results(page, scenario)]
    assert not found, links.encode(scenario)


@pytest.mark.parametrize("query", LINKS)
def test_a_scenario_that_once_failed_gives_numbers(reading: Reading, query: str) -> None:
    scenario = links.decode(query).scenario
    assert not [(page, one) for page in PAGES for one in reading.wrong(page, scenario)]


@pytest.mark.parametrize("name", FIELDS)
def test_choices_are_told_apart_by_their_names(name: str) -> None:
    several = mark(name, Several)
    choices = several.of if several else mark(name, Choices)
    names = list(choices.names().values()) if choices else []
    assert len(names) == len(set(names))
