"""What an engine keeps of an accelerator's memory beside parameters and caches, by version, as its logs say."""

import re
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts.provenance import Sourced
from inferdash.validated import Bytes, Validated

Spread: TypeAlias = tuple[NonNegativeFloat, NonNegativeFloat, NonNegativeFloat]
"""A factor as logs have it: the lowest, the usual, the highest."""
Held: TypeAlias = tuple[Annotated[Bytes, Field(ge=0)], Annotated[Bytes, Field(ge=0)], Annotated[Bytes, Field(ge=0)]]
"""Bytes of one accelerator as logs have them: the least, the usual, the most."""
Sizes: TypeAlias = tuple[PositiveInt, PositiveInt, PositiveInt]
"""By memory: under 70 GiB and the A100, up to 150 GiB, above."""
Budget: TypeAlias = Literal["share of all", "share of free", "share of the rest", "all"]
"""Of what an engine takes its share: of all memory, with activations out of it (vLLM); of what is free at its start,
with activations out of what is left (SGLang); of what is left beside parameters and activations (TensorRT-LLM); or it
takes what it needs (llama.cpp)."""
_NUMBER: Final = re.compile(r"(?:v|b)?([0-9]{1,9}(?:\.[0-9]{1,9}){0,3})([.x+-]?[0-9a-z.+-]{0,40})", re.ASCII)
_NAMES: Final = {"v0", "v1", "ollama"}
_LARGE: Final = 70 * 2**30
_HUGE: Final = 150 * 2**30


class Version(Validated):
    """A version of an engine, as far as it orders the eras."""

    numbers: tuple[NonNegativeInt, ...] = ()
    tag: str = ""
    """A name that stands for an era of its own, such as "v0" of vLLM."""


def version(text: str) -> Version:
    """A version as people write it: "0.19.0", "v0.11.2rc1", "V0 0.8.5", "b6300", "ollama".

    Raises:
        PydanticCustomError: where it is none.
    """
    words = text.lower().split()
    named = [word for word in words if word in _NAMES]
    numbered = [_NUMBER.fullmatch(word) for word in words if word not in _NAMES]
    if not words or len(named) > 1 or len(numbered) > 1 or None in numbered:
        raise PydanticCustomError("plain", "is not a version such as 0.19.0, V0 0.8.5 or b6325")
    numbers = (int(part) for match in numbered if match for part in match[1].split("."))
    return Version(numbers=tuple(numbers), tag=named[0] if named else "")


class Outside(Validated):
    """What lies outside the allocator of an engine on one accelerator."""

    gpus: PositiveInt
    """Of this many accelerators that share each matrix, at least."""
    small: Held
    """On accelerators under 70 GiB, and on the A100."""
    large: Held
    """On larger ones, which exchange through workspaces of their own."""


class Reserve(Validated):
    """What an engine leaves free for activations and graphs, where its share of the memory follows from that."""

    base: Bytes
    token: Bytes
    """For each token of a pass, of 2,048 at least."""
    graph: Bytes
    """For each request of the largest batch that is captured."""
    graphs: Sizes
    """That batch."""
    gpu: Bytes
    """For each accelerator that shares the model."""
    least: Bytes
    """On a large accelerator."""


