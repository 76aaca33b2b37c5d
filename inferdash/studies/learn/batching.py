"""Section 10.4: what a larger batch gains together and costs each request, and how slots stay filled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.formula import Number, remembered, section
from inferdash.physics import request
from inferdash.physics.capacity import memory
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.deployment import Deployment
from inferdash.physics.passes import decode, prefill
from inferdash.physics.under_load import batching
from inferdash.scenario import Scenario, numbers_in
from inferdash.studies import expected, ratios
from inferdash.studies.capacity import apart, batch_of, fewest, that_fit
from inferdash.studies.numbers import EXPECTED, Estimate, Headline, Row, Table, leading, number, part, plain, show
from inferdash.studies.price.api import resolved

NAME: Final = "batching"
TITLE: Final = "Batching"
CHAPTER_BATCHES: Final = (1, 4, 16, 64, 256)


@dataclass(frozen=True)
class BatchLine:
    """A pass of the decode for one batch."""

    batch: int
    parameters_bytes: float
    caches_bytes: float
    load_s: float
    compute_s: float | None
    pass_s: float | None
    tokens_per_s: float | None
    """Of all requests together."""
    each_tokens_per_s: float | None
    """Of one request."""
    expected_pass_s: float | None
    """As it is expected, not at the limit."""
    expected_tokens_per_s: float | None
    expected_each_tokens_per_s: float | None


@dataclass(frozen=True)
class Batching:
    """Every headline number of the page."""

    table: tuple[BatchLine, ...] = number("rows", "decode passes")
    max_batch: int = number("requests", "largest batch that fits")
    capacity: Estimate = part("largest batch that fits", "requests")
    compared_batch: int = number("requests", "batch that is compared with one request")
    throughput_gain: float | None = number("times", "throughput of the batch over that of one request")
    slowdown_each: float | None = number("times", "time per token over that of one request")
    prompt_token_s: float | None = number("s", "accelerator time of an input token (limit)")
    written_token_s: float | None = number("s", "accelerator time of an output token at that batch (limit)")
    token_time_ratio: float | None = number("times", "time of an output token over that of an input token")
    price_ratio: float | None = number(
        "times", "as much for an output token as for an input token, at the API's prices"
    )
    usd_per_mtok_prompt: float | None = number("$", "a million input tokens on rented accelerators (limit)")
    usd_per_mtok_written: float | None = number("$", "a million output tokens on rented accelerators (limit)")
    static_passes: int = number("passes", "of static batching")
    continuous_passes: int = number("passes", "of continuous batching")
    static_idle_places: int = number("slots", "idle slots in static batching, summed over its passes")
    idle_places: int = number("slots", "idle slots in continuous batching, summed over its passes")
    compared_pass: Estimate = part("decode pass at that batch", "s")
    usd_per_mtok_prompt_estimate: Estimate = part("a million input tokens on rented accelerators", "$")
    usd_per_mtok_written_estimate: Estimate = part("a million output tokens on rented accelerators", "$")
    paged_requests: int = number("requests", "that fit with pages")
    reserved_requests: int = number("requests", "that fit where each reserves the longest context")


def study(scenario: Scenario) -> Batching:
    """The numbers of the page for a scenario."""
    return study_at((scenario, _named(scenario)))


def at_its_batch(scenario: Scenario) -> list[Headline]:
    """The four numbers at the scenario's own batch, also where it is 1: a table by batch compares it with others."""
    return headline_numbers(scenario, study_at((scenario, scenario.batch)))


