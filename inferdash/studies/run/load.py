"""What a load on a scenario's replicas comes to: latencies, throughput and cost, from the simulator."""

from dataclasses import dataclass, replace
from typing import Final

from inferdash.formula import remembered, section
from inferdash.physics.under_load import batching
from inferdash.scenario import Scenario
from inferdash.serving.simulated import summary as summaries
from inferdash.serving.simulated.summary import Summary
from inferdash.studies.numbers import number, part
from inferdash.studies.run.ceilings import ceiling_per_s
from inferdash.studies.run.simulation import Run, run


@dataclass(frozen=True)
class Percentiles:
    """Values that so many percent of requests do not exceed; None where fewer than 10 lie beyond, or nothing ran."""

    p50: float | None = number(None, "p50")
    p90: float | None = number(None, "p90")
    p99: float | None = number(None, "p99")


@dataclass(frozen=True)
class Serving:
    """Every headline number of the page; None where nothing was simulated."""

    ttft_s: Percentiles = part("time to first token", "s")
    itl_s: Percentiles = part("inter-token latency, mean of a request", "s")
    e2e_s: Percentiles = part("from sending to the last token", "s")
    queue_s: Percentiles = part("wait for a slot in the batch", "s")
    throughput_out_tok_per_s: float | None = number("tokens/s", "output of all replicas together")
    throughput_in_tok_per_s: float | None = number("tokens/s", "input of all replicas together")
    met_targets_share: float | None = number("%", "of requests within both targets")
    batch_mean: float | None = number("requests", "in the batch of a busy replica, on average")
    idle_share: float | None = number("%", "of the replicas’ time idle")
    preemptions: int | None = number("requests", "preemptions because the cache was full")
    refused: int | None = number("requests", "larger than the cache")
    ceiling_requests_per_s: float | None = number("requests/s", "capacity")
    usd_per_mtok_prompt: float | None = number("$", "a million input tokens on rented accelerators, idle time included")
    usd_per_mtok_written: float | None = number(
        "$", "a million output tokens on rented accelerators, idle time included"
    )


_NOTHING: Final = Percentiles(None, None, None)
NONE: Final = Serving(
    ttft_s=_NOTHING,
    itl_s=_NOTHING,
    e2e_s=_NOTHING,
    queue_s=_NOTHING,
    throughput_out_tok_per_s=None,
    throughput_in_tok_per_s=None,
    met_targets_share=None,
    batch_mean=None,
    idle_share=None,
    preemptions=None,
    refused=None,
    ceiling_requests_per_s=None,
    usd_per_mtok_prompt=None,
    usd_per_mtok_written=None,
)


@remembered
def study(scenario: Scenario) -> Serving:
    """The numbers of the page for a scenario."""
    return study_of(scenario, run(scenario), per_s=scenario.demand_per_s)


def study_of(scenario: Scenario, ran: Run | None, *, per_s: float = 0.0, slower: float = 1.0) -> Serving:
    """The same of a run, such as that of a file's requests; `per_s` is how many come for as long as one likes.

    Where more come than are carried, a run is too short for the batch to fill, so that what is carried counts. `slower`
    is how many times as long as expected its passes take.
    """
    if ran is None:
        return NONE
    found = ran.summary(scenario)
    most = ceiling_per_s(scenario)
    most = most / slower if most else most
    if most and per_s > most:
        prompt, answer = (most * float(one.mean()) / ran.share for one in (ran.asked.prompt, ran.asked.answer))
        found = replace(found, prompt_tok_per_s=prompt, output_tok_per_s=answer)
    refused = round(ran.share * found.refused)
    if not found.measured:
        return replace(NONE, refused=refused, ceiling_requests_per_s=most)
    with section("Cost"):
        prompt_usd, written_usd = _usd(scenario, ran, found)
    return Serving(
        ttft_s=_percentiles(found.time_to_first_token_s.times(ran.firsts), ran.server_s),
        itl_s=_percentiles(found.inter_token_latency_s),
        e2e_s=_percentiles(found.end_to_end_s, ran.server_s),
        queue_s=_percentiles(found.queue_s),
        throughput_out_tok_per_s=ran.share * found.output_tok_per_s,
        throughput_in_tok_per_s=ran.share * found.prompt_tok_per_s,
        met_targets_share=found.met_share,
        batch_mean=found.mean_batch,
        idle_share=found.idle_share,
        preemptions=round(ran.share * found.preemptions),
        refused=refused,
        ceiling_requests_per_s=most,
        usd_per_mtok_prompt=prompt_usd,
        usd_per_mtok_written=written_usd,
    )


def _percentiles(one: summaries.Percentiles, added_s: float = 0.0) -> Percentiles:
    return Percentiles(*(None if value is None else value + added_s for value in (one.p50, one.p90, one.p99)))


def _usd(scenario: Scenario, ran: Run, found: Summary) -> tuple[float | None, float | None]:
    """Dollars of a million prompt and of a million written tokens: the rent, shared as the two share the time.

    Where prefill and decode are apart, each pays for its workers.
    """
    if ran.apart:
        rent = scenario.rent_of_prefill * scenario.prefill.gpus * scenario.prefill_workers
        return (
            _usd_of(rent, ran.share * found.prompt_tok_per_s),
            _usd_of(scenario.rent * scenario.gpus * scenario.replicas, ran.share * found.output_tok_per_s),
        )
    mean = [float(one.mean()) for one in (ran.asked.prompt, ran.asked.answer, ran.served.found)]
    prompt, answer, read = max(1, round(mean[0])), max(1, round(mean[1])), round(mean[2])
    batch = max(1, min(ran.how.places, round(found.mean_batch or 1)))
    reading_s = summaries.prompt_s(
        ran.times, prompt=prompt, pass_tokens=scenario.pass_tokens, found=min(read, prompt - 1)
    )
    writing_s = (answer - 1) * ran.times.token_s([prompt + answer // 2] * batch) / batch
    share = reading_s / (reading_s + writing_s) if reading_s + writing_s else 0.0
    rent = scenario.rent * scenario.gpus * scenario.replicas
    read_usd = _usd_of(rent, ran.share * found.prompt_tok_per_s)
    written_usd = _usd_of(rent, ran.share * found.output_tok_per_s)
    return (
        None if read_usd is None else read_usd * share,
        None if written_usd is None else written_usd * (1 - share),
    )


def _usd_of(usd_per_hour: float, tokens_per_s: float) -> float | None:
    """Dollars of a million tokens at such a rent; None where none come."""
    if not tokens_per_s:
        return None
    return float(batching.usd_per_mtok(usd_per_hour=usd_per_hour, tokens_per_s=tokens_per_s, utilization=1.0))
