"""What came of a simulation in a few numbers, with those left out that too few requests stand behind."""

from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Final

import numpy as np

from inferdash.formula import Number, formula
from inferdash.serving.simulated.pass_times import PassTimes
from inferdash.serving.simulated.requests import Floats, Ints, Requests
from inferdash.serving.simulated.scheduling import Scheduling
from inferdash.serving.simulated.served import Served

_SAMPLES: Final = 513
"""Passes of an answer at most by whose mean its time is taken."""
BEYOND: Final = 10
"""Requests that lie beyond a percentile at least, or it says nothing: so the 99th needs 1,000."""


@formula(unit="s", ref="reading-and-writing")
def inter_token_latency_s(*, finish_s: Number, first_token_s: Number, answer: Number) -> Number:
    """Mean seconds between two tokens of an answer of two or more: from its first to its last, over the gaps."""
    return (finish_s - first_token_s) / (answer - 1)


@formula(unit="requests/s", ref="batching")
def ceiling_requests_per_s(*, places: Number, prefill_s: Number, written_s: Number) -> Number:
    """Requests a second that a full batch serves, where each prompt is read in a pass of its own.

    All places wait while each reads its prompt for `prefill_s`, and all write for `written_s`.
    """
    return places / (places * prefill_s + written_s)


def prompt_s(times: PassTimes, *, prompt: int, pass_tokens: int, found: int = 0) -> float:
    """Seconds in which a replica reads a prompt alone, in equal chunks; `found` tokens of it are not run."""
    edges = np.linspace(found, prompt, -(-(prompt - found) // pass_tokens) + 1).astype(int).tolist()
    return sum(times.pass_s(chunks=[(end - start, start)]) for start, end in pairwise(edges))


def ceiling(times: PassTimes, *, places: int, prompt: int, answer: int, found: int = 0) -> float:
    """Requests a second that a replica can serve at most, where all prompts and answers are as long.

    Prompts are read first, one a pass and long ones in chunks, and the cache holds all places: with several prompts in
    a pass, or beside decodes, it can be a little more. `found` tokens of each prompt are not run.
    """
    contexts = np.linspace(prompt, prompt + answer - 2, min(answer - 1, _SAMPLES)).astype(int).tolist()
    written = [times.token_s([past] * places) for past in contexts]
    prefill_s = prompt_s(times, prompt=prompt, pass_tokens=times.positions, found=found)
    written_s = (answer - 1) * float(np.mean(written)) if written else 0.0
    return float(ceiling_requests_per_s(places=places, prefill_s=prefill_s, written_s=written_s))


def most_per_s(times: PassTimes, how: Scheduling, *, prompt: int, answer: int, found: int = 0) -> float:
    """Requests a second that a replica which reads prompts first writes at most, with any number in its batch.

    Passes that read are all full, of several prompts where they are short, so no order of arrivals brings more.
    """
    fresh = prompt - found
    whole, rest = divmod(how.pass_tokens, fresh)
    chunks = [(fresh, found)] * whole + [(rest, found + (fresh - rest) // 2)] * (rest > 0)
    batches = np.arange(1, how.places + 1)
    written_s = (answer - 1) * np.mean([tokens_s(times, past, batches) for past in (prompt, prompt + answer - 2)], 0)
    prefill_s = fresh / how.pass_tokens * times.pass_s(chunks=chunks)
    per_s = ceiling_requests_per_s(places=batches.astype(np.float64), prefill_s=prefill_s, written_s=written_s)
    return float(np.max(per_s))


def tokens_s(times: PassTimes, past: int, batches: Ints) -> Floats:
    """Seconds of a token of each of so many requests, by batch, with as many tokens before it."""
    found: Floats = (times.tables.write_s[:, batches] + batches * times.tables.context_s[:, [past]]).max(axis=0)
    return found


@dataclass(frozen=True, kw_only=True)
class Percentiles:
    """Values that so many percent of requests do not exceed; None where fewer than 10 lie beyond."""

    p50: float | None
    p90: float | None
    p99: float | None
    requests: int
    """Behind them."""

    def times(self, factor: float) -> "Percentiles":
        """Those of values that are so many times as large."""
        values = (None if one is None else factor * one for one in (self.p50, self.p90, self.p99))
        return Percentiles(**dict(zip(("p50", "p90", "p99"), values, strict=True)), requests=self.requests)


_PERCENTS: Final = (50, 90, 99)


def percentiles(values: Floats) -> Percentiles:
    """The percentiles of values, an array with one a request."""
    count = len(values)
    said = [percent for percent in _PERCENTS if count * (100 - percent) >= 100 * BEYOND]
    found: list[float | None] = [float(value) for value in np.percentile(values, said)] if said else []
    p50, p90, p99 = found + [None] * (len(_PERCENTS) - len(said))
    return Percentiles(p50=p50, p90=p90, p99=p99, requests=count)


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Seconds that a request should not exceed; infinity where all are well."""

    time_to_first_token_s: float = inf
    inter_token_latency_s: float = inf
    end_to_end_s: float = inf


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A simulation after its warm-up."""

    measured: int
    """Requests that came after the warm-up and were not refused: those that percentiles and targets are about."""
    refused: int
    """Of all requests."""
    preemptions: int
    """Of the requests measured."""
    queue_s: Percentiles
    """From the arrival of a request until the pass that first reads of its prompt."""
    time_to_first_token_s: Percentiles
    """From the arrival of a request until its first token, without network and server."""
    inter_token_latency_s: Percentiles
    """Mean between the tokens of a request; of requests with two or more."""
    end_to_end_s: Percentiles
    """From the arrival of a request until its last token."""
    met_share: float | None
    """Of the requests measured, within all targets; None without any. One token has no latency between tokens."""
    prompt_tok_per_s: float
    """Tokens of prompts whose first token came after the warm-up, those found included, over the time since."""
    output_tok_per_s: float
    """Tokens written since the warm-up, over the time since, of all replicas together."""
    mean_batch: float | None
    """Requests in the batch of a replica, on average over the time in which there are any; None where never."""
    idle_share: float
    """Of the time of all replicas, without any request in the batch."""


def summary(
    requests: Requests,
    served: Served,
    *,
    warm_up_s: float = 0.0,
    until_s: float | None = None,
    targets: Targets | None = None,
) -> Summary:
    """The summary of a simulation.

    Args:
        requests: who came.
        served: what became of them.
        warm_up_s: on the clock of the arrivals; what came before is not measured.
        until_s: when throughput, batch and idle time end; where None with the last token, when the batch has emptied.
        targets: seconds that a request should not exceed.
    """
    targets = targets or Targets()
    ran = served.replica >= 0
    end_s = float(served.finish_s[ran].max(initial=warm_up_s)) if until_s is None else until_s
    per_s = 1 / (end_s - warm_up_s) if end_s > warm_up_s else 0.0
    measured = ran & (requests.arrival_s >= warm_up_s)
    arrival_s, first_s, finish_s = (
        one[measured] for one in (requests.arrival_s, served.first_token_s, served.finish_s)
    )
    answer = requests.answer[measured]
    several = answer > 1
    between_s = np.zeros(len(answer))
    between_s[several] = inter_token_latency_s(
        finish_s=finish_s[several], first_token_s=first_s[several], answer=answer[several].astype(np.float64)
    )
    met = (
        (first_s - arrival_s <= targets.time_to_first_token_s)
        & (between_s <= targets.inter_token_latency_s)
        & (finish_s - arrival_s <= targets.end_to_end_s)
    )
    batch, lasts_s = _over_time(served, start_s=warm_up_s, end_s=end_s)
    busy_s = float(lasts_s[batch > 0].sum())
    return Summary(
        measured=len(answer),
        refused=int((~ran).sum()),
        preemptions=int(served.preemptions[measured].sum()),
        queue_s=percentiles(served.started_s[measured] - arrival_s),
        time_to_first_token_s=percentiles(first_s - arrival_s),
        inter_token_latency_s=percentiles(between_s[several]),
        end_to_end_s=percentiles(finish_s - arrival_s),
        met_share=float(met.mean()) if len(met) else None,
        prompt_tok_per_s=per_s
        * float(requests.prompt[ran & (served.first_token_s >= warm_up_s) & (served.first_token_s <= end_s)].sum()),
        output_tok_per_s=per_s * _written(requests, served, since_s=warm_up_s, until_s=end_s),
        mean_batch=float((batch * lasts_s).sum()) / busy_s if busy_s else None,
        idle_share=per_s * float(lasts_s[batch == 0].sum()) / len(served.steps) if per_s else 1.0,
    )


def _written(requests: Requests, served: Served, *, since_s: float, until_s: float) -> float:
    """Tokens written in a time; those after the first of an answer count as spread evenly."""
    ran = served.replica >= 0
    first_s, finish_s, answer = served.first_token_s[ran], served.finish_s[ran], requests.answer[ran]
    wrote_s = np.where(answer > 1, finish_s - first_s, 1.0)
    wrote_here_s = np.minimum(finish_s, until_s) - np.maximum(first_s, since_s)
    later = np.clip(wrote_here_s / wrote_s, 0, 1) * (answer - 1)
    return float((later + ((first_s >= since_s) & (first_s <= until_s))).sum())


def _over_time(served: Served, *, start_s: float, end_s: float) -> tuple[Floats, Floats]:
    """Requests in the batch, and the seconds for which that holds, of all replicas one after another."""
    batches = [steps.batch for steps in served.steps]
    seconds = [np.diff(np.clip(np.append(steps.time_s, end_s), start_s, end_s)) for steps in served.steps]
    return np.concatenate(batches), np.concatenate(seconds)
