"""The time of one request: a stage at a time until its first token, then the rest of its answer."""

from dataclasses import dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.physics import request
from inferdash.physics.deployment import Deployment
from inferdash.physics.passes import Bound, decode
from inferdash.scenario import Scenario
from inferdash.studies.numbers import number, plain

_WIDE: Final = 0.3
"""From this share of the bar on, a part has room for its name."""


@dataclass(frozen=True)
class FirstToken:
    """The time to first token by part."""

    queue_s: float = number("s", "queue time")
    prefill_s: float | None = number("s", "prefill (limit)")
    network_s: float = number("s", "network time")
    reasoning_s: float | None = number("s", "hidden reasoning (limit)")
    total_s: float | None = number("s", "in all (limit)")


def request_times(
    scenario: Scenario, machine: Deployment, *, prefill_s: float | None
) -> tuple[FirstToken, float | None]:
    """The time to first token by part, and the seconds from then to the last token of the answer."""
    reasoning_s = _written_s(scenario, machine, before=scenario.prompt, passes=scenario.reasoning)
    answer_s = _written_s(scenario, machine, before=scenario.prompt + scenario.reasoning, passes=scenario.answer - 1)
    total = None
    if prefill_s is not None and reasoning_s is not None:
        total = request.time_to_first_token_s(
            queue_s=scenario.queue, prefill_s=prefill_s, network_s=scenario.network, reasoning_s=reasoning_s
        )
    first = FirstToken(
        queue_s=scenario.queue,
        prefill_s=prefill_s,
        network_s=scenario.network,
        reasoning_s=reasoning_s,
        total_s=plain(total),
    )
    return first, answer_s


def _written_s(scenario: Scenario, machine: Deployment, *, before: int, passes: int) -> float | None:
    """Seconds in which the decode writes that many tokens after the first `before` of the text."""
    if passes == 0:
        return 0.0
    middle = request.mean_past(before=before, passes=passes)
    mean = decode(machine, requests=scenario.batch, past=middle).pass_s
    return None if mean is None else float(request.written_s(passes=passes, mean_pass_s=mean))


def sentence(first: FirstToken, answer_s: float | None) -> str:
    """The time of the request in words."""
    if first.total_s is None or answer_s is None:
        return "The time of a request depends on the peak of the accelerator, which is not known."
    total = quantities.shown(first.total_s, "s")
    parts = {
        "queue time": first.queue_s,
        "prefill": first.prefill_s,
        "network time": first.network_s,
        "hidden reasoning": first.reasoning_s,
    }
    longest = max(parts, key=lambda name: parts[name] or 0.0)
    share = quantities.percent((parts[longest] or 0.0) / first.total_s)
    most = "all of it" if share == "100%" else f"{share} of it"
    rest = (
        "; that token is the whole answer."
        if answer_s == 0
        else f"; the rest of the answer takes {quantities.shown(answer_s, 's')}."
    )
    return f"The first token arrives after {total} at the limit, {most} {longest}{rest}"


def rows(
    first: FirstToken, answer_s: float | None, *, prefill: Bound | None, decode: Bound | None
) -> dict[str, list[dict[str, Any]]]:
    """The stages of one request that take time, in order, each with its start and end in seconds.

    Args:
        first: the time to first token by part.
        answer_s: the rest of the answer.
        prefill: what the prefill is limited by.
        decode: what the decode is limited by.

    Returns rows under "stages", "waiting" (those before the first token) and "first" (the first token); nothing where
    a time is not known.
    """
    stages = (
        ("Queue time", "waiting", first.queue_s),
        ("Prefill", prefill, first.prefill_s),
        ("Network time", "waiting", first.network_s),
        ("Hidden reasoning", decode, first.reasoning_s),
        ("Answer", decode, answer_s),
    )
    stacked: list[dict[str, Any]] = []
    start = 0.0
    for stage, meaning, duration in stages:
        if meaning is None or duration is None:
            return {}
        if not duration:
            continue
        end = start + duration
        stacked.append(
            {
                "stage": stage,
                "meaning": meaning,
                "start_s": start,
                "end_s": end,
                "label": f"{stage} {quantities.shown(duration, 's')}",
                "wide": bool(first.total_s and duration / first.total_s >= _WIDE),
            }
        )
        start = end
    waiting = [row for row in stacked if row["stage"] != "Answer"]
    return {"stages": stacked, "waiting": waiting, "first": [{"at_s": first.total_s, "label": "first token"}]}
