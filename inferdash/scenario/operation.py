"""What serving adds to a scenario: who comes when, how replicas work, and what is promised."""

from typing import Annotated, Final, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.scenario.marks import Choices, Place
from inferdash.scenario.topics import Topics
from inferdash.validated import Quantity

PATTERNS: Final = {"random": "At random", "bursts": "In bursts", "day": "Over a day"}
"""Id in links -> how requests come."""
SCHEDULES: Final = {"prompts": "Prompts first", "chunked": "Chunked prefill", "static": "Static"}
"""Id in links -> what a replica runs in its next pass."""
RULES: Final = {"turns": "Each in turn", "least": "Least loaded", "prefix": "Where its prefix is"}
"""Id in links -> which replica a request goes to."""


def _bursts(scenario: "Operation") -> bool:
    return scenario.pattern == "bursts"


def _replicas(scenario: "Operation") -> bool:
    return scenario.replicas > 1


def _swapped(scenario: "Operation") -> bool:
    return scenario.preemption == "swap"


def _prefixes(scenario: "Operation") -> bool:
    return scenario.found_share > 0


class Operation(Topics):
    """The fields of serving over time and of the plan, on top of those of the other pages."""

    load: Annotated[float, Place("page")] = Field(8.0, title="Load, requests per second", ge=0.01, le=100_000)
    """Requests that come in a second, on average."""
    pattern: Annotated[str, Choices("way to come", lambda: PATTERNS), Place("page")] = Field(
        "random", title="Requests come"
    )
    """At random and on their own; in bursts; or over a day whose busiest hour has 2.5 times the mean, pressed into the
    simulated time."""
    burstiness: Annotated[float, Place("page", _bursts)] = Field(3.0, title="Variation of the gaps", ge=1, le=10)
    """Standard deviation of the time between requests over its mean: 1 is at random."""
    length_spread: Annotated[float, Place("page")] = Field(1.0, title="Spread of the lengths", ge=1, le=5)
    """Factor around the prompt and the answer within which two of three requests lie; 1: all are as long."""
    simulated: Annotated[int, Place("page")] = Field(2000, title="Requests simulated", ge=200, le=100_000)
    """The first tenth is a warm-up. A percentile is shown where at least 10 requests lie beyond it."""
    seed: Annotated[int, Place("page")] = Field(0, title="Seed", ge=0, le=1_000_000)
    """The same seed gives the same requests."""

    schedule: Annotated[str, Choices("way to batch", lambda: SCHEDULES), Place("page")] = Field(
        "prompts", title="Batching"
    )
    """Prompts in a pass of their own before the next tokens; in chunks beside them; or batches that start together."""
    places: Annotated[int, Place("page")] = Field(256, title="Batch limit", ge=1, le=4096)
    """Requests that a replica has in its batch at most."""
    pass_tokens: Annotated[int, Place("page")] = Field(8192, title="Tokens of a pass", ge=1, le=131_072)
    """Positions of a pass that reads prompts, at most; longer prompts are read in chunks."""
    preemption: Annotated[
        str, Choices("way", lambda: {"recompute": "Read again", "swap": "Moved out and in"}), Place("page")
    ] = Field("recompute", title="Put back when the cache is full")
    """What becomes of the cache of a request that makes room for older ones."""
    host_bandwidth: Annotated[float, Quantity("B/s"), Place("page", _swapped)] = Field(
        63e9, title="Bandwidth to the host", ge=1e6, le=1e15
    )
    """Between a GPU and the host’s memory, one way: 63 GB/s are 16 lanes of PCIe 5.0."""
    found_share: Annotated[float, Place("page")] = Field(0.0, title="Prompt found in the cache", ge=0, le=0.99)
    """Share of each prompt whose keys and values a cache of prefixes has already: it is not run again."""
    prefixes: Annotated[int, Place("page", _prefixes)] = Field(1, title="Different prefixes", ge=1, le=100_000)
    """Sessions or prompts that requests share. A replica finds a prefix once it was there."""
    replicas: Annotated[int, Place("page")] = Field(1, title="Replicas", ge=1, le=64)
    """Copies of the model, each on the GPUs of the scenario."""
    rule: Annotated[str, Choices("rule", lambda: RULES), Place("page", _replicas)] = Field(
        "least", title="A request goes to"
    )
    """Which replica serves it."""
    speed: Annotated[str, Choices("speed", lambda: {"expected": "Expected", "limit": "Limit"}), Place("page")] = Field(
        "expected", title="Passes take"
    )
    """What engines were measured to reach, or the limit of the datasheet."""

    target_first: Annotated[float, Quantity("s"), Place("page")] = Field(
        1.0, title="Target for the first token", ge=1e-3, le=86_400
    )
    """Time to first token that a request should not exceed, such as 800 ms."""
    target_between: Annotated[float, Quantity("s"), Place("page")] = Field(
        0.05, title="Target between tokens", ge=1e-4, le=3600
    )
    """Inter-token latency that a request should not exceed, such as 30 ms."""

    @model_validator(mode="after")
    def _chunks(self) -> Self:
        if self.schedule == "chunked" and self.pass_tokens <= self.places:
            raise PydanticCustomError(
                "fields",
                "do not fit together: a pass has more tokens than the batch limit, or none is left for prompts",
                {"fields": ("pass_tokens", "places")},
            )
        return self
