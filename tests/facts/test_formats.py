"""Checkpoints of several number formats: published sizes, the files of field cases, and the same said in every way."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.files import model_files
from inferdash.facts.formats import stored, unsaid
from inferdash.facts.formats.rules import resolve
from inferdash.facts.models import huggingface
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.huggingface import UnreadConfigError
from inferdash.facts.models.precision import FILES, PRECISIONS
from inferdash.physics.capacity.parameters import checkpoint_bytes, parameters
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.passes import decode
from inferdash.studies.check import model

HERE = Path(__file__).parent
SIZES: list[dict[str, Any]] = json.loads((HERE / "published_sizes.json").read_text())
FIELD: dict[str, Any] = json.loads((HERE / "field_configs.json").read_text())
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
}


def size(architecture: Architecture) -> float:
    return float(checkpoint_bytes(architecture, PRECISIONS[architecture.weights]))


@pytest.mark.parametrize("one", SIZES, ids=lambda one: f"{one['model']}-{one['format']}")
def test_published_sizes(one: dict[str, Any]) -> None:
    """Within 1%, as far as a table with three figures says."""
    own = one.get("config")
    architecture = huggingface.read(own).architecture if own else library.models()[one["model"]]
    found = float(checkpoint_bytes(architecture, PRECISIONS.get(one["format"], PRECISIONS[architecture.weights])))
    assert found == pytest.approx(one["bytes"], rel=0.01)


@pytest.mark.parametrize("name", FIELD)
def test_files_that_people_brought(name: str) -> None:
    case = FIELD[name]
    found = huggingface.read(case["config"])
    numbers = model.report(found.architecture, problems=found.problems)
    assert numbers["parameters_total"] == case["parameters"]
    assert numbers["kv_bytes_per_token"] == case.get("kv", numbers["kv_bytes_per_token"])
    if "gigabytes" in case:
        assert numbers["weight_bytes_native"] / 1e9 == pytest.approx(case["gigabytes"], rel=0.003)
    again = huggingface.read(json.loads(json.dumps(found.used)))
    assert again.architecture == found.architecture
    assert len(json.dumps(found.used, separators=(",", ":"))) < 8000


BITS = {"bf16": 16.0, "fp8": 8.0, "nvfp4": 4.5, "int4": 4 + 16 / 128}
PARTS = {
    "self_attn.q_proj": 1024 * 1024,
    "self_attn.k_proj": 1024 * 256,
    "self_attn.v_proj": 1024 * 256,
    "self_attn.o_proj": 1024 * 1024,
    "mlp.gate_proj": 1024 * 4096,
    "mlp.up_proj": 1024 * 4096,
    "mlp.down_proj": 4096 * 1024,
}
NORMS = 6 * 2 * 1024 + 1024
TABLE = 32000 * 1024


def drawn(seed: int) -> dict[tuple[int, str], str]:
    """A format for each matrix of each layer, with all of one layer or of one kind alike in some."""
    dice = np.random.default_rng(seed)
    usual = ("fp8", "nvfp4")[dice.integers(2)]
    chosen = {(layer, part): usual for layer in range(6) for part in PARTS}
    for _ in range(dice.integers(5)):
        other = tuple(BITS)[dice.integers(len(BITS))]
        layer, part = int(dice.integers(6)), ("self_attn", "mlp", *PARTS)[dice.integers(len(PARTS) + 2)]
        everywhere = bool(dice.integers(2))
        chosen |= {
            key: other for key in chosen if (everywhere or key[0] == layer) and f"{key[1]}.".startswith(f"{part}.")
        }
    return chosen


def bytes_of(chosen: dict[tuple[int, str], str]) -> float:
    """By hand, without any rule."""
    matrices = sum(PARTS[part] * BITS[form] for (_, part), form in chosen.items())
    return (matrices + (2 * TABLE + NORMS) * 16) / 8


WEIGHTS = {
    "fp8": {"num_bits": 8, "type": "float", "strategy": "tensor"},
    "nvfp4": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
    "int4": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": True},
}
ALGORITHMS = {"fp8": {"quant_algo": "FP8"}, "nvfp4": {"quant_algo": "NVFP4", "group_size": 16}}
ALGORITHMS["int4"] = {"quant_algo": "W4A16_AWQ", "group_size": 128}


def names(chosen: dict[tuple[int, str], str], form: str, prefix: str) -> list[str]:
    return [f"{prefix}.{layer}.{part}" for (layer, part), one in chosen.items() if one == form]


def compressed_tensors(chosen: dict[tuple[int, str], str], prefix: str, *, regex: bool) -> dict[str, Any]:
    def said(name: str) -> str:
        return "re:.*" + name.removeprefix("model").replace(".", r"\.") + "$" if regex else name

    groups = {
        f"group_{form}": {
            "targets": [said(name) for name in names(chosen, form, prefix)],
            "weights": weights,
            "input_activations": None,
        }
        for form, weights in WEIGHTS.items()
    }
    return {
        "quant_method": "compressed-tensors",
        "format": "mixed-precision",
        "config_groups": groups,
        "ignore": ["lm_head", *map(said, names(chosen, "bf16", prefix))],
    }


def ignoring(chosen: dict[tuple[int, str], str], prefix: str) -> dict[str, Any]:
    """One group for everything linear, others by name, what stays in a list."""
    named = compressed_tensors(chosen, prefix, regex=False)
    first, *_ = named["config_groups"]
    groups = {key: group for key, group in named["config_groups"].items() if key != first}
    return named | {"config_groups": groups | {first: named["config_groups"][first] | {"targets": ["Linear"]}}}


def modelopt(chosen: dict[tuple[int, str], str], prefix: str) -> dict[str, Any]:
    listed = {name: algorithm for form, algorithm in ALGORITHMS.items() for name in names(chosen, form, prefix)}
    kept = {"exclude_modules": ["lm_head", *names(chosen, "bf16", prefix)]}
    return {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": listed} | kept


def beside(chosen: dict[tuple[int, str], str], prefix: str) -> dict[str, Any]:
    """As hf_quant_config.json nests it."""
    fields = modelopt(chosen, prefix)
    return {"producer": {"name": "modelopt", "version": "0.44"}, "quantization": fields}


@pytest.mark.parametrize("seed", range(40))
def test_a_mix_is_the_same_in_every_way_to_write_it(seed: int) -> None:
    chosen = drawn(seed)
    prefix = ("model.layers", "model.language_model.layers", "language_model.model.layers")[seed % 3]
    ways = [
        compressed_tensors(chosen, prefix, regex=False),
        compressed_tensors(chosen, prefix, regex=True),
        ignoring(chosen, prefix),
        modelopt(chosen, prefix),
        beside(chosen, prefix),
    ]
    for fields in ways:
        for config in (
            LLAMA | {"quantization_config": fields},
            {"text_config": LLAMA, "quantization_config": fields},
            {"text_config": LLAMA | {"quantization_config": fields}, "model_type": "llava"},
        ):
            found = huggingface.read(config)
            assert size(found.architecture) == pytest.approx(bytes_of(chosen), rel=1e-12)
            again = huggingface.read(json.loads(json.dumps(found.used)))
            assert again.architecture == found.architecture


def plain(bits: float) -> float:
    """Every matrix of the layers at so many bits, the rest at 16."""
    return (6 * sum(PARTS.values()) * bits + (2 * TABLE + NORMS) * 16) / 8


ATTENTION = 6 * sum(count for part, count in PARTS.items() if "attn" in part)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head"]}, plain(8)),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, plain(8 + 32 / 128**2)),
        (
            {"quant_method": "fp8", "modules_to_not_convert": ["lm_head", "self_attn"]},
            plain(8) + ATTENTION,
        ),
        (
            {"quant_method": "fp8", "ignored_layers": [f"model.layers.{i}.self_attn" for i in range(6)]},
            plain(8) + ATTENTION,
        ),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, plain(4 + 20 / 128)),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, plain(4)),
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 32, "lm_head": True},
            plain(4.625) - TABLE * (16 - 4.625) / 8,
        ),
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {r"-:.*self_attn\..*": {}}},
            plain(4 + 20 / 128) + ATTENTION * (12 - 20 / 128) / 8,
        ),
        (
            {
                "quant_method": "gptq",
                "bits": 4,
                "group_size": 128,
                "dynamic": {r"+:.*self_attn\..*": {"bits": 8, "group_size": 32}},
            },
            plain(4 + 20 / 128) + ATTENTION * (8.75 - 4 - 20 / 128) / 8,
        ),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, plain(4 + 20 / 128)),
        (
            {"quant_method": "awq", "w_bit": 4, "q_group_size": 128, "modules_to_not_convert": ["self_attn"]},
            plain(4 + 20 / 128) + ATTENTION * (12 - 20 / 128) / 8,
        ),
        ({"quant_method": "bitnet"}, plain(2)),
        ({"quant_method": "bitnet", "quantization_mode": "online"}, plain(16)),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, plain(4.5)),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
            plain(4 + 8 / 64 + 32 / 64 / 256),
        ),
        (
            {
                "quant_method": "bitsandbytes",
                "load_in_4bit": True,
                "llm_int8_skip_modules": ["lm_head", *(f"model.layers.{i}.self_attn" for i in range(6))],
            },
            plain(4.5) + ATTENTION * 11.5 / 8,
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, plain(8)),
        ({"quant_method": "quanto", "weights": "int8"}, plain(8)),
        ({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}}, plain(4.5)),
        (
            {"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 64}},
            plain(4.5),
        ),
        (
            {
                "quant_method": "torchao",
                "quant_type": {"default": {"_type": "Float8DynamicActivationFloat8WeightConfig", "_data": {}}},
            },
            plain(8),
        ),
        (
            {
                "quant_method": "quark",
                "global_quant_config": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}},
                "exclude": ["lm_head", "*self_attn*"],
            },
            plain(8) + ATTENTION,
        ),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}, plain(4 + 20 / 128)),
        (
            {
                "quant_method": "auto-round",
                "bits": 4,
                "group_size": 128,
                "extra_config": {
                    f"model.layers.{i}.self_attn.{x}_proj": {"bits": 16} for i in range(6) for x in "qkvo"
                },
            },
            plain(4 + 20 / 128) + ATTENTION * (12 - 20 / 128) / 8,
        ),
        ({"quant_method": "eetq"}, plain(8)),
        ({"quant_method": "exl2", "bits": 4.25, "head_bits": 6}, plain(4.25) - TABLE * 10 / 8),
        (
            {"quant_method": "modelopt", "quant_algo": "FP8", "exclude_modules": ["lm_head", "*self_attn*"]},
            plain(8) + ATTENTION,
        ),
    ],
)
def test_every_method(fields: dict[str, Any], expected: float) -> None:
    found = huggingface.read(LLAMA | {"quantization_config": fields})
    assert size(found.architecture) == pytest.approx(expected, rel=1e-12)


def test_mlx_quantizes_tables_too_and_names_what_it_does_otherwise() -> None:
    every = (plain(4.5) * 8 - 2 * TABLE * 11.5) / 8
    found = huggingface.read(LLAMA | {"quantization": {"group_size": 64, "bits": 4}})
    assert size(found.architecture) == pytest.approx(every)
    mixed = {"group_size": 64, "bits": 4, "lm_head": {"group_size": 64, "bits": 8}, "model.embed_tokens": False}
    found = huggingface.read(LLAMA | {"quantization": mixed})
    assert size(found.architecture) == pytest.approx(every + TABLE * 4 / 8 + TABLE * 11.5 / 8)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"quant_method": "aqlm", "in_group_size": 8}, "says “aqlm”, which is not read"),
        ({"quant_method": "vptq"}, "“vptq”"),
        ({"quant_method": "modelopt", "quant_algo": "FP3_DREAM"}, "quant_algo “FP3_DREAM”"),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, "config_groups is missing"),
        ({"quant_method": "gptq", "group_size": 128}, "does not give the number of bits"),
        ({"quant_method": "torchao", "quant_type": "uintx_weight_only"}, "quant_type “uintx_weight_only”"),
        ({"quant_method": "quanto", "weights": "int3"}, "weights “int3”"),
        ({"quant_method": "fp8", "weight_block_size": [1, 128]}, "blocks of [1, 128]"),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": WEIGHTS["fp8"]}}}
            | {"sparsity_config": {"format": "sparse-24-bitmask"}},
            "sparsity_config sparse-24-bitmask",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": {"weights": WEIGHTS["fp8"], "targets": ["Conv2d"]}},
            },
            "modules of the class Conv2d",
        ),
        ({"quant_method": "fp8", "modules_to_not_convert": ["re:("]}, "which is not a regular expression"),
        ({"bits": 4, "group_size": 64, "mode": "dream"}, "mode “dream”"),
        ("fp8", "is not an object"),
    ],
)
def test_what_is_not_known_is_refused_by_name(fields: Any, sentence: str) -> None:
    with pytest.raises(UnreadConfigError) as caught:
        huggingface.read(LLAMA | {"quantization_config": fields})
    assert sentence in str(caught.value)


def on_h100(architecture: Architecture) -> Deployment:
    chip = library.accelerators()["h100-sxm"]
    return deploy(architecture, chip, gpus=1, weights=PRECISIONS[FILES], cache=PRECISIONS["bf16"])


def test_passes_follow_each_kind_of_parameter() -> None:
    """Attention in bf16, the networks in fp8: bytes, and the time of arithmetic that adds up by kind."""
    kept = {"quant_method": "fp8", "modules_to_not_convert": ["lm_head", "self_attn"]}
    mixed = on_h100(huggingface.read(LLAMA | {"quantization_config": kept}).architecture)
    loaded = mixed.loaded_bytes(positions=1)
    assert loaded == pytest.approx(plain(8) + ATTENTION - 2 * TABLE)
    network = 6 * sum(PARTS.values()) - ATTENTION
    seconds = (ATTENTION + TABLE) / 989.5e12 + network / 1978.9e12
    assert mixed.peak == pytest.approx((ATTENTION + TABLE + network) / seconds, rel=0.01)
    assert decode(mixed, requests=4096, past=1).bound == "compute"


def test_what_the_files_hold_is_what_the_preset_says() -> None:
    """A single format is the short form of the list: the same numbers to the digit."""
    for key, preset in library.models().items():
        machine = on_h100(preset)
        same = deploy(preset, machine.accelerator, gpus=1, weights=PRECISIONS[preset.weights], cache=PRECISIONS["bf16"])
        assert (machine.stored_bytes, machine.peak) == (same.stored_bytes, same.peak), key


@pytest.mark.parametrize("name", library.models())
def test_the_matrices_of_a_layer_are_all_of_its_parameters(name: str) -> None:
    architecture = library.models()[name]
    for blocks in architecture.blocks:
        if blocks.attention:
            counted = blocks.attention.parameters(architecture.hidden).attention
            assert counted == sum(matrix.parameters for matrix in blocks.attention.matrices(architecture.hidden))
        for network in blocks.networks:
            for kind, matrices in network.matrices(architecture.hidden).items():
                counted = getattr(network.stored(architecture.hidden), kind)
                assert counted == sum(matrix.parameters for matrix in matrices)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b", "gemma-4-e2b"])
def test_a_mix_of_llama_cpp_holds_every_parameter(name: str) -> None:
    architecture = library.models()[name]
    counts = parameters(architecture)
    low, high = (float(counts.stored_total) * bits / 8 for bits in (4.5, 6.6))
    assert low < float(checkpoint_bytes(architecture, PRECISIONS["q4_k_m"])) < high


def test_qwen_122b_in_q4_k_m() -> None:
    """AlexsJones/llmfit#230: the files need 70 to 75 GB."""
    shape = library.models()["qwen3.5-397b-a17b"]
    config = json.loads((HERE / "published_models.json").read_text())
    base = next(one["config"] for one in config if one["preset"] == "qwen3.5-35b-a3b")
    text = base["text_config"] | {
        "hidden_size": 3072,
        "num_hidden_layers": 48,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 12,
        "num_attention_heads": 32,
        "linear_num_value_heads": 64,
        "moe_intermediate_size": 1024,
        "shared_expert_intermediate_size": 1024,
    }
    architecture = huggingface.read(base | {"text_config": text}).architecture
    assert parameters(architecture).stored_total == 122_111_526_912
    assert float(checkpoint_bytes(architecture, PRECISIONS["q4_k_m"])) == pytest.approx(74e9, rel=0.015)
    assert shape.name == "Qwen3.5 397B-A17B"


