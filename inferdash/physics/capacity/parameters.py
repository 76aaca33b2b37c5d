"""The parameters of a model by kind, and the bytes that they take in a number format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.models.architecture import Architecture, Blocks
from inferdash.facts.models.precision import Kind, Precision, Rate
from inferdash.formula import Number, formula, remembered
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
    """Parameters of further tables that are looked up: from which each layer takes a vector, and of positions."""
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
        return self.output_layer + self.looked_up

    @property
    def looked_up(self) -> Number:
        """Parameters of the tables of which a pass reads single rows only."""
        return self.input_embedding_apart + self.token_tables

    @property
    def active_with_input_embedding(self) -> Number:
        """That one position works with, both tables included: the convention of some makers."""
        return self.active_total + self.input_embedding_apart

    @property
    def active_in_blocks(self) -> Number:
        """That one position works with, without both tables: the convention of some others."""
        return self.active.total


@remembered
def parameters(architecture: Architecture) -> Parameters:
    """The parameters of a model."""
    hidden = architecture.hidden
    table = table_parameters(vocabulary=architecture.vocabulary, hidden=hidden)
    apart = 0 if architecture.tied_embeddings else table
    stored = in_blocks(architecture, lambda network: network.stored(hidden))
    active = in_blocks(architecture, lambda network: network.active(hidden))
    tables: Number = architecture.further_rows * hidden
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
    precision = in_model(precision, architecture)
    counts, further = parameters(architecture), mtp_parameters(architecture)
    tables = counts.looked_up + mtp_table_copies(architecture)
    if precision.shares:
        inside = bytes_in_format(
            precision, counts.stored, output=counts.output_layer, looked_up=tables, mixture=counts.mixture
        )
        return inside + further.total * precision.bits("mtp", mixture=counts.mixture) / 8
    return bytes_in_format(
        precision, counts.stored + further, output=counts.output_layer, looked_up=tables, mixture=counts.mixture
    )


def bytes_in_format(
    precision: Precision, counts: Counts, *, output: Number, looked_up: Number = 0, mixture: bool
) -> Number:
    """Bytes of parameters in a number format.

    Args:
        precision: the format, carried out for the model where it is a recipe.
        counts: parameters outside the tables.
        output: parameters of the output layer.
        looked_up: parameters of the tables that are looked up only.
        mixture: whether the model has experts, beside which some formats keep the other matrices wider.
    """
    matrices: dict[Kind, Number] = {"attention": counts.attention, "dense": counts.dense, "shared": counts.shared}
    return format_bytes(
        matrices=counts.matrices,
        matrix_bits=_mean_bits(precision, matrices, mixture=mixture),
        experts=counts.experts,
        expert_bits=precision.bits("experts", mixture=mixture),
        small=counts.small + counts.router,
        small_bits=_mean_bits(precision, {"small": counts.small, "router": counts.router}, mixture=mixture),
        tables=output + looked_up,
        table_bits=_mean_bits(precision, {"output": output, "input": looked_up}, mixture=mixture),
    )


def _mean_bits(precision: Precision, counts: Mapping[Kind, Number], *, mixture: bool) -> Number:
    """Bits of a number over kinds of parameters."""
    bits = {kind: precision.bits(kind, mixture=mixture) for kind in counts}
    (first, *others) = set(bits.values())
    total = sum(counts.values())
    if not others or not np.any(total):
        return first
    return sum(counts[kind] * bits[kind] for kind in counts) / total


def multiplied_at(
    architecture: Architecture, precision: Precision, peak_of: Callable[[Rate], Number | None]
) -> Number | None:
    """The peak in FLOP/s at which one position's matrices are multiplied, the output layer's included.

    Where kinds of parameters are in several formats it is the mean by which their times add up.

    Args:
        architecture: the model.
        precision: the format, carried out for the model where it is a recipe.
        peak_of: the dense peak for numbers of a rate; None where it is not known.
    """
    if not precision.shares:
        return peak_of(precision.rate)
    peaks = {rate: peak for rate in {share.rate for share in precision.shares} if (peak := peak_of(rate)) is not None}
    if any(share.rate not in peaks for share in precision.shares):
        return None
    if len(peaks) == 1:
        return peaks[precision.rate]
    counts = parameters(architecture)
    active = {
        "attention": counts.active.attention,
        "dense": counts.active.dense,
        "shared": counts.active.shared,
        "experts": counts.active.experts,
        "output": counts.output_layer,
    }
    stored: dict[str, int] = {}
    for share in precision.shares:
        stored[share.kind] = stored.get(share.kind, 0) + share.parameters
    time: Number = 0
    for share in precision.shares:
        if share.kind in active:
            time = time + active[share.kind] * share.parameters / stored[share.kind] / peaks[share.rate]
    return sum(active.values()) / time
