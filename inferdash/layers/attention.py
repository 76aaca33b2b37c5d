"""Attention: how a position reads the earlier ones, and what it leaves behind for the later ones."""

from typing import Literal, TypeAlias

from pydantic import PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.formula import Number, formula
from inferdash.validated import Validated


@formula(unit="parameters", ref="grouped-query-attention")
def grouped_attention_parameters(*, hidden: Number, heads: Number, kv_heads: Number, head_dim: Number) -> Number:
    """Parameters of the attention of one layer: queries and output for each head, keys and values for each group.

    Norms of queries and keys are not included.
    """
    return 2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim


@formula(unit="numbers", ref="kv-cache")
def grouped_cached_numbers(*, kv_heads: Number, head_dim: Number, tokens: Number) -> Number:
    """Numbers that `tokens` positions of one request leave in the cache of one layer: a key and a value for each.

    `kv_heads` counts heads after grouping: all of them for MHA, 1 for MQA. Paging waste is not included.
    """
    return 2 * kv_heads * head_dim * tokens


@formula(unit="pairs", ref="attention")
def causal_pairs(*, positions: Number, past: Number) -> Number:
    """Pairs of a position that a pass runs and a position that it may read, itself included, for one request.

    `past` positions are in the cache already; among the `positions` that run, each reads those up to itself.
    """
    return positions * past + positions * (positions + 1) / 2


@formula(unit="FLOP", ref="attention")
def attention_flops(*, heads: Number, head_dim: Number, pairs: Number) -> Number:
    """Operations of attention in one layer: a dot product and a weighted sum for each pair and head."""
    return 4 * heads * head_dim * pairs


class GroupedAttention(Validated):
    """Full attention whose query heads share heads of keys and values: MHA, GQA and MQA."""

    kind: Literal["grouped"] = "grouped"
    heads: PositiveInt
    """Heads of queries."""
    kv_heads: PositiveInt
    """Heads of keys and values: as many as `heads` for MHA, fewer for GQA, 1 for MQA."""
    head_dim: PositiveInt
    """Numbers in one key, value or query. As the model's file states it, never hidden / heads."""
    query_key_norm: bool = False
    """Whether queries and keys are normed, each with `head_dim` parameters that all heads share."""

    @model_validator(mode="after")
    def _grouped_evenly(self) -> "GroupedAttention":
        if self.heads % self.kv_heads:
            raise PydanticCustomError(
                "heads",
                "{kv_heads} heads of keys and values do not divide {heads} heads of queries",
                self.model_dump(),
            )
        return self

    def parameters(self, hidden: int) -> Number:
        """Parameters of one layer, norms of queries and keys included."""
        matrices = grouped_attention_parameters(
            hidden=hidden, heads=self.heads, kv_heads=self.kv_heads, head_dim=self.head_dim
        )
        return matrices + (2 * self.head_dim if self.query_key_norm else 0)

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers in the cache of one layer after `tokens` positions of one request; a pass of the decode reads all."""
        return grouped_cached_numbers(kv_heads=self.kv_heads, head_dim=self.head_dim, tokens=tokens)

    def flops(self, *, positions: Number, past: Number) -> Number:
        """Operations of one layer beyond its matrices, for one request."""
        return attention_flops(
            heads=self.heads, head_dim=self.head_dim, pairs=causal_pairs(positions=positions, past=past)
        )


Attention: TypeAlias = GroupedAttention
"""Any kind of attention, told apart by `kind`."""