def test_the_page_about_files_says_what_is_declared() -> None:
    """Written anew by `python -c "from inferdash.facts.files import model_files; print(model_files())"`."""
    assert model_files() in (HERE.parent.parent / "docs" / "config-files.md").read_text(encoding="utf-8")


# A format alone, without the modules that are kept from it


def test_a_format_without_its_modules_is_told() -> None:
    """ModelOpt leaves the output layer and routers at 16 bits, and its file may not say so."""
    found = huggingface.read(LLAMA | {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}})
    told = [problem for problem in found.problems if "lower limit" in problem]
    assert len(told) == 1
    assert told[0].startswith("quantization_config says NVFP4 and not which modules stay at 16 bits")
    listed = LLAMA | {"quantization_config": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}
    alike = huggingface.read(listed)
    assert alike.problems == ()
    assert alike.architecture.weights == found.architecture.weights


def test_nemotron_3_ultra_in_nvfp4_alone_is_nvidias_recipe() -> None:
    """352.3 GB as NVIDIA gives it out, of which the layers for further tokens at 16 bits are not in the preset."""
    ultra = library.models()["nemotron-3-ultra-550b-a55b"]
    rules, told = unsaid.rules(stored.nvfp4(), family="nemotron_h")
    size = sum(share.bits * share.parameters for share in resolve(ultra, rules)) / 8e9
    assert 0.93 * 352.3 < size < 352.3
    assert "NVIDIA's recipe" in told


@pytest.mark.parametrize(
    ("ignored", "told"),
    [
        (["lm_head", "model.layers.0.mlp.down_proj", "model.vision_tower.layers.0.fc1"], ""),
        (["lm_head", "model.layers.0.mlp.dwn_proj"], "model.layers.0.mlp.dwn_proj"),
        (["moon_proj"], "moon_proj"),
        ([f"model.layers.{n}.mlp.dwn_proj" for n in range(6)], "and 3 more"),
    ],
)
def test_modules_that_a_model_does_not_have_are_named(ignored: list[str], told: str) -> None:
    quantized = {"quant_method": "modelopt", "quant_algo": "FP8", "exclude_modules": ignored}
    problems = huggingface.read(LLAMA | {"quantization_config": quantized}).problems
    found = [problem for problem in problems if "does not have" in problem]
    assert len(found) == bool(told)
    assert all(told in problem for problem in found)
