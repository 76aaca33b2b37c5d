"""What replicas carry at most: as many requests as they end while a long queue waits."""

from dataclasses import replace
from functools import lru_cache
from math import inf

import numpy as np

from inferdash.scenario import Scenario
from inferdash.scenario.agents import SESSIONS
from inferdash.scenario.disaggregating import DISAGGREGATED
from inferdash.serving.simulated.requests import requests
from inferdash.serving.simulated.simulator import simulate
from inferdash.studies.run.arrivals import asked
from inferdash.studies.run.transfer import link_carries_per_s
from inferdash.studies.run.workers import READ, most_requests, only, prefill_of, stage, times_of


def ceiling_per_s(scenario: Scenario) -> float | None:
    """Requests a second that all replicas carry at most; None where nothing can be simulated, 0 where nothing fits.

    As many as one replica ends while a long queue waits for it, times the replicas. Where prefill and decode are apart,
    what prefill workers, links or decode workers carry, whichever is fewest.
    """
    if scenario.pattern == SESSIONS:
        return None  # they come as quickly as they are answered
    each = ceilings_per_s(scenario)
    return min(each.values()) if each else None


def ceilings_per_s(scenario: Scenario) -> dict[str, float]:
    """What carries requests -> how many a second at most, unless it has nothing to do; nothing where none is known."""
    prefill, one = prefill_of(scenario), scenario.served
    if prefill is None:
        return {"replicas": found} if (found := _whole_ceiling(one, "both")) is not None else {}
    read, wrote = _whole_ceiling(prefill, "reads"), _whole_ceiling(one, "writes")
    moved = link_carries_per_s(one, prefill)
    if read is None or wrote is None or moved is None:
        return {}
    each = {"prefill": read, "link": moved, "decode": wrote}
    return {name: per_s for name, per_s in each.items() if per_s < inf}


def _whole_ceiling(scenario: Scenario, part: str) -> float | None:
    """What all replicas carry that do a part of the work."""
    names = READ - {"load", "load_as", "active_users", "think", "simulated", "replicas", "rule", *DISAGGREGATED}
    found = _ceiling(only(scenario, names), part)
    return None if found is None else found * scenario.replicas * scenario.sharing.data


@lru_cache(maxsize=16)
def _ceiling(scenario: Scenario, part: str) -> float | None:
    times = times_of(scenario)
    if times is None:
        return None
    count = min(4 * scenario.places, most_requests(scenario))
    who = asked(scenario, count, per_s=1.0)
    answer = np.ones_like(who.answer) if part == "reads" else who.answer
    queue = requests(np.zeros(count), prompt=who.prompt, answer=answer, found=who.found, prefix=who.prefix)
    if not count:
        return 0.0
    one = stage(scenario, queue, times, copies=1)
    served = simulate(queue, times, replace(one.how, received=part == "writes"))
    ends = np.sort(served.finish_s[served.replica >= 0])
    first, last = len(ends) // 4, 3 * len(ends) // 4
    if not len(ends):
        return 0.0
    if not ends[-1]:
        return inf  # the first token of each answer, which prefill made, is all of it
    span_s = float(ends[last] - ends[first])
    return (last - first) / span_s if span_s else len(ends) / float(ends[-1])  # all may end with one pass
