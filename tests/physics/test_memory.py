"""Memory and parallelism: what engines logged, what reports got wrong, and laws."""

from typing import TypeAlias

import pytest

from inferdash.facts import library
from inferdash.physics.capacity import kv_cache
from inferdash.physics.parallelism import all_reduce_bytes, all_to_all_bytes, obstacle, pipeline_bytes
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies.run import memory

GIB = 2.0**30
VLLM = [
    ("qwen3-0.6b", "bf16", 1, None, 5.56, 0.13, 64.45, 0.9),
    ("llama-3.1-8b", "bf16", 1, None, 4.76, 0.13, 51.38, 0.9),
    ("qwen3-32b", "bf16", 1, None, 5.64, 0.14, 4.45, 0.9),
    ("gpt-oss-20b", "mxfp4", 1, None, 7.38, 0.13, 50.28, 0.9),
    ("gpt-oss-120b", "mxfp4", 1, 64.38, 7.38, 0.13, 3.33, 0.95),
    ("llama-3.3-70b", "fp8-block", 2, None, 4.84, 0.55, 32.00, 0.9),
    ("mistral-small-24b", "bf16", 1, 44.76, 2.12, 0.14, 28.20, 0.95),
]
"""As vLLM logged them at its start on an H100 of 80 GB, of which 79.18 GiB were usable (llm-d-planner): model, format,
GPUs, parameters as logged where they are not those of the files, activations, outside the engine, room for the cache,
share. gpt-oss-120b: the engine widens the experts (64.38 GiB for files of 60.77). Mistral Small 3.2 has a tower."""


VLLMRow: TypeAlias = tuple[str, str, int, float | None, float, float, float, float]


def room(row: VLLMRow, *, measured: bool) -> float:
    """GiB for the cache on one GPU, with the engine's own lines as measured or by default."""
    model, weights, gpus, loaded, activations, overhead, _, share = row
    lines = {"activations": activations * GIB, "overhead": overhead * GIB} if measured else {}
    if loaded and measured:
        lines["weight_memory"] = loaded * GIB
    scenario = Scenario(
        engine_version="0.11.0",
        model=model,
        weights=weights,
        gpus=gpus,
        layout="tensor",
        memory=79.18 * GIB,
        memory_of="engine",
        engine_share=share,
        **lines,
    )
    result = memory.study(scenario)
    return (result.usable_bytes - result.parameters_bytes) / GIB


@pytest.mark.parametrize("row", VLLM, ids=lambda row: row[0])
def test_room_for_the_cache_as_vllm_logged_it(
    row: tuple[str, str, int, float | None, float, float, float, float],
) -> None:
    assert room(row, measured=True) == pytest.approx(row[6], rel=0.03)


def test_the_rule_gives_what_was_logged() -> None:
    """Within 0.3 GiB, but for one start that used 3 GiB less than the rule, for an unknown reason."""
    errors = {row[0]: room(row, measured=False) - row[6] for row in VLLM}
    assert -3.3 < errors.pop("mistral-small-24b") < 0
    assert max(abs(error) for error in errors.values()) < 0.3


@pytest.mark.parametrize("tensor", [2, 8, 64])
def test_d1_a_latent_is_copied_to_each_gpu(tensor: int) -> None:
    """A planner divides DeepSeek-R1's 70,272 bytes a token by 8; there are no heads to divide."""
    model = library.models()["deepseek-r1"]
    assert kv_cache.request_cache_bytes(model, tokens=1, bytes_per_number=2, tensor=tensor) == 70_272


def test_d3_a_request_lives_on_one_group() -> None:
    """unified-cache-management#1217 divides a request by tensor and data parallelism; only the first divides it."""
    whole = 80 * 2 * 8 * 128 * 2 * 4096
    for layout, gpus, part in (("tensor", 4, 4), ("tensor", 8, 8), ("tensor", 16, 8), ("data", 8, 1)):
        scenario = Scenario(model="llama-3.1-70b", gpus=gpus, layout=layout, prompt=4096, batch=gpus)
        mine = gpus if layout == "tensor" else 1
        assert memory.study(scenario).caches_bytes == pytest.approx(mine * whole / part)


