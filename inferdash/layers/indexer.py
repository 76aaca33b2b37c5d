"""The indexer of sparse attention: what chooses the tokens that a position reads."""

from typing import Self

import numpy as np
from pydantic import PositiveInt

from inferdash.formula import Number, formula
from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.validated import Validated


@formula(unit="parameters", ref="sparse-attention")
def indexer_parameters(*, queries_from: Number, hidden: Number, heads: Number, head_dim: Number) -> Number:
    """Parameters of the matrices of an indexer: its queries, the one key that its heads share.

    Queries are made from `queries_from` numbers: the latent of the queries, or the vector of the position.
    """
    return queries_from * heads * head_dim + hidden * head_dim


@formula(unit="FLOP", ref="sparse-attention")
def indexer_flops(*, heads: Number, head_dim: Number, pairs: Number) -> Number:
    """Operations of an indexer in one layer: a dot product for each pair and head."""
    return 2 * heads * head_dim * pairs


@formula(unit="tokens", ref="sparse-attention")
def chosen_tokens(*, tokens: Number, top: Number) -> Number:
    """Tokens that a position reads: the `top` that the indexer scores highest, or all of fewer."""
    return np.minimum(tokens, top)


class Indexer(Validated):
    """Small heads that score every earlier token; attention reads the tokens with the highest scores."""

    heads: PositiveInt
    head_dim: PositiveInt
    top: PositiveInt
    """Tokens that a position reads at most."""
    weighted: bool = True
    """Whether a matrix gives each head its weight."""
    own: bool = True
    """Whether the layer scores itself; others read what an earlier layer chose, and keep no keys for it."""

    def parameters(self, hidden: int, queries_from: int) -> Counts:
        """Parameters of one layer: its matrices, the norm of its key with a bias."""
        if not self.own:
            return Counts()
        matrices = indexer_parameters(
            queries_from=queries_from, hidden=hidden, heads=self.heads, head_dim=self.head_dim
        )
        return Counts(attention=matrices + hidden * self.heads * self.weighted, small=2 * self.head_dim)

    def matrices(self, hidden: int, queries_from: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        if not self.own:
            return ()
        found = (
            Matrix("indexer.wq_b", queries_from, self.heads * self.head_dim),
            Matrix("indexer.wk", hidden, self.head_dim),
        )
        return (*found, Matrix("indexer.weights_proj", hidden, self.heads)) if self.weighted else found

    def chosen(self, tokens: Number) -> Number:
        """Tokens that attention reads."""
        return chosen_tokens(tokens=tokens, top=self.top)

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers of its keys in the cache of one layer: one key a token for all its heads."""
        return self.head_dim * tokens if self.own else 0 * tokens

    def flops(self, pairs: Number) -> Number:
        """Operations of one layer."""
        return indexer_flops(heads=self.heads, head_dim=self.head_dim, pairs=pairs) if self.own else 0 * pairs

    @classmethod
    def of_tokens(cls, config: Config, layer: int) -> Self | None:
        """The indexer that chooses single tokens, as the files of DeepSeek and GLM write it."""
        top = config.whole("index_topk", default=None)
        if top is None:
            return None
        types = config.list("indexer_types")
        return cls(
            heads=config.whole("index_n_heads"),
            head_dim=config.whole("index_head_dim"),
            top=top,
            own=types is None or types[layer] == "full",
        )

    @classmethod
    def of_blocks(cls, config: Config, layer: int) -> Self | None:
        """The indexer that chooses blocks of tokens, as the files of MiniMax write it."""
        sparse = config.part("sparse_attention_config")
        if sparse is None or not sparse.flag("use_sparse_attention", default=True):
            return None
        which = sparse.value("sparse_attention_freq")
        if isinstance(which, list) and not (layer < len(which) and which[layer]):
            return None
        blocks, size = sparse.whole("sparse_topk_blocks"), sparse.whole("sparse_block_size")
        return cls(
            heads=sparse.whole("sparse_num_index_heads"),
            head_dim=sparse.whole("sparse_index_dim"),
            top=blocks * size,
            weighted=False,
        )
