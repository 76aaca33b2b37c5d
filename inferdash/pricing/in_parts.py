"""Replay in parts: requests that share no block know nothing of each other, so their caches are counted apart.

A part holds all requests that share a block with another of it, through whatever requests in between. What maps a
function over the parts is the caller's: `map`, the one of a pool of processes, or that of a cluster (`on_dask`). A part
is counted by the same code as the whole, so a replay in parts is equal to one in one piece, to the token, as long as no
cache forgets a block early: a part forgets later than the whole.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, Final, TypeAlias

from inferdash.pricing.kept import Rules
from inferdash.pricing.replay import Request
from inferdash.pricing.tally import Counts, Summed, counted, joined

Work: TypeAlias = Callable[[list[Request]], Counts]
Mapped: TypeAlias = Callable[[Work, Iterable[list[Request]]], Iterable[Counts]]
"""Applies a function to each of some lists, wherever, and gives what came of them in any order."""
_MOST_PROCESSES: Final = 256
_BINS: Final = 4
"""Lists of parts for each process, so that none waits long for another."""
_RETRIES: Final = 3
"""How often a cluster begins a part again whose worker was lost."""


class Parts:
    """Requests by what they share."""

    def __init__(self, requests: Iterable[Request]) -> None:
        """Takes requests in the order in which they came."""
        self._above: list[int] = []
        self._part_of: dict[Hashable, int] = {}
        self._requests = [*requests]
        self._first = [self._place(request) for request in self._requests]

    def _place(self, request: Request) -> int:
        """A part that a request is of, and that all others with one of its blocks are of from now on."""
        parts = {*map(self._part_of.get, request.blocks)}
        known = {self._root(part) for part in parts if part is not None}
        root = min(known, default=len(self._above))
        if not known:
            self._above.append(root)
        for other in known:
            self._above[other] = root
        if None in parts:
            self._part_of.update(dict.fromkeys(request.blocks, root))
        return root

    def _root(self, part: int) -> int:
        while self._above[part] != part:
            self._above[part] = part = self._above[self._above[part]]
        return part

    def bins(self, most: int) -> list[list[Request]]:
        """So many lists of whole parts, or fewer, about as much work each, the requests in their order."""
        weights: dict[int, int] = {}
        roots = [self._root(part) for part in self._first]
        for root, request in zip(roots, self._requests, strict=True):
            weights[root] = weights.get(root, 0) + 1 + len(request.blocks)
        sizes, bin_of = [0] * most, dict[int, int]()
        for root in sorted(weights, key=lambda one: -weights[one]):
            bin_of[root] = place = sizes.index(min(sizes))
            sizes[place] += weights[root]
        bins: list[list[Request]] = [[] for _ in range(most)]
        for root, request in zip(roots, self._requests, strict=True):
            bins[bin_of[root]].append(request)
        return [one for one in bins if one]

    @property
    def largest(self) -> float:
        """Share of the work that lies in the largest part: no number of workers takes less time than it."""
        weights: dict[int, int] = {}
        for part, request in zip(self._first, self._requests, strict=True):
            root = self._root(part)
            weights[root] = weights.get(root, 0) + 1 + len(request.blocks)
        return max(weights.values(), default=0) / max(1, sum(weights.values()))


def counted_in_parts(
    items: Iterable[Request | Summed], rules: Collection[Rules], edges: Iterable[int], mapped: Mapped, *, bins: int
) -> tuple[Counts, float]:
    """What `counted` gives, by parts, and the share of the work that lies in the largest one.

    Args:
        items: requests, in the order in which they came, and sums of others.
        rules: of the caches that prompts go through.
        edges: input tokens at which any price changes.
        mapped: what applies a function to parts.
        bins: lists of parts, some times as many as there are workers.
    """
    rules, edges, sums = tuple(rules), tuple(edges), list[Summed]()
    parts = Parts(_only(items, sums))
    found = mapped(partial(_count, rules=rules, edges=edges), parts.bins(bins))
    return joined([counted(sums, rules, edges), *found], rules), parts.largest


def counted_by(
    items: Iterable[Request | Summed], rules: Collection[Rules], edges: Iterable[int], *, processes: int
) -> tuple[Counts, tuple[str, ...]]:
    """What `counted` gives, by some processes of this machine, and what is to be said of it, in sentences.

    Raises:
        ValueError: where there is no such number of processes.
    """
    if not 1 <= processes <= _MOST_PROCESSES:
        raise ValueError(f"--processes: {processes} is not from 1 to {_MOST_PROCESSES}.")
    if processes == 1:
        return counted(items, rules, edges), ()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        found, largest = counted_in_parts(items, rules, edges, pool.map, bins=_BINS * processes)
    if largest * processes <= 1:
        return found, ()
    return found, (
        f"{largest:.0%} of the work is of prompts that share blocks with each other, which one process does alone.",
    )


def _only(items: Iterable[Request | Summed], sums: list[Summed]) -> Iterator[Request]:
    for item in items:
        if isinstance(item, Summed):
            sums.append(item)
        else:
            yield item


def _count(requests: list[Request], *, rules: Sequence[Rules], edges: Sequence[int]) -> Counts:
    return counted(requests, rules, edges)


def on_dask(client: Any) -> Mapped:
    """Maps over the workers of a Dask cluster; a part whose worker is lost is begun again on another.

    Args:
        client: a `distributed.Client`.
    """

    def mapped(work: Work, parts: Iterable[list[Request]]) -> Iterable[Counts]:
        # The parts go with what is to be done: what is only sent to a worker is lost with it.
        return client.gather(client.map(work, [*parts], retries=_RETRIES, pure=False))  # type: ignore[no-any-return]  # so it does

    return mapped
