"""Compressed sparse attention, as DeepSeek-V4 has it: a window of tokens, and earlier ones pressed into entries."""

from typing import Final, Literal, Self

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from inferdash.formula import Number, formula
from inferdash.layers.config import Config, UnreadFieldError, whole_number
from inferdash.layers.counts import Counts
from inferdash.layers.grouped import attention_flops, causal_pairs, pairs_in_window, tokens_in_window
from inferdash.layers.indexer import Indexer, indexer_flops
from inferdash.layers.matrix import Matrix
from inferdash.layers.mixer import Mixer

_FINE: Final = 4
"""The ratio at which entries overlap, and an indexer chooses among them."""


@formula(unit="parameters", ref="compressed-attention")
def compressed_attention_parameters(
    *,
    hidden: Number,
    heads: Number,
    query_rank: Number,
    head_dim: Number,
    output_groups: Number,
    output_rank: Number,
) -> Number:
    """Parameters of the matrices of one layer: queries through a latent, the one key, the output in two steps.

    The output of each group of heads goes down to `output_rank` numbers, and those of all groups up again.
    """
    return (
        hidden * query_rank
        + query_rank * heads * head_dim
        + hidden * head_dim
        + heads * head_dim * output_rank
        + output_groups * output_rank * hidden
    )


@formula(unit="parameters", ref="compressed-attention")
def compressor_parameters(*, hidden: Number, width: Number) -> Number:
    """Parameters of the matrices that press tokens into an entry: values and weights of `width` numbers each."""
    return 2 * hidden * width


@formula(unit="tokens", ref="compressed-attention")
def entries(*, tokens: Number, ratio: Number) -> Number:
    """Entries into which `tokens` tokens are pressed, `ratio` of them into each."""
    return np.floor(tokens / ratio)


class CompressedAttention(Mixer):
    """One shared key that is also the value; the last tokens as they are, the earlier ones pressed into entries."""

    kind: Literal["compressed"] = "compressed"
    heads: PositiveInt
    head_dim: PositiveInt
    query_rank: PositiveInt
    output_groups: PositiveInt
    output_rank: PositiveInt
    window: PositiveInt
    """Tokens that are kept as they are."""
    ratio: NonNegativeInt = 0
    """Tokens in an entry; 0 where the layer keeps its window alone."""
    indexer: Indexer | None = None
    """What chooses among the entries, where not all are read."""

    @property
    def name(self) -> str:
        """What the field calls it."""
        return f"window {self.window:,}" + (f" and entries of {self.ratio} tokens" if self.ratio else "")

    @property
    def reads_at_most(self) -> tuple[int, ...]:
        """The window, and the tokens for which the entries stand that the indexer chooses."""
        bound = self._most_read()
        return (self.window, bound) if bound else (self.window,)

    @property
    def _overlap(self) -> int:
        return 2 if self.ratio == _FINE else 1

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        matrices = compressed_attention_parameters(
            hidden=hidden,
            heads=self.heads,
            query_rank=self.query_rank,
            head_dim=self.head_dim,
            output_groups=self.output_groups,
            output_rank=self.output_rank,
        )
        small = self.query_rank + self.head_dim + self.heads
        if self.ratio:
            matrices = matrices + compressor_parameters(hidden=hidden, width=self._overlap * self.head_dim)
            small += self.ratio * self._overlap * self.head_dim + self.head_dim
        if self.indexer:
            dim = self.indexer.head_dim
            matrices = matrices + compressor_parameters(hidden=hidden, width=self._overlap * dim)
            matrices = matrices + self.query_rank * self.indexer.heads * dim + hidden * self.indexer.heads
            small += self.ratio * self._overlap * dim + dim
        return Counts(attention=matrices, small=small)

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices, as DeepSeek's own files call them."""
        queries, width = self.heads * self.head_dim, self._overlap * self.head_dim
        found = [
            Matrix("wq_a", hidden, self.query_rank),
            Matrix("wq_b", self.query_rank, queries),
            Matrix("wkv", hidden, self.head_dim),
            Matrix("wo_a", queries, self.output_rank),
            Matrix("wo_b", self.output_groups * self.output_rank, hidden),
        ]
        if self.ratio:
            found.append(Matrix("compressor", hidden, 2 * width))
        if self.indexer:
            dim = self.indexer.head_dim
            found += [
                Matrix("indexer.compressor", hidden, 2 * self._overlap * dim),
                Matrix("indexer.wq_b", self.query_rank, self.indexer.heads * dim),
                Matrix("indexer.weights_proj", hidden, self.indexer.heads),
            ]
        return tuple(found)

    def _entries(self, tokens: Number) -> Number:
        return entries(tokens=tokens, ratio=self.ratio) if self.ratio else 0 * tokens

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers in the cache of one layer after `tokens` positions of one request."""
        pressed = self._entries(tokens)
        own = self.head_dim * (tokens_in_window(tokens=tokens, window=self.window) + pressed)
        return own + self.indexer.cached_numbers(pressed) if self.indexer else own

    def read_numbers(self, tokens: Number) -> Number:
        """Numbers of the cache that a pass of the decode reads."""
        pressed = self._entries(tokens)
        read = self.indexer.chosen(pressed) if self.indexer else pressed
        own = self.head_dim * (tokens_in_window(tokens=tokens, window=self.window) + read)
        return own + self.indexer.cached_numbers(pressed) if self.indexer else own

    def flops(self, *, positions: Number, past: Number) -> Number:
        """Operations of one layer beyond its matrices, for one request."""
        pairs = pairs_in_window(positions=positions, past=past, window=self.window)
        if self.ratio:
            pressed = causal_pairs(positions=positions, past=past) / self.ratio
            chosen = pairs_in_window(positions=positions, past=past, window=self._most_read()) / self.ratio
            pairs = pairs + chosen
        own = attention_flops(heads=self.heads, head_dim=self.head_dim, value_dim=self.head_dim, pairs=pairs)
        if self.ratio and self.indexer:
            own = own + indexer_flops(heads=self.indexer.heads, head_dim=self.indexer.head_dim, pairs=pressed)
        return own

    def _most_read(self) -> int | None:
        """Tokens back that the entries read stand for at most."""
        return self.indexer.top * self.ratio if self.indexer else None

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        ratio = _ratio(config, layer)
        if ratio is None:
            return None
        if ratio not in {0, _FINE} and ratio < _FINE:
            raise UnreadFieldError("compress_ratios", f"holds {ratio}, which is not known")
        return cls(
            heads=config.whole("num_attention_heads"),
            head_dim=config.whole("head_dim"),
            query_rank=config.whole("q_lora_rank"),
            output_groups=config.whole("o_groups"),
            output_rank=config.whole("o_lora_rank"),
            window=config.whole("sliding_window"),
            ratio=ratio,
            indexer=Indexer.of_tokens(config, layer) if ratio == _FINE else None,
        )


def _ratio(config: Config, layer: int) -> int | None:
    """Tokens in an entry of a layer: a list has one a layer, or one for each kind of layer."""
    ratios = config.list("compress_ratios")
    if ratios:
        return whole_number("compress_ratios", ratios[layer], least=0)
    rates, kinds = config.part("compress_rates"), config.list("layer_types")
    if rates and kinds:
        return int(rates.whole(str(kinds[layer]), default=0, least=0))
    return None
