"""A model as its shape: what a pass multiplies, loads and leaves in the cache follows from it."""

from typing import Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts.models.precision import FILES, Share
from inferdash.facts.provenance import Sourced
from inferdash.formula import Number, formula
from inferdash.layers.counts import Counts
from inferdash.layers.kinds import Attention, FeedForward
from inferdash.validated import Validated


@formula(unit="parameters", ref="hyper-connections")
def stream_parameters(*, hidden: Number, streams: Number) -> Number:
    """Parameters with which one of the two halves of a layer mixes `streams` parallel vectors of each position."""
    return (2 + streams) * streams * (streams * hidden) + (2 + streams) * streams + 3


@formula(unit="parameters", ref="alternating-updates")
def alternating_parameters(*, hidden: Number, streams: Number) -> Number:
    """Parameters with which a layer predicts and corrects `streams` parallel vectors, of which it works on one."""
    return hidden * streams + streams**2 + streams**3 + 2 * hidden


@formula(unit="parameters", ref="alternating-updates")
def low_rank_parameters(*, hidden: Number, rank: Number) -> Number:
    """Parameters of a path of `rank` numbers beside attention, with its norm."""
    return 2 * hidden * rank + hidden


class Blocks(Validated):
    """A number of equal layers, each of attention and a feed-forward network, or of one of them."""

    count: PositiveInt
    attention: Attention | None = None
    feed_forward: FeedForward | None = None
    beside: FeedForward | None = None
    """A dense network that runs beside the experts."""
    norms: NonNegativeInt = 2
    """Norms of the width of the vectors, with one parameter a number; one with biases counts twice."""
    continues: bool = False
    """Whether it is a part of the layers before it, as where a layer runs two mixers side by side."""
    token_input: NonNegativeInt = 0
    """Numbers of the vector that the token itself gives to this layer, from a table of the layer."""
    streams: NonNegativeInt = 0
    """Parallel vectors of each position (hyper-connections); 0 where there is one as usual."""

    alternating: NonNegativeInt = 0
    """Parallel vectors of each position of which a layer works on one (AltUp); 0 where there is one as usual."""
    numbers: NonNegativeInt = 0
    """Single parameters of a layer, such as those of its activation."""
    low_rank: NonNegativeInt = 0
    """Numbers of a narrow path beside attention (Laurel); 0 where there is none."""

    @property
    def networks(self) -> tuple[FeedForward, ...]:
        """The feed-forward networks of a layer."""
        return tuple(network for network in (self.feed_forward, self.beside) if network)

    def around(self, hidden: int) -> Counts:
        """Parameters of one layer outside its feed-forward networks."""
        attention = self.attention.parameters(hidden) if self.attention else Counts()
        small = self.norms * hidden + (hidden if self.token_input else 0) + self.numbers
        if self.streams:
            small += int(2 * stream_parameters(hidden=hidden, streams=self.streams))
        if self.alternating:
            small += int(alternating_parameters(hidden=hidden, streams=self.alternating))
        if self.low_rank:
            small += int(low_rank_parameters(hidden=hidden, rank=self.low_rank))
        return attention + Counts(dense=2 * hidden * self.token_input, small=small)


class Architecture(Sourced):
    """A model: its tables of tokens and its layers."""

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
    final_norms: NonNegativeInt = 1
    """Norms after the last layer, counted like those of a layer."""
    head_bias: bool = False
    """Whether the output layer has a bias for each token."""
    token_vocabulary: NonNegativeInt = 0
    """Rows of the tables from which each layer takes a vector for the token; 0 where there are none."""
    further_rows: NonNegativeInt = 0
    """Further rows of vectors that are looked up: learned positions, or tokens that are read and never written."""
    weights: str = "bf16"
    """Number format in which its maker gives it out, an id of `precision.PRECISIONS`; "files" where `formats` says."""
    formats: tuple[Share, ...] = ()
    """Each kind of parameter by its number formats, where its maker gives it out in several."""
    mtp: Blocks | None = None
    """The layers that predict further tokens. They lie in the files and idle in a plain decode."""
    mtp_tables: bool = False
    """Whether the files store both tables once more with them."""
    other_parameters: NonNegativeInt = 0
    """Parameters of towers for pictures and sound: in memory, idle in a decode of text; 0 also where not known."""
    blocks: tuple[Blocks, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_one_format_or_several(self) -> Self:
        if (self.weights == FILES) != bool(self.formats):
            raise PydanticCustomError("weights", "formats are listed where weights is “files”, and only there")
        return self

    @property
    def layers(self) -> int:
        """Layers, one after another."""
        return sum(blocks.count for blocks in self.blocks if not blocks.continues)
