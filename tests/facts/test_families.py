"""What families do without saying it, and what is said where a file leaves something out."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inferdash.facts.models import huggingface
from inferdash.facts.models.huggingface import UnreadConfigError
from inferdash.facts.models.precision import PRECISIONS
from inferdash.layers.grouped import GroupedAttention
from inferdash.physics.capacity import kv_cache
from inferdash.physics.capacity.parameters import checkpoint_bytes, parameters
from inferdash.studies.check import model

HERE = Path(__file__).parent
COUNTS: dict[str, Any] = json.loads((HERE / "library_counts.json").read_text())
"""Fields of a file -> parameters of the model's class in transformers 5.24.0, counted in the class itself."""
REMOTE: dict[str, Any] = json.loads((HERE / "hub_configs.json").read_text())
PUBLISHED = {model["preset"]: model["config"] for model in json.loads((HERE / "published_models.json").read_text())}
LLAMA, MIXTRAL, QWEN3 = (PUBLISHED[name] for name in ("llama-3.1-8b", "mixtral-8x7b", "qwen3-32b"))
NEMOTRON = COUNTS["nemotron_h"]["config"]
KIMI_LINEAR = COUNTS["kimi_linear"]["config"] | {"layer_types": None}


def stored(config: dict[str, Any]) -> int:
    return int(parameters(huggingface.read(config).architecture).stored_total)


def problems(config: dict[str, Any]) -> str:
    return " ".join(huggingface.read(config).problems)


@pytest.mark.parametrize("name", COUNTS)
def test_a_family_and_its_switches_are_counted_as_its_class_has_them(name: str) -> None:
    assert stored(COUNTS[name]["config"]) == COUNTS[name]["parameters"]


@pytest.mark.parametrize("name", REMOTE)
def test_files_of_remote_code(name: str) -> None:
    found = huggingface.read(REMOTE[name]["config"])
    assert parameters(found.architecture).stored_total == REMOTE[name]["parameters"]
    assert huggingface.read(json.loads(json.dumps(found.used))).architecture == found.architecture


def test_chatglm_is_read_by_the_names_of_its_own_file() -> None:
    """6,243,584,000 parameters by the index of THUDM/chatglm3-6b."""
    config = {
        "model_type": "chatglm",
        "add_qkv_bias": True,
        "ffn_hidden_size": 13696,
        "hidden_size": 4096,
        "kv_channels": 128,
        "multi_query_attention": True,
        "multi_query_group_num": 2,
        "num_attention_heads": 32,
        "num_layers": 28,
        "padded_vocab_size": 65024,
    }
    assert stored(config) == 6_243_584_000


def test_layers_that_share_their_cache_with_the_one_before() -> None:
    """Hunyuan-Large: 389 billion parameters by its card, and half of the cache of its 64 layers."""
    config = {
        "model_type": "hunyuan",
        "hidden_size": 6400,
        "intermediate_size": 18304,
        "moe_topk": 1,
        "num_attention_heads": 80,
        "num_experts": 16,
        "num_hidden_layers": 64,
        "num_key_value_heads": 8,
        "num_shared_expert": 1,
        "tie_word_embeddings": True,
        "use_qk_norm": True,
        "use_cla": True,
        "cla_share_factor": 2,
        "vocab_size": 129024,
    }
    assert round(stored(config) / 1e9) == 389
    shared = huggingface.read(config).architecture
    apart = huggingface.read(config | {"use_cla": False}).architecture
    size, whole = (kv_cache.text_cache_bytes(one, tokens=4096, bytes_per_number=2) for one in (shared, apart))
    assert 2 * size == whole == 2 * 2 * 64 * 8 * 80 * 4096
    assert parameters(apart).stored_total - parameters(shared).stored_total == 32 * (2 * 6400 * 8 * 80 + 80)


def test_what_a_class_has_where_the_file_is_silent_is_said() -> None:
    assert "vocab_size is not in the file: 262,208" in problems(COUNTS["gemma-3-4b-hub"]["config"])
    assert "head_dim is not in the file: 128" in problems(COUNTS["qwen3-4b-no-head_dim"]["config"])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"num_key_value_heads": None}, "num_key_value_heads is missing"),
        ({"model_type": None, "architectures": None, "head_dim": None}, "head_dim is missing"),
        ({"model_type": "llama7"}, "“llama7” is not known, but has the fields of “llama”"),
        ({"model_type": "my-own", "architectures": ["LlamaForCausalLM"]}, "“my-own” is not known"),
        ({"use_more_biases": True}, "use_more_biases is not known here; by its name it changes small vectors"),
        ({"num_nextn_predict_layers": 3}, "Not counted: 3 layers for multi-token prediction"),
    ],
)
def test_what_is_assumed_is_said(change: dict[str, Any], sentence: str) -> None:
    assert sentence in problems(LLAMA | change)


def test_a_family_with_keys_for_each_head_needs_no_sentence() -> None:
    assert "num_key_value_heads" not in problems(COUNTS["gpt_neox"]["config"] | {"num_key_value_heads": None})