@remembered
def study_at(asked: tuple[Scenario, int]) -> Batching:
    """The numbers of the page for a scenario, with the batch that is compared with one request."""
    scenario, compared = asked
    machine = scenario.deployment
    largest = int(memory.largest_batch(machine, tokens=scenario.prompt))
    capacity, fit = batch_of(scenario, tokens=scenario.prompt), that_fit(scenario, tokens=scenario.prompt)
    batches = sorted({*CHAPTER_BATCHES, scenario.batch, compared} | ({fit} if fit else set()))
    if apart(scenario):  # what does not fit is neither timed nor priced
        compared = min(compared, max(1, fit))
        batches = [batch for batch in batches if batch <= max(1, fit)]
    with section("One request"):
        alone = _line(scenario, machine, 1)
    with section(f"{quantities.count(compared, 'request')}"):
        many = _line(scenario, machine, compared)
    with section("A token"):
        reading = prefill(machine, prompt=scenario.prompt, output_layer_last=scenario.output_layer == "last").pass_s
        prompt_token = None if reading is None else request.per_token_s(pass_s=reading, tokens=scenario.prompt)
        written = None if many.pass_s is None else request.per_token_s(pass_s=many.pass_s, tokens=compared)
    with section("Rent"):
        rent = {"usd_per_hour": scenario.rent * scenario.gpus, "utilization": scenario.utilization}
        prompt_usd = None if prompt_token is None else batching.usd_per_mtok(tokens_per_s=1 / prompt_token, **rent)
        written_usd = None if written is None else batching.usd_per_mtok(tokens_per_s=1 / written, **rent)
    with section("Expected"):
        prompt_pass = expected.prefill_of(scenario, prompt=scenario.prompt, limit_s=plain(reading))
        compared_pass = expected.decode_of(scenario, requests=compared, past=scenario.prompt, limit_s=many.pass_s)
    prices = resolved(scenario)
    lengths = [int(length) for length in numbers_in(scenario.lengths)]
    static = batching.static(lengths, places=scenario.slots)
    continuous = batching.continuous(lengths, places=scenario.slots)
    room = _room_tokens(scenario, machine)
    return Batching(
        table=_lines(scenario, machine, batches),
        max_batch=largest,
        capacity=capacity,
        compared_batch=compared,
        throughput_gain=_ratio(many.tokens_per_s, alone.tokens_per_s),
        slowdown_each=_ratio(many.pass_s, alone.pass_s),
        prompt_token_s=plain(prompt_token),
        written_token_s=plain(written),
        token_time_ratio=_ratio(plain(written), plain(prompt_token)),
        price_ratio=_ratio(prices.output_usd, prices.input_usd),
        usd_per_mtok_prompt=plain(prompt_usd),
        usd_per_mtok_written=plain(written_usd),
        compared_pass=compared_pass,
        usd_per_mtok_prompt_estimate=prompt_pass.of(
            lambda s: float(batching.usd_per_mtok(tokens_per_s=scenario.prompt / s, **rent))
        ),
        usd_per_mtok_written_estimate=compared_pass.of(
            lambda s: float(batching.usd_per_mtok(tokens_per_s=compared / s, **rent))
        ),
        static_passes=batching.passes_of(static),
        continuous_passes=batching.passes_of(continuous),
        static_idle_places=_idle(static, scenario.slots),
        idle_places=_idle(continuous, scenario.slots),
        paged_requests=int(
            batching.requests_in_room(
                room_tokens=room,
                reserved_tokens=scenario.page * batching.pages_of(tokens=scenario.prompt, page=scenario.page),
            )
        ),
        reserved_requests=int(
            batching.requests_in_room(room_tokens=room, reserved_tokens=max(scenario.longest, scenario.prompt))
        ),
    )


def _line(scenario: Scenario, machine: Deployment, batch: int) -> BatchLine:
    found: list[Any] = [plain(value) for value in _pass(scenario, machine, batch)]
    return BatchLine(batch, *found)


def _lines(scenario: Scenario, machine: Deployment, batches: Sequence[int]) -> tuple[BatchLine, ...]:
    """The passes of several batches, worked out together."""
    found = _pass(scenario, machine, np.array(batches, dtype=np.float64))
    columns = [np.broadcast_to(np.asarray(value, dtype=object), len(batches)).tolist() for value in found]
    return tuple(BatchLine(*line) for line in zip(batches, *columns, strict=True))


def _pass(scenario: Scenario, machine: Deployment, batch: Number) -> list[Number | None]:
    """What a pass of the decode takes and gives, in the order of the fields of a `BatchLine`."""
    one = decode(machine, requests=batch, past=scenario.prompt)
    parameters = machine.loaded_bytes(positions=batch)
    reached_s = expected.decode_s(scenario, requests=batch, past=scenario.prompt, limit_s=one.pass_s)
    each, each_reached = (
        None if pass_s is None else request.output_tok_per_s(pass_s=pass_s) for pass_s in (one.pass_s, reached_s)
    )
    passes = [one.load_s, one.compute_s, one.pass_s]
    together, together_reached = (None if one is None else batch * one for one in (each, each_reached))
    return [parameters, one.bytes_read - parameters, *passes, together, each, reached_s, together_reached, each_reached]


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _idle(stays: list[batching.Stay], places: int) -> int:
    passes = batching.passes_of(stays)
    return int(batching.idle_places(places=places, passes=passes, written=sum(stay.passes for stay in stays)))


