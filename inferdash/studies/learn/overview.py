"""The scenario at a glance: speed, capacity and cost, before the pages that say why."""

from dataclasses import dataclass
from typing import Final

from inferdash import quantities
from inferdash.scenario import Scenario
from inferdash.studies.learn import batching, compute_vs_memory
from inferdash.studies.numbers import Estimate, Headline, number, part

NAME: Final = "overview"
TITLE: Final = "Overview"


@dataclass(frozen=True)
class Overview:
    """Every headline number of the page."""

    output_tok_per_s: float | None = number("tokens/s", "output speed of one request (limit)")
    time_to_first_token_s: float | None = number("s", "time to first token (limit)")
    largest_batch: int = number("requests", "largest batch that fits, each request with its prompt")
    usd_per_mtok_written: float | None = number("$", "a million written tokens on rented accelerators (limit)")
    compared_batch: int = number("requests", "batch of that price")
    fewest_gpus: int = number("GPUs", "fewest accelerators that hold the scenario")
    output_speed: Estimate = part("output speed of one request", "tokens/s")
    time_to_first_token: Estimate = part("time to first token, through a server that is free", "s")
    usd_per_mtok_written_estimate: Estimate = part("a million written tokens on rented accelerators", "$")


def study(scenario: Scenario) -> Overview:
    """The numbers of the page for a scenario."""
    passes, batch = compute_vs_memory.study(scenario), batching.study(scenario)
    return Overview(
        output_tok_per_s=passes.decode.output_tok_per_s,
        time_to_first_token_s=passes.time_to_first_token.total_s,
        largest_batch=passes.largest_batch,
        usd_per_mtok_written=batch.usd_per_mtok_written,
        compared_batch=batch.compared_batch,
        fewest_gpus=passes.fewest_gpus,
        output_speed=passes.expected.decode.of(lambda pass_s: 1 / pass_s),
        time_to_first_token=passes.expected.time_to_first_token,
        usd_per_mtok_written_estimate=batch.usd_per_mtok_written_estimate,
    )


def sentence(scenario: Scenario, result: Overview) -> str:
    """The scenario in words."""
    chips = f"{scenario.hardware.name}" if scenario.gpus == 1 else f"{scenario.gpus:,} {scenario.hardware.name}"
    subject = f"{scenario.architecture.name} on {chips}"
    if result.fewest_gpus > scenario.gpus:
        return f"{subject} does not fit: this batch needs at least {quantities.count(result.fewest_gpus, 'GPU')}."
    if result.output_tok_per_s is None or result.usd_per_mtok_written is None:
        return f"{subject} holds up to {quantities.count(result.largest_batch, 'request')}; its peak is not published."
    speed = f"{subject} writes at most {quantities.shown(result.output_tok_per_s, 'tokens/s').number} tokens per second"
    dollars = f"a million written tokens cost at least {quantities.shown(result.usd_per_mtok_written, '$')}"
    many, fit = quantities.count(result.compared_batch, "request"), f"{result.largest_batch:,} fit"
    if scenario.batch == 1:
        only = "only " if result.largest_batch < result.compared_batch else ""
        return f"{speed} for a single request; with {many} in a batch ({only}{fit}), {dollars}."
    return f"{speed} for each of {many} in a batch ({fit}); {dollars}."


def headline_numbers(scenario: Scenario, result: Overview) -> list[Headline]:
    """The four numbers on top."""
    return [
        Headline(
            f"Speed of a request, batch {scenario.batch:,} (limit)",
            result.output_tok_per_s,
            "tokens/s",
            result.output_speed,
        ),
        Headline("Time to first token (limit)", result.time_to_first_token_s, "s", result.time_to_first_token),
        Headline(
            f"Largest batch at {quantities.count(scenario.prompt, 'token')} each", result.largest_batch, "requests"
        ),
        Headline(
            f"Cost per million tokens, batch {result.compared_batch:,} (limit)",
            result.usd_per_mtok_written,
            "$",
            result.usd_per_mtok_written_estimate,
        ),
    ]
