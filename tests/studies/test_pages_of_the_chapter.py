"""The worked numbers of sections 10.2 to 10.6, read from the studies that the pages show."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inferdash import links
from inferdash.facts import library
from inferdash.facts.example import Example
from inferdash.facts.models.precision import PRECISIONS
from inferdash.layers.feed_forward import distinct_experts
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.deployment import deploy
from inferdash.physics.under_load import batching as batching_physics
from inferdash.scenario import Scenario
from inferdash.studies.learn import batching, experts, kv_cache, quantization
from inferdash.studies.price import prompt_cache
from inferdash.studies.report import report

ORACLE = json.loads((Path(__file__).parent.parent / "oracle" / "chapter.json").read_text(encoding="utf-8"))
CASES: dict[str, Any] = {case["id"]: case["value"] for case in ORACLE["cases"]}


def test_kv_cache() -> None:
    result = kv_cache.study(Scenario())
    assert [result.positions_without, result.positions_with] == CASES["10.2-positions"]
    assert result.bytes_per_token == CASES["10.2-bytes-per-token"] == 2 * CASES["10.2-numbers-per-token"]
    table = kv_cache.length_table(Scenario())
    gigabytes = [[value / 1e9 for value in row.values] for row in table.rows]
    assert gigabytes[:2] == [pytest.approx(row, rel=1e-9) for row in CASES["10.2-cache-table"]]
    assert kv_cache.study(Scenario(prompt=131_072)).bytes_per_request > 16e9
    assert result.long_pass_ratio == pytest.approx(CASES["10.2-long-pass"], rel=1e-3)
    rows = kv_cache.grid_rows(Scenario())
    assert [row["token"] for row in rows if row["pass"] == 2 and row["state"] == "run"] == ["9"]
    assert [row["writes"] for row in rows if row["position"] == 1] == ["9", ".", "end"]


def test_prompt_cache() -> None:
    result = prompt_cache.study(Scenario())
    assert [result.later_request_tokens, result.uncached_request_tokens] == CASES["10.3-billed-tokens"]
    assert result.saving_factor == pytest.approx(CASES["10.3-saving"], rel=1e-6)
    assert result.first_request_tokens == CASES["10.3-first-request"]
    for interval, share in zip(("299 s", "301 s"), CASES["10.3-ttl-fixed-interval"], strict=True):
        assert prompt_cache.study(Scenario(interval=interval)).read_share == share
    assert prompt_cache.tokens_of(Scenario().first_prompt) == ["The", " ride", " of", " ", "3", " km", " cost", " $"]
    assert [result.positions_read, result.positions_run] == CASES["10.3-shared-start"]
    other = prompt_cache.study(Scenario(second_prompt="A ride of 3 km cost $"))
    assert other.positions_read == CASES["10.3-first-token-differs"]
    stored = prompt_cache.study(Scenario(shared=5000, increment=2048)).reused_tokens
    assert stored == CASES["10.3-increment"]
    assert prompt_cache.study(Scenario(shared=5000, increment=2048, minimum=4097)).reused_tokens == 0
    assert Scenario().input_usd / 20 == CASES["10.3-opening-model-read"]


def test_c13_break_even_shares() -> None:
    """latitude-llm#4317 uses one constant; right is (w - 1) / (w - r): 21.74%, 52.63%, 0%."""
    for write, read, share in ((1.25, 0.1, 0.2174), (2.0, 0.1, 0.5263), (1.0, 0.1, 0.0), (1.25, 0.025, 0.2041)):
        result = prompt_cache.study(Scenario(write=write, read=read))
        assert result.break_even_read_share == pytest.approx(share, abs=5e-5)


def test_a_cache_that_is_never_read_is_called_a_loss() -> None:
    scenario = Scenario(interval="10 min")
    said = prompt_cache.sentence(scenario, prompt_cache.study(scenario))
    assert "0% of the later ones hit the cache" in said
    assert "24.8% more than without a cache" in said


def test_random_arrivals_read_by_the_exponential() -> None:
    result = prompt_cache.study(Scenario(arrivals="random", interval="300 s"))
    assert result.read_share == pytest.approx(1 - np.exp(-1))


