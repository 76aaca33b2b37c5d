"""The published measurements of presets/measured/ as passes of the project's own formulas."""

from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Any, Final, NamedTuple

from inferdash.facts.library import accelerators, models
from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.measured import rows_of
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import PRECISIONS, Precision
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.parallelism import EVEN, Layout
from inferdash.physics.passes import Pass, one_pass

CHUNK: Final = 8192
"""Positions that an engine puts into one pass of a prefill at most, where its own number was not published."""
SERVED: Final = ("inferencemax",)
"""Publishers whose times went through a server."""
FORMATS: Final = {
    "fp16": PRECISIONS["bf16"],
    "bf16": PRECISIONS["bf16"],
    "F16": PRECISIONS["bf16"],
    "BF16": PRECISIONS["bf16"],
    "fp8": PRECISIONS["fp8"],
    "fp4": PRECISIONS["nvfp4"],
    "int8": Precision("int8, weights alone", 8, 8),
    "int4-g32": Precision("int4, group 32", 4.5, 4.5),
    "q4f16": Precision("int4, group 32", 4.5, 4.5),
    "4bit": PRECISIONS["int4-g128"],
    "mxfp4": PRECISIONS["mxfp4"],
    "MXFP4": Precision("MXFP4, the rest Q8_0", 4.25, 8.5, 32, beside_experts=8.5),
    "Q8_0": PRECISIONS["q8_0"],
    "Q4_0": Precision("GGUF Q4_0", 4.5, 6.5625, 32),
    "Q4": Precision("GGUF Q4_0", 4.5, 6.5625, 32),
    "Q4_K_M": Precision("GGUF Q4_K_M", 4.83, 6.5625, 32),
    "Q4_K_XL": Precision("GGUF Q4_K_XL", 4.83, 6.5625, 32, beside_experts=6.5),
    "Q8_K_XL": Precision("GGUF Q8_K_XL", 9.5, 16, 32),
}
"""Name in the points -> number format. A mix of widths in one file is its mean: Llama 3 8B is 4.92 GB in Q4_K_M."""


class Step(NamedTuple):
    """Equal passes of a published result."""

    passes: float
    requests: int
    """In each pass."""
    positions: float
    """Of each request, new ones."""
    one: Pass


@dataclass(frozen=True)
class Point:
    """A published result, with the passes that it took."""

    row: dict[str, str]
    publisher: str
    kind: str
    """Of the accelerator."""
    machine: Deployment
    passes: tuple[Step, ...]
    measured_s: float

    @property
    def batch(self) -> int:
        """Requests at once."""
        return int(float(self.row["batch"]))


def _model(row: dict[str, str]) -> Architecture:
    if row["preset"]:
        return models()[row["preset"]]
    width, experts = int(row["width"]), row["experts"]
    network: dict[str, Any] = {"kind": "gated", "width": width, "gated": not row["plain"]}
    if experts:
        per_token = int(row["experts_per_token"])
        network = {"kind": "experts", "width": width, "experts": int(experts), "experts_per_token": per_token}
    attention = {"kind": "grouped"} | {name: int(row[name]) for name in ("heads", "kv_heads", "head_dim")}
    return Architecture.model_validate(
        {name: int(row[name]) for name in ("hidden", "vocabulary")}
        | {
            "name": row["model"],
            "maker": "",
            "source": (row["note"],),
            "checked": "2026-11-29",
            "tied_embeddings": bool(row["tied"]),
            "blocks": [{"count": int(row["layers"]), "attention": attention, "feed_forward": network}],
        }
    )


def _accelerator(row: dict[str, str]) -> Accelerator:
    own: dict[str, Any] = {}
    for field, column, factor in (
        ("bandwidth", "bandwidth_gb_s", 1e9),
        ("memory", "memory_gb", 1e9),
        ("dense_bf16", "bf16_tflops", 1e12),
        ("dense_fp8", "fp8_tflops", 1e12),
        ("link_bandwidth", "link_gb_s", 1e9),
    ):
        if row[column]:
            own[field] = float(row[column]) * factor
    if row["preset"]:
        return accelerators()[row["preset"]].model_copy(update=own)
    return Accelerator.model_validate(
        own | {"name": row["accelerator"], "maker": "", "source": (row["note"],), "checked": "2026-11-29"}
    )


@cache
def points() -> tuple[Point, ...]:
    """Every result, those that no fit uses too."""
    return tuple(point(row) for row in rows_of("points"))


@cache
def tables() -> tuple[dict[str, Architecture], dict[str, tuple[Accelerator, str]], dict[str, str]]:
    """Models, accelerators with their family, publishers, by what points call them."""
    return (
        {row["model"]: _model(row) for row in rows_of("models")},
        {row["accelerator"]: (_accelerator(row), row["class"]) for row in rows_of("accelerators")},
        {row["id"]: row["publisher"] for row in rows_of("sources")},
    )


def point(row: dict[str, str]) -> Point:
    """A row of presets/measured/points.csv with its passes."""
    shapes, chips, publishers = tables()
    shape, (chip, kind), publisher = shapes[row["model"]], chips[row["accelerator"]], publishers[row["origin"]]
    weights = FORMATS[row["weights"]]
    if row["engine"] == "llama.cpp" and row["weights"] == "mxfp4":
        weights = FORMATS["MXFP4"]
    if row["weights"] == "fp8" and "latent" in str(shape.blocks[0].attention):
        weights = PRECISIONS["fp8-block"]
    if row["compute"] == "fp16":
        weights = replace(weights, rate="dense_bf16")
    gpus, tensor, pipeline, expert = (int(row[name]) for name in ("gpus", "tensor", "pipeline", "expert"))
    layout = EVEN if gpus == 1 else Layout(even=False, tensor=tensor, pipeline=pipeline, expert=expert)
    keys = PRECISIONS["fp8" if row["cache"] in {"fp8", "int8"} else "bf16"]
    machine = deploy(shape, chip, gpus=gpus, layout=layout, weights=weights, cache=keys)
    return Point(row, publisher, kind, machine, tuple(_passes(row, machine)), float(row["measured_s"]))


def _passes(row: dict[str, str], machine: Deployment) -> list[Step]:
    batch = int(float(row["batch"]))
    found = []

    def step(count: float, requests: int, positions: float, past: float) -> Step:
        one = one_pass(machine, requests=requests, positions=positions, past=past, output_positions=1)
        return Step(count, requests, positions, one)

    if row["phase"] != "decode":
        prompt = int(row["prompt"])
        chunk = int(row["chunk"] or CHUNK)
        if prompt * batch <= chunk or prompt <= chunk:  # whole prompts share a pass
            together = max(1, min(batch, chunk // prompt))
            found.append(step(batch / together, together, prompt, 0))
        else:
            parts = ceil(prompt / chunk)
            found += [step(batch, 1, prompt / parts, part * prompt / parts) for part in range(parts)]
    if row["phase"] == "decode":
        found.append(step(1, batch, 1, int(row["context"])))
    if row["phase"] == "e2e":
        answer = int(row["answer"])
        found.append(step(answer - 1, batch, 1, int(row["prompt"]) + answer / 2))
    return found