def _room_tokens(scenario: Scenario, machine: Deployment) -> float:
    """Tokens whose cache fits beside the parameters, at the scenario's mean size of a token."""
    free = scenario.gpus * machine.memory - float(machine.stored_bytes)
    size = float(
        request_cache_bytes(
            machine.architecture, tokens=scenario.prompt, bytes_per_number=machine.cache_bytes_per_number
        )
    )
    return max(0.0, free / (size / scenario.prompt))


def _named(scenario: Scenario) -> int:
    """The batch that is compared with one request, where it fits."""
    return scenario.batch if scenario.batch > 1 else CHAPTER_BATCHES[-1]


def instead(scenario: Scenario, result: Batching) -> dict[str, int]:
    """What the field of the batch shows where the page is of another: of one request alone it has nothing to say."""
    return {"batch": result.compared_batch} if scenario.batch == 1 else {}


def subject(scenario: Scenario) -> str:
    """The scenario in a line, with the batch that the page is of."""
    return scenario.model_copy(update=instead(scenario, study(scenario))).subject


def nothing_fits(scenario: Scenario, result: Batching) -> str:
    """That no request fits, and what it takes, in words; nothing where one does."""
    if not apart(scenario) or that_fit(scenario, tokens=scenario.prompt):
        return ""
    gpus = fewest(scenario, requests=1, tokens=scenario.prompt)
    takes = f": it takes {quantities.count(gpus, 'GPU')}" if gpus else ""
    share = ", or a larger share of the memory than usual" if gpus and result.max_batch else ""
    tokens = quantities.count(scenario.prompt, "token")
    return f"No request of {tokens} fits beside the parameters and what the engine keeps{takes}{share}."


def _expected_sentence(scenario: Scenario, result: Batching) -> str:
    """The result as it is expected, in words; nothing where that is not known."""
    lines = {line.batch: line for line in result.table}
    alone, many = lines[1], lines[result.compared_batch]
    if many.expected_tokens_per_s is None or not alone.expected_tokens_per_s:
        return ""
    gain = quantities.times(many.expected_tokens_per_s / alone.expected_tokens_per_s, "as many")
    slow = quantities.times((many.expected_pass_s or 0) / (alone.expected_pass_s or 1), "as long")
    between = show(many.expected_pass_s, "s")
    fit = that_fit(scenario, tokens=scenario.prompt)
    batch = f"Batch {many.batch:,}"
    if many.batch < _named(scenario):
        batch = f"The largest batch, {quantities.count(fit, 'request')},"
    said = f"{batch} is expected to get {gain} tokens/s as one request, {slow} between tokens ({between})"
    if many.batch > fit:
        return f"{said}; but only {quantities.count(fit, 'request')} of this length fit."
    return f"{said}." if many.batch == fit else f"{said}; {fit:,} fit."


def sentence(scenario: Scenario, result: Batching) -> str:
    """The result in words: as it is expected, or at the limit where the scenario shows that."""
    said = nothing_fits(scenario, result)
    if not said and scenario.speed == EXPECTED:
        said = _expected_sentence(scenario, result)
    return said or _limit_sentence(scenario, result)


def _limit_sentence(scenario: Scenario, result: Batching) -> str:
    batch = f"a batch of {result.compared_batch:,}"
    if result.throughput_gain is None or result.slowdown_each is None:
        return f"The speed of {batch} needs the peak of {scenario.hardware.name}, which is not published."
    gain = quantities.times(result.throughput_gain, "as many")
    slow = quantities.times(result.slowdown_each, "as long")
    said = (
        f"At the limit, {batch} gets {gain} tokens per second as a single request, and each request waits "
        f"{slow} for a token"
    )
    if not result.max_batch:
        return f"{said}; but no request of {quantities.count(scenario.prompt, 'token')} fits beside the parameters."
    if result.compared_batch > result.max_batch:
        return f"{said}; but only {quantities.count(result.max_batch, 'request')} of this length fit."
    return f"{said}; up to {quantities.count(result.max_batch, 'request')} fit."


