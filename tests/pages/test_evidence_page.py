"""The page that holds expectations against measurements, and takes the reader's own."""

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import shipped
from inferdash.ui.hosting.server import FRAME
from tests.pages.fields import title, unfolded


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(FRAME), default_timeout=20)
    for name, value in query.items():
        app.query_params[name] = value
    unfolded(app.run())
    app.switch_page(str(shipped("pages") / "evidence.py")).run()
    assert not app.exception
    return app


def words(app: AppTest) -> str:
    return " ".join(one.value for one in (*app.markdown, *app.text, *app.caption))


def entered(app: AppTest, value: str) -> AppTest:
    app.text_input(key="_measured_value").input(value)
    app.button(key="_measured_add").click().run()
    assert not app.exception
    return app


@pytest.mark.parametrize("text", ["9 ms", "9", "0.009 s"])
def test_an_own_measurement_is_taken_into_the_link(text: str) -> None:
    app = entered(opened(batch="4", v="1"), text)
    assert app.query_params["measured"] == "itl~9ms~batch~4"
    assert app.text_input(key="_measured_value").value == ""
    assert "1 measurement of Llama 3 8B on NVIDIA H100 SXM with vLLM counts on every page." in words(app)
    app.button(key="_measured_0").click().run()
    assert "measured" not in app.query_params
    assert not app.exception


def test_one_that_cannot_be_is_refused_with_the_reason_and_stays_in_the_field() -> None:
    for value, reason in {
        "1 ms": "beats 4.53 ms",
        "9 ms?": "no time with a unit",
        "": "no time with a unit",
    }.items():
        app = entered(opened(v="1"), value)
        assert reason in words(app)
        assert "measured" not in app.query_params
        assert app.text_input(key="_measured_value").value == value


def test_a_fourth_is_one_too_many() -> None:
    app = entered(opened(measured="itl~9ms,itl~10ms,itl~11ms", v="1"), "12 ms")
    assert "more than 3 measurements" in words(app)
    assert app.query_params["measured"] == "itl~9ms,itl~10ms,itl~11ms"


def test_the_page_says_its_errors() -> None:
    app = opened(v="1")
    assert title(app).startswith("A set-up like yours was measured: Llama-3-8B fp16 on 1 × H100 SXM with vLLM")
    assert "published measurements, the expected time is off by" in words(app)
    heads = [one.label for one in app.expander]
    assert heads.index("One measurement") < heads.index("Nearest to your scenario") < heads.index("Errors by group")


def test_a_load_tools_file_is_compared_and_becomes_an_engine_to_download() -> None:
    app = opened(v="1")
    tool = shipped("presets").parent / "tests" / "serving" / "load_tools" / "vllm_bench_serve.json"
    app.file_uploader[0].set_value([(tool.name, tool.read_bytes(), "application/json")]).run(timeout=60)
    assert not app.exception
    assert "Purple: time per output token" in words(app)
    assert "INFERDASH_ENGINES" in words(app)
    app.file_uploader[0].set_value([("nothing.csv", b"a,b\n1,2\n", "text/csv")]).run(timeout=60)
    assert "It is no table of load tests" in words(app)
    assert not app.exception
