"""What a visitor does with the dashboard, from link to link."""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import pytest
from annotated_types import Le
from playwright.sync_api import Browser, Page, expect

from inferdash import links
from inferdash.scenario import FIELDS, OWN, Scenario, mark
from inferdash.studies.report import PAGES

from .conftest import PATH, Server, entered, opened, said, serving, settled, shared, shows, unfold, working

pytestmark = pytest.mark.browser

MARKUP: Final = "<img src=x onerror=alert(1)> [x](http://a.b) ![i](http://a.b/i.png)"
BROKEN: Final = urlencode({"title": MARKUP, "model": "[m](http://a.b)", "batch": "0"}, quote_via=quote)
"""A link without version, whose title is markup and whose model and batch cannot be read."""
_MOST: Final[dict[str, Any]] = {name: bound.le for name in FIELDS if (bound := mark(name, Le))}
EXTREME: Final = links.encode(Scenario(title="W" * 80, model=OWN, accelerator=OWN, **_MOST))
"""Every number at its upper bound, the title in one long word."""


def _choose(page: Page, label: str, option: str) -> None:
    box = page.get_by_role("combobox", name=label, exact=True)
    box.click()
    box.press_sequentially(option)  # a long list shows only what is searched for
    page.get_by_role("option", name=option, exact=True).click()


def _accept_more(page: Page) -> None:
    unfold(page, "Speculative decoding")
    page.get_by_role("slider", name="Acceptance").press("ArrowRight")


EDITS: Final[tuple[tuple[Callable[[Page], object], str], ...]] = (
    (lambda page: entered(page, "Batch", "4"), "batch=4&v=1"),
    (lambda page: _choose(page, "Model", "Qwen3 32B"), "model=qwen3-32b&batch=4&v=1"),
    (lambda page: page.get_by_role("radio", name="fp8").first.click(), "model=qwen3-32b&kv=fp8&batch=4&v=1"),
    (
        _accept_more,
        "model=qwen3-32b&kv=fp8&batch=4&acceptance=0.81&v=1",
    ),
    (lambda page: entered(page, "Batch", "1"), "model=qwen3-32b&kv=fp8&acceptance=0.81&v=1"),
    (
        lambda page: entered(page, "Title", "Half the bytes"),
        "title=Half+the+bytes&model=qwen3-32b&kv=fp8&acceptance=0.81&v=1",
    ),
)
"""One edit of each kind of widget, and the query after it."""


def test_cold_server_opens_the_page_of_a_deep_link(page: Page) -> None:
    query = "model=qwen3-32b&memory=96GiB&batch=4&v=1"
    with serving() as cold:
        page.goto(f"{cold.address}{PATH}?{query}")
        shows(page, query)
        expect(page.get_by_role("navigation").get_by_role("link", name="Compute vs memory")).to_be_visible()
        expect(page.get_by_role("button", name="Share")).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)


def test_two_scenarios_are_made_shared_and_one_of_them_is_kept(page: Page) -> None:
    opened(page, "model=qwen3-32b&v=2")
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(re.compile(r"model=qwen3-32b&b=a&v=2$"))
    entered(page, "Prompt tokens", "8192")
    expect(page).to_have_url(re.compile(r"model=qwen3-32b&b\.prompt=8192&v=2$"))
    expect(page.locator("h1")).to_contain_text("With B")
    assert shared(page).endswith("model=qwen3-32b&b.prompt=8192&v=2")
    with page.expect_download() as workbook:
        page.get_by_role("button", name="Workbook (XLSX)").click()
    assert workbook.value.suggested_filename == "inferdash.xlsx"
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Drop A").click()
    expect(page).to_have_url(re.compile(r"model=qwen3-32b&prompt=8192&v=2$"))
    expect(page.locator("h1")).not_to_contain_text("With B")


def test_one_edit_writes_a_readable_address_and_one_history_entry(page: Page) -> None:
    opened(page, "v=1")
    before = page.evaluate("history.length")
    for count, (edit, query) in enumerate(EDITS, start=1):
        edit(page)
        shows(page, query)
        assert page.evaluate("history.length") == before + count


def test_back_and_forward_restore_each_scenario(page: Page) -> None:
    opened(page, "v=1")
    for edit, query in EDITS:
        edit(page)
        expect(page).to_have_url(f"{PATH}?{query}")
    queries = ["v=1", *(query for _, query in EDITS)]
    for query in queries[-2::-1]:
        page.go_back()
        shows(page, query)
    for query in queries[1:]:
        page.go_forward()
        shows(page, query)


def test_reload_keeps_the_scenario(page: Page) -> None:
    opened(page, "model=qwen3-32b&memory=96GiB&v=1")
    entered(page, "Batch", "4")
    shows(page, "model=qwen3-32b&memory=96GiB&batch=4&v=1")
    page.reload()
    shows(page, "model=qwen3-32b&memory=96GiB&batch=4&v=1")


