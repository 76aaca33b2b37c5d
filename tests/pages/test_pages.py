"""Every page, run by Streamlit's own test runner: by default, by a link, at extremes, by a broken link."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from inferdash import links, shipped
from inferdash.facts import library
from inferdash.scenario import CONFIG, Scenario
from inferdash.studies import expected
from inferdash.studies.learn import batching
from inferdash.studies.report import STUDIES
from inferdash.studies.run import memory
from inferdash.ui import parts
from inferdash.ui.hosting.server import FRAME
from tests.pages.fields import field, title, unfolded

LINKS = {
    "default": "",
    "chapter": library.scenarios()["1-chapter"].link.removeprefix("?"),
    "batch": "model=qwen3-32b&accelerator=h200-sxm&gpus=2&weights=fp8&batch=64&v=1",
    "experts": "model=deepseek-v3&weights=fp8&accelerator=h200-sxm&gpus=8&batch=256&v=1",
    "too large": "model=llama-3.1-405b&accelerator=rtx-4090&v=1",
    "does not fit": "model=llama-3.1-405b&accelerator=rtx-4090&prompt=1000000&v=1",
    "one token": "prompt=1&answer=1&v=1",
    "long prompt": "prompt=1000000&v=1",
    "no peak": "accelerator=m4-max&reasoning=100&v=1",
    "own": "model=own&layers=10&accelerator=own&memory=24GB&bandwidth=1TB/s&peak=100TFLOP/s&v=1",
    "huge": "prompt=10000000&answer=10000000&batch=1000000&reasoning=10000000&gpus=1024&v=1",
    "free reads": "read=0&question=0&v=1",
    "no room": "model=llama-3.1-405b&gpus=7&memory_of=engine&batch=100&v=1",
    "broken": "model=nonsense&batch=-1&title=[x](http://a.b)&foo=1",
}
NO_NUMBER = re.compile(r"(?i:\b(nan|inf|infinity|infty)\b|∞)|\bNone\b(?! of)")
"""What no reader should meet: a number that is none, or the want of one as Python writes it."""


def turned(app: AppTest, page: str) -> AppTest:
    """The session, with that page open."""
    return app.switch_page(str(shipped("pages") / f"{page}.py")).run()


def started(query: str) -> AppTest:
    """A session that began with a link."""
    app = AppTest.from_file(str(FRAME), default_timeout=20)
    for name, value in dict(pair.split("=") for pair in query.split("&") if pair).items():
        app.query_params[name] = value
    return app.run()  # after the first run the test runner knows the addresses of the pages


def opened(page: str, query: str) -> AppTest:
    app = turned(unfolded(started(query)), page)
    assert app.caption[0].value.startswith(f"{STUDIES[page].TITLE}: "), "another page was run"
    return app


def address(app: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in app.query_params.items()}


@dataclass(frozen=True)
class Headline:
    """A headline number: the label, the number and unit below it, and the exact figure on hover."""

    label: str
    number: str
    unit: str
    exact: str


@dataclass(frozen=True)
class Seen:
    """What a page showed."""

    errors: list[str]
    captions: list[str]
    titles: list[str]
    plain: list[str]
    """Shown as text and nothing else."""
    markdown: list[str]
    html: list[str]
    headlines: list[Headline]
    specs: list[Any]
    rows: dict[str, list[dict[str, Any]]]
    """Rows of the charts' data sets, by place of the chart and name of the set."""
    buttons: list[str]

    @property
    def words(self) -> list[str]:
        """All that is written on the page, outside its charts and controls."""
        spans = [" ".join(ET.fromstring(f"<div>{body}</div>").itertext()) for body in self.html]  # noqa: S314
        return [*self.titles, *self.captions, *self.plain, *self.markdown, *spans]


