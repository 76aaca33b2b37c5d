"""Meets a target: the cheapest set-up that carries a load within its targets, and that the simulator confirms.

Closed forms score every set-up in arrays and rank them by cost; the simulator then has the last word, from the cheapest
up. There is no margin beside the targets: a replica more is added where the simulator says so.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import count
from math import ceil
from typing import Final, cast

from inferdash.physics.drafters import beside
from inferdash.serving.candidates import Candidate, Failure, Setup
from inferdash.serving.curves import PAGE, Curves, curves_of, deployment_of, whole_pages
from inferdash.serving.field import field_of, ranked
from inferdash.serving.offers import Demand, Offer
from inferdash.serving.pass_times import PassTimes, pass_times
from inferdash.serving.requests import Floats, in_turn, requests
from inferdash.serving.scheduling import Routing, Scheduling, room_pages
from inferdash.serving.simulator import simulate
from inferdash.serving.summary import Percentiles, summary

SIMULATED: Final = 4
"""Groups of GPUs that are simulated at most."""
_REQUESTS: Final = 4000
"""Over all of them, at least."""
_STAYS: Final = 40
"""Requests of each group, over those in its batch, at least; the first quarter warms it up."""
_NEXT: Final = 10


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
    over: float
    """The largest of both p90, each over its target, and of `left_waiting`: 1.1 misses by a tenth."""

    @property
    def holds(self) -> bool:
        """Whether both p90 are within the targets and the load is carried."""
        return self.over <= 1


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The answer to a demand."""

    best: Candidate | None
    """The cheapest that holds; None where none was confirmed."""
    confirmation: Confirmation | None
    """What the simulator said of it."""
    refused: tuple[Confirmation, ...]
    """Cheaper ones that the simulator refused, in the order of their tries."""
    following: tuple[Candidate, ...]
    """The next ten by cost that are predicted to hold, without a word of the simulator."""
    frontier: tuple[Candidate, ...]
    """Of cost against the p90 latency between tokens, as predicted, from the cheapest to the fastest."""
    set_ups: int
    """Accelerators, formats and layouts that were considered."""
    scored: int
    """Over batch limits and loads as well."""
    failures: tuple[Failure, ...]
    """Why the other set-ups do not hold."""
    left_out: dict[str, str]
    """Id of an accelerator -> why it takes no part, or only alone."""


def plan(
    demand: Demand,
    offer: Offer,
    *,
    blocks: Iterable[Curves] | None = None,
    within: Callable[[Curves, Demand], Floats] = Curves.within,
    tries: int = 12,
    seed: int = 0,
) -> Plan:
    """The cheapest set-up that carries a demand, confirmed by the simulator.

    As the closed forms rather say too little, a set-up is tried with a replica fewer first, where it is not far from
    what they say it carries. One that the simulator refuses comes again with a replica more, at its cost.

    Args:
        demand: what is asked for.
        offer: what it may be built from.
        blocks: its curves for such requests, where they are at hand; they depend on no load, target or rent.
        within: what a curve carries within the targets, where it is at hand; it depends on no load or rent.
        tries: candidates that are simulated at most.
        seed: of the arrivals.

    Raises:
        ValueError: where the model cannot read a prompt and its answer.
    """
    context = offer.model.context
    if context is not None and demand.tokens > context:
        raise ValueError(f"{demand.tokens:,} tokens are more than the {context:,} that {offer.model.name} reads")
    blocks = curves_of(demand, offer) if blocks is None else blocks
    field = field_of(demand, offer, blocks, near=2 * tries + _NEXT, within=within)
    turns = count(field.set_ups + 1)
    heap = [*field.near]
    heapify(heap)
    refused: list[Confirmation] = []
    said = None
    while heap and len(refused) < tries:
        *_, candidate, setup = heappop(heap)
        one = confirmed(candidate, demand, offer, seed=seed)
        if one.holds:
            said = _fewest(one, setup, demand, offer, seed=seed)
            break
        refused.append(one)
        if (candidate.replicas + 1) * candidate.gpus <= offer.most_gpus:
            heappush(heap, ranked(setup, candidate.replicas + 1, next(turns), demand=demand, offer=offer))
    predicted = [
        ranked(setup, max(one.replicas, setup.fewest(demand)), turn, demand=demand, offer=offer)
        for *_, turn, one, setup in heap
    ]
    return Plan(
        best=None if said is None else said.candidate,
        confirmation=said,
        refused=tuple(refused),
        following=tuple(one for *_, one, _ in sorted(predicted)[:_NEXT]),
        frontier=field.frontier,
        set_ups=field.set_ups,
        scored=field.scored,
        failures=field.failures,
        left_out=offer.left_out,
    )


