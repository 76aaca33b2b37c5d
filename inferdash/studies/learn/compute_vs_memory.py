"""Section 10.1: what a pass is limited by, what that does to a written token, and what speculation gains."""

from dataclasses import dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.library import models
from inferdash.formula import remembered, section
from inferdash.physics import request, roofline
from inferdash.physics.capacity import memory
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.deployment import deploy
from inferdash.physics.passes import Bound, Pass, decode, prefill
from inferdash.scenario import SHARE, Scenario
from inferdash.scenario.marks import AUTO
from inferdash.studies import expected, ratios
from inferdash.studies.capacity import apart, batch_of, fewest, fitting, that_fit
from inferdash.studies.expected import Expected
from inferdash.studies.learn import speculation
from inferdash.studies.learn.request import FirstToken, request_times
from inferdash.studies.learn.speculation import Speculation
from inferdash.studies.numbers import Headline, Row, Table, at_limit, leading, number, part, plain

NAME: Final = "compute_vs_memory"
TITLE: Final = "Compute vs memory"
as_drawn: Final = fitting
"""What the page shows of a scenario: the largest batch that fits where its own does not."""
_ALIKE: Final = 1.05
"""Below this factor two times are said to be about the same."""
_LIMITS: Final[dict[Bound | None, str]] = {
    "compute": "compute",
    "memory": "memory bandwidth",
    None: "not known",
}
TERMS: Final = (
    "A pass is one run of the network over the tokens at hand: the whole prompt in the prefill, the newest token of "
    "each request in the decode."
)
"""What the page's first term means."""


@dataclass(frozen=True)
class PassNumbers:
    """One pass at the limit, and its share for one token."""

    flops: float = number("FLOP", "operations")
    bytes_read: float = number("B", "bytes read from memory")
    compute_s: float | None = number("s", "compute time (limit)")
    load_s: float = number("s", "memory read time (limit)")
    pass_s: float | None = number("s", "pass time (limit)")
    bound: Bound | None = number("bound", "limited by")
    per_token_s: float | None = number("s", "time per token (limit)")


@dataclass(frozen=True)
class DecodeNumbers(PassNumbers):
    """A pass of the decode, and the speed at which one request gets its tokens."""

    output_tok_per_s: float | None = number("tokens/s", "output speed of one request (limit)")


@dataclass(frozen=True)
class ComputeVsMemory:
    """Every headline number of the page."""

    prefill: PassNumbers = part("prefill of the prompt")
    decode: DecodeNumbers = part("decode pass")
    written_to_prompt_ratio: float | None = number("times", "time of an output token over that of an input token")
    attention_share: float = number("%", "operations of attention over those of the matrices, in the prefill")
    ridge_flop_per_byte: float | None = number("FLOP/B", "ridge")
    time_to_first_token: FirstToken = part("time to first token")
    answer_s: float | None = number("s", "rest of the answer (limit)")
    largest_batch: int = number("requests", "largest batch that fits")
    fewest_gpus: int = number("GPUs", "fewest accelerators that fit the scenario")
    speculation: Speculation = part("speculative decoding")
    expected: Expected = part("limit and expected")


@remembered
def study(scenario: Scenario) -> ComputeVsMemory:
    """The numbers of the page for a scenario; of a batch that does not fit, of the largest that does."""
    scenario = fitting(scenario)
    with section("Model and accelerator"):
        machine = scenario.deployment
        ridge = machine.peak and roofline.ridge_flop_per_byte(
            peak=machine.peak, bandwidth=machine.accelerator.bandwidth
        )
    with section("Prefill"):
        reading = prefill(machine, prompt=scenario.prompt, output_layer_last=scenario.output_layer == "last")
        prefill_numbers = PassNumbers(**_numbers(reading, tokens=scenario.prompt))
        share = request.attention_share(attention_flops=reading.attention_flops, matrix_flops=reading.matrix_flops)
    with section("Decode"):
        writing = decode(machine, requests=scenario.batch, past=scenario.prompt)
        speed = None if writing.pass_s is None else request.output_tok_per_s(pass_s=writing.pass_s)
        decode_numbers = DecodeNumbers(
            **_numbers(writing, tokens=scenario.batch),
            output_tok_per_s=plain(speed),
        )
        ratio = None
        if prefill_numbers.per_token_s and decode_numbers.per_token_s:
            ratio = request.written_to_prompt_ratio(
                written_token_s=decode_numbers.per_token_s, prompt_token_s=prefill_numbers.per_token_s
            )
    with section("One request"):
        first, answer_s = request_times(scenario, machine, prefill_s=prefill_numbers.pass_s)
    with section("Memory"):
        largest = memory.largest_batch(machine, tokens=scenario.prompt)
        fewest = memory.fewest_gpus(machine, requests=scenario.batch, tokens=scenario.prompt)
    with section("Speculation"):
        gain = speculation.study(scenario, machine, decode_pass_s=decode_numbers.pass_s)
    with section("Expected"):
        reached = expected.study(
            scenario, prefill_s=prefill_numbers.pass_s, decode_s=decode_numbers.pass_s, first=first
        )
    return ComputeVsMemory(
        prefill=prefill_numbers,
        decode=decode_numbers,
        written_to_prompt_ratio=plain(ratio),
        attention_share=float(share),
        ridge_flop_per_byte=plain(ridge),
        time_to_first_token=first,
        answer_s=answer_s,
        largest_batch=int(largest),
        fewest_gpus=int(fewest),
        speculation=gain,
        expected=reached,
    )