def seen(app: AppTest) -> Seen:
    bodies = [one.proto.body for one in app.get("html")]
    html = [body for body in bodies if not body.startswith("<style")]
    charts = app.get("vega_lite_chart")
    return Seen(
        errors=[
            *(error.message for error in app.exception),
            *(button.label for button in app.button if button.key == "reset_failed"),
        ],
        captions=[one.value for one in app.caption],
        titles=[one.value for one in app.title],
        plain=[one.value for one in app.text],
        markdown=[one.value for kind in (app.markdown, app.header, app.subheader) for one in kind],
        html=html,
        headlines=[one for body in html if 'class="numbers"' in body for one in headlines(body)],
        specs=[json.loads(chart.proto.spec) for chart in charts],
        rows={
            f"{place} {part.name}": pa.ipc.open_stream(part.data.data).read_all().to_pylist()
            for place, chart in enumerate(charts)
            for part in chart.proto.datasets
        },
        buttons=[button.label for button in app.button],
    )


def headlines(body: str) -> Iterator[Headline]:
    for cell in ET.fromstring(body):  # noqa: S314 - the project's own markup
        label, number, *reached = cell
        if reached:
            (one,) = reached
            beside = r"expected .*\d.* \(.*\d.* to .*\d.*\)|(.*\d to .*\d.*, )?limit .*\d.*|.*\d.* to .*\d.*"
            assert re.fullmatch(beside, (one.text or "").replace("\N{NO-BREAK SPACE}", " ")), one.text
        small = next(iter(number))
        yield Headline(label.text or "", (number.text or "").strip(), small.text or "", number.attrib["title"])


@cache
def walked(query: str, *, whole: bool = True) -> dict[str, Seen]:
    """Every page in the session of a link, one after another as a reader goes through them, unfolded or not."""
    app = started(query)
    if whole:
        unfolded(app)
    return {page: seen(turned(app, page)) for page in STUDIES}


EVERYWHERE = pytest.mark.parametrize(
    ("query", "page"),
    [pytest.param(query, page, id=f"{name}-{page}") for name, query in LINKS.items() for page in STUDIES],
)


@EVERYWHERE
def test_a_page_stands(query: str, page: str) -> None:
    shown = walked(query)[page]
    assert not shown.errors
    assert shown.captions[0].startswith(f"{STUDIES[page].TITLE}: "), "another page was run"
    (sentence,) = shown.titles
    assert sentence.endswith(".")
    assert len(sentence.split()) > 4
    nothing = {
        "overview": "",
        "batching": "No request",
        "experts": "is dense",
        "serving": "cannot be simulated|none is served",
    }
    nothing["plan"] = "at least two tokens|supports|None of the set-ups considered"
    assert shown.specs or re.search(nothing[page], sentence)
    for place, _ in enumerate(shown.specs):
        assert [name for name, rows in shown.rows.items() if name.split()[0] == str(place) and rows], "an empty chart"


@EVERYWHERE
def test_headline_numbers_carry_their_units(query: str, page: str) -> None:
    shown = walked(query)[page].headlines
    assert shown
    for one in shown:
        assert one.label
        if one.number == "not known":
            assert not one.unit
            continue
        assert one.unit or one.number[0] == "$" or one.number[-1] == "%" or one.exact.endswith(" parameters"), one
        assert re.search(r"\d", one.number), one
        exact, _, unit = one.exact.partition(" ")
        assert math.isfinite(float(exact.replace(",", ""))), one
        assert unit, one


@EVERYWHERE
def test_every_number_of_a_page_is_one(query: str, page: str) -> None:
    shown = walked(query)[page]
    for words in shown.words:
        assert not NO_NUMBER.search(words), words
    for name, rows in shown.rows.items():
        for value in (value for row in rows for value in row.values()):
            assert value is not None, name
            assert not isinstance(value, float) or math.isfinite(value), name
            assert not isinstance(value, str) or not NO_NUMBER.search(value), value
    assert not re.search(r"\b(NaN|-?Infinity)\b", json.dumps(shown.specs))