def _fewest(said: Confirmation, setup: Setup, demand: Demand, offer: Offer, *, seed: int) -> Confirmation:
    """The same set-up with the fewest replicas that hold, as prompts that share a pass carry more than is predicted."""
    rent, low, tried = offer.rent[setup.accelerator], 0, said.candidate.replicas - 1
    while tried > low:
        one = confirmed(setup.candidate(demand, rent, tried), demand, offer, seed=seed)
        if one.holds:
            said = one
        else:
            low = tried
        tried = (low + said.candidate.replicas) // 2
    carries_per_s = max(said.candidate.carries_per_s, demand.requests_per_s)  # the simulator has the last word
    utilization = demand.requests_per_s / carries_per_s
    return replace(said, candidate=replace(said.candidate, carries_per_s=carries_per_s, utilization=utilization))


def confirmed(candidate: Candidate, demand: Demand, offer: Offer, *, seed: int = 0) -> Confirmation:
    """Runs the simulator on a candidate: Poisson arrivals, prompts first, round robin over all its groups of GPUs.

    Of many groups the first few are simulated, with just those arrivals that are theirs among all, so that what is
    measured is the same with fewer requests.

    Args:
        candidate: the set-up.
        demand: what is asked for.
        offer: what the candidate was built from.
        seed: of the arrivals.
    """
    deployment = deployment_of(
        offer,
        (candidate.accelerator,),
        weights=candidate.weights,
        cache=candidate.cache,
        layout=candidate.layout,
        context=demand.tokens,
        places=candidate.places,
    )
    how = Scheduling(
        places=candidate.places,
        page=PAGE,
        pages=room_pages(beside(deployment, candidate.proposals), tokens=whole_pages(demand.tokens), page=PAGE),
        pass_tokens=offer.pass_tokens,
    )
    times = cast(
        "PassTimes",  # only accelerators with a peak take part
        pass_times(
            deployment,
            offer.engine,
            places=how.places,
            tokens=demand.tokens,
            pass_tokens=how.pass_tokens,
            proposals=candidate.proposals,
        ),
    ).slower(candidate.slower[0])
    groups = candidate.groups
    simulated = min(groups, SIMULATED)
    each = ceil(max(_STAYS * candidate.batch, _REQUESTS / simulated))
    mine_s = in_turn(each, of=simulated, among=groups, per_s=demand.requests_per_s, seed=seed)
    coming = requests(mine_s, prompt=demand.prompt, answer=demand.answer, found=demand.found)
    served = simulate(coming, times, how, Routing(replicas=simulated))
    said = summary(coming, served, warm_up_s=float(mine_s[len(mine_s) // 4]))
    first, latency = (
        said.time_to_first_token_s.times(candidate.slower[1] / candidate.slower[0]),
        said.inter_token_latency_s,
    )
    left_waiting = float((served.started_s > mine_s[-1]).sum()) / (simulated * how.places)
    over = max(
        left_waiting,
        cast("float", first.p90) / demand.time_to_first_token_s,
        cast("float", latency.p90) / demand.inter_token_latency_s,
    )
    return Confirmation(
        candidate=candidate,
        time_to_first_token_s=first,
        inter_token_latency_s=latency,
        simulated=simulated,
        preemptions=said.preemptions,
        left_waiting=left_waiting,
        over=over,
    )
