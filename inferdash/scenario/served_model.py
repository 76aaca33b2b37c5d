"""Which model: a preset, one of the reader's own or the fields of a config.json, and its number formats."""

from functools import lru_cache
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import library
from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.models import huggingface
from inferdash.facts.models.architecture import Architecture, Blocks
from inferdash.facts.models.huggingface import Found, UnreadConfigError
from inferdash.facts.models.precision import CACHE_PRECISIONS, FILES, PRECISIONS, Precision
from inferdash.layers.feed_forward import GatedFeedForward
from inferdash.layers.grouped import GroupedAttention
from inferdash.scenario.marks import CONFIG, OWN, Choices, Place, names_of, plain_text
from inferdash.validated import Validated


@lru_cache(maxsize=64)
def _read_config(value: str) -> Found:
    return huggingface.read(huggingface.parse(value))


def _model_config(value: str) -> str:
    try:
        if value:
            _read_config(value)
    except UnreadConfigError as error:
        reason = str(error).removesuffix(".")
        raise PydanticCustomError("plain", "{reason}", {"reason": f"cannot be used: {reason}"}) from None
    return value


def _own_model(scenario: "ServedModel") -> bool:
    return scenario.model == OWN


def _own_config(scenario: "ServedModel") -> bool:
    return scenario.model == CONFIG


OWN_MODEL: Final = Place("model", _own_model)
_MODEL: Final = "llama-3-8b"


class ServedModel(Validated):
    """A model and the number formats of its parameters and of its cache."""

    title: Annotated[str, AfterValidator(plain_text), Place("page")] = Field("", title="Title", max_length=80)
    """A line of your own above the page, for whoever opens the link."""

    model: Annotated[
        str,
        Choices("model", lambda: names_of(library.models()) | {OWN: "Own dense model", CONFIG: "Own config.json"}),
        Place("model"),
    ] = Field(_MODEL, title="Model")
    """The page “Model” lists all of them and reads a config.json."""
    config: Annotated[str, AfterValidator(_model_config), Place("page", _own_config)] = Field(
        "", title="Fields of config.json", max_length=8000
    )
    """The fields of a config.json that define the model, where it is not a preset."""
    layers: Annotated[int, OWN_MODEL] = Field(32, title="Layers", ge=1, le=10_000)
    """Layers of your own model."""
    hidden: Annotated[int, OWN_MODEL] = Field(4096, title="Hidden size", ge=1, le=1_000_000)
    """Size of the vector of a position."""
    heads: Annotated[int, OWN_MODEL] = Field(32, title="Query heads", ge=1, le=10_000)
    """Query heads per layer."""
    kv_heads: Annotated[int, OWN_MODEL] = Field(8, title="Key-value heads", ge=1, le=10_000)
    """Key-value heads per layer; the query heads must be a multiple of them."""
    head_dim: Annotated[int, OWN_MODEL] = Field(128, title="Head size", ge=1, le=100_000)
    """Size of one key, value or query."""
    feed_forward: Annotated[int, OWN_MODEL] = Field(14_336, title="Feed-forward width", ge=1, le=10_000_000)
    """Size of the inner vector of the gated feed-forward network."""
    vocabulary: Annotated[int, OWN_MODEL] = Field(128_256, title="Vocabulary", ge=1, le=10_000_000)
    """Tokens that the model knows."""
    tied: Annotated[bool, OWN_MODEL] = Field(default=False, title="Tied embeddings")
    """Whether the output layer shares the matrix of the input embedding."""
    weights: Annotated[
        str,
        Choices(
            "number format",
            lambda: {FILES: "As published"} | {key: p.name for key, p in PRECISIONS.items() if key != FILES},
        ),
        Place("model"),
    ] = Field("bf16", title="Weight precision")
    """Number format of the parameters: as the maker publishes them, or another one."""
    kv: Annotated[
        str, Choices("number format", lambda: {key: p.name for key, p in CACHE_PRECISIONS.items()}), Place("model")
    ] = Field("bf16", title="KV cache precision")
    """Number format of the keys and values: bf16 takes 2 bytes each, fp8 takes 1."""

    @model_validator(mode="after")
    def _grouped_evenly(self) -> Self:
        if self.model == OWN and self.heads % self.kv_heads:
            raise PydanticCustomError(
                "fields",
                "do not fit together: the key-value heads divide the query heads evenly",
                {"fields": ("kv_heads", "heads")},
            )
        return self

    @model_validator(mode="after")
    def _configured(self) -> Self:
        if _own_config(self) and not self.config:
            raise PydanticCustomError(
                "fields", "needs the fields of a config.json; the page “Model” reads them", {"fields": ("model",)}
            )
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed or left out where the model was read from a config.json, in sentences of plain text."""
        return _read_config(self.config).problems if self.model == CONFIG else ()

    @property
    def architecture(self) -> Architecture:
        """The model's shape: a preset's, or the own one's."""
        if self.model == CONFIG:
            return _read_config(self.config).architecture
        if self.model != OWN:
            return library.models()[self.model]
        base = library.models()[_MODEL]
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
    def entered_shape(self) -> tuple[str, ...]:
        """Fields of the model's shape that the reader entered."""
        shape = ("layers", "hidden", "heads", "kv_heads", "head_dim", "feed_forward", "vocabulary", "tied")
        return tuple(name.replace("_", " ") for name in shape) if self.model == OWN else ()

    @property
    def format(self) -> str:
        """Id of the number format of the parameters: the maker’s where it is not said."""
        return self.architecture.weights if self.weights == FILES else self.weights

    @property
    def precision(self) -> Precision:
        """The number format of the parameters."""
        return in_model(PRECISIONS[self.weights], self.architecture)

    @property
    def published(self) -> str:
        """Name of the number format in which the model's maker gives it out."""
        return in_model(PRECISIONS[FILES], self.architecture).name

    @property
    def format_note(self) -> str:
        """Whether the number format is the maker's own, in a sentence."""
        model = self.architecture
        who = model.maker or "its files"
        if self.format == model.weights:
            return f"{self.published} is how {who} {'publishes' if model.maker else 'hold'} {model.name}."
        return f"{model.name} is published in {self.published}, not in {self.precision.name}."
