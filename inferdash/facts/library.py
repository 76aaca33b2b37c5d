"""Reads presets/: one TOML file a fact, whose stem is its id and stands in links."""

import os
import re
import sys
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import tomli_w
from pydantic import BaseModel

from inferdash import shipped
from inferdash.facts.example import Example
from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.machines.engine import Engine
from inferdash.facts.machines.engine_memory import EngineMemory
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.money import rents
from inferdash.facts.money.caching import CachingRules

Fact = TypeVar("Fact", bound=BaseModel)
_ID: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")


def read(path: Path, kind: type[Fact]) -> Fact:
    """One preset.

    Raises:
        pydantic.ValidationError: where the file is not such a fact.
    """
    return kind.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def _read_all(folder: str, kind: type[Fact]) -> dict[str, Fact]:
    paths = (shipped("presets") / folder).glob("*.toml")
    return {path.stem: read(path, kind) for path in sorted(paths, key=lambda path: _natural(path.stem))}


def _natural(stem: str) -> list[tuple[str, int]]:
    """Sorts 8b before 70b."""
    return [(text, int(number or 0)) for text, number in re.findall(r"(\D*)(\d*)", stem)]


@cache
def models() -> dict[str, Architecture]:
    """Id -> model."""
    return _read_all("models", Architecture)


@cache
def accelerators() -> dict[str, Accelerator]:
    """Id -> accelerator, with what it rents for."""
    quoted: dict[str, list[rents.Quote]] = {}
    for quote in rents.quotes():
        quoted.setdefault(quote.accelerator, []).append(quote)
    chips = _read_all("accelerators", Accelerator)
    return {key: chip.model_copy(update={"rents": tuple(quoted.get(key, ()))}) for key, chip in chips.items()}


@cache
def engines() -> dict[str, Engine]:
    """Id -> engine: the presets, then the reader's own in the folder that `INFERDASH_ENGINES` names."""
    return _read_all("engines", Engine) | _own_engines(os.environ.get("INFERDASH_ENGINES", ""))


def _own_engines(folder: str) -> dict[str, Engine]:
    """The engines of a folder; a file that is none is named on standard error, and the others stay."""
    found: dict[str, Engine] = {}
    for path in sorted(Path(folder).glob("*.toml")) if folder else []:
        free = _ID.fullmatch(path.stem) and not (shipped("presets") / "engines" / path.name).exists()
        why = "" if free else "a name of small letters, digits, dots and hyphens that no preset has is needed"
        try:
            found |= {path.stem: read(path, Engine)} if free else {}
        except (ValueError, OSError) as error:
            why = str(error).splitlines()[0]
        if why:
            sys.stderr.write(f"inferdash: {path} is not taken as an engine: {why}.\n")
    return found


@cache
def scenarios() -> dict[str, Example]:
    """Id -> a scenario worth a look, in their order."""
    return _read_all("scenarios", Example)


@cache
def caching() -> dict[str, CachingRules]:
    """Id -> rules of a prompt cache."""
    return _read_all("caching", CachingRules)


def rules_of(provider: str, model: str) -> CachingRules | None:
    """The rules for a model, those that name it before those of the whole provider; None where none are known."""
    own = [rules for rules in caching().values() if rules.provider == provider]
    held = [rules for rules in own if any(fnmatch(model, pattern) for pattern in rules.only)]
    return min(held, key=lambda rules: rules.only == ("*",), default=None)


def written(architecture: Architecture) -> str:
    """A model as a preset file, which `read` reads back."""
    fields = architecture.model_dump(exclude_none=True, exclude_defaults=True)
    layers = [fields.get("mtp", {}), *fields["blocks"]]
    for layer, blocks in zip(layers, (architecture.mtp, *architecture.blocks), strict=True):
        for name in ("attention", "feed_forward", "beside"):
            if name in layer:
                layer[name] = {"kind": getattr(blocks, name).kind} | layer[name]
    blocks_last = {**{name: value for name, value in fields.items() if name != "blocks"}, "blocks": fields["blocks"]}
    return tomli_w.dumps(blocks_last)


@cache
def engine_memory() -> dict[str, EngineMemory]:
    """Id of an engine -> how it divides the memory; "unknown" for those without a logged start."""
    return _read_all("memory", EngineMemory)


def memory_of(engine: str) -> EngineMemory:
    """How an engine divides the memory; what logged engines have in common where it was not found to log it."""
    return engine_memory().get(engine, engine_memory()["unknown"])
