"""The scenario at a glance: speed, capacity and cost, before the pages that say why."""

from dataclasses import dataclass
from typing import Final

from inferdash import quantities
from inferdash.formula import remembered
from inferdash.scenario import Scenario
from inferdash.studies import ratios
from inferdash.studies.capacity import FEWER_REQUESTS, apart, fewest, that_fit, with_fewer_requests
from inferdash.studies.learn import batching, compute_vs_memory
from inferdash.studies.numbers import EXPECTED, Estimate, Headline, leading, number, part

NAME: Final = "overview"
TITLE: Final = "Overview"


@dataclass(frozen=True)
class Overview:
    """Every headline number of the page."""

    output_tok_per_s: float | None = number("tokens/s", "output speed of one request (limit)")
    time_to_first_token_s: float | None = number("s", "time to first token (limit)")
    largest_batch: int = number("requests", "largest batch that fits, each request with its prompt")
    usd_per_mtok_written: float | None = number("$", "a million output tokens on rented accelerators (limit)")
    compared_batch: int = number("requests", "batch of that price")
    fewest_gpus: int = number("GPUs", "fewest accelerators that fit the scenario")
    capacity: Estimate = part("largest batch that fits", "requests")
    output_speed: Estimate = part("output speed of one request", "tokens/s")
    time_to_first_token: Estimate = part("time to first token, through a server that is free", "s")
    usd_per_mtok_written_estimate: Estimate = part("a million output tokens on rented accelerators", "$")


@remembered
def study(scenario: Scenario) -> Overview:
    """The numbers of the page for a scenario."""
    return _study(scenario, batching.study(scenario))


def at_its_batch(scenario: Scenario) -> list[Headline]:
    """The four numbers with the price at the scenario's own batch, also where it is 1."""
    return headline_numbers(scenario, _study(scenario, batching.study_at((scenario, scenario.batch))))


def _study(scenario: Scenario, batch: batching.Batching) -> Overview:
    passes = compute_vs_memory.study(scenario)
    return Overview(
        output_tok_per_s=passes.decode.output_tok_per_s,
        time_to_first_token_s=passes.time_to_first_token.total_s,
        largest_batch=passes.largest_batch,
        usd_per_mtok_written=batch.usd_per_mtok_written,
        compared_batch=batch.compared_batch,
        fewest_gpus=passes.fewest_gpus,
        capacity=batch.capacity,
        output_speed=passes.expected.decode.of(lambda pass_s: 1 / pass_s),
        time_to_first_token=passes.expected.time_to_first_token,
        usd_per_mtok_written_estimate=batch.usd_per_mtok_written_estimate,
    )


def sentence(scenario: Scenario, result: Overview) -> str:
    """The scenario in words."""
    chips = f"{scenario.hardware.name}" if scenario.gpus == 1 else f"{scenario.gpus:,} {scenario.hardware.name}"
    subject = f"{scenario.architecture.name} on {chips}"
    said = _expected_sentence(scenario, result, subject)
    if said:
        return said
    if result.fewest_gpus > scenario.gpus:
        return f"{subject} does not fit: this batch needs at least {quantities.count(result.fewest_gpus, 'GPU')}."
    if result.output_tok_per_s is None or result.usd_per_mtok_written is None:
        return f"{subject} holds up to {quantities.count(result.largest_batch, 'request')}; its peak is not published."
    speed = f"{subject} reaches at most {quantities.shown(result.output_tok_per_s, 'tokens/s')}"
    dollars = f"a million output tokens cost at least {quantities.shown(result.usd_per_mtok_written, '$')}"
    many, fit = quantities.count(result.compared_batch, "request"), f"{result.largest_batch:,} fit"
    if scenario.batch == 1:
        only = "only " if result.largest_batch < result.compared_batch else ""
        return f"{speed} for a single request; shared by a batch of {many} ({only}{fit}), {dollars}."
    return f"{speed} for each of {many} in a batch ({fit}); {dollars}."


def _expected_sentence(scenario: Scenario, result: Overview, subject: str) -> str:
    """The scenario as it is expected, in words; nothing where it shows the limit, or nothing is expected."""
    fit = that_fit(scenario, tokens=scenario.prompt)
    tokens = quantities.count(scenario.prompt, "token")
    if apart(scenario) and not fit:
        gpus = fewest(scenario, requests=1, tokens=scenario.prompt)
        takes = f"it takes {quantities.count(gpus, 'GPU')}" if gpus else "no number of GPUs holds it"
        share = ", or a larger share of the memory than usual" if result.largest_batch else ""
        fewer = with_fewer_requests(scenario, tokens=scenario.prompt)
        if fewer and scenario.max_num_seqs is None:
            takes = f"started for {FEWER_REQUESTS} at a time it holds {fewer:,}; else {takes}"
        machine = scenario.deployment
        if not result.largest_batch and machine.stored_bytes > scenario.gpus * machine.memory:
            held = scenario.gpus * machine.memory
            size, room = (quantities.shown(float(one), "B") for one in (machine.stored_bytes, held))
            has = "a GPU has" if scenario.gpus == 1 else f"{scenario.gpus:,} GPUs have"
            return f"{subject} does not fit: the parameters alone take {size}, and {has} {room}; {takes}."
        return f"{subject} has no room for a request beside what {scenario.program.name} keeps: {takes}{share}."
    speed, cost = result.output_speed.expected, result.usd_per_mtok_written_estimate.expected
    if scenario.speed != EXPECTED or speed is None or cost is None or result.compared_batch > fit:
        return ""
    number, dollars = quantities.shown(speed, "tokens/s").number, quantities.shown(cost, "$")
    if scenario.batch > fit:
        return (
            f"{subject} holds {quantities.count(fit, 'request')} of {tokens}, not {scenario.batch:,}; "
            f"expect {dollars} per million."
        )
    who = "one request" if scenario.batch == 1 else f"each of {quantities.count(scenario.batch, 'request')}"
    between = quantities.shown(1 / speed, "s")
    batch = f" at batch {result.compared_batch:,}" if scenario.batch == 1 else ""
    return f"{subject}: expect {number} tokens/s for {who} ({between} each), {dollars} per million{batch}."


def headline_numbers(scenario: Scenario, result: Overview) -> list[Headline]:
    """The four numbers on top; of what does not fit, how many do."""
    fit = that_fit(scenario, tokens=scenario.prompt)
    capacity = f" at {quantities.count(scenario.prompt, 'token')} each"
    shown = [
        ("Output speed per request", f", batch {scenario.batch:,}", result.output_speed, "tokens/s", ratios.SPEED),
        ("Time to first token", "", result.time_to_first_token, "s", ratios.FIRST),
        ("Largest batch", capacity, result.capacity, "requests", ratios.FIT),
        (
            "Cost per million output tokens",
            f", decode alone, batch {result.compared_batch:,}",
            result.usd_per_mtok_written_estimate,
            "$",
            ratios.MILLION,
        ),
    ]
    if apart(scenario):
        shown = shown[2:3] if not fit else shown[1:] if fit < scenario.batch else shown
    return [
        leading(f"{of}{at}", one, unit, speed=scenario.speed, of=of, ratio=ratio) for of, at, one, unit, ratio in shown
    ]
