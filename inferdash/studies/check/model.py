"""A model by part: its parameters, its bytes, its cache, from a preset or from a config.json."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import PRECISIONS
from inferdash.formula import Number, remembered, section
from inferdash.layers.counts import Counts
from inferdash.physics.capacity import kv_cache, memory
from inferdash.physics.capacity.parameters import (
    bytes_in_format,
    checkpoint_bytes,
    mtp_parameters,
    mtp_table_copies,
    parameters,
)
from inferdash.scenario import Scenario
from inferdash.studies import ratios
from inferdash.studies.learn.experts import experts_of
from inferdash.studies.numbers import Headline, Row, Table, number

NAME: Final = "model"
TITLE: Final = "Model"
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
        "weight_formats": [share.model_dump() for share in architecture.formats],
        "weight_bytes_native": int(checkpoint_bytes(architecture, PRECISIONS[architecture.weights])),
        "weight_bytes_bf16": int(2 * counts.stored_total),
        "kv_bytes_per_token": _grown(architecture, 1),
        "kv_bytes_per_further_token": (_grown(architecture, lengths[-1] + 1024) - _grown(architecture, lengths[-1]))
        // 1024,
        "kv_bytes_per_token_mtp": int(
            kv_cache.further_cache_bytes(architecture, tokens=1, bytes_per_number=_CACHE_BYTES)
        ),
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
class Model:
    """Every headline number of the page."""

    parameters_total: int = number("parameters", "in all")
    active_all: int = number("parameters", "active per token, with both embedding tables")
    active_without_input_embedding: int = number("parameters", "active per token, without the input embedding")
    active_without_embedding_and_output: int = number("parameters", "active per token, without both embedding tables")
    mtp_parameters: int = number("parameters", "of multi-token prediction layers, counted apart")
    other_parameters: int = number("parameters", "of image and audio encoders, counted apart")
    weight_bytes_native: float = number("B", "files in the maker’s own format")
    kv_bytes_per_token: float = number("B", "cache of the first token at bf16")
    kv_bytes_per_further_token: float = number("B", "cache of a further token of a long context, bf16")
    state_bytes: float = number("B", "state of a request")
    layers: int = number("layers", "one after another")


@remembered
def study(scenario: Scenario) -> Model:
    """The numbers of the page for a scenario."""
    architecture = scenario.architecture
    with section("Parameters"):
        counts = parameters(architecture)
    with section("Cache"):
        first = _grown(architecture, 1)
    far = CONTEXTS[-1]
    return Model(
        parameters_total=int(counts.stored_total),
        active_all=int(counts.active_with_input_embedding),
        active_without_input_embedding=int(counts.active_total),
        active_without_embedding_and_output=int(counts.active_in_blocks),
        mtp_parameters=int(mtp_parameters(architecture).total),
        other_parameters=architecture.other_parameters,
        weight_bytes_native=float(checkpoint_bytes(architecture, PRECISIONS[architecture.weights])),
        kv_bytes_per_token=first,
        kv_bytes_per_further_token=(_grown(architecture, far + 1024) - _grown(architecture, far)) // 1024,
        state_bytes=float(kv_cache.request_state_bytes(architecture)),
        layers=architecture.layers,
    )


def sentence(scenario: Scenario, result: Model) -> str:
    """The result in words."""
    model = scenario.architecture
    size = quantities.shown(result.parameters_total, "parameters").number
    layers = quantities.count(result.layers, "layer")
    active = quantities.shown(result.active_without_input_embedding, "parameters").number
    work = f", {active} of them active per token" if experts_of(model) else ""
    files = quantities.shown(result.weight_bytes_native, "B")
    return f"{model.name} has {size} parameters{work}, in {layers}; its files in {format_name(model)} take {files}."


def headline_numbers(_: Scenario, result: Model) -> list[Headline]:
    """The four numbers on top."""
    return [
        Headline("Parameters", result.parameters_total, "parameters", ratio=ratios.PARAMETERS),
        Headline(
            "Active, without the input embedding",
            result.active_without_input_embedding,
            "parameters",
            ratio=ratios.ACTIVE,
        ),
        Headline(
            "Files in the maker’s format", result.weight_bytes_native, "B", ratio=ratios.large("its files are {}")
        ),
        Headline(
            "Cache per further token, bf16",
            result.kv_bytes_per_further_token,
            "B",
            ratio=ratios.large("the cache of a further token is {}"),
        ),
    ]


def conventions(result: Model) -> str:
    """The three ways in which makers count active parameters."""
    counted = (
        (result.active_all, "with both embedding tables"),
        (result.active_without_input_embedding, "without the input embedding"),
        (result.active_without_embedding_and_output, "without both embedding tables"),
    )
    said = ", ".join(f"{quantities.shown(count, 'parameters').number} {how}" for count, how in counted)
    return f"Makers count active parameters in three ways: {said}."


def part_table(scenario: Scenario) -> Table:
    """The model by part: parameters, and bytes in its maker's format."""
    architecture = scenario.architecture
    rows = [
        Row(part.name, "word", (f"{part.parameters:,}", str(quantities.shown(part.bytes, "B"))))
        for part in parts(architecture)
    ]
    total = sum(part.parameters for part in parts(architecture))
    size = sum(part.bytes for part in parts(architecture))
    rows.append(Row("in all", "word", (f"{total:,}", str(quantities.shown(size, "B")))))
    if architecture.mtp:
        copies = int(mtp_table_copies(architecture))
        further = int(mtp_parameters(architecture).total) + copies
        files = float(checkpoint_bytes(architecture, PRECISIONS[architecture.weights]))
        named = f"and in the files, to predict further tokens{', both tables once more' if copies else ''}"
        rows.append(Row(named, "word", (f"{further:,}", str(quantities.shown(files - size, "B")))))
    return Table(("parameters", f"bytes in {format_name(architecture)}"), tuple(rows), head="Part")


