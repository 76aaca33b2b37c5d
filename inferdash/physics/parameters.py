"""The parameters of a model by part, and the bytes that they take."""

from dataclasses import dataclass

from inferdash.facts.architecture import Architecture
from inferdash.formula import Number, formula


@formula(unit="parameters", ref="reading-and-writing")
def table_parameters(*, vocabulary: Number, hidden: Number) -> Number:
    """Parameters of the input embedding, or of the output layer: one vector for each token of the vocabulary."""
    return vocabulary * hidden


@formula(unit="parameters", ref="reading-and-writing")
def parameters_outside_input_embedding(*, in_blocks: Number, output_layer: Number) -> Number:
    """Parameters that each pass loads and multiplies: all but the input embedding, of which it only looks up rows.

    The output layer counts even where it is tied to the input embedding: it is stored once and multiplied.
    """
    return in_blocks + output_layer


@formula(unit="B", ref="reading-and-writing")
def parameter_bytes(*, parameters: Number, bytes_per_number: Number) -> Number:
    """Bytes of that many parameters."""
    return parameters * bytes_per_number


@formula(unit="parameters", ref="reading-and-writing")
def stored_parameters(*, in_blocks: Number, output_layer: Number, input_embedding: Number) -> Number:
    """Parameters in memory, the size by which a model is named; a tied input embedding counts 0 here."""
    return in_blocks + output_layer + input_embedding


@dataclass(frozen=True)
class Parameters:
    """Counts of parameters by part, over all blocks."""

    input_embedding_apart: Number
    """Parameters of the input embedding; 0 where it is tied to the output layer, which is then the one table."""
    attention: Number
    feed_forward: Number
    norms: Number
    output_layer: Number

    @property
    def in_blocks(self) -> Number:
        """Parameters of the blocks and of the norm after them."""
        return self.attention + self.feed_forward + self.norms


def parameters(architecture: Architecture) -> Parameters:
    """The parameters of a model by part."""
    hidden = architecture.hidden
    table = table_parameters(vocabulary=architecture.vocabulary, hidden=hidden)
    return Parameters(
        input_embedding_apart=0 if architecture.tied_embeddings else table,
        attention=sum(blocks.count * blocks.attention.parameters(hidden) for blocks in architecture.blocks),
        feed_forward=sum(blocks.count * blocks.feed_forward.parameters(hidden) for blocks in architecture.blocks),
        norms=hidden + sum(blocks.count * blocks.norms * hidden for blocks in architecture.blocks),
        output_layer=table,
    )
