"""A model as its shape: what a pass multiplies, loads and leaves in the cache follows from it."""

from pydantic import Field, PositiveInt

from inferdash.facts.provenance import Sourced
from inferdash.layers.attention import Attention
from inferdash.layers.feed_forward import FeedForward
from inferdash.validated import Validated


class Blocks(Validated):
    """A number of equal blocks."""

    count: PositiveInt
    attention: Attention
    feed_forward: FeedForward
    norms: int = 2
    """RMSNorms of the width of the vectors, with one parameter a number."""


class Architecture(Sourced):
    """A model: its tables of tokens and its blocks."""

    hf_id: str = ""
    """Name on the Hugging Face hub."""
    hidden: PositiveInt
    """Numbers in the vector of a position, `hidden_size` in a model's file."""
    vocabulary: PositiveInt
    """Tokens that the model knows: rows of the input embedding and of the output layer."""
    tied_embeddings: bool = False
    """Whether the output layer is the input embedding; it is then stored once and still read in each pass."""
    context: PositiveInt | None = None
    """Tokens that the model was made to read, the longest prompt and answer together; absent where not known."""
    blocks: tuple[Blocks, ...] = Field(min_length=1)
