"""A scenario over time: its requests, sent through its replicas by the simulator."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, gcd, inf
from typing import Any, Final

import numpy as np

from inferdash.formula import unrecorded
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.capacity.tiers import HOST_REACHED, LATENCY_S
from inferdash.physics.drafters import beside
from inferdash.physics.fitted.confidence import AS_EXPECTED, Slower
from inferdash.scenario import BASE, Scenario
from inferdash.scenario.agents import SESSIONS
from inferdash.scenario.disaggregating import DISAGGREGATED
from inferdash.scenario.machine import Machine
from inferdash.scenario.speculating import SPECULATED
from inferdash.serving.simulated.apart import FIRST_FROM_DECODE, ServedApart, Stage, simulate_apart
from inferdash.serving.simulated.pass_times import PassTimes, pass_times
from inferdash.serving.simulated.requests import Ints, Requests, Turns, bursts, daily, log_normal, poisson, requests
from inferdash.serving.simulated.scheduling import Routing, Rule, Scheduling, Tiers, Write, room_pages
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.sessions import Lanes, Session, lanes
from inferdash.serving.simulated.simulator import simulate
from inferdash.serving.simulated.summary import Summary, Targets, prompt_s, summary
from inferdash.studies.expected import server_of
from inferdash.studies.run.transfer import link_carries_per_s, transfer_of

LONGEST: Final = 262_144
"""Tokens of a text, its prompt and answer together, up to which it is simulated."""
MOST: Final = 60_000
"""Requests that are simulated at most to bring the batch to its size, beside those that the reader asks for."""
COPIES: Final = 16
"""Replicas that are simulated at most; of more, these have their share of the load."""
_ROOMY: Final = 200_000_000
"""Tokens that are followed at most where the cache holds a full batch."""
_CROWDED: Final = 5_000_000
"""The same where it does not, and requests are put back again and again."""
_IN_BLOCKS: Final = 2_000_000_000
"""The same where prompts are known by their blocks, most of which are found: 50 million take 0.05 s of a core."""
_FEWEST: Final = 200
"""Requests that are simulated in any case."""
_STAYS: Final = 3
"""Times that a request stays for which the batch warms up, and for which it is measured at least."""
_TAIL: Final = 8
"""Times the median that the longest text has where lengths spread."""
_ROUND: Final = 16_384
"""Tokens to whose multiples the longest text of sessions is rounded up, so that one set of times serves several."""
_BLOCK: Final = 64
"""Tokens of a block in sessions, as in the traces of coding assistants."""
_SESSIONS: Final = 5
"""Sessions that come in each lane, about."""
_MOST_TURNS: Final = 20_000
"""Requests that are simulated at most for that, beside those that the reader asks for."""
_LEAST_TURNS: Final = 1.5
"""Sessions that come in each lane at least: the rest of one, and a whole one."""
_MOST_BLOCKS: Final = 10_000_000
"""Blocks of prompts that are followed at most: 80 MB a list of them."""
_WARMS_UP: Final = 0.25
"""Of the requests of sessions, the first, in which caches fill."""
HOURS: Final = (2, 1, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 12, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3)
"""Weights of the hours of a day, with a busiest one of about twice the mean: an example, not a measurement."""
_ARRIVALS: Final = (
    *("load", "load_as", "active_users", "think", "pattern", "burstiness"),
    *("length_spread", "simulated", "seed", "found_share", "prefixes"),
    *("live_sessions", "session_turns", "session_start", "session_shared", "session_growth", "tool_pause"),
    *("person_every", "person_pause", "compact_at", "subagents", "subagent_turns"),
)
"""Fields of who comes."""
_READ: Final = frozenset(
    {
        *(name for name in Machine.model_fields if name != "title"),
        *_ARRIVALS,
        *SPECULATED,
        *DISAGGREGATED,
        *("schedule", "places", "pass_tokens", "page", "preemption", "host_bandwidth", "replicas", "rule", "speed"),
        *("host_memory", "ssd", "ssd_bandwidth", "write_policy"),
        "measured",
    }
)
"""Fields that a simulation depends on."""
_RULES: Final[dict[str, Rule]] = {"turns": "round robin", "least": "least loaded", "prefix": "prefix-aware"}


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
    ran = _run(only(scenario.served, _READ), prefill_of(scenario), float(slower.passes))
    if ran is None or slower == AS_EXPECTED:
        return ran
    return replace(ran, firsts=float(slower.firsts / slower.passes), server_s=ran.server_s * float(slower.firsts))


def prefill_of(scenario: Scenario) -> Scenario | None:
    """The workers that read prompts, as they are served; None where all read and write."""
    return only(scenario.prefill.served, _READ) if scenario.disaggregated else None


def only(scenario: Scenario, names: frozenset[str]) -> Scenario:
    """The scenario with all but some fields as the baseline has them, so that they alone tell it from another."""
    return scenario.model_copy(
        update={name: value for name, value in _others(names) if getattr(scenario, name) != value}
    )


@lru_cache(maxsize=8)
def _others(names: frozenset[str]) -> tuple[tuple[str, Any], ...]:
    """All but some fields, each as the baseline has it."""
    return tuple((name, value) for name, value in BASE if name not in names)


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
    most = _most(scenario)
    warm_up = min(stays, MOST // 2, most // 2)
    count = min(warm_up + max(scenario.simulated, warm_up), most)
    who = asked(scenario, count, per_s=per_s)
    return _ran(scenario, prefill, who, times, warm_up=warm_up, copies=copies, levelled=stays <= warm_up)


def _copies(scenario: Scenario, prefill: Scenario | None) -> tuple[int, int]:
    """Replicas that are simulated, and prefill workers: of many as few as keep the ratio of both."""
    replicas = scenario.replicas * scenario.sharing.data
    if prefill is None:
        return min(replicas, COPIES), 0
    readers = prefill.replicas * prefill.sharing.data
    parts = gcd(replicas, readers)
    kept = min(parts, max(1, COPIES * parts // max(replicas, readers)))
    return replicas // parts * kept, readers // parts * kept


def session_of(scenario: Scenario) -> Session:
    """What each session of the scenario is made of."""
    return Session(
        turns=scenario.session_turns,
        start=scenario.session_start,
        shared=scenario.session_shared,
        growth=scenario.session_growth,
        answer=scenario.answer,
        tool_pause_s=scenario.tool_pause,
        person_every=scenario.person_every,
        person_pause_s=scenario.person_pause,
        spread=scenario.length_spread,
        compact_at=scenario.compact_at,
        subagents=scenario.subagents,
        subagent_turns=scenario.subagent_turns,
    )


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
    made = lanes(one, live=live, count=count, block=_block(scenario), seed=scenario.seed)
    longest = int((made.who.prompt + made.who.answer).max())
    times = _times(only(scenario, _READ - {*_ARRIVALS}), min(LONGEST, _ROUND * -(-longest // _ROUND)))
    if times is None or longest > LONGEST:
        return None
    ran = _ran(scenario, None, made.who, times, warm_up=0, copies=(copies, 0), levelled=True)
    return ran and _steady(ran, made)


def most_turns(scenario: Scenario) -> int:
    """Requests of sessions that are simulated at most; 0 where contexts grow beyond what is simulated."""
    grown = scenario.session_start + scenario.session_growth * (scenario.session_turns - 1)
    if scenario.compact_at:
        grown = min(grown, max(scenario.session_start, scenario.compact_at))
    blocks = (scenario.session_start + grown) / 2 / _block(scenario)
    return 0 if grown > LONGEST else int(min(MOST, _MOST_BLOCKS / max(1.0, blocks)))


def _block(scenario: Scenario) -> int:
    """Tokens of a block by which contexts are found again: whole pages, about as many as traces of agents have."""
    return scenario.page * max(1, _BLOCK // scenario.page)


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


def _most(scenario: Scenario) -> int:
    """Requests that are simulated at most, so that it takes seconds."""
    text = scenario.prompt + scenario.answer
    how = scheduling(scenario, tokens=text)
    roomy = scenario.places * text <= (how.pages or 0) * how.page
    return max(_FEWEST, (_ROOMY if roomy else _CROWDED) // text)


@lru_cache(maxsize=2)
def run_of(scenario: Scenario, who: Requests) -> Run | None:
    """The same with requests from elsewhere, such as a file; the first tenth of them is the warm-up."""
    prefill = prefill_of(scenario)
    scenario = only(scenario.served, _READ - {*_ARRIVALS})
    times = _times(scenario, int((who.prompt + who.answer).max(initial=1)))
    if times is None:
        return None
    replicas = scenario.replicas * scenario.sharing.data
    copies = _copies(scenario, prefill)
    mine = np.flatnonzero(np.random.default_rng(0).integers(replicas, size=len(who)) < copies[0])
    kept = mine[: _worth_it(scenario, who.prompt[mine] + who.answer[mine], blocks=who.texts is not None)]
    some = who.some(kept)
    if prefill:  # two stages take requests at their own times
        some = replace(some, turns=None)
    ran = _ran(scenario, prefill, some, times, warm_up=len(some) // 10, copies=copies, levelled=True)
    if ran and some.turns:
        ran = _by_arrival(ran, some.turns, warms_up=0.1)
    return replace(ran, beyond=len(mine) - len(kept)) if ran else None


def _worth_it(scenario: Scenario, texts: Ints, *, blocks: bool) -> int:
    """How many texts of these tokens, from the first, are simulated in seconds; `blocks` says whether they have any."""
    if not len(texts):
        return 0
    how = scheduling(scenario, tokens=round(float(texts.mean())))
    roomy = scenario.places * float(texts.mean()) <= (how.pages or 0) * how.page
    most = _IN_BLOCKS if blocks else _ROOMY if roomy else _CROWDED
    within = int(np.searchsorted(texts.cumsum(), most, side="right"))
    return max(_FEWEST, within)


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
    stage = _stage(scenario, who, times, copies=copies[0])
    if prefill is None:
        apart, served = None, simulate(who, times, stage.how, stage.routing)
    else:
        apart = _apart(scenario, prefill, who, stage, copies=copies[1])
        if apart is None:
            return None
        told_late = scenario.speed == "expected" and scenario.program.name in FIRST_FROM_DECODE
        served = apart.whole(first_from_decode=told_late)
    return Run(
        asked=who,
        served=served,
        warm_up=warm_up,
        times=times,
        how=stage.how,
        copies=copies[0],
        replicas=scenario.replicas * scenario.sharing.data,
        server_s=server_of(scenario),
        levelled=levelled,
        apart=apart,
        blocks=who.texts is not None,
    )


def _stage(scenario: Scenario, who: Requests, times: PassTimes, *, copies: int) -> Stage:
    """So many of the scenario's replicas, for these requests."""
    how = scheduling(scenario, tokens=round(float((who.prompt + who.answer).mean())))
    if who.texts:  # a block is a number of whole pages
        page = gcd(how.page, who.texts.block)
        smaller, tiers = how.page // page, how.tiers
        tiers = replace(tiers, host_pages=tiers.host_pages * smaller, ssd_pages=tiers.ssd_pages * smaller)
        how = replace(how, page=page, pages=how.pages and how.pages * smaller, tiers=tiers)
    rule: Rule = _RULES[scenario.rule] if copies > 1 else "round robin"
    return Stage(times=times, how=how, routing=Routing(replicas=copies, rule=rule))


