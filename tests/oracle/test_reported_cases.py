"""Answers that other tools were publicly reported to get wrong, with the right one and its derivation."""

import dataclasses

import pytest

from inferdash.facts import library
from inferdash.physics.parameters import table_parameters
from inferdash.physics.passes import matrix_flops
from inferdash.physics.speculation import tokens_per_pass
from inferdash.scenario import Scenario
from inferdash.studies import compute_vs_memory, speculation
from inferdash.studies.compute_vs_memory import ComputeVsMemory, study


@pytest.mark.parametrize(
    ("drafts", "acceptance", "tokens"), [(1, 0.7, 1.7), (2, 0.8, 2.44), (2, 0.9, 2.71), (4, 0.9, 4.0951), (4, 1.0, 5.0)]
)
def test_s1_tokens_of_a_check(drafts: int, acceptance: float, tokens: float) -> None:
    """GenZ gives 1, 2, 2, 4, 4; right is (1 - a^(N+1)) / (1 - a), with the limit N + 1."""
    assert tokens_per_pass(draft_tokens=drafts, acceptance=acceptance) == pytest.approx(tokens, rel=1e-12)
    assert study(Scenario(draft_tokens=drafts, acceptance=acceptance)).speculation.tokens_per_pass == pytest.approx(
        tokens
    )


def test_s2_the_check_runs_one_position_more_than_the_drafts() -> None:
    """GenZ and inference-sim#1538 run N positions; right is N + 1, the bonus position included.

    With 999 requests a check on one H100 is limited by arithmetic, so its time is that of its operations: for each
    request (k + 1) positions at 2 operations a parameter, and 4 * 32 * 32 * 128 for each pair of positions.
    """
    k, batch, past = 4, 999, 1024
    pairs = (k + 1) * past + (k + 1) * (k + 2) / 2
    flops = batch * (2 * 7_504_924_672 * (k + 1) + 4 * 32 * 32 * 128 * pairs)
    result = study(Scenario(draft_tokens=k, batch=batch)).speculation
    assert result.verify_s == pytest.approx(flops / 989.4e12, rel=1e-9)


@pytest.mark.parametrize("batch", [1, 64, 400])
@pytest.mark.parametrize("draft", ["share", "llama-3.2-1b"])
def test_s4_a_speedup_is_at_most_the_tokens_and_a_loss_is_called_one(batch: int, draft: str) -> None:
    """Property: speed-up <= expected tokens; acceptance 0 is a slow-down of draft and check over a plain pass."""
    scenario = Scenario(batch=batch, draft=draft, acceptance=0.0)
    result = study(scenario)
    lost = result.speculation
    assert lost.draft_s is not None
    assert lost.verify_s is not None
    assert result.decode.pass_s is not None
    assert lost.speedup is not None
    assert lost.speedup == pytest.approx(result.decode.pass_s / (lost.draft_s + lost.verify_s), rel=1e-12)
    assert lost.speedup < 1
    assert "slow-down" in speculation.sentence(scenario, lost)
    gained = study(scenario.model_copy(update={"acceptance": 0.9})).speculation
    assert gained.speedup is not None
    assert gained.speedup <= gained.tokens_per_pass


def test_r2_prefill_of_4096_on_an_a100() -> None:
    """GenZ gives 239.0 ms: it adds the embedding, counts full attention, and the output layer at each position.

    Right is 197.4 ms: 13.9586 GFLOP a token in the matrices, 1.0740 on average in causal attention, and one row of
    the output layer. The project counts 2 operations for a norm's parameter too, as the chapter does: 0.004% more.
    """
    scenario = Scenario(model="llama-3.1-8b", accelerator="a100-80gb-sxm", prompt=4096, output_layer="last")
    result = study(scenario)
    assert result.prefill.compute_s == pytest.approx(0.1974, rel=5e-4)
    output_row = 2 * 128_256 * 4096
    linear = (result.prefill.flops / (1 + result.attention_share) - output_row) / 4096
    assert linear == pytest.approx(13.9586e9, rel=5e-5)
    attention = (result.prefill.flops - linear * 4096 - output_row) / 4096
    assert attention == pytest.approx(1.0740e9, rel=5e-5)
    every = study(scenario.model_copy(update={"output_layer": "every"}))
    assert every.prefill.flops - result.prefill.flops == 4095 * output_row


def test_r8_output_layer_counts_two_operations_for_each_parameter() -> None:
    """LLM-Viewer gives 131.07 M for one token of Llama 2 7B; right is 2 * 4096 * 32000 = 262.14 M."""
    rows = table_parameters(vocabulary=32_000, hidden=4096)
    flops = matrix_flops(in_blocks=0, output_layer=rows, positions=1, output_positions=1)
    assert flops == 262_144_000


def test_r15_bandwidth_over_bytes_is_named_the_speed_of_one_request() -> None:
    """airunway#139 calls bandwidth over model size "throughput"; it is 1 / inter-token latency of one stream."""
    result = study(Scenario(batch=64))
    assert result.decode.pass_s is not None
    assert result.decode.output_tok_per_s == pytest.approx(1 / result.decode.pass_s)
    (field,) = [f for f in dataclasses.fields(result.decode) if f.name == "output_tok_per_s"]
    assert field.metadata["label"] == "output speed of one request (limit)"
    tiles = compute_vs_memory.headline_numbers(Scenario(batch=64), result)
    assert ("Speed of a request, batch 64 (limit)", result.decode.output_tok_per_s, "tokens/s") in tiles


def test_q6_peaks_are_dense() -> None:
    """Several tools list 1,979 TFLOP/s for bf16 on an H100 SXM, which is with sparsity; dense is 989.4."""
    assert library.accelerators()["h100-sxm"].dense_bf16 == 989.4e12
    prefill: ComputeVsMemory = study(Scenario())
    assert prefill.ridge_flop_per_byte == pytest.approx(989.4e12 / 3.35e12)
