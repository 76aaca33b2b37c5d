"""Section 10.2: what the cache saves, what it holds, and how it slows the end of a long text."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts.models.architecture import Architecture
from inferdash.formula import remembered, section
from inferdash.layers.feed_forward import Experts
from inferdash.layers.grouped import GroupedAttention
from inferdash.layers.kinds import Attention
from inferdash.physics.capacity import kv_cache, memory
from inferdash.physics.deployment import Deployment
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies import ratios
from inferdash.studies.learn import loading
from inferdash.studies.numbers import Headline, Row, Table, number

NAME: Final = "kv_cache"
TITLE: Final = "KV cache"
CHAPTER_TOKENS: Final = ("The", "␣ride", "␣of", "␣", "3", "␣km", "␣cost", "␣$", "9", ".", "end")
"""The chapter's prompt of 8 tokens and its answer of 3."""
LENGTHS: Final = (1024, 8192, 131_072)
_LONG: Final = LENGTHS[-1]
_CURVE_POINTS: Final = 80
_STEP: Final = 1024
"""Tokens over which a further one is averaged, as some caches keep an entry for many of them."""
_MULTI_HEAD: Final = "multi-head attention (MHA)"
_MULTI_QUERY: Final = "multi-query attention (MQA)"


@dataclass(frozen=True)
class KVCache:
    """Every headline number of the page."""

    positions_without: int = number("positions", "computed without a cache, in the small example")
    positions_with: int = number("positions", "computed with a cache, in the small example")
    bytes_per_token: float = number("B/token", "cache of one token in all layers")
    bytes_per_further_token: float = number("B/token", "cache of one more token of a long context")
    bytes_per_request: float = number("B", "cache of one request after its prompt, its state included")
    state_bytes: float = number("B", "state of one request, at any length")
    reserved_bytes_per_request: float = number(
        "B", "cache of one request where an engine reserves full length in every layer, state included"
    )
    long_pass_ratio: float = number("times", "memory read per pass at a long context, over that without one")
    long_tokens: int = number("tokens", "length of that context")
    crossover_tokens: int | None = number(
        "tokens", "context length from which the cache of one request outweighs the parameters read"
    )
    parameters_bytes: float = number("B", "parameters in memory")
    caches_bytes: float = number("B", "caches of the batch in memory")
    free_bytes: float = number("B", "free memory")


@remembered
def study(scenario: Scenario) -> KVCache:
    """The numbers of the page for a scenario."""
    machine = scenario.deployment
    with section("Positions"):
        small = {"prompt": scenario.grid_prompt, "answer": scenario.grid_answer}
        without = kv_cache.positions_without_cache(**small)
        with_cache = kv_cache.positions_with_cache(**small)
    with section("Cache"):
        state = float(kv_cache.request_state_bytes(machine.architecture))
        token, request = _bytes(machine, 1) - state, _bytes(machine, scenario.prompt)
        reserved = kv_cache.reserved_cache_bytes(
            machine.architecture, tokens=scenario.prompt, bytes_per_number=machine.cache_bytes_per_number
        ) + kv_cache.request_state_bytes(machine.architecture, reserved=True)
    long_tokens = max(_LONG, scenario.prompt + scenario.answer)
    with section("A long text"):
        short, long = (decode(machine, requests=1, past=past).bytes_read for past in (0, long_tokens))
        ratio = kv_cache.long_pass_ratio(long_bytes=long, short_bytes=short)
    caches = scenario.batch * request
    return KVCache(
        positions_without=int(without),
        positions_with=int(with_cache),
        bytes_per_token=token,
        bytes_per_further_token=(_bytes(machine, long_tokens + _STEP) - _bytes(machine, long_tokens)) / _STEP,
        bytes_per_request=request,
        state_bytes=state,
        reserved_bytes_per_request=float(reserved),
        long_pass_ratio=float(ratio),
        long_tokens=long_tokens,
        crossover_tokens=_crossover(machine, float(short)),
        parameters_bytes=float(machine.stored_bytes),
        caches_bytes=caches,
        free_bytes=scenario.gpus * machine.memory - float(machine.stored_bytes) - caches,
    )


def _bytes(machine: Deployment, tokens: int, architecture: Architecture | None = None) -> float:
    return float(
        kv_cache.request_cache_bytes(
            architecture or machine.architecture, tokens=tokens, bytes_per_number=machine.cache_bytes_per_number
        )
    )


def _crossover(machine: Deployment, parameters: float) -> int | None:
    """The first length whose cache is larger than the parameters that a pass loads; None beyond 10 million."""
    lengths = np.unique(np.geomspace(1, 1e7, 4000).round())
    sizes = np.asarray(
        kv_cache.request_cache_bytes(
            machine.architecture, tokens=lengths, bytes_per_number=machine.cache_bytes_per_number
        )
    )
    above = np.flatnonzero(sizes > parameters)
    if not above.size:
        return None
    low, high = int(lengths[above[0] - 1]) if above[0] else 0, int(lengths[above[0]])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _bytes(machine, middle) > parameters else (middle, high)
    return high