def test_batching_table() -> None:
    result = batching.study(Scenario())
    lines = {line.batch: line for line in result.table}
    chapter = zip((1, 16, 64, 256), CASES["10.4-batch-table-bytes"], CASES["10.4-batch-table-ms"], strict=True)
    for batch, gigabytes, milliseconds in chapter:
        line = lines[batch]
        # The chapter rounds the parameters to 15 GB; the exact ones are 15.0098.
        assert (15e9 + line.caches_bytes) / 1e9 == pytest.approx(gigabytes, rel=1e-9)
        assert line.pass_s == pytest.approx(milliseconds / 1e3, rel=1e-3)
    assert result.max_batch == CASES["10.4-max-batch"]
    assert result.throughput_gain == pytest.approx(CASES["10.4-throughput-gain"], rel=1e-3)
    assert result.slowdown_each == pytest.approx(CASES["10.4-slower-each"], rel=1e-3)
    prompt, many, fewer = CASES["10.4-ms-per-token"]
    assert 1e3 * (result.prompt_token_s or 0) == pytest.approx(prompt, rel=1e-3)
    assert 1e3 * (result.written_token_s or 0) == pytest.approx(many, rel=1e-3)
    assert 1e3 * (batching.study(Scenario(batch=64)).written_token_s or 0) == pytest.approx(fewer, rel=1.5e-3)
    assert result.price_ratio == CASES["10-price-ratio"]


def test_static_and_continuous() -> None:
    alone, free = CASES["10.4-static-waste"]
    lengths = "500, 63x50"
    result = batching.study(Scenario(lengths=lengths))
    assert result.static_passes == 500
    assert result.static_idle_places == free * alone
    refilled = batching.study(Scenario(lengths=f"{lengths}, 567x50"))
    assert (refilled.static_passes, refilled.continuous_passes) == (500 + 9 * 50, 500)
    assert refilled.idle_places == 0


def test_rounding() -> None:
    digits, numbers = 3, [100, 0.4, 0.4]
    assert [batching_physics.rounded_sum(order, digits) for order in (numbers, numbers[::-1])] == CASES["10.4-rounding"]


def test_m1_m3_m4_cost_of_a_million() -> None:
    """M1: $3 an hour at 1,000 tokens/s is $0.8333. M3: the denominator is named. M4: cost / utilization."""
    full = batching_physics.usd_per_mtok(usd_per_hour=3, tokens_per_s=1000, utilization=1)
    assert full == pytest.approx(0.8333, rel=1e-4)
    assert batching_physics.usd_per_mtok(usd_per_hour=2, tokens_per_s=1000, utilization=1) == pytest.approx(
        0.5556, rel=1e-4
    )
    assert batching_physics.usd_per_mtok(usd_per_hour=2, tokens_per_s=2000, utilization=1) == pytest.approx(
        0.2778, rel=1e-4
    )
    assert batching_physics.usd_per_mtok(usd_per_hour=3, tokens_per_s=1000, utilization=0.4) == pytest.approx(
        full / 0.4
    )


def test_quantization() -> None:
    integers, restored, before, after, bound = CASES["10.5-group"]
    result = quantization.study(Scenario())
    assert list(result.integers) == integers
    assert list(result.restored) == pytest.approx(restored)
    assert result.dot == pytest.approx((before, after))
    assert result.max_error == pytest.approx(bound)
    assert result.bits_per_weight == CASES["10.5-bits"]
    sizes = {line.format: line.bytes / 1e9 for line in result.formats}
    assert [sizes["fp8"], sizes["bf16"]] == pytest.approx(CASES["10.5-one-byte"], rel=1e-3)
    small = quantization.study(Scenario(model="gpt-oss-120b", weights="mxfp4"))
    assert next(line for line in small.formats if line.format == "MXFP4").min_gpus == 1


@pytest.mark.parametrize(
    ("model", "weights", "size"),
    [("gpt-oss-120b", "mxfp4", 65_248_815_744), ("gpt-oss-20b", "mxfp4", 13_761_264_768)],
)
def test_q1_stored_bytes_of_mxfp4_checkpoints(model: str, weights: str, size: int) -> None:
    """llm-d-planner gives 0 bytes for 4-bit weights; the released files hold 60.77 and 12.82 GiB."""
    assert Scenario(model=model, weights=weights).deployment.stored_bytes == size


def test_experts() -> None:
    result = experts.study(Scenario(model="deepseek-v3", weights="fp8", batch=256))
    chosen, shares = CASES["10.6-router"]
    assert list(result.chosen_experts) == chosen
    assert list(result.shares) == pytest.approx(shares, rel=1e-9)
    assert result.operations_per_token == pytest.approx(CASES["10.6-active"], rel=0.011)  # 36.6 billion, printed as 37
    assert result.expected_unused == pytest.approx(CASES["10.6-unused"], rel=1e-5)
    assert result.positions_per_expert == CASES["10.6-positions-per-expert"]
    assert result.min_gpus == CASES["10.6-gpus"]


def test_p10_active_parameters_by_convention() -> None:
    """gpt-oss-120b is said to have 5.1 billion active: 5.133 without the input embedding, 5.712 with it."""
    counts = Scenario(model="gpt-oss-120b").deployment.parameters
    assert counts.active_total == 5_132_849_472
    assert counts.active_total + counts.input_embedding_apart == 5_711_982_912


