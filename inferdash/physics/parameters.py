"""The parameters of a model by kind, and the bytes that they take in a number format."""

from collections.abc import Callable
from dataclasses import dataclass

from inferdash.facts.architecture import Architecture, Blocks
from inferdash.facts.precision import Precision
from inferdash.formula import Number, formula
from inferdash.layers.counts import Counts
from inferdash.layers.kinds import FeedForward


@formula(unit="parameters", ref="reading-and-writing")
def table_parameters(*, vocabulary: Number, hidden: Number) -> Number:
    """Parameters of the input embedding, or of the output layer: one vector for each token of the vocabulary."""
    return vocabulary * hidden


@formula(unit="parameters", ref="per-layer-embeddings")
def token_table_parameters(*, vocabulary: Number, layers: Number, width: Number) -> Number:
    """Parameters of the tables from which each layer takes a vector for the token. They are looked up only."""
    return vocabulary * layers * width


@formula(unit="parameters", ref="reading-and-writing")
def stored_parameters(
    *, in_blocks: Number, output_layer: Number, input_embedding: Number, token_tables: Number
) -> Number:
    """Parameters in memory, the size by which a model is named; a tied input embedding counts 0 here."""
    return in_blocks + output_layer + input_embedding + token_tables


@formula(unit="parameters", ref="experts")
def active_parameters(*, in_blocks: Number, output_layer: Number) -> Number:
    """Parameters that one position works with: all outside the input embedding, or the experts chosen for it.

    The input embedding is looked up, not multiplied. The output layer counts, also where it is tied to the embedding.
    """
    return in_blocks + output_layer


@formula(unit="B", ref="quantization")
def format_bytes(
    *,
    matrices: Number,
    matrix_bits: Number,
    experts: Number,
    expert_bits: Number,
    small: Number,
    small_bits: Number,
    tables: Number,
    table_bits: Number,
) -> Number:
    """Bytes of parameters, each kind at its bits: matrices, experts, norms and routers, tables of tokens."""
    return (matrices * matrix_bits + experts * expert_bits + small * small_bits + tables * table_bits) / 8


@dataclass(frozen=True)
class Parameters:
    """Counts of parameters, over all blocks and the norm after them."""

    input_embedding_apart: Number
    """Parameters of the input embedding; 0 where it is tied to the output layer, which is then the one table."""
    output_layer: Number
    token_tables: Number
    """Parameters of the tables from which each layer takes a vector for the token."""
    stored: Counts
    """In the blocks."""
    active: Counts
    """In the blocks, of those that one position works with."""
    stored_total: Number
    """In memory."""
    active_total: Number
    """That one position works with, the output layer included and the input embedding not."""

    @property
    def mixture(self) -> bool:
        """Whether the model has experts."""
        return bool(self.stored.experts)

    @property
    def tables(self) -> Number:
        """Parameters of all tables of tokens in memory."""
        return self.output_layer + self.input_embedding_apart + self.token_tables

    @property
    def active_with_input_embedding(self) -> Number:
        """That one position works with, both tables included: the convention of some makers."""
        return self.active_total + self.input_embedding_apart

    @property
    def active_in_blocks(self) -> Number:
        """That one position works with, without both tables: the convention of some others."""
        return self.active.total


def parameters(architecture: Architecture) -> Parameters:
    """The parameters of a model."""
    hidden = architecture.hidden
    table = table_parameters(vocabulary=architecture.vocabulary, hidden=hidden)
    apart = 0 if architecture.tied_embeddings else table
    stored = in_blocks(architecture, lambda network: network.stored(hidden))
    active = in_blocks(architecture, lambda network: network.active(hidden))
    tables: Number = 0
    for blocks in architecture.blocks:
        if blocks.token_input:
            tables = tables + token_table_parameters(
                vocabulary=architecture.token_vocabulary, layers=blocks.count, width=blocks.token_input
            )
    return Parameters(
        input_embedding_apart=apart,
        output_layer=table,
        token_tables=tables,
        stored=stored,
        active=active,
        stored_total=stored_parameters(
            in_blocks=stored.total, output_layer=table, input_embedding=apart, token_tables=tables
        ),
        active_total=active_parameters(in_blocks=active.total, output_layer=table),
    )


def in_layers(blocks: Blocks, hidden: int, of: Callable[[FeedForward], Counts]) -> Counts:
    """Parameters of some equal layers, where `of` gives those of a feed-forward network."""
    networks = sum((of(network) for network in blocks.networks), Counts())
    return (blocks.around(hidden) + networks).times(blocks.count)


def in_blocks(architecture: Architecture, of: Callable[[FeedForward], Counts]) -> Counts:
    """Parameters of all layers and of what lies around them, where `of` gives those of a feed-forward network."""
    hidden = architecture.hidden
    around = Counts(small=architecture.final_norms * hidden + architecture.vocabulary * architecture.head_bias)
    streams = max(blocks.streams for blocks in architecture.blocks)
    if streams:  # the parallel vectors become one again
        around += Counts(small=streams * streams * hidden + streams + 1)
    vectors = max(blocks.alternating for blocks in architecture.blocks)
    if vectors:  # all but one are made from the one at the start, and joined again at the end
        around += Counts(dense=2 * (vectors - 1) * hidden * hidden)
    width = max(blocks.token_input for blocks in architecture.blocks)
    if width:
        around += Counts(dense=hidden * architecture.layers * width, small=width)
    return sum((in_layers(blocks, hidden, of) for blocks in architecture.blocks), around)


def loaded_in_blocks(architecture: Architecture, *, positions: Number) -> Counts:
    """Parameters of the blocks that a pass over `positions` positions loads, on average over the experts chosen."""
    return in_blocks(architecture, lambda network: network.loaded(architecture.hidden, positions=positions))


def mtp_parameters(architecture: Architecture) -> Counts:
    """Parameters of the layers that predict further tokens: the layer, what joins two vectors, three norms."""
    if architecture.mtp is None:
        return Counts()
    hidden = architecture.hidden
    layer = in_layers(architecture.mtp, hidden, lambda network: network.stored(hidden))
    return layer + Counts(small=architecture.mtp.count * (2 * hidden * hidden + 3 * hidden))


def mtp_table_copies(architecture: Architecture) -> Number:
    """Parameters of the tables that the files store once more with the layers that predict further tokens."""
    counts = parameters(architecture)
    return counts.output_layer + counts.input_embedding_apart if architecture.mtp and architecture.mtp_tables else 0


def checkpoint_bytes(architecture: Architecture, precision: Precision) -> Number:
    """Bytes of the files in a number format, with the layers that predict further tokens.

    Towers for pictures and sound are not included.
    """
    counts, further = parameters(architecture), mtp_parameters(architecture)
    tables = counts.tables + mtp_table_copies(architecture)
    return bytes_in_format(precision, counts.stored + further, tables=tables, mixture=counts.mixture)


def bytes_in_format(precision: Precision, counts: Counts, *, tables: Number, mixture: bool) -> Number:
    """Bytes of parameters in a number format.

    Args:
        precision: the format.
        counts: parameters outside the tables.
        tables: parameters of the tables of tokens.
        mixture: whether the model has experts, beside which some formats keep the other matrices wider.
    """
    return format_bytes(
        matrices=counts.matrices,
        matrix_bits=precision.other_matrix_bits if mixture else precision.matrix_bits,
        experts=counts.experts,
        expert_bits=precision.matrix_bits,
        small=counts.small,
        small_bits=precision.small_bits,
        tables=tables,
        table_bits=precision.table_bits,
    )