def sentence(scenario: Scenario, result: KVCache) -> str:
    """The result in words."""
    request = quantities.shown(result.bytes_per_request, "B")
    tokens = quantities.count(scenario.prompt, "token")
    token = quantities.shown(result.bytes_per_token, "B")
    state = f" and {quantities.shown(result.state_bytes, 'B')} at any length" if result.state_bytes else ""
    said = f"A request of {tokens} takes {request} of KV cache{':' if state else ','} {token} per token"
    if result.bytes_per_further_token != result.bytes_per_token:
        said += f" at first and {quantities.shown(result.bytes_per_further_token, 'B')} past the attention window"
    return f"{said}{state}."


def headline_numbers(_: Scenario, result: KVCache) -> list[Headline]:
    """The numbers on top: four, or three where no cache of a request outweighs the parameters."""
    shown: list[Headline] = [
        Headline("Cache per token", result.bytes_per_token, "B", ratio=ratios.large("the cache of a token is {}")),
        Headline(
            "Cache per request after its prompt",
            result.bytes_per_request,
            "B",
            ratio=ratios.large("the cache of a request is {}"),
        ),
        Headline(
            f"Memory read per pass, {result.long_tokens:,} tokens vs none",
            result.long_pass_ratio,
            "times",
            of="Memory read per pass, a long context vs none",
            ratio=ratios.UNSAID,
        ),
    ]
    if result.crossover_tokens is not None:
        outgrows = ratios.many("a cache outgrows the parameters at {} tokens")
        shown.append(
            Headline("Cache of a request outgrows parameters at", result.crossover_tokens, "tokens", ratio=outgrows)
        )
    return shown


def grid_rows(scenario: Scenario) -> list[dict[str, Any]]:
    """A cell for each pass and each position of its text: run through the network, or read from the cache."""
    prompt, answer = scenario.grid_prompt, scenario.grid_answer
    chapter = (prompt, answer) == (8, 3)
    names = CHAPTER_TOKENS if chapter else tuple(str(i + 1) for i in range(prompt + answer))
    written = [f"“{name}”" if chapter else f"token {name}" for name in names]
    return [
        {
            "made": f"step {made + 1} writes {written[prompt + made]}",
            "pass": made + 1,
            "position": position + 1,
            "token": names[position],
            "state": "run" if made == 0 or position == prompt + made - 1 else "read",
            "writes": names[prompt + made],
            "named": chapter,
        }
        for made in range(answer)
        for position in range(prompt + made)
    ]


def grid_sentence(result: KVCache) -> str:
    """What the cache saves in the small example."""
    return (
        "Orange with a full border: computed in this step. Green with a dashed border: read from the cache. Without a "
        f"cache every cell would be computed, {quantities.count(result.positions_without, 'position')} in all; with it "
        f"{result.positions_with:,}."
    )


def load_sentence(scenario: Scenario, result: KVCache) -> str:
    """What a long context does to a pass."""
    cache = "its cache" if scenario.batch == 1 else "the cache of each"
    reads = f"A decode pass for {quantities.count(scenario.batch, 'request')} reads the parameters once and {cache}"
    if result.crossover_tokens is None:
        return f"{reads}. The cache of one request stays smaller than the parameters."
    return (
        f"{reads}. From {result.crossover_tokens:,} tokens on, the cache of one request is larger than the parameters."
    )


def room_rows(scenario: Scenario) -> list[dict[str, Any]]:
    """Where the memory of all GPUs ends."""
    room = scenario.gpus * scenario.deployment.memory
    return [{"end_b": room, "label": f"memory {quantities.shown(room, 'B')}"}]


def length_table(scenario: Scenario) -> Table:
    """Cache of one request at the chapter's lengths and the scenario's, for this model and two others like it."""
    machine = scenario.deployment
    lengths = sorted({*LENGTHS, scenario.prompt})
    own = _kinds(machine.architecture)
    rows = [_length_row(machine, f"{machine.architecture.name}: {own}", machine.architecture, lengths)]
    for kind, heads in ((_MULTI_HEAD, None), (_MULTI_QUERY, 1)):
        other = _with_kv_heads(machine.architecture, heads)
        if other and kind != own:
            rows.append(_length_row(machine, f"with {kind}", other, lengths))
    return Table(tuple(quantities.count(length, "token") for length in lengths), tuple(rows), head="Model")


