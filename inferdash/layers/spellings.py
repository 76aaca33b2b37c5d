"""Files that say the same in words of their own: rewritten once into the usual fields, before they are read.

Each rewriting leaves a file that was already rewritten as it is, so that a link, which holds the fields that were
read, is read again alike.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from inferdash.layers.config import UnreadFieldError

Fields: TypeAlias = Mapping[str, Any]


def usual(fields: Fields) -> Fields:
    """The fields of a file in the usual words."""
    rewrite = SPELLINGS.get(str(fields.get("model_type")))
    return fields if rewrite is None else rewrite(fields)


def _renamed(fields: Fields, names: Mapping[str, str]) -> dict[str, Any]:
    """The fields, some by another name where that is not there already."""
    found = {name: value for name, value in fields.items() if name not in names}
    for old, new in names.items():
        if fields.get(old) is not None and fields.get(new) is None:
            found[new] = fields[old]
    return found


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """A group of fields, taken out of the file."""
    own = fields.pop(name, None)
    if own is not None and not isinstance(own, Mapping):
        raise UnreadFieldError(name, "is not an object")
    return dict(own or {})


def _dbrx(fields: Fields) -> Fields:
    found = dict(fields)
    attention, network = _without(found, "attn_config"), _without(found, "ffn_config")
    _only(attention, "attn_config", ("kv_n_heads", "clip_qkv", "rope_theta", "attn_pdrop", "model_type"))
    renamed = {
        "kv_n_heads": "num_key_value_heads",
        "ffn_hidden_size": "intermediate_size",
        "moe_num_experts": "num_local_experts",
        "moe_top_k": "num_experts_per_tok",
    }
    own = {name: value for name, value in {**attention, **network}.items() if name != "model_type"}
    return found | _renamed(own, renamed)


def _only(own: Fields, name: str, known: tuple[str, ...]) -> None:
    """Refuses a group of fields that holds another one that says something."""
    for field, value in own.items():
        if field not in known and value not in (None, False, 0, 0.0):
            raise UnreadFieldError(f"{name}.{field}", "is not known here, and may change the model")


def _mpt(fields: Fields) -> Fields:
    found = dict(fields)
    attention = _without(found, "attn_config")
    learned = found.pop("learned_pos_emb", True)
    if attention and attention.get("alibi") is False and attention.get("rope") is not True and learned:
        raise UnreadFieldError("attn_config.alibi", "is false: a table of positions that is not counted here")
    if attention.get("qk_ln"):
        raise UnreadFieldError("attn_config.qk_ln", "gives norms that are not counted here")
    if attention.get("kv_n_heads"):
        found["num_key_value_heads"] = attention["kv_n_heads"]
    elif attention.get("attn_type") == "multiquery_attention":
        found["num_key_value_heads"] = 1
    if found.pop("embedding_fraction", 1.0) != 1:
        raise UnreadFieldError("embedding_fraction", "is not 1, which is not known here")
    ratio, hidden = found.pop("expansion_ratio", 4), found.get("d_model")
    if "intermediate_size" not in found and isinstance(hidden, int) and isinstance(ratio, int | float):
        found["intermediate_size"] = int(ratio * hidden)
    if found.get("no_bias") is False:
        raise UnreadFieldError("no_bias", "is false, which is not known here")
    return _renamed(found, {"n_heads": "num_attention_heads", "max_seq_len": "max_position_embeddings"})


def _rounded(value: float, multiple: int) -> int:
    """The nearest multiple, but never below nine tenths of the value."""
    near = max(multiple, int(value + multiple / 2) // multiple * multiple)
    return near + multiple if near < 0.9 * value else near


def _openelm(fields: Fields) -> Fields:
    if "num_query_heads" not in fields:
        return fields
    found = dict(fields)
    hidden, divisor = found.get("model_dim"), found.get("ffn_dim_divisor", 256)
    multipliers = found.pop("ffn_multipliers", None)
    if not isinstance(multipliers, list) or not isinstance(hidden, int) or not isinstance(divisor, int):
        raise UnreadFieldError("ffn_multipliers", "does not give a number for each layer")
    found["intermediate_size"] = [_rounded(float(factor) * hidden, divisor) for factor in multipliers]
    found["tie_word_embeddings"] = found.pop("share_input_output_layers", True)
    found["use_qk_norm"] = found.pop("normalize_qk_projections", False)
    if found.get("ffn_with_glu") is False:
        raise UnreadFieldError("ffn_with_glu", "is false, which is not known here")
    names = {
        "num_query_heads": "num_attention_heads_per_layer",
        "num_kv_heads": "num_key_value_heads_per_layer",
        "num_transformer_layers": "num_hidden_layers",
        "model_dim": "hidden_size",
        "max_context_length": "max_position_embeddings",
    }
    found = _renamed(found, names)
    found["num_attention_heads"] = found["num_attention_heads_per_layer"][0]
    return found


def _blocks_of_a_search(fields: Fields) -> Fields:
    """Nemotron-NAS and DeciLM: what a search left of each layer of Llama."""
    blocks = fields.get("block_configs")
    if blocks is None:
        return fields
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) for block in blocks):
        raise UnreadFieldError("block_configs", "does not say what each layer is")
    found = {name: value for name, value in fields.items() if name != "block_configs"}
    heads, hidden = found.get("num_attention_heads"), found.get("hidden_size")
    if not isinstance(heads, int) or not isinstance(hidden, int):
        raise UnreadFieldError("num_attention_heads or hidden_size", "is missing beside block_configs")
    keys, widths = [], []
    for block in blocks:
        attention, network = block.get("attention") or {}, block.get("ffn") or {}
        for name, part in (("attention", attention), ("ffn", network)):
            if part.get("replace_with_linear"):
                raise UnreadFieldError(f"block_configs.{name}.replace_with_linear", "is a kind of layer not known here")
        if attention.get("window_length") or attention.get("num_sink_tokens"):
            raise UnreadFieldError("block_configs.attention.window_length", "is not known here")
        group = attention.get("n_heads_in_group")
        keys.append(0 if attention.get("no_op") or not group else heads // int(group))
        factor = network.get("ffn_mult")
        width = network.get("intermediate_size") if factor is None else _up(int(2 * factor * hidden / 3), 256)
        widths.append(0 if network.get("no_op") or not width else int(width))
    return found | {"num_key_value_heads_per_layer": keys, "intermediate_size": widths}


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _half_width(fields: Fields) -> Fields:
    """The first Qwen counts gate and up together."""
    width = fields.get("intermediate_size")
    if not isinstance(width, int) or "ffn_hidden_size" in fields:
        return fields
    rest = {name: value for name, value in fields.items() if name != "intermediate_size"}
    return rest | {"ffn_hidden_size": width // 2}


def _falcon(fields: Fields) -> Fields:
    found = _renamed(fields, {"n_head_kv": "num_kv_heads"})
    if found.get("model_type") == "RefinedWeb" and "num_kv_heads" in found:
        found.setdefault("new_decoder_architecture", True)
    return found


def _longcat(fields: Fields) -> Fields:
    """Its class counts two halves a layer in num_hidden_layers."""
    names = {"num_layers": "num_hidden_layers"}
    found = {name: value for name, value in fields.items() if name != "num_hidden_layers" or "num_layers" not in fields}
    return _renamed(found, names | {"expert_ffn_hidden_size": "moe_intermediate_size"})


def _gpt_neo(fields: Fields) -> Fields:
    found = dict(fields)
    kinds = found.pop("attention_layers", None)
    listed = found.pop("attention_types", None)
    if isinstance(listed, list) and kinds is None:
        kinds = [kind for names, times in listed for _ in range(times) for kind in names]
    if isinstance(kinds, list):
        words = {"global": "full_attention", "local": "sliding_attention"}
        found["layer_types"] = [words.get(str(kind), kind) for kind in kinds]
    return _renamed(found, {"num_heads": "num_attention_heads", "window_size": "sliding_window"})


def _opt(fields: Fields) -> Fields:
    found = dict(fields)
    usual_values = {
        "word_embed_proj_dim": found.get("hidden_size"),
        "do_layer_norm_before": True,
        "enable_bias": True,
        "layer_norm_elementwise_affine": True,
        "_remove_final_layer_norm": False,
    }
    for name, value in usual_values.items():
        if found.pop(name, value) != value:
            raise UnreadFieldError(name, f"is not {value}: a kind of OPT that is not read here")
    return found


SPELLINGS: Final[dict[str, Callable[[Fields], Fields]]] = {
    "dbrx": _dbrx,
    "mpt": _mpt,
    "openelm": _openelm,
    "nemotron-nas": _blocks_of_a_search,
    "deci": _blocks_of_a_search,
    "qwen": _half_width,
    "falcon": _falcon,
    "RefinedWeb": _falcon,
    "RefinedWebModel": _falcon,
    "longcat_flash": _longcat,
    "gpt_neo": _gpt_neo,
    "opt": _opt,
    "lfm2": lambda fields: _renamed(fields, {"tie_embedding": "tie_word_embeddings"}),
    "lfm2_moe": lambda fields: _renamed(fields, {"tie_embedding": "tie_word_embeddings"}),
    "stablelm_epoch": lambda fields: _renamed(fields, {"num_heads": "num_attention_heads"}),
}
"""`model_type` -> how its file is rewritten."""
