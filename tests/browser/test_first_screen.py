"""What a reader sees of each page without scrolling, on a screen, on a phone, on paper and before an audience."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from inferdash.studies.report import PAGES

from .conftest import entered, settled
from .walking import path

pytestmark = pytest.mark.browser

SCREENS: Final = ((1280, 720), (1400, 900))
PHONE: Final = (390, 844)
QUERIES: Final = {"experts": "model=gpt-oss-120b&v=2"}
"""Pages that have a picture only in another scenario than that of an empty link."""
WITHOUT: Final = {"numbers": {"traffic"}, "picture": {"traffic"}, "controls": {"traffic", "evidence"}}
"""Pages that have no such part, or none before there is a file."""
_PICTURE: Final = 300
_LEAST_SEEN: Final = 100
"""Pixels of the picture that a phone shows on its first screen, at least."""
_LINES: Final = (2, 3)
"""Lines of a sentence at most: on a screen, on a phone."""
_SCREENS_LONG: Final = 3
_SHIFT: Final = 0.1
_PAPER: Final = 2
"""Sides of paper that a page with its sections folded takes at most."""
_READABLE: Final = 20
"""Pixels of letters of a picture that can be read from five metres at 1280 × 720."""
_SHIFTS: Final = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shift += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""
_SEEN: Final = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const box = (part) => {
    const found = part?.getBoundingClientRect();
    return found?.height ? { top: found.top, bottom: found.bottom, height: found.height } : null;
  };
  return {
    sentence: box(main.querySelector("h1")),
    line: parseFloat(getComputedStyle(main.querySelector("h1")).lineHeight),
    numbers: box(main.querySelector("dl.numbers")),
    controls: box(main.querySelector(".st-key-controls")),
    picture: box(main.querySelector("[data-testid=stVegaLiteChart]")),
    long: main.scrollHeight,
    sideways: Math.max(main.scrollWidth - main.clientWidth, document.body.scrollWidth - innerWidth),
    shift: window.shift,
  };
}"""
_CUT: Final = """() => [...document.querySelectorAll("[data-testid=stMarkdownContainer] table, svg.marks, dl.numbers")]
  .filter((part) => part.getBoundingClientRect().right > innerWidth + 1 || !part.getBoundingClientRect().width)
  .map((part) => part.outerHTML.slice(0, 100))"""


def _come(page: Page, name: str, query: str = "") -> None:
    page.goto(f"/{path(name)}?{query or QUERIES.get(name, 'v=2')}")
    page.locator("html[data-come]").wait_for(state="attached")


def _wrong(name: str, seen: dict[str, Any], width: int, height: int) -> Iterator[str]:
    """What is not on the first screen, or not as large as it should be."""
    phone = width == PHONE[0]
    for part in ("sentence", "numbers", "picture", *(() if phone else ("controls",))):
        if name in WITHOUT.get(part, ()):
            continue
        limit = height - _LEAST_SEEN if phone and part == "picture" else height
        if not seen[part]:
            yield f"no {part}"
        elif seen[part]["top" if phone and part == "picture" else "bottom"] > limit:
            yield f"{part} below the first screen: {seen[part]}"
    if seen["sentence"]["height"] > _LINES[phone] * seen["line"] + 1:
        yield f"a sentence of {seen['sentence']['height'] / seen['line']:.0f} lines"
    if not phone and seen["picture"] and seen["picture"]["height"] < _PICTURE:
        yield f"a picture of {seen['picture']['height']:.0f} pixels"
    if seen["long"] > _SCREENS_LONG * height:
        yield f"{seen['long']} pixels long"
    if seen["sideways"] > 0:
        yield f"scrolls sideways by {seen['sideways']}"
    if seen["shift"] >= _SHIFT:
        yield f"moves while it comes: {seen['shift']:.3f}"


