"""The reader's own start, the parts of the page and the nearest logged starts."""

from typing import Any

import pytest

from inferdash import links
from inferdash.facts.machines.start_log import UnreadLogError
from inferdash.scenario import BASE, Scenario
from inferdash.studies.run import engine_memory as study
from inferdash.studies.run import memory, planning

GIB = 2.0**30
RTX_3090 = Scenario(model="llama-3.1-8b", accelerator="rtx-3090", prompt=20_000, answer=1, memory_of="engine")


def calibrated(scenario: Scenario, text: str) -> Scenario:
    fields, said = study.entered(scenario, text)
    assert said.startswith("Read: ")
    link = links.encode(Scenario.model_validate(dict(scenario) | dict(fields)))
    decoded = links.decode(link)
    assert decoded.problems == ()
    return decoded.scenario


@pytest.mark.parametrize(
    "text",
    [
        "Available KV cache memory: 3.81 GiB",
        "GPU KV cache size: 31,232 tokens",
        "# GPU blocks: 1952, # CPU blocks: 2048",
        "Maximum concurrency for 20000 tokens per request: 1.5616x",
    ],
)
def test_a_line_of_the_log_is_the_room_from_then_on(text: str) -> None:
    """vllm#10517: 3.81 GiB, which are 1,952 blocks or 31,232 tokens. Graphs may still fail."""
    result = memory.study(calibrated(RTX_3090, text))
    assert result.room.expected == pytest.approx(3.81 * GIB, rel=2e-3)
    assert (result.largest_batch, result.starts) == (1, "probably")
    assert result.caches_bytes + result.free_bytes == pytest.approx(result.room.expected)


def test_a_whole_log_sets_every_part() -> None:
    text = (
        "total_gpu_memory (23.58GiB) x gpu_memory_utilization (0.90) = 21.22GiB; model weights take 14.99GiB; "
        "non_torch_memory takes 0.35GiB; PyTorch activation peak memory takes 2.07GiB; the rest of the memory "
        "reserved for KV Cache is 3.81GiB."
    )
    scenario = calibrated(RTX_3090, text)
    assert (scenario.engine_share, scenario.activations, scenario.weight_memory) == (0.9, 2.07 * GIB, 14.99 * GIB)
    rows = memory.bar_rows(scenario, memory.study(scenario))
    assert rows["parts"][-1]["end_b"] == pytest.approx(rows["room"][0]["end_b"])


def test_a_logged_room_counts_for_its_set_up_alone() -> None:
    own = calibrated(RTX_3090, "Available KV cache memory: 2.5 GiB")
    same: list[dict[str, Any]] = [{"prompt": 100}, {"kv": "fp8"}, {"batch": 9}]
    for changes in same:
        assert memory.study(own.model_copy(update=changes)).room.expected == pytest.approx(2.5 * GIB)
    others: list[dict[str, Any]] = [
        {"model": "qwen3-8b"},
        {"accelerator": "rtx-4090"},
        {"engine_share": 0.8},
        {"gpus": 2},
    ]
    for changes in others:
        other = own.model_copy(update=changes)
        ruled = other.model_copy(update={"cache_room": None, "cache_room_of": ""})
        assert memory.study(other).room == memory.study(ruled).room
        assert other.kept
        assert "does not count here" in study.rule_note(other, other.kept)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Available KV cache memory: -2.14 GiB", "that start failed"),
        ("Available KV cache memory: 100 GiB", "more than the memory"),
        ("GPU KV cache size: 999,999,999 tokens", "more than the memory"),
        ("Uvicorn running on http://0.0.0.0:8000", "not a memory line of a start log"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(UnreadLogError, match=words):
        study.entered(RTX_3090, text)


def test_nothing_is_left_of_a_log_that_was_removed() -> None:
    own = calibrated(RTX_3090, "Available KV cache memory: 2.5 GiB")
    assert own.model_copy(update=dict(study.CLEARED)) == RTX_3090


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp", "tensorrt-llm", "mlx"])
def test_the_parts_are_the_whole(engine: str) -> None:
    for scenario in (
        Scenario(memory_of="engine", engine=engine),
        Scenario(memory_of="engine", engine=engine, accelerator="rtx-4090", weights="int4-g128"),
        Scenario(memory_of="engine", engine=engine, gpus=8, layout="tensor", model="llama-3.1-70b"),
    ):
        rows = memory.bar_rows(scenario, memory.study(scenario))
        assert rows["parts"][-1]["end_b"] == pytest.approx(rows["room"][0]["end_b"], rel=1e-9)
        assert scenario.kept
        table = study.parts_table(scenario, scenario.kept)
        assert "parameters" in [row.label for row in table.rows]
        assert "None" not in table.markdown()


def test_the_nearest_starts_are_of_the_same_engine_and_size() -> None:
    (first, *_) = study.nearest(RTX_3090)
    assert first.source == "vllm-project/vllm#10517"
    assert {one.engine for one in study.nearest(Scenario(memory_of="engine"))} == {"vllm"}
    assert all(one.gpu.startswith("H100") for one in study.nearest(Scenario(memory_of="engine"))[:3])
    assert study.nearest(Scenario(engine="sglang"))[0].engine == "sglang"
    assert len(study.nearest_table(RTX_3090).rows) == 6


def test_the_sentence_says_whether_it_starts() -> None:
    said: dict[str, dict[str, Any]] = {
        "vLLM is sure to start": {},
        "vLLM probably does not start": {"model": "gpt-oss-120b", "weights": "mxfp4", "prompt": 4096},
        "vLLM does not start": {"model": "llama-3.1-405b"},
        "SGLang probably starts": {"engine": "sglang"},
    }
    for words, fields in said.items():
        scenario = Scenario(memory_of="engine", **fields)
        assert words in memory.sentence(scenario, memory.study(scenario))
    assert "starts" not in memory.sentence(BASE, memory.study(BASE))


def test_the_plan_has_the_memory_that_the_page_says() -> None:
    scenario = Scenario(load=2.0, considered=("h100-sxm", "l40s"), formats=("bf16",))
    found = planning.planned(scenario)
    assert found
    assert found.best
    made = Scenario.model_validate(dict(scenario) | planning.changes(scenario))
    assert made.deployment.memory == pytest.approx(found.best.usable_bytes)
