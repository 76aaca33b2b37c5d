"""Every page, run by Streamlit's own test runner: by default, by a link, at extremes, by a broken link."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import links, shipped
from inferdash.studies.report import STUDIES
from inferdash.ui.server import FRAME

LINKS = {
    "default": "v=1",
    "batch": "model=qwen3-32b&accelerator=h200-sxm&gpus=2&weights=fp8&batch=64&v=1",
    "does not fit": "model=llama-3.1-405b&accelerator=rtx-4090&prompt=1000000&v=1",
    "one token": "prompt=1&answer=1&v=1",
    "no peak": "accelerator=m4-max&reasoning=100&v=1",
    "own": "model=own&layers=10&accelerator=own&memory=24GB&bandwidth=1TB/s&peak=100TFLOP/s&v=1",
    "huge": "prompt=10000000&answer=10000000&batch=1000000&reasoning=10000000&gpus=1024&v=1",
    "broken": "model=nonsense&batch=-1&title=[x](http://a.b)&foo=1",
}


def opened(page: str, query: str) -> AppTest:
    app = AppTest.from_file(str(FRAME), default_timeout=20)
    for name, value in dict(pair.split("=") for pair in query.split("&")).items():
        app.query_params[name] = value
    app.run()  # after the first run the test runner knows the addresses of the pages
    app.switch_page(str(shipped("pages") / f"{page}.py")).run()
    assert app.caption[0].value.startswith(f"{STUDIES[page].TITLE}: "), "another page was run"
    return app


def address(app: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in app.query_params.items()}


def charts(app: AppTest) -> list[Any]:
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


@pytest.mark.parametrize("page", STUDIES)
@pytest.mark.parametrize("query", LINKS.values(), ids=LINKS)
def test_a_page_stands(page: str, query: str) -> None:
    app = opened(page, query)
    assert not app.exception
    (sentence,) = app.title
    assert sentence.value.endswith(".")
    assert "nan" not in sentence.value.lower().split()
    assert charts(app) or page == "overview" or "Show DeepSeek-V3" in [button.label for button in app.button]
    text = json.dumps(charts(app))
    assert "NaN" not in text
    assert "Infinity" not in text


@pytest.mark.parametrize("page", STUDIES)
def test_a_broken_link_is_said_and_shown_as_text(page: str) -> None:
    app = opened(page, LINKS["broken"])
    said = "\n".join(text.value for text in app.text)
    for problem in links.decode(LINKS["broken"]).problems:
        assert problem.sentence in said
    assert "[x](http://a.b)" in said
    assert "http://a.b" not in "".join(markdown.value for markdown in app.markdown)


def test_an_edit_changes_the_result_and_the_link() -> None:
    app = opened("compute_vs_memory", "v=1")
    app.number_input(key="batch").set_value(64).run()
    assert app.title[0].value.startswith("With 64 requests in a batch, writing a token takes 7.13 times")
    assert address(app) == {"batch": "64", "v": "1"}
    app.button(key="reset").click().run()
    assert address(app) == {"v": "1"}
    assert "293 times" in app.title[0].value


def test_a_quantity_that_cannot_be_read_says_so_and_loses_nothing() -> None:
    app = opened("compute_vs_memory", "batch=64&v=1")
    app.text_input(key="bandwidth").set_value("fast").run()
    assert any("bandwidth=fast is not a number with a unit" in text.value for text in app.text)
    assert "With 64 requests" in app.title[0].value
    assert address(app) == {"batch": "64", "v": "1"}
    app.text_input(key="bandwidth").set_value("1 TB/s").run()
    assert address(app) == {"bandwidth": "1TB/s", "batch": "64", "v": "1"}


def test_a_broken_links_address_stays_until_the_first_edit() -> None:
    app = opened("compute_vs_memory", "model=nonsense&batch=4")
    assert address(app) == {"model": "nonsense", "batch": "4"}
    app.number_input(key="batch").set_value(5).run()
    assert address(app) == {"batch": "5", "v": "1"}
    assert not any("nonsense" in text.value for text in app.text)


def test_the_address_wins_when_the_reader_goes_back() -> None:
    app = opened("compute_vs_memory", "batch=4&v=1")
    app.number_input(key="batch").set_value(64).run()
    app.query_params["batch"] = "4"
    app.run()
    assert app.number_input(key="batch").value == 4
