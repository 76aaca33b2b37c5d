"""On what it runs: accelerators, how they share the work, what joins them, and the engine."""

from collections.abc import Iterable
from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import library
from inferdash.facts.machines.accelerator import FAMILIES, Accelerator
from inferdash.facts.machines.engine import Engine
from inferdash.physics.parallelism import EVEN, Fabric, Layout, obstacle, usual
from inferdash.scenario.marks import AUTO, OWN, Choices, Place, names_of
from inferdash.scenario.served_model import ServedModel
from inferdash.validated import Quantity


def _own_chip(scenario: "Accelerators") -> bool:
    return scenario.accelerator == OWN


def _several(scenario: "Accelerators") -> bool:
    return scenario.gpus > 1


def _mixed(scenario: "Accelerators") -> bool:
    return scenario.gpus > 1 and scenario.layout == "mixed"


def _own_fabric(scenario: "Accelerators") -> bool:
    return scenario.fabric == OWN


_FABRICS: Final = {
    "same": "As within a machine",
    "400g": "400 Gbit/s per GPU",
    "rack": "NVL72, 100 GB/s between racks",
    OWN: "Own",
}
"""Id in links -> what joins machines. The bandwidths are those of aiconfigurator's systems; checked 2026-11-30."""
_ACCELERATOR: Final = "h100-sxm"


class Accelerators(ServedModel):
    """Accelerators of one kind that share a model, and the engine that they run."""

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
    fabric: Annotated[str, Choices("link between machines", lambda: _FABRICS), Place("page")] = Field(
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
    def entered_figures(self) -> tuple[str, ...]:
        """Figures of the accelerator that the reader entered in place of the datasheet's."""
        return tuple(name for name in ("memory", "bandwidth", "peak") if getattr(self, name) is not None)

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
