"""A scenario over time: its requests, sent through its replicas by the simulator."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil
from typing import Any, Final

import numpy as np

from inferdash.formula import recording
from inferdash.physics.kv_cache import request_cache_bytes
from inferdash.scenario import BASE, Scenario
from inferdash.serving.pass_times import PassTimes, pass_times
from inferdash.serving.requests import Requests, bursts, daily, log_normal, poisson, requests
from inferdash.serving.scheduling import Routing, Rule, Scheduling, room_pages
from inferdash.serving.served import Served
from inferdash.serving.simulator import simulate
from inferdash.serving.summary import Summary, Targets, ceiling, prompt_s, summary

LONGEST: Final = 1_000_000
"""Tokens of a text, its prompt and answer together, up to which it is simulated."""
_STAYS: Final = 3
"""Times that a request stays for which the batch warms up, but no longer than as many requests come as are measured."""
_TAIL: Final = 8
"""Times the median that the longest text has where lengths spread."""
HOURS: Final = (2, 1, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 12, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3)
"""Weights of the hours of a day, with a busiest one of about twice the mean: an example, not a measurement."""
_WRITTEN: Final = ("load", "pattern", "burstiness", "length_spread", "simulated", "seed", "found_share", "prefixes")
_RULES: Final[dict[str, Rule]] = {"turns": "round robin", "least": "least loaded", "prefix": "prefix-aware"}


@dataclass(frozen=True, eq=False)
class Run:
    """A simulation and what it was of."""

    asked: Requests
    served: Served
    summary: Summary
    times: PassTimes
    how: Scheduling
    replicas: int
    server_s: float
    """What a server adds to the time of each request."""

    @property
    def mean_texts(self) -> tuple[int, int, int]:
        """Mean tokens of a prompt, of an answer, and of what is found of a prompt."""
        prompt, answer = (max(1, round(float(one.mean()))) for one in (self.asked.prompt, self.asked.answer))
        return prompt, answer, min(prompt - 1, round(float(self.asked.found.mean())))

    @cached_property
    def ceiling_per_s(self) -> float:
        """Requests a second that all replicas carry at most, with texts of the mean length and prompts read first."""
        prompt, answer, found = self.mean_texts
        room = self.how.places
        if self.how.pages is not None:
            room = min(room, self.how.pages * self.how.page // (prompt + answer))
        with recording():
            most = ceiling(self.times, places=room, prompt=prompt, answer=answer, found=found) if room else 0.0
        return self.replicas * most


@lru_cache(maxsize=32)
def run(scenario: Scenario) -> Run | None:
    """The scenario's requests over time; None where no peak is known, or a text is too long to be simulated."""
    count = scenario.simulated
    found = _times_of(scenario, asked(scenario, 2 * count))
    if found is None:
        return None
    warm_up = min(count, ceil(_STAYS * scenario.load * _stay_s(scenario, found)))
    return _ran(scenario, asked(scenario, warm_up + count), found, warm_up=warm_up)


@lru_cache(maxsize=2)
def run_of(scenario: Scenario, who: Requests) -> Run | None:
    """The same with requests from elsewhere, such as a file; the first tenth of them is the warm-up."""
    found = _times_of(scenario, who)
    return None if found is None else _ran(scenario, who, found, warm_up=len(who) // 10)


def _times_of(scenario: Scenario, who: Requests) -> PassTimes | None:
    longest = int((who.prompt + who.answer).max(initial=1))
    if longest > LONGEST:
        return None
    return _times(scenario.model_copy(update={name: getattr(BASE, name) for name in _WRITTEN}), longest)


def _stay_s(scenario: Scenario, times: PassTimes) -> float:
    """Seconds that a request of the median length stays, about: it finds the batch that such stays make."""
    replicas = scenario.replicas * scenario.sharing.data
    prefill_s = prompt_s(times, prompt=scenario.prompt)
    past, passes, batch = scenario.prompt + scenario.answer // 2, scenario.answer - 1, 1.0
    for _ in range(20):
        stay_s = prefill_s + passes * times.pass_s(contexts=[past] * max(1, round(batch)))
        batch = min(scenario.places, scenario.load / replicas * stay_s)
    return stay_s


def _ran(scenario: Scenario, who: Requests, times: PassTimes, *, warm_up: int) -> Run:
    machine = scenario.deployment
    pages = room_pages(machine, tokens=scenario.prompt + scenario.answer, page=scenario.page)
    schedule = scheduling(scenario, pages)
    replicas = scenario.replicas * machine.layout.data
    rule: Rule = _RULES[scenario.rule] if replicas > 1 else "round robin"
    served = simulate(who, times, schedule, Routing(replicas=replicas, rule=rule))
    server_s = scenario.program.server if scenario.speed == "expected" else 0.0
    with recording():
        found = summary(
            who,
            served,
            warm_up_s=float(who.arrival_s[warm_up]),
            until_s=float(who.arrival_s[-1]),
            targets=Targets(
                time_to_first_token_s=scenario.target_first - server_s,
                inter_token_latency_s=scenario.target_between,
            ),
        )
    return Run(who, served, found, times, schedule, replicas, server_s)


def scheduling(scenario: Scenario, pages: int) -> Scheduling:
    """How each replica chooses what runs next."""
    machine = scenario.deployment
    token_bytes = (
        float(
            request_cache_bytes(
                machine.architecture, tokens=scenario.prompt, bytes_per_number=machine.cache_bytes_per_number
            )
        )
        / scenario.prompt
    )
    return Scheduling(
        places=scenario.places,
        pages=pages,
        page=scenario.page,
        batching="static" if scenario.schedule == "static" else "continuous",
        chunked=scenario.schedule == "chunked",
        pass_tokens=scenario.pass_tokens,
        preemption="swap" if scenario.preemption == "swap" else "recompute",
        swap_token_s=token_bytes / (machine.gpus * scenario.host_bandwidth),
    )


@lru_cache(maxsize=8)
def _times(scenario: Scenario, longest: int) -> PassTimes | None:
    engine = scenario.program if scenario.speed == "expected" else None
    with recording():
        return pass_times(
            scenario.deployment, engine, places=scenario.places, tokens=longest, pass_tokens=scenario.pass_tokens
        )


def asked(scenario: Scenario, count: int) -> Requests:
    """Who comes, when, and with how many tokens; more of them begin alike."""
    seed = scenario.seed
    match scenario.pattern:
        case "bursts":
            arrival_s = bursts(count, per_s=scenario.load, variation=scenario.burstiness, seed=seed)
        case "day":
            arrival_s = _pressed_day(count, per_s=scenario.load, seed=seed)
        case _:
            arrival_s = poisson(count, per_s=scenario.load, seed=seed)
    prompt, answer = (
        log_normal(count, median=median, spread=scenario.length_spread, least=1, most=_TAIL * median, seed=seed + shift)
        for shift, median in ((1, scenario.prompt), (2, scenario.answer))
    )
    found: Any = np.minimum(np.floor(scenario.found_share * prompt), prompt - 1)
    prefix: Any = np.random.default_rng(seed + 3).integers(scenario.prefixes, size=count) if found.any() else -1
    return requests(arrival_s, prompt=prompt, answer=answer, found=found, prefix=prefix)


def _pressed_day(count: int, *, per_s: float, seed: int) -> Any:
    """Arrivals of a day whose length is that of the requests at the mean load."""
    day_s = 86_400.0
    return daily(count, per_s=count / day_s, hours=HOURS, seed=seed) * (count / per_s / day_s)
