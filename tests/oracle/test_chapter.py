"""The worked numbers of the chapter, read from the studies that the pages show."""

import json
from pathlib import Path
from typing import Any

import pytest

from inferdash import links
from inferdash.formula import Step, recording
from inferdash.layers.feed_forward import GatedFeedForward
from inferdash.layers.grouped import GroupedAttention
from inferdash.physics import speculation as physics
from inferdash.quantities import digits, percent, shown
from inferdash.scenario import Scenario
from inferdash.studies.learn import compute_vs_memory, request, speculation
from inferdash.studies.numbers import lines

ORACLE = json.loads(Path(__file__).with_name("chapter.json").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in ORACLE["cases"]}


def expected(case: str) -> Any:
    """The published value of a case, with its tolerance where it is one number."""
    found = CASES[case]
    value = found["value"]
    return pytest.approx(value, rel=found["rel"]) if "rel" in found and not isinstance(value, list) else value


@pytest.fixture(scope="module")
def study() -> compute_vs_memory.ComputeVsMemory:
    return compute_vs_memory.study(Scenario())


def step_of(name: str, section: str, scenario: Scenario | None = None) -> Step:
    """The step of a formula in a section of the study's working."""
    with recording() as steps:
        compute_vs_memory.study(scenario or Scenario())
    return next(step for step in steps if step.formula.name == name and step.section == section)


def again(step: Step, **inputs: float) -> float:
    """The formula of a step with other inputs: those that the chapter rounds."""
    return float(step.formula(**{**step.inputs, **inputs}))


def test_the_default_scenario_is_the_reference() -> None:
    model, gpu, base = ORACLE["reference_model"], ORACLE["reference_gpu"], Scenario()
    (blocks,) = base.architecture.blocks
    assert isinstance(blocks.attention, GroupedAttention)
    assert blocks.count == model["blocks"]
    assert isinstance(blocks.feed_forward, GatedFeedForward)
    machine = base.deployment
    assert base.architecture.hidden == model["vector"]
    assert (blocks.attention.heads, blocks.attention.kv_heads) == (model["query_heads"], model["kv_heads"])
    assert blocks.attention.head_dim == model["head_dim"]
    assert blocks.feed_forward.width == model["feed_forward"]
    assert base.architecture.vocabulary == model["vocabulary"]
    assert machine.stored_bytes == 2 * model["parameters"]
    assert machine.loaded_bytes(positions=1) == 2 * model["parameters_outside_input_embedding"]
    assert machine.accelerator.memory == gpu["memory_bytes"]
    assert machine.accelerator.bandwidth == gpu["bandwidth_bytes_per_s"]
    assert machine.peak == gpu["dense_bf16_flops_per_s"]


def test_passes() -> None:
    prefills, decodes, positions = CASES["10.1-passes"]["value"]
    scenario = Scenario(prompt=8, answer=3)
    result = compute_vs_memory.study(scenario)
    prefill = step_of("causal_pairs", "Prefill", scenario).inputs
    decode = step_of("causal_pairs", "Decode", scenario).inputs
    assert [prefill["positions"], *[decode["positions"]] * decodes] == positions
    # The prefill writes the first token; each other token of the answer is a pass of the decode.
    passes = step_of("written_s", "One request", scenario).inputs["passes"]
    assert (prefills, passes) == (1, decodes)
    assert result.answer_s == pytest.approx(decodes * (result.decode.pass_s or 0), rel=1e-4)


def test_operations_per_position() -> None:
    step = step_of("matrix_flops", "Decode")
    assert again(step, in_blocks=7.5e9, output_layer=0) == expected("10.1-ops-per-position")
    assert step.result == "15.0 GFLOP"


def test_arithmetic_per_position() -> None:
    step = step_of("compute_s", "Decode")
    assert 1e3 * again(step, matrix_flops=1.5e10, attention_flops=0) == expected("10.1-arithmetic-per-position")
    short = compute_vs_memory.study(Scenario(prompt=1)).decode
    assert str(shown(short.compute_s or 0, "s")) == "15.2 µs"  # printed as 0.015 ms