def _numbers(one: Pass, *, tokens: int) -> dict[str, Any]:
    share = None if one.pass_s is None else request.per_token_s(pass_s=one.pass_s, tokens=tokens)
    return {
        "flops": float(one.flops),
        "bytes_read": float(one.bytes_read),
        "compute_s": plain(one.compute_s),
        "load_s": float(one.load_s),
        "pass_s": plain(one.pass_s),
        "bound": one.bound,
        "per_token_s": plain(share),
    }


def sentence(scenario: Scenario, result: ComputeVsMemory) -> str:
    """The result in words, true at every setting."""
    asked, scenario = scenario.batch, fitting(scenario)
    ratio, batch = result.written_to_prompt_ratio, scenario.batch
    most = f" (the most that fit, of {asked:,})" * (batch < asked)
    together = (
        "At batch 1, " if batch == asked == 1 else f"With {quantities.count(batch, 'request')} in a batch{most}, "
    )
    if ratio is None:
        load = quantities.shown(result.decode.load_s / batch, "s")
        said = (
            f"{together}an output token takes at least {load}, the memory read time; the compute time is not known, as "
            f"no peak is published for {scenario.hardware.name}."
        )
        return said + _ways_out(scenario, result)
    time = "as long" if batch == 1 else "as much GPU time"
    comparison = (
        f"an output token takes {quantities.times(ratio, time)} as an input token"
        if ratio >= _ALIKE
        else f"an input token takes {quantities.times(1 / ratio, time)} as an output token"
        if ratio <= 1 / _ALIKE
        else f"an output token takes about {time} as an input token"
    )
    limits = (
        f"{_LIMITS[result.decode.bound]} limits both"
        if result.decode.bound == result.prefill.bound
        else f"{_LIMITS[result.decode.bound]} limits decode, {_LIMITS[result.prefill.bound]} prefill"
    )
    return f"{together}{comparison} (limit): {limits}." + _ways_out(scenario, result)


def _ways_out(scenario: Scenario, result: ComputeVsMemory) -> str:
    """What does not fit, and what would; nothing where all fits."""
    if apart(scenario) and not that_fit(scenario, tokens=scenario.prompt):
        gpus = fewest(scenario, requests=1, tokens=scenario.prompt)
        takes = f"; it takes {quantities.count(gpus, 'GPU')}" if gpus else ""
        return f" But no request fits beside what the engine keeps{takes}."
    if apart(scenario) or result.fewest_gpus <= scenario.gpus:
        return ""
    machine, chips = scenario.deployment, quantities.count(scenario.gpus, "GPU")
    model = int(memory.fewest_gpus(machine, requests=0, tokens=scenario.prompt))
    length = f"of {quantities.count(scenario.prompt, 'token')}"
    if model > scenario.gpus:
        return f" But {chips} cannot hold the model: its parameters need at least {model:,}."
    if not result.largest_batch:
        one = int(memory.fewest_gpus(machine, requests=1, tokens=scenario.prompt))
        return f" But {chips} cannot hold the cache of a request {length} beside the model; it needs at least {one:,}."
    fits = quantities.count(result.largest_batch, "request")
    return f" But {chips} can hold only {fits} {length}; the batch needs at least {result.fewest_gpus:,} GPUs."


def pass_table(scenario: Scenario, result: ComputeVsMemory) -> Table:
    """Both times of section 10.1, for the prefill of the prompt and for one pass of the decode."""
    scenario = fitting(scenario)
    both = (result.prefill, result.decode)

    def unused(busy: str) -> tuple[float | None, ...]:
        return tuple(
            None if p.pass_s is None else plain(roofline.unused_share(busy_s=getattr(p, busy), pass_s=p.pass_s))
            for p in both
        )

    def row(label: str, unit: str, name: str) -> Row:
        return Row(label, unit, tuple(getattr(p, name) for p in both))

    return Table(
        columns=(
            f"Prefill of {quantities.count(scenario.prompt, 'token')}",
            f"Decode of {quantities.count(scenario.batch, 'request')}",
        ),
        rows=(
            row("Operations", "FLOP", "flops"),
            row("Memory read", "B", "bytes_read"),
            row("Compute time (limit)", "s", "compute_s"),
            row("Memory read time (limit)", "s", "load_s"),
            row("Pass time (limit)", "s", "pass_s"),
            Row("Limited by", "word", tuple(_LIMITS[p.bound] for p in both)),
            Row("Compute unused", "%", unused("compute_s")),
            Row("Memory bandwidth unused", "%", unused("load_s")),
            row("Time per token (limit)", "s", "per_token_s"),
        ),
    )


