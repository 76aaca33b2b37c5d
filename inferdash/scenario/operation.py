"""What serving adds to a scenario: who comes when, how replicas work, and what is promised."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import library
from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.models.precision import FILES, PRECISIONS
from inferdash.scenario.agents import SESSIONS
from inferdash.scenario.further import Further
from inferdash.scenario.marks import AUTO, Choices, Place, Several, clipped, names_of
from inferdash.validated import Quantity

PATTERNS: Final = {"random": "At random", "bursts": "In bursts", "day": "Over a day", SESSIONS: "Agent sessions"}
"""Id in links -> how requests come."""
SCHEDULES: Final = {"prompts": "Prompts first", "chunked": "Chunked prefill", "static": "Static"}
"""Id in links -> what a replica runs in its next pass."""
LOADS: Final = {"requests": "Requests/s", "users": "Users"}
"""Id in links -> how the load of a plan is said."""
ACCELERATORS: Final = Choices("accelerator", lambda: names_of(library.accelerators()))
CHOSEN: Final = "chosen"
"""Id of the scenario's own format among those that a plan tries."""
ON_LOADING: Final = "on-loading"
"""Id of the format to which an engine takes a model of 16 bits while it loads it."""
FORMATS: Final = Choices(
    "number format",
    lambda: (
        {FILES: "As published", CHOSEN: "The scenario’s", ON_LOADING: "fp8 on loading, from 16 bits"}
        | {key: one.name for key, one in PRECISIONS.items() if key != FILES}
    ),
)
_LEAST_RENT: Final = 0.01
_MOST_RENT: Final = 1000
_SIXTEEN: Final = 16
"""Bits of a number that an engine can take to fp8 while it loads the model."""
CONFIDENCE: Final = {"even": "As expected", "80": "80% confidence", "95": "95% confidence"}
"""Id in links -> how surely a plan holds its targets."""
RULES: Final = {"turns": "Round robin", "least": "Least loaded", "prefix": "Prefix aware"}
"""Id in links -> which replica a request goes to."""


def _bursts(scenario: "Operation") -> bool:
    return scenario.pattern == "bursts"


def _replicas(scenario: "Operation") -> bool:
    return scenario.replicas > 1 or scenario.sharing.data > 1 or scenario.disaggregated


def _together(scenario: "Operation") -> bool:
    return not scenario.disaggregated


def _swapped(scenario: "Operation") -> bool:
    return scenario.preemption == "swap" or scenario.host_memory > 0


def _prefixes(scenario: "Operation") -> bool:
    return scenario.found_share > 0


def _expected(scenario: "Operation") -> bool:
    return scenario.speed == "expected"


def _users(scenario: "Operation") -> bool:
    return scenario.load_as == "users"


def _pairs(text: str) -> Iterator[tuple[str, float]]:
    """The ids and prices of a list such as "h100-sxm 2.5, b200-sxm 4.9".

    Raises:
        ValueError: where a part is no such pair.
    """
    for part in text.split(","):
        if part.strip():
            name, price = part.split()
            yield name, float(price)


def _rents(value: str) -> str:
    try:
        found = dict(_pairs(value))
    except ValueError:
        raise PydanticCustomError("plain", "is not a list of accelerators and dollars such as h100-sxm 2.5") from None
    unknown = next((name for name in found if name not in library.accelerators()), None)
    if unknown is not None:
        raise PydanticCustomError("plain", "holds {one}, which is no known accelerator", {"one": clipped(unknown)})
    if not all(_LEAST_RENT <= price <= _MOST_RENT for price in found.values()):
        raise PydanticCustomError("plain", "holds a rent that is not from $0.01 to $1,000 an hour")
    return value


