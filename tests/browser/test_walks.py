"""Nothing is lost between pages: whatever way leads to a page, it shows what its link shows."""

from typing import Final

import pytest
from playwright.sync_api import Page

from inferdash.studies.report import PAGES
from tests.scenarios import valid

from .walking import Walk, back_and_forth, circuit, from_links, in_one_session

pytestmark = pytest.mark.browser

SEED: Final = 1
PAIRS: Final = circuit(tuple(PAGES))


def begun(page: Page, *, unfolded: bool = False) -> Walk:
    """A scenario in which nearly every field is set, and what each page shows of it when its link is opened."""
    walk = Walk(page, valid(SEED, usual=True), unfolded=unfolded)
    walk.begin()
    assert not walk.found
    return walk


def test_every_page_after_every_other_shows_what_its_link_shows(page: Page) -> None:
    walk = begun(page)
    from_links(walk, PAIRS)
    assert not walk.found, _told(walk, len(PAIRS))


def test_a_click_before_the_page_has_come_loses_nothing(page: Page) -> None:
    walk = begun(page, unfolded=True)
    in_one_session(walk, PAIRS[::14], pause=False)
    assert not walk.found, _told(walk, len(PAIRS[::14]))


def test_back_and_forward_between_pages_lose_nothing(page: Page) -> None:
    walk = begun(page)
    back_and_forth(walk, PAIRS[3::17], pause=True)
    assert not walk.found, _told(walk, len(PAIRS[3::17]))


def _told(walk: Walk, tried: int) -> str:
    return f"{len(walk.found)} of {tried} pairs:\n" + "\n".join(walk.found[:20])