@pytest.mark.parametrize("link", ["chapter", "experts"])
@pytest.mark.parametrize("page", [page for page in STUDIES if page != "overview"])
def test_the_working_opens(page: str, link: str) -> None:
    shown = walked(LINKS[link])[page]
    assert not shown.errors
    formulas = [words for words in shown.markdown if "$$" in words]
    assert formulas
    assert not [words for words in formulas if NO_NUMBER.search(words)]


@pytest.mark.parametrize("page", ["overview", "compute_vs_memory", "kv_cache"])
@pytest.mark.parametrize(
    ("link", "gpus"),
    [
        # Parameters of 2 bytes and the cache of one prompt, in bytes, over the memory of a GPU.
        ("too large", math.ceil((2 * 405_853_388_800 + 516_096 * 1024) / 24e9)),
        ("long prompt", math.ceil((2 * 8_030_261_248 + 131_072 * 1_000_000) / 80e9)),
    ],
)
def test_where_it_does_not_fit_the_way_out_is_named(page: str, link: str, gpus: int) -> None:
    named = re.compile(rf"\bat least {gpus:,}(?![\d,]|\.\d)|(?<![\d,.]){gpus:,} GPU")
    shown = walked(LINKS[link])[page]
    told = shown.words if page == "kv_cache" else shown.titles
    assert [words for words in told if named.search(words)]


@pytest.mark.parametrize(("link", "bars"), [("default", 2), ("no peak", 1)])
def test_the_caption_of_the_expected_bars_stands_with_them(link: str, bars: int) -> None:
    shown = walked(LINKS[link])["compute_vs_memory"]
    assert shown.captions.count(expected.CAPTION) == 1
    drawn = [name for name, rows in shown.rows.items() if name.endswith(" parts") and "short" in rows[0]]
    assert len(drawn) == bars


@pytest.mark.parametrize("page", STUDIES)
def test_a_broken_link_is_said_and_shown_as_text(page: str) -> None:
    shown = walked(LINKS["broken"])[page]
    said = "\n".join(shown.plain)
    problems = links.decode(f"?{LINKS['broken']}").problems
    assert {problem.field for problem in problems} == {"model", "batch", "foo", "v"}
    for problem in problems:
        assert problem.sentence in said
    assert "[x](http://a.b)" in said
    assert "http://a.b" not in "".join(shown.markdown)


def test_an_edit_changes_the_result_and_the_link() -> None:
    app = opened("compute_vs_memory", "v=1")
    field(app, "batch").set_value("64").run()
    assert title(app).startswith("With 64 requests in a batch, an output token takes 7.13 times")
    assert address(app) == {"batch": "64", "v": "1"}
    app.button(key="reset").click().run()
    assert address(app) == {"v": "2"}
    assert "293 times" in title(app)


def test_a_model_comes_in_the_format_that_its_maker_publishes_until_another_is_chosen() -> None:
    app = opened("overview", "v=2")
    field(app, "model").set_value("gpt-oss-120b").run()
    assert address(app) == {"model": "gpt-oss-120b", "v": "2"}
    assert any("MXFP4 is how OpenAI publishes gpt-oss-120b." in one.value for one in app.caption)
    field(app, "weights").set_value("fp8").run()
    assert address(app) == {"model": "gpt-oss-120b", "weights": "fp8", "v": "2"}
    assert any("published in MXFP4, not in fp8." in one.value for one in app.caption)
    field(app, "model").set_value("deepseek-v3").run()
    assert address(app) == {"model": "deepseek-v3", "v": "2"}
    assert field(app, "weights").value == "files"
    old = opened("overview", "v=1")
    field(old, "model").set_value("gpt-oss-120b").run()
    assert address(old) == {"model": "gpt-oss-120b", "weights": "files", "v": "1"}


def test_the_same_model_said_again_keeps_the_chosen_format() -> None:
    """As a browser does for a widget that the server forgot when the reader went on at once."""

    def script() -> None:
        import streamlit as st  # noqa: PLC0415 - AppTest runs the body of a function alone

        from inferdash.ui import state  # noqa: PLC0415 - the same

        state.sync("overview")
        st.session_state["again"] = state.scenario().model
        state.taken("model", "again", everywhere=True)
        st.text(state.scenario().weights)

    app = AppTest.from_function(script)
    for name, value in {"model": "gemma-3-27b", "weights": "fp32", "v": "2"}.items():
        app.query_params[name] = value
    assert app.run().text[0].value == "fp32"


