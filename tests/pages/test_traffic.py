"""The page of the reader's own requests, run by Streamlit's own test runner."""

import io
import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import links, shipped
from inferdash.scenario import Scenario
from inferdash.studies.price import traffic
from inferdash.studies.report import literal
from inferdash.ui.server import FRAME
from tests.pages.fields import field, unfolded


def opened(**link: str) -> AppTest:
    app = AppTest.from_file(str(FRAME), default_timeout=60)
    for name, value in {**link, "v": "1"}.items():
        app.query_params[name] = value
    return unfolded(app.run()).switch_page(str(shipped("pages") / "traffic.py")).run()


def test_without_a_file_it_says_what_it_takes() -> None:
    app = opened()
    assert app.title[0].value == traffic.QUESTION
    assert any("Mooncake" in one.value for one in app.markdown)
    assert not app.exception


def test_the_example_costs_what_is_known() -> None:
    app = opened(api="anthropic/claude-sonnet-5-5", compared="openai/gpt-6-sol")
    app.button(key="_try").click().run()
    assert not app.exception
    assert app.title[0].value == "3,658 requests cost $102.12 at Claude Sonnet 5.5; caching saves 7.8%."
    said = " ".join(one.value for one in app.markdown)
    assert "13,629,952" in said
    assert "GPT-6 Sol" in said


def asked(*lines: object, query: str = "v=1") -> traffic.Traffic:
    file = io.BytesIO("\n".join(json.dumps(line) for line in lines).encode())
    return traffic.study(file, traffic.ways(links.decode(query).scenario))


REQUEST = {"time": 1, "model": "m", "input_tokens": 1_000_000, "output_tokens": 0}


def test_a_long_lifetime_stores_at_its_own_price() -> None:
    """A million tokens of Sonnet 5.5, stored: 2.50 dollars for five minutes, 4 for an hour, 2 fresh."""
    scenario = links.decode("api=anthropic/claude-sonnet-5-5&compared=&v=1").scenario
    five, hour = traffic.ways(scenario)
    assert float(five.prices.rates.of("written")) == 2.5
    assert float(hour.prices.rates.of("written")) == 4
    assert (five.rules.lifetime_s, hour.rules.lifetime_s) == (300, 3600)
    assert hour.name == "Claude Sonnet 5.5, 60 min"


def test_nothing_can_be_read_is_a_sentence() -> None:
    result = traffic.study(io.BytesIO(b"\x00\x01"), traffic.ways(Scenario()))
    assert traffic.sentence(Scenario(), result) == "No request of this file could be read."
    assert result.problems == ("The file is not text in UTF-8.",)


def test_a_loss_is_called_a_loss() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 1, "cached_tokens": 0, "cache_write_tokens": 100, "time": 1}
    assert "a loss" in traffic.sentence(Scenario(), asked(usage))


def test_parts_of_the_bars_and_tables_add_up() -> None:
    result = asked(REQUEST, {**REQUEST, "time": 2}, query="api=google/gemini-3.8-flash&v=1")
    bars = traffic.bar_rows(result)["bars"]
    for name, one in result.found:
        mine = [row for row in bars if row["way"] == name]
        assert mine[-1]["end"] == pytest.approx(float(one.cost_usd))
    assert "2,000,000" in traffic.kind_table(result).markdown()
    assert "2,000,000 | 100%" in traffic.why_table(result).markdown()


def test_a_file_is_read_and_told_what_was_left_out() -> None:
    app = opened(compared="")
    line = json.dumps({"time": 1, "input_tokens": 1_000_000, "output_tokens": 100_000}).encode()
    app.file_uploader[0].set_value(("log.jsonl", line + b"\nnonsense\n", "application/json")).run()
    assert not app.exception
    assert app.title[0].value == "1 request cost $3.00 at your own prices; caching changes nothing."
    assert any(literal("1 line is not valid JSON.") in one.value for one in app.markdown)
    field(app, "input_usd").set_value("4").run()
    assert app.title[0].value.startswith("1 request cost $5.00")


def test_a_file_makes_no_link_picture_or_formula() -> None:
    """Streamlit makes links of addresses even where their signs are escaped, so they are broken without a trace."""
    app = opened(compared="")
    header = (
        "![](http://evil.example/a.png),[c](https://evil.example/b),$x^2$,www.evil.example,a@evil.example\n1,2,3,4,5\n"
    )
    app.file_uploader[0].set_value(("h.csv", header.encode(), "text/csv")).run()
    assert not app.exception
    (said,) = (one.value for one in app.markdown if "evil" in one.value)
    assert not re.search(r"(?<!\\)[\[\]()!$<>]", said.replace(":material/info:", ""))
    assert not re.search(r"https?\\?:\\?/|www\\?\.|\w\\?@\\?\w", said)
