"""The page of the reader's own requests, run by Streamlit's own test runner."""

import io
import json
import re
from datetime import date
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import links, shipped
from inferdash.facts.money import prices
from inferdash.scenario import Scenario
from inferdash.studies.numbers import literal
from inferdash.studies.price import billed, own_log, places, traffic, ways
from inferdash.ui.hosting.server import FRAME
from tests.pages.fields import field, title, unfolded


def opened(**link: str) -> AppTest:
    app = AppTest.from_file(str(FRAME), default_timeout=60)
    for name, value in {**link, "v": "1"}.items():
        app.query_params[name] = value
    return unfolded(app.run()).switch_page(str(shipped("pages") / "traffic.py")).run()


def test_without_a_file_it_says_what_it_takes() -> None:
    app = opened()
    assert title(app) == traffic.QUESTION
    assert any("Mooncake" in one.value for one in app.markdown)
    assert not app.exception


def test_the_example_costs_what_is_known() -> None:
    app = opened(api="anthropic/claude-sonnet-5-5", compared="openai/gpt-6-sol")
    app.button(key="_try").click().run()
    assert not app.exception
    assert title(app) == "3,658 requests cost $102.12 at Claude Sonnet 5.5; caching saves 7.8%."
    said = " ".join(one.value for one in app.markdown)
    assert "13,629,952" in said
    assert "GPT-6 Sol" in said


def asked(*lines: object, query: str = "v=1") -> traffic.Traffic:
    return read("\n".join(json.dumps(line) for line in lines).encode(), query)


def read(content: bytes, query: str = "v=1", dates: str = "") -> traffic.Traffic:
    asked = ways.of(links.decode(query).scenario)
    file = own_log.read(io.BytesIO(content), ways.rules_of(asked), own_log.written(0, "", dates))
    return traffic.study(file, asked, date(2026, 11, 29))


REQUEST = {"time": 1, "model": "m", "input_tokens": 1_000_000, "output_tokens": 0}


def test_a_long_lifetime_stores_at_its_own_price() -> None:
    """A million tokens of Sonnet 5.5, stored: 2.50 dollars for five minutes, 4 for an hour, 2 fresh."""
    scenario = links.decode("api=anthropic/claude-sonnet-5-5&compared=&v=1").scenario
    five, hour = ways.of(scenario)
    assert float(five.prices.rates.of("written")) == 2.5
    assert float(hour.prices.rates.of("written")) == 4
    assert (five.rules.lifetime_s, hour.rules.lifetime_s) == (300, 3600)
    assert hour.name == "Claude Sonnet 5.5, 60 min"


def test_nothing_can_be_read_is_a_sentence() -> None:
    result = read(b"\x00\x01")
    assert traffic.sentence(Scenario(), result) == "No request of this file could be read."
    assert result.problems == ("The file is not UTF-8 text.",)


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
    assert title(app) == "1 of 2 requests cost $3.00 at your own prices; caching changes nothing."
    assert any(literal("1 line is not valid JSON.") in one.value for one in app.markdown)
    field(app, "input_usd").set_value("4").run()
    assert title(app).startswith("1 of 2 requests cost $5.00")


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


OWN_MODELS = b"""date,model,input_tokens,cached_tokens,output_tokens
2026-11-01,claude-sonnet-4-6,100000,40000,10000
2026-11-01T08:00:00,gpt-5-mini,100000,20000,10000
2026-11-03,nonesuch-9,1500,300,100
"""


def test_each_line_is_billed_at_its_own_model() -> None:
    """Sonnet 4.6 at $3, $0.30 and $15: 0.18 + 0.012 + 0.15; GPT-5 mini at $0.25, $0.025 and $2."""
    result = read(OWN_MODELS, "api=openai/gpt-6-luna&compared=&v=1")
    assert result.as_billed
    assert [name for name, _ in result.found][:2] == ["As billed, without 1 request", "GPT-6 Luna"]
    assert float(result.own.cost_usd) == pytest.approx(0.342 + 0.0405)
    assert traffic.sentence(Scenario(), result).startswith("2 of 3 requests cost $0.383 as billed")
    assert any("nonesuch-9 (1 request)" in sentence for sentence in result.problems)
    models = billed.model_table(result.parts, own=True).markdown()
    assert "$0.342 | 89.4% | 1 | 100,000 | 40,000 | 10,000 | anthropic/claude-sonnet-4-6" in models
    assert sum(row["usd"] for row in billed.day_rows(result.parts)["days"]) == pytest.approx(0.3825)


def test_each_line_has_the_prices_of_its_own_day() -> None:
    """Gemini 3.8 Flash doubles on 2027-01-01, from $0.75 for a million tokens."""
    lines = (
        {"time": f"{day}T12:00:00", "model": "gemini-3.8-flash", "input_tokens": 100_000, "output_tokens": 0}
        for day in ("2026-12-31", "2027-01-01")
    )
    assert float(asked(*lines).own.cost_usd) == pytest.approx(0.075 + 0.15)


