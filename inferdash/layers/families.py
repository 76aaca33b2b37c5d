"""What a family of models does without writing it into its config.json: one line a family.

Read from the definitions of the families in the library `transformers` 5.24, by `model_type`. A family that is not
here is read as plain: two norms a layer, no biases and no norms of queries and keys beyond what its fields say.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal


@dataclass(frozen=True)
class Family:
    """The unwritten part of a family."""

    tied: bool = False
    """Whether the output layer is the input embedding where the file does not say."""
    defaults: Mapping[str, int] = field(default_factory=dict)
    """Fields that its files may leave out -> the value that its class in the library then has."""
    alone: bool = False
    """Whether each head of queries has keys and values of its own where no field says how many there are."""
    norms: int = 2
    """Vectors of norms in a layer, as wide as those of the positions; a norm with a bias counts twice."""
    norms_beside: int | None = None
    """The same where the file says that attention and network run side by side, if that changes it."""
    final_norms: int = 1
    """The same after the last layer."""
    query_key_norm: Literal["none", "head", "full"] = "none"
    """Norms of queries and keys: none, over a head, or over all heads."""
    norm_means: Literal["head", "full"] = "head"
    """What a switch for them stands for, where the family has none without it."""
    bias: Literal["none", "inputs", "output", "all"] = "none"
    """Biases of attention where no switch is in the file: none, of queries, keys and values, of the output, or all."""
    bias_means: Literal["inputs", "all"] = "all"
    """What a switch for them stands for."""
    bias_switches: tuple[str, ...] = ("attention_bias", "bias", "use_bias", "add_qkv_bias")
    """The fields that are such switches; none where the family does not look at any."""
    head_bias_switches: tuple[str, ...] = ("lm_head_bias",)
    """Fields that give the output layer biases."""
    gated: bool | None = True
    """Whether feed-forward networks have a gate; None where its activation tells."""
    inner_norm: bool = False
    """Whether the inner vector of a feed-forward network is normed."""
    numbers: int = 0
    """Single parameters of a layer, such as those of its activation."""
    positions: int | None = None
    """Rows of a table of learned positions beyond the longest text; None where there is no such table."""
    head_bias: bool = False
    """Whether the output layer always has biases."""
    window_sinks: bool = False
    """Whether heads of layers with a window have one number more in their softmax where the file does not say."""
    feed_forward_bias: bool = False
    """Whether their matrices have biases where the file does not say."""
    feed_forward_width: int | None = None
    """Width in multiples of the hidden size where the file does not say."""
    output_gate: Literal["none", "full", "head"] = "none"
    """A gate on the output of attention: as wide as the queries, or one number a head."""
    gate_in_queries: bool = False
    """Whether the matrix of the queries makes the gate too, so that it has biases where they have."""
    sinks: bool = False
    full_every: int | None = None
    """Every so many layers one is over the whole text, the others are not."""
    uses_window: bool = True
    """Whether a window in the file is used where it does not say."""
    experts_bias: bool = False
    """Whether router and experts have biases."""
    router_bias: bool = False
    """Whether the router alone has biases that count as parameters."""
    shared_gate: bool = False
    """Whether the shared expert has a gate of its own."""
    shared_bias: bool = False
    """Whether shared experts have biases where the dense networks have."""
    lone_is_dense: bool = False
    """Whether one expert alone is a plain network without a router."""
    shared_alike: int = 0
    """Shared experts of the width of a routed one, where the file does not say."""
    every: str = ""
    """What every layer mixes with, where no field says."""
    feed_forward: bool = True
    """Whether layers have feed-forward networks."""
    lightning: bool = False
    """Whether its linear attention is lightning attention, which no field says."""
    mtp_tables: bool = False
    """Whether a checkpoint stores the tables once more with the layer that predicts further tokens."""


_FIXED: Final[tuple[str, ...]] = ()
"""Where a family does not look at any switch."""
_HEAD_64: Final = {"head_dim": 64}
_HEAD_128: Final = {"head_dim": 128}
_HEAD_256: Final = {"head_dim": 256}
PLAIN: Final = Family()
_QWEN2: Final = Family(bias="inputs", bias_switches=_FIXED, uses_window=False)
_QWEN3: Final = Family(query_key_norm="head", uses_window=False)
_QWEN3_128: Final = replace(_QWEN3, defaults=_HEAD_128)
_QWEN3_NEXT: Final = Family(
    defaults=_HEAD_256, query_key_norm="head", output_gate="full", gate_in_queries=True, shared_gate=True, full_every=4
)
_GEMMA3: Final = Family(tied=True, norms=4, query_key_norm="head", full_every=6)
_GEMMA3_DEFAULTS: Final = {
    "vocab_size": 262_208,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
}
"""Of `Gemma3TextConfig`; the files of Gemma 3 4B, 12B and 27B leave such fields out."""
_LAYER_NORM: Final = Family(norms=4, final_norms=2)
_GLM_MOE: Final = Family(bias_means="inputs", mtp_tables=True)
_GLM_V: Final = Family(bias="inputs", bias_means="inputs")
_OLMO: Final = Family(query_key_norm="full")
_NORMED: Final = Family(query_key_norm="head")

_FALCON: Final = Family(tied=True, norms=2, final_norms=2, gated=False, feed_forward_width=4, alone=True)
_STABLELM: Final = Family(
    norms=4, final_norms=2, norms_beside=2, norm_means="full", bias_means="inputs", bias_switches=("use_qkv_bias",)
)
_GPT2: Final = Family(
    tied=True,
    alone=True,
    norms=4,
    final_norms=2,
    bias="all",
    bias_switches=_FIXED,
    gated=False,
    feed_forward_bias=True,
    feed_forward_width=4,
    positions=0,
)
_MAMBA: Final = Family(tied=True, norms=1, every="mamba", feed_forward=False)
_GPT_J: Final = Family(
    alone=True,
    norms=2,
    final_norms=2,
    gated=False,
    feed_forward_bias=True,
    feed_forward_width=4,
    head_bias=True,
)

FAMILIES: Final[dict[str, Family]] = {
    "llama": PLAIN,
    "mistral": PLAIN,
    "ministral": PLAIN,
    "ministral3": Family(defaults=_HEAD_128),
    "mixtral": PLAIN,
    "phi3": PLAIN,
    "granite": PLAIN,
    "granitemoe": PLAIN,
    "granitemoeshared": PLAIN,
    "granitemoehybrid": Family(tied=True),
    "smollm3": Family(tied=True, uses_window=False),
    "seed_oss": Family(defaults=_HEAD_128, bias_means="inputs"),
    "arcee": Family(gated=False),
    "qwen2": _QWEN2,
    "qwen2_vl": _QWEN2,
    "qwen2_vl_text": _QWEN2,
    "qwen2_5_vl": _QWEN2,
    "qwen2_5_vl_text": _QWEN2,
    "qwen2_moe": replace(_QWEN2, bias_means="inputs", bias_switches=("qkv_bias",), shared_gate=True),
    "qwen3": _QWEN3_128,
    "qwen3_moe": _QWEN3,
    "qwen3_vl_text": _QWEN3_128,
    "qwen3_vl_moe_text": _QWEN3,
    "qwen3_omni_moe_text": _QWEN3,
    "qwen3_next": _QWEN3_NEXT,
    "qwen3_5_text": _QWEN3_NEXT,
    "qwen3_5_moe_text": _QWEN3_NEXT,
    "gemma": Family(tied=True, defaults=_HEAD_256),
    "gemma2": Family(tied=True, defaults=_HEAD_256, norms=4, full_every=2),
    "gemma3_text": replace(_GEMMA3, defaults=_GEMMA3_DEFAULTS),
    "gemma4_text": _GEMMA3,
    "falcon": _FALCON,
    "starcoder2": Family(
        tied=True,
        norms=4,
        final_norms=2,
        bias="all",
        bias_switches=("use_bias",),
        gated=False,
        feed_forward_bias=True,
    ),
    "nemotron": Family(norms=4, final_norms=2, gated=False),
    "cohere": Family(tied=True, norms=1, norm_means="full"),
    "cohere2": Family(tied=True, norms=1, full_every=4),
    "deepseek_v2": Family(
        defaults={
            "num_attention_heads": 32,
            "kv_lora_rank": 512,
            "q_lora_rank": 1536,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
        }
    ),
    "deepseek_v3": Family(mtp_tables=True),
    "deepseek_v32": Family(mtp_tables=True),
    "kimi_k2": Family(mtp_tables=True),
    "deepseek_v4": PLAIN,
    "kimi_linear": PLAIN,
    "glm_moe_dsa": PLAIN,
    "glm": Family(defaults=_HEAD_128, bias_means="inputs"),
    "glm4": Family(defaults=_HEAD_128, norms=4, bias_means="inputs"),
    "glm4_moe": _GLM_MOE,
    "glm4v_moe_text": _GLM_V,
    "glm4v_text": replace(_GLM_V, norms=4, bias_switches=_FIXED),
    "gpt_oss": Family(defaults=_HEAD_64, sinks=True, experts_bias=True, full_every=2),
    "minimax": Family(lightning=True),
    "minimax_m1": Family(lightning=True),
    "minimax_text_01": Family(lightning=True),
    "minimax_m2": Family(defaults=_HEAD_128, query_key_norm="full"),
    "minimax_m3": Family(query_key_norm="head"),
    "nemotron_h": Family(defaults=_HEAD_128, norms=1, bias_switches=_FIXED, gated=False, shared_bias=True),
    "jamba": Family(lone_is_dense=True),
    "olmo": Family(norms=0, final_norms=0),
    "olmo2": _OLMO,
    "olmo3": Family(query_key_norm="full", full_every=4),
    "olmoe": _OLMO,
    "mimo_v2_flash": Family(defaults={"swa_num_key_value_heads": 8}, window_sinks=True),
    "mimo_v2": PLAIN,
    "llama4_text": Family(defaults=_HEAD_128, full_every=4, shared_alike=1),
    "step3p5": Family(defaults=_HEAD_128, query_key_norm="head", output_gate="head"),
    "exaone4": Family(query_key_norm="head", full_every=4),
    "ernie4_5": Family(tied=True, defaults=_HEAD_128),
    "ernie4_5_moe": Family(tied=True, router_bias=True, shared_bias=True, head_bias_switches=("use_bias",)),
    "hunyuan_v1_dense": _NORMED,
    "hunyuan_v1_moe": Family(query_key_norm="head", shared_alike=1),
    "hunyuan": Family(query_key_norm="head", shared_alike=1, lone_is_dense=True),
    "lfm2": Family(tied=True, query_key_norm="head"),
    "lfm3": Family(tied=True, norms=4, query_key_norm="head", output_gate="head"),
    "afmoe": Family(defaults=_HEAD_128, norms=4, query_key_norm="head", output_gate="full", router_bias=True),
    "olmo_hybrid": _OLMO,
    "gemma3n_text": Family(tied=True, defaults=_HEAD_256, norms=4, query_key_norm="head", full_every=5),
    "lfm2_moe": Family(tied=True, query_key_norm="head"),
    "dots1": _NORMED,
    "exaone_moe": _NORMED,
    "hy_v3": replace(_NORMED, defaults=_HEAD_128, shared_bias=True),
    "mellum": replace(_NORMED, defaults=_HEAD_128),
    "minimax_m3_vl_text": Family(defaults=_HEAD_128, query_key_norm="head"),
    "flex_olmo": _OLMO,
    "stablelm": _STABLELM,
    "phimoe": _LAYER_NORM,
    "gpt_neox": Family(
        alone=True,
        norms=4,
        final_norms=2,
        bias="all",
        bias_switches=("attention_bias",),
        gated=False,
        feed_forward_bias=True,
    ),
    "bloom": Family(
        tied=True,
        alone=True,
        norms=4,
        final_norms=4,  # one more after the embedding
        bias="all",
        bias_switches=_FIXED,
        gated=False,
        feed_forward_bias=True,
        feed_forward_width=4,
    ),
    "chatglm": Family(bias_means="inputs"),
    "bamba": PLAIN,
    "exaone": PLAIN,
    "helium": Family(defaults=_HEAD_128, bias_means="inputs"),
    "internlm3": Family(defaults=_HEAD_128),
    "solar_open": Family(defaults=_HEAD_128, bias_means="inputs"),
    "sarvam_moe": Family(defaults=_HEAD_64, bias_means="inputs"),
    "sarvam_mla": PLAIN,
    "glm4_moe_lite": PLAIN,
    "cwm": Family(defaults=_HEAD_128),
    "kimi_k25": PLAIN,
    "minicpm3": Family(tied=True),
    "youtu": Family(tied=True),
    "bitnet": Family(norms=3, inner_norm=True),
    "apertus": Family(query_key_norm="head", gated=False, numbers=2),
    "apertus1p5_text": Family(query_key_norm="head", gated=False, numbers=2),
    "grok-1": Family(norms=4, lone_is_dense=True),
    "git": Family(norms=4),  # so Grok-2 calls itself
    "longcat_flash": PLAIN,
    "step3_text": PLAIN,
    "nemotron-nas": PLAIN,
    "deci": PLAIN,
    "falcon_h1": Family(bias_switches=("attention_bias",), every="full"),
    "mamba": _MAMBA,
    "falcon_mamba": _MAMBA,
    "mamba2": replace(_MAMBA, tied=False),
    "gpt2": _GPT2,
    "gpt-sw3": _GPT2,
    "gpt_bigcode": replace(_GPT2, alone=False),
    "openai-gpt": replace(_GPT2, final_norms=0),
    "codegen": _GPT_J,
    "gptj": _GPT_J,
    "gpt_neo": replace(_GPT2, bias="output"),
    "opt": replace(_GPT2, positions=2, feed_forward_width=None),
    "biogpt": replace(_GPT2, positions=2, feed_forward_width=None),
    "xglm": replace(_GPT2, positions=None, feed_forward_width=None),
    "jais": replace(_GPT2, positions=None, gated=None),
    "jais2": Family(norms=4, final_norms=2, bias="all", gated=False, feed_forward_bias=True),
    "mpt": Family(tied=True, alone=True, gated=False),
    "dbrx": PLAIN,
    "openelm": Family(tied=True),
    "phi": Family(
        alone=True,
        norms=2,
        final_norms=2,
        bias="all",
        bias_switches=_FIXED,
        gated=False,
        feed_forward_bias=True,
        head_bias=True,
    ),
    "persimmon": Family(
        alone=True,
        norms=4,
        final_norms=2,
        query_key_norm="head",
        numbers=128,  # the norms of queries and keys have biases, of 64 numbers each
        bias="all",
        bias_switches=_FIXED,
        gated=False,
        feed_forward_bias=True,
    ),
    "mllama_text_model": PLAIN,
    "nanochat": Family(norms=0, final_norms=0, gated=False),
    "granite_swa": Family(tied=True, sinks=True),
    "granitemoe_swa": Family(sinks=True),
    "hyperclovax": Family(norms=4),
    "kolibri1": Family(norms=4, query_key_norm="head"),
    "flint": Family(query_key_norm="head", sinks=True),
    "cohere2_moe": Family(tied=True, norms=1, full_every=4),
    "gemma4_unified_text": _GEMMA3,
    "laguna": Family(query_key_norm="head", output_gate="head"),
    "lara_mini": replace(_QWEN3_NEXT, shared_gate=False, output_gate="none"),
    "RefinedWeb": _FALCON,
    "RefinedWebModel": _FALCON,
    "baichuan": PLAIN,
    "qwen": Family(bias="inputs", bias_switches=_FIXED),
    "internlm": PLAIN,
    "internlm2": PLAIN,
    "orion": _LAYER_NORM,
    "aquila": PLAIN,
    "aquila3": PLAIN,
    "xverse": PLAIN,
    "Yi": PLAIN,
    "aria_text": PLAIN,
    "emu3_text_model": PLAIN,
    "iquestcoder": PLAIN,
    "vaultgemma": Family(tied=True, defaults=_HEAD_256, full_every=2),
    "arctic": Family(norms=3),
    "minicpm": Family(tied=True),
    "deepseek": PLAIN,
    "bailing_moe": Family(bias_means="all", bias_switches=("use_bias",)),
    "bailing_moe_v2": Family(query_key_norm="head", bias_means="all", bias_switches=("use_bias",)),
    "PanguEmbedded": PLAIN,
    "solar": PLAIN,
    "phi3_v": PLAIN,
    "stablelm_epoch": _STABLELM,
    "mimo": Family(bias="inputs", bias_switches=_FIXED, uses_window=False),
}
"""`model_type` of the part of the file that describes the text model -> family."""

CLASSES: Final[dict[str, str]] = {
    "LlamaForCausalLM": "llama",
    "LLaMAForCausalLM": "llama",
    "MistralForCausalLM": "mistral",
    "MixtralForCausalLM": "mixtral",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen2MoeForCausalLM": "qwen2_moe",
    "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3_moe",
    "DeepseekForCausalLM": "deepseek",
    "DeepseekV2ForCausalLM": "deepseek_v2",
    "DeepseekV3ForCausalLM": "deepseek_v3",
    "Phi3ForCausalLM": "phi3",
    "GemmaForCausalLM": "gemma",
    "Gemma2ForCausalLM": "gemma2",
    "Gemma3ForCausalLM": "gemma3_text",
    "Grok1ForCausalLM": "grok-1",
    "Grok1ModelForCausalLM": "grok-1",
    "DeciLMForCausalLM": "nemotron-nas",
    "InternLM2ForCausalLM": "internlm2",
    "FalconForCausalLM": "falcon",
    "GPTBigCodeForCausalLM": "gpt_bigcode",
}
"""A class of a model -> its family, for a file whose model_type is not known."""
_VERSION: Final = re.compile(r"[\d._]*\d[\d._]*")


def known_version(model_type: str) -> str:
    """The known family of which this is another version, the newest of several; empty where there is none.

    They have the same name but for its numbers, as qwen3_moe and qwen4_moe.
    """
    stem = _VERSION.sub("#", model_type.lower())
    if "#" not in stem:
        return ""
    alike = [name for name in FAMILIES if _VERSION.sub("#", name.lower()) == stem]
    if not alike and stem.count("#") == 1:
        alike = [name for name in FAMILIES if name == stem.replace("_#", "").replace("#", "")]
    return max(alike, key=lambda name: [int(number) for number in re.findall(r"\d+", name)], default="")
