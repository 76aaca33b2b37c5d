"""What prefill and decode on workers of their own add to a scenario: those that read prompts, and what is moved."""

from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import library
from inferdash.facts.models.precision import FILES, PRECISIONS
from inferdash.physics.parallelism import obstacle
from inferdash.scenario.marks import Choices, Place, names_of
from inferdash.scenario.speculating import NONE, Speculating

SAME: Final = "same"
"""Id of what prefill workers have as decode workers do."""
_LAYOUTS: Final = {
    SAME: "As for decode",
    "tensor": "Tensor parallel",
    "expert": "Data parallel, experts spread",
    "pipeline": "Pipeline parallel",
    "data": "Data parallel",
}
TRANSFERS: Final = {"whole": "After the prompt", "layers": "Layer by layer"}
"""Id in links -> when a cache is sent."""
DISAGGREGATED: Final = (
    *("disaggregated", "prefill_workers", "prefill_accelerator", "prefill_gpus", "prefill_layout"),
    *("prefill_weights", "transfer", "decode_prefixes"),
)
"""Fields that say who reads prompts, and how their caches are moved."""

_SHARED_BY: Final = ("prefill_layout", "prefill_gpus", "prefill_accelerator")
"""Fields by which prefill workers may share the model otherwise; of those that were entered, the first is refused."""


def _apart(scenario: "Disaggregating") -> bool:
    return scenario.disaggregated


class Disaggregating(Speculating):
    """The fields of prefill workers; decode workers are the replicas, on the accelerators of the scenario."""

    disaggregated: Annotated[bool, Place("page")] = Field(default=False, title="Prefill and decode apart")
    """Workers of their own process prompts and send the KV cache to those that decode. A plan tries both."""
    prefill_workers: Annotated[int, Place("page", _apart)] = Field(1, title="Prefill workers", ge=1, le=256)
    """Workers that process prompts. The replicas are the decode workers."""
    prefill_accelerator: Annotated[
        str,
        Choices("accelerator", lambda: {SAME: "As for decode"} | names_of(library.accelerators())),
        Place("page", _apart),
    ] = Field(SAME, title="Accelerator of prefill")
    """The chip of the prefill workers."""
    prefill_gpus: Annotated[int | None, Place("page", _apart)] = Field(
        None, title="GPUs of a prefill worker", ge=1, le=1024
    )
    """Empty: as many as a decode worker has."""
    prefill_layout: Annotated[str, Choices("way to share the work", lambda: _LAYOUTS), Place("page", _apart)] = Field(
        SAME, title="Parallelism of prefill"
    )
    """How the GPUs of a prefill worker share the model."""
    prefill_weights: Annotated[
        str,
        Choices(
            "number format",
            lambda: (
                {SAME: "As for decode", FILES: "As published"}
                | {key: one.name for key, one in PRECISIONS.items() if key != FILES}
            ),
        ),
        Place("page", _apart),
    ] = Field(SAME, title="Weight precision of prefill")
    """Number format of the parameters. The cache has one format on both sides."""
    prefill_rent: Annotated[float | None, Place("page", _apart)] = Field(
        None, title="Rent of prefill, $ per GPU-hour", ge=0, le=10_000
    )
    """Empty: as for decode, or the median quote where the chip is another one."""
    transfer: Annotated[str, Choices("time", lambda: TRANSFERS), Place("page", _apart)] = Field(
        "whole", title="Cache sent"
    )
    """After the prompt, as vLLM’s NIXL connector and TensorRT-LLM do, or each layer as soon as it is computed."""
    decode_prefixes: Annotated[bool, Place("page", _apart)] = Field(default=False, title="Decode workers keep prefixes")
    """What is found of a prompt is then on decode workers too, and only the rest of its cache is sent."""

    @property
    def prefill_fields(self) -> tuple[str, ...]:
        """The fields of prefill workers and of the link, where they count."""
        if not self.disaggregated:
            return ()
        return (
            *("prefill_workers", "prefill_accelerator", "prefill_gpus", "prefill_layout"),
            *("prefill_weights", "prefill_rent", "transfer", "decode_prefixes"),
        )

    @property
    def decode_fields(self) -> tuple[str, ...]:
        """What a plan is told of decode workers, where there may be any."""
        return ("decode_prefixes",) if self.disaggregated else ()

    @property
    def prefill(self) -> Self:
        """The prefill workers as a scenario of their own: the same requests on their accelerators, nothing proposed."""
        changed: dict[str, Any] = {
            "disaggregated": False,
            "schedule": "prompts",
            "replicas": self.prefill_workers,
            "speculation": NONE,
            "gpus": self.prefill_gpus or self.gpus,
            "rent": self.rent_of_prefill,
        }
        if self.prefill_accelerator not in {SAME, self.accelerator}:
            entered = ("memory", "bandwidth", "peak", "activations", "overhead", "cache_room")
            changed |= {"accelerator": self.prefill_accelerator} | dict.fromkeys(entered)
        if self.prefill_layout != SAME:
            changed["layout"] = self.prefill_layout
        if self.prefill_weights not in {SAME, self.weights}:
            changed |= {"weights": self.prefill_weights, "weight_memory": None}
        return self.model_copy(update=changed)

    @property
    def rent_of_prefill(self) -> float:
        """Dollars an hour of one accelerator of a prefill worker."""
        if self.prefill_rent is not None:
            return self.prefill_rent
        other = self.prefill_accelerator not in {SAME, self.accelerator}
        quoted = library.accelerators()[self.prefill_accelerator].rent if other else None
        return quoted.middle if quoted else self.rent

    @model_validator(mode="after")
    def _prefill_laid_out(self) -> Self:
        if not self.disaggregated:
            return self
        one = self.prefill
        mixed = one.gpus > 1 and one.layout == "mixed"
        if mixed and one.gpus % (one.tensor_parallel * one.pipeline_parallel):
            raise PydanticCustomError(
                "fields",
                "do not fit together: the tensor and pipeline parallel GPUs divide those of a prefill worker evenly",
                {"fields": ("prefill_gpus", "prefill_layout")},
            )
        met = None if one.sharing.even else obstacle(one.architecture, one.sharing)
        if met:
            named = next((name for name in _SHARED_BY if getattr(self, name) not in {SAME, None}), "layout")
            raise PydanticCustomError("fields", "{reason}", {"fields": (named,), "reason": met[1]})
        return self