_OTHER_KINDS: Final = {
    "LatentAttention": "multi-head latent attention (MLA)",
    "CompressedAttention": "compressed attention",
    "GatedDeltaNet": "linear attention (Gated DeltaNet)",
    "KimiDelta": "linear attention (Kimi Delta)",
    "Lightning": "linear attention (Lightning)",
    "StateSpace": "state space (Mamba-2)",
    "SelectiveStateSpace": "state space (Mamba)",
    "ShortConvolution": "short convolution",
}
"""Kinds whose cache does not follow from a number of key-value heads, in the field's words."""


def _kinds(architecture: Architecture) -> str:
    """The kinds of attention of a model's layers, in the field's words."""
    return " and ".join(dict.fromkeys(_kind(blocks.attention) for blocks in architecture.blocks if blocks.attention))


def _kind(attention: Attention) -> str:
    if not isinstance(attention, GroupedAttention):
        return _OTHER_KINDS[type(attention).__name__]
    if attention.kv_heads == attention.heads:
        return _MULTI_HEAD
    return _MULTI_QUERY if attention.kv_heads == 1 else "grouped-query attention (GQA)"


def _length_row(machine: Deployment, label: str, architecture: Architecture, lengths: list[int]) -> Row:
    return Row(label, "B", tuple(_bytes(machine, length, architecture) for length in lengths))


def _with_kv_heads(architecture: Architecture, kv_heads: int | None) -> Architecture | None:
    """The model with another number of key-value heads, one for each query head where None; None for latent caches."""
    blocks = []
    for block in architecture.blocks:
        if not isinstance(block.attention, GroupedAttention):
            return None
        attention = block.attention.model_copy(update={"kv_heads": kv_heads or block.attention.heads})
        blocks.append(block.model_copy(update={"attention": attention}))
    return architecture.model_copy(update={"blocks": tuple(blocks)})


def load_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Memory read time of a pass of the batch along the length of the context."""
    longest = max(_LONG, scenario.prompt + scenario.answer)
    lengths = np.unique(np.append(np.geomspace(128, longest, _CURVE_POINTS), [scenario.prompt]).round())
    return loading.rows(scenario, "tokens", lengths, requests=scenario.batch, past=lengths)


def memory_rows(result: KVCache) -> list[dict[str, Any]]:
    """The memory of all GPUs as parts of one bar; what does not fit lies beyond its end."""
    parts = (
        ("parameters", "memory", result.parameters_bytes),
        ("caches", "cache", result.caches_bytes),
        ("free", "waiting", max(0.0, result.free_bytes)),
    )
    rows, start = [], 0.0
    for part, limit, size in parts:
        label = f"{part} {quantities.shown(size, 'B')}"
        rows.append({"part": part, "meaning": limit, "start_b": start, "end_b": start + size, "label": label})
        start += size
    return rows


def memory_sentence(scenario: Scenario, result: KVCache) -> str:
    """What the memory holds, and a way out where it does not."""
    chips = f"On {scenario.gpus:,} × {scenario.hardware.name}"
    caches = "cache" if scenario.batch == 1 else "caches"
    holds = f"the parameters and the {caches} of {quantities.count(scenario.batch, 'request')}"
    if result.free_bytes >= 0:
        return f"{chips} {holds} fit, and {quantities.shown(result.free_bytes, 'B')} are free."
    fewest = memory.fewest_gpus(scenario.deployment, requests=scenario.batch, tokens=scenario.prompt)
    lack = quantities.shown(-result.free_bytes, "B")
    return f"{chips} {holds} need {lack} more. It takes at least {int(fewest):,} GPUs, or fewer or shorter requests."


MEMORY_NOTE: Final = (
    "Counted of the datasheet’s memory with nothing but parameters and caches in it. “Memory” counts what the driver "
    "reports, which may be more or less, and what the engine keeps for itself."
)
"""Why another page has other numbers of the same memory."""


def stored_sentence(scenario: Scenario, result: KVCache) -> str:
    """Why a pass reads less than the memory holds; nothing where it reads all."""
    machine = scenario.deployment
    read = float(machine.loaded_bytes(positions=scenario.batch))
    sizes = [str(quantities.shown(size, "B")) for size in (result.parameters_bytes, read)]
    counts = machine.parameters
    tables = "embedding tables are" if counts.token_tables else "the input embedding is"
    looked_up = bool(counts.token_tables or counts.input_embedding_apart)
    unread = [f"{tables} looked up, not read in full"] * looked_up
    unread += ["experts that no token is routed to are not read"] * any(
        isinstance(network, Experts) for blocks in machine.architecture.blocks for network in blocks.networks
    )
    if sizes[0] == sizes[1] or not unread:
        return ""
    return f"Of {sizes[0]} of parameters in memory, a decode pass reads {sizes[1]}: {', and '.join(unread)}."
