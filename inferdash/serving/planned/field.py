"""All set-ups of an offer, scored block by block, of which only those are kept that can win."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from heapq import nsmallest
from math import inf
from typing import Final, TypeAlias

from inferdash.serving.planned.candidates import Candidate, Failure, Setup, by_reason, setups_of
from inferdash.serving.planned.curves import Curves
from inferdash.serving.planned.offers import NODE, Demand, Offer
from inferdash.serving.simulated.requests import Floats

Ranked: TypeAlias = tuple[float, int, bool, float, int, int, Setup]
"""A set-up and its replicas behind their rank: at the same cost fewer GPUs, one machine, a lower load come first."""
Holding: TypeAlias = tuple[float, float, int, Setup]
"""A set-up that is predicted to hold, behind its dollars an hour, its p90 between tokens and its number."""
BEYOND: Final = 1.1
"""Loads up to so many times what a set-up is said to carry are still tried."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """What takes part."""

    near: tuple[Ranked, ...]
    """The first by rank, as they are tried or as they are predicted to hold, as they are tried."""
    frontier: tuple[Candidate, ...]
    """Of cost against the p90 latency between tokens, as predicted, from the cheapest to the fastest."""
    failures: tuple[Failure, ...]
    """Why set-ups do not hold."""
    set_ups: int
    """Accelerators, formats and layouts."""
    scored: int
    """Over batch limits and loads as well."""


def ranked(setup: Setup, replicas: int, turn: int, *, demand: Demand, offer: Offer) -> Ranked:
    """A set-up with so many replicas; `turn` tells apart those of the same rank."""
    gpus, carries_per_s = setup.curves.layout.gpus, setup.carries_per_s(replicas)
    usd_per_hour = offer.rent[setup.accelerator] * replicas * gpus
    utilization = demand.requests_per_s / carries_per_s if carries_per_s else inf
    return usd_per_hour, replicas * gpus, gpus > NODE, utilization, turn, replicas, setup


def frontier(holding: Iterable[Holding]) -> list[Holding]:
    """Those that none beats in both cost and p90 latency between tokens, from the cheapest to the fastest."""
    best: list[Holding] = []
    for one in sorted(holding):
        if not best or one[1] < best[-1][1]:
            best.append(one)
    return best


def field_of(
    demand: Demand,
    offer: Offer,
    blocks: Iterable[Curves],
    *,
    near: int,
    within: Callable[[Curves, Demand], Floats] = Curves.within,
) -> Field:
    """Scores set-ups that read and write.

    Where blocks come one by one, the memory is that of one of them and of `near` set-ups by either rank.
    """
    tried: list[Ranked] = []
    predicted: list[tuple[Ranked, Ranked]] = []
    holding: list[Holding] = []
    failed: list[Failure] = []
    set_ups = scored = 0
    all_kept = isinstance(blocks, Collection)
    for curves in blocks:
        scored += curves.first_token_s.size
        if curves.apart:
            continue
        for setup in setups_of([curves], demand, within=within):
            set_ups += 1
            failure = setup.failure(demand, offer)
            if failure:
                failed.append(failure)
                continue
            kept, fewest = setup if all_kept else setup.alone(), int(setup.fewest)
            held = ranked(kept, fewest, set_ups, demand=demand, offer=offer)
            fewer = kept.worth_trying(demand, beyond=BEYOND)
            first = held if fewer == fewest else ranked(kept, fewer, set_ups, demand=demand, offer=offer)
            holding.append((held[0], kept.latency_s(demand, fewest), set_ups, kept))
            tried.append(first)
            predicted.append((held, first))
        tried, predicted = nsmallest(near, tried), nsmallest(near, predicted)
        failed, holding = [*by_reason(failed)], frontier(holding)
    return Field(
        near=tuple({one[4]: one for one in (*tried, *(first for _, first in predicted))}.values()),
        frontier=tuple(one.candidate(demand, offer.rent[one.accelerator]) for *_, one in frontier(holding)),
        failures=by_reason(failed),
        set_ups=set_ups,
        scored=scored,
    )