def headline_numbers(scenario: Scenario, result: Batching) -> list[Headline]:
    """The four numbers on top."""
    many = f", batch {result.compared_batch:,}"
    each = result.compared_pass.of(lambda s: 1 / s)
    together = result.compared_pass.of(lambda s: result.compared_batch / s)
    capacity = f" at {quantities.count(scenario.prompt, 'token')} each"
    shown = [
        ("Total throughput", many, together, "tokens/s", ratios.TOKENS),
        ("Output speed per request", many, each, "tokens/s", ratios.SPEED),
        ("Largest batch", capacity, result.capacity, "requests", ratios.FIT),
        ("Cost per million output tokens", many, result.usd_per_mtok_written_estimate, "$", ratios.MILLION),
    ]
    kept = shown[2:3] if nothing_fits(scenario, result) else shown
    return [
        leading(f"{of}{at}", one, unit, speed=scenario.speed, of=of, ratio=ratio) for of, at, one, unit, ratio in kept
    ]


def batch_table(result: Batching) -> Table:
    """The chapter's table: a pass of the decode for each batch."""
    columns = (
        ("all tokens/s (limit)", "", "tokens_per_s"),
        ("all (expected)", "", "expected_tokens_per_s"),
        ("each tokens/s (limit)", "", "each_tokens_per_s"),
        ("each (expected)", "", "expected_each_tokens_per_s"),
        ("memory read (limit)", "s", "load_s"),
        ("compute (limit)", "s", "compute_s"),
        ("parameters", "B", "parameters_bytes"),
        ("caches", "B", "caches_bytes"),
    )
    return Table(
        tuple(label for label, _, _ in columns),
        tuple(
            Row(f"{line.batch:,}", "word", tuple(show(getattr(line, name), unit) for _, unit, name in columns))
            for line in result.table
        ),
        head="Batch",
    )


def arithmetic_sentence(scenario: Scenario, result: Batching) -> str:
    """From which batch on compute takes over, if it does."""
    machine = scenario.deployment
    batches = np.unique(np.geomspace(1, max(result.max_batch, 1), 400).round())
    one = decode(machine, requests=batches, past=scenario.prompt)
    if one.compute_s is None:
        return "Without a peak it is not known where compute takes over."
    over = np.flatnonzero(np.asarray(one.compute_s) > np.asarray(one.load_s))
    reads = "A decode pass reads the parameters once for all requests, and the cache of each."
    if over.size:
        return f"{reads} From a batch of about {int(batches[over[0]]):,} on, compute takes longer than the memory read."
    return f"{reads} Memory read takes longer than compute at every batch that fits."


def token_sentence(result: Batching) -> str:
    """Why an output token costs more than an input token."""
    if result.token_time_ratio is None or result.prompt_token_s is None or result.written_token_s is None:
        return "The time of a token depends on the peak of the accelerator, which is not known."
    prices = ""
    if result.price_ratio is not None:
        prices = f" At the prices below, an output token costs {quantities.times(result.price_ratio, 'as much')}."
    return (
        f"At the limit, an input token takes {quantities.shown(result.prompt_token_s, 's')} of GPU time and an output "
        f"token {quantities.shown(result.written_token_s, 's')} at a batch of {result.compared_batch:,}, "
        f"{quantities.times(result.token_time_ratio, 'as much')}.{prices}"
    )


def rent_table(result: Batching) -> Table:
    """Cost of a million tokens, with its denominator named."""
    return Table(
        ("dollars (limit)", "dollars (expected)"),
        tuple(
            Row(label, "$", (one.limit, one.expected))
            for label, one in (
                ("A million input tokens, prefill alone", result.usd_per_mtok_prompt_estimate),
                (
                    f"A million output tokens at a batch of {result.compared_batch:,}",
                    result.usd_per_mtok_written_estimate,
                ),
            )
        ),
        head="On rented GPUs",
    )
