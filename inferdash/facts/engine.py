"""An engine as what it was measured to reach of the datasheet, and the time that it adds."""

from typing import Annotated, TypeAlias

from pydantic import Field, NonNegativeInt, PositiveFloat, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts.accelerator import Family
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
    """Of a batch of whole requests, prompts and answers."""

    @model_validator(mode="after")
    def _ordered(self) -> "Bands":
        if any(low > high for low, high in (self.decode, self.prefill, self.serving)):
            raise PydanticCustomError("band", "a band starts with its lower factor")
        return self


class Reach(Validated):
    """What programs reach on a family of accelerators."""

    bandwidth_share: Share
    """Of the datasheet's bandwidth, while a pass loads."""
    bandwidth_ceiling: BytesPerSecond | None = None
    """Bytes a second that the kernels come close to on no accelerator, however fast; absent where none was seen."""
    arithmetic_share: Share
    """Of the dense peak, `peak_factor` times, while it multiplies with the parameters."""
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
    vector_trips: PositiveFloat
    """Times that the vector of a position goes to memory or comes from it in a layer."""
    experts_loading: PositiveFloat
    """On the time of loading that comes on top of the datasheet's, where the model has experts."""
    experts_factor: PositiveFloat
    """On the time of a layer, where the model has experts."""
    stage: Seconds = Field(ge=0)
    """That a pass waits between two groups of layers."""
    server: Seconds = Field(ge=0)
    """That a server adds to the time to first token."""
    chunk: NonNegativeInt = 8192
    """Positions that it puts into one pass of a prefill at most."""
    calibrated_once: Bands
    """Once the engine was moved to one measurement of the same phase, model and accelerator."""
    calibrated_twice: Bands
    """Once it was moved to two or more."""
