"""The facts against published counts, and the rules that every preset keeps."""

import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from inferdash import shipped
from inferdash.facts import library
from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.deployment import deploy

PUBLISHED = {
    "deepseek-v3": (671_026_404_352, 36_625_603_584, 70_272, 70_272),
    "gpt-oss-120b": (116_829_156_672, 5_132_849_472, 73_728, 36_864),
    "gpt-oss-20b": (20_914_757_184, 3_608_307_264, 49_152, 24_576),
    "kimi-k2": (1_026_408_209_408, 31_687_072_768, 70_272, 70_272),
    "llama-3-8b": (8_030_261_248, 7_504_924_672, 131_072, 131_072),
    "llama-3.1-405b": (405_853_388_800, 403_752_042_496, 516_096, 516_096),
    "llama-3.1-70b": (70_553_706_496, 69_503_033_344, 327_680, 327_680),
    "llama-3.1-8b": (8_030_261_248, 7_504_924_672, 131_072, 131_072),
    "llama-3.2-1b": (1_235_814_400, 1_235_814_400, 32_768, 32_768),
    "llama-4-maverick": (400_711_848_960, 16_150_205_440, 196_608, 49_152),
    "mistral-small-24b": (23_572_403_200, 22_901_314_560, 163_840, 163_840),
    "mixtral-8x7b": (46_702_792_704, 12_748_853_248, 131_072, 131_072),
    "qwen3-0.6b": (596_049_920, 596_049_920, 114_688, 114_688),
    "qwen3-235b-a22b": (235_093_634_560, 21_568_433_664, 192_512, 192_512),
    "qwen3-30b-a3b": (30_532_122_624, 3_041_867_776, 98_304, 98_304),
    "qwen3-32b": (32_762_123_264, 31_984_210_944, 262_144, 262_144),
    "qwen3-8b": (8_190_735_360, 7_568_405_504, 147_456, 147_456),
}
"""Id -> parameters stored, those that a position works with, cache bytes of the first token and of a late one, at bf16.

Stored counts are those of transformers 5.24.0 for the same configuration. A tied table is stored once and works.
"""


@pytest.mark.parametrize("name", PUBLISHED)
def test_models_have_their_published_sizes(name: str) -> None:
    stored, active, first_token, further_token = PUBLISHED[name]
    chip = library.accelerators()["h100-sxm"]
    bf16 = PRECISIONS["bf16"]
    machine = deploy(library.models()[name], chip, gpus=1, weights=bf16, cache=bf16)
    assert machine.stored_bytes == 2 * stored
    assert machine.parameters.active_total == active
    assert request_cache_bytes(machine.architecture, tokens=1, bytes_per_number=2) == first_token
    many = request_cache_bytes(machine.architecture, tokens=np.array([100_000, 100_001]), bytes_per_number=2)
    assert np.diff(np.asarray(many)) == [further_token]


def test_the_presets_are_those_that_the_tests_know() -> None:
    published = json.loads((Path(__file__).parent / "published_models.json").read_text())
    assert set(library.models()) == {model["preset"] for model in published}
    assert set(library.accelerators()) == set(DATASHEETS)
    assert list(library.models()).index("llama-3.1-8b") < list(library.models()).index("llama-3.1-70b")


DATASHEETS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "datasheets.json").read_text())
"""Id -> figures of the datasheet: GB, GB/s, dense TFLOP/s."""


@pytest.mark.parametrize("name", library.accelerators())
def test_accelerators_have_their_datasheets_figures(name: str) -> None:
    chip, sheet = library.accelerators()[name], DATASHEETS[name]
    peaks = sheet["dense_tflops"]

    def times(value: float | None, factor: float) -> Any:
        return None if value is None else pytest.approx(value * factor)

    assert chip.memory == 1e9 * sheet["memory_label_GB"]
    assert chip.bandwidth == times(sheet["memory_bandwidth_GBps"], 1e9)
    assert chip.dense_bf16 == times(peaks["bf16"], 1e12)
    assert (chip.dense_fp16 or chip.dense_bf16) == times(peaks["fp16"] or peaks["bf16"], 1e12)
    assert (chip.dense_fp8, chip.dense_int8) == (times(peaks["fp8"], 1e12), times(peaks["int8_tops"], 1e12))
    assert chip.dense_fp4 == times(peaks["fp4"], 1e12)
    assert chip.link_bandwidth == times(sheet["interconnect_GBps_per_device_one_way"], 1e9)
    assert chip.confidence == sheet["confidence"]


@pytest.mark.parametrize(
    ("name", "fact"), [*library.models().items(), *library.accelerators().items()], ids=lambda one: str(one)[:20]
)
def test_each_preset_has_its_source_and_day(name: str, fact: Architecture | Accelerator) -> None:
    assert fact.source
    assert date(2026, 1, 1) <= fact.checked <= date(2100, 1, 1)
    assert name == name.lower()


def a_chip(**changes: Any) -> dict[str, Any]:
    text = (shipped("presets") / "accelerators" / "h100-sxm.toml").read_text(encoding="utf-8")
    return tomllib.loads(text) | changes


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"memory": "80 XB"}, "memory"),
        ({"memory": "-80 GB"}, "memory"),
        ({"bandwith": "3 TB/s"}, "bandwith"),
        ({"source": None}, "source"),
        ({"checked": "lately"}, "checked"),
        ({"confidence": "certain"}, "confidence"),
    ],
)
def test_a_preset_that_is_wrong_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Accelerator.model_validate(a_chip(**changes))
    assert refused.value.errors()[0]["loc"][0] == field


def test_a_rate_that_a_chip_lacks_is_that_of_bf16() -> None:
    chip = library.accelerators()["a100-80gb-sxm"]
    assert chip.rate(PRECISIONS["fp8"]) == (PRECISIONS["bf16"], 312e12)
    assert chip.rate(PRECISIONS["int8"]) == (PRECISIONS["int8"], 624e12)
    assert library.accelerators()["m4-max"].rate(PRECISIONS["bf16"]) == (PRECISIONS["bf16"], None)
