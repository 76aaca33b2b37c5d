"""A model by part: its parameters, its bytes, its cache, from a preset or from a config.json."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.architecture import Architecture
from inferdash.facts.precision import PRECISIONS
from inferdash.layers.counts import Counts
from inferdash.physics import kv_cache
from inferdash.physics.parameters import bytes_in_format, checkpoint_bytes, mtp_parameters, parameters

CONTEXTS: Final = tuple(2**power for power in range(10, 21))
"""Lengths at which the cache is reported."""
_CACHE_BYTES: Final = 2
"""Bytes of a number in the cache, at bf16."""


def report(
    architecture: Architecture,
    *,
    contexts: Iterable[int] = CONTEXTS,
    problems: Iterable[str] = (),
    tensors: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The model in numbers, in base units: counts, bytes in its own format, cache at bf16 by context.

    `kv_bytes` is what the architecture needs for one request, `kv_bytes_reserved` what an engine reserves that keeps
    one table of blocks for all layers; states of fixed size are apart from both. `tensors` is
    what the headers of the files name, by number format, where they were read.
    """
    counts = parameters(architecture)
    lengths = sorted(set(contexts))
    return {
        "name": architecture.name,
        "parameters_total": int(counts.stored_total),
        "parameters_active": {
            "all": int(counts.active_with_input_embedding),
            "without_input_embedding": int(counts.active_total),
            "without_embedding_and_output": int(counts.active_in_blocks),
        },
        "parts": {part.name: part.parameters for part in parts(architecture)},
        "mtp_parameters": int(mtp_parameters(architecture).total),
        "other_parameters": architecture.other_parameters,
        "weight_format": architecture.weights,
        "weight_bytes_native": int(checkpoint_bytes(architecture, PRECISIONS[architecture.weights])),
        "weight_bytes_bf16": int(2 * counts.stored_total),
        "kv_bytes_per_token": _grown(architecture, 1),
        "kv_bytes_per_further_token": (_grown(architecture, lengths[-1] + 1024) - _grown(architecture, lengths[-1]))
        // 1024,
        "kv_bytes": {str(tokens): _grown(architecture, tokens) for tokens in lengths},
        "kv_bytes_reserved": {str(tokens): _reserved(architecture, tokens) for tokens in lengths},
        "state_bytes": int(kv_cache.request_state_bytes(architecture)),
        "state_bytes_reserved": int(kv_cache.request_state_bytes(architecture, reserved=True)),
        "tensors": dict(tensors or {}),
        "problems": list(problems),
    }


def _grown(architecture: Architecture, tokens: int) -> int:
    return int(kv_cache.text_cache_bytes(architecture, tokens=tokens, bytes_per_number=_CACHE_BYTES))


def _reserved(architecture: Architecture, tokens: int) -> int:
    return int(kv_cache.reserved_cache_bytes(architecture, tokens=tokens, bytes_per_number=_CACHE_BYTES))


@dataclass(frozen=True)
class Part:
    """One part of a model."""

    name: str
    parameters: int
    bytes: float
    """In the model's own number format."""


def parts(architecture: Architecture) -> list[Part]:
    """Each part of the model, the tables of tokens and its layers; the parameters add up to all in memory."""
    counts, hidden = parameters(architecture), architecture.hidden
    mixers, networks = Counts(), Counts()
    for blocks in architecture.blocks:
        if blocks.attention:
            mixers += blocks.attention.parameters(hidden).times(blocks.count)
        for network in blocks.networks:
            networks += network.stored(hidden).times(blocks.count)
    dense, experts = Counts(matrices=networks.matrices), Counts(experts=networks.experts)
    rest = counts.stored + (mixers + dense + experts).times(-1)
    found = {
        "input embedding": (Counts(), counts.input_embedding_apart),
        "per-layer embeddings": (Counts(), counts.token_tables),
        "attention and what stands in its place": (mixers, 0),
        "feed-forward, shared experts": (dense, 0),
        "routed experts": (experts, 0),
        "norms, routers and the rest": (rest, 0),
        "output layer": (Counts(), counts.output_layer),
    }
    precision = PRECISIONS[architecture.weights]
    return [
        Part(
            name,
            int(inside.total + tables),
            float(bytes_in_format(precision, inside, tables=tables, mixture=counts.mixture)),
        )
        for name, (inside, tables) in found.items()
        if inside.total + tables
    ]


def text(numbers: dict[str, Any]) -> str:
    """The numbers of `report` as a person reads them in a terminal."""
    active, reserved = numbers["parameters_active"], numbers["kv_bytes_reserved"]

    def size(name: str) -> str:
        return str(quantities.shown(numbers[name], "B"))

    lines = [numbers["name"], f"  parameters {numbers['parameters_total']:,}"]
    lines += [f"    {name} {count:,}" for name, count in numbers["parts"].items()]
    lines += [f"  active, {name.replace('_', ' ')} {count:,}" for name, count in active.items()]
    lines.append(f"  files in {PRECISIONS[numbers['weight_format']].name} {size('weight_bytes_native')}")
    lines.append(
        f"  cache at bf16, first token {size('kv_bytes_per_token')}, late token {size('kv_bytes_per_further_token')}"
    )
    for tokens, needed in numbers["kv_bytes"].items():
        as_needed, as_reserved = (quantities.shown(value, "B") for value in (needed, reserved[tokens]))
        lines.append(f"    {int(tokens):,} tokens: needs {as_needed}, reserved alike in all layers {as_reserved}")
    if numbers["state_bytes"]:
        lines.append(f"  state of a request {size('state_bytes')}")
    return "\n".join([*lines, *(f"  note: {problem}" for problem in numbers["problems"])])
