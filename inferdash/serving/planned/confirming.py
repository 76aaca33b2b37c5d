"""What the simulator says of a set-up under a demand."""

from collections.abc import Hashable
from dataclasses import dataclass
from math import ceil, gcd
from typing import Final, TypeAlias, cast

import numpy as np

from inferdash.physics.drafters import beside
from inferdash.physics.parallelism import Fabric
from inferdash.physics.under_load.disaggregation import part_bytes
from inferdash.serving.planned.candidates import Candidate
from inferdash.serving.planned.offers import Demand, Offer
from inferdash.serving.planned.pairs import PROMPTS, Pair, Reading
from inferdash.serving.planned.placed import PAGE, deployment_of, whole_pages
from inferdash.serving.simulated import summary
from inferdash.serving.simulated.apart import FIRST_FROM_DECODE, Stage, Transfer, simulate_apart
from inferdash.serving.simulated.pass_times import PassTimes, pass_times
from inferdash.serving.simulated.requests import Requests, in_turn, poisson, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling, room_pages
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.simulator import simulate
from inferdash.serving.simulated.summary import Percentiles

SIMULATED: Final = 4
"""Groups of GPUs that are simulated at most."""
_REQUESTS: Final = 4000
"""Over all of them, at least."""
_MOST_OF_PAIRS: Final = 16_000
"""The same of prefill and decode workers, at most."""
_STAYS: Final = 40
"""Requests of each group, over those in its batch, at least; the first quarter warms it up."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Group:
    """Accelerators that serve requests of their own."""

    times: PassTimes
    how: Scheduling
    prompt_bytes: float
    """Of the cache that is moved of a prompt, on one of them."""

    def stage(self, groups: int) -> Stage:
        """So many of them."""
        return Stage(times=self.times, how=self.how, routing=Routing(replicas=groups))


Known: TypeAlias = dict[Hashable, Group]
"""Groups by what they are."""


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What the simulator says of a candidate."""

    candidate: Candidate
    time_to_first_token_s: Percentiles
    """Without server and network."""
    inter_token_latency_s: Percentiles
    """Of the means between the tokens of a request."""
    simulated: int
    """Groups of GPUs that were simulated, of `candidate.groups`; each has the load that it has among all."""
    preemptions: int
    left_waiting: float
    """Requests without a place when the last one comes, over the places there are: of 1 or more, the load is too high.

    So it is told where no target is set that a growing queue would miss.
    """
    first_over: float
    """p90 of the time to first token over its target."""
    between_over: float
    """The same between tokens."""

    @property
    def over(self) -> float:
        """The largest of both, and of `left_waiting`: 1.1 misses by a tenth."""
        return max(self.left_waiting, self.first_over, self.between_over)

    @property
    def holds(self) -> bool:
        """Whether both p90 are within the targets and the load is carried."""
        return self.over <= 1


def confirmed(
    candidate: Candidate, demand: Demand, offer: Offer, *, seed: int = 0, known: Known | None = None
) -> Confirmation:
    """Runs the simulator on a candidate: Poisson arrivals, prompts first, round robin over all its groups of GPUs.

    Of many groups the first few are simulated, with just those arrivals that are theirs among all, so that what is
    measured is the same with fewer requests.

    Args:
        candidate: the set-up.
        demand: what is asked for.
        offer: what the candidate was built from.
        seed: of the arrivals.
        known: what was worked out for set-ups of this demand and offer before; it is added to.
    """
    one = _alone(candidate, demand, offer, known)
    groups = candidate.groups
    simulated = min(groups, SIMULATED)
    each = ceil(max(_STAYS * candidate.batch, _REQUESTS / simulated))
    mine_s = in_turn(each, of=simulated, among=groups, per_s=demand.requests_per_s, seed=seed)
    coming = requests(mine_s, prompt=demand.prompt, answer=demand.answer, found=demand.found)
    served = simulate(coming, one.times, one.how, Routing(replicas=simulated))
    return _said(candidate, demand, coming, served, slower=candidate.slower, simulated=simulated)