_KINDS: Final[Mapping[str, str]] = {
    "attention": "attention",
    "dense": "dense feed-forward",
    "shared": "shared experts",
    "experts": "routed experts",
    "router": "routers",
    "input": "input embedding",
    "output": "output layer",
    "mtp": "layers for further tokens",
    "small": "norms and biases",
}
"""A kind of parameter, in words."""


def format_name(architecture: Architecture) -> str:
    """The number format of a model's files, or the formats, the one that takes most bytes first."""
    return in_model(PRECISIONS[architecture.weights], architecture).name


def format_table(scenario: Scenario) -> Table:
    """Each kind of parameter by the number formats that the model's files keep it in; no rows where it is one."""
    formats = scenario.architecture.formats
    return Table(
        ("parameters", "bits each", "bytes", "multiplied in"),
        tuple(
            Row(
                f"{_KINDS[share.kind]}, {share.name}",
                "word",
                (
                    f"{share.parameters:,}",
                    f"{share.bits:.4g}",
                    str(quantities.shown(share.parameters * share.bits / 8, "B")),
                    scenario.hardware.rate_name(share.rate) if share.kind not in {"input", "router"} else "",
                ),
            )
            for share in formats
        ),
        head="Kind of parameter",
    )


def size_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Rows "formats": bytes of each part; row "room" leaves room for the label of the longest bar."""
    found = parts(scenario.architecture)
    bars = [
        {
            "format": part.name,
            "gb": part.bytes / 1e9,
            "meaning": "memory",
            "label": str(quantities.shown(part.bytes, "B")),
        }
        for part in found
    ]
    return {"formats": bars, "room": [{"gb": 1.25 * max(part.bytes for part in found) / 1e9}]}


def layer_table(scenario: Scenario) -> Table:
    """The kinds of layers: how many, what each is, and what a request leaves in one and in all of them at bf16."""
    rows = []
    for blocks in scenario.architecture.blocks:
        mixer = blocks.attention
        inside = (*((mixer,) if mixer else ()), *blocks.networks)
        kept = mixer.cached_numbers(scenario.prompt) * _CACHE_BYTES + mixer.state_numbers * 4 if mixer else 0
        rows.append(
            Row(
                f"{quantities.count(blocks.count, 'layer')}: {'; '.join(part.name for part in inside)}",
                "word",
                tuple(str(quantities.shown(float(times * kept), "B")) for times in (1, blocks.count)),
            )
        )
    tokens = quantities.count(scenario.prompt, "token")
    return Table((f"cache of {tokens} in one", "in all of them"), tuple(rows), head="Layers")


def picker_rows(scenario: Scenario) -> list[dict[str, Any]]:
    """Every preset in a row: its id, what it is, and how many of the scenario's accelerators hold it."""
    rows = []
    for key, row in _presets().items():
        named, *rest = row.items()
        rows.append(dict([named, ("GPUs", _fewest(key, scenario)), *rest]))
    return rows


