"""Parameters, formats and memory that other tools were reported to get wrong: rows P and Q, and K30."""

from typing import Any

import pytest

from inferdash.facts import library
from inferdash.facts.models import huggingface
from inferdash.facts.models.precision import PRECISIONS
from inferdash.layers.grouped import GroupedAttention
from inferdash.physics.capacity import kv_cache
from inferdash.physics.capacity.parameters import checkpoint_bytes, parameters
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies.check import model
from inferdash.studies.learn import kv_cache as kv_cache_study

NEMOTRON_3_SUPER: dict[str, Any] = {
    "model_type": "nemotron_h",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "vocab_size": 131_072,
    "hybrid_override_pattern": "ME" * 40 + "*" * 8,
    "num_hidden_layers": 88,
    "n_routed_experts": 512,
    "num_experts_per_tok": 22,
    "moe_intermediate_size": 2688,
    "moe_latent_size": 1024,
    "moe_shared_expert_intermediate_size": 5376,
    "n_shared_experts": 1,
    "mlp_hidden_act": "relu2",
    "ssm_state_size": 128,
    "conv_kernel": 4,
    "mamba_num_heads": 128,
    "mamba_head_dim": 64,
    "n_groups": 8,
    "tie_word_embeddings": False,
}
"""Its published sizes: 40 Mamba layers, 40 of experts, 8 of attention; their order does not change the count."""


@pytest.mark.parametrize(
    ("preset", "total", "active"),
    [
        ("mixtral-8x7b", 46_702_792_704, 12_879_925_248),
        ("deepseek-v3", 671_026_404_352, 37_552_282_624),
        ("llama-3.1-70b", 70_553_706_496, 70_553_706_496),
        ("llama-3-8b", 8_030_261_248, 8_030_261_248),
    ],
    ids=["P1", "P2-P3-P6", "P5", "P7-P8"],
)
def test_p1_to_p8_all_parameters_and_those_at_work(preset: str, total: int, active: int) -> None:
    """Reported were one expert a layer (7.24 and 38.57 billion), 6,198 billion, an older vocabulary (68.98), tables
    left out (6.98 and 7.50), and total and active swapped."""
    result = model.study(Scenario(model=preset))
    assert (result.parameters_total, result.active_all) == (total, active)


def test_p13_experts_that_work_on_a_latent() -> None:
    """aiconfigurator#1143 gives 902 GB for Nemotron 3 Super at 16 bits; the reporter says about 225."""
    architecture = huggingface.read(NEMOTRON_3_SUPER).architecture
    files = float(checkpoint_bytes(architecture, PRECISIONS["bf16"]))
    assert files == pytest.approx(225e9, rel=0.08)
    assert float(parameters(architecture).active_total) == pytest.approx(12e9, rel=0.06)


def test_k30_predicting_a_further_token_adds_one_layer() -> None:
    """sglang#8482 counts all 92 layers of GLM-4.5 again for the layer that predicts a further token."""
    glm = library.models()["glm-4.5"]
    one = 2 * 8 * 128 * 2
    assert kv_cache.text_cache_bytes(glm, tokens=1, bytes_per_number=2) == 92 * one
    assert kv_cache.further_cache_bytes(glm, tokens=1, bytes_per_number=2) == one
    assert model.report(glm)["kv_bytes_per_token_mtp"] == one
    assert model.report(library.models()["llama-3-8b"])["kv_bytes_per_token_mtp"] == 0


def test_q5_what_the_driver_shows() -> None:
    """unsloth#6895: 80.0, 79.65 and 179.1 GiB of A100, H100 and B200."""
    chips = library.accelerators()
    shown = [(chips[name].visible_memory or 0) / 2**30 for name in ("a100-80gb-sxm", "h100-sxm", "b200-sxm")]
    assert shown == pytest.approx([80.0, 79.65, 179.1], abs=0.05)


def test_q8_an_fp8_cache_halves_bytes_and_no_arithmetic_of_an_a100() -> None:
    """aiconfigurator#1418: a chip without fp8 multiplies at 16 bits."""
    wide, narrow = (Scenario(accelerator="a100-80gb-sxm", kv=kv, batch=64, prompt=8192) for kv in ("bf16", "fp8"))
    passes = [decode(scenario.deployment, requests=64, past=8192) for scenario in (wide, narrow)]
    assert passes[0].compute_s == passes[1].compute_s
    sizes = [kv_cache_study.study(scenario).bytes_per_request for scenario in (wide, narrow)]
    assert sizes[0] == 2 * sizes[1]


def test_k10_k12_k13_head_sizes_and_layers_of_the_file() -> None:
    """GenZ takes hidden / heads for Mistral NeMo, all layers of Jamba, and query heads for Qwen1.5."""
    nemo = {
        "model_type": "mistral",
        "hidden_size": 5120,
        "head_dim": 128,
        "num_hidden_layers": 40,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14_336,
        "vocab_size": 131_072,
    }
    architecture = huggingface.read(nemo).architecture
    assert isinstance(architecture.blocks[0].attention, GroupedAttention)
    assert kv_cache.text_cache_bytes(architecture, tokens=1, bytes_per_number=2) == 163_840
    assert parameters(architecture).stored_total == 12_247_782_400
