"""Meets a target: the cheapest set-up that carries a load within its targets, and that the simulator confirms.

Closed forms score every set-up in arrays and rank them by cost; the simulator then has the last word, from the cheapest
up. There is no margin beside the targets: a replica more is added where the simulator says so.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush, nsmallest
from itertools import count
from math import inf
from typing import Final

from inferdash.serving.planned.candidates import Candidate, Failure
from inferdash.serving.planned.confirming import Confirmation, Known
from inferdash.serving.planned.curves import Curves, curves_of
from inferdash.serving.planned.field import BEYOND, field_of, ranked
from inferdash.serving.planned.offers import Demand, Offer
from inferdash.serving.planned.pairs import Pair, pairs_of
from inferdash.serving.planned.trying import Tries
from inferdash.serving.simulated.requests import Floats

_NEXT: Final = 10
_PAIRS: Final = 24
"""Prefill and decode workers that are ranked."""
_PAIR_TRIES: Final = 8


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
    together: Confirmation | None = None
    """Where prefill and decode apart are the best: the cheapest that both reads and writes; None where none holds."""
    apart: Candidate | None = None
    """Where they were tried and are not: the cheapest of them, as predicted; None where none is predicted to hold."""


def plan(
    demand: Demand,
    offer: Offer,
    *,
    blocks: Iterable[Curves] | None = None,
    within: Callable[[Curves, Demand], Floats] = Curves.within,
    known: Known | None = None,
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
        known: groups of accelerators that were worked out before; like the curves. It is added to.
        tries: candidates that are simulated at most.
        seed: of the arrivals.

    Raises:
        ValueError: where the model cannot read a prompt and its answer.
    """
    context = offer.model.context
    if context is not None and demand.tokens > context:
        raise ValueError(f"{demand.tokens:,} tokens are more than the {context:,} that {offer.model.name} reads")
    blocks = curves_of(demand, offer) if blocks is None else blocks
    if offer.apart:
        blocks = tuple(blocks)
    field = field_of(demand, offer, blocks, near=2 * tries + _NEXT, within=within)
    turns = count(field.set_ups + 1)
    heap = [*field.near]
    heapify(heap)
    refused: list[Confirmation] = []
    simulator = Tries(demand=demand, offer=offer, seed=seed, known={} if known is None else known)
    said = None
    while heap and len(refused) < tries:
        *_, replicas, setup = heappop(heap)
        one = simulator.replicas(setup, replicas)
        if one.holds:
            said = simulator.fewest(one, setup)
            break
        refused.append(one)
        if (replicas + 1) * one.candidate.gpus <= offer.most_gpus:
            heappush(heap, ranked(setup, replicas + 1, next(turns), demand=demand, offer=offer))
    predicted = [
        ranked(setup, max(replicas, int(setup.fewest)), turn, demand=demand, offer=offer)
        for *_, turn, replicas, setup in heap
    ]
    rent = offer.rent
    pairs = pairs_of(blocks, demand, offer, most=_PAIRS, within=within) if offer.apart else []
    pair = apart(pairs, simulator, below_usd=said.candidate.usd_per_hour if said else inf)
    wins = pair is not None and (said is None or pair.candidate.usd_per_hour < said.candidate.usd_per_hour)
    best = pair if wins else said
    return Plan(
        best=None if best is None else best.candidate,
        confirmation=best,
        refused=tuple(refused),
        following=tuple(
            setup.candidate(demand, rent[setup.accelerator], replicas)
            for *_, replicas, setup in nsmallest(_NEXT, predicted)
        ),
        frontier=field.frontier,
        set_ups=field.set_ups,
        scored=field.scored,
        failures=field.failures,
        left_out=offer.left_out,
        together=said if wins else None,
        apart=None if wins or not pairs else pairs[0].candidate(demand, offer),
    )


def apart(pairs: Sequence[Pair], simulator: Tries, *, below_usd: float) -> Confirmation | None:
    """The cheapest prefill and decode workers that hold, if they cost less.

    A worker more of those that miss their target, and then fewer of both for as long as they hold: prompts that share
    a pass take less time than is predicted. So those a little dearer are tried too.

    Args:
        pairs: those that are predicted to hold, the cheapest first.
        simulator: of the demand.
        below_usd: dollars an hour.
    """
    offer = simulator.offer
    heap = [(one.usd_per_hour(offer), turn, one) for turn, one in enumerate(pairs)]
    turns = count(len(heap))
    for _ in range(_PAIR_TRIES):
        if not heap or heap[0][0] >= BEYOND * below_usd:
            break
        _, _, pair = heappop(heap)
        said = simulator.workers(pair)
        if said.holds:
            fewest = simulator.fewest_of_both(said, pair)
            if fewest.candidate.usd_per_hour < below_usd:
                return fewest
            continue
        late = said.first_over > said.between_over
        more = replace(pair, readers=pair.readers + late, writers=pair.writers + (not late))
        if more.holds(offer):
            heappush(heap, (more.usd_per_hour(offer), next(turns), more))
    return None
