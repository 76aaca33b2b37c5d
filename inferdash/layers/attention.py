"""Attention: how a position reads the earlier ones, and what it leaves behind for the later ones.

A kind says its parameters, the numbers that a request leaves in the cache of one layer, and the operations beyond
its matrices. Positions and tokens may be numbers or arrays.
"""

from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.formula import Number, formula
from inferdash.layers.counts import Counts
from inferdash.validated import Validated


@formula(unit="parameters", ref="grouped-query-attention")
def grouped_attention_parameters(*, hidden: Number, heads: Number, kv_heads: Number, head_dim: Number) -> Number:
    """Parameters of the attention of one layer: queries and output for each head, keys and values for each group.

    Norms and biases are not included.
    """
    return 2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim


@formula(unit="numbers", ref="kv-cache")
def grouped_cached_numbers(*, kv_heads: Number, head_dim: Number, tokens: Number) -> Number:
    """Numbers that `tokens` positions of one request leave in the cache of one layer: a key and a value for each.

    `kv_heads` counts heads after grouping: all of them for MHA, 1 for MQA. Paging waste is not included.
    """
    return 2 * kv_heads * head_dim * tokens


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


@formula(unit="FLOP", ref="attention")
def attention_flops(*, heads: Number, head_dim: Number, pairs: Number) -> Number:
    """Operations of attention in one layer: a dot product and a weighted sum for each pair and head."""
    return 4 * heads * head_dim * pairs