def test_where_no_request_fits_a_button_mends_it() -> None:
    app = opened("overview", "model=gpt-oss-120b&v=2")
    assert "has no room for a request" in title(app)
    (more,) = (button for button in app.button if button.label == "Use 2 GPUs")
    more.click().run()
    assert address(app) == {"model": "gpt-oss-120b", "gpus": "2", "v": "2"}
    assert ": expect " in title(app)


def test_a_quantity_that_cannot_be_read_says_so_and_loses_nothing() -> None:
    app = opened("compute_vs_memory", "batch=64&v=1")
    field(app, "bandwidth").set_value("fast").run()
    assert any("bandwidth=fast is not a number with a unit" in text.value for text in app.text)
    assert "With 64 requests" in title(app)
    assert address(app) == {"batch": "64", "v": "1"}
    field(app, "bandwidth").set_value("1 TB/s").run()
    assert address(app) == {"bandwidth": "1TB/s", "batch": "64", "v": "1"}


def test_a_broken_links_address_stays_until_the_first_edit() -> None:
    app = opened("compute_vs_memory", "model=nonsense&batch=4")
    assert address(app) == {"model": "nonsense", "batch": "4"}
    field(app, "batch").set_value("5").run()
    assert address(app) == {"batch": "5", "v": "2"}
    assert not any("nonsense" in text.value for text in app.text)


def test_the_address_wins_when_the_reader_goes_back() -> None:
    app = opened("compute_vs_memory", "batch=4&v=1")
    field(app, "batch").set_value("64").run()
    app.query_params["batch"] = "4"
    app.run()
    assert field(app, "batch").value == "4"


CONFIG_OF_A_STRANGER = {
    "model_type": "llama9",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}
NOT_KNOWN = "model_type “llama9” is not known"


def test_a_pasted_config_is_read_with_the_click_that_follows() -> None:
    app = opened("model", "v=1")
    for hidden in (64, 128):
        app.text_area(key="_pasted").set_value(json.dumps(CONFIG_OF_A_STRANGER | {"hidden_size": hidden}))
        app.button(key="_read_pasted").click().run()
        assert f'"hidden_size":{hidden}' in address(app)["config"]
    assert any(text.value.startswith("llama9") for text in app.text)
    app.text_input(key="_config_name").set_value("Our chat 9B")
    app.button(key="_read_pasted").click().run()
    assert '"_name_or_path":"Our chat 9B"' in address(app)["config"]
    assert any(text.value.startswith("Our chat 9B is now the model") for text in app.text)
    assert "Our chat 9B has" in title(app)
    field(app, "model").set_value("qwen3-8b").run()
    assert not [text.value for text in app.text if "Our chat" in text.value]


def test_what_was_assumed_of_a_model_stands_on_every_page() -> None:
    app = AppTest.from_file(str(FRAME), default_timeout=20)
    app.query_params.update({"model": CONFIG, "config": json.dumps(CONFIG_OF_A_STRANGER), "v": "1"})
    app.run()
    for page in STUDIES:
        assert any(text.value.startswith(NOT_KNOWN) for text in turned(app, page).text), page


def test_an_entry_that_does_not_apply_is_said_on_a_page_without_its_field() -> None:
    app = opened("memory", "v=1")
    field(app, "memory_of").set_value("engine").run()
    field(app, "activations").set_value("100 GB").run()
    said = "activations=100 GB leaves no memory for the model"
    assert len([text for text in app.text if text.value.startswith(said)]) == 1
    assert len([text for text in turned(app, "batching").text if text.value.startswith(said)]) == 1