def test_a_headline_says_how_much_of_a_file_it_is_of() -> None:
    """Cached input is a part of the input in words, with Claude too; Sonnet 4.6 at $3, $0.30 and $15 a million."""
    header = b"Date,Model,Requests,Input tokens,Cached input tokens,Output tokens\n"
    lines = b'9/1/2026,claude-sonnet-4-6,"1,200","5,400,000","1,800,000","300,000"\n9/22/2026,gpt-5-mini,10,x,0,5\n'
    result = read(header + lines, "compared=&v=1")
    assert float(result.own.cost_usd) == pytest.approx(3.6 * 3 + 1.8 * 0.3 + 0.3 * 15)
    assert traffic.sentence(Scenario(), result).startswith("1,200 requests in 1 of 2 lines cost $15.84 as billed")
    assert "The column “Cached input tokens” is read as cached_tokens." in result.notes
    assert "Counts are read as those of Plain columns (input includes cached tokens)." in result.notes


def test_models_are_compared_on_the_lines_that_have_a_bill() -> None:
    """Prices that nobody entered are no bar, and the line without a price is in none."""
    result = read(OWN_MODELS, "compared=openai/gpt-6-luna&v=1")
    assert [name for name, _ in result.found] == ["As billed, without 1 request", "GPT-6 Luna"]
    assert {one.requests for _, one in result.found} == {2}


DAILY = """Date,Model,{}Input Tokens,Cached Tokens,Output Tokens
11/13/2026,gpt-6-sol,{}"2,400,000","900,000",30000
11/14/2026,gpt-6-sol,{}"2,000,000","800,000",20000
11/15/2026,gpt-6-sol,{}"100,000","0",10000
"""


@pytest.mark.parametrize("counts", [True, False])
def test_totals_of_days_have_no_long_prompts(counts: bool) -> None:
    """Dates of the US; a day of 2.4 million tokens is no request, whether its requests are counted or not."""
    text = DAILY.format(*(("Requests,", '"1,200",', "1000,", "50,") if counts else ("",) * 4)).encode()
    result = read(text)
    own = prices.price_list("openai", "gpt-6-sol", day=date(2026, 11, 14)).rates
    assert own != prices.price_list("openai", "gpt-6-sol", day=date(2026, 11, 14)).for_input(2_000_000)
    fresh, read_, output = 2_800_000, 1_700_000, 60_000
    whole = (fresh * own.of("fresh") + read_ * own.of("read") + output * own.of("output")) / 1_000_000
    assert result.own.cost_usd == whole
    assert result.own.over_tier == 0
    assert result.own.requests == (2250 if counts else 3)
    assert any("have the month first" in note for note in result.notes)
    assert result.days == 3
    assert result.month_usd == pytest.approx(10 * float(whole))


def test_a_long_request_is_no_total_of_a_day() -> None:
    line = {"model": "gpt-6-sol", "input_tokens": 500_000, "output_tokens": 0, "cached_tokens": 0}
    result = asked(*({**line, "time": f"2026-11-13T0{hour}:30:00"} for hour in range(4)))
    assert result.own.over_tier == 4


def test_dates_that_leave_it_open_are_asked_about() -> None:
    text = b"Date,Model,Input Tokens,Cached Tokens,Output Tokens\n"
    text += b"".join(b"%s,gpt-6-sol,1000,0,10\n" % day for day in (b"11/05/2026", b"11/08/2026", b"11/02/2026"))
    result = read(text)
    assert traffic.is_open(result, own_log.written(0, "", ""))
    assert result.own.requests == 3
    assert result.days is None
    assert result.month_usd is None
    assert read(text, dates="month first (11/30/2026)").days == 7
    assert read(text, dates="day first").days == (date(2026, 8, 11) - date(2026, 2, 11)).days + 1


def test_a_model_without_a_price_for_an_hour_has_no_bill() -> None:
    usage = {
        "input_tokens": 5,
        "output_tokens": 1,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 9,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 9},
    }
    query = "api=anthropic/claude-sonnet-5-5&compared=google/gemini-2.5-pro&v=1"
    result = asked({"usage": usage}, query=query)
    assert result.asks == ""
    assert len(result.lacking) == 1
    assert any("No bill for" in problem for problem in result.problems)
    costs = [row.values[0] for row in traffic.way_table(result).rows if row.label in result.lacking]
    assert costs == ["a price is missing"]
    assert not {row["way"] for row in traffic.bar_rows(result)["bars"]} & result.lacking


def test_a_file_on_the_server_is_read_where_that_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.jsonl").write_text(
        '{"time": 1793000000, "model": "gpt-5-mini", "usage": {"prompt_tokens": 1000000, "completion_tokens": 0}}\n'
    )
    assert not [one for one in opened().text_input if one.key == "_path"]
    monkeypatch.setenv(places.ROOTS, str(tmp_path))
    app = opened()
    app.text_input(key="_path").set_value("log.jsonl").run()
    assert not app.exception
    assert "$0.25" in title(app)
