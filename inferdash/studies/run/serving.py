"""Section 10.4 for real traffic: what users feel at a load, and what that takes."""

from math import ceil
from typing import Final

from inferdash import quantities
from inferdash.scenario import Scenario
from inferdash.scenario.operation import SCHEDULES
from inferdash.studies import ratios
from inferdash.studies.capacity import fewest, that_fit
from inferdash.studies.numbers import Estimate, Headline, Row, Table, leading, show
from inferdash.studies.ratios import Ratio
from inferdash.studies.run import disaggregation, serving_band, sessions
from inferdash.studies.run.arrivals import LONGEST, MOST
from inferdash.studies.run.load import Serving, study, study_of
from inferdash.studies.run.simulation import Run, run
from inferdash.studies.run.speculation import words

__all__ = ["NAME", "TITLE", "Serving", "headline_numbers", "sentence", "study", "study_of"]

NAME: Final = "serving"
TITLE: Final = "Serving over time"
_MOST_GPUS: Final = 1024
_MOST_REPLICAS: Final = 1024
_OVER: Final = 1.02
"""Times what is carried, from which on the queue grows."""


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
        enough = _enough(scenario, result)
        return f"Overloaded: {load} per second arrive, {most} can be served, and the queue grows{enough}."
    if result.met_targets_share is None or result.ttft_s.p90 is None:
        return "Most requests are larger than the cache, and too few are left for percentiles."
    at = "At the limit and" if scenario.speed == "limit" else "At"
    load, first = quantities.digits(scenario.demand_per_s), show(result.ttft_s.p90, "s")
    said = f"{at} {load} requests/s, 90% get the first token within {first}"
    if result.itl_s.p90 is not None:
        said += f", then one every {show(result.itl_s.p90, 's')}"
    targets = " and ".join(show(one, "s") for one in (scenario.target_first, scenario.target_between))
    return f"{said}; {quantities.percent(result.met_targets_share)} meet both targets, {targets}."


def _enough(scenario: Scenario, result: Serving) -> str:
    """How many replicas carry the load, in words; of prefill and decode apart it is not one number."""
    if scenario.disaggregated or not result.ceiling_requests_per_s:
        return ""
    needed = ceil(scenario.demand_per_s * scenario.replicas / result.ceiling_requests_per_s)
    return f"; {needed:,} replicas would carry it" if needed <= _MOST_REPLICAS else ""


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


_SERVED: Final = ratios.many("{} requests per second can be served", "more")


def headline_numbers(scenario: Scenario, result: Serving) -> list[Headline]:
    """The four numbers on top, with their bands and limits."""
    if sessions.is_of(scenario):
        return sessions.headline_numbers(scenario, run(scenario))
    best = study(scenario.model_copy(update={"speed": "limit"})) if scenario.speed != "limit" else result
    band = serving_band.study(scenario, result)

    def lead(label: str, unit: str, name: str, ratio: Ratio) -> Headline:
        read = serving_band.READ[name]
        at: Estimate | None = getattr(band, name, None)
        low, high = (at.low, at.high) if at else (None, None)
        value, limit = read(result), read(best)
        if _is_passed(value, limit, ratio):
            limit = None
        if value is None and scenario.speed != "limit":
            beside = "" if limit is None else f"limit {quantities.shown(limit, unit)}"
            return Headline(f"{label} (expected)", None, unit, beside, ratio=ratio)
        return leading(label, Estimate(limit, value, low, high), unit, speed=scenario.speed, ratio=ratio)

    tokens = f"Output throughput ({scenario.speed})"
    return [
        lead("Time to first token, p90", "s", "ttft_p90_s", ratios.FIRST),
        lead("Inter-token latency, p90", "s", "itl_p90_s", ratios.BETWEEN),
        Headline(tokens, result.throughput_out_tok_per_s, "tokens/s", ratio=ratios.TOKENS),
        lead("Capacity", "requests/s", "ceiling_requests_per_s", _SERVED),
    ]


def _is_passed(value: float | None, limit: float | None, ratio: Ratio) -> bool:
    """Whether what is expected is better than the number at the limit, which is then one of another batch."""
    return value is not None and limit is not None and ratio.gained(value, limit) is False


def other_batch(scenario: Scenario, result: Serving) -> list[str]:
    """Why a latency has no limit beside it: at the limit replicas carry more at a time, so that tokens come later."""
    if scenario.speed == "limit" or sessions.is_of(scenario) or result.batch_mean is None:
        return []
    best = study(scenario.model_copy(update={"speed": "limit"}))
    if best.batch_mean is None or not _is_passed(result.itl_s.p90, best.itl_s.p90, ratios.BETWEEN):
        return []
    batches = [quantities.digits(one.batch_mean or 0.0) for one in (best, result)]
    between = show(best.itl_s.p90, "s")
    said = f"At the limit the mean batch is {batches[0]}, not {batches[1]}, and a token comes every {between}"
    return [f"{said}: no limit of the latency at this batch."]


def figures(scenario: Scenario, result: Serving) -> list[Headline]:
    """The same numbers alone, which take one simulation."""
    if sessions.is_of(scenario):
        return sessions.headline_numbers(scenario, run(scenario))
    how = f"({scenario.speed})"
    return [
        Headline(f"Time to first token, p90 {how}", result.ttft_s.p90, "s", ratio=ratios.FIRST),
        Headline(f"Inter-token latency, p90 {how}", result.itl_s.p90, "s", ratio=ratios.BETWEEN),
        Headline(f"Output throughput {how}", result.throughput_out_tok_per_s, "tokens/s", ratio=ratios.TOKENS),
        Headline(f"Capacity {how}", result.ceiling_requests_per_s, "requests/s", ratio=_SERVED),
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
    found += _without_effect(scenario, ran)
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
    if ran and most and load > most * _OVER:
        count = quantities.count(len(ran.asked) - ran.warm_up, "request")
        found.append(f"In an overload each waits longer than the one before: the times are those of {count}.")
    elif ran and not ran.levelled:
        found.append(
            f"The batch still grows after {MOST // 2:,} requests, as many as are simulated before any is measured; "
            "percentiles may be too low."
        )
    found += sessions.notes(scenario, ran) if sessions.is_of(scenario) else disaggregation.notes(scenario)
    model, text = scenario.architecture, sessions.longest(scenario, ran)
    if model.context and text > model.context:
        found.append(f"{model.name} supports {model.context:,} tokens; prompt and answer are {text:,}.")
    return found


def _without_effect(scenario: Scenario, ran: Run | None) -> list[str]:
    """What a number does not show of what was chosen."""
    found = []
    if scenario.schedule == "static" and not scenario.disaggregated:
        found.append("The capacity is that of full batches; below it each request waits for the batch before to end.")
    if (scenario.host_memory or scenario.ssd) and ran and not ran.blocks:
        found.append("Host memory and SSD change nothing here, as it is not known what prompts repeat.")
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
