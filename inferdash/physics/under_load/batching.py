"""Batching over passes: requests of different lengths in the places of a batch, static or continuous."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inferdash.formula import Number, formula


@dataclass(frozen=True)
class Stay:
    """A request in its place: from the first pass that writes for it to the last."""

    request: int
    place: int
    first_pass: int
    passes: int


@formula(unit="passes", ref="batching")
def idle_places(*, places: Number, passes: Number, written: Number) -> Number:
    """Places of passes in which no request writes a token."""
    return places * passes - written


@formula(unit="pages", ref="paged-attention")
def pages_of(*, tokens: Number, page: Number) -> Number:
    """Pages of `page` tokens that a request of `tokens` tokens takes, the last one perhaps in part."""
    return np.ceil(tokens / page)


@formula(unit="requests", ref="paged-attention")
def requests_in_room(*, room_tokens: Number, reserved_tokens: Number) -> Number:
    """Requests that fit in the memory of `room_tokens` tokens, where each reserves `reserved_tokens`."""
    return np.floor(room_tokens / reserved_tokens)


@formula(unit="$", ref="batching")
def usd_per_mtok(*, usd_per_hour: Number, tokens_per_s: Number, utilization: Number) -> Number:
    """Dollars for a million tokens on accelerators rented by the hour that work for a part of it.

    `tokens_per_s` names the denominator: prompt tokens, written tokens, or both together.
    """
    return usd_per_hour / (tokens_per_s * utilization * 3600) * 1_000_000


def static(lengths: Sequence[int], *, places: int) -> list[Stay]:
    """Batches that start together: the next one starts when the longest answer of the last has ended."""
    stays = []
    start = 0
    for first in range(0, len(lengths), places):
        batch = lengths[first : first + places]
        stays += [Stay(first + place, place, start, passes) for place, passes in enumerate(batch)]
        start += max(batch, default=0)
    return stays


def continuous(lengths: Sequence[int], *, places: int) -> list[Stay]:
    """Each request takes the first place that is free, in order, before the next pass."""
    free = [(0, place) for place in range(places)]
    stays = []
    for request, passes in enumerate(lengths):
        start, place = heapq.heappop(free)
        stays.append(Stay(request, place, start, passes))
        heapq.heappush(free, (start + passes, place))
    return stays


def passes_of(stays: Sequence[Stay]) -> int:
    """Passes until the last request has ended."""
    return max((stay.first_pass + stay.passes for stay in stays), default=0)


def rounded(value: float, digits: int) -> float:
    """A number with that many significant digits, as one that keeps no more."""
    return float(f"{value:.{digits - 1}e}")


def rounded_sum(numbers: Sequence[float], digits: int) -> float:
    """The numbers added from left to right, each sum rounded."""
    total = 0.0
    for number in numbers:
        total = rounded(total + number, digits)
    return total