@pytest.mark.parametrize(("activation", "matrices"), [("silu", 3), ("gelu_new", 2), ("swiglu", 3)])
def test_an_activation_may_tell_whether_there_is_a_gate(activation: str, matrices: int) -> None:
    nameless = LLAMA | {"model_type": None, "architectures": None}
    assert 8_030_261_248 - stored(nameless | {"hidden_act": activation}) == (3 - matrices) * 32 * 4096 * 14336
    for said in ("relu2", "gelu"):
        with pytest.raises(UnreadConfigError, match="whether its feed-forward networks are gated"):
            huggingface.read(nameless | {"hidden_act": said})


KIMI: dict[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32, "type": "int", "strategy": "group"}}},
    "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],
}


def test_parts_that_stay_at_16_bits_take_16_bits() -> None:
    """Kimi K2.5: 594.2 GB, where 580.97 GB would have everything but the tables at 4 bits."""
    architecture = huggingface.read(COUNTS["kimi-k2.5"]["config"]).architecture
    assert architecture.weights == "int4-g32-experts"
    size = checkpoint_bytes(architecture, PRECISIONS[architecture.weights])
    assert float(size) == pytest.approx(594.2e9, rel=1e-3)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (KIMI_LINEAR | {"linear_attn_config": {"full_attn_layers": "4,8"}}, "full_attn_layers is “4,8”, not a list"),
        (KIMI_LINEAR | {"linear_attn_config": {"full_attn_layers": []}}, "full_attn_layers names no layers"),
        (KIMI_LINEAR | {"linear_attn_config": {"full_attn_layers": [[1]]}}, "full_attn_layers has other items"),
        (QWEN3 | {"num_experts": 8, "num_experts_per_tok": 2, "mlp_only_layers": 5}, "mlp_only_layers is 5"),
        (COUNTS["jamba"]["config"] | {"mamba_dt_rank": [512, 1]}, "mamba_dt_rank"),
        (COUNTS["lfm2-350m-old"]["config"] | {"block_ffn_dim_multiplier": float("inf")}, "block_ffn_dim_multiplier"),
        (NEMOTRON | {"layers_block_type": ["moe"] * 30, "num_hidden_layers": 30}, "No layer keeps a cache"),
        (LLAMA | {"num_kv_shared_layers": 32}, "No layer keeps a cache"),
        (LLAMA | {"head_dim": 10**8}, "A layer would cache 1,600,000,000 numbers per token"),
        (LLAMA | {"num_hidden_layers": 1001}, "num_hidden_layers is 1,001, more than the 1,000 that are read"),
        (LLAMA | {"head_dim": 10**12}, "head_dim is 1000000000000, not from 1 to"),
        (
            LLAMA | {"model_type": "tomorrow", "architectures": None},
            "“tomorrow” is not a kind of model that is read here",
        ),
        (LLAMA | {"memory_layers": 4}, "memory_layers is not known here, and could change the cache"),
        (LLAMA | {"per_head_gating": True}, "per_head_gating is not known here"),
        (LLAMA | {"model_type": "bert", "architectures": None}, "an encoder that generates no text"),
        ({"weight_map": {"a": "b"}}, "the index of a model's files"),
        ({"tokenizer_class": "LlamaTokenizer"}, "the settings of a tokenizer"),
        ({"name": "x", "dependencies": {}}, "a package.json"),
        ({"_class_name": "UNet2DConditionModel"}, "a part of a diffusion model"),
        (PUBLISHED["minimax-m1"] | {"layer_types": None}, "layer_types is missing"),
    ],
)
def test_what_cannot_be_read_is_named(config: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UnreadConfigError) as caught:
        huggingface.read(config)
    assert sentence in str(caught.value)


def test_a_name_keeps_its_signs() -> None:
    assert huggingface.read(COUNTS["gemma-3-4b-hub"]["config"]).architecture.name == "gemma3_text"
    assert huggingface.read(LLAMA | {"model_type": "_a_*b*"}).architecture.name == "ab"


def test_half_of_a_character_is_refused() -> None:
    with pytest.raises(UnreadConfigError, match="half a character"):
        huggingface.parse('{"hidden_size": "\\ud800"}')


WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    0.5,
    10**12,
    float("inf"),
    float("nan"),
    "x",
    [],
    [[1]],
    [None],
    {},
    {"a": [1]},
    ["moe"] * 99,
)


def broken(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The configuration with each field, also those of its groups, replaced by what it cannot hold."""
    for name, value in config.items():
        for wrong in WRONG:
            yield config | {name: wrong}
        if isinstance(value, dict):
            yield from (config | {name: inner} for inner in broken(value))


def read_or_none(config: dict[str, Any]) -> huggingface.Found | None:
    """What was read; None where a sentence says why not."""
    try:
        return huggingface.read(config)
    except UnreadConfigError:
        return None


@pytest.mark.parametrize(
    "name", ["kimi_linear", "jamba", "lfm2-350m-old", "nemotron_h", "gemma3n_text", "kimi-k2.5", "qwen3_next", "falcon"]
)
def test_a_wrong_value_in_any_field_gives_numbers_or_a_sentence(name: str) -> None:
    read = [
        found for config in itertools.islice(broken(COUNTS[name]["config"]), 2000) if (found := read_or_none(config))
    ]
    for found in read:
        json.dumps(model.report(found.architecture, problems=found.problems), allow_nan=False)
    assert read


def test_an_attention_layer_that_reads_another_cache_has_no_keys() -> None:
    layer = GroupedAttention(heads=8, kv_heads=2, head_dim=64, shares_cache=True)
    assert layer.parameters(512).total == 2 * 512 * 8 * 64