class GroupedAttention(Validated):
    """Attention whose query heads share heads of keys and values: MHA, GQA and MQA, over all or the last tokens."""

    kind: Literal["grouped"] = "grouped"
    heads: PositiveInt
    """Heads of queries."""
    kv_heads: PositiveInt
    """Heads of keys and values: as many as `heads` for MHA, fewer for GQA, 1 for MQA."""
    head_dim: PositiveInt
    """Numbers in one key, value or query. As the model's file states it, never hidden / heads."""
    window: PositiveInt | None = None
    """Tokens back that a position reads, itself included; all where absent. For chunks, their length: a bound."""
    query_key_norm: bool = False
    """Whether queries and keys are normed, each with `head_dim` parameters that all heads share."""
    bias: Literal["none", "inputs", "all"] = "none"
    """Whether the matrices of queries, keys and values ("inputs"), or also that of the output ("all"), have biases."""
    sinks: bool = False
    """Whether each head has one number more in its softmax."""

    @model_validator(mode="after")
    def _grouped_evenly(self) -> "GroupedAttention":
        if self.heads % self.kv_heads:
            raise PydanticCustomError(
                "heads", "{kv_heads} heads of keys and values do not divide {heads} heads of queries", self.model_dump()
            )
        return self

    @property
    def name(self) -> str:
        """What the field calls it."""
        spread = "MHA" if self.kv_heads == self.heads else "MQA" if self.kv_heads == 1 else "GQA"
        return spread if self.window is None else f"{spread}, window {self.window:,}"

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        matrices = grouped_attention_parameters(
            hidden=hidden, heads=self.heads, kv_heads=self.kv_heads, head_dim=self.head_dim
        )
        norms = 2 * self.head_dim if self.query_key_norm else 0
        inputs = (self.heads + 2 * self.kv_heads) * self.head_dim
        biases = {"none": 0, "inputs": inputs, "all": inputs + hidden}[self.bias]
        return Counts(matrices=matrices, small=norms + biases + (self.heads if self.sinks else 0))

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers in the cache of one layer after `tokens` positions of one request; a pass of the decode reads all."""
        kept = tokens if self.window is None else tokens_in_window(tokens=tokens, window=self.window)
        return grouped_cached_numbers(kv_heads=self.kv_heads, head_dim=self.head_dim, tokens=kept)

    def flops(self, *, positions: Number, past: Number) -> Number:
        """Operations of one layer beyond its matrices, for one request."""
        pairs = causal_pairs(positions=positions, past=past)
        if self.window is not None:
            pairs = pairs - pairs_outside_window(
                outside_after=tokens_outside_window(tokens=past + positions, window=self.window),
                outside_before=tokens_outside_window(tokens=past, window=self.window),
            )
        return attention_flops(heads=self.heads, head_dim=self.head_dim, pairs=pairs)


@formula(unit="parameters", ref="latent-attention")
def latent_attention_parameters(
    *,
    hidden: Number,
    heads: Number,
    query_rank: Number,
    latent: Number,
    plain_dim: Number,
    rotary_dim: Number,
    value_dim: Number,
) -> Number:
    """Parameters of latent attention in one layer: down to the latents, up from them for each head, and the output.

    Norms are not included.
    """
    return (
        hidden * query_rank
        + query_rank * heads * (plain_dim + rotary_dim)
        + hidden * (latent + rotary_dim)
        + latent * heads * (plain_dim + value_dim)
        + heads * value_dim * hidden
    )


@formula(unit="numbers", ref="latent-attention")
def latent_cached_numbers(*, latent: Number, rotary_dim: Number, tokens: Number) -> Number:
    """Numbers that `tokens` positions leave in the cache of one layer: one latent and one rotary key for all heads."""
    return (latent + rotary_dim) * tokens


@formula(unit="FLOP", ref="latent-attention")
def latent_flops(
    *,
    heads: Number,
    latent: Number,
    plain_dim: Number,
    rotary_dim: Number,
    value_dim: Number,
    pairs: Number,
    past: Number,
) -> Number:
    """Operations of latent attention in one layer, in the cheaper of its two forms.

    Either the cached latents are expanded to keys and values again, or queries and outputs work on the latents
    themselves. A prefill expands, a decode does not.
    """
    return np.minimum(
        2 * heads * (plain_dim + rotary_dim + value_dim) * pairs + 2 * latent * heads * (plain_dim + value_dim) * past,
        2 * heads * (2 * latent + rotary_dim) * pairs,
    )


class LatentAttention(Validated):
    """Multi-head latent attention (MLA): the cache holds one compressed latent for all heads."""

    kind: Literal["latent"] = "latent"
    heads: PositiveInt
    """Heads of queries, keys and values."""
    query_rank: PositiveInt
    """Numbers in the latent of the queries, `q_lora_rank`."""
    latent: PositiveInt
    """Numbers in the latent of keys and values, `kv_lora_rank`."""
    plain_dim: PositiveInt
    """Numbers of a key without position, `qk_nope_head_dim`."""
    rotary_dim: NonNegativeInt
    """Numbers of a key with position, `qk_rope_head_dim`, shared by all heads."""
    value_dim: PositiveInt
    """Numbers of a value, `v_head_dim`."""

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "MLA"

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        matrices = latent_attention_parameters(
            hidden=hidden,
            heads=self.heads,
            query_rank=self.query_rank,
            latent=self.latent,
            plain_dim=self.plain_dim,
            rotary_dim=self.rotary_dim,
            value_dim=self.value_dim,
        )
        return Counts(matrices=matrices, small=self.query_rank + self.latent)

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers in the cache of one layer after `tokens` positions of one request; a pass of the decode reads all."""
        return latent_cached_numbers(latent=self.latent, rotary_dim=self.rotary_dim, tokens=tokens)

    def flops(self, *, positions: Number, past: Number) -> Number:
        """Operations of one layer beyond its matrices, for one request."""
        return latent_flops(
            heads=self.heads,
            latent=self.latent,
            plain_dim=self.plain_dim,
            rotary_dim=self.rotary_dim,
            value_dim=self.value_dim,
            pairs=causal_pairs(positions=positions, past=past),
            past=past,
        )


Attention: TypeAlias = Annotated[GroupedAttention | LatentAttention, Field(discriminator="kind")]
"""Any kind of attention, told apart by `kind`."""
