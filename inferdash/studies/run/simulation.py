"""A scenario over time: its requests, sent through its replicas by the simulator."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import ceil, gcd, inf
from typing import Final

import numpy as np

from inferdash.formula import unrecorded
from inferdash.physics.fitted.confidence import AS_EXPECTED, Slower
from inferdash.scenario import Scenario
from inferdash.scenario.agents import SESSIONS
from inferdash.serving.simulated.apart import FIRST_FROM_DECODE, ServedApart, Stage, simulate_apart
from inferdash.serving.simulated.pass_times import PassTimes
from inferdash.serving.simulated.requests import Ints, Requests, Turns
from inferdash.serving.simulated.scheduling import Scheduling
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.sessions import Lanes, lanes
from inferdash.serving.simulated.simulator import simulate
from inferdash.serving.simulated.summary import Summary, Targets, prompt_s, summary
from inferdash.studies.expected import server_of
from inferdash.studies.run.arrivals import LONGEST, MOST, asked, block_of, most_turns, session_of
from inferdash.studies.run.transfer import transfer_of
from inferdash.studies.run.workers import (
    ARRIVALS,
    READ,
    most_requests,
    only,
    prefill_of,
    stage,
    times_for,
    times_of,
    worth_it,
)

COPIES: Final = 16
"""Replicas that are simulated at most; of more, these have their share of the load."""
_STAYS: Final = 3
"""Times that a request stays for which the batch warms up, and for which it is measured at least."""
_ROUND: Final = 16_384
"""Tokens to whose multiples the longest text of sessions is rounded up, so that one set of times serves several."""
_SESSIONS: Final = 5
"""Sessions that come in each lane, about."""
_MOST_TURNS: Final = 20_000
"""Requests that are simulated at most for that, beside those that the reader asks for."""
_LEAST_TURNS: Final = 1.5
"""Sessions that come in each lane at least: the rest of one, and a whole one."""
_WARMS_UP: Final = 0.25
"""Of the requests of sessions, the first, in which caches fill."""


@dataclass(frozen=True, eq=False)
class Run:
    """A simulation and what it was of."""

    asked: Requests
    served: Served
    warm_up: int
    """Requests before the first that is measured."""
    times: PassTimes
    how: Scheduling
    copies: int
    """Replicas that were simulated."""
    replicas: int
    """Of all that there are, each data-parallel group counted."""
    server_s: float
    """What a server adds to the time of each request."""
    levelled: bool
    """Whether the simulation is long enough for the batch to come to its size."""
    beyond: int = 0
    """Requests of a file after those that were simulated."""
    apart: ServedApart | None = None
    """What became of requests in both stages, where prefill and decode are apart; all else is of the decode workers."""
    session: Ints | None = None
    """The number of the session of each, where they are turns of sessions."""
    whole: frozenset[int] = frozenset()
    """Sessions of which all turns came after the warm-up."""
    blocks: bool = False
    """Whether the blocks of prompts are known."""
    firsts: float = 1.0
    """Times as long as its passes say that first tokens take: at an edge of the band, which is wider for them."""

    def summary(self, scenario: Scenario) -> Summary:
        """What came of it, of all replicas, with the scenario's targets."""
        arrival_s = self.asked.arrival_s
        with unrecorded():
            return summary(
                self.asked,
                self.served,
                warm_up_s=float(arrival_s[self.warm_up]),
                until_s=float(arrival_s[-1]),
                targets=Targets(
                    time_to_first_token_s=(scenario.target_first - self.server_s) / self.firsts,
                    inter_token_latency_s=scenario.target_between,
                ),
            )

    @property
    def share(self) -> float:
        """All replicas over those that were simulated."""
        return self.replicas / self.copies


