"""Two scenarios on every page, by Streamlit's own test runner: pinned, turned, swapped and dropped."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import links, pairs, shipped
from inferdash.pairs import Pair
from inferdash.studies import comparison, differing
from inferdash.studies.report import PAGES
from inferdash.ui.hosting.server import FRAME
from tests.pages.fields import field, title, unfolded

LINK = "?model=qwen3-32b&b.model=qwen3-30b-a3b&b.weights=fp8&b.batch=8&b.api=openai/gpt-5.2&b.load=2&v=2"
PAIR = pairs.decode(LINK).pair


@pytest.fixture(scope="module")
def reader() -> AppTest:
    app = AppTest.from_file(str(FRAME), default_timeout=60)
    app.query_params.update(pairs.parameters(PAIR))
    return unfolded(app.run()).run()


def turned(app: AppTest, page: str) -> AppTest:
    return app.switch_page(str(shipped("pages") / f"{page}.py")).run()


def query(app: AppTest) -> str:
    found = {name: value if isinstance(value, str) else value[-1] for name, value in app.query_params.items()}
    return links.query(found)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_both(reader: AppTest, page: str) -> None:
    app = turned(reader, page)
    assert not app.exception
    assert not [button for button in app.button if button.key == "reset_failed"]
    assert query(app) == pairs.encode(PAIR)
    a, b = PAIR.a, PAIR.edited
    assert f"B against A. {differing.told(a, b)}" in [one.value for one in app.text]
    tables = [one.proto.body for one in app.get("html") if 'class="both"' in one.proto.body]
    if page == "traffic":
        assert not tables
        assert any("of B alone" in one.value for one in app.caption)
        return
    assert title(app) == comparison.sentence(page, a, b)
    assert len(tables) == 1
    for chart in app.get("vega_lite_chart"):
        json.loads(chart.proto.spec)


def test_pinned_turned_swapped_and_dropped() -> None:
    app = unfolded(AppTest.from_file(str(FRAME), default_timeout=60).run())
    app.query_params.update({"batch": "16", "v": "2"})
    turned(app, "overview")
    a = links.decode("?batch=16&v=2").scenario
    app.button(key="compare").click().run()
    assert query(app) == "batch=16&b=a&v=2"
    assert title(app) == "A and B are the same scenario."
    field(app, "batch").set_value("64").run()
    assert query(app) == "batch=16&b.batch=64&v=2"
    turned(app, "memory")
    assert query(app) == "batch=16&b.batch=64&v=2"
    app.button(key="swap").click().run()
    assert query(app) == "batch=64&b.batch=16&v=2"
    assert field(app, "batch").value == "16"
    app.button(key="drop A").click().run()
    assert query(app) == links.encode(a)
    app.button(key="compare").click().run()
    field(app, "batch").set_value("8").run()
    app.button(key="drop B").click().run()
    assert query(app) == pairs.encode(Pair(a))
    assert field(app, "batch").value == "16"


def test_several_values_of_a_field_stand_in_one_table() -> None:
    app = unfolded(AppTest.from_file(str(FRAME), default_timeout=60).run())
    app.query_params.update({"v": "2"})
    turned(app, "memory")
    rows = [one.value for one in app.markdown if one.value.startswith("| Batch |")]
    assert rows[0].count("](memory?") == 3
    next(one for one in app.text_input if one.label == "Values").set_value("2, 4").run()
    turned(app, "overview")
    rows = [one.value for one in app.markdown if one.value.startswith("| Batch | ") and "](overview?" in one.value]
    assert rows[0].count("](overview?") == 2
    assert query(app) == "v=2"