def test_a_batch_of_one_is_compared_with_what_fits_after_each_edit() -> None:
    app = opened("batching", "memory=40GB&v=2")
    for name, value in (("prompt", 4000), ("prompt", 9000), ("batch", 8), ("batch", 1)):
        field(app, name).set_value(str(value)).run()
        scenario = links.decode(address(app).items()).scenario
        compared = batching.study(scenario).compared_batch
        assert field(app, "batch").value == f"{compared:,}"
        assert scenario.batch == (8 if value == 8 else 1)
        assert value != 9000 or compared < 256


def test_a_page_that_fails_leaves_a_way_out(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    app = opened("memory", "batch=64&v=1")

    def failing(*_: object) -> str:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(memory, "sentence", failing)
        app.run()
    assert not app.exception
    assert [title.value for title in app.title] == ["This page cannot be shown for this scenario."]
    assert "ZeroDivisionError" in caplog.text
    app.button(key="reset_failed").click().run()
    assert title(app).startswith("1 × NVIDIA H100 SXM can hold")
    assert address(app) == {"v": "2"}


def test_the_table_of_models_marks_the_model() -> None:
    app = opened("model", "v=1")
    ids = list(app.dataframe[0].value["id"])

    def marked() -> list[str]:
        return [ids[place] for place, _ in app.session_state["picker"]["selection"]["cells"]]

    assert marked() == ["llama-3-8b"]
    field(app, "model").set_value("qwen3-8b").run()
    assert marked() == ["qwen3-8b"]


def test_a_page_that_fails_offers_the_smallest_change_that_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("memory", "batch=64&prompt=2000&v=1")
    sound = memory.sentence

    def failing(scenario: Scenario, result: Any) -> str:
        if scenario.batch == 64:
            raise ZeroDivisionError
        return sound(scenario, result)

    monkeypatch.setattr(memory, "sentence", failing)
    app.run()
    assert [button.label for button in app.button if "“" in button.label] == ["Set “Batch” to 1"]
    app.button(key="mend batch").click().run()
    assert address(app) == {"prompt": "2000", "v": "1"}
    assert "2,000 tokens" in title(app)


def test_a_link_that_makes_reading_fail_leaves_a_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(links, "decode", failing)
    app = started("batch=3&v=1")
    assert not app.exception
    assert any("The link could not be read." in text.value for text in app.text)
    assert "MemoryError" in caplog.text


def test_a_line_of_a_start_log_is_taken_into_the_link() -> None:
    app = opened("memory", "model=llama-3.1-8b&accelerator=rtx-3090&prompt=20000&answer=1&v=1")
    app.text_area(key="_start_log").input("Available KV cache memory: 3.81 GiB").run()
    app.button(key="_start_read").click().run()
    assert not app.exception
    assert address(app)["cache_room"] == "3.81GiB"
    assert "vLLM probably starts" in title(app)
    app.button(key="_start_remove").click().run()
    assert "cache_room" not in address(app)
    app.text_area(key="_start_log").input("hello").run()
    app.button(key="_start_read").click().run()
    assert [text.value for text in app.text if text.value.startswith("“hello” is not a memory line of a start log")]


def _named(spec: Any) -> Iterator[str]:
    """Names of the data that a specification, or a part of it, asks for."""
    parts = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    if isinstance(spec, dict) and isinstance(spec.get("data"), dict) and "name" in spec["data"]:
        yield spec["data"]["name"]
    for part in parts:
        yield from _named(part)


def test_a_chart_has_the_rows_that_it_names_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """When rows change, Vega fails over those of a name that it does not know."""
    drawn = []

    def noted(spec: dict[str, Any], rows: Mapping[str, Any]) -> dict[str, Any]:
        drawn.append((set(_named(spec)), set(rows)))
        return original(spec, rows)

    original = parts.filled
    monkeypatch.setattr(parts, "filled", noted)
    app = unfolded(started("model=deepseek-v3&gpus=8&batch=64&queue=1s&v=1"))
    for page in STUDIES:
        turned(app, page)
    assert len(drawn) > 20
    assert [pair for pair in drawn if pair[0] != pair[1]] == []