def run(scenario: Scenario, *, slower: Slower = AS_EXPECTED) -> Run | None:
    """The scenario's requests over time; None where no peak or link is known, or a text is too long.

    `slower` is how many times as long as expected passes and first tokens take, the time of the server among these;
    where all replicas read and write, and requests are no turns of sessions.
    """
    ran = _run(only(scenario.served, READ), prefill_of(scenario), float(slower.passes))
    if ran is None or slower == AS_EXPECTED:
        return ran
    return replace(ran, firsts=float(slower.firsts / slower.passes), server_s=ran.server_s * float(slower.firsts))


@lru_cache(maxsize=32)
def _run(scenario: Scenario, prefill: Scenario | None, slower: float) -> Run | None:
    if scenario.pattern == SESSIONS:
        return _sessions_run(scenario)
    times = times_of(scenario)
    if times is None:
        return None
    times = times.slower(slower)
    copies = _copies(scenario, prefill)
    replicas = scenario.replicas * scenario.sharing.data
    per_s = scenario.demand_per_s * copies[0] / replicas
    stays = ceil(_STAYS * per_s * _stay_s(scenario, prefill, times, per_s=per_s / copies[0]))
    most = most_requests(scenario)
    warm_up = min(stays, MOST // 2, most // 2)
    count = min(warm_up + max(scenario.simulated, warm_up), most)
    who = asked(scenario, count, per_s=per_s)
    return _ran(scenario, prefill, who, times, warm_up=warm_up, copies=copies, levelled=stays <= warm_up)


def _stay_s(scenario: Scenario, prefill: Scenario | None, times: PassTimes, *, per_s: float) -> float:
    """Seconds that a request of the median length stays, about: it finds the batch that such stays make."""
    reading = times_of(prefill) if prefill else times
    prefill_s = prompt_s(reading or times, prompt=scenario.prompt, pass_tokens=scenario.pass_tokens)
    past, passes, batch = scenario.prompt + scenario.answer // 2, scenario.answer - 1, 1.0
    token_s = cache(lambda together: times.token_s([past] * together))  # it comes back to the same batch
    stay_s = 0.0
    for _ in range(20):
        pass_s = token_s(max(1, round(batch)))
        free = 1.0 if prefill else max(0.1, 1 - per_s * prefill_s)
        stay_s = prefill_s + passes * pass_s / free
        batch = min(scenario.places, per_s * stay_s)
    return stay_s


@lru_cache(maxsize=2)
def run_of(scenario: Scenario, who: Requests) -> Run | None:
    """The same with requests from elsewhere, such as a file; the first tenth of them is the warm-up."""
    prefill = prefill_of(scenario)
    scenario = only(scenario.served, READ - {*ARRIVALS})
    times = times_for(scenario, int((who.prompt + who.answer).max(initial=1)))
    if times is None:
        return None
    replicas = scenario.replicas * scenario.sharing.data
    copies = _copies(scenario, prefill)
    mine = np.flatnonzero(np.random.default_rng(0).integers(replicas, size=len(who)) < copies[0])
    kept = mine[: worth_it(scenario, who.prompt[mine] + who.answer[mine], blocks=who.texts is not None)]
    some = who.some(kept)
    if prefill:  # two stages take requests at their own times
        some = replace(some, turns=None)
    ran = _ran(scenario, prefill, some, times, warm_up=len(some) // 10, copies=copies, levelled=True)
    if ran and some.turns:
        ran = _by_arrival(ran, some.turns, warms_up=0.1)
    return replace(ran, beyond=len(mine) - len(kept)) if ran else None


def _ran(
    scenario: Scenario,
    prefill: Scenario | None,
    who: Requests,
    times: PassTimes,
    *,
    warm_up: int,
    copies: tuple[int, int],
    levelled: bool,
) -> Run | None:
    if not len(who):
        return None
    writing = stage(scenario, who, times, copies=copies[0])
    if prefill is None:
        apart, served = None, simulate(who, times, writing.how, writing.routing)
    else:
        apart = _apart(scenario, prefill, who, writing, copies=copies[1])
        if apart is None:
            return None
        told_late = scenario.speed == "expected" and scenario.program.name in FIRST_FROM_DECODE
        served = apart.whole(first_from_decode=told_late)
    return Run(
        asked=who,
        served=served,
        warm_up=warm_up,
        times=times,
        how=writing.how,
        copies=copies[0],
        replicas=scenario.replicas * scenario.sharing.data,
        server_s=server_of(scenario),
        levelled=levelled,
        apart=apart,
        blocks=who.texts is not None,
    )


def _apart(scenario: Scenario, prefill: Scenario, who: Requests, writing: Stage, *, copies: int) -> ServedApart | None:
    """The same requests read by prefill workers and written by others; None where the link is not known."""
    transfer = transfer_of(scenario, prefill, who)
    times = times_for(only(prefill, READ - {*ARRIVALS}), int((who.prompt + 1).max(initial=1)))
    if transfer is None or times is None:
        return None
    return simulate_apart(who, stage(prefill, who, times, copies=copies), writing, transfer)


def _copies(scenario: Scenario, prefill: Scenario | None) -> tuple[int, int]:
    """Replicas that are simulated, and prefill workers: of many as few as keep the ratio of both."""
    replicas = scenario.replicas * scenario.sharing.data
    if prefill is None:
        return min(replicas, COPIES), 0
    readers = prefill.replicas * prefill.sharing.data
    parts = gcd(replicas, readers)
    kept = min(parts, max(1, COPIES * parts // max(replicas, readers)))
    return replicas // parts * kept, readers // parts * kept


def _sessions_run(scenario: Scenario) -> Run | None:
    """Sessions that follow on each other in lanes, each on one replica."""
    replicas = scenario.replicas * scenario.sharing.data
    copies = min(replicas, COPIES, scenario.live_sessions)
    live = max(1, round(scenario.live_sessions * copies / replicas))
    one = session_of(scenario)
    each, most = live * (one.turns + one.subagents * one.subagent_turns), most_turns(scenario)
    if _LEAST_TURNS * each > most:
        return None
    count = min(max(2 * scenario.simulated, min(_SESSIONS * each, _MOST_TURNS)), most)
    made = lanes(one, live=live, count=count, block=block_of(scenario), seed=scenario.seed)
    longest = int((made.who.prompt + made.who.answer).max())
    times = times_for(only(scenario, READ - {*ARRIVALS}), min(LONGEST, _ROUND * -(-longest // _ROUND)))
    if times is None or longest > LONGEST:
        return None
    ran = _ran(scenario, None, made.who, times, warm_up=0, copies=(copies, 0), levelled=True)
    return ran and _steady(ran, made)


def _steady(ran: Run, made: Lanes) -> Run:
    """The same by arrival, up to the end of the first lane: later there are fewer sessions; the first part warms up."""
    ends = np.zeros(int(made.lane.max()) + 1)
    np.maximum.at(ends, made.lane, ran.served.arrival_s)
    found = _by_arrival(ran, made.turns, until_s=float(ends.min()), warms_up=_WARMS_UP)
    return replace(found, whole=found.whole & made.whole)


def _by_arrival(ran: Run, turns: Turns, *, until_s: float = inf, warms_up: float) -> Run:
    """A run of sessions with its requests by arrival, up to a time; the first share of them warms up."""
    arrival_s = ran.served.arrival_s
    order = np.argsort(arrival_s, kind="stable")
    order = order[arrival_s[order] <= until_s]
    warm_up = int(len(order) * warms_up)
    count = int(turns.session.max(initial=0)) + 1
    asked, counted = (np.bincount(one, minlength=count) for one in (turns.session, turns.session[order[warm_up:]]))
    return replace(
        ran,
        asked=replace(ran.asked, turns=None, arrival_s=arrival_s, texts=None).some(order),
        served=ran.served.some(order),
        warm_up=warm_up,
        session=turns.session[order],
        whole=frozenset(np.flatnonzero((asked == counted) & (asked > 0)).tolist()),
        blocks=ran.asked.texts is not None,
    )
