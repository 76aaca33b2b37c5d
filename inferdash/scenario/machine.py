"""What runs on what, for which requests: the part of a scenario that all pages share."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import engine_memory, huggingface, library
from inferdash.facts.accelerator import FAMILIES, Accelerator
from inferdash.facts.architecture import Architecture, Blocks
from inferdash.facts.engine import Engine
from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.huggingface import Found, UnreadConfigError
from inferdash.facts.precision import CACHE_PRECISIONS, FILES, PRECISIONS, Precision
from inferdash.formula import remembered
from inferdash.layers.feed_forward import GatedFeedForward
from inferdash.layers.grouped import GroupedAttention
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.engine_memory import Kept, Word, starts
from inferdash.physics.memory import cache_bytes_of_one, held_bytes
from inferdash.physics.parallelism import EVEN, Fabric, Layout, obstacle, usual
from inferdash.scenario import in_memory
from inferdash.scenario.marks import AUTO, CONFIG, OWN, TOKENS, Choices, Place, names_of, plain_text
from inferdash.validated import Quantity, Validated


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


def _own_model(scenario: "Machine") -> bool:
    return scenario.model == OWN


def _own_config(scenario: "Machine") -> bool:
    return scenario.model == CONFIG


def _own_chip(scenario: "Machine") -> bool:
    return scenario.accelerator == OWN


def _several(scenario: "Machine") -> bool:
    return scenario.gpus > 1


def _mixed(scenario: "Machine") -> bool:
    return scenario.gpus > 1 and scenario.layout == "mixed"


def _own_fabric(scenario: "Machine") -> bool:
    return scenario.fabric == OWN


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


FABRICS: Final = {
    "same": "As within a machine",
    "400g": "400 Gbit/s per GPU",
    "rack": "NVL72, 100 GB/s between racks",
    OWN: "Own",
}
"""Id in links -> what joins machines. The bandwidths are those of aiconfigurator's systems; checked 2026-11-30."""
_NAME: Final = 8
"""Characters of the name of a set-up."""
_ENGINE: Final = ("engine_share", "activations", "overhead", "cache_room")
"""Fields of what an engine has of the memory."""
OWN_MODEL: Final = Place("model", _own_model)
_MODEL: Final = "llama-3-8b"
_ACCELERATOR: Final = "h100-sxm"