def test_d5_blocks_of_one_gpu_in_the_memory_of_one_gpu() -> None:
    """inference-sim#1545 divides the bytes of all GPUs by the block of one: 4 times as many as there are."""
    one, four = (
        memory.study(Scenario(model="llama-3.1-8b", gpus=gpus, layout="tensor", prompt=4096)) for gpus in (1, 4)
    )
    request = 32 * 2 * 8 * 128 * 2 * 4096
    room_of_four = 80e9 - four.parameters_bytes
    assert four.largest_batch == int(room_of_four // (request / 4))
    assert four.largest_batch < 6 * one.largest_batch


def test_d6_every_gpu_of_a_layout_is_counted() -> None:
    """aiconfigurator#1477 counts one of eight."""
    scenario = Scenario(model="llama-3.1-70b", gpus=16, layout="mixed", tensor_parallel=4, pipeline_parallel=2)
    assert (scenario.sharing.tensor, scenario.sharing.pipeline, scenario.sharing.data) == (4, 2, 2)
    assert scenario.sharing.gpus == 16


def test_volumes_by_hand() -> None:
    """8 GPUs, 64 positions of 4,096 numbers of 2 bytes: a ring sends 2 * 7/8 of 524,288 bytes."""
    vectors = {"positions": 64, "hidden": 4096, "bytes_per_number": 2}
    assert all_reduce_bytes(tensor=8, **vectors) == 2 * 7 / 8 * 524_288
    assert all_to_all_bytes(expert=8, experts_per_token=2, **vectors) == 2 * 7 / 8 * 2 * 524_288
    assert pipeline_bytes(pipeline=4, **vectors) == 3 * 524_288


def test_tensor_parallel_passes_wait_on_the_link() -> None:
    """Llama 3.1 70B on 8 H100: 160 all-reduces of a vector of 8,192 numbers, 450 GB/s one way."""
    machine = Scenario(model="llama-3.1-70b", gpus=8, layout="tensor").deployment
    one = decode(machine, requests=1, past=1024)
    assert one.link_s == pytest.approx(160 * 2 * 7 / 8 * 8192 * 2 / 450e9)
    assert one.pass_s == pytest.approx(one.load_s + one.link_s)
    assert one.load_s == pytest.approx(
        (float(machine.loaded_bytes_of_one(positions=1)) + 80 * 2 * 128 * 2 * 1024) / 3.35e12
    )


@pytest.mark.parametrize("name", library.models())
def test_laws_of_layouts(name: str) -> None:
    for layout in ("tensor", "pipeline", "data", "expert"):
        alone = Scenario(model=name, accelerator="h200-sxm", batch=8)
        if obstacle(alone.architecture, alone.model_copy(update={"gpus": 8, "layout": layout}).sharing):
            continue  # such as 71 heads on 8 GPUs
        shared = Scenario(model=name, accelerator="h200-sxm", batch=8, gpus=8, layout=layout)
        even = Scenario(model=name, accelerator="h200-sxm", batch=8, gpus=8)
        one, many, best = (decode(scenario.deployment, requests=8, past=1024) for scenario in (alone, shared, even))
        assert many.pass_s is not None
        assert best.pass_s is not None
        assert many.pass_s >= best.pass_s * (1 - 1e-12), "no layout beats the even share"
        assert many.load_s <= one.load_s * (1 + 1e-12), "sharing never loads more on one GPU"
        assert many.flops == one.flops
        parts = memory.study(shared)
        assert parts.parameters_bytes <= memory.study(alone).parameters_bytes
        assert parts.parameters_bytes + parts.caches_bytes + parts.free_bytes == pytest.approx(parts.usable_bytes)
        assert parts.largest_batch_reserved <= parts.largest_batch


def test_ways_out_do_what_they_say() -> None:
    scenario = Scenario(model="llama-3.1-70b", gpus=3, batch=64, prompt=8192)
    result = memory.study(scenario)
    said = " ".join(memory.ways_out(scenario, result))
    assert result.free_bytes < 0
    fewest = result.fewest_gpus
    assert fewest
    assert f"at least {fewest}, shared evenly" in said
    assert memory.study(scenario.model_copy(update={"gpus": fewest})).free_bytes >= 0
    assert memory.study(scenario.model_copy(update={"gpus": fewest - 1})).free_bytes < 0
    assert "fp8" in said
    shorter = int(said.partition("A shorter context: ")[2].partition(" token")[0].replace(",", ""))
    assert memory.study(scenario.model_copy(update={"prompt": shorter})).free_bytes >= 0
    assert memory.study(scenario.model_copy(update={"prompt": shorter + 1})).free_bytes < 0
    assert memory.ways_out(Scenario(), memory.study(Scenario())) == []


def test_what_does_not_fit_is_model_and_caches() -> None:
    """What the engine keeps lies inside the memory; it would not help to show it beyond the end."""
    scenario = Scenario(model="llama-3.1-405b", gpus=7, memory_of="engine")
    rows = memory.bar_rows(scenario, memory.study(scenario))
    end = rows["room"][0]["end_b"]
    beyond = {row["part"] for row in rows["parts"] if row["end_b"] > end and row["end_b"] > row["start_b"]}
    assert beyond == {"parameters", "caches"}
    fitting = memory.bar_rows(Scenario(memory_of="engine"), memory.study(Scenario(memory_of="engine")))
    assert fitting["parts"][-1]["end_b"] == pytest.approx(fitting["room"][0]["end_b"])


def test_a_layout_that_cannot_be_is_no_row_of_the_table() -> None:
    scenario = Scenario(gpus=7)
    assert "tensor parallel" not in {row.label for row in memory.layout_table(scenario).rows}
    (said,) = memory.impossible_layouts(scenario)
    assert "7 GPUs do not divide 32" in said
    assert memory.impossible_layouts(Scenario(gpus=8)) == []