class Era(Validated):
    """Versions of an engine that treat memory alike. A field that is not stated is that of the era before."""

    name: str
    since: str
    """The first of them; empty for those that are chosen by name alone."""
    tag: str = ""
    """A name by which it is chosen too."""
    unstated: bool = True
    """Whether it may be meant where no version is stated."""
    sampler: Spread = (0, 0, 0)
    """Bytes for each request and token of the vocabulary, while the sampler is tried out with all requests."""
    inner: NonNegativeFloat = 3
    """Times the inner vector of a feed-forward network that a pass holds for each token."""
    vectors: NonNegativeFloat = 4
    """Times the vector of a position that a pass holds beside it."""
    experts_in_sampler: NonNegativeFloat = 0
    """Times the workspace of the experts that is still held then."""
    whole_context: NonNegativeInt = 0
    """Up to so many tokens the longest request is read in one pass; in chunks beyond, and always where 0."""
    tokens: Sizes = (2048, 8192, 8192)
    """Of a pass, by default."""
    requests: Sizes = (256, 1024, 1024)
    """At a time at most, by default."""
    outside: tuple[Outside, ...] = Field(min_length=1)
    recurrent_outside: Held | None = None
    """On a small accelerator, of a model with layers of linear attention; None: like any other."""
    graphs_of_layer: Held = (0.0, 0.0, 0.0)
    """That graphs take for each layer, on a large accelerator."""
    graphs_at_all: Held = (0.0, 0.0, 0.0)
    """The same for all layers alike."""
    graphs_small: PositiveFloat = 1.0
    """Factor on both on a small accelerator."""
    graphs_in_share: bool = False
    """Whether they are taken out of the share, as an estimate, before the cache is sized."""
    shares: tuple[tuple[PositiveInt, float], ...] = ()
    """Accelerators that share each matrix, at least -> the share by default, where it follows from them."""
    reserve: Reserve | None = None
    """What the share by default follows from otherwise; None where it is that of the engine."""
    logits: NonNegativeFloat = 0
    """Share of the tokens of a pass for which a row of logits has its place."""
    scores: Spread = (0, 0, 0)
    """Share of the scores of attention, tokens of a pass times context times heads, that has its place."""
    surely: bool = True
    """Whether a start that has room is sure: not where one was logged that had room and failed in its graphs."""


class EngineMemory(Sourced):
    """How an engine divides the memory of an accelerator. Everything here was taken from logs of starts."""

    budget: Budget
    share: float = Field(gt=0, le=1)
    """By default, where it does not follow from the accelerators."""
    whole_request: bool
    """Whether it refuses to start without room for the longest request."""
    before: Held
    """That the driver's context and libraries take before the engine asks what is free."""
    before_shared: Held
    """The same where several accelerators share a model."""
    error: Spread
    """Factor between the activations of a start and the rule's, of models of text."""
    least_error: Bytes
    """By which activations are off in any case."""
    towers: Held
    """On top, for models with towers for pictures or sound, which are tried out too."""
    strange: Held
    """On top of what lies outside, where a version is newer or an accelerator of another maker than those of logs."""
    newest: str = ""
    """The newest version of which a start was logged; empty where logs do not say versions."""
    logged: NonNegativeInt
    """Starts that it was taken from."""
    fp4_padding: tuple[tuple[str, PositiveInt, PositiveInt], ...] = ()
    """Since a version: experts of MXFP4 are widened to multiples of these, in the network and in the vectors."""
    eras: tuple[Era, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _inherited(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("eras"), list):
            return given
        full: list[Any] = []
        for era in given["eras"]:
            full.append((full[-1] | {"tag": "", "unstated": True} | era) if full and isinstance(era, dict) else era)
        return given | {"eras": full}

    def possible(self, text: str) -> tuple[Era, ...]:
        """The eras that a version may belong to: one, or all that may be meant where none is stated."""
        if not text:
            return tuple(era for era in self.eras if era.unstated)
        asked = version(text)
        named = next((era for era in self.eras if era.tag and era.tag == asked.tag), None)
        if named:
            return (named,)
        others = [era for era in self.eras if era.since and not (asked.tag == "v1" and era.tag == "v0")]
        if not asked.numbers:
            return tuple(era for era in others if era.unstated) or tuple(others)
        reached = [era for era in others if version(era.since).numbers <= asked.numbers]
        return (reached[-1] if reached else others[0],)

    def is_logged(self, text: str) -> bool:
        """Whether a version is no newer than those of logs; the one that is not stated is none of them."""
        numbers, newest = (version(one).numbers[:2] if one else () for one in (text, self.newest))
        return not (numbers and newest) or numbers <= newest

    def widening(self, text: str) -> tuple[int, int] | None:
        """Multiples to which a version widens experts of MXFP4, the newest where none is stated; None where none."""
        numbers = version(text).numbers if text else ()
        reached = [one[1:] for one in self.fp4_padding if not numbers or version(one[0]).numbers <= numbers]
        return reached[-1] if reached else None


def size_class(total: float, *, a100: bool) -> int:
    """The place in `Sizes` of an accelerator with that many bytes."""
    return 0 if total < _LARGE or a100 else 1 if total < _HUGE else 2
