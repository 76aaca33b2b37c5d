"""The page's numbers agree with each other, and its sentence is true at every setting."""

import json
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash.facts import library
from inferdash.scenario import BASE, OWN, Scenario
from inferdash.studies.learn import compute_vs_memory, request, roofline, speculation
from inferdash.studies.numbers import lines
from inferdash.studies.report import STUDIES, markdown, report


def anything() -> st.SearchStrategy[Scenario]:
    return st.builds(
        Scenario,
        model=st.sampled_from([*library.models(), OWN]),
        accelerator=st.sampled_from([*library.accelerators(), OWN]),
        weights=st.sampled_from(["bf16", "fp8", "int8"]),
        kv=st.sampled_from(["bf16", "fp8"]),
        gpus=st.sampled_from([1, 2, 1024]),
        prompt=st.sampled_from([1, 2, 1024, 131_072, 10_000_000]),
        answer=st.sampled_from([1, 2, 256, 10_000_000]),
        batch=st.sampled_from([1, 2, 64, 512, 1_000_000]),
        reasoning=st.sampled_from([0, 1, 5000]),
        queue=st.sampled_from([0.0, 0.2, 86_400.0]),
        draft=st.sampled_from(["share", "llama-3.2-1b"]),
        draft_tokens=st.sampled_from([1, 4, 16]),
        acceptance=st.sampled_from([0.0, 0.5, 1.0]),
        output_layer=st.sampled_from(["every", "last"]),
    )


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner)
    elif isinstance(value, float | int):
        yield value


@given(anything())
@settings(max_examples=300, deadline=None)
def test_every_number_and_row_is_finite_and_every_sentence_ends(scenario: Scenario) -> None:
    result = compute_vs_memory.study(scenario)
    first = result.time_to_first_token
    rows = [
        report(scenario),
        roofline.rows(scenario, result),
        request.rows(first, result.answer_s, prefill=result.prefill.bound, decode=result.decode.bound),
        speculation.gain_rows(scenario, result.speculation),
        compute_vs_memory.pass_table(scenario, result).records(),
    ]
    assert all(math.isfinite(number) for number in numbers_in(rows))
    json.dumps(rows, allow_nan=False)
    said = [
        compute_vs_memory.sentence(scenario, result),
        request.sentence(first, result.answer_s),
        speculation.sentence(scenario, result.speculation),
        roofline.caption(scenario, result),
        *compute_vs_memory.notes(scenario),
    ]
    for sentence in said:
        assert sentence[0].isupper() or sentence[0].isdigit() or sentence.startswith(scenario.architecture.name)
        assert sentence.endswith(".")
        assert "None" not in sentence
        assert not re.search(r"(?<![\d.,])1 (requests|tokens|GPUs)", sentence)
    for line in lines(result):
        assert line.shown


@given(anything())
@settings(max_examples=200, deadline=None)
def test_parts_add_up_and_the_report_agrees_with_itself(scenario: Scenario) -> None:
    result = compute_vs_memory.study(scenario)
    first, gain = result.time_to_first_token, result.speculation
    for one in (result.prefill, result.decode):
        if one.pass_s is not None:
            assert one.compute_s is not None
            assert one.pass_s == max(one.compute_s, one.load_s)
            assert (one.bound == "compute") == (one.compute_s > one.load_s)
    if first.total_s is not None:
        parts = [first.queue_s, first.prefill_s or 0, first.network_s, first.reasoning_s or 0]
        assert first.total_s == pytest.approx(sum(parts), rel=1e-12)
        rows = request.rows(first, result.answer_s, prefill=result.prefill.bound, decode=result.decode.bound)
        assert all(a["end_s"] == b["start_s"] for a, b in pairwise(rows["stages"]))
    if gain.pass_s is not None:
        assert gain.speedup == pytest.approx(gain.tokens_per_pass * (result.decode.pass_s or 0) / gain.pass_s, rel=1e-9)
    assert (result.fewest_gpus <= scenario.gpus) == (result.largest_batch >= scenario.batch)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "At batch 1, an output token takes 293 times as long as an input token (limit): memory"),
        (
            {"batch": 64},
            "With 64 requests in a batch, an output token takes 7.13 times as much GPU time as an input token",
        ),
        (
            {"prompt": 1},
            "an output token takes about as long as an input token (limit): memory bandwidth limits both.",
        ),
        ({"prompt": 1, "batch": 2}, "an input token takes 2.00 times as much GPU time as an output token"),
        ({"model": "llama-3.1-405b"}, "But 1 GPU cannot hold the model: its parameters need at least 11."),
        ({"batch": 500}, "But 1 GPU can hold only 476 requests of 1,024 tokens; the batch needs at least 2 GPUs."),
        (
            {"prompt": 500_000},
            "cannot hold the cache of a request of 500,000 tokens beside the model; it needs at least 2.",
        ),
        ({"accelerator": "m4-max", "batch": 64}, "With 64 requests in a batch, an output token takes at least 675 µs"),
        ({"accelerator": "m4-max"}, "an output token takes at least 27.7 ms, the memory read time"),
    ],
)
def test_the_sentence(changes: dict[str, Any], says: str) -> None:
    scenario = Scenario(**changes)
    assert says in compute_vs_memory.sentence(scenario, compute_vs_memory.study(scenario))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"prompt": 8000}, "supports 8,192 tokens; prompt, reasoning and answer are 8,256."),
        (
            {"weights": "fp8", "accelerator": "a100-80gb-sxm"},
            "computes fp8 in bf16, so only the memory read is faster.",
        ),
        ({"accelerator": "m4-max"}, "No matrix peak is published for Apple M4 Max"),
        ({"answer": 7000, "batch": 400}, "By the end of their answers only 60 of 400 requests fit."),
        ({"output_layer": "last"}, "counted for the last prompt token only"),
        ({"draft": "qwen3-0.6b"}, "Qwen3 0.6B has another vocabulary than Llama 3 8B"),
        ({"gpus": 8}, "time on the link between them is not counted"),
    ],
)
def test_the_notes(changes: dict[str, Any], says: str) -> None:
    assert [note for note in compute_vs_memory.notes(Scenario(**changes)) if says in note]
    assert compute_vs_memory.notes(BASE) == []


