"""The reader's own measurements: read, refused, kept in the link, and counted where they hold."""

import json

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from inferdash import links
from inferdash.facts import library
from inferdash.scenario import Scenario, measured
from inferdash.studies.check import calibration
from inferdash.studies.learn import compute_vs_memory
from inferdash.studies.numbers import Estimate

THREE = "itl~7.6ms,ttft~60ms,tps~1500~batch~16"


def decode_of(query: str) -> Estimate:
    decoded = links.decode(query)
    assert decoded.problems == ()
    return compute_vs_memory.study(decoded.scenario).expected.decode


def test_a_measurement_is_what_is_expected_then() -> None:
    plain, own = decode_of("v=1"), decode_of("measured=itl~6.5ms&v=1")
    assert own.expected == pytest.approx(0.0065, rel=0.02)
    assert own.limit == plain.limit
    assert plain.expected > 1.05 * own.expected  # type: ignore[operator]


def test_the_band_narrows_and_holds_what_the_fit_leaves() -> None:
    def width(one: Estimate) -> float:
        assert one.high is not None
        assert one.low is not None
        return one.high / one.low

    plain, own = decode_of("v=1"), decode_of("measured=itl~8.5ms&v=1")
    assert width(own) < width(plain)
    torn = decode_of("measured=itl~6ms,itl~14ms&v=1")  # the same pass, measured twice and far apart
    assert torn.high is not None
    assert torn.low is not None
    assert torn.low <= 0.006 * 1.001
    assert torn.high >= 0.014 * 0.999


@pytest.mark.parametrize("change", ["model=qwen3-8b", "accelerator=h200-sxm", "engine=sglang", "bandwidth=3TB/s"])
def test_it_counts_for_the_same_model_accelerator_and_engine_only(change: str) -> None:
    assert decode_of(f"{change}&measured=itl~30ms&v=1") == decode_of(f"{change}&v=1")


def test_it_counts_for_other_batches_lengths_formats_and_numbers_of_gpus() -> None:
    for change in ("batch=64", "prompt=9000", "weights=fp8", "gpus=2&layout=tensor"):
        assert decode_of(f"{change}&measured=itl~30ms&v=1").expected > decode_of(f"{change}&v=1").expected  # type: ignore[operator]


def test_a_measurement_keeps_the_machine_that_it_was_made_on() -> None:
    scenario = links.decode("model=qwen3-32b&gpus=2&layout=tensor&batch=16&memory=90GB&v=1").scenario
    text = calibration.added(scenario, "itl", "60 ms")
    (one,) = measured.read(text)
    assert text == "itl~60ms~model~qwen3-32b~gpus~2~memory~90GB~layout~tensor~batch~16"
    assert one.machine.architecture == scenario.architecture
    assert one.machine.batch == 16
    moved_on = scenario.model_copy(update={"batch": 1, "measured": text})
    assert links.decode(links.encode(moved_on)).scenario == moved_on
    assert moved_on.measurements == (one,)


def test_one_of_an_own_config_is_of_the_scenarios_own() -> None:
    config = json.dumps(
        {
            "model_type": "llama",
            "hidden_size": 2048,
            "num_hidden_layers": 16,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "intermediate_size": 8192,
            "vocab_size": 128256,
        }
    )
    scenario = Scenario.model_validate({"model": "config", "config": config})
    text = calibration.added(scenario, "itl", "5 ms")
    assert "model_type" not in text
    other = json.dumps({**json.loads(config), "num_hidden_layers": 32})
    with pytest.raises(ValidationError, match=r"another config\.json"):
        Scenario.model_validate({"model": "config", "config": other, "measured": text})
    with_it = Scenario.model_validate({"model": "config", "config": config, "measured": text})
    assert with_it.program.name.endswith("as you measured it")


def test_text_and_measurements_are_one() -> None:
    assert measured.written(measured.read(THREE)) == THREE
    assert measured.read("") == ()