def confirmed_pair(
    pair: Pair, demand: Demand, offer: Offer, *, seed: int = 0, known: Known | None = None
) -> Confirmation:
    """The same of prefill and decode workers: each prompt is read, moved and written.

    Of many, as few are simulated as keep their ratio.

    Args:
        pair: the workers, joined by a link whose speed is known.
        demand: what is asked for.
        offer: what they were built from.
        seed: of the arrivals.
        known: what was worked out before.
    """
    candidate, link = pair.candidate(demand, offer), cast("Fabric", pair.link(offer))
    reading, writing = pair.reading, pair.writing.curves
    reads, writes = _alone(reading, demand, offer, known), _alone(candidate, demand, offer, known)
    readers, writers = pair.readers * reading.layout.data, pair.writers * writing.layout.data
    parts = gcd(readers, writers)
    kept = min(parts, max(1, SIMULATED * parts // max(readers, writers)))
    simulated = writers // parts * kept
    each = ceil(min(max(_STAYS * candidate.batch, _REQUESTS / simulated), _MOST_OF_PAIRS / simulated))
    coming = requests(
        poisson(each * simulated, per_s=demand.requests_per_s * kept / parts, seed=seed),
        prompt=demand.prompt,
        answer=demand.answer,
        found=demand.found,
    )
    sent, received = (one.prompt_bytes / link.bandwidth for one in (reads, writes))
    served = simulate_apart(
        coming,
        reads.stage(readers // parts * kept),
        writes.stage(simulated),
        Transfer(
            sending_s=np.full(len(coming), sent),
            receiving_s=np.full(len(coming), received),
            latency_s=link.latency_s,
        ),
    ).whole(first_from_decode=offer.engine is not None and offer.engine.name in FIRST_FROM_DECODE)
    return _said(candidate, demand, coming, served, slower=reading.slower, simulated=simulated)


def most_per_s(candidate: Candidate, demand: Demand, offer: Offer, known: Known) -> float:
    """Requests a second that a group of GPUs of a candidate writes at most, whatever the targets."""
    one = _alone(candidate, demand, offer, known)
    return summary.most_per_s(one.times, one.how, prompt=demand.prompt, answer=demand.answer, found=demand.found)


def _alone(one: Candidate | Reading, demand: Demand, offer: Offer, known: Known | None) -> Group:
    """A group of GPUs of a set-up that serves requests of its own, as an engine is started there."""
    places, proposals = (one.places, one.proposals) if isinstance(one, Candidate) else (PROMPTS, None)
    name = (one.accelerator, one.weights, one.cache, one.layout, places, proposals, one.slower)
    if known is not None and name in known:
        return known[name]
    deployment = deployment_of(
        offer,
        (one.accelerator,),
        weights=one.weights,
        cache=one.cache,
        layout=one.layout,
        context=demand.tokens,
        places=places,
    )
    times = pass_times(
        deployment,
        offer.engine,
        places=places,
        tokens=demand.tokens,
        pass_tokens=offer.pass_tokens,
        proposals=proposals,
    )
    pages = room_pages(beside(deployment, proposals), tokens=whole_pages(demand.tokens), page=PAGE)
    found = Group(
        times=cast("PassTimes", times).slower(one.slower[0]),  # only accelerators with a peak take part
        how=Scheduling(places=places, page=PAGE, pages=pages, pass_tokens=offer.pass_tokens),
        prompt_bytes=float(part_bytes(deployment, tokens=demand.prompt - demand.found * offer.decode_prefixes)),
    )
    if known is not None:
        known[name] = found
    return found


def _said(
    candidate: Candidate,
    demand: Demand,
    coming: Requests,
    served: Served,
    *,
    slower: tuple[float, float],
    simulated: int,
) -> Confirmation:
    arrival_s = coming.arrival_s
    said = summary.summary(coming, served, warm_up_s=float(arrival_s[len(arrival_s) // 4]))
    first, latency = said.time_to_first_token_s.times(slower[1] / slower[0]), said.inter_token_latency_s
    left_waiting = float((served.started_s > arrival_s[-1]).sum()) / (simulated * candidate.places)
    first_over = cast("float", first.p90) / demand.time_to_first_token_s
    between_over = cast("float", latency.p90) / demand.inter_token_latency_s
    return Confirmation(
        candidate=candidate,
        time_to_first_token_s=first,
        inter_token_latency_s=latency,
        simulated=simulated,
        preemptions=said.preemptions,
        left_waiting=left_waiting,
        first_over=first_over,
        between_over=between_over,
    )
