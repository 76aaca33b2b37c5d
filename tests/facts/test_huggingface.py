"""config.json -> architecture: published counts to the unit, and a sentence for whatever is none."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from inferdash.facts import library
from inferdash.facts.models import huggingface
from inferdash.facts.models.huggingface import UnreadConfigError
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.capacity import kv_cache
from inferdash.physics.capacity.parameters import checkpoint_bytes, mtp_parameters, parameters

MODELS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "published_models.json").read_text())
"""Configurations as published, with counts that agree with transformers 5.24.0 where `reference_match` says so."""
BY_NAME = {model["preset"]: model for model in MODELS}
LLAMA = BY_NAME["llama-3.1-8b"]["config"]
each = pytest.mark.parametrize("model", MODELS, ids=lambda model: model["preset"])


@each
def test_counts_from_the_configuration_alone(model: dict[str, Any]) -> None:
    found = huggingface.read(model["config"])
    counts = parameters(found.architecture)
    active = model["computed_active_variants"]
    assert counts.stored_total == model["computed_total"]
    assert counts.active_with_input_embedding == active["all"]
    assert counts.active_total == active["without_input_embedding"]
    assert counts.active_in_blocks == active["without_embedding_and_head"]
    assert not [problem for problem in found.problems if "not known" in problem]


@each
def test_cache_from_the_configuration_alone(model: dict[str, Any]) -> None:
    architecture = huggingface.read(model["config"]).architecture
    for tokens, size in model["kv_total_bytes_bf16_at_context"].items():
        assert kv_cache.text_cache_bytes(architecture, tokens=int(tokens), bytes_per_number=2) == size
    state = model["kv_elements"].get("state_elems", {"recurrent": 0, "conv": 0})
    needed = state["recurrent"] + state.get("conv_min", state["conv"])
    assert kv_cache.request_state_bytes(architecture) == 4 * needed
    assert kv_cache.request_state_bytes(architecture, reserved=True) == 4 * (state["recurrent"] + state["conv"])


@each
def test_the_layer_for_further_tokens(model: dict[str, Any]) -> None:
    if model["mtp"]:
        architecture = huggingface.read(model["config"]).architecture
        assert mtp_parameters(architecture).total == model["mtp"]["own"]


@each
def test_the_preset_is_what_the_configuration_says(model: dict[str, Any]) -> None:
    preset, found = library.models()[model["preset"]], huggingface.read(model["config"]).architecture
    shape = {
        "hidden",
        "vocabulary",
        "tied_embeddings",
        "final_norms",
        "token_vocabulary",
        "blocks",
        "mtp",
        "mtp_tables",
    }
    assert preset.model_dump(include=shape) == found.model_dump(include=shape)
    assert preset.hf_id == model["hf_id"]


@each
def test_the_fields_that_were_read_are_enough(model: dict[str, Any]) -> None:
    """A link carries these fields alone, so they give the same model."""
    found = huggingface.read(model["config"])
    again = huggingface.read(json.loads(json.dumps(found.used)))
    assert again.architecture == found.architecture
    assert again.used == found.used


@pytest.mark.parametrize(
    ("preset", "size"),
    [
        ("gpt-oss-120b", 65_248_815_744),
        ("gpt-oss-20b", 13_761_264_768),
        ("deepseek-v3", 688_574_772_000),
        ("kimi-k2", 1_029_173_150_896),
    ],
)
def test_bytes_of_the_files(preset: str, size: int) -> None:
    """gpt-oss: 60.8 and 12.8 GiB as published; DeepSeek-V3 688.587 GB in its index; Kimi K2 958.5 GiB."""
    architecture = huggingface.read(BY_NAME[preset]["config"]).architecture
    assert checkpoint_bytes(architecture, PRECISIONS[architecture.weights]) == size


@pytest.mark.parametrize(("preset", "gigabytes"), [("deepseek-v4-flash", 159), ("deepseek-v4-pro", 863)])
def test_bytes_of_files_in_two_formats(preset: str, gigabytes: float) -> None:
    architecture = huggingface.read(BY_NAME[preset]["config"]).architecture
    size = checkpoint_bytes(architecture, PRECISIONS[architecture.weights])
    assert float(size) == pytest.approx(1e9 * gigabytes, rel=0.01)


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in LLAMA.items() if key != name}


def changed(base: dict[str, Any] = LLAMA, **fields: Any) -> dict[str, Any]:
    return base | fields


MIXTRAL, DEEPSEEK, GPT_OSS = (BY_NAME[name]["config"] for name in ("mixtral-8x7b", "deepseek-v3", "gpt-oss-20b"))
NEMOTRON, QWEN_NEXT = (BY_NAME[name]["config"] for name in ("nemotron-3-nano-30b-a3b", "qwen3-next-80b-a3b"))
GEMMA, LLAMA_4 = (BY_NAME[name]["config"] for name in ("gemma-4-e2b", "llama-4-scout"))
BAD_FIELDS: list[tuple[Any, str]] = [
    *((without(name), name) for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")),
    (without("intermediate_size"), "intermediate_size"),
    *(
        (LLAMA | {name: value}, name)
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
        for value in (0, -32, "32", 32.5, True, [1, 2], {"a": 1})
    ),
    (changed(num_hidden_layers=10**12), "num_hidden_layers"),
    (changed(num_hidden_layers=1e12), "num_hidden_layers"),
    (changed(hidden_size=10**30), "hidden_size"),
    (changed(num_key_value_heads=0), "num_key_value_heads"),
    (changed(num_key_value_heads=7), "num_key_value_heads"),
    (changed(num_key_value_heads="eight"), "num_key_value_heads"),
    (changed(head_dim=-1), "head_dim"),
    (changed(num_attention_heads=7, num_key_value_heads=7), "head_dim"),
    (changed(tie_word_embeddings="yes"), "tie_word_embeddings"),
    (changed(layer_types=["full_attention"]), "layer_types"),
    (changed(layer_types=["telepathy"] * 32), "layer_types"),
    (changed(layer_types="full_attention"), "layer_types"),
    (changed(MIXTRAL, num_experts_per_tok=9), "experts"),
    (changed(MIXTRAL, num_experts_per_tok=None), "num_experts_per_tok"),
    (changed(MIXTRAL, num_local_experts="8"), "num_local_experts"),
    (changed(DEEPSEEK, qk_nope_head_dim=None), "qk_nope_head_dim"),
    (changed(DEEPSEEK, first_k_dense_replace="three"), "first_k_dense_replace"),
    (changed(DEEPSEEK, moe_intermediate_size=None, intermediate_size=None), "intermediate_size"),
    (changed(GPT_OSS, sliding_window=None), "sliding_window"),
    (changed(NEMOTRON, hybrid_override_pattern="MEX"), "hybrid_override_pattern"),
    (changed(NEMOTRON, ssm_state_size=None), "ssm_state_size"),
    (changed(QWEN_NEXT, linear_key_head_dim=None), "linear_key_head_dim"),
    (changed(QWEN_NEXT, full_attention_interval=0), "full_attention_interval"),
    (changed(GEMMA, text_config=None), "hidden_size"),
    (changed(GEMMA, text_config=[]), "text_config"),
    (changed(GEMMA, text_config={}), "hidden_size"),
    (changed(LLAMA_4, text_config={"model_type": "llama4_text"}), "hidden_size"),
    ({}, "hidden_size"),
    ({"version": 1, "services": {"web": {"image": "nginx"}}}, "hidden_size"),
    ({"architectures": ["BertModel"], "model_type": "bert"}, "model_type"),
]
"""Configurations that are none -> the field that the sentence names."""


@pytest.mark.parametrize(
    ("config", "field"), BAD_FIELDS, ids=[f"{i}-{field}" for i, (_, field) in enumerate(BAD_FIELDS)]
)
def test_a_broken_configuration_gets_a_sentence_that_names_the_field(config: dict[str, Any], field: str) -> None:
    start = time.monotonic()
    with pytest.raises(UnreadConfigError) as caught:
        huggingface.read(config)
    assert field in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 300
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"not json at all", "not JSON"),
        (b"[1, 2]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b"\x80\x81\x82", "UTF-8"),
        (b"x" * 50_000_000, "characters"),
        (b"[" * 400_000, "nested"),
        (b'{"a":' * 400_000, "nested"),
        (b'{"hidden_size": 1' + b"0" * 10_000 + b"}", "JSON"),
    ],
)
def test_a_file_that_is_no_configuration_gets_a_sentence(content: bytes, words: str) -> None:
    start = time.monotonic()
    with pytest.raises(UnreadConfigError, match=words):
        huggingface.read(huggingface.parse(content))
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_in_the_usual_encodings(encoding: str) -> None:
    found = huggingface.read(huggingface.parse(json.dumps(LLAMA).encode(encoding)))
    assert parameters(found.architecture).stored_total == 8_030_261_248


def test_a_family_that_is_not_known_is_named() -> None:
    found = huggingface.read(changed(model_type="llama9"))
    assert parameters(found.architecture).stored_total == 8_030_261_248
    assert any("llama9" in problem for problem in found.problems)
    with pytest.raises(UnreadConfigError, match="is not a kind of model that is read here"):
        huggingface.read(changed(model_type="llama-of-tomorrow", architectures=None))
