"""Whether the page is there for those who do not see it, or not well, or use no mouse."""

from collections.abc import Iterator
from typing import Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from inferdash.studies.report import GROUPS, PAGES

from .conftest import entered, opened, said, settled, shared, working
from .test_flows import BROKEN

pytestmark = pytest.mark.browser

FOCUSED: Final = """() => {
    const focused = document.activeElement;
    const name = focused.closest("[role=radiogroup]")?.ariaLabel ?? focused.ariaLabel;
    return name ?? (focused.matches("a, button, summary") ? focused.innerText.split("\\n").at(-1) : "");
}"""
"""The name of what has the focus, without the name of an icon before it."""
STOPS: Final = (
    *("Model", "KV cache precision", "Accelerator", "Engine", "Own hardware figures", "Answer tokens"),
    *("Title", "Reset to the example"),
    *GROUPS,
    *(PAGES[name].TITLE for name in GROUPS["Learn"]),
    *("Share", "Batch", "Prompt tokens", "Weight precision", "GPUs"),
    *("Both passes in numbers", "Expected beside the limit", "One request from start to end"),
    *("Speculative decoding", "Working", "Sources"),
)
"""What the Tab key comes to, in the order of the page."""
UPLOADER: Final = {"exclude": [["[data-testid=stFileUploader]"]]}
"""What axe does not judge: Streamlit's uploader, which hides its own button."""
SCHEMES: Final[tuple[tuple[Literal["light", "dark"], str, dict[str, list[str]]], ...]] = (
    ("light", "rgb(255, 255, 255)", {}),
    ("dark", "rgb(18, 22, 27)", {"runOnly": ["color-contrast", "link-in-text-block"]}),
)
"""Scheme, its background, and the rules to judge by: those that do not look at colours say the same in both."""


def _violations(page: Page, state: str, *, schemes: int = 2) -> Iterator[str]:
    for scheme, background, rules in SCHEMES[:schemes]:
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        settled(page)
        for rule in Axe().run(page, UPLOADER, {"resultTypes": ["violations"], **rules}).response["violations"]:
            yield from (f"{state}, {scheme}: {rule['id']} {node['target']} {node['html']}" for node in rule["nodes"])


_UNFOLDED: Final = 400
"""The width at which all sections are open too; open or not, they are the same parts at any width."""


@pytest.mark.parametrize("width", [1400, _UNFOLDED])
def test_axe_finds_nothing(page: Page, width: int) -> None:
    # So high that all of the page is in sight: axe does not judge the contrast of what is scrolled away.
    page.set_viewport_size({"width": width, "height": 6500})
    opened(page, BROKEN)
    working(page)
    found = [*_violations(page, "broken link with Working open")]
    shared(page)
    found += _violations(page, "Share")
    for name in PAGES:
        page.goto(f"/{name.replace('_', '-')}?v=1")
        settled(page)
        if width == _UNFOLDED:
            for section in page.get_by_test_id("stMain").get_by_test_id("stExpander").locator("summary").all():
                section.click()
            settled(page)
        found += _violations(page, name, schemes=1 if width == _UNFOLDED else 2)
    assert not found, "\n".join(found)


def test_the_pages_are_a_landmark_with_one_current(page: Page) -> None:
    opened(page, "v=1")
    pages = page.get_by_role("navigation", name="Pages", exact=True)
    expect(pages).to_have_count(1)
    expect(page.locator("[aria-current=page]")).to_have_count(1)
    expect(pages.locator("[aria-current=page]")).to_have_text("Compute vs memory")


def test_one_live_region_speaks_each_new_sentence(page: Page) -> None:
    opened(page, "v=1")
    region = page.locator(".only-read-aloud[role=status]")
    expect(region).to_have_text(said("v=1"))
    first = region.element_handle()
    for batch in ("4", "300"):
        entered(page, "Batch", batch)
        expect(region).to_have_text(said(f"batch={batch}&v=1"))
        assert first.evaluate("(region, now) => region === now", region.element_handle())


def test_tab_goes_from_control_to_control(page: Page) -> None:
    opened(page, "v=1")
    reached: list[str] = []
    while "Sources" not in reached:
        assert len(reached) < 100, reached
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    assert [name for name in reached if name in STOPS] == list(STOPS)