def _apart(scenario: Scenario, prefill: Scenario, who: Requests, writing: Stage, *, copies: int) -> ServedApart | None:
    """The same requests read by prefill workers and written by others; None where the link is not known."""
    transfer = transfer_of(scenario, prefill, who)
    times = _times(only(prefill, _READ - {*_ARRIVALS}), int((who.prompt + 1).max(initial=1)))
    if transfer is None or times is None:
        return None
    return simulate_apart(who, _stage(prefill, who, times, copies=copies), writing, transfer)


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
    names = _READ - {"load", "load_as", "active_users", "think", "simulated", "replicas", "rule", *DISAGGREGATED}
    found = _ceiling(only(scenario, names), part)
    return None if found is None else found * scenario.replicas * scenario.sharing.data


@lru_cache(maxsize=16)
def _ceiling(scenario: Scenario, part: str) -> float | None:
    times = times_of(scenario)
    if times is None:
        return None
    count = min(4 * scenario.places, _most(scenario))
    who = asked(scenario, count, per_s=1.0)
    answer = np.ones_like(who.answer) if part == "reads" else who.answer
    queue = requests(np.zeros(count), prompt=who.prompt, answer=answer, found=who.found, prefix=who.prefix)
    if not count:
        return 0.0
    one = _stage(scenario, queue, times, copies=1)
    served = simulate(queue, times, replace(one.how, received=part == "writes"))
    ends = np.sort(served.finish_s[served.replica >= 0])
    first, last = len(ends) // 4, 3 * len(ends) // 4
    if not len(ends):
        return 0.0
    if not ends[-1]:
        return inf  # the first token of each answer, which prefill made, is all of it
    span_s = float(ends[last] - ends[first])
    return (last - first) / span_s if span_s else len(ends) / float(ends[-1])  # all may end with one pass