def test_each_page_says_shows_and_offers_what_it_is_about_on_its_first_screen_and_on_paper(page: Page) -> None:
    found: list[str] = []
    page.add_init_script(_SHIFTS)
    page.on("console", lambda one: found.append(one.text) if one.type in {"error", "warning"} else None)
    page.on("response", lambda one: found.append(f"{one.status} {one.url}") if not one.ok else None)
    for name in PAGES:
        page.set_viewport_size({"width": SCREENS[0][0], "height": SCREENS[0][1]})
        _come(page, name)
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            found += [f"{name}, {width}: {one}" for one in _wrong(name, page.evaluate(_SEEN), width, height)]
        assert page.title().startswith(str(PAGES[name].TITLE)), page.title()
        sides = len(re.findall(rb"/Type ?/Page\b", page.pdf(format="A4")))
        found += [f"{name}: {sides} sides of paper"] if not 0 < sides <= _PAPER else []
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 794, "height": 1123})
        found += [f"{name}, on paper, cut: {one}" for one in page.evaluate(_CUT)]
        expect(page.locator("#printed")).to_contain_text(f"/{path(name)}?")
        page.emulate_media(media="screen")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    for name in PAGES:
        _come(page, name)
        found += [f"{name}, phone: {one}" for one in _wrong(name, page.evaluate(_SEEN), *PHONE)]
    assert not found, "\n".join(found)


def test_the_first_control_is_two_keys_away(page: Page) -> None:
    _come(page, "batching")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Batch", exact=True)).to_be_focused()


def test_the_controls_of_a_phone_come_from_below(page: Page) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    _come(page, "batching")
    batch = page.get_by_label("Batch", exact=True)
    expect(batch).to_be_hidden()
    page.get_by_role("button", name="Change the inputs").click()
    entered(page, "Batch", "64")
    expect(page).to_have_url(re.compile("batch=64"))
    page.get_by_role("button", name="Done").click()
    expect(batch).to_be_hidden()


def test_keys_move_numbers_and_pages_before_an_audience(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    _come(page, "batching", "present=1&batch=7&v=2")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    sizes = page.locator("svg.marks text").evaluate_all(
        "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= _READABLE - 2
    picture = page.get_by_test_id("stVegaLiteChart").first.bounding_box()
    assert picture
    assert picture["y"] + picture["height"] <= 720
    page.keyboard.press("ArrowUp")
    expect(page).to_have_url(re.compile(r"batching\?present=1&batch=8&v=2$"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"quantization\?present=1&batch=8&v=2$"))
    settled(page)
    page.keyboard.press("PageUp")
    expect(page).to_have_url(re.compile(r"batching\?present=1&batch=8&v=2$"))
    settled(page)
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"batching\?batch=8&v=2$"))
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


def test_a_link_with_an_anchor_opens_its_section(page: Page) -> None:
    page.goto("/batching?v=2#paged-kv-cache")
    expect(page.get_by_label("Page size, tokens", exact=True)).to_be_visible()


TYPED: Final = {"32k": "32,000", "1.5M": "1,500,000", "200 000": "200,000", "10,000": "10,000", "2.5e6": "2,500,000"}
UNREAD: Final = ("9.5", "200.000", "32q", "1,5")


def test_a_number_field_shows_what_it_read_and_says_what_it_did_not(page: Page) -> None:
    _come(page, "compute_vs_memory")
    field = page.get_by_role("spinbutton", name="Prompt tokens", exact=True)
    for text, shown in TYPED.items():
        entered(page, "Prompt tokens", text)
        expect(field).to_have_value(shown)
        expect(page).to_have_url(re.compile(f"prompt={shown.replace(',', '')}&"))
    for text in UNREAD:
        entered(page, "Prompt tokens", text)
        expect(field).to_have_value(text)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(page).to_have_url(re.compile("prompt=2500000&"))
    entered(page, "Prompt tokens", "1k")
    expect(page).to_have_url(re.compile("prompt=1000&"))
    expect(field).not_to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize("spelling", ["qwen3-235", "qwen3 235b", "Qwen/Qwen3-235B-A22B"])
def test_a_model_is_found_by_any_spelling(page: Page, spelling: str) -> None:
    _come(page, "memory")
    box = page.get_by_role("combobox", name="Model", exact=True)
    box.click()
    box.press_sequentially(spelling)
    expect(page.get_by_role("option", name="Qwen3 235B-A22B", exact=True)).to_be_visible()
