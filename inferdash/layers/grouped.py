"""Attention whose query heads share heads of keys and values: MHA, GQA and MQA, over all or the last tokens."""

from math import ceil
from typing import Any, Literal, Self

import numpy as np
from pydantic import PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.formula import Number, formula
from inferdash.layers.config import Config, UnreadFieldError, whole_number
from inferdash.layers.counts import Counts
from inferdash.layers.indexer import Indexer
from inferdash.layers.matrix import Matrix
from inferdash.layers.mixer import Mixer


@formula(unit="parameters", ref="grouped-query-attention")
def grouped_attention_parameters(
    *, hidden: Number, heads: Number, kv_heads: Number, head_dim: Number, value_dim: Number
) -> Number:
    """Parameters of the attention of one layer: queries and output for each head, keys and values for each group.

    `head_dim` is the size of a query and of a key, `value_dim` that of a value, mostly the same. Norms and biases are
    not included.
    """
    return hidden * heads * (head_dim + value_dim) + hidden * kv_heads * (head_dim + value_dim)


@formula(unit="numbers", ref="kv-cache")
def grouped_cached_numbers(*, kv_heads: Number, head_dim: Number, value_dim: Number, tokens: Number) -> Number:
    """Numbers that `tokens` positions of one request leave in the cache of one layer: a key and a value for each.

    `kv_heads` counts heads after grouping: all of them for MHA, 1 for MQA. Paging waste is not included.
    """
    return kv_heads * (head_dim + value_dim) * tokens


@formula(unit="tokens", ref="sliding-window")
def tokens_in_window(*, tokens: Number, window: Number) -> Number:
    """Tokens that a layer with a window keeps and reads: the last `window` of them."""
    return np.minimum(tokens, window)


@formula(unit="pairs", ref="attention")
def causal_pairs(*, positions: Number, past: Number) -> Number:
    """Pairs of a position that a pass runs and a position that it may read, itself included, for one request.

    `past` positions are in the cache already; among the `positions` that run, each reads those up to itself.
    """
    return positions * past + positions * (positions + 1) / 2


@formula(unit="tokens", ref="sliding-window")
def tokens_outside_window(*, tokens: Number, window: Number) -> Number:
    """Tokens that a window has left behind after `tokens` of them."""
    return np.maximum(tokens - window, 0)


@formula(unit="pairs", ref="sliding-window")
def pairs_outside_window(*, outside_after: Number, outside_before: Number) -> Number:
    """Pairs that a window takes from the causal ones, from the tokens left behind after and before a pass."""
    return outside_after * (outside_after + 1) / 2 - outside_before * (outside_before + 1) / 2


def pairs_in_window(*, positions: Number, past: Number, window: Number | None) -> Number:
    """Pairs of a position that runs and one that it may read, at most the last `window`; all where None."""
    pairs = causal_pairs(positions=positions, past=past)
    if window is None:
        return pairs
    return pairs - pairs_outside_window(
        outside_after=tokens_outside_window(tokens=past + positions, window=window),
        outside_before=tokens_outside_window(tokens=past, window=window),
    )


@formula(unit="FLOP", ref="attention")
def attention_flops(*, heads: Number, head_dim: Number, value_dim: Number, pairs: Number) -> Number:
    """Operations of attention in one layer: a dot product and a weighted sum for each pair and head."""
    return 2 * heads * (head_dim + value_dim) * pairs