class Operation(Further):
    """The fields of serving over time and of the plan, on top of those of the other pages."""

    load: Annotated[float, Place("page", step=1.0)] = Field(8.0, title="Load, requests/s", ge=0.01, le=100_000)
    """Requests that arrive per second, on average."""
    pattern: Annotated[str, Choices("way to come", lambda: PATTERNS), Place("page")] = Field(
        "random", title="Arrival pattern"
    )
    """At random (Poisson); in bursts; over an example day whose busiest hour has twice the mean, compressed
    into the simulated time; or as the requests of agents, each some time after the answer before it."""
    burstiness: Annotated[float, Place("page", _bursts)] = Field(3.0, title="Burstiness", ge=1, le=10)
    """Standard deviation of the time between requests over its mean: 1 is Poisson."""
    length_spread: Annotated[float, Place("page")] = Field(1.0, title="Spread of lengths", ge=1, le=5)
    """Two of three prompts and answers lie within this factor of the middle; 1: all are equally long."""
    simulated: Annotated[int, Place("page")] = Field(2000, title="Requests simulated", ge=200, le=100_000)
    """After a warm-up of three times a request’s stay. A percentile needs at least 10 requests beyond it."""
    seed: Annotated[int, Place("page")] = Field(0, title="Seed", ge=0, le=1_000_000)
    """The same seed gives the same requests."""

    schedule: Annotated[str, Choices("way to batch", lambda: SCHEDULES), Place("page", _together)] = Field(
        "prompts", title="Batching"
    )
    """Prompts in passes of their own, before decodes; in chunks alongside decodes; or batches that start together."""
    places: Annotated[int, Place("page")] = Field(256, title="Batch limit", ge=1, le=4096)
    """Most requests in the batch of a replica."""
    pass_tokens: Annotated[int, Place("page")] = Field(8192, title="Tokens per pass", ge=128, le=131_072)
    """Most tokens in a prefill pass; longer prompts are split into chunks."""
    preemption: Annotated[str, Choices("way", lambda: {"recompute": "Recompute", "swap": "Swap"}), Place("page")] = (
        Field("recompute", title="Preemption when the cache is full")
    )
    """The cache of a request that makes room for older ones is computed again, or moved to the host and back."""
    host_bandwidth: Annotated[float, Quantity("B/s"), Place("page", _swapped)] = Field(
        63e9, title="Host bandwidth", ge=1e6, le=1e15
    )
    """Between a GPU and the host’s memory, one way: 63 GB/s is PCIe 5.0 ×16."""
    found_share: Annotated[float, Place("page")] = Field(0.0, title="Prefix cache hit share", ge=0, le=0.99)
    """Share of each prompt that is already in the prefix cache and not computed again."""
    prefixes: Annotated[int, Place("page", _prefixes)] = Field(1, title="Different prefixes", ge=1, le=100_000)
    """Sessions or prompts that requests share. A replica has a prefix cached once it has seen it."""
    replicas: Annotated[int, Place("page")] = Field(1, title="Replicas", ge=1, le=1024)
    """Copies of the model, each on its own GPUs. With prefill apart: the decode workers."""
    rule: Annotated[str, Choices("rule", lambda: RULES), Place("page", _replicas)] = Field("least", title="Routing")
    """Which replica gets a request."""
    speed: Annotated[str, Choices("speed", lambda: {"expected": "Expected", "limit": "Limit"}), Place("page")] = Field(
        "expected", title="Show"
    )
    """Expected: what engines are measured to reach, with their memory and layout. Limit: the datasheet’s best."""

    target_first: Annotated[float, Quantity("s"), Place("page")] = Field(
        1.0, title="Target time to first token", ge=1e-3, le=86_400
    )
    """Time to first token (TTFT) that requests should stay within, such as 800 ms."""
    target_between: Annotated[float, Quantity("s", usual="ms"), Place("page")] = Field(
        0.05, title="Target inter-token latency", ge=1e-4, le=3600
    )
    """Time between output tokens that requests should stay within, such as 30 ms."""

    confidence: Annotated[str, Choices("confidence", lambda: CONFIDENCE), Place("page", _expected)] = Field(
        "even", title="Hold the targets"
    )
    """As expected: about as many set-ups turn out slower as faster. 80% or 95%: with passes and first tokens as much
    slower as that share of measurements stayed within."""

    load_as: Annotated[str, Choices("way to say the load", lambda: LOADS), Place("page")] = Field(
        "requests", title="Load as"
    )
    """Requests per second, or concurrent users who each send one now and then."""
    active_users: Annotated[int, Place("page", _users)] = Field(1000, title="Concurrent users", ge=1, le=1_000_000_000)
    """Active users in the busiest hour, not everyone with an account."""
    think: Annotated[float, Quantity("s"), Place("page", _users)] = Field(
        60.0, title="Time between a user’s requests", ge=0.1, le=86_400
    )
    """From one request to the user’s next, such as 60 s."""
    considered: Annotated[tuple[str, ...], Several(ACCELERATORS, most=99), Place("page")] = Field(
        ("h100-sxm", "h200-sxm", "b200-sxm", "a100-80gb-sxm", "l40s", "mi300x"), title="Accelerators to consider"
    )
    """Each needs a rent: the median of published quotes, or yours."""
    formats: Annotated[tuple[str, ...], Several(FORMATS, most=15), Place("page")] = Field(
        ("bf16", "fp8"), title="Weight precisions to consider"
    )
    """As published, the scenario’s, and others. Fewer bits may lower the quality of answers: test it."""
    own_rents: Annotated[str, AfterValidator(_rents), Place("page")] = Field("", title="Your rents", max_length=500)
    """Dollars per GPU-hour in place of the quotes: h100-sxm 2.5, b200-sxm 4.9."""
    most_gpus: Annotated[int, Place("page")] = Field(1024, title="Most GPUs", ge=1, le=100_000)
    """Most GPUs of one kind that you can get."""

    @property
    def demand_per_s(self) -> float:
        """Requests a second that come."""
        return self.load if self.load_as == "requests" else self.active_users / self.think

    @property
    def shown(self) -> Self:
        """What the reader wants to see of the two: what is expected, or the limit."""
        return self.limit if self.speed == "limit" else self.run

    @property
    def subject(self) -> str:
        """The scenario in a line, with the layout of what is shown."""
        return super(Operation, self.shown).subject

    @property
    def served(self) -> Self:
        """The same as it is served over time: an engine is started for the batch limit.

        Where prefill and decode are apart no worker has passes of both to order, so that no way to batch counts.
        """
        changed: dict[str, Any] = {"schedule": "prompts"} if self.disaggregated else {}
        if self.speed != "limit" and self.memory_of == AUTO and self.max_num_seqs is None:
            changed["max_num_seqs"] = self.places
        return self.shown.model_copy(update=changed)

    @property
    def tried(self) -> tuple[str, ...]:
        """Ids of the number formats that a plan tries, each once."""
        made = self.architecture.weights
        wide = in_model(PRECISIONS[made], self.architecture).matrix_bits >= _SIXTEEN
        ids = {FILES: (made,), CHOSEN: (self.format,), ON_LOADING: ("fp8",) if wide else ()}
        return tuple(dict.fromkeys(key for name in self.formats for key in ids.get(name, (name,))))

    @property
    def rents(self) -> dict[str, float]:
        """Id of an accelerator -> dollars an hour that the reader entered."""
        return dict(_pairs(self.own_rents))

    @model_validator(mode="after")
    def _chunks(self) -> Self:
        if self.schedule == "chunked" and not self.disaggregated and self.pass_tokens <= self.places:
            raise PydanticCustomError(
                "fields",
                "do not fit together: a pass has more tokens than the batch limit, or none is left for prompts",
                {"fields": ("pass_tokens", "places")},
            )
        return self
