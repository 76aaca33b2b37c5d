"""Limit and expectation beside each other, for a scenario."""

import pytest

from inferdash import links
from inferdash.studies import expected
from inferdash.studies.learn import batch_curve, batching, compute_vs_memory, experts, quantization, speculation
from inferdash.studies.report import report

KERNELS_MS = {"prefill": 22.1, "decode": 6.18}
"""Llama 3 8B on an H100 SXM under vLLM, kernels alone, after 1,024 tokens; no fit has seen them."""

SCENARIOS = (
    "v=1",
    "batch=256&v=1",
    "model=deepseek-v3&weights=fp8&accelerator=h200-sxm&gpus=8&layout=tensor&batch=64&v=1",
    "model=qwen3-32b&accelerator=rtx-4090&gpus=4&layout=pipeline&engine=llama.cpp&v=1",
    "model=own&layers=10&accelerator=own&memory=24GB&bandwidth=1TB/s&peak=100TFLOP/s&v=1",
    "prompt=1000000&v=1",
)


@pytest.mark.parametrize("phase", KERNELS_MS)
def test_the_band_holds_kernels_with_their_gaps(phase: str) -> None:
    one = report(links.decode("v=1").scenario)["compute_vs_memory"]["expected"][phase]
    assert one["limit"] <= 1e-3 * KERNELS_MS[phase] <= one["expected"] <= 1.5e-3 * KERNELS_MS[phase]


@pytest.mark.parametrize("query", SCENARIOS)
def test_limit_low_expected_high_are_in_order(query: str) -> None:
    scenario = links.decode(query).scenario
    result = compute_vs_memory.study(scenario).expected
    for one in (result.prefill, result.decode):
        assert one.limit is not None
        assert one.expected is not None
        assert one.low is not None
        assert one.high is not None
        assert 0 < one.limit <= one.low <= one.high
        assert one.limit <= one.expected <= one.high
    for phase in ("prefill", "decode"):
        rows = expected.rows(scenario, result, phase=phase)
        assert rows["parts"][-1]["end_s"] <= getattr(result, phase).expected * (1 + 1e-9)


def test_parts_of_the_expected_time_have_names_and_the_colours_of_the_network_and_of_waiting() -> None:
    scenario = links.decode(SCENARIOS[2]).scenario
    parts = expected.rows(scenario, compute_vs_memory.study(scenario).expected, phase="decode")["parts"]
    assert {part["short"]: part["meaning"] for part in parts} == {
        "loading": "memory",
        "arithmetic": "compute",
        "vectors": "memory",
        "layers": "waiting",
        "link": "waiting",
        "other GPUs": "waiting",
        "CPU": "waiting",
    }
    for part in parts:
        assert part["label"].endswith(part["time"])
        assert part["start_s"] < part["middle_s"] < part["end_s"]


def test_without_a_peak_a_decode_is_expected_from_its_loading_and_a_prefill_is_not() -> None:
    scenario = links.decode("model=llama-2-7b&accelerator=m4-max&weights=q4_k&engine=llama.cpp&prompt=64&v=1").scenario
    result = compute_vs_memory.study(scenario)
    decode, prefill = result.expected.decode, result.expected.prefill
    assert (decode.limit, prefill.expected) == (None, None)
    assert decode.low is not None
    assert decode.expected is not None
    assert decode.high is not None
    assert result.decode.load_s < decode.expected
    assert decode.low < decode.expected < decode.high
    assert decode.high / decode.expected > decode.expected / decode.low
    said = expected.sentence(scenario, result.expected)
    assert "without its arithmetic" in said
    assert "The prefill depends on the peak" in said
    assert "arithmetic" not in {
        part["short"] for part in expected.rows(scenario, result.expected, phase="decode")["parts"]
    }


def test_every_column_of_the_batches_and_of_the_rent_has_both() -> None:
    result = batching.study(links.decode("v=1").scenario)
    for line in result.table:
        assert line.expected_pass_s
        assert line.tokens_per_s
        assert line.expected_tokens_per_s
        assert line.expected_tokens_per_s == pytest.approx(line.batch / line.expected_pass_s)
        assert line.expected_each_tokens_per_s == pytest.approx(1 / line.expected_pass_s)
        assert line.expected_tokens_per_s <= line.tokens_per_s
    heads = batching.batch_table(result).columns
    assert heads[:4] == ("all tokens/s (limit)", "all (expected)", "each tokens/s (limit)", "each (expected)")
    for row in batching.rent_table(result).rows:
        limit, reached = row.values
        assert 0 < limit <= reached


@pytest.mark.parametrize(("query", "batch"), [("v=1", [256]), ("batch=64&v=1", [64]), ("batch=500&v=1", [])])
def test_the_own_batch_is_marked_on_the_expected_line_where_it_fits(query: str, batch: list[int]) -> None:
    scenario = links.decode(query).scenario
    rows = batch_curve.curve_rows(scenario, batching.study(scenario))
    assert [row["batch"] for row in rows["reached"]] == batch
    assert all(row["each"] > own["each"] for row, own in zip(rows["reached"], rows["own"], strict=False))
    limit = scenario.model_copy(update={"speed": "limit"})
    other = batch_curve.curve_rows(limit, batching.study(limit))
    places = [
        [(row["batch"], row["each"]) for row in one[name]] for one in (rows, other) for name in ("own", "reached")
    ]
    assert places[:2] == (places[:1:-1] if batch else places[2:])


def test_a_mixture_is_drawn_at_the_limit_alone_beside_limits_of_dense_models() -> None:
    scenario = links.decode("model=deepseek-v3&weights=fp8&accelerator=h200-sxm&gpus=8&v=1").scenario
    assert set(experts.cost_rows(scenario)) == {"lines", "starts", "ends"}


@pytest.mark.parametrize("query", ["v=1", "batch=64&v=1", "prompt=1&v=1", "batch=256&acceptance=0.01&v=1"])
def test_a_factor_in_a_sentence_says_that_it_is_at_the_limit(query: str) -> None:
    scenario = links.decode(query).scenario
    passes, batches = compute_vs_memory.study(scenario), batching.study(scenario)
    for said in (
        compute_vs_memory.sentence(scenario, passes),
        speculation.sentence(scenario, passes.speculation),
        batching.sentence(scenario.model_copy(update={"speed": "limit"}), batches),
        batching.token_sentence(batches),
        quantization.sentence(scenario, quantization.study(scenario)),
    ):
        assert sum(said.lower().count(words) for words in ("at the limit", "(limit)")) == 1, said
    assert "is expected to get" in batching.sentence(scenario, batches)


def test_the_engine_moves_no_limit() -> None:
    limits = {
        compute_vs_memory.study(links.decode(f"engine={engine}&v=1").scenario).decode.pass_s
        for engine in ("vllm", "llama.cpp", "unknown")
    }
    assert len(limits) == 1