def test_removing_one_keeps_the_others() -> None:
    scenario = links.decode(f"measured={THREE}&v=1").scenario
    assert calibration.without(scenario, 1) == "itl~7.6ms,tps~1500~batch~16"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("itl~3ms", "beats 4.53 ms"),
        ("ttft~1ms", "a cached prompt"),
        ("tps~90000~batch~16", "90,000 tokens/s"),
        ("itl~7.6", "no time with a unit"),
        ("itl~fast", "not a number with a unit"),
        ("itl", "no measurement"),
        ("speed~7ms", "no measurement"),
        ("itl~7ms~batch", "no measurement"),
        ("itl~7ms~batch~0", "batch=0"),
        ("itl~7ms~foo~1", "foo=1"),
        ("itl~7ms~title~x", "title"),
        ("tps~many", "no number of tokens"),
        ("tps~inf", "no number of tokens"),
        ("tps~37.5.5", "no number of tokens"),
        ("itl~9min", "check its unit"),
        ("itl~9ms~batch~1~batch~16", "a field twice"),
        ("itl~1e308d", "too large"),
        ("itl~7ms~accelerator~m4-max", "needs the peak"),
        ("itl~20ms,itl~20ms,itl~20ms,itl~20ms", "more than 3"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason_and_loses_nothing_else(text: str, reason: str) -> None:
    decoded = links.decode(f"batch=2&measured={text}&v=1")
    (problem,) = decoded.problems
    assert problem.field == "measured"
    assert reason in problem.sentence
    assert decoded.scenario == links.decode("batch=2&v=1").scenario


def test_at_the_limit_itself_nothing_is_refused() -> None:
    limit = decode_of("prompt=896&v=1").limit  # after 896 tokens and half of 256
    assert links.decode(f"prompt=896&measured=itl~{1e3 * limit:.4g}ms~prompt~896&v=1").problems == ()  # type: ignore[operator]


def test_each_kind_is_compared_with_what_it_means() -> None:
    for one in measured.read(THREE):
        engine = library.engines()["vllm"]
        assert one.limit_s is not None
        assert one.limit_s < one.expected_s(engine)
    first, _, rate = (one.expected_s(library.engines()["vllm"]) for one in measured.read("ttft~60ms,itl~9ms,tps~90"))
    assert rate > first
    table = calibration.table(links.decode(f"measured={THREE}&v=1").scenario)
    assert [row.values[1] for row in table.rows] == ["7.60 ms", "60 ms", "1,500 tokens/s"]


def test_the_tables_say_what_moved() -> None:
    scenario = links.decode("measured=itl~12ms&v=1").scenario
    rows = {row.label: row.values for row in calibration.moved_table(scenario).rows}
    before, now = rows["Share of the bandwidth"]
    assert now < before
    assert calibration.sentence(scenario).startswith("1 measurement of Llama 3 8B on NVIDIA H100 SXM with vLLM counts")
    other = links.decode("model=qwen3-8b&measured=itl~12ms&v=1").scenario
    assert calibration.sentence(other).startswith("None of your measurements is of Qwen3 8B")
    assert calibration.table(other).rows[0].values[-1] == "does not count here"


@pytest.mark.parametrize(("typed", "read"), [("1,500", 1500), ("37.5", 37.5)])
def test_a_comma_separates_thousands_and_nothing_else(typed: str, read: float) -> None:
    scenario = Scenario(batch=64 if read > 100 else 1)
    assert measured.entered("tps", typed, scenario).value == read
    with pytest.raises(PydanticCustomError, match="no number of tokens"):
        measured.entered("tps", "37,5", scenario)


def test_what_is_too_long_for_a_link_is_refused_before_anything_changes() -> None:
    own = {"model": "own", "accelerator": "own", "memory": 24e9, "bandwidth": 1.001e12, "peak": 1e14}
    shape = {"layers": 11, "hidden": 2048, "heads": 16, "kv_heads": 4, "head_dim": 64, "feed_forward": 9999}
    scenario = Scenario.model_validate(own | shape | {"vocabulary": 99_999, "batch": 17, "prompt": 3333, "answer": 777})
    text = calibration.added(scenario, "itl", "50 ms")
    assert len(text) < measured.LONGEST / 3


def test_measurements_that_contradict_each_other_are_said_to() -> None:
    torn = links.decode("measured=itl~6ms,itl~14ms&v=1").scenario
    assert "disagree with each other" in calibration.sentence(torn)
    assert "do not fit together" not in calibration.sentence(links.decode("measured=itl~9ms&v=1").scenario)


def test_a_first_token_leaves_the_decode_as_it_was() -> None:
    plain, own = decode_of("batch=7&v=1"), decode_of("batch=7&measured=ttft~30ms&v=1")
    assert own.expected == pytest.approx(plain.expected, rel=0.01)
