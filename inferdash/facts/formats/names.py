"""What files call the modules of a model: the same matrix has a name in each family's own files."""

import re
from functools import cache, lru_cache
from typing import Final

from inferdash.facts.formats.modules import Module

_HOLDERS: Final[dict[str, tuple[str, ...]]] = {
    "grouped": ("self_attn", "attn", "attention", "self_attention", "mixer", "norm_attn_norm.attn"),
    "latent": ("self_attn", "attn", "attention", "self_attn.0", "self_attn.1"),
    "compressed": ("attn", "self_attn"),
    "gated_delta_net": ("linear_attn",),
    "kimi_delta": ("self_attn", "linear_attn"),
    "lightning": ("self_attn", "attention", "linear_attn"),
    "state_space": ("mamba", "mixer", "mamba_mixer"),
    "selective_state_space": ("mamba", "mixer", "mamba_mixer"),
    "short_convolution": ("conv", "short_conv"),
    "network": ("mlp", "feed_forward", "block_sparse_moe", "ffn", "mixer", "moe", "mlps.0", "mlps.1", ""),
    "beside": ("", "moe"),
    "table": ("",),
}
"""A kind of mixer, a network, or experts beside a dense network -> the part of a layer that files have for it."""
_LEAVES: Final[dict[str, tuple[str, ...]]] = {
    "q_proj": ("q_proj", "qkv_proj", "wq", "wqkv", "c_attn", "query_key_value", "Wqkv", "W_pack", "qkv", "query"),
    "k_proj": ("k_proj", "qkv_proj", "wk", "wqkv", "c_attn", "query_key_value", "Wqkv", "W_pack", "qkv", "key"),
    "v_proj": ("v_proj", "qkv_proj", "wv", "wqkv", "c_attn", "query_key_value", "Wqkv", "W_pack", "qkv", "value"),
    "g_proj": ("g_proj", "gate_proj", "q_proj", "qkv_proj"),
    "o_proj": ("o_proj", "wo", "out_proj", "dense", "c_proj"),
    "q_a_proj": ("q_a_proj", "fused_qkv_a_proj", "wq_a"),
    "q_b_proj": ("q_b_proj", "wq_b"),
    "kv_a_proj_with_mqa": ("kv_a_proj_with_mqa", "fused_qkv_a_proj", "wkv_a"),
    "kv_b_proj": ("kv_b_proj", "wkv_b"),
    "in_proj_qkv": ("in_proj_qkv", "in_proj_qkvz"),
    "in_proj_z": ("in_proj_z", "in_proj_qkvz"),
    "in_proj_b": ("in_proj_b", "in_proj_ba"),
    "in_proj_a": ("in_proj_a", "in_proj_ba"),
    "indexer.wq_b": ("indexer.wq_b", "index_q_proj", "indexer.q_proj"),
    "indexer.wk": ("indexer.wk", "index_k_proj", "indexer.k_proj"),
    "gate_proj": ("gate_proj", "gate_up_proj", "w1", "w13", "w3", "linear_1", "dense_h_to_4h"),
    "up_proj": ("up_proj", "gate_up_proj", "w3", "w13", "w1", "fc1", "c_fc", "dense_h_to_4h"),
    "down_proj": ("down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h"),
    "gate": ("gate", "router", "router.gate", "gate.wg", "router.proj", "router.layer", "router.classifier"),
    "lm_head": ("lm_head", "output", "head", "embed_out", "language_model.lm_head", "model.lm_head"),
    "embed_tokens": ("embed_tokens", "model.embed_tokens", "embeddings", "wte", "tok_embeddings", "embed"),
}
"""A matrix -> what files call it, the usual word first; fused ones by what they are fused into."""
_INSIDE: Final[dict[str, tuple[str, ...]]] = {
    "experts": ("experts",),
    "shared": ("shared_experts", "shared_expert", "shared_mlp", "share_expert"),
}
"""A kind of parameter -> the part of a network that files have for it."""
_BEFORE: Final = (
    "model.layers.{}",
    "model.language_model.layers.{}",
    "language_model.model.layers.{}",
    "backbone.layers.{}",
    "layers.{}",
    "transformer.h.{}",
)
"""What stands before a layer's part of a name."""
_OF_LAYER: Final = re.compile(r"^(?:.*?\.)?(?:layers|h|blocks|decoder_layers)\.(\d+)(?:\.|$)(.*)$")
_EXPERT: Final = re.compile(r"(^|\.)(?:experts\.\d+|switch_mlp)(?=\.|$)")


@cache
def tails(role: str, holder: str, name: str) -> tuple[str, ...]:
    """Every name of a matrix within its layer, or within the model where it belongs to no layer."""
    leaves = _LEAVES.get(name, (name,))
    if holder == "table":
        return (*leaves, *(f"model.{leaf}" for leaf in leaves))
    inside = _INSIDE.get(role, ("",))
    parts = ((first, second, leaf) for first in _HOLDERS[holder] for second in inside for leaf in leaves)
    return tuple(dict.fromkeys(".".join(part for part in each if part) for each in parts))


@cache
def keys(role: str, holder: str, name: str) -> tuple[str, ...]:
    """The tails of a matrix and of all that it lies in, the narrowest first."""
    found: dict[str, None] = {}
    for tail in tails(role, holder, name):
        parts = tail.split(".")
        found |= dict.fromkeys(".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return tuple(sorted(found, key=lambda key: -key.count(".")))


def place(name: str) -> tuple[int | None, str]:
    """The layer that a name of a file says, None where it says none, and what stands after it."""
    plain = _EXPERT.sub(r"\1experts", name.removesuffix(".weight"))
    of_layer = _OF_LAYER.match(plain)
    return (int(of_layer[1]), of_layer[2]) if of_layer else (None, plain)


def paths(module: Module, *, layers: int) -> tuple[str, ...]:
    """Whole names of a module, as patterns are held against them.

    Args:
        module: the module.
        layers: of the model, after which those stand that predict further tokens.
    """
    return _paths(module.role, module.holder, module.matrix.name, module.layer, layers)


@lru_cache(10_000)
def _paths(role: str, holder: str, name: str, layer: int | None, layers: int) -> tuple[str, ...]:
    ends = tails(role, holder, name)
    if layer is None:
        return ends
    before = [form.format(layer) for form in _BEFORE]
    if layer >= layers:
        before += [form.format(layer - layers) for form in ("mtp.layers.{}", "model.mtp.layers.{}")]
    if role == "experts":
        ends = tuple(end.replace("experts.", "experts.0.", 1) for end in ends) + ends
    return tuple(f"{start}.{end}" for start in before for end in ends)