def test_attention_share(study: compute_vs_memory.ComputeVsMemory) -> None:
    assert study.attention_share == expected("10.1-attention-share")
    assert percent(study.attention_share) == "1.8%"  # printed as about 2%


def test_load_parameters(study: compute_vs_memory.ComputeVsMemory) -> None:
    assert 1e3 * again(step_of("load_s", "Decode"), bytes_read=15e9) == expected("10.1-load-parameters")
    assert study.prefill.load_s == pytest.approx(4.4806e-3, rel=1e-4)  # the remark's figure for the exact bytes


def test_prefill_arithmetic(study: compute_vs_memory.ComputeVsMemory) -> None:
    assert study.prefill.compute_s is not None
    assert 1e3 * study.prefill.compute_s == expected("10.1-prefill-1024-arithmetic")


def test_bounds(study: compute_vs_memory.ComputeVsMemory) -> None:
    assert study.prefill.bound == expected("10.1-prefill-bound")
    assert study.decode.bound == expected("10.1-decode-bound")
    said = compute_vs_memory.sentence(Scenario(), study)
    assert said.endswith("memory bandwidth limits decode, compute prefill.")


def test_written_against_prompt_token(study: compute_vs_memory.ComputeVsMemory) -> None:
    step = step_of("written_to_prompt_ratio", "Decode")
    parameters_only = again(step, written_token_s=4.4776e-3, prompt_token_s=0.01516e-3)
    assert parameters_only == expected("10.1-written-vs-prompt-token")
    # The page counts the cache and attention too; the chapter prints about 300.
    assert study.written_to_prompt_ratio is not None
    assert 290 < study.written_to_prompt_ratio < 300
    assert "293 times" in compute_vs_memory.sentence(Scenario(), study)


def test_output_speed() -> None:
    short = compute_vs_memory.study(Scenario(prompt=1))
    assert short.decode.output_tok_per_s == expected("10.1-output-speed")
    assert digits(short.decode.output_tok_per_s or 0, 2) == "220"  # printed as about 220


def test_time_to_first_token_parts() -> None:
    scenario = Scenario(queue=0.2, network=0.05, reasoning=100)
    result = compute_vs_memory.study(scenario)
    first = result.time_to_first_token
    labels = [line.labels[-1].removesuffix(" (limit)") for line in lines(first)][:-1]
    assert labels == ["queue time", "prefill", "network time", "hidden reasoning"]
    assert len(labels) == len(expected("10.1-ttft"))
    parts = [line.value for line in lines(first)][:-1]
    assert all(parts)
    assert first.total_s == pytest.approx(sum(parts), rel=1e-12)
    rows = request.rows(first, result.answer_s, prefill=result.prefill.bound, decode=result.decode.bound)
    assert rows["waiting"][-1]["end_s"] == pytest.approx(first.total_s, rel=1e-12)


def test_speculative_example() -> None:
    tokens = expected("10.1-speculative")
    assert physics.kept([".", "end"], [".", "end"]) == tokens
    assert f"writes {tokens} tokens: “.” and “end”." in speculation.example_sentence("both")


@pytest.mark.parametrize(("proposal", "written"), [("both", 2), ("first", 2), ("none", 1)])
def test_speculative_example_with_wrong_proposals(proposal: str, written: int) -> None:
    assert f"writes {written} token" in speculation.example_sentence(proposal)


def test_batch_that_fits() -> None:
    assert compute_vs_memory.study(Scenario()).largest_batch == expected("10.4-max-batch")


def test_the_default_link_gives_these_numbers() -> None:
    decoded = links.decode("?v=1")
    assert decoded.problems == ()
    result = compute_vs_memory.study(decoded.scenario)
    assert result.decode.load_s == pytest.approx(0.0045206, rel=1e-5)
    assert result.prefill.compute_s == pytest.approx(0.015813, rel=1e-4)
