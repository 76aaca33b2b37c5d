"""Everything a person can turn, in one frozen model.

A field is declared once: its name is the link's parameter and the widget's key, its title is the label, the string
below it is the help, its bounds hold for the link and the widget alike.
"""

import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function

from inferdash.facts import huggingface, library, prices
from inferdash.facts.accelerator import Accelerator
from inferdash.facts.architecture import Architecture, Blocks
from inferdash.facts.huggingface import UnreadConfigError
from inferdash.facts.precision import CACHE_PRECISIONS, PRECISIONS
from inferdash.layers.feed_forward import GatedFeedForward
from inferdash.layers.grouped import GroupedAttention
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.memory import usable_memory
from inferdash.physics.parallelism import EVEN, Layout
from inferdash.validated import Quantity, Validated

OWN: Final = "own"
"""Id of the reader's own model or accelerator, whose figures are fields of the scenario."""
SHARE: Final = "share"
"""Id of a draft model that is a share of the large one."""

CONFIG: Final = "config"
"""Id of a model that the reader's config.json describes; its fields are a field of the scenario."""

_LONGEST_LIST: Final = 1000
_JOINER: Final = "\N{ZERO WIDTH JOINER}"
"""Makes one sign of several, such as a family."""
_LONGEST_ANSWER: Final = 100_000
_LARGEST_NUMBER: Final = 1e12
"""Of a list that the reader enters."""

Group: TypeAlias = Literal["model", "accelerator", "workload", "page"]


@dataclass(frozen=True)
class Choices:
    """Marks a field that takes one of a number of ids; `names` gives id -> name."""

    what: str
    names: Callable[[], Mapping[str, str]]
    quick: frozenset[str] = frozenset()
    """Ids that are known without asking for all names, which may take long."""

    def known(self, value: str) -> str:
        """`value`, if it is one of the ids.

        Raises:
            PydanticCustomError: names what it should have been.
        """
        if value not in self.quick and value not in self.names():
            raise PydanticCustomError("choice", "is not a known {what}", {"what": self.what})
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self.known, handler(source))


def _names(facts: Mapping[str, Any]) -> dict[str, str]:
    return {key: fact.name for key, fact in facts.items()}


def _plain_text(value: str) -> str:
    """One line of text: any white space is a space, and marks that only steer the line's layout are left out."""
    if any(unicodedata.category(c) in {"Cc", "Cs"} for c in value):
        raise PydanticCustomError("plain", "holds characters that cannot be shown")
    line = "".join(" " if c.isspace() else c for c in value if c.isprintable() or c.isspace() or c == _JOINER)
    return " ".join(line.split())


CHANGES: Final = {
    "release": "with a release",
    "user": "with the user",
    "conversation": "with the conversation",
    "request": "with each request",
}
"""Id in links -> how often a part of a prompt changes, the rarest first."""
HOW_OFTEN: Final = Choices("rhythm of change", lambda: CHANGES)
PARTS: Final = {"t": "tools", "s": "system turn", "u": "user", "d": "documents", "q": "question"}
"""Letter in links -> part of a prompt."""


def _permutation(value: str) -> str:
    if sorted(value) != sorted(PARTS):
        raise PydanticCustomError("plain", f"is not an order of the letters {', '.join(PARTS)}")
    return value


def numbers_in(text: str) -> list[float]:
    """The numbers of a list such as "500, 63x50": 500 once and 50 sixty-three times.

    Raises:
        ValueError: where a part is no number, or the list is too long.
    """
    found: list[float] = []
    for part in text.replace(";", ",").split(","):
        count, times, number = part.strip().rpartition("x")
        found += [float(number)] * (int(count) if times else 1)
        if len(found) > _LONGEST_LIST or not math.isfinite(found[-1]):
            raise ValueError(text)
    return found


def _numbers(value: str) -> str:
    try:
        numbers = numbers_in(value)
    except (ValueError, IndexError, OverflowError):
        raise PydanticCustomError("plain", "is not a list of numbers with commas between them") from None
    if not all(number == 0 or 1 / _LARGEST_NUMBER <= abs(number) <= _LARGEST_NUMBER for number in numbers):
        raise PydanticCustomError("plain", "holds a number beyond a trillion, or one nearer to 0 than its inverse")
    return value


