"""Everything a person can turn, in one frozen model.

A field is declared once: its name is the link's parameter and the widget's key, its title is the label, the string
below it is the help, its bounds hold for the link and the widget alike.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function

from inferdash.facts import library
from inferdash.facts.accelerator import Accelerator
from inferdash.facts.architecture import Architecture, Blocks
from inferdash.facts.precision import CACHE_PRECISIONS, PRECISIONS
from inferdash.layers.attention import GroupedAttention
from inferdash.layers.feed_forward import GatedFeedForward
from inferdash.physics.deployment import Deployment, deploy
from inferdash.validated import Quantity, Validated

OWN: Final = "own"
"""Id of the reader's own model or accelerator, whose figures are fields of the scenario."""
SHARE: Final = "share"
"""Id of a draft model that is a share of the large one."""

Group: TypeAlias = Literal["model", "accelerator", "workload", "page"]


@dataclass(frozen=True)
class Choices:
    """Marks a field that takes one of a number of ids; `names` gives id -> name."""

    what: str
    names: Callable[[], Mapping[str, str]]

    def known(self, value: str) -> str:
        """`value`, if it is one of the ids.

        Raises:
            PydanticCustomError: names what it should have been.
        """
        if value not in self.names():
            raise PydanticCustomError("choice", "is not a known {what}", {"what": self.what})
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self.known, handler(source))


def _names(facts: Mapping[str, Any]) -> dict[str, str]:
    return {key: fact.name for key, fact in facts.items()}


def _plain_text(value: str) -> str:
    if not value.isprintable():
        raise PydanticCustomError("plain", "holds characters that cannot be shown")
    return value


@dataclass(frozen=True)
class Place:
    """Where a field stands on the page, and when it counts at all."""

    group: Group
    counts_if: Callable[["Scenario"], bool] = lambda _: True
    """Whether the field says anything in a scenario; where it does not, links leave it out."""


def _own_model(scenario: "Scenario") -> bool:
    return scenario.model == OWN


def _share_draft(scenario: "Scenario") -> bool:
    return scenario.draft == SHARE


OWN_MODEL: Final = Place("model", _own_model)
_TOKENS: Final = 10_000_000


class Scenario(Validated):
    """A model, an accelerator, a workload. The defaults are the chapter's example."""

    title: Annotated[str, AfterValidator(_plain_text), Place("page")] = Field("", title="Title", max_length=80)
    """A line of your own above the page, shown to whoever opens the link."""

    model: Annotated[
        str, Choices("model", lambda: _names(library.models()) | {OWN: "Own dense model"}), Place("model")
    ] = Field("llama-3-8b", title="Model")
    """The model that answers."""
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
    ] = Field("bf16", title="Parameters in")
    """Number format of the parameters: bf16 takes 2 bytes each, fp8 and int8 take 1."""
    kv: Annotated[
        str, Choices("number format", lambda: {key: p.name for key, p in CACHE_PRECISIONS.items()}), Place("model")
    ] = Field("bf16", title="KV cache in")
    """Number format of the keys and values in the cache: bf16 takes 2 bytes each, fp8 takes 1."""

    accelerator: Annotated[
        str,
        Choices("accelerator", lambda: _names(library.accelerators()) | {OWN: "Own accelerator"}),
        Place("accelerator"),
    ] = Field("h100-sxm", title="Accelerator")
    """The chip that runs the model."""
    gpus: Annotated[int, Place("accelerator")] = Field(1, title="GPUs", ge=1, le=1024)
    """Accelerators that share each pass evenly. Time on the link between them is not counted."""
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

    prompt: Annotated[int, Place("workload")] = Field(1024, title="Prompt tokens", ge=1, le=_TOKENS)
    """Tokens of the prompt of each request."""
    answer: Annotated[int, Place("workload")] = Field(256, title="Answer tokens", ge=1, le=_TOKENS)
    """Tokens that the model writes for each request, the end token included."""
    batch: Annotated[int, Place("workload")] = Field(1, title="Batch", ge=1, le=1_000_000)
    """Requests that one pass of the decode writes a token for."""

    output_layer: Annotated[
        str,
        Choices("way to count", lambda: {"every": "At every position", "last": "At the last position"}),
        Place("page"),
    ] = Field("every", title="Output layer in the prefill")
    """The chapter counts it at every position; engines run it at the last one only, which saves arithmetic."""
    queue: Annotated[float, Quantity("s"), Place("page")] = Field(0.0, title="Wait for a GPU", ge=0, le=86_400)
    """Time from sending a request until its prefill starts, such as 200 ms."""
    network: Annotated[float, Quantity("s"), Place("page")] = Field(0.0, title="Network", ge=0, le=86_400)
    """Time of the request and of its first token on the way, such as 50 ms."""
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
    draft_tokens: Annotated[int, Place("page")] = Field(4, title="Proposed tokens", ge=1, le=32)
    """Tokens that the draft model proposes before each check."""
    acceptance: Annotated[float, Place("page")] = Field(0.8, title="Acceptance", ge=0, le=1)
    """Share of proposals, one after another, that the large model would have written too."""

    proposal: Annotated[
        str,
        Choices("proposal", lambda: {"both": "Both right", "first": "The second wrong", "none": "Both wrong"}),
        Place("page"),
    ] = Field("both", title="In the example, the draft model proposes")
    """Two tokens that the draft model of the chapter's example proposes."""

    @model_validator(mode="after")
    def _grouped_evenly(self) -> "Scenario":
        if self.model == OWN and self.heads % self.kv_heads:
            raise PydanticCustomError(
                "fields",
                "do not fit together: the key-value heads divide the query heads evenly",
                {"fields": ("kv_heads", "heads")},
            )
        return self

    @property
    def architecture(self) -> Architecture:
        """The model's shape: a preset's, or the own one's."""
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
                "source": ("entered by the reader",),
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
        entered: dict[str, Any] = {"memory": self.memory, "bandwidth": self.bandwidth}
        if self.peak is not None:
            entered |= dict.fromkeys(("dense_bf16", "dense_fp8", "dense_int8"), self.peak)
        return chip.model_copy(update={key: value for key, value in entered.items() if value is not None})

    @property
    def deployment(self) -> Deployment:
        """The model on its accelerators."""
        return deploy(
            self.architecture,
            self.hardware,
            gpus=self.gpus,
            weights=PRECISIONS[self.weights],
            cache=CACHE_PRECISIONS[self.kv],
        )


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