def _fewest(key: str, scenario: Scenario) -> int:
    other = scenario.model_copy(update={"model": key, "weights": library.models()[key].weights, "batch": 1})
    return int(memory.fewest_gpus(other.deployment, requests=1, tokens=other.prompt))


@cache
def _presets() -> dict[str, dict[str, Any]]:
    found = {}
    for key, model in library.models().items():
        result = study(Scenario(model=key))
        mixers = dict.fromkeys(blocks.attention.name for blocks in model.blocks if blocks.attention)
        found[key] = {
            "model": model.name,
            "billion": result.parameters_total / 1e9,
            "active": result.active_without_input_embedding / 1e9,
            "GB": result.weight_bytes_native / 1e9,
            "maker": model.maker,
            "kind": "experts" if experts_of(model) else "dense",
            "format": format_name(model),
            "further token, kB": result.kv_bytes_per_further_token / 1e3,
            "context": model.context,
            "confidence": model.confidence,
            "attention": "; ".join(mixers),
            "id": key,
        }
    return found


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
    dense, experts = Counts(dense=networks.dense, shared=networks.shared), Counts(experts=networks.experts)
    rest = counts.stored + (mixers + dense + experts).times(-1)
    found: dict[str, tuple[Counts, Number, Number]] = {
        "input embedding": (Counts(), 0, counts.input_embedding_apart),
        "per-layer embeddings": (Counts(), 0, counts.token_tables),
        "attention": (mixers, 0, 0),
        "feed-forward": (dense, 0, 0),
        "routed experts": (experts, 0, 0),
        "norms, routers, rest": (rest, 0, 0),
        "output layer": (Counts(), counts.output_layer, 0),
    }
    precision = in_model(PRECISIONS[architecture.weights], architecture)
    return [
        Part(
            name,
            int(inside.total + output + looked_up),
            float(bytes_in_format(precision, inside, output=output, looked_up=looked_up, mixture=counts.mixture)),
        )
        for name, (inside, output, looked_up) in found.items()
        if inside.total + output + looked_up
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
    lines += [
        f"    {_KINDS[share['kind']]} in {share['name']} {share['parameters']:,}" for share in numbers["weight_formats"]
    ]
    lines.append(
        f"  cache at bf16, first token {size('kv_bytes_per_token')}, further token {size('kv_bytes_per_further_token')}"
    )
    for tokens, needed in numbers["kv_bytes"].items():
        as_needed, as_reserved = (quantities.shown(value, "B") for value in (needed, reserved[tokens]))
        lines.append(f"    {int(tokens):,} tokens: needs {as_needed}, reserved alike in all layers {as_reserved}")
    if numbers["state_bytes"]:
        lines.append(f"  state of a request {size('state_bytes')}")
    return "\n".join([*lines, *(f"  note: {problem}" for problem in numbers["problems"])])