class Machine(Validated):
    """A model, accelerators, requests. The defaults are the chapter's example."""

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

    accelerator: Annotated[
        str,
        Choices("accelerator", lambda: names_of(library.accelerators()) | {OWN: "Own accelerator"}),
        Place("accelerator"),
    ] = Field(_ACCELERATOR, title="Accelerator")
    """The chip that runs the model."""
    gpus: Annotated[int, Place("accelerator")] = Field(1, title="GPUs", ge=1, le=1024)
    """GPUs that share the model. “Parallelism” says how, and whether time on the link between them counts."""
    memory: Annotated[float | None, Quantity("B", usual="GB"), Place("accelerator")] = Field(
        None, title="Memory", ge=1e6, le=1e15
    )
    """Of one accelerator, such as 80 GB or 96 GiB. Empty: the datasheet's."""
    bandwidth: Annotated[float | None, Quantity("B/s"), Place("accelerator")] = Field(
        None, title="Memory bandwidth", ge=1e6, le=1e18
    )
    """Of one accelerator, such as 3.35 TB/s. Empty: the datasheet's."""
    peak: Annotated[float | None, Quantity("FLOP/s"), Place("accelerator")] = Field(
        None, title="Dense peak", ge=1e6, le=1e21
    )
    """Matrix throughput of one accelerator without sparsity, such as 989 TFLOP/s. Empty: the datasheet's."""

    family: Annotated[str, Choices("kind of accelerator", lambda: FAMILIES), Place("accelerator", _own_chip)] = Field(
        "nvidia-datacenter", title="Kind of accelerator"
    )
    """What programs reach of its figures is taken from accelerators of this kind."""

    layout: Annotated[
        str,
        Choices(
            "way to share the work",
            lambda: {
                AUTO: "As engines do",
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
    """How GPUs share the model. As engines do: tensor parallel in a node; limits take an even split and a free link."""
    tensor_parallel: Annotated[int, Place("accelerator", _mixed)] = Field(1, title="Tensor parallel", ge=1, le=64)
    """GPUs that share each matrix."""
    pipeline_parallel: Annotated[int, Place("accelerator", _mixed)] = Field(1, title="Pipeline parallel", ge=1, le=64)
    """Stages that share the layers. Remaining GPUs are data parallel."""
    expert_parallel: Annotated[bool, Place("accelerator", _mixed)] = Field(default=False, title="Spread the experts")
    """Whether the experts of a layer are spread over all GPUs that hold it."""
    fabric: Annotated[str, Choices("link between machines", lambda: FABRICS), Place("page")] = Field(
        "same", title="Link between machines"
    )
    """What joins GPUs beyond one machine. As within: the pass takes no longer for it, which is rarely so."""
    fabric_bandwidth: Annotated[float, Quantity("B/s"), Place("page", _own_fabric)] = Field(
        50e9, title="Its bandwidth per GPU", ge=1e6, le=1e15
    )
    """One way: 50 GB/s are 400 Gbit/s."""
    fabric_latency: Annotated[float, Quantity("s"), Place("page", _own_fabric)] = Field(
        0.0, title="Its latency", ge=0, le=1
    )
    """Of an exchange, beside its bytes, such as 10 us."""
    engine: Annotated[str, Choices("engine", lambda: names_of(library.engines())), Place("accelerator")] = Field(
        "vllm", title="Engine"
    )
    """The inference engine. It changes what is expected, never a limit."""

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

    @model_validator(mode="after")
    def _laid_out(self) -> Self:
        if _mixed(self) and self.gpus % (self.tensor_parallel * self.pipeline_parallel):
            raise PydanticCustomError(
                "fields",
                "do not fit together: the product divides the GPUs evenly",
                {"fields": ("tensor_parallel", "pipeline_parallel")},
            )
        return self

    @model_validator(mode="after")
    def _divided(self) -> Self:
        met = None if self.sharing.even else obstacle(self.architecture, self.sharing)
        if met:
            part, reason = met
            field = f"{part}_parallel" if self.layout == "mixed" else "layout"
            raise PydanticCustomError("fields", "{reason}", {"fields": (field,), "reason": reason})
        return self

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
    def hardware(self) -> Accelerator:
        """The accelerator's figures: the datasheet's, with those that the reader entered in their place."""
        if self.accelerator == OWN:
            chip = library.accelerators()[_ACCELERATOR].model_copy(
                update={
                    "name": "Own accelerator",
                    "family": self.family,
                    "maker": "",
                    "source": (f"{library.accelerators()[_ACCELERATOR].name}, until other figures are entered",),
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
        layout = "" if self.sharing.even or self.gpus == 1 else f", {self.sharing.words}"
        return (
            f"{self.architecture.name} in {self.precision.name} on {self.gpus:,} × {self.hardware.name}{layout}, "
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

    @property
    def program(self) -> Engine:
        """The engine, as it is expected to run."""
        return library.engines()[self.engine]

    @property
    def between(self) -> Fabric | None:
        """The links between machines; None where they count as those within."""
        node = self.hardware.linked
        match self.fabric:
            case "400g":
                return Fabric(node=node, bandwidth=50e9)
            case "rack":
                return Fabric(node=72, bandwidth=100e9)
            case "own":
                return Fabric(node=node, bandwidth=self.fabric_bandwidth, latency_s=self.fabric_latency)
        return None

    def out_of_rack(self, names: Iterable[str]) -> str:
        """What is taken for granted where a rack is chosen for accelerators of other machines; nothing elsewhere."""
        others = [name for name in names if not name.startswith("NVIDIA GB")]
        if self.fabric != "rack" or not others:
            return ""
        return f"NVL72 racks hold GB200 and GB300; here {' and '.join(others)} count as if they were in one."

    @property
    def sharing(self) -> Layout:
        """How the accelerators share the work."""
        gpus = self.gpus
        match self.layout if _several(self) else "even":
            case "auto":
                return usual(self.architecture, gpus=gpus, linked=self.hardware.linked)
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