def _longest(scenario: Scenario) -> int:
    """Tokens of the longest text that can come."""
    spread = _TAIL if scenario.length_spread > 1 else 1
    return spread * (scenario.prompt + scenario.answer)


def _stay_s(scenario: Scenario, prefill: Scenario | None, times: PassTimes, *, per_s: float) -> float:
    """Seconds that a request of the median length stays, about: it finds the batch that such stays make."""
    reading = times_of(prefill) if prefill else times
    prefill_s = prompt_s(reading or times, prompt=scenario.prompt, pass_tokens=scenario.pass_tokens)
    past, passes, batch = scenario.prompt + scenario.answer // 2, scenario.answer - 1, 1.0
    stay_s = 0.0
    for _ in range(20):
        pass_s = times.token_s([past] * max(1, round(batch)))
        free = 1.0 if prefill else max(0.1, 1 - per_s * prefill_s)
        stay_s = prefill_s + passes * pass_s / free
        batch = min(scenario.places, per_s * stay_s)
    return stay_s


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


def times_of(scenario: Scenario) -> PassTimes | None:
    """The times of passes of a scenario as it is served, for texts of its lengths; None likewise."""
    return _times(only(scenario, _READ - {*_ARRIVALS}), _longest(scenario))


@lru_cache(maxsize=8)
def _times(scenario: Scenario, longest: int) -> PassTimes | None:
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


def asked(scenario: Scenario, count: int, *, per_s: float) -> Requests:
    """Who comes, when, and with how many tokens; more of them begin alike."""
    seed = scenario.seed
    match scenario.pattern:
        case "bursts":
            arrival_s = bursts(count, per_s=per_s, variation=scenario.burstiness, seed=seed)
        case "day":
            arrival_s = _pressed_day(count, per_s=per_s, seed=seed)
        case _:
            arrival_s = poisson(count, per_s=per_s, seed=seed)
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
