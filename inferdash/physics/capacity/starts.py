"""Starts of engines as they were logged, and what the rule says of each."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from inferdash import shipped
from inferdash.facts import library
from inferdash.facts.machines.engine_memory import EngineMemory, version
from inferdash.physics.capacity.engine_memory import Kept, Word, kept, starts
from inferdash.physics.capacity.settings import Setting, Shape
from inferdash.physics.capacity.spans import exactly

GIB: Final = 2**30
_ENGINES: Final = {
    "vllm": ("vllm", ""),
    "vllm V0": ("vllm", "V0 "),
    "ik_llama.cpp": ("llama.cpp", ""),
    "ollama": ("llama.cpp", "ollama "),
}
"""Engine in the file -> id of its rule, and what stands before its version."""
_NAMES: Final = {
    "gpu_memory_utilization_or_mem_fraction_static": "share",
    "max_model_len_or_n_ctx": "context",
    "max_num_seqs_or_max_running_requests": "requests",
    "max_num_batched_tokens_or_chunked_prefill_or_n_ubatch": "tokens",
    "default_max_num_seqs": "default_requests",
    "default_max_num_batched_tokens": "default_tokens",
    "architecture_key": "shape",
}
"""Longer names that a file of starts may have for the same columns."""
_WITHOUT_FLASH: Final = "b1 "
"""A build of llama.cpp of before flash attention was chosen by itself: where it is off, memory is as it was then."""
_LATENT: Final = ("deepseek", "kimi")
"""Start of the names of shapes whose cache is a latent vector."""
_LATENT_WIDTH: Final = 576
_HEAD: Final = 128
"""Numbers of a head of queries, which shapes do not say; it matters to scores without flash attention alone."""
_CACHE_BYTES: Final = {"fp8": 1.0, "q8_0": 34 / 32}
"""Format of the cache -> bytes of a number, where not 2."""
_OFF: Final = {"image limit 0", "language model only"}
"""What `multimodal` says where encoders are not tried out."""


@dataclass(frozen=True, kw_only=True)
class LoggedStart:
    """A start of an engine."""

    id: str
    source: str
    engine: str
    """Id of its rule."""
    version: str
    """As `facts.engine_memory.version` reads it; empty where not stated."""
    model: str
    weights_format: str
    gpu: str
    gpus: int
    shape: Shape | None
    """None where the model is not known."""
    setting: Setting
    sized: bool
    """Whether the memory of the accelerator is known, and not that of any."""
    weights: float | None
    """Bytes of the parameters on one accelerator, as logged."""
    activations: float | None
    """Bytes, likewise; of llama.cpp its compute buffer, of TensorRT-LLM its execution context."""
    outside: float | None
    room: float | None
    """Bytes for the cache on one accelerator; negative where none was left. Of llama.cpp those that a context took."""
    needed: float | None
    """Bytes of the cache of one request as long as the context, on one accelerator; None where not known."""
    started: bool
    fitted: bool
    """Whether settings and model are known well enough to fit with."""

    def said(self, found: Kept) -> Word:
        """Whether it starts, by a rule that says `found`, with the parameters as logged and one request."""
        needed = self.needed if library.engine_memory()[self.engine].whole_request else None
        return starts(found, weights=exactly(self.weights or 0.0), needed=needed or 0.0)

    @property
    def title(self) -> str:
        """Of what it was, in words."""
        without = self.version == _WITHOUT_FLASH.strip()
        version = "without flash attention" if without else self.version
        model = self.model.rpartition("/")[2] + (f" in {self.weights_format}" if self.weights_format else "")
        return f"{model}, {self.gpus:,} × {self.gpu}, {library.memory_of(self.engine).name} {version}".rstrip()

    @property
    def kept(self) -> Kept | None:
        """What the shipped rule says."""
        return self.by(library.engine_memory()[self.engine])

    def by(self, rule: EngineMemory) -> Kept | None:
        """What a rule says; None where too little is known."""
        return kept(rule, self.shape, self.setting) if self.shape and self.sized else None


def read(path: Path, shapes: Path | None = None) -> tuple[LoggedStart, ...]:
    """The starts of a file with the columns of presets/memory/starts.csv."""
    known = _shapes(shapes or shipped("presets") / "memory" / "shapes.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_start(row, known) for row in csv.DictReader(file))


@cache
def logged() -> tuple[LoggedStart, ...]:
    """The starts that the rules come from."""
    return read(shipped("presets") / "memory" / "starts.csv")


def _shapes(path: Path) -> dict[str, Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def _bytes(text: str | None, unit: float = GIB) -> float | None:
    return float(text) * unit if text else None


def _first(values: Iterable[float | None]) -> int | None:
    return next((int(value) for value in values if value), None)


def _start(row: Mapping[str, str], shapes: Mapping[str, Mapping[str, str]]) -> LoggedStart:
    row = {_NAMES.get(name, name): value or "" for name, value in row.items() if name}
    engine, before = _ENGINES.get(row["engine"], (row["engine"], ""))
    if row.get("flash_attention") == "0":
        before = _WITHOUT_FLASH
    written = before + (row["version"] if any(c.isdigit() for c in row["version"]) else "")
    shape = shapes.get(row["shape"])
    buffer = _bytes(row.get("compute_buffer_mib"), 2**20)
    return LoggedStart(
        id=row["id"],
        source=row["source"],
        engine=engine,
        version=written.strip(),
        model=row["model"],
        weights_format=row["weights_format"],
        gpu=row["gpu"],
        gpus=int(_number(row["n_gpu"]) or 1),
        shape=_shape(shape, row) if shape else None,
        setting=_setting(row, written.strip()),
        sized=_total(row) is not None,
        weights=_bytes(row["weights_gib"]),
        activations=_bytes(row["activation_gib"]) if row["activation_gib"] else buffer,
        outside=_bytes(row["non_torch_gib"]),
        room=_bytes(row["kv_gib"]),
        needed=_needed(shape, row) if shape and row["context"] else None,
        started=row["started"] == "yes",
        fitted=row["used_in_fit"] == "1",
    )


def _shape(shape: Mapping[str, str], row: Mapping[str, str]) -> Shape:
    mixture = bool(shape["topk"])
    tried = shape["kind"] == "mm" or row["multimodal"] in {"image", "audio"}
    return Shape(
        hidden=int(shape["hidden"]),
        vocabulary=int(shape["vocab"]),
        layers=int(shape["kv_layers"]) * (4 if shape["kind"] == "hybrid" else 1),
        heads=max(1, int(shape["hidden"]) // _HEAD),
        width=0 if mixture else int(shape["inter"]),
        experts_per_token=int(shape["topk"] or 0),
        expert_width=int(shape["moe_inter"] or 0),
        workspace="mxfp4" not in row["weights_format"],
        towers=tried and row["multimodal"] not in _OFF,
        recurrent=shape["kind"] == "hybrid",
    )


def _needed(shape: Mapping[str, str], row: Mapping[str, str]) -> float | None:
    """Of models whose cache grows alike with each token and layer; a latent one lies on each accelerator."""
    if shape["kind"] == "hybrid":
        return None
    latent = shape["model"].startswith(_LATENT)
    of_layer = _LATENT_WIDTH if latent else 2 * int(shape["kv_heads"]) * int(shape["head_dim"])
    sharing = 1 if latent else min(int(_number(row["tp"]) or 1), int(shape["kv_heads"]))
    number = _CACHE_BYTES.get(row["kv_format"], 2.0)
    layers = int(shape["kv_layers"]) / int(_number(row.get("pp")) or 1)
    return layers * of_layer * number / sharing * float(row["context"])


def _setting(row: Mapping[str, str], written: str) -> Setting:
    tensor, stages = int(_number(row["tp"]) or 1), int(_number(row.get("pp")) or 1)
    return Setting(
        total=_total(row) or _ANY,
        a100="A100" in row["gpu"],
        strange=any(maker in row["gpu"] for maker in _STRANGE),
        tensor=tensor,
        gpus=max(tensor * stages, int(_number(row["n_gpu"]) or 1)),
        version=written if not written or _readable(written) else "",
        share=_number(row["share"]),
        tokens=_first((_number(row["tokens"]), _number(row.get("default_tokens")))),
        requests=_first((_number(row["requests"]), _number(row.get("default_requests")))),
        context=int(_number(row["context"]) or 2048),
        last="first" not in row.get("stage", "") and "first stage" not in row.get("note", ""),
        weights=_bytes(row["weights_gib"]) or 0.0,
    )


def _readable(text: str) -> bool:
    try:
        version(text)
    except ValueError:
        return False
    return True


_STRANGE: Final = ("AMD", "Hygon", "Metal", "Gaudi", "Ascend", "MI2", "MI3", "TPU")
"""Parts of names of accelerators of other makers than NVIDIA."""
_ANY: Final = 80.0 * GIB
_TOTALS: Final = {
    "H100-80GB": 79.19,
    "A100-80GB": 79.25,
    "A100-40GB": 39.45,
    "H200": 139.8,
    "B200": 178.4,
    "RTX 3090": 23.58,
    "24GB card": 23.58,
    "RTX 4090": 23.55,
    "288GB card": 287.9,
    "A10": 22.0,
    "L4": 22.0,
    "L40S": 44.4,
    "RTX 5090": 31.36,
}
"""Start of an accelerator's name -> GiB that programs see of it, in other rows that print them."""


def _total(row: Mapping[str, str]) -> float | None:
    printed = _bytes(row["total_gib"])
    return printed or next((total * GIB for name, total in _TOTALS.items() if row["gpu"].startswith(name)), None)