def _whole_numbers(value: str) -> str:
    if not all(number == int(number) and 1 <= number <= _LONGEST_ANSWER for number in numbers_in(_numbers(value))):
        raise PydanticCustomError("plain", "is not a list of whole numbers from 1 to 100,000")
    return value


_API_PROVIDERS: Final = ("anthropic", "openai", "google", "deepseek", "mistral", "moonshotai", "x-ai", "zai", "groq")


@cache
def _apis() -> dict[str, str]:
    return {
        f"{provider}/{key}": f"{name} ({prices.providers()[provider]})"
        for provider in _API_PROVIDERS
        for key, name in prices.models(provider).items()
    }


def _day(value: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise PydanticCustomError("plain", "is not a day such as 2026-11-29") from None


@cache
def _read_config(value: str) -> Architecture:
    return huggingface.read(huggingface.parse(value)).architecture


def _model_config(value: str) -> str:
    try:
        if value:
            _read_config(value)
    except UnreadConfigError as error:
        reason = str(error).removesuffix(".")
        raise PydanticCustomError("plain", "{reason}", {"reason": f"cannot be used: {reason}"}) from None
    return value


@dataclass(frozen=True)
class Place:
    """Where a field stands on the page, and when it counts at all."""

    group: Group
    counts_if: Callable[["Scenario"], bool] = lambda _: True
    """Whether the field says anything in a scenario; where it does not, links leave it out."""


def _own_model(scenario: "Scenario") -> bool:
    return scenario.model == OWN


def _own_config(scenario: "Scenario") -> bool:
    return scenario.model == CONFIG


def _own_prices(scenario: "Scenario") -> bool:
    return scenario.api == OWN


def _of_api(scenario: "Scenario") -> bool:
    return scenario.api != OWN


def _share_draft(scenario: "Scenario") -> bool:
    return scenario.draft == SHARE


def _several(scenario: "Scenario") -> bool:
    return scenario.gpus > 1


def _mixed(scenario: "Scenario") -> bool:
    return scenario.gpus > 1 and scenario.layout == "mixed"


def _as_engine(scenario: "Scenario") -> bool:
    return scenario.memory_of == "engine"


OWN_MODEL: Final = Place("model", _own_model)
OWN_PRICES: Final = Place("page", _own_prices)
_TOKENS: Final = 10_000_000


class Scenario(Validated):
    """A model, an accelerator, a workload. The defaults are the chapter's example."""

    title: Annotated[str, AfterValidator(_plain_text), Place("page")] = Field("", title="Title", max_length=80)
    """A line of your own above the page, shown to whoever opens the link."""

    model: Annotated[
        str,
        Choices("model", lambda: _names(library.models()) | {OWN: "Own dense model", CONFIG: "Own config.json"}),
        Place("model"),
    ] = Field("llama-3-8b", title="Model")
    """The model that answers. The page “Model” has them all in a table, and reads a config.json."""
    config: Annotated[str, AfterValidator(_model_config), Place("page", _own_config)] = Field(
        "", title="Fields of config.json", max_length=8000
    )
    """The fields of a config.json from which the model follows, where it is no preset."""
    layers: Annotated[int, OWN_MODEL] = Field(32, title="Layers", ge=1, le=10_000)
    """Blocks of the own model, one after another."""
    hidden: Annotated[int, OWN_MODEL] = Field(4096, title="Hidden size", ge=1, le=1_000_000)
    """Numbers in the vector of a position."""
    heads: Annotated[int, OWN_MODEL] = Field(32, title="Query heads", ge=1, le=10_000)
    """Heads of queries in a block."""
    kv_heads: Annotated[int, OWN_MODEL] = Field(8, title="Key-value heads", ge=1, le=10_000)
    """Heads of keys and values in a block; they divide the heads of queries evenly."""
    head_dim: Annotated[int, OWN_MODEL] = Field(128, title="Head size", ge=1, le=100_000)
    """Numbers in one key, value or query."""
    feed_forward: Annotated[int, OWN_MODEL] = Field(14_336, title="Feed-forward width", ge=1, le=10_000_000)
    """Numbers in the inner vector of the gated feed-forward network."""
    vocabulary: Annotated[int, OWN_MODEL] = Field(128_256, title="Vocabulary", ge=1, le=10_000_000)
    """Tokens that the model knows."""
    tied: Annotated[bool, OWN_MODEL] = Field(default=False, title="Tied embeddings")
    """Whether the output layer is the input embedding, stored once."""
    weights: Annotated[
        str, Choices("number format", lambda: {key: p.name for key, p in PRECISIONS.items()}), Place("model")
    ] = Field("bf16", title="Weight precision")
    """Number format of the parameters. The page “Quantization” says what each takes."""
    kv: Annotated[
        str, Choices("number format", lambda: {key: p.name for key, p in CACHE_PRECISIONS.items()}), Place("model")
    ] = Field("bf16", title="KV cache precision")
    """Number format of the keys and values in the cache: bf16 takes 2 bytes each, fp8 takes 1."""

    accelerator: Annotated[
        str,
        Choices("accelerator", lambda: _names(library.accelerators()) | {OWN: "Own accelerator"}),
        Place("accelerator"),
    ] = Field("h100-sxm", title="Accelerator")
    """The chip that runs the model."""
    gpus: Annotated[int, Place("accelerator")] = Field(1, title="GPUs", ge=1, le=1024)
    """Accelerators that work together. “Parallelism” says how, and whether time on the link between them counts."""
    memory: Annotated[float | None, Quantity("B"), Place("accelerator")] = Field(None, title="Memory", ge=1e6, le=1e15)
    """Of one accelerator, such as 80 GB or 96 GiB. Empty: the datasheet's."""
    bandwidth: Annotated[float | None, Quantity("B/s"), Place("accelerator")] = Field(
        None, title="Memory bandwidth", ge=1e6, le=1e18
    )
    """Of one accelerator, such as 3.35 TB/s. Empty: the datasheet's."""
    peak: Annotated[float | None, Quantity("FLOP/s"), Place("accelerator")] = Field(
        None, title="Dense peak", ge=1e6, le=1e21
    )
    """Matrix arithmetic of one accelerator without sparsity, such as 989 TFLOP/s. Empty: the datasheet's."""

    layout: Annotated[
        str,
        Choices(
            "way to share the work",
            lambda: {
                "even": "Evenly, link not counted",
                "tensor": "Tensor parallel",
                "expert": "Data parallel, experts spread",
                "pipeline": "Pipeline parallel",
                "data": "Data parallel",
                "mixed": "Mixed",
            },
        ),
        Place("accelerator", _several),
    ] = Field("even", title="Parallelism")
    """How the GPUs share the model: evenly as an ideal, or in one of the ways that engines have, the link counted."""
    tensor_parallel: Annotated[int, Place("accelerator", _mixed)] = Field(1, title="Tensor parallel", ge=1, le=64)
    """GPUs that share each matrix."""
    pipeline_parallel: Annotated[int, Place("accelerator", _mixed)] = Field(1, title="Pipeline parallel", ge=1, le=64)
    """Groups of GPUs that share the layers. What is left of the GPUs is data parallel."""
    expert_parallel: Annotated[bool, Place("accelerator", _mixed)] = Field(default=False, title="Spread the experts")
    """Whether the experts of a layer are divided over all GPUs that hold it."""

    prompt: Annotated[int, Place("workload")] = Field(1024, title="Prompt tokens", ge=1, le=_TOKENS)
    """Tokens of the prompt of each request."""
    answer: Annotated[int, Place("workload")] = Field(256, title="Answer tokens", ge=1, le=_TOKENS)
    """Tokens that the model writes for each request, the end token included."""
    batch: Annotated[int, Place("workload")] = Field(1, title="Batch", ge=1, le=1_000_000)
    """Requests that one pass of the decode writes a token for."""

    output_layer: Annotated[
        str,
        Choices("way to count", lambda: {"every": "For every token", "last": "For the last token"}),
        Place("page"),
    ] = Field("every", title="Output layer in the prefill")
    """It gives the next token. The chapter counts it for every prompt token; engines run it for the last one only."""
    queue: Annotated[float, Quantity("s"), Place("page")] = Field(0.0, title="Queue time", ge=0, le=86_400)
    """Time from sending a request until its prefill starts, such as 200 ms."""
    network: Annotated[float, Quantity("s"), Place("page")] = Field(0.0, title="Network time", ge=0, le=86_400)
    """Time that the request and its first token spend on the way, such as 50 ms."""
    reasoning: Annotated[int, Place("page")] = Field(0, title="Hidden reasoning tokens", ge=0, le=_TOKENS)
    """Tokens that a reasoning model writes before its answer and that the API does not show."""

    draft: Annotated[
        str,
        Choices("draft model", lambda: {SHARE: "A scaled-down copy"} | _names(library.models())),
        Place("page"),
    ] = Field(SHARE, title="Draft model")
    """The small model that proposes tokens."""
    draft_share: Annotated[float, Place("page", _share_draft)] = Field(0.1, title="Size of the draft", ge=0, le=1)
    """Parameters, cache and time of a pass of the draft model, as a share of the large model's."""
    draft_tokens: Annotated[int, Place("page")] = Field(4, title="Proposed tokens", ge=1, le=16)
    """Tokens that the draft model proposes before each verification step."""
    acceptance: Annotated[float, Place("page")] = Field(0.8, title="Acceptance", ge=0, le=1)
    """Share of proposals, one after another, that the large model would have written too."""

    proposal: Annotated[
        str,
        Choices("proposal", lambda: {"both": "Both right", "first": "Second wrong", "none": "Both wrong"}),
        Place("page"),
    ] = Field("both", title="In the example, the draft model proposes")
    """Two tokens that the draft model of the chapter's example proposes."""

    memory_of: Annotated[
        str,
        Choices("view of the memory", lambda: {"datasheet": "Datasheet", "engine": "As an engine uses it"}),
        Place("page"),
    ] = Field("datasheet", title="Memory counts as")
    """The datasheet's memory whole, or what an engine has of it for parameters and caches."""
    engine_share: Annotated[float, Place("page", _as_engine)] = Field(0.9, title="Engine’s share", ge=0.1, le=1)
    """Share of the memory that the engine takes."""
    activations: Annotated[float, Quantity("B"), Place("page", _as_engine)] = Field(
        5.56 * 2**30, title="Activations", ge=0, le=1e13
    )
    """Of one GPU, such as 5.56 GiB, the median of seven starts of vLLM on an H100, which had 2.12 to 7.38 GiB."""
    overhead: Annotated[float, Quantity("B"), Place("page", _as_engine)] = Field(
        0.14 * 2**30, title="Outside the engine", ge=0, le=1e13
    )
    """Of one GPU: what libraries keep outside the engine's own allocator, 0.13 to 0.55 GiB in the same starts."""
    weight_memory: Annotated[float | None, Quantity("B"), Place("page", _as_engine)] = Field(
        None, title="Parameters in memory", ge=1e6, le=1e16
    )
    """On all GPUs together, as your engine logs them. Empty: the bytes of the format."""

    grid_prompt: Annotated[int, Place("page")] = Field(8, title="Prompt tokens in the grid", ge=1, le=64)
    """Tokens of the prompt in the small picture; 8 are those of the chapter's example."""
    grid_answer: Annotated[int, Place("page")] = Field(3, title="Answer tokens in the grid", ge=1, le=64)
    """Tokens that the small picture writes, one in each pass."""

    first_prompt: Annotated[str, AfterValidator(_plain_text), Place("page")] = Field(
        "The ride of 3 km cost $", title="Cached prompt", max_length=200
    )
    """A prompt whose tokens are in the cache. It is split at spaces and signs, near what a tokenizer does."""
    second_prompt: Annotated[str, AfterValidator(_plain_text), Place("page")] = Field(
        "The ride of 2 km cost $", title="New prompt", max_length=200
    )
    """It reuses the cached prompt up to the first token that differs."""
    tools_tokens: Annotated[int, Place("page")] = Field(2000, title="Tools", ge=0, le=_TOKENS)
    """Tokens that describe tools."""
    tools_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("release", title="Tools change")
    """How often this part is another one."""
    system_tokens: Annotated[int, Place("page")] = Field(500, title="System turn", ge=0, le=_TOKENS)
    """Tokens of the system turn."""
    system_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("release", title="System turn changes")
    """How often this part is another one."""
    user_tokens: Annotated[int, Place("page")] = Field(200, title="Facts about the user", ge=0, le=_TOKENS)
    """Tokens of what is known about the user."""
    user_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("user", title="Facts about the user change")
    """How often this part is another one."""
    documents_tokens: Annotated[int, Place("page")] = Field(8000, title="Documents", ge=0, le=_TOKENS)
    """Tokens of documents."""
    documents_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("conversation", title="Documents change")
    """How often this part is another one."""
    question_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("request", title="Question changes")
    """How often this part is another one."""
    order: Annotated[str, AfterValidator(_permutation), Place("page")] = Field("tusdq", title="Order of the parts")
    """The parts from first to last: t tools, s system turn, u user, d documents, q question."""
    input_usd: Annotated[float, OWN_PRICES] = Field(2.0, title="Input price, $ per million", ge=0, le=10_000)
    """Dollars for a million input tokens."""
    output_usd: Annotated[float, OWN_PRICES] = Field(10.0, title="Output price, $ per million", ge=0, le=10_000)
    """Dollars for a million output tokens."""
    read: Annotated[float, OWN_PRICES] = Field(0.1, title="Cache-read price, × input", ge=0, le=0.99)
    """Price of a token read from the cache, as a multiple of the price of an input token."""
    write: Annotated[float, OWN_PRICES] = Field(1.25, title="Cache-write price, × input", ge=1, le=10)
    """Price of a token stored in the cache, as a multiple of the price of an input token."""
    shared: Annotated[int, Place("page")] = Field(10_000, title="Shared prefix, tokens", ge=1, le=_TOKENS)
    """Tokens at the start of each prompt that are the same, such as the system turn."""
    question: Annotated[int, Place("page")] = Field(100, title="Question, tokens", ge=0, le=_TOKENS)
    """Tokens of each prompt after the shared prefix."""
    requests: Annotated[int, Place("page")] = Field(10, title="Requests", ge=1, le=1_000_000_000)
    """Requests with the same prefix, the one that writes it to the cache included."""
    lifetime: Annotated[float, Quantity("s"), OWN_PRICES] = Field(300.0, title="Cache lifetime", ge=1, le=31_536_000)
    """How long the cache keeps a prefix, such as 5 min or 1 h."""
    renewed: Annotated[bool, OWN_PRICES] = Field(default=True, title="Each use renews the lifetime")
    """Whether a read starts the lifetime again."""
    arrivals: Annotated[
        str,
        Choices("kind of arrivals", lambda: {"fixed": "Fixed intervals", "random": "Random times"}),
        Place("page"),
    ] = Field("fixed", title="Requests come at")
    """At a fixed interval, or at random times with that mean interval (Poisson)."""
    interval: Annotated[float, Quantity("s"), Place("page")] = Field(
        60.0, title="Time between requests", ge=0.001, le=31_536_000
    )
    """Time between two requests with the same prefix, on average."""
    increment: Annotated[int, OWN_PRICES] = Field(1, title="Cached in steps of, tokens", ge=1, le=1_000_000)
    """An API may reuse a prefix only up to multiples of this many tokens."""
    minimum: Annotated[int, OWN_PRICES] = Field(0, title="Shortest cached prefix, tokens", ge=0, le=1_000_000)
    """An API may store no prefix shorter than this."""

    api: Annotated[
        str,
        Choices("API model", lambda: _apis() | {OWN: "Own prices and rules"}, quick=frozenset({OWN})),
        Place("page"),
    ] = Field(OWN, title="API model")
    """A provider's model, with its prices and its rules of caching, or the prices and rules of the page above."""
    prices: Annotated[str, AfterValidator(_day), Place("page", _of_api)] = Field(
        "2026-11-29", title="Prices of", max_length=10
    )
    """The day of the prices, as 2026-11-29. A link keeps it."""
    users: Annotated[int, Place("page")] = Field(40_000, title="Users", ge=1, le=1_000_000_000)
    """People who use the feature."""
    sessions: Annotated[float, Place("page")] = Field(0.2, title="Sessions of a user a day", ge=0, le=1000)
    """On average over all users and all days."""
    turns: Annotated[int, Place("page")] = Field(6, title="Turns of a session", ge=1, le=500)
    """Messages that a user sends in one session."""
    gap: Annotated[float, Quantity("s"), Place("page")] = Field(60.0, title="Time between turns", ge=0.1, le=86_400)
    """The median: half of the turns come sooner."""
    spread: Annotated[float, Place("page")] = Field(3.0, title="Spread of that time", ge=1, le=10)
    """Two thirds of the times lie between the median divided by this and times this."""
    history: Annotated[int, Place("page")] = Field(50_000, title="History kept, tokens", ge=0, le=_TOKENS)
    """Earlier messages and answers in a prompt at most; what is older is cut off."""
    user_price: Annotated[float, Place("page")] = Field(0.0, title="Price for a user, $ a month", ge=0, le=100_000)
    """What a user pays for the feature in a month, for the margin; 0 where nothing."""

    rent: Annotated[float, Place("page")] = Field(3.0, title="Rent of one GPU, $ per hour", ge=0, le=10_000)
    """What one accelerator costs for an hour."""
    utilization: Annotated[float, Place("page")] = Field(1.0, title="Utilization", ge=0.01, le=1)
    """Share of the hours in which the accelerators work at this batch."""
    slots: Annotated[int, Place("page")] = Field(64, title="Batch slots", ge=1, le=256)
    """Requests that a batch holds at most, in the picture of static and continuous batching."""
    lengths: Annotated[str, AfterValidator(_whole_numbers), Place("page")] = Field(
        "500, 63x50, 100x50", title="Answer lengths, tokens", max_length=200
    )
    """Tokens that each request writes, in the order of arrival; 63x50 stands for 63 requests of 50."""
    page: Annotated[int, Place("page")] = Field(16, title="Page size, tokens", ge=1, le=100_000)
    """A request takes whole pages of the KV cache as it grows."""
    longest: Annotated[int, Place("page")] = Field(8192, title="Reserved without pages, tokens", ge=1, le=_TOKENS)
    """Without pages each request reserves room for the longest text that it may become."""
    digits: Annotated[int, Place("page")] = Field(3, title="Significant digits", ge=1, le=15)
    """Digits that each sum keeps."""
    addends: Annotated[str, AfterValidator(_numbers), Place("page")] = Field(
        "100, 0.4, 0.4", title="Numbers to add", max_length=200
    )
    """Added from the left, and from the right."""

    weight_values: Annotated[str, AfterValidator(_numbers), Place("page")] = Field(
        "0.7, -0.23, 0.04, 0.38", title="Weights of a group", max_length=400
    )
    """Weights that share one scale."""
    bits: Annotated[int, Place("page")] = Field(4, title="Bits of each weight", ge=2, le=16)
    """Bits of the integers that the weights become."""
    group: Annotated[int, Place("page")] = Field(128, title="Weights for each scale", ge=1, le=65_536)
    """Weights in a group of the model, which share a scale of 2 bytes."""

    logits: Annotated[str, AfterValidator(_numbers), Place("page")] = Field(
        "2, 1.5, 0, -1", title="Logits of the router", max_length=200
    )
    """One for each expert, up to 16."""
    chosen: Annotated[int, Place("page")] = Field(2, title="Experts chosen", ge=1, le=16)
    """Experts with the largest logits that work on the position."""
    skew: Annotated[float, Place("page")] = Field(0.0, title="Routing skew (0 = even)", ge=0, le=2)
    """0: each expert is chosen equally often. 1: the second is chosen half as often as the first (Zipf)."""

    @model_validator(mode="after")
    def _grouped_evenly(self) -> "Scenario":
        if self.model == OWN and self.heads % self.kv_heads:
            raise PydanticCustomError(
                "fields",
                "do not fit together: the key-value heads divide the query heads evenly",
                {"fields": ("kv_heads", "heads")},
            )
        return self

    @model_validator(mode="after")
    def _configured(self) -> "Scenario":
        if _own_config(self) and not self.config:
            raise PydanticCustomError(
                "fields", "needs the fields of a config.json; the page “Model” reads one", {"fields": ("model",)}
            )
        return self

    @model_validator(mode="after")
    def _laid_out(self) -> "Scenario":
        if _mixed(self) and self.gpus % (self.tensor_parallel * self.pipeline_parallel):
            raise PydanticCustomError(
                "fields",
                "do not fit together: the product divides the GPUs evenly",
                {"fields": ("tensor_parallel", "pipeline_parallel")},
            )
        return self

    @property
    def architecture(self) -> Architecture:
        """The model's shape: a preset's, or the own one's."""
        if self.model == CONFIG:
            return _read_config(self.config)
        if self.model != OWN:
            return library.models()[self.model]
        base = library.models()[BASE.model]
        blocks = Blocks(
            count=self.layers,
            attention=GroupedAttention(heads=self.heads, kv_heads=self.kv_heads, head_dim=self.head_dim),
            feed_forward=GatedFeedForward(width=self.feed_forward),
        )
        return base.model_copy(
            update={
                "name": "Own model",
                "maker": "",
                "hf_id": "",
                "source": (),
                "note": "",
                "hidden": self.hidden,
                "vocabulary": self.vocabulary,
                "tied_embeddings": self.tied,
                "context": None,
                "blocks": (blocks,),
            }
        )

    @property
    def hardware(self) -> Accelerator:
        """The accelerator's figures: the datasheet's, with those that the reader entered in their place."""
        if self.accelerator == OWN:
            chip = library.accelerators()[BASE.accelerator].model_copy(
                update={
                    "name": "Own accelerator",
                    "maker": "",
                    "source": (f"{library.accelerators()[BASE.accelerator].name}, until other figures are entered",),
                    "note": "",
                    "sparse_trap": "",
                }
            )
        else:
            chip = library.accelerators()[self.accelerator]
        entered: dict[str, Any] = {"memory": self.memory, "bandwidth": self.bandwidth, "visible_memory": self.memory}
        if self.peak is not None:
            rates = ("dense_bf16", "dense_fp8", "dense_int8", "dense_fp4")
            has = [rate for rate in rates if rate == "dense_bf16" or getattr(chip, rate) is not None]
            entered |= dict.fromkeys(has, self.peak)
        return chip.model_copy(update={key: value for key, value in entered.items() if value is not None})

    @property
    def subject(self) -> str:
        """The scenario in a line: what runs on what, for which requests."""
        return (
            f"{self.architecture.name} in {PRECISIONS[self.weights].name} on {self.gpus:,} × {self.hardware.name}, "
            f"prompt {self.prompt:,}, answer {self.answer:,}, batch {self.batch:,}"
        )

    @property
    def entered_shape(self) -> tuple[str, ...]:
        """Fields of the model's shape that the reader entered."""
        shape = ("layers", "hidden", "heads", "kv_heads", "head_dim", "feed_forward", "vocabulary", "tied")
        return tuple(name.replace("_", " ") for name in shape) if self.model == OWN else ()

    @property
    def entered_figures(self) -> tuple[str, ...]:
        """Figures of the accelerator that the reader entered in place of the datasheet's."""
        return tuple(name for name in ("memory", "bandwidth", "peak") if getattr(self, name) is not None)

    @property
    def deployment(self) -> Deployment:
        """The model on its accelerators."""
        return deploy(
            self.architecture,
            self.hardware,
            gpus=self.gpus,
            weights=PRECISIONS[self.weights],
            cache=CACHE_PRECISIONS[self.kv],
            layout=self.sharing,
            memory=self.usable_memory,
            stored_bytes=self.weight_memory if _as_engine(self) else None,
        )

    @property
    def usable_memory(self) -> float:
        """Bytes of one accelerator for parameters and caches."""
        chip = self.hardware
        if not _as_engine(self):
            return chip.memory
        return float(
            usable_memory(
                visible=chip.visible_memory or chip.memory,
                share=self.engine_share,
                activations=self.activations,
                overhead=self.overhead,
            )
        )

    @property
    def sharing(self) -> Layout:
        """How the accelerators share the work."""
        gpus = self.gpus
        match self.layout if _several(self) else "even":
            case "tensor":
                return Layout(even=False, tensor=gpus)
            case "pipeline":
                return Layout(even=False, pipeline=gpus)
            case "data":
                return Layout(even=False, data=gpus)
            case "expert":
                return Layout(even=False, data=gpus, expert=gpus)
            case "mixed":
                tensor, pipeline = self.tensor_parallel, self.pipeline_parallel
                data = gpus // (tensor * pipeline)
                expert = tensor * data if self.expert_parallel else 1
                return Layout(even=False, tensor=tensor, pipeline=pipeline, data=data, expert=expert)
        return EVEN


FIELDS: Final[dict[str, FieldInfo]] = dict(Scenario.model_fields)
"""Name -> declaration of each field, in the order of the page."""


def mark(name: str, kind: type[Any]) -> Any:
    """The mark of a kind (`Choices`, `Place`, `Quantity`) on a field, or None."""
    return next((found for found in FIELDS[name].metadata if isinstance(found, kind)), None)


def counts(name: str, scenario: Scenario) -> bool:
    """Whether a field says anything in a scenario: those of an own model do only where it is chosen."""
    place: Place = mark(name, Place)
    return place.counts_if(scenario)


BASE: Final = Scenario()
"""The chapter's example."""