class GroupedAttention(Mixer):
    """Attention whose query heads share heads of keys and values."""

    kind: Literal["grouped"] = "grouped"
    heads: PositiveInt
    """Heads of queries."""
    kv_heads: PositiveInt
    """Heads of keys and values: as many as `heads` for MHA, fewer for GQA, 1 for MQA."""
    head_dim: PositiveInt
    """Numbers in one key or query. As the model's file states it, never hidden / heads."""
    value_dim: PositiveInt | None = None
    """Numbers in one value, where not as many."""
    window: PositiveInt | None = None
    """Tokens back that a position reads, itself included; all where absent. For chunks, their length: a bound."""
    query_key_norm: Literal["none", "head", "full"] = "none"
    """Norms of queries and keys: none, over a head that all share, or over all heads."""
    bias: Literal["none", "inputs", "output", "all"] = "none"
    """Which matrices have biases: those of queries, keys and values ("inputs"), that of the output, or all."""
    sinks: bool = False
    """Whether each head has one number more in its softmax."""
    gate: Literal["none", "full", "head"] = "none"
    """A gate on the output, from a matrix as wide as the queries, or one number a head."""
    gate_bias: bool = False
    """Whether that matrix has biases."""
    key_is_value: bool = False
    """Whether one matrix makes keys and values; both are cached, as they are normed differently."""
    shares_cache: bool = False
    """Whether the layer reads the cache of an earlier one, and has no keys and values of its own."""
    indexer: Indexer | None = None
    """What chooses the tokens that it reads, where it does not read all."""
    query_rank: PositiveInt | None = None
    """Numbers in the latent of the queries, with a norm; absent where queries are made directly."""
    cross: bool = False
    """Whether it reads pictures and no text: it then keeps nothing of a text, and is idle where there are none."""

    @model_validator(mode="after")
    def _grouped_evenly(self) -> Self:
        if self.heads % self.kv_heads:
            raise PydanticCustomError(
                "heads",
                "{kv_heads} heads of keys and values do not divide {heads} heads of queries",
                {"kv_heads": self.kv_heads, "heads": self.heads},
            )
        return self

    @property
    def name(self) -> str:
        """What the field calls it."""
        spread = "MHA" if self.kv_heads == self.heads else "MQA" if self.kv_heads == 1 else "GQA"
        extras = {
            f"window {self.window or 0:,}": self.window,
            "shared cache": self.shares_cache,
            "of pictures": self.cross,
            "sparse": self.indexer,
        }
        return ", ".join([spread, *(name for name, there in extras.items() if there)])

    @property
    def reads_at_most(self) -> tuple[int, ...]:
        """What the indexer chooses, or the window."""
        bound = self.indexer.top if self.indexer else self.window
        return (bound,) if bound else ()

    @property
    def _value_dim(self) -> int:
        return self.value_dim or self.head_dim

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        queries, kv = self.heads * self.head_dim, self.kv_heads * (self.head_dim + self._value_dim)
        matrices = grouped_attention_parameters(
            hidden=hidden,
            heads=self.heads,
            kv_heads=0 if self.shares_cache else self.kv_heads,
            head_dim=self.head_dim,
            value_dim=self._value_dim,
        )
        if self.query_rank:
            matrices = matrices + hidden * self.query_rank + (self.query_rank - hidden) * queries
        if self.key_is_value and not self.shares_cache:
            matrices = matrices - hidden * self.kv_heads * self._value_dim
        matrices += hidden * {"none": 0, "full": queries, "head": self.heads}[self.gate]
        normed = {
            "none": 0,
            "head": self.head_dim * (1 if self.shares_cache else 2),
            "full": queries + (0 if self.shares_cache else self.kv_heads * self.head_dim),
        }[self.query_key_norm]
        inputs = queries + (0 if self.shares_cache else kv)
        biases = {"none": 0, "inputs": inputs, "output": hidden, "all": inputs + hidden}[self.bias]
        small = normed + biases + queries * self.gate_bias + (self.heads if self.sinks else 0)
        small += (self.query_rank or 0) + 2 * self.cross
        chooser = self.indexer.parameters(hidden, hidden) if self.indexer else Counts()
        return Counts(attention=matrices, small=small) + chooser

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        found = [Matrix("q_proj", hidden, queries)]
        if self.query_rank:
            found = [Matrix("q_proj", hidden, self.query_rank), Matrix("wq", self.query_rank, queries)]
        if not self.shares_cache:
            found.append(Matrix("k_proj", hidden, keys))
        if not self.shares_cache and not self.key_is_value:
            found.append(Matrix("v_proj", hidden, self.kv_heads * self._value_dim))
        if self.gate != "none":
            found.append(Matrix("g_proj", hidden, queries if self.gate == "full" else self.heads))
        found.append(Matrix("o_proj", self.heads * self._value_dim, hidden))
        return (*found, *(self.indexer.matrices(hidden, hidden) if self.indexer else ()))

    def _numbers(self, tokens: Number) -> Number:
        return grouped_cached_numbers(
            kv_heads=self.kv_heads, head_dim=self.head_dim, value_dim=self._value_dim, tokens=tokens
        )

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers in the cache of one layer after `tokens` positions of one request."""
        if self.shares_cache or self.cross:
            return 0 * tokens
        kept = tokens if self.window is None else tokens_in_window(tokens=tokens, window=self.window)
        own = self._numbers(kept)
        return own + self.indexer.cached_numbers(tokens) if self.indexer else own

    def reserved_numbers(self, tokens: Number) -> Number:
        """Numbers that an engine reserves where one table of blocks serves all layers: windows as long as the text."""
        if self.shares_cache or self.cross:
            return 0 * tokens
        own = self._numbers(tokens)
        return own + self.indexer.cached_numbers(tokens) if self.indexer else own

    def read_numbers(self, tokens: Number) -> Number:
        """Numbers of the cache that a pass of the decode reads."""
        if self.cross:
            return 0 * tokens
        if self.indexer:
            return self._numbers(self.indexer.chosen(tokens)) + self.indexer.cached_numbers(tokens)
        kept = tokens if self.window is None else tokens_in_window(tokens=tokens, window=self.window)
        return self._numbers(kept)

    def share(self, tensor: int) -> float:
        """The part of its cache on each of `tensor` accelerators: whole heads, so at least one of them."""
        return ceil(self.kv_heads / tensor) / self.kv_heads

    def flops(self, *, positions: Number, past: Number) -> Number:
        """Operations of one layer beyond its matrices, for one request."""
        if self.cross:
            return 0 * positions
        window = self.indexer.top if self.indexer else self.window
        pairs = pairs_in_window(positions=positions, past=past, window=window)
        own = attention_flops(heads=self.heads, head_dim=self.head_dim, value_dim=self._value_dim, pairs=pairs)
        if self.indexer:
            own = own + self.indexer.flops(causal_pairs(positions=positions, past=past))
        return own

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        kind, family = config.kinds[layer], config.family
        if kind not in {"full", "window", "chunk"}:
            return None
        windowed = kind == "window"
        heads = _of_each(config, "num_attention_heads_per_layer", layer) or config.whole(*_HEADS)
        if windowed:
            heads = _of_windows(config).whole("swa_num_attention_heads", "num_attention_heads", default=heads)
        head_dim = _head_dim(config, heads, windowed=windowed)
        attention = {
            "heads": heads,
            "kv_heads": _of_each(config, "num_key_value_heads_per_layer", layer)
            or _kv_heads(config, heads, windowed=windowed),
            "query_rank": config.whole("share_q_dim", default=None),
            "cross": layer in (config.numbers("cross_attention_layers") or ()),
            "head_dim": head_dim,
            "value_dim": _value_dim(config, windowed=windowed),
            "window": _window(config, kind),
            "query_key_norm": _query_key_norm(
                config, layer_crosses=layer in (config.numbers("cross_attention_layers") or ())
            ),
            "bias": _bias(config),
            "sinks": config.flag(
                "add_swa_attention_sink_bias" if windowed else "add_full_attention_sink_bias",
                default=family.sinks or (windowed and family.window_sinks),
            ),
            "gate": _gate(config),
            "gate_bias": family.gate_in_queries and _bias(config) != "none",
            "key_is_value": not windowed and config.flag("attention_k_eq_v"),
            "shares_cache": _shares_cache(config, layer),
            "indexer": Indexer.of_blocks(config, layer),
        }
        if heads % attention["kv_heads"]:
            raise UnreadFieldError(
                "num_key_value_heads", f"is {attention['kv_heads']}, which does not divide {heads} heads"
            )
        return cls(**attention)


_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")


def _of_each(config: Config, name: str, layer: int) -> int | None:
    """What a list has for a layer; None where there is no such list."""
    listed = config.list(name)
    return whole_number(name, listed[layer], least=0) if listed else None


def _shares_cache(config: Config, layer: int) -> bool:
    """Whether a layer reads the cache of an earlier one: the last so many, or all but the first of each few (CLA)."""
    if config.flag("use_cla") and layer % config.whole("cla_share_factor"):
        return True
    return bool(layer >= config.layers - config.whole("num_kv_shared_layers", default=0, least=0))


def _head_dim(config: Config, heads: int, *, windowed: bool) -> int:
    names = ("head_dim", "attention_head_dim", "kv_channels")
    own = _of_windows(config).whole("swa_head_dim", "head_dim", default=None) if windowed else None
    own = own or (None if windowed else config.whole("global_head_dim", default=None))
    stated = own or config.whole(*names, default=None)
    if stated:
        return int(stated)
    if config.hidden % heads:
        raise UnreadFieldError(
            "head_dim", f"is missing, and {heads} heads do not divide a hidden size of {config.hidden}"
        )
    if not config.read_as:
        config.assumed["head_dim"] = f"head_dim is missing: taken as the hidden size over {heads} heads."
    return config.hidden // heads


def _kv_heads(config: Config, heads: int, *, windowed: bool) -> int:
    if windowed:
        stated = _of_windows(config).whole("swa_num_key_value_heads", "num_attention_groups", default=None)
    else:
        stated = config.whole("num_global_key_value_heads", default=None)
    if stated:
        return int(stated)
    if config.flag("multi_query") and not config.flag("new_decoder_architecture"):
        return 1
    names = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "num_attention_groups")
    stated = config.whole(*names, default=None)
    if stated is None and not config.family.alone:
        config.assumed["num_key_value_heads"] = (
            f"num_key_value_heads is missing: each of {heads} heads of queries is taken to have keys and values of its "
            "own."
        )
    return int(stated or heads)


def _of_windows(config: Config) -> Config:
    """The fields of layers with a window, where a file keeps them apart."""
    return config.part("attention_other_setting") or config


def _value_dim(config: Config, *, windowed: bool) -> int | None:
    own: int | None = config.whole("swa_v_head_dim", default=None) if windowed else None
    plain: int | None = config.whole("v_head_dim", default=None, least=0)
    return own or plain or None


def _window(config: Config, kind: str) -> Any:
    if kind == "window":
        return config.whole("sliding_window", "sliding_window_size")
    return config.whole("attention_chunk_size") if kind == "chunk" else None


def _query_key_norm(config: Config, *, layer_crosses: bool) -> str:
    """What the family does; where its file has a switch, that decides."""
    if layer_crosses:
        return "head"
    switch = config.value("use_qk_norm", "qk_layernorm")
    means = config.family.norm_means
    named = {"per_head": "head", "per_layer": "full"}
    style = named.get(str(config.value("qk_norm_type")), config.family.query_key_norm)
    if switch is None:
        return style
    if config.model_type == "llama4_text":  # its norms of queries and keys have no parameters
        return "none"
    return (means if style == "none" else style) if config.flag("use_qk_norm", "qk_layernorm") else "none"


def _bias(config: Config) -> str:
    switches = config.family.bias_switches
    if config.flag("use_qkv_bias") and "use_bias" in switches and not config.flag("use_bias"):
        return "inputs"
    if config.value(*switches) is None:
        return config.family.bias
    stated = config.flag(*switches)
    if config.value("attention_out_bias") is not None and stated:
        return "all" if config.flag("attention_out_bias") else "inputs"
    return config.family.bias_means if stated else "none"


def _gate(config: Config) -> str:
    """A gate over the queries is written as a switch or done by the family; a gate a head by some."""
    if config.flag("use_head_wise_attn_gate"):
        return "head"
    if config.value("attn_output_gate", "attention_output_gate") is not None:
        return "full" if config.flag("attn_output_gate", "attention_output_gate") else "none"
    return config.family.output_gate if config.flag("use_attention_gate", default=True) else "none"
