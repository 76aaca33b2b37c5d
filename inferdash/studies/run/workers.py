"""A scenario's replicas as the simulator takes them: their rules, their memory and the times of their passes."""

from dataclasses import replace
from functools import lru_cache
from math import gcd
from typing import Any, Final

import numpy as np

from inferdash.formula import unrecorded
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.capacity.tiers import HOST_REACHED, LATENCY_S
from inferdash.physics.drafters import beside
from inferdash.scenario import BASE, Scenario
from inferdash.scenario.disaggregating import DISAGGREGATED
from inferdash.scenario.machine import Machine
from inferdash.scenario.speculating import SPECULATED
from inferdash.serving.simulated.apart import Stage
from inferdash.serving.simulated.pass_times import PassTimes, pass_times
from inferdash.serving.simulated.requests import Ints, Requests
from inferdash.serving.simulated.scheduling import Routing, Rule, Scheduling, Tiers, Write, room_pages
from inferdash.studies.run.arrivals import LONGEST, longest

_ROOMY: Final = 200_000_000
"""Tokens that are followed at most where the cache holds a full batch."""
_CROWDED: Final = 5_000_000
"""The same where it does not, and requests are put back again and again."""
_IN_BLOCKS: Final = 2_000_000_000
"""The same where prompts are known by their blocks, most of which are found: 50 million take 0.05 s of a core."""
_FEWEST: Final = 200
"""Requests that are simulated in any case."""
ARRIVALS: Final = (
    *("load", "load_as", "active_users", "think", "pattern", "burstiness"),
    *("length_spread", "simulated", "seed", "found_share", "prefixes"),
    *("live_sessions", "session_turns", "session_start", "session_shared", "session_growth", "tool_pause"),
    *("person_every", "person_pause", "compact_at", "subagents", "subagent_turns"),
)
"""Fields of who comes."""
READ: Final = frozenset(
    {
        *(name for name in Machine.model_fields if name != "title"),
        *ARRIVALS,
        *SPECULATED,
        *DISAGGREGATED,
        *("schedule", "places", "pass_tokens", "page", "preemption", "host_bandwidth", "replicas", "rule", "speed"),
        *("host_memory", "ssd", "ssd_bandwidth", "write_policy"),
        "measured",
    }
)
"""Fields that a simulation depends on."""
_RULES: Final[dict[str, Rule]] = {"turns": "round robin", "least": "least loaded", "prefix": "prefix-aware"}


def prefill_of(scenario: Scenario) -> Scenario | None:
    """The workers that read prompts, as they are served; None where all read and write."""
    return only(scenario.prefill.served, READ) if scenario.disaggregated else None


def only(scenario: Scenario, names: frozenset[str]) -> Scenario:
    """The scenario with all but some fields as the baseline has them, so that they alone tell it from another."""
    now = vars(scenario)
    return scenario.model_copy(update={name: value for name, value in _others(names) if now[name] != value})


@lru_cache(maxsize=8)
def _others(names: frozenset[str]) -> tuple[tuple[str, Any], ...]:
    """All but some fields, each as the baseline has it."""
    return tuple((name, value) for name, value in BASE if name not in names)


def times_of(scenario: Scenario) -> PassTimes | None:
    """The times of passes of a scenario as it is served, for texts of its lengths; None likewise."""
    return times_for(only(scenario, READ - {*ARRIVALS}), longest(scenario))


@lru_cache(maxsize=8)
def times_for(scenario: Scenario, longest: int) -> PassTimes | None:
    """The times of passes; None where no peak is known, or a text is too long."""
    if longest > LONGEST:
        return None
    engine = scenario.program if scenario.speed == "expected" else None
    with unrecorded():
        return pass_times(
            scenario.deployment,
            engine,
            places=scenario.places,
            tokens=longest,
            pass_tokens=scenario.pass_tokens,
            proposals=scenario.proposals,
        )


def stage(scenario: Scenario, who: Requests, times: PassTimes, *, copies: int) -> Stage:
    """So many of the scenario's replicas, for these requests."""
    how = scheduling(scenario, tokens=round(float((who.prompt + who.answer).mean())))
    if who.texts:  # a block is a number of whole pages
        page = gcd(how.page, who.texts.block)
        smaller, tiers = how.page // page, how.tiers
        tiers = replace(tiers, host_pages=tiers.host_pages * smaller, ssd_pages=tiers.ssd_pages * smaller)
        how = replace(how, page=page, pages=how.pages and how.pages * smaller, tiers=tiers)
    rule: Rule = _RULES[scenario.rule] if copies > 1 else "round robin"
    return Stage(times=times, how=how, routing=Routing(replicas=copies, rule=rule))


def scheduling(scenario: Scenario, *, tokens: int) -> Scheduling:
    """How each replica chooses what runs next, with pages for texts of so many tokens."""
    machine = scenario.deployment
    cache_bytes = request_cache_bytes(
        machine.architecture, tokens=tokens, bytes_per_number=machine.cache_bytes_per_number
    )
    together = machine.gpus / machine.layout.data
    return Scheduling(
        places=scenario.places,
        pages=room_pages(beside(machine, scenario.proposals), tokens=tokens, page=scenario.page),
        page=scenario.page,
        batching="static" if scenario.schedule == "static" else "continuous",
        chunked=scenario.schedule == "chunked",
        pass_tokens=scenario.pass_tokens,
        preemption="swap" if scenario.preemption == "swap" else "recompute",
        swap_token_s=float(cache_bytes) / tokens / (together * scenario.host_bandwidth),
        tiers=_tiers(scenario, token_bytes=float(cache_bytes) / tokens),
    )


def _tiers(scenario: Scenario, *, token_bytes: float) -> Tiers:
    """What is kept below the GPUs of a replica, of which each data-parallel group has its part."""
    groups, together = scenario.sharing.data, scenario.gpus / scenario.sharing.data
    expected = scenario.speed == "expected"
    write: Write = "back" if scenario.write_policy == "back" else "through"
    return Tiers(
        host_pages=int(scenario.host_memory / groups / token_bytes // scenario.page),
        ssd_pages=int(scenario.ssd / groups / token_bytes // scenario.page),
        host_token_s=token_bytes / (together * scenario.host_bandwidth * (HOST_REACHED if expected else 1)),
        ssd_token_s=token_bytes / (scenario.ssd_bandwidth / groups),
        latency_s=LATENCY_S if expected else 0.0,
        write=write,
    )


def most_requests(scenario: Scenario) -> int:
    """Requests that are simulated at most, so that it takes seconds."""
    text = scenario.prompt + scenario.answer
    how = scheduling(scenario, tokens=text)
    roomy = scenario.places * text <= (how.pages or 0) * how.page
    return max(_FEWEST, (_ROOMY if roomy else _CROWDED) // text)


def worth_it(scenario: Scenario, texts: Ints, *, blocks: bool) -> int:
    """How many texts of these tokens, from the first, are simulated in seconds; `blocks` says whether they have any."""
    if not len(texts):
        return 0
    how = scheduling(scenario, tokens=round(float(texts.mean())))
    roomy = scenario.places * float(texts.mean()) <= (how.pages or 0) * how.page
    most = _IN_BLOCKS if blocks else _ROOMY if roomy else _CROWDED
    within = int(np.searchsorted(texts.cumsum(), most, side="right"))
    return max(_FEWEST, within)