def test_a_peak_that_is_not_published_is_taken_from_the_reader() -> None:
    without = compute_vs_memory.study(Scenario(accelerator="m4-max"))
    assert (without.decode.compute_s, without.decode.pass_s, without.decode.bound) == (None, None, None)
    assert without.decode.load_s == pytest.approx(15_144_067_072 / 546e9)
    entered = compute_vs_memory.study(Scenario(accelerator="m4-max", peak=34e12))
    assert entered.prefill.compute_s == pytest.approx(15_645_232_070_656 / 34e12)


def test_an_own_accelerator_has_the_figures_entered() -> None:
    own = Scenario(accelerator=OWN, memory=24e9, bandwidth=1e12, peak=100e12, weights="fp8")
    result = compute_vs_memory.study(own)
    assert result.decode.load_s == pytest.approx((7_504_924_672 + 131_072 * 1024) / 1e12)
    assert result.prefill.compute_s == pytest.approx(15_645_232_070_656 / 100e12)
    assert result.largest_batch == (24e9 - 8_030_261_248) // (131_072 * 1024)
    assert own.hardware.name == "Own accelerator"


def test_an_own_model_has_the_shape_entered() -> None:
    qwen = library.models()["qwen3-32b"]
    shape = {"layers": 64, "hidden": 5120, "heads": 64, "kv_heads": 8, "head_dim": 128, "feed_forward": 25_600}
    own = Scenario(model=OWN, vocabulary=151_936, **shape)
    norms_of_queries_and_keys = 64 * 2 * 128
    assert own.deployment.stored_bytes == 2 * (32_762_123_264 - norms_of_queries_and_keys)
    assert own.architecture.name != qwen.name
    tied = own.model_copy(update={"tied": True})
    assert own.deployment.stored_bytes - tied.deployment.stored_bytes == 2 * 151_936 * 5120
    assert own.deployment.loaded_bytes(positions=1) == tied.deployment.loaded_bytes(positions=1)


def test_the_report_has_the_names_that_others_rely_on() -> None:
    page = report(BASE)["compute_vs_memory"]
    both = {"flops", "bytes_read", "compute_s", "load_s", "pass_s", "bound", "per_token_s"}
    assert set(page["prefill"]) == both
    assert set(page["decode"]) == both | {"output_tok_per_s"}
    assert {"written_to_prompt_ratio", "attention_share", "ridge_flop_per_byte"} <= set(page)
    assert set(page["time_to_first_token"]) == {"queue_s", "prefill_s", "network_s", "reasoning_s", "total_s"}
    assert {"tokens_per_pass", "pass_s", "speedup"} <= set(page["speculation"])


def test_markdown_carries_every_number_with_its_unit_and_no_markup_from_a_title() -> None:
    scenario = Scenario(title="[x](http://a.b) <img src=x>")
    text = markdown(scenario, "?v=1")
    assert "| decode pass: memory read time (limit) | 4.52 ms |" in text
    assert "293 times" in text
    assert "](http" not in text
    assert "<img" not in text.replace("\\<img", "")
    for study in STUDIES.values():
        assert f"## {study.TITLE}" in text
        for line in lines(study.study(scenario)):
            assert line.unit == "rows" or f"| {': '.join(line.labels)} | {line.shown} |" in text
