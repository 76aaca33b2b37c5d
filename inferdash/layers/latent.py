"""Multi-head latent attention (MLA): the cache holds one compressed latent for all heads."""

from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from inferdash.formula import Number, formula
from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.grouped import causal_pairs, pairs_in_window
from inferdash.layers.indexer import Indexer
from inferdash.layers.matrix import Matrix
from inferdash.layers.mixer import Mixer


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

    Norms are not included. Without a latent of the queries, `query_rank` is the hidden size and the matrix down to it
    is not there: its parameters are taken off elsewhere.
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


class LatentAttention(Mixer):
    """Multi-head latent attention, over all tokens or over those that an indexer chooses."""

    expands: ClassVar[bool] = True
    kind: Literal["latent"] = "latent"
    heads: PositiveInt
    """Heads of queries, keys and values."""
    query_rank: PositiveInt | None = None
    """Numbers in the latent of the queries, `q_lora_rank`; absent where queries are made directly."""
    latent: PositiveInt
    """Numbers in the latent of keys and values, `kv_lora_rank`."""
    plain_dim: PositiveInt
    """Numbers of a key without position, `qk_nope_head_dim`."""
    rotary_dim: NonNegativeInt
    """Numbers of a key with position, `qk_rope_head_dim`, shared by all heads."""
    value_dim: PositiveInt
    """Numbers of a value, `v_head_dim`."""
    gate: bool = False
    """Whether a gate as wide as the values of all heads is on the output."""
    bias: bool = False
    """Whether the matrices down to the latents, and that of the output, have biases."""
    indexer: Indexer | None = None
    """What chooses the tokens that it reads, where it does not read all."""

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "MLA, sparse" if self.indexer else "MLA"

    @property
    def reads_at_most(self) -> tuple[int, ...]:
        """What the indexer chooses."""
        return (self.indexer.top,) if self.indexer else ()

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        matrices = latent_attention_parameters(
            hidden=hidden,
            heads=self.heads,
            query_rank=self.query_rank or hidden,
            latent=self.latent,
            plain_dim=self.plain_dim,
            rotary_dim=self.rotary_dim,
            value_dim=self.value_dim,
        )
        if self.query_rank is None:
            matrices = matrices - hidden * hidden
        if self.gate:
            matrices = matrices + hidden * self.heads * self.value_dim
        chooser = self.indexer.parameters(hidden, self.query_rank or hidden) if self.indexer else Counts()
        narrow = (self.query_rank or 0) + self.latent
        small = narrow + (narrow + self.rotary_dim + hidden) * self.bias
        return Counts(attention=matrices, small=small) + chooser

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        queries, values = self.heads * (self.plain_dim + self.rotary_dim), self.heads * self.value_dim
        found = [Matrix("q_proj", hidden, queries)]
        if self.query_rank:
            found = [Matrix("q_a_proj", hidden, self.query_rank), Matrix("q_b_proj", self.query_rank, queries)]
        found += [
            Matrix("kv_a_proj_with_mqa", hidden, self.latent + self.rotary_dim),
            Matrix("kv_b_proj", self.latent, self.heads * (self.plain_dim + self.value_dim)),
        ]
        if self.gate:
            found.append(Matrix("g_proj", hidden, values))
        chooser = self.indexer.matrices(hidden, self.query_rank or hidden) if self.indexer else ()
        return (*found, Matrix("o_proj", values, hidden), *chooser)

    def _numbers(self, tokens: Number) -> Number:
        return latent_cached_numbers(latent=self.latent, rotary_dim=self.rotary_dim, tokens=tokens)

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers in the cache of one layer after `tokens` positions of one request."""
        own = self._numbers(tokens)
        return own + self.indexer.cached_numbers(tokens) if self.indexer else own

    def read_numbers(self, tokens: Number) -> Number:
        """Numbers of the cache that a pass of the decode reads."""
        if self.indexer is None:
            return self._numbers(tokens)
        return self._numbers(self.indexer.chosen(tokens)) + self.indexer.cached_numbers(tokens)

    def flops(self, *, positions: Number, past: Number) -> Number:
        """Operations of one layer beyond its matrices, for one request."""
        own = latent_flops(
            heads=self.heads,
            latent=self.latent,
            plain_dim=self.plain_dim,
            rotary_dim=self.rotary_dim,
            value_dim=self.value_dim,
            pairs=pairs_in_window(positions=positions, past=past, window=self.indexer.top if self.indexer else None),
            past=past,
        )
        if self.indexer:
            own = own + self.indexer.flops(causal_pairs(positions=positions, past=past))
        return own

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        latent = config.whole("kv_lora_rank", default=None)
        if latent is None or config.kinds[layer] != "full" or not config.flag("use_mla", default=True):
            return None
        return cls(
            heads=config.whole("num_attention_heads"),
            query_rank=config.whole("q_lora_rank", default=None),
            latent=latent,
            plain_dim=config.whole("qk_nope_head_dim"),
            rotary_dim=config.whole("qk_rope_head_dim", least=0),
            value_dim=config.whole("v_head_dim"),
            gate=config.flag("mla_use_output_gate"),
            bias=config.flag("attention_bias"),
            indexer=Indexer.of_tokens(config, layer),
        )
