"""What a cache of prefixes finds again that has room for so many blocks, request after request.

Requests are served at once, in order: nothing is in use between two of them, so the answer depends on no speed. Of a
prompt only whole blocks are kept, and its last token is always run.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Final, Protocol

from inferdash.serving.simulated.scheduling import Routing

_PROMPT_TOKEN_S: Final = 1e-4
_ANSWER_TOKEN_S: Final = 0.02
"""Seconds that a request counts as outstanding, whatever is found of it: a convention, so that the answer depends on no
model of speed."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A request as a cache of prefixes sees it."""

    arrival_s: float = 0.0
    tokens: int
    """Of the prompt, at least 1."""
    answer: int
    """Tokens, at least 1."""
    blocks: Sequence[Hashable]
    """Names of its whole blocks, each of which stands for the text up to its end."""

    def lookable(self, block: int) -> int:
        """Blocks that can be found: the last token is run again in any case."""
        return min(len(self.blocks), (self.tokens - 1) // block)

    def needed(self, block: int) -> int:
        """Blocks that it takes with its answer, whose last token takes no place."""
        return -(-(self.tokens + self.answer - 1) // block)


class Cache(Protocol):
    """A cache of one replica."""

    capacity: float
    """Blocks."""
    answers: bool
    """Whether answers take blocks, which no later prompt finds."""
    evicted: int
    """Blocks, so far."""

    def found(self, one: Prompt, block: int) -> int:
        """Blocks of a request that are there, from the first on."""

    def serve(self, one: Prompt, block: int) -> int:
        """Takes a request in, which has room for its blocks, and returns how many were found."""


@dataclass
class Blocks:
    """The least recently used block goes first, and of one request its last.

    As read in vLLM (`v1/core/block_pool.py`, design document "Automatic Prefix Caching"), 2026-11.
    """

    capacity: float
    answers: bool = False
    """Whether answers take blocks, which no later prompt finds."""
    evicted: int = 0
    order: OrderedDict[Hashable, None] = field(default_factory=OrderedDict)
    """The next to go first."""
    _nameless: Iterator[int] = field(default_factory=count)

    def found(self, one: Prompt, block: int) -> int:
        """Blocks of a request that are there, from the first on."""
        most = one.lookable(block)
        return next((place for place in range(most) if one.blocks[place] not in self.order), most)

    def serve(self, one: Prompt, block: int) -> int:
        """Takes a request in, which has room for its blocks, and returns how many were found."""
        found = self.found(one, block)
        for name in one.blocks[:found]:
            del self.order[name]
        extra = max(0, one.needed(block) - len(one.blocks)) if self.answers else 0
        while len(self.order) + len(one.blocks) + extra > self.capacity:
            self.order.popitem(last=False)
            self.evicted += 1
        for _ in range(extra):
            self.order["answer", next(self._nameless)] = None
        for name in reversed(one.blocks):
            self.order[name] = None
            self.order.move_to_end(name)
        return found


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """What was found again of many requests."""

    served: int
    """Requests."""
    refused: int
    """Requests that are larger than a cache; they are left out of all else."""
    tokens: int
    """Of the prompts that were served."""
    blocks: int
    """Whole ones of theirs."""
    found_blocks: int
    finders: int
    """Requests that found at least one."""
    evicted: int
    """Blocks."""
    by_replica: tuple[int, ...]
    """Requests."""


def reuse(coming: Iterable[Prompt], caches: Sequence[Cache], *, block: int, routing: Routing) -> Reuse:
    """What caches of prefixes find, one a replica, of requests by arrival.

    Args:
        coming: the requests.
        caches: empty ones, as many as there are replicas.
        block: tokens of a block.
        routing: who goes where. Prefix-aware is, of the replicas that find the most, the one with the fewest
            outstanding; or the least loaded, where that one is clearly more loaded or none finds anything.
    """
    ends: list[list[float]] = [[] for _ in caches]
    by_replica = [0] * len(caches)
    refused = tokens = blocks = found_blocks = finders = 0
    for one in coming:
        if max(len(one.blocks), one.needed(block) if caches[0].answers else 0) > caches[0].capacity:
            refused += 1
            continue
        for heap in ends:
            while heap and heap[0] <= one.arrival_s:
                heappop(heap)
        place = sum(by_replica) % len(caches)
        if routing.rule != "round robin":
            place = _place(one, caches, block, routing, [len(heap) for heap in ends])
        found = caches[place].serve(one, block)
        heappush(ends[place], one.arrival_s + _PROMPT_TOKEN_S * one.tokens + _ANSWER_TOKEN_S * one.answer)
        by_replica[place] += 1
        tokens += one.tokens
        blocks += len(one.blocks)
        found_blocks += found
        finders += found > 0
    return Reuse(
        served=sum(by_replica),
        refused=refused,
        tokens=tokens,
        blocks=blocks,
        found_blocks=found_blocks,
        finders=finders,
        evicted=sum(cache.evicted for cache in caches),
        by_replica=tuple(by_replica),
    )


def _place(one: Prompt, caches: Sequence[Cache], block: int, routing: Routing, waiting: Sequence[int]) -> int:
    least = min(range(len(caches)), key=waiting.__getitem__)
    if routing.rule == "least loaded":
        return least
    finds = [cache.found(one, block) for cache in caches]
    home = min((place for place in range(len(caches)) if finds[place] == max(finds)), key=waiting.__getitem__)
    return home if max(finds) and waiting[home] < waiting[least] + routing.slack else least
