"""Models, accelerators, engines and number formats by the names under which others write them."""

import re
from collections.abc import Iterator
from functools import cache

from inferdash.facts.library import accelerators, engines, models
from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.machines.engine import Engine
from inferdash.facts.measured import rows_of
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import PRECISIONS, Precision
from inferdash.physics.fitted.published import tables

_ENGINES = {"trtllm": "tensorrt-llm", "trt-llm": "tensorrt-llm", "llamacpp": "llama.cpp", "exllamav2": "exllama"}
_FORMATS = {
    "fp16": "bf16",
    "float16": "bf16",
    "bfloat16": "bf16",
    "fp4": "nvfp4",
    "int4": "int4-g32-experts",
    "fp8block": "fp8-block",
    "fp8e4m3": "fp8",
    "int4g128": "int4-g128",
    "w4a16": "int4-g128",
}
_MANY_EXPERTS = 16
"""Experts from which on what is called fp8 is in blocks, as the makers of such models publish it."""


def _plain(name: str) -> str:
    """A name without case, maker and marks."""
    return re.sub(r"[^a-z0-9.]", "", name.rsplit("/", 1)[-1].lower().replace("nvidia ", "").replace("amd ", ""))


@cache
def _models() -> dict[str, Architecture]:
    shapes = tables()[0]
    found = {_plain(row["model"]): shapes[row["model"]] for row in rows_of("models")}
    for key, one in models().items():
        found |= {_plain(name): one for name in (key, one.name, one.hf_id) if name}
    return found


@cache
def _accelerators() -> dict[str, Accelerator]:
    chips = tables()[1]
    found = {_plain(row["accelerator"]): chips[row["accelerator"]][0] for row in rows_of("accelerators")}
    for key, one in accelerators().items():
        found |= {_plain(name): one for name in (key, one.name)}
    for name in ("h100", "h200", "b200", "b300"):
        found.setdefault(name, accelerators()[f"{name}-sxm"])
    return found


def _endings(name: str) -> Iterator[str]:
    """A name, then without endings that say a format or what it was trained for."""
    plain = _plain(name)
    yield plain
    for ending in ("fp8", "fp4", "nvfp4", "mxfp4", "instruct", "it", "chat", "base", "thinking2507", "instruct2507"):
        plain = plain.removesuffix(ending)
        yield plain


def model(name: str) -> Architecture:
    """A model by its preset's id, its name, its id on the hub, or its name in presets/measured/.

    Raises:
        ValueError: with a sentence, where there is none of that name.
    """
    for plain in _endings(name):
        if plain in _models():
            return _models()[plain]
    raise ValueError(f"the model {name or 'without a name'} is not known")


def accelerator(name: str) -> Accelerator:
    """An accelerator, likewise.

    Raises:
        ValueError: with a sentence, where there is none of that name.
    """
    found = _accelerators().get(_plain(name))
    if found is None:
        raise ValueError(f"the accelerator {name or 'without a name'} is not known")
    return found


def engine(name: str) -> Engine:
    """An engine, likewise; what all engines have in common where it is another one."""
    plain = _plain(name).replace(".", "")
    for key, one in engines().items():
        if plain in {_plain(key).replace(".", ""), _plain(one.name).replace(".", "")}:
            return one
    return engines()[_ENGINES.get(plain, "unknown")]


def weights(name: str, shape: Architecture) -> Precision:
    """The number format of a model's parameters; as it was published where no name is given.

    Raises:
        ValueError: with a sentence, where there is none of that name.
    """
    plain = _plain(name) or shape.weights
    key = next((key for key in PRECISIONS if plain in {key, _plain(key)}), _FORMATS.get(plain, ""))
    if key == "fp8" and _experts(shape) > _MANY_EXPERTS:
        key = "fp8-block"
    if key == "nvfp4" and shape.weights == "mxfp4":
        key = "mxfp4"
    if not key:
        raise ValueError(f"the weight format {name} is not known")
    return PRECISIONS[key]


def cache_format(name: str, parameters: Precision) -> Precision:
    """The number format of keys and values: 8 bits where parameters have a rate of their own below 16, if not given.

    Raises:
        ValueError: with a sentence, where there is none of that name.
    """
    plain = _plain(name)
    if plain in {"", "auto"}:
        return PRECISIONS["bf16" if parameters.rate == "dense_bf16" else "fp8"]
    if plain.startswith(("fp8", "int8", "f8", "q80")):
        return PRECISIONS["fp8"]
    if plain in {"bf16", "fp16", "f16", "float16", "bfloat16"}:
        return PRECISIONS["bf16"]
    raise ValueError(f"the cache format {name} is not known")


def _experts(shape: Architecture) -> int:
    return max((getattr(blocks.feed_forward, "experts", 0) for blocks in shape.blocks), default=0)
