"""What lies in the memory of each accelerator, how many requests fit, and the ways out where they do not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.models.precision import CACHE_PRECISIONS, PRECISIONS
from inferdash.formula import remembered, section
from inferdash.physics.capacity import kv_cache, memory
from inferdash.physics.parallelism import obstacle
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies import expected, ratios
from inferdash.studies.capacity import apart, batch_of, fewest
from inferdash.studies.learn.experts import experts_of
from inferdash.studies.numbers import Estimate, Headline, Row, Table, leading, number, part, plain, show
from inferdash.studies.run import engine_memory

NAME: Final = "memory"
TITLE: Final = "Memory"
_LAYOUTS: Final = {
    "even": "evenly, link not counted",
    "tensor": "tensor parallel",
    "expert": "data parallel, experts spread",
    "pipeline": "pipeline parallel",
    "data": "data parallel",
}
_LONGEST: Final = 10_000_000
_LARGER_SHARE: Final = 0.95
_FEWER_REQUESTS: Final = 64


@dataclass(frozen=True)
class Memory:
    """Every headline number of the page."""

    shown_bytes: float = number("B", "memory of one GPU")
    usable_bytes: float = number("B", "usable for parameters and caches")
    parameters_bytes: float = number("B", "parameters on one GPU")
    caches_bytes: float = number("B", "caches of the batch on one GPU")
    free_bytes: float = number("B", "free on one GPU; negative: missing")
    largest_batch: int = number("requests", "that fit after the prompt")
    largest_batch_at_end: int = number("requests", "that fit at the end of their answers")
    largest_batch_reserved: int = number("requests", "that fit where an engine reserves full length in every layer")
    fewest_gpus: int | None = number("GPUs", "fewest that hold the batch; not known beyond a thousand")
    capacity: Estimate = part("largest batch after the prompt", "requests")
    room: Estimate = part("room for caches on one GPU; negative: missing", "B")
    starts: str | None = number("word", "whether the engine starts: surely, probably, probably not, no")
    link_s: float | None = number("s", "of a pass of the decode on the link (limit)")


@remembered
def study(scenario: Scenario) -> Memory:
    """The numbers of the page for a scenario, of the view that it shows."""
    given, scenario = scenario, scenario.shown
    tokens, requests = scenario.prompt, scenario.batch
    with section("One GPU"):
        machine = scenario.as_run
        free = memory.free_bytes_of_one(machine, requests=requests, tokens=tokens)
    with section("Requests"):
        fit = memory.largest_batch(machine, tokens=tokens)
    at_end = memory.largest_batch(machine, tokens=tokens + scenario.reasoning + scenario.answer)
    needed, reserved = (_request_bytes(scenario, reserved=alike) for alike in (False, True))
    parameters = float(machine.stored_bytes_of_one)
    engine_memory.worked(scenario)
    return Memory(
        shown_bytes=_shown(scenario),
        usable_bytes=machine.memory,
        parameters_bytes=parameters,
        caches_bytes=machine.memory - parameters - float(free),
        free_bytes=float(free),
        largest_batch=int(fit),
        largest_batch_at_end=int(at_end),
        largest_batch_reserved=_alike(int(fit), needed, reserved, scenario),
        fewest_gpus=fewest(given, requests=requests, tokens=tokens),
        capacity=batch_of(given, tokens=tokens),
        room=engine_memory.room_of(scenario),
        starts=scenario.starts,
        link_s=plain(decode(machine, requests=requests, past=tokens).link_s),
    )


def _shown(scenario: Scenario) -> float:
    chip = scenario.hardware
    return (chip.visible_memory or chip.memory) if scenario.kept else chip.memory


def _request_bytes(scenario: Scenario, *, reserved: bool) -> float:
    machine = scenario.as_run
    of = kv_cache.reserved_cache_bytes if reserved else kv_cache.text_cache_bytes
    grown = of(machine.architecture, tokens=scenario.prompt, bytes_per_number=machine.cache_bytes_per_number)
    return float(grown + kv_cache.request_state_bytes(machine.architecture, reserved=reserved))


def _alike(fit: int, needed: float, reserved: float, scenario: Scenario) -> int:
    """Requests that fit where each takes `reserved` bytes, from the room of those that take `needed`."""
    machine = scenario.as_run
    layout = machine.layout
    if layout.even:
        room = machine.gpus * machine.memory - float(machine.stored_bytes)
        return max(0, int(room // reserved))
    share = float(memory.cache_bytes_of_one(machine, tokens=scenario.prompt)) / needed
    room = machine.memory - float(machine.stored_bytes_of_one)
    return min(fit, layout.data * max(0, int(room // (reserved * share))))


def sentence(scenario: Scenario, result: Memory) -> str:
    """The result in words."""
    chips = f"{scenario.gpus:,} × {scenario.hardware.name}"
    batch = quantities.count(scenario.batch, "request")
    start = f"; {scenario.program.name} {engine_memory.WORDS[result.starts]}" if result.starts else ""
    if result.free_bytes >= 0:
        fit = quantities.count(result.largest_batch, "request")
        return f"{chips} can hold {fit} of {quantities.count(scenario.prompt, 'token')} beside the parameters{start}."
    lack = quantities.shown(-result.free_bytes, "B")
    return f"{chips} cannot hold the parameters and {batch}: each GPU is {lack} short{start}."


def headline_numbers(scenario: Scenario, result: Memory) -> list[Headline]:
    """The four numbers on top."""
    return [
        Headline(
            "Parameters on one GPU",
            result.parameters_bytes,
            "B",
            ratio=ratios.large("the parameters on one GPU are {}"),
        ),
        Headline(
            "Caches of the batch on one GPU",
            result.caches_bytes,
            "B",
            ratio=ratios.large("the caches of the batch on one GPU are {}"),
        ),
        leading("Requests that fit", result.capacity, "requests", speed=scenario.speed, ratio=ratios.FIT),
        Headline("Fewest GPUs for this batch", result.fewest_gpus, "GPUs", ratio=ratios.GPUS),
    ]


def bar_rows(scenario: Scenario, result: Memory) -> dict[str, list[dict[str, Any]]]:
    """Rows "parts" of the memory of one GPU, one after another, and "room": where it ends."""
    scenario = scenario.shown
    # What the engine keeps comes first: of a model that does not fit, it is model and caches that have no place.
    found = scenario.kept
    kept = engine_memory.parts(scenario, found) if found else []
    parts = [
        *((name, meaning, max(0.0, span.expected)) for name, meaning, span in kept),
        ("parameters", "memory", result.parameters_bytes),
        ("caches", "cache", result.caches_bytes),
        ("free", "waiting", max(0.0, result.free_bytes)),
    ]
    rows, start = [], 0.0
    for name, meaning, size in parts:
        label = f"{name} {quantities.shown(size, 'B')}"
        rows.append({"part": name, "meaning": meaning, "start_b": start, "end_b": start + size, "label": label})
        start += size
    whole = f"one GPU {quantities.shown(result.shown_bytes, 'B')}"
    return {"parts": rows, "room": [{"end_b": result.shown_bytes, "label": whole}]}


def answers_sentence(scenario: Scenario, result: Memory) -> str:
    """How many requests fit, as the architecture needs and as an engine may reserve."""
    after = f"After a prompt of {quantities.count(scenario.prompt, 'token')} {result.largest_batch:,} fit"
    said = f"{after}, at the end of the answers {result.largest_batch_at_end:,}"
    if result.largest_batch_reserved != result.largest_batch:
        said += (
            f". An engine that reserves full length in every layer, windows and states included, holds "
            f"{result.largest_batch_reserved:,} after the prompt"
        )
    return f"{said}."


def ways_out(scenario: Scenario, result: Memory) -> list[str]:
    """What would make the batch fit, each with its number; nothing where it fits."""
    shown = scenario.limit if scenario.speed == "limit" else scenario
    return list(_ways_out(shown, result)) if result.free_bytes < 0 else []


def _ways_out(scenario: Scenario, result: Memory) -> Iterator[str]:
    more = result.fewest_gpus
    if apart(scenario):
        if more and more > scenario.gpus:
            yield f"More GPUs: {more:,}, shared as engines do."
    elif more and more > scenario.gpus:
        yield f"More GPUs: at least {more:,}, shared evenly."
    elif scenario.layout != "even":
        yield "Another layout: shared evenly, these GPUs are enough."
    narrower = sorted(
        (key for key, one in PRECISIONS.items() if one.matrix_bits < scenario.precision.matrix_bits),
        key=lambda key: -PRECISIONS[key].matrix_bits,
    )
    fitting = next((key for key in narrower if _fits(scenario, weights=key)), None)
    if fitting:
        yield f"Fewer bits: with parameters in {PRECISIONS[fitting].name} and caches in {_cache(scenario)} it fits."
    if scenario.kv != "fp8" and _fits(scenario, kv="fp8"):
        yield "A smaller cache: with keys and values in fp8 it fits."
    kept = scenario.kept
    if kept and kept.share < _LARGER_SHARE and _fits(scenario, engine_share=_LARGER_SHARE):
        yield f"A larger share: with {_LARGER_SHARE:g} of the memory for the engine it fits, leaving less for graphs."
    if kept and kept.requests[1] > _FEWER_REQUESTS and _fits(scenario, max_num_seqs=_FEWER_REQUESTS):
        yield f"Fewer requests at a time: with at most {_FEWER_REQUESTS}, the sampler takes less memory."
    if result.largest_batch:
        yield f"A smaller batch: {quantities.count(result.largest_batch, 'request')} fit."
    longest = _longest_prompt(scenario)
    if longest:
        yield f"A shorter context: {quantities.count(longest, 'token')} for each request fit."


def _cache(scenario: Scenario) -> str:
    return CACHE_PRECISIONS[scenario.kv].name


def _fits(scenario: Scenario, **changes: Any) -> bool:
    other = scenario.model_copy(update=changes)
    return float(memory.free_bytes_of_one(other.as_run, requests=other.batch, tokens=other.prompt)) >= 0


def _longest_prompt(scenario: Scenario) -> int:
    """The longest prompt at which the batch fits, shorter than the scenario's; 0 where none does."""
    if not _fits(scenario, prompt=1):
        return 0
    low, high = 1, min(scenario.prompt, _LONGEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(scenario, prompt=middle) else (low, middle)
    return low


def _obstacle(scenario: Scenario, layout: str) -> str:
    other = scenario.model_copy(update={"layout": layout})
    return (obstacle(other.architecture, other.sharing) or ("", ""))[1]


def impossible_layouts(scenario: Scenario) -> list[str]:
    """The ways in which these GPUs cannot share the model, and why not."""
    said = ((name, _obstacle(scenario, key)) for key, name in _LAYOUTS.items())
    return [f"Not {name}: it {reason}." for name, reason in said if reason]


def layout_table(scenario: Scenario) -> Table:
    """The ways in which these GPUs can share the model, and what each takes."""
    rows = []
    for key, name in _LAYOUTS.items():
        if (key == "expert" and experts_of(scenario.architecture) is None) or _obstacle(scenario, key):
            continue
        machine = scenario.model_copy(update={"layout": key}).as_run
        one = decode(machine, requests=scenario.batch, past=scenario.prompt)
        reached = expected.decode_of(
            scenario, requests=scenario.batch, past=scenario.prompt, limit_s=plain(one.pass_s), machine=machine
        )
        most = int(memory.largest_batch(machine, tokens=scenario.prompt))
        seconds = (plain(one.pass_s), plain(one.link_s), reached.expected)
        times = ["does not fit" if most < scenario.batch else show(value, "s") for value in seconds]
        cells = (
            quantities.shown(float(machine.stored_bytes_of_one), "B"),
            quantities.shown(_cache_of_one(scenario, key), "B"),
            f"{most:,}",
            *times,
        )
        rows.append(Row(name, "word", tuple(str(cell) for cell in cells)))
    columns = (
        "parameters of one GPU",
        "a request on one GPU",
        "requests that fit",
        "pass (limit)",
        "of that on the link",
        "pass (expected)",
    )
    return Table(columns, tuple(rows), head=quantities.count(scenario.gpus, "GPU"))


def _cache_of_one(scenario: Scenario, layout: str) -> float:
    machine = scenario.model_copy(update={"layout": layout}).as_run
    whole = float(memory.cache_bytes_of_one(machine, tokens=scenario.prompt))
    return whole / machine.gpus if machine.layout.even else whole


def layout_note(scenario: Scenario) -> str:
    """What the ways differ in."""
    link = scenario.hardware.link_bandwidth
    speed = (
        f"its link carries {quantities.shown(link, 'B/s')} one way"
        if link
        else "its link bandwidth is not published, so time on the link is not counted"
    )
    return (
        "Each GPU has at least one key-value head, a latent cache is copied to each GPU, and with "
        f"data parallelism each request lives in one group. {scenario.hardware.name}: {speed}.{_between(scenario)}"
    )


def _between(scenario: Scenario) -> str:
    """How fast the links between machines are, where GPUs lie in several; nothing where they are in one."""
    fabric = scenario.between
    if scenario.gpus <= scenario.hardware.linked:
        return ""
    if fabric is None:
        return " The link between machines counts as fast as that within one, which it rarely is: choose one above."
    rate = quantities.shown(fabric.bandwidth, "B/s")
    if said := scenario.out_of_rack([scenario.hardware.name]):
        return f" {said}"
    return f" Between groups of {fabric.node:,} GPUs a link carries {rate} per GPU, after the link within."