_SPEED: Final = "Output speed per request"


def headline_numbers(scenario: Scenario, result: ComputeVsMemory) -> list[Headline]:
    """The four numbers on top: label, value, unit. Without a peak the times are those of memory alone."""
    scenario = fitting(scenario)
    each, at = quantities.count(scenario.prompt, "token"), f"batch {scenario.batch:,}"
    reached = result.expected
    fit = batch_of(scenario, tokens=scenario.prompt)
    capacity = leading(f"Largest batch at {each} each", fit, "requests", of="Largest batch", ratio=ratios.FIT)
    if result.decode.pass_s is None:
        return [
            Headline(
                f"Decode, {at}, memory read time (limit)",
                result.decode.load_s,
                "s",
                of="Memory read time of a decode",
                ratio=ratios.lasting("reading the memory for a decode takes {}"),
            ),
            Headline(
                f"Decode, {at}, memory read",
                result.decode.bytes_read,
                "B",
                of="Memory read of a decode",
                ratio=ratios.much("a decode reads {}"),
            ),
            Headline(
                "Prefill, memory read time (limit)",
                result.prefill.load_s,
                "s",
                ratio=ratios.lasting("reading the memory for the prefill takes {}"),
            ),
            capacity,
        ]
    return [
        at_limit(
            f"Decode pass, {at}",
            reached.decode,
            "s",
            of="Decode pass",
            ratio=ratios.lasting("a decode pass takes {}"),
        ),
        at_limit(
            f"{_SPEED}, {at}",
            reached.decode.of(lambda pass_s: 1 / pass_s),
            "tokens/s",
            of=_SPEED,
            ratio=ratios.SPEED,
        ),
        at_limit("Prefill of the prompt", reached.prefill, "s", ratio=ratios.lasting("the prefill takes {}")),
        capacity,
    ]


def notes(scenario: Scenario) -> list[str]:
    """What the reader should know about this scenario before trusting its numbers."""
    machine = scenario.deployment
    model, chip = machine.architecture, machine.accelerator
    text = scenario.prompt + scenario.reasoning + scenario.answer
    at, _ = chip.rate(machine.weights)
    found = []
    if model.context and text > model.context:
        found.append(f"{model.name} supports {model.context:,} tokens; prompt, reasoning and answer are {text:,}.")
    at_the_end = int(memory.largest_batch(machine, tokens=text))
    if at_the_end < scenario.batch <= int(memory.largest_batch(machine, tokens=scenario.prompt)):
        found.append(
            f"By the end of their answers only {at_the_end:,} of {quantities.count(scenario.batch, 'request')} fit."
        )
    if at != machine.weights and chip.dense_bf16:
        found.append(f"{chip.name} computes {machine.weights.name} in {at.name}, so only the memory read is faster.")
    if machine.peak is None:
        found.append(
            f"No matrix peak is published for {chip.name}. Enter one under “Own hardware figures” to see all times."
        )
    if scenario.gpus > 1 and scenario.layout == AUTO:
        layout = scenario.run.sharing.words
        found.append(
            f"Limits split each pass evenly over a free link; expected numbers are for {layout}, link included."
        )
    elif scenario.gpus > 1 and scenario.sharing.even:
        found.append("The GPUs share each pass evenly; time on the link between them is not counted.")
    if scenario.output_layer == "last":
        found.append("The output layer is counted for the last prompt token only, as engines run it.")
    if scenario.draft != SHARE and models()[scenario.draft].vocabulary != model.vocabulary:
        found.append(
            f"{models()[scenario.draft].name} has another vocabulary than {model.name}, so it cannot draft for it."
        )
    if scenario.draft != SHARE and _with_draft(scenario) > scenario.gpus >= int(
        memory.fewest_gpus(machine, requests=scenario.batch, tokens=scenario.prompt)
    ):
        found.append("The memory of the draft model is not counted; it does not fit beside the large one.")
    return found


def _with_draft(scenario: Scenario) -> int:
    """Accelerators that hold the scenario and its draft model, with the draft's own caches."""
    machine = scenario.deployment
    small = deploy(
        models()[scenario.draft], machine.accelerator, gpus=machine.gpus, weights=machine.weights, cache=machine.cache
    )
    caches = [
        scenario.batch
        * request_cache_bytes(one.architecture, tokens=scenario.prompt, bytes_per_number=one.cache_bytes_per_number)
        for one in (machine, small)
    ]
    held = machine.stored_bytes + small.stored_bytes + sum(caches)
    return int(memory.gpus_that_hold(stored_bytes=held, requests=0, cache_bytes=0, memory=machine.memory))
