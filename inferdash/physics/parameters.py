"""The parameters of a model by kind, and the bytes that they take in a number format."""

from dataclasses import dataclass

import numpy as np

from inferdash.facts.architecture import Architecture
from inferdash.facts.precision import Precision
from inferdash.formula import Number, formula
from inferdash.layers.counts import Counts


@formula(unit="parameters", ref="reading-and-writing")
def table_parameters(*, vocabulary: Number, hidden: Number) -> Number:
    """Parameters of the input embedding, or of the output layer: one vector for each token of the vocabulary."""
    return vocabulary * hidden


@formula(unit="parameters", ref="reading-and-writing")
def stored_parameters(*, in_blocks: Number, output_layer: Number, input_embedding: Number) -> Number:
    """Parameters in memory, the size by which a model is named; a tied input embedding counts 0 here."""
    return in_blocks + output_layer + input_embedding


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
    stored: Counts
    """In the blocks."""
    active: Counts
    """In the blocks, of those that one position works with."""
    stored_total: Number
    """In memory."""
    active_total: Number
    """That one position works with, the output layer included and the input embedding not."""


def parameters(architecture: Architecture) -> Parameters:
    """The parameters of a model."""
    hidden = architecture.hidden
    table = table_parameters(vocabulary=architecture.vocabulary, hidden=hidden)
    apart = 0 if architecture.tied_embeddings else table
    stored = active = Counts(small=hidden)
    for blocks in architecture.blocks:
        around = blocks.attention.parameters(hidden) + Counts(small=blocks.norms * hidden)
        stored += (around + blocks.feed_forward.stored(hidden)).times(blocks.count)
        active += (around + blocks.feed_forward.active(hidden)).times(blocks.count)
    return Parameters(
        input_embedding_apart=apart,
        output_layer=table,
        stored=stored,
        active=active,
        stored_total=stored_parameters(in_blocks=stored.total, output_layer=table, input_embedding=apart),
        active_total=active_parameters(in_blocks=active.total, output_layer=table),
    )


def loaded_in_blocks(architecture: Architecture, *, positions: Number) -> Counts:
    """Parameters of the blocks that a pass over `positions` positions loads, on average over the experts chosen."""
    hidden = architecture.hidden
    loaded = Counts(small=hidden)
    for blocks in architecture.blocks:
        around = blocks.attention.parameters(hidden) + Counts(small=blocks.norms * hidden)
        loaded += (around + blocks.feed_forward.loaded(hidden, positions=positions)).times(blocks.count)
    return loaded


def bytes_in_format(precision: Precision, counts: Counts, *, tables: Number) -> Number:
    """Bytes of parameters in a number format; `tables` are those of the input embedding and the output layer."""
    return format_bytes(
        matrices=counts.matrices,
        matrix_bits=precision.other_matrix_bits if np.any(counts.experts) else precision.matrix_bits,
        experts=counts.experts,
        expert_bits=precision.matrix_bits,
        small=counts.small,
        small_bits=precision.small_bits,
        tables=tables,
        table_bits=precision.table_bits,
    )
