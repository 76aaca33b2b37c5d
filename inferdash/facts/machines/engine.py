"""An engine as what it was measured to reach of the datasheet, and the time that it adds."""

from typing import Annotated, TypeAlias

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts.machines.accelerator import Family
from inferdash.facts.provenance import Sourced
from inferdash.validated import BytesPerSecond, FlopsPerSecond, Seconds, Validated

Share: TypeAlias = Annotated[float, Field(gt=0, le=1)]
Band: TypeAlias = tuple[PositiveFloat, PositiveFloat]
"""Factors on an expected time between which four of five measurements lie, where the limit is far from it."""


class Bands(Validated):
    """How far measurements lie from the expected time, four of five of them, of publishers that the fit did not see."""

    decode: Band
    prefill: Band
    serving: Band
    """Of a batch of whole requests, or of the time per output token, where requests share a server."""
    first_token: Band
    """Of the time to first token there."""

    def widened(self, exponent: float) -> "Bands":
        """Those of set-ups of which less is known: each factor to a power of at least 1, but that of first tokens."""
        if exponent <= 1:
            return self
        wide = {name: getattr(self, name) for name in ("decode", "prefill", "serving")}
        return self.model_copy(update={name: (low**exponent, high**exponent) for name, (low, high) in wide.items()})

    @model_validator(mode="after")
    def _ordered(self) -> "Bands":
        if any(low > high for low, high in (self.decode, self.prefill, self.serving, self.first_token)):
            raise PydanticCustomError("band", "a band starts with its lower factor")
        return self


class Reach(Validated):
    """What programs reach on a family of accelerators."""

    bandwidth_share: Share
    """Of the datasheet's bandwidth, while a pass loads."""
    experts_bandwidth_share: Share
    """The same, of the parameters of routed experts."""
    bandwidth_ceiling: BytesPerSecond | None = None
    """Bytes a second that the kernels come close to on no accelerator, however fast; absent where none was seen."""
    arithmetic_share: Share
    """Of the dense peak, `peak_factor` times, while it multiplies with the parameters."""
    experts_arithmetic_share: Share
    """The same, with those of wide experts; narrow ones take `experts_narrow` on top."""
    peak_factor: float = Field(default=1, ge=1)
    """Times the dense peak with sums at 32 bits: 2 where sums at 16 bits are twice as fast and the engine uses them."""
    layer: Seconds = Field(gt=0)
    """That each layer adds to each pass: starts of kernels, small ones, gaps between them."""
    exchange: Seconds = Field(ge=0)
    """That each exchange between accelerators takes beside the bytes that it sends."""
    bands: Bands


class Engine(Sourced):
    """An engine, or one that is not known. Everything here was fitted to measurements, nothing is a promise."""

    reach: dict[Family, Reach]
    """By family of accelerators; of a family without measurements what all have in common."""
    arithmetic_ceiling: FlopsPerSecond | None = None
    """Operations a second that its kernels come close to on no accelerator; absent where none was seen."""
    attention_share: Share
    """Of the dense peak, while a pass works on keys and values."""
    latent_attention: float = Field(ge=0)
    """Times the arithmetic of latent attention at full speed that it takes on top."""
    experts_narrow: float = Field(ge=0)
    """Times the arithmetic of experts at full speed that it takes on top where they are 1,024 columns wide on an
    accelerator, and twice that where they are half as wide."""
    experts_packed: float = Field(ge=0)
    """The same where experts are packed below 8 bits and widened before they are multiplied."""
    vector_trips: PositiveFloat
    """Times that the vector of a position goes to memory or comes from it in a layer."""
    experts_layer: Seconds = Field(ge=0)
    """That a layer adds on top where it has experts."""
    latent_layer: Seconds = Field(ge=0)
    """The same where its attention is latent."""
    latent_read: Seconds = Field(ge=0)
    """The same again in a pass that reads prompts, whose kernels start one by one."""
    sparse_layer: Seconds = Field(ge=0)
    """The same where an indexer chooses tokens."""
    recurrent_layer: Seconds = Field(ge=0)
    """The same where it keeps a state of fixed size."""
    scaled_layer: Seconds = Field(ge=0)
    """The same where numbers are scaled block by block before each matrix."""
    fnuz_layer: Seconds = Field(default=0, ge=0)
    """The same again where the accelerator's fp8 is FNUZ, whose kernels were not tuned for such matrices."""
    stage: Seconds = Field(ge=0)
    """That a pass waits between two groups of layers."""
    host_pass: Seconds = Field(ge=0)
    """That the processor beside the accelerators adds to a pass."""
    host_request: Seconds = Field(ge=0)
    """That it adds to a pass for each request in it."""
    server: Seconds = Field(ge=0)
    """That a server which is free adds to the time to first token."""
    server_token: Seconds = Field(ge=0)
    """That it adds for each token of the prompt."""
    server_request: Seconds = Field(ge=0)
    """That it adds for each request in flight."""
    admission: float = Field(ge=0)
    """Passes that only write until a new request is read, beyond those that are under way or prepared."""
    mixes: bool = True
    """Whether a pass that reads prompts writes tokens of other requests too."""
    chunk: NonNegativeInt = 8192
    """Positions that it puts into one pass of a prefill at most."""
    beyond_prompt: NonNegativeInt | None = None
    """Where requests share it: positions of a pass beyond those of a prompt, as it is usually told; None: `chunk`."""
    poll: PositiveInt = 1
    """Passes that only write between two looks for new requests, as it was told in most published tests."""
    calibrated_once: Bands
    """Once the engine was moved to one measurement of the same phase, model and accelerator."""
    calibrated_twice: Bands
    """Once it was moved to two or more."""
