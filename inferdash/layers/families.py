"""What a family of models does without writing it into its config.json: one line a family.

Read from the definitions of the families in the library `transformers` 5.24, by `model_type`. A family that is not
here is read as plain: two norms a layer, no biases and no norms of queries and keys beyond what its fields say.
"""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class Family:
    """The unwritten part of a family."""

    tied: bool = False
    """Whether the output layer is the input embedding where the file does not say."""
    norms: int = 2
    """Vectors of norms in a layer, as wide as those of the positions; a norm with a bias counts twice."""
    final_norms: int = 1
    """The same after the last layer."""
    query_key_norm: Literal["none", "head", "full"] = "none"
    """Norms of queries and keys: none, over a head, or over all heads."""
    bias: Literal["none", "inputs", "all"] | None = None
    """Biases of attention: none, of queries, keys and values, or of the output too. None: `attention_bias` says."""
    bias_means: Literal["inputs", "all"] = "all"
    """What `attention_bias` stands for."""
    gated: bool = True
    """Whether feed-forward networks have a gate."""
    feed_forward_bias: bool = False
    """Whether their matrices have biases where the file does not say."""
    feed_forward_width: int | None = None
    """Width in multiples of the hidden size where the file does not say."""
    output_gate: Literal["none", "full", "head"] = "none"
    """A gate on the output of attention: as wide as the queries, or one number a head."""
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
    shared_alike: int = 0
    """Shared experts of the width of a routed one, where the file does not say."""
    lightning: bool = False
    """Whether its linear attention is lightning attention, which no field says."""
    mtp_tables: bool = False
    """Whether a checkpoint stores the tables once more with the layer that predicts further tokens."""


PLAIN: Final = Family()
_QWEN3: Final = Family(query_key_norm="head", uses_window=False)
_QWEN3_NEXT: Final = Family(query_key_norm="head", output_gate="full", shared_gate=True, full_every=4)
_GEMMA3: Final = Family(tied=True, norms=4, query_key_norm="head", full_every=6)
_LAYER_NORM: Final = Family(norms=4, final_norms=2)
_GLM_MOE: Final = Family(bias_means="inputs", mtp_tables=True)
_OLMO: Final = Family(query_key_norm="full")

FAMILIES: Final[dict[str, Family]] = {
    "llama": PLAIN,
    "mistral": PLAIN,
    "ministral": PLAIN,
    "ministral3": PLAIN,
    "mixtral": PLAIN,
    "phi3": PLAIN,
    "granite": PLAIN,
    "granitemoe": PLAIN,
    "granitemoeshared": PLAIN,
    "granitemoehybrid": Family(tied=True),
    "smollm3": Family(tied=True, uses_window=False),
    "seed_oss": Family(bias_means="inputs"),
    "arcee": Family(gated=False),
    "qwen2": Family(bias="inputs", uses_window=False),
    "qwen2_moe": Family(bias="inputs", uses_window=False, shared_gate=True),
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
    "qwen3_vl_text": _QWEN3,
    "qwen3_vl_moe_text": _QWEN3,
    "qwen3_next": _QWEN3_NEXT,
    "qwen3_5_text": _QWEN3_NEXT,
    "qwen3_5_moe_text": _QWEN3_NEXT,
    "gemma": Family(tied=True),
    "gemma2": Family(tied=True, norms=4, full_every=2),
    "gemma3_text": _GEMMA3,
    "gemma4_text": _GEMMA3,
    "falcon": Family(tied=True, norms=2, final_norms=2, gated=False, feed_forward_width=4),
    "starcoder2": Family(tied=True, norms=4, final_norms=2, bias="all", gated=False, feed_forward_bias=True),
    "nemotron": Family(norms=4, final_norms=2, gated=False),
    "cohere": Family(tied=True, norms=1),
    "cohere2": Family(tied=True, norms=1, full_every=4),
    "deepseek_v2": PLAIN,
    "deepseek_v3": Family(mtp_tables=True),
    "deepseek_v32": Family(mtp_tables=True),
    "kimi_k2": Family(mtp_tables=True),
    "deepseek_v4": PLAIN,
    "kimi_linear": PLAIN,
    "glm_moe_dsa": PLAIN,
    "glm": Family(bias_means="inputs"),
    "glm4": Family(norms=4, bias_means="inputs"),
    "glm4_moe": _GLM_MOE,
    "gpt_oss": Family(sinks=True, experts_bias=True),
    "minimax": Family(lightning=True),
    "minimax_m1": Family(lightning=True),
    "minimax_text_01": Family(lightning=True),
    "minimax_m2": _OLMO,
    "minimax_m3": Family(query_key_norm="head"),
    "nemotron_h": Family(norms=1, gated=False),
    "jamba": PLAIN,
    "olmo": Family(norms=0, final_norms=0),
    "olmo2": _OLMO,
    "olmo3": Family(query_key_norm="full", full_every=4),
    "olmoe": _OLMO,
    "mimo_v2_flash": PLAIN,
    "llama4_text": Family(full_every=4, shared_alike=1),
    "step3p5": Family(query_key_norm="head", output_gate="head"),
    "exaone4": Family(query_key_norm="head", full_every=4),
    "ernie4_5": Family(tied=True),
    "ernie4_5_moe": Family(tied=True, router_bias=True),
    "hunyuan_v1_dense": Family(query_key_norm="head"),
    "hunyuan_v1_moe": Family(query_key_norm="head", shared_alike=1),
    "hunyuan": Family(query_key_norm="head", shared_alike=1),
    "lfm2": Family(tied=True, query_key_norm="head"),
    "lfm3": Family(tied=True, norms=4, query_key_norm="head", output_gate="head"),
    "afmoe": Family(norms=4, query_key_norm="head", output_gate="full", router_bias=True),
    "olmo_hybrid": _OLMO,
    "gemma3n_text": Family(tied=True, norms=4, query_key_norm="head", full_every=5),
    "lfm2_moe": Family(tied=True, query_key_norm="head"),
    "dots1": Family(query_key_norm="head"),
    "exaone_moe": Family(query_key_norm="head"),
    "hy_v3": Family(query_key_norm="head"),
    "mellum": Family(query_key_norm="head"),
    "minimax_m3_vl_text": Family(query_key_norm="head"),
    "flex_olmo": _OLMO,
    "stablelm": _LAYER_NORM,
    "phimoe": _LAYER_NORM,
    "gpt_neox": Family(norms=4, final_norms=2, bias="all", gated=False, feed_forward_bias=True),
    "bamba": PLAIN,
    "exaone": PLAIN,
    "helium": PLAIN,
    "internlm3": PLAIN,
    "solar_open": PLAIN,
    "sarvam_moe": PLAIN,
    "sarvam_mla": PLAIN,
    "glm4_moe_lite": PLAIN,
    "cwm": PLAIN,
    "kimi_k25": PLAIN,
    "minicpm3": PLAIN,
    "youtu": PLAIN,
}
"""`model_type` of the part of the file that describes the text model -> family."""
