"""Whether the page is there for those who do not see it, or not well, or use no mouse."""

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from inferdash.scenario import BASE, FIELDS, Choices, Place, mark

from .conftest import Server, entered, opened, said, settled, shared, visit, working
from .test_flows import BROKEN

pytestmark = pytest.mark.browser


def _violations(page: Page, state: str) -> list[str]:
    settled(page)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{state}: {rule['id']} {node['target']} {node['html']}" for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 22, 27)")])
def test_axe_finds_nothing(
    browser: Browser, server: Server, scheme: Literal["light", "dark"], background: str, width: int
) -> None:
    # So high that all of the page is in sight: of what is scrolled away axe does not judge the contrast.
    with visit(browser, server, width=width, height=9000, scheme=scheme) as page:
        opened(page, BROKEN)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        found = _violations(page, "broken link")
        opened(page, "v=1")
        found += _violations(page, "page")
        working(page)
        found += _violations(page, "Working")
        shared(page)
        found += _violations(page, "Share")
    assert not found, "\n".join(found)


def test_the_pages_are_a_landmark_with_one_current(page: Page) -> None:
    opened(page, "v=1")
    pages = page.get_by_role("navigation", name="Pages", exact=True)
    expect(pages).to_have_count(1)
    expect(page.locator("[aria-current=page]")).to_have_count(1)
    expect(pages.locator("[aria-current=page]")).to_have_text("speedCompute vs memory")


def test_one_live_region_speaks_each_new_sentence(page: Page) -> None:
    opened(page, "v=1")
    region = page.locator(".only-read-aloud[role=status]")
    expect(region).to_have_text(said("v=1"))
    first = region.element_handle()
    for batch in ("4", "300"):
        entered(page, "Batch", batch)
        expect(region).to_have_text(said(f"batch={batch}&v=1"))
        assert first.evaluate("(region, now) => region === now", region.element_handle())


def test_tab_reaches_the_link_the_button_and_every_control(page: Page) -> None:
    opened(page, "v=1")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("(e => e.ariaLabel || e.innerText)(document.activeElement)"))
    print(reached)
    fields = {str(field.title) for name, field in FIELDS.items() if mark(name, Place).counts_if(BASE)}
    assert not fields - reached