def test_no_fast_key_press_is_lost(page: Page) -> None:
    opened(page, "v=1")
    page.get_by_label("Batch", exact=True).focus()
    for pace_ms in range(0, 100, 5):
        page.keyboard.press("ArrowUp", delay=pace_ms)
    shows(page, "batch=21&v=1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("With 21 requests in a batch")


def test_a_choice_whose_name_follows_from_another_field_is_drawn_with_it(page: Page) -> None:
    """With the model comes the name of the format in which it is published; then everything can still be changed."""
    opened(page, "v=2")
    format_ = page.get_by_role("combobox", name="Weight precision")
    for model, published in (("gpt-oss-120b", "MXFP4"), ("DeepSeek-V3", "fp8, 128×128 blocks"), ("Qwen3 32B", "bf16")):
        _choose(page, "Model", model)
        expect(format_).to_have_value(f"{published} (as published)")
        entered(page, "GPUs", "8")
        expect(page.get_by_text(f"{model} in {published} on 8").first).to_be_visible()
        entered(page, "GPUs", "1")
        expect(page.get_by_text(f"{model} in {published} on 1").first).to_be_visible()
    expect(format_).to_have_value("bf16 (as published)")


def test_middle_click_and_the_root_carry_the_scenario(page: Page) -> None:
    for query in ("v=2", "batch=4&v=1"):
        page.goto(f"/?{query}".removesuffix("?v=2"))
        expect(page).to_have_url(re.compile(rf"/overview\?{re.escape(query)}$"))
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Compute vs memory").click()
    shows(page, "batch=4&v=1")
    page.goto("/")
    expect(page).to_have_url(re.compile(r"/overview\?v=2$"))
    page.go_back()
    shows(page, "batch=4&v=1")
    entered(page, "Batch", "5")
    shows(page, "batch=5&v=1")
    with page.context.expect_page() as tab:
        page.get_by_role("link", name="Compute vs memory").click(button="middle")
    shows(tab.value, "batch=5&v=1")


def test_two_tabs_keep_their_own_scenarios(page: Page) -> None:
    other = page.context.new_page()
    opened(page, "v=1")
    opened(other, "batch=2&v=1")
    entered(page, "Batch", "3")
    shows(page, "batch=3&v=1")
    _choose(other, "Model", "Qwen3 32B")
    shows(other, "model=qwen3-32b&batch=2&v=1")
    entered(page, "Batch", "4")
    shows(page, "batch=4&v=1")
    shows(other, "model=qwen3-32b&batch=2&v=1")


def test_page_outlives_a_restart_of_the_server(page: Page) -> None:
    with serving() as mortal:
        page.goto(f"{mortal.address}{PATH}?model=qwen3-32b&v=1")
        settled(page)
        entered(page, "Batch", "4")
        shows(page, "model=qwen3-32b&batch=4&v=1")
        drawn = page.locator("[class*=st-key-batch-]").first.get_attribute("class")
        mortal.kill()
        expect(page.locator("[data-test-connection-state=CONNECTED]")).to_have_count(0)
        mortal.start()
        page.locator("[data-test-connection-state=CONNECTED]").wait_for()
        page.wait_for_function(  # until the new server has drawn its own fields
            "(drawn) => (document.querySelector('[class*=st-key-batch-]')?.className ?? drawn) !== drawn", arg=drawn
        )
        shows(page, "model=qwen3-32b&batch=4&v=1")
        entered(page, "Batch", "5")
        shows(page, "model=qwen3-32b&batch=5&v=1")


def test_broken_link_is_said_in_plain_text_and_kept_until_the_first_edit(page: Page) -> None:
    problems = links.decode(BROKEN).problems
    assert [problem.field for problem in problems] == [links.VERSION, "model", "batch"]
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url) if "//a.b" in request.url else None)
    page.on("dialog", lambda dialog: outside.append(dialog.message))
    opened(page, BROKEN)
    for problem in problems:
        expect(page.locator(".st-key-problems")).to_contain_text(problem.sentence)
    expect(page.get_by_text(MARKUP, exact=True)).to_be_visible()
    working(page)
    shared(page)
    expect(page.locator("[href*='//a.b'], [src*='//a.b'], [src=x]")).to_have_count(0)
    page.keyboard.press("Escape")
    shows(page, BROKEN)
    entered(page, "Batch", "4")
    shows(page, urlencode({"title": MARKUP, "batch": 4, "v": 2}))
    expect(page.locator(".st-key-problems")).to_have_count(0)
    expect(page.get_by_text(MARKUP, exact=True)).to_be_visible()
    assert not outside


