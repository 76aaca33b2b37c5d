"""What runs on what, for which requests: the part of a scenario that all pages share."""

from dataclasses import replace
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import library
from inferdash.facts.machines import engine_memory
from inferdash.facts.models.precision import CACHE_PRECISIONS, FILES, PRECISIONS
from inferdash.formula import remembered
from inferdash.physics.capacity.engine_memory import Kept, Word, starts
from inferdash.physics.capacity.memory import cache_bytes_of_one, held_bytes
from inferdash.physics.deployment import Deployment, deploy
from inferdash.scenario import in_memory
from inferdash.scenario.accelerators import Accelerators
from inferdash.scenario.marks import AUTO, TOKENS, Choices, Place
from inferdash.validated import Quantity


def _as_engine(scenario: "Machine") -> bool:
    return scenario.memory_of in {"engine", AUTO}


def _has_room(scenario: "Machine") -> bool:
    return _as_engine(scenario) and scenario.cache_room is not None


def _version(value: str) -> str:
    if value:
        engine_memory.version(value)
    return value


def _set_up(value: str) -> str:
    if value and not (len(value) == _NAME and set(value) <= set("0123456789abcdef")):
        raise PydanticCustomError("plain", "is no set-up of a logged start, which the page “Memory” writes")
    return value


_NAME: Final = 8
"""Characters of the name of a set-up."""
_ENGINE: Final = ("engine_share", "activations", "overhead", "cache_room")
"""Fields of what an engine has of the memory."""