@pytest.mark.parametrize(
    ("experts_", "chosen", "means"),
    [(8, 2, (2, 7.199, 8.0)), (256, 8, (8, 57.42, 222.4)), (128, 4, (4, 28.71, 111.2))],
)
def test_p11_distinct_experts(experts_: int, chosen: int, means: tuple[float, ...]) -> None:
    """GenZ reads 2 experts at every batch, mlsysim all 8; right is E(1 - (1 - k/E)^B)."""
    for batch, mean in zip((1, 8, 64), means, strict=True):
        value = distinct_experts(experts=experts_, experts_per_token=chosen, positions=batch)
        assert value == pytest.approx(mean, rel=5e-4)


@pytest.mark.parametrize(
    ("accelerator", "milliseconds"), [("h100-sxm", (7.62, 25.15, 28.13)), ("h200-sxm", (5.315, 17.55, 19.63))]
)
def test_r3_r5_mixtral_loads_its_experts_by_the_batch(accelerator: str, milliseconds: tuple[float, ...]) -> None:
    """GenZ gives 7.09, 7.13, 7.42 ms: the same two experts at each batch. mlsysim reads all at one request."""
    for batch, expected in zip((1, 8, 64), milliseconds, strict=True):
        line = batching.study(Scenario(model="mixtral-8x7b", accelerator=accelerator, prompt=129, batch=batch))
        load_s = next(one.load_s for one in line.table if one.batch == batch)
        assert 1e3 * load_s == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("model", "tokens", "size"),
    [
        ("deepseek-v3", 1, 70_272),
        ("deepseek-v3", 131_072, 131_072 * 70_272),
        ("gpt-oss-120b", 1, 73_728),
        ("gpt-oss-20b", 8192, 24_576 * (8192 + 128)),
        ("qwen3-0.6b", 1, 114_688),
        ("qwen3-32b", 1, 262_144),
        ("qwen3-30b-a3b", 1, 98_304),
    ],
)
def test_k3_k7_k15_cache_of_a_request(model: str, tokens: int, size: int) -> None:
    """Other tools take query heads, hidden / heads, or twice the latent; these follow from the models' files."""
    assert request_cache_bytes(library.models()[model], tokens=tokens, bytes_per_number=2) == size


def test_k7c_fp8_cache_of_gpt_oss_120b() -> None:
    """aiconfigurator#1537 gives 2.2637 GiB for a request of 65,936 tokens; right is 18 · 1024 · (65,936 + 128)."""
    size = request_cache_bytes(library.models()["gpt-oss-120b"], tokens=65_936, bytes_per_number=1)
    assert size == 18 * 1024 * (65_936 + 128)


def test_q3_the_format_of_parameters_is_not_that_of_the_cache() -> None:
    """llm-d-planner takes MXFP4 for the cache of gpt-oss-120b, 19,584 B a token; right is 73,728."""
    scenario = Scenario(model="gpt-oss-120b", weights="mxfp4", prompt=1)
    assert kv_cache.study(scenario).bytes_per_request == 73_728


def test_the_large_report_works() -> None:
    scenario = Scenario(model="deepseek-v3", weights="fp8", accelerator="h200-sxm", gpus=8, batch=256)
    assert set(report(scenario)) == {
        "overview",
        "compute_vs_memory",
        "kv_cache",
        "prompt_cache",
        "batching",
        "quantization",
        "experts",
        "feature_cost",
        "serving",
        "plan",
        "memory",
        "model",
    }


@pytest.mark.parametrize("name", library.models())
@pytest.mark.parametrize("weights", PRECISIONS)
def test_parts_in_a_format_add_up(name: str, weights: str) -> None:
    machine = deploy(
        library.models()[name],
        library.accelerators()["h100-sxm"],
        gpus=1,
        weights=PRECISIONS[weights],
        cache=PRECISIONS["bf16"],
    )
    all_positions = machine.loaded_bytes(positions=1e9)
    looked_up = machine.parameters.input_embedding_apart + machine.parameters.token_tables
    embedding = float(looked_up) * machine.weights.bits("input", mixture=machine.parameters.mixture) / 8
    assert all_positions + embedding == pytest.approx(float(machine.stored_bytes), rel=1e-12)


@pytest.mark.parametrize("example", library.scenarios().values(), ids=lambda example: example.name)
def test_examples_are_whole_links(example: Example) -> None:
    decoded = links.decode(example.link)
    assert decoded.problems == ()
    assert f"?{links.encode(decoded.scenario)}" == example.link
    assert example.page in report(decoded.scenario)
    assert example.why.endswith(".")