def test_nothing_scrolls_sideways_at_320_pixels(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 1000})
    for query in ("v=1", BROKEN, EXTREME):
        opened(page, query)
        working(page)
        for part in ("html", "[data-testid=stMain]", "[data-testid=stMainBlockContainer]"):
            wide = page.locator(part).evaluate("part => part.scrollWidth - part.clientWidth")
            assert wide <= 0, f"{part} of ?{query}"


def test_a_visit_asks_no_other_machine(browser: Browser, server: Server) -> None:
    asked: list[str] = []
    with browser.new_context() as stranger:
        stranger.on("request", lambda request: asked.append(request.url))
        page = stranger.new_page()
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.goto(server.address)
        settled(page)
        page.goto(f"{server.address}{PATH}")
        settled(page)
        working(page)
        unfold(page, "Sources")
        shared(page)
        asked.append(page.locator("link[rel~=icon]").evaluate("icon => icon.href"))
    hosts = {urlsplit(url).netloc for url in asked if urlsplit(url).scheme not in {"data", "blob"}}
    assert hosts == {server.host}
    assert any(url.startswith("ws://") for url in asked)


def test_working_renders_every_formula(page: Page) -> None:
    opened(page, "v=1")
    working(page)
    for tab in page.get_by_role("tab").all():
        tab.click()
        expect(page.get_by_role("tabpanel").locator(".katex-display").first).to_be_visible()
    expect(page.locator(".katex-error, .katex [mathcolor='#cc0000']")).to_have_count(0)


def test_reset_restores_the_chapters_example(page: Page) -> None:
    opened(page, EXTREME)
    page.get_by_role("button", name="Reset to the example").click()
    shows(page, "v=2")


@pytest.mark.parametrize("query", ["v=1", "memory=96GiB&v=1"])
def test_nonsense_in_a_field_is_said_in_one_sentence(page: Page, query: str) -> None:
    opened(page, query)
    unfold(page, "Own hardware figures")
    memory = page.get_by_label("Memory", exact=True)
    entered(page, "Memory", "abc")
    sentence = page.get_by_text("memory=abc is not a number with a unit, such as 80 GB.")
    expect(sentence).to_have_count(1)
    expect(sentence).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(said("v=1"))
    entered(page, "Memory", "80GB")
    shows(page, "memory=80GB&v=1")
    expect(sentence).to_have_count(0)
    entered(page, "Memory", "")
    shows(page, "v=1")
    expect(memory).to_be_visible()


def test_shared_link_opens_the_same_page(page: Page) -> None:
    opened(page, "title=Half+the+bytes&model=qwen3-32b&kv=fp8&v=1")
    link = shared(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link
    sentence = page.get_by_role("heading", level=1, include_hidden=True).inner_text()
    page.goto(link)
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(sentence)
    expect(page.get_by_text("Half the bytes", exact=True)).to_be_visible()


def test_headers_guard_the_page_and_let_embeds_be_framed(page: Page) -> None:
    alone, embedded = (page.request.get(path).headers for path in ("/", "/?embed=true"))
    for headers in (alone, embedded):
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "x-frame-options" not in headers
        assert "img-src 'self' data: blob:;" in headers["content-security-policy"]
    assert "frame-ancestors 'self'" in alone["content-security-policy"]
    assert "frame-ancestors" not in embedded["content-security-policy"]


def test_scripts_are_compressed_when_asked(page: Page) -> None:
    script = re.search(r'src="([^"]+\.js)"', page.request.get(PATH).text())
    assert script
    plain, small = (
        page.request.get(f"/{script[1].lstrip('./')}", headers={"Accept-Encoding": coding})
        for coding in ("identity", "gzip")
    )
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert int(small.headers.get("content-length", 0)) < len(plain.body())
    assert small.body() == plain.body()


def test_a_click_on_a_cell_of_the_table_of_models_chooses_also_after_back(page: Page) -> None:
    page.goto("/model?v=1")
    settled(page)
    unfold(page, "Every model")
    for _ in range(2):
        table = page.get_by_test_id("stDataFrame")
        table.scroll_into_view_if_needed()
        table.click(position={"x": 300, "y": 60})
        expect(page).to_have_url(re.compile("/model.model="))
        settled(page)
        page.go_back()
        expect(page).to_have_url(re.compile("/model.v=1$"))
        settled(page)
        expect(page.get_by_role("heading", level=1)).to_contain_text("Llama 3 8B")


def test_every_page_is_in_the_menu_of_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto("/traffic?v=1")
    settled(page)
    page.get_by_role("navigation", name="Pages").get_by_role("button", name="Your traffic").click()
    boxes = [link.bounding_box() for link in page.get_by_role("navigation", name="Pages").get_by_role("link").all()]
    assert len(boxes) == len(PAGES)
    for box in boxes:
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 400
        assert box["height"] >= 24