class Machine(Accelerators):
    """A model, accelerators, requests, and the memory that an engine leaves. The defaults are the chapter's example."""

    prompt: Annotated[int, Place("workload")] = Field(1024, title="Prompt tokens", ge=1, le=TOKENS)
    """Input tokens of each request."""
    answer: Annotated[int, Place("workload")] = Field(256, title="Answer tokens", ge=1, le=TOKENS)
    """Output tokens of each request, the end token included."""
    batch: Annotated[int, Place("workload")] = Field(1, title="Batch", ge=1, le=1_000_000)
    """Requests that each decode pass generates a token for."""

    memory_of: Annotated[
        str,
        Choices(
            "view of the memory",
            lambda: {
                AUTO: "All of it for limits",
                "datasheet": "Always all of it",
                "engine": "Always what the engine leaves",
            },
        ),
        Place("page"),
    ] = Field("datasheet", title="Usable memory")
    """All of it for limits and what an engine leaves for what is expected, or one of the two for both."""
    engine_version: Annotated[str, AfterValidator(_version), Place("page")] = Field(
        "", title="Engine version", max_length=40
    )
    """Such as 0.19.0 or, for vLLM, V0 0.8.5. Empty: the middle of all versions, with a band over them."""
    engine_share: Annotated[float | None, Place("page", _as_engine)] = Field(
        None, title="Memory share of the engine", ge=0.1, le=1
    )
    """Share of the memory that the engine may use (gpu_memory_utilization), such as 0.9. Empty: its default."""
    max_num_seqs: Annotated[int | None, Place("page", _as_engine)] = Field(
        None, title="Most requests at a time", ge=1, le=100_000
    )
    """max_num_seqs or max_running_requests. Empty: the engine’s default."""
    max_num_batched_tokens: Annotated[int | None, Place("page", _as_engine)] = Field(
        None, title="Most tokens per pass", ge=1, le=10_000_000
    )
    """max_num_batched_tokens, chunked_prefill_size, max_num_tokens or n_ubatch. Empty: the engine’s default."""
    activations: Annotated[float | None, Quantity("B"), Place("page", _as_engine)] = Field(
        None, title="Activations", ge=0, le=1e13
    )
    """Per GPU, as your engine logs them, such as 2.07 GiB. Empty: estimated."""
    overhead: Annotated[float | None, Quantity("B"), Place("page", _as_engine)] = Field(
        None, title="Outside the engine", ge=0, le=1e13
    )
    """Per GPU: what libraries keep outside the engine’s allocator, such as 0.35 GiB. Empty: estimated."""
    weight_memory: Annotated[float | None, Quantity("B", usual="GB"), Place("page", _as_engine)] = Field(
        None, title="Parameters in memory", ge=1e6, le=1e16
    )
    """On all GPUs together, as your engine logs them. Empty: estimated from the format."""
    cache_room: Annotated[float | None, Quantity("B"), Place("page", _as_engine)] = Field(
        None, title="Room for the cache", ge=0, le=1e13
    )
    """Per GPU, as your engine logs it at its start, such as 12.3 GiB. Empty: estimated."""
    cache_room_of: Annotated[str, AfterValidator(_set_up), Place("page", _has_room)] = Field(
        "", title="Set-up of that room", max_length=40
    )
    """The only set-up that the logged room counts for. Empty: any."""

    @model_validator(mode="after")
    def _room(self) -> Self:
        entered = [name for name in _ENGINE if getattr(self, name) != type(self).model_fields[name].default]
        if (entered or self.memory_of == "engine") and _as_engine(self) and self.as_run.memory <= 0:
            raise PydanticCustomError(
                "fields",
                "{verb} no memory for the model: activations and what lies outside the engine take all of the share",
                {"fields": tuple(entered) or ("memory_of",), "verb": "leave" if len(entered) > 1 else "leaves"},
            )
        return self

    @property
    def subject(self) -> str:
        """The scenario in a line: what runs on what, for which requests."""
        layout = "" if self.sharing.even or self.gpus == 1 else f", {self.sharing.words}"
        return (
            f"{self.architecture.name} in {self.precision.name} on {self.gpus:,} × {self.hardware.name}{layout}, "
            f"prompt {self.prompt:,}, answer {self.answer:,}, batch {self.batch:,}"
        )

    @property
    def limit(self) -> Self:
        """What limits are of: memory whole, work shared evenly and links free, where a layout or memory is not said."""
        return self._settled("datasheet", {"layout": "even"})

    @property
    def run(self) -> Self:
        """What is expected: an engine’s memory and the layout that engines take, where none is said."""
        one = self.sharing
        alone = [name for name in ("tensor", "pipeline") if getattr(one, name) == self.gpus]
        layout = "even" if self.gpus == 1 else alone[0] if alone else "mixed"
        parts = {"tensor_parallel": one.tensor, "pipeline_parallel": one.pipeline} if layout == "mixed" else {}
        return self._settled("engine", {"layout": layout, **parts})

    def _settled(self, memory_of: str, layout: dict[str, Any]) -> Self:
        said = {"weights": self.format} if self.weights == FILES else {}
        said |= {"memory_of": memory_of} if self.memory_of == AUTO else {}
        said |= layout if self.layout == AUTO else {}
        return self.model_copy(update=said) if said else self

    @property
    def deployment(self) -> Deployment:
        """The model on its accelerators, for limits."""
        return _deployed(self.limit)

    @property
    def as_run(self) -> Deployment:
        """The model on its accelerators, for what is expected."""
        return _deployed(self.run)

    @property
    def held_bytes(self) -> float:
        """Bytes of the parameters on all accelerators, as kernels widen them or as the reader's engine logs them."""
        if self.weight_memory is not None:
            return self.weight_memory
        rule, weights = library.memory_of(self.engine), PRECISIONS[self.format]
        return float(held_bytes(self.architecture, weights, rule, version=self.engine_version))

    def kept_beside(self, deployment: Deployment) -> Kept:
        """What the engine keeps of one accelerator beside the parameters of a deployment."""
        return in_memory.kept_of(self, weights=float(deployment.stored_bytes_of_one))

    @property
    def kept(self) -> Kept | None:
        """What the engine keeps of one accelerator; None where the datasheet's memory counts whole."""
        return self.run.kept_beside(self.as_run) if _as_engine(self) else None

    @property
    def starts(self) -> Word | None:
        """Whether the engine starts, and holds one request where it refuses to start without; None likewise."""
        found, machine = self.kept, self.as_run
        if found is None:
            return None
        weights = float(machine.stored_bytes_of_one)
        needed = cache_bytes_of_one(machine, tokens=self.prompt + self.answer)
        if machine.layout.even:
            needed = needed / machine.gpus
        return starts(
            found,
            weights=in_memory.weights_of_one(self.run, weights=weights),
            needed=float(needed) if library.memory_of(self.engine).whole_request else 0.0,
        )


@remembered
def _deployed(scenario: Machine) -> Deployment:
    whole = deploy(
        scenario.architecture,
        scenario.hardware,
        gpus=scenario.gpus,
        weights=PRECISIONS[scenario.weights],
        cache=CACHE_PRECISIONS[scenario.kv],
        layout=scenario.sharing,
        stored_bytes=scenario.held_bytes if _as_engine(scenario) else None,
        fabric=scenario.between,
    )
    if not _as_engine(scenario):
        return whole
    return replace(whole, memory=max(0.0, scenario.kept_beside(whole).usable.expected))
