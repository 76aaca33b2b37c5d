"""What the full cost adds to a scenario: images and tools of a feature, machines that are bought, power, ranges."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from inferdash.facts.money import carbon
from inferdash.pricing.ranges import Range, read_range
from inferdash.scenario.marks import TOKENS, Choices, Place, clipped
from inferdash.scenario.operation import Operation
from inferdash.validated import Quantity

DETAILS: Final = {"auto": "As the API chooses", "high": "High", "low": "Low"}
"""Id in links -> how closely an API looks at an image."""
RANGED: Final = (
    *("users", "sessions", "volume", "turns", "question", "answer", "reasoning"),
    *("tools_tokens", "system_tokens", "user_tokens", "documents_tokens", "gap", "rent"),
    *("server_usd", "kwh_usd", "people_usd"),
)
"""Fields of a feature that may be a range."""


def _pictured(scenario: "Costs") -> bool:
    return scenario.images > 0


def _heard(scenario: "Costs") -> bool:
    return scenario.sound > 0


def _agent(scenario: "Costs") -> bool:
    return scenario.steps > 1


def _compacted(scenario: "Costs") -> bool:
    return _agent(scenario) and scenario.compact_above > 0


def _searching(scenario: "Costs") -> bool:
    return scenario.searches > 0


def _ranges_of(text: str) -> dict[str, Range]:
    """Name of a field -> its range, of a text such as "users 20k..60k, answer ±20%".

    Raises:
        ValueError: with what is wrong, in words.
    """
    found: dict[str, Range] = {}
    for entry in text.split(","):
        if entry.strip():
            name, _, written = entry.strip().partition(" ")
            if name not in RANGED:
                raise ValueError(f"holds {clipped(name)}, which is none of {', '.join(RANGED)}")
            try:
                found[name] = read_range(written)
            except ValueError as error:
                raise ValueError(f"{error}, for {Costs.model_fields[name].title}") from None
    return found


def _ranges(value: str) -> str:
    try:
        _ranges_of(value)
    except ValueError as error:
        raise PydanticCustomError("plain", "{reason}", {"reason": str(error)}) from None
    return value


class Costs(Operation):
    """The fields of the full cost, on top of those of the other pages. All are off by default."""

    images: Annotated[int, Place("page")] = Field(0, title="Images in each message", ge=0, le=1000)
    """Images that a user attaches; they stay in the history with the message."""
    image_width: Annotated[int, Place("page", _pictured)] = Field(1024, title="Width, pixels", ge=1, le=20_000)
    """Width of each image as sent."""
    image_height: Annotated[int, Place("page", _pictured)] = Field(1024, title="Height, pixels", ge=1, le=20_000)
    """Height of each image as sent."""
    image_detail: Annotated[str, Choices("detail", lambda: DETAILS), Place("page", _pictured)] = Field(
        "auto", title="Detail"
    )
    """How closely the API looks at the image; not every provider has this."""
    image_tokens: Annotated[int, Place("page", _pictured)] = Field(0, title="Tokens per image", ge=0, le=TOKENS)
    """0: by the provider’s rule, where one is known. Enter your own if your API reports another number."""
    sound: Annotated[float, Quantity("s"), Place("page")] = Field(0.0, title="Audio in each message", ge=0, le=86_400)
    """Speech that a user attaches, such as 2 min."""
    sound_tokens: Annotated[float, Place("page", _heard)] = Field(
        0.0, title="Tokens per second of audio", ge=0, le=10_000
    )
    """0: by the provider’s rule, where one is known."""
    steps: Annotated[int, Place("page")] = Field(1, title="Model calls per turn", ge=1, le=200)
    """1: the model answers at once. An agent calls a tool, reads the result and goes on."""
    call_tokens: Annotated[int, Place("page", _agent)] = Field(
        100, title="Output tokens per tool call", ge=0, le=TOKENS
    )
    """Output tokens of each model call but the last."""
    result_tokens: Annotated[int, Place("page", _agent)] = Field(1000, title="Tool result, tokens", ge=0, le=TOKENS)
    """Tokens that each tool returns; they leave the prompt when the turn ends."""
    tool_fee: Annotated[float, Place("page", _agent)] = Field(0.0, title="Fee, $ per 1,000 tool calls", ge=0, le=10_000)
    """What a provider charges for its own tools, such as web search, on top of tokens."""
    compact_above: Annotated[int, Place("page", _agent)] = Field(0, title="Summarize above, tokens", ge=0, le=TOKENS)
    """Prompt length above which an agent summarizes it in a separate call; 0: never."""
    summary_tokens: Annotated[int, Place("page", _compacted)] = Field(1000, title="Summary", ge=1, le=TOKENS)
    """Tokens of each summary."""
    again: Annotated[float, Place("page")] = Field(0.0, title="Retries", ge=0, le=0.9)
    """Share of answers that are requested again because they failed or were no use."""
    accepted: Annotated[float, Place("page")] = Field(1.0, title="Accepted answers", ge=0.01, le=1)
    """Share of answers that are used in the end."""
    searches: Annotated[float, Place("page")] = Field(0.0, title="Searches per turn", ge=0, le=1000)
    """Look-ups in your own documents: each embeds a query and may rerank the results."""
    search_tokens: Annotated[int, Place("page", _searching)] = Field(
        50, title="Tokens embedded per search", ge=0, le=TOKENS
    )
    """Tokens that each search embeds."""
    embed_usd: Annotated[float, Place("page", _searching)] = Field(0.1, title="Embedding, $ per million", ge=0, le=1000)
    """Dollars per million embedded tokens."""
    rerank_usd: Annotated[float, Place("page", _searching)] = Field(
        0.0, title="Reranking, $ per 1,000 searches", ge=0, le=10_000
    )
    """Dollars per thousand searches whose results are reranked."""

    ranges: Annotated[str, AfterValidator(_ranges), Place("page")] = Field("", title="Ranges", max_length=300)
    """Inputs you are not sure of: users 20k..60k, answer ±20%, question 200/400/900 (low, likely, high)."""

    server_usd: Annotated[float, Place("page")] = Field(0.0, title="Price of one GPU with its server, $", ge=0, le=1e7)
    """0: the median published price of the accelerator times 1.35 for its server, as eight H100s are sold."""
    life: Annotated[float, Place("page")] = Field(4.0, title="Life, years", ge=0.5, le=20)
    """Years over which the machines are used and paid off."""
    residual: Annotated[float, Place("page")] = Field(0.15, title="Residual value", ge=0, le=0.95)
    """What they sell for at the end, as a share of the price."""
    interest: Annotated[float, Place("page")] = Field(0.08, title="Interest per year", ge=0, le=1)
    """Cost of the capital tied up in them."""
    upkeep: Annotated[float, Place("page")] = Field(0.05, title="Maintenance per year", ge=0, le=1)
    """Repairs and support, as a share of the price."""
    people_usd: Annotated[float, Place("page")] = Field(0.0, title="Staff, $ per month", ge=0, le=1e8)
    """Cost of the people who run the GPUs, rented or bought, however many there are; an API needs none."""
    colocation_usd: Annotated[float, Place("page")] = Field(
        0.0, title="Colocation, $ per kW per month", ge=0, le=10_000
    )
    """Space, cooling and network; 150 to 250 is usual. If it includes power, set the price of power to 0."""
    kwh_usd: Annotated[float, Place("page")] = Field(0.1, title="Power, $ per kWh", ge=0, le=10)
    """At the meter of the site."""
    site_factor: Annotated[float, Place("page")] = Field(1.6, title="Site power over accelerator power", ge=1, le=5)
    """Adds CPUs, network, losses and cooling to the accelerators. Google counts 1.6 for its own."""
    grid: Annotated[str, Choices("grid", lambda: dict(carbon.names())), Place("page")] = Field("US", title="Grid")
    """Where the power comes from, for its CO2."""

    rpm: Annotated[int, Place("page")] = Field(0, title="Rate limit, requests per minute", ge=0, le=1_000_000_000)
    """The rate limit of your API tier; 0: not known."""
    itpm: Annotated[int, Place("page")] = Field(
        0, title="Rate limit, input tokens per minute", ge=0, le=1_000_000_000_000
    )
    """0: not known. Some providers do not count cached input."""
    otpm: Annotated[int, Place("page")] = Field(
        0, title="Rate limit, output tokens per minute", ge=0, le=1_000_000_000_000
    )
    """0: not known."""

    @property
    def ranged(self) -> dict[str, Range]:
        """Name of a field -> the range that the reader gave it."""
        return _ranges_of(self.ranges)
