"""The plan becomes the scenario with a click, and a file's requests run on the page that serves them."""

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import links, shipped
from inferdash.ui.hosting.server import FRAME
from tests.pages.fields import title, unfolded


def opened(page: str, query: str) -> AppTest:
    app = AppTest.from_file(str(FRAME), default_timeout=30)
    for name, value in dict(pair.split("=", 1) for pair in query.split("&")).items():
        app.query_params[name] = value
    unfolded(app.run())
    return turned(app, page)


def turned(app: AppTest, page: str) -> AppTest:
    app.switch_page(str(shipped("pages") / f"{page}.py")).run()
    assert not app.exception
    return app


def pressed(app: AppTest, label: str) -> AppTest:
    (button,) = [one for one in app.button if one.label == label]
    button.click().run()
    assert not app.exception
    return app


def test_the_plan_becomes_the_scenario_of_every_page() -> None:
    app = opened("plan", "model=llama-3.1-8b&load=100&memory=24GB&length_spread=3&v=1")
    planned = title(app)
    pressed(app, "Use this set-up")
    assert "now the scenario of every page" in app.success[0].value
    assert "Use this set-up" not in [one.label for one in app.button]
    query = "&".join(f"{name}={app.query_params[name]}" for name in app.query_params)
    decoded = links.decode(query)
    assert decoded.problems == ()
    assert (decoded.scenario.memory, decoded.scenario.length_spread) == (None, 1.0)
    assert f"{decoded.scenario.gpus * decoded.scenario.replicas} × {decoded.scenario.hardware.name}" in planned
    turned(app, "serving")
    assert "meet both targets" in title(app)


def test_where_nothing_fits_the_gpus_that_it_takes_are_one_click_away() -> None:
    app = opened("serving", "accelerator=rtx-4090&model=llama-3.1-405b&v=1")
    assert "none is served" in title(app)
    pressed(app, "Use as many GPUs as it takes")
    assert app.query_params["gpus"] == "34"
    assert "none is served" not in title(app)


@pytest.mark.parametrize("content", ["nothing here", "a,b\n1,2\n", '{"timestamp": 0}\n'])
def test_a_file_without_requests_is_said_to_have_none(content: str) -> None:
    app = opened("serving", "v=1")
    app.file_uploader[0].set_value(("log.jsonl", content.encode(), "application/json")).run()
    assert not app.exception
    assert "The file has no requests that can be read." in " ".join(one.value for one in app.markdown)


def test_the_field_of_the_batch_shows_the_batch_that_the_page_is_of() -> None:
    app = opened("batching", "v=2")
    fields = {one.label: one.value for one in app.text_input}
    assert fields["Batch"] == "256"
    assert "Batch 256" in title(app)
    (field,) = [one for one in app.text_input if one.label == "Batch"]
    field.set_value("64").run()
    assert "Batch 64" in title(app)
    assert app.query_params["batch"] == "64"
