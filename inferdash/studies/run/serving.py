"""Section 10.4 for real traffic: what users feel at a load, and what that takes."""

from dataclasses import dataclass, replace
from typing import Final

from inferdash import quantities
from inferdash.formula import section
from inferdash.physics import batching
from inferdash.scenario import Scenario
from inferdash.scenario.operation import SCHEDULES
from inferdash.serving import summary as summaries
from inferdash.serving.summary import Summary
from inferdash.studies import ratios
from inferdash.studies.capacity import fewest, that_fit
from inferdash.studies.numbers import Headline, Row, Table, number, part, show
from inferdash.studies.run import disaggregation, sessions
from inferdash.studies.run.simulation import LONGEST, MOST, Run, ceiling_per_s, run
from inferdash.studies.run.speculation import words

NAME: Final = "serving"
TITLE: Final = "Serving over time"
_MOST_GPUS: Final = 1024
_OVER: Final = 1.02
"""Times what is carried, from which on the queue grows."""


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
_NONE: Final = Serving(
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


def study(scenario: Scenario) -> Serving:
    """The numbers of the page for a scenario."""
    return study_of(scenario, run(scenario), per_s=scenario.demand_per_s)


def study_of(scenario: Scenario, ran: Run | None, *, per_s: float = 0.0) -> Serving:
    """The same of a run, such as that of a file's requests; `per_s` is how many come for as long as one likes.

    Where more come than are carried, a run is too short for the batch to fill, so that what is carried counts.
    """
    if ran is None:
        return _NONE
    found = ran.summary(scenario)
    most = ceiling_per_s(scenario)
    if most and per_s > most:
        prompt, answer = (most * float(one.mean()) / ran.share for one in (ran.asked.prompt, ran.asked.answer))
        found = replace(found, prompt_tok_per_s=prompt, output_tok_per_s=answer)
    refused = round(ran.share * found.refused)
    if not found.measured:
        return replace(_NONE, refused=refused, ceiling_requests_per_s=most)
    with section("Cost"):
        prompt_usd, written_usd = _usd(scenario, ran, found)
    return Serving(
        ttft_s=_percentiles(found.time_to_first_token_s, ran.server_s),
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


def sentence(scenario: Scenario, result: Serving) -> str:
    """What users feel, in words."""
    if sessions.is_of(scenario):
        return sessions.sentence(scenario, run(scenario))
    if result.ceiling_requests_per_s is None:
        if scenario.deployment.peak is None or scenario.deployment.attention_peak is None:
            return f"Serving cannot be simulated: no peak is published for {scenario.hardware.name}."
        if disaggregation.unknown_link(scenario):
            return f"Serving cannot be simulated. {disaggregation.unknown_link(scenario)}"
        return f"Serving cannot be simulated: requests of over {LONGEST:,} tokens are too long."
    if result.batch_mean is None:
        gpus = fewest_gpus(scenario)
        takes = f": it takes at least {quantities.count(gpus, 'GPU')}" if gpus else ""
        return f"No request fits beside the parameters, so none is served{takes}."
    load = _rate(scenario.demand_per_s)
    if scenario.demand_per_s > _OVER * result.ceiling_requests_per_s:
        most = quantities.digits(result.ceiling_requests_per_s)
        return f"Overloaded: {load} per second arrive, {most} can be served, and the queue grows."
    if result.met_targets_share is None or result.ttft_s.p90 is None:
        return "Most requests are larger than the cache, and too few are left for percentiles."
    at = "At the limit and" if scenario.speed == "limit" else "At"
    load, first = quantities.digits(scenario.demand_per_s), show(result.ttft_s.p90, "s")
    said = f"{at} {load} requests/s, 90% of users get the first token within {first}"
    if result.itl_s.p90 is not None:
        said += f", then one every {show(result.itl_s.p90, 's')}"
    return f"{said}; {quantities.percent(result.met_targets_share)} of requests meet both targets."


def subject(scenario: Scenario) -> str:
    """What is served by what, in a line."""
    chips = f"{scenario.gpus:,} × {scenario.hardware.name}"
    replicas = f"{quantities.count(scenario.replicas, 'replica')} on {chips} each" if scenario.replicas > 1 else chips
    texts = f"prompt {scenario.prompt:,}, answer {scenario.answer:,}"
    if sessions.is_of(scenario):
        live = quantities.count(scenario.live_sessions, "live session")
        return f"{scenario.architecture.name} in {scenario.precision.name}{words(scenario)}, {replicas}, {live}"
    name = f"{scenario.architecture.name} in {scenario.precision.name}"
    served_by = f"{replicas}{disaggregation.words(scenario)}"
    return f"{name}{words(scenario)}, {served_by}, {_rate(scenario.demand_per_s)} per second, {texts}"


def fewest_gpus(scenario: Scenario) -> int | None:
    """Accelerators that hold the model and one request at the end of its answer; None where a thousand do not."""
    one = scenario.limit if scenario.speed == "limit" else scenario
    return fewest(one, requests=1, tokens=scenario.prompt + scenario.answer)


def way_out(scenario: Scenario, result: Serving) -> int | None:
    """Accelerators that a scenario in which nothing fits would need, where it can have as many."""
    found = fewest_gpus(scenario)
    return found if found and result.refused and result.batch_mean is None and found <= _MOST_GPUS else None


def _rate(per_s: float) -> str:
    said = quantities.digits(per_s)
    return f"{said} request{'' if said == '1' else 's'}"


def headline_numbers(scenario: Scenario, result: Serving) -> list[Headline]:
    """The four numbers on top."""
    if sessions.is_of(scenario):
        return sessions.headline_numbers(scenario, run(scenario))
    how = f"({scenario.speed})"
    best = study(scenario.model_copy(update={"speed": "limit"})) if scenario.speed != "limit" else _NONE

    def below(value: float | None, unit: str) -> str:
        return "" if value is None else f"limit {quantities.shown(value, unit)}"

    return [
        Headline(
            f"Time to first token, p90 {how}", result.ttft_s.p90, "s", below(best.ttft_s.p90, "s"), ratio=ratios.FIRST
        ),
        Headline(
            f"Inter-token latency, p90 {how}", result.itl_s.p90, "s", below(best.itl_s.p90, "s"), ratio=ratios.BETWEEN
        ),
        Headline(
            f"Output throughput {how}",
            result.throughput_out_tok_per_s,
            "tokens/s",
            ratio=ratios.TOKENS,
        ),
        Headline(
            f"Capacity {how}",
            result.ceiling_requests_per_s,
            "requests/s",
            below(best.ceiling_requests_per_s, "requests/s"),
            ratio=ratios.many("{} requests per second can be served", "more"),
        ),
    ]


def notes(scenario: Scenario, result: Serving, ran: Run | None) -> list[str]:
    """What the reader should know before trusting the numbers."""
    found = []
    load, most = scenario.demand_per_s, result.ceiling_requests_per_s
    if most and most < load * _OVER and load <= most * _OVER:
        found.append(
            f"The load is at the capacity of {quantities.digits(most)} requests per second, within what a simulation "
            "can tell: the queue may grow for as long as it lasts."
        )
    if result.refused:
        found.append(f"{quantities.count(result.refused, 'request')} are larger than the whole cache and were refused.")
    if result.preemptions:
        found.append(f"The cache ran full: {quantities.count(result.preemptions, 'preemption')}.")
    if result.met_targets_share is not None and result.ttft_s.p99 is None:
        found.append("Simulate at least 1,000 requests for a p99.")
    if scenario.lacks_drafter:
        found.append(f"{scenario.architecture.name} is not known to have MTP layers: nothing is proposed.")
    if result.batch_mean is not None and scenario.served.max_num_seqs != scenario.max_num_seqs:
        found += _started(scenario)
    groups = scenario.served.sharing.data
    if groups > 1:
        found.append(f"Each of the {groups:,} data-parallel groups counts as a replica of its own.")
    if ran and ran.share > 1:
        found.append(f"{ran.copies:,} of {ran.replicas:,} replicas are simulated, with their share of the load.")
    if ran and ran.beyond:
        simulated = quantities.count(len(ran.asked), "request")
        found.append(f"Only the first {simulated} are simulated; {ran.beyond:,} more would take too long.")
    if ran and not ran.levelled:
        found.append(f"The batch takes over {MOST // 2:,} requests to fill; percentiles may be too low.")
    found += sessions.notes(scenario, ran) if sessions.is_of(scenario) else disaggregation.notes(scenario)
    model, text = scenario.architecture, sessions.longest(scenario, ran)
    if model.context and text > model.context:
        found.append(f"{model.name} supports {model.context:,} tokens; prompt and answer are {text:,}.")
    return found


def _started(scenario: Scenario) -> list[str]:
    """That an engine started as it is by default would have no room, where it has some as it is served."""
    kept = scenario.kept
    if kept is None or that_fit(scenario, tokens=scenario.prompt + scenario.answer):
        return []
    limit = f"{scenario.program.name} is started for {scenario.places:,} requests, the batch limit"
    return [f"{limit}; at its default of {kept.requests[1]:,} it would have no room."]


def percentile_table(result: Serving) -> Table:
    """What users feel, by percentile."""
    rows = (
        ("Queue time", result.queue_s),
        ("Time to first token", result.ttft_s),
        ("Inter-token latency", result.itl_s),
        ("End-to-end latency", result.e2e_s),
    )
    return Table(
        ("p50", "p90", "p99"),
        tuple(Row(label, "word", tuple(_told(one) for one in (p.p50, p.p90, p.p99))) for label, p in rows),
        head="Per request",
    )


def figure_table(scenario: Scenario, result: Serving) -> Table:
    """What the replicas do."""
    rows = (
        Row("Input throughput", "tokens/s", (result.throughput_in_tok_per_s,)),
        Row("Output throughput", "tokens/s", (result.throughput_out_tok_per_s,)),
        Row("Mean batch of a busy replica", "requests", (result.batch_mean,)),
        Row("Replicas idle", "%", (result.idle_share,)),
        Row("Requests within both targets", "%", (result.met_targets_share,)),
        Row("A million input tokens", "$", (result.usd_per_mtok_prompt,)),
        Row("A million output tokens", "$", (result.usd_per_mtok_written,)),
    )
    kind = "Decode workers" if scenario.disaggregated else "Replicas"
    return Table((quantities.count(scenario.replicas * scenario.gpus, "GPU"),), rows, head=kind)


def way_table(scenario: Scenario) -> Table:
    """The same requests at the same load, batched in each way."""
    rows = []
    for key, label in SCHEDULES.items():
        if key == "chunked" and scenario.pass_tokens <= scenario.places:
            continue
        ran = run(scenario.model_copy(update={"schedule": key}))
        if ran is None:
            continue
        one = study_of(scenario, ran)
        times = (_told(seconds) for seconds in (one.ttft_s.p50, one.ttft_s.p90, one.itl_s.p90, one.e2e_s.p90))
        rows.append(Row(label, "word", (*times, show(one.met_targets_share, "%"))))
    columns = ("TTFT, p50", "TTFT, p90", "ITL, p90", "end to end, p90", "within targets")
    return Table(columns, tuple(rows), head="Batching")


def _told(seconds: float | None) -> str:
    return "too few" if seconds is None else show(seconds, "s")


METHOD: Final = (
    "Every request is followed from arrival to last token, after a warm-up of three times its stay. "
    "Passes between two events are summed with the formulas of the other pages. For expected times, "
    "the server’s own time is added to each first token; network and tokenizer are not."
)
