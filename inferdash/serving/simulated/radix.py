"""A cache of prefixes as a radix tree, whose leaves are evicted whole.

As read in SGLang (`mem_cache/radix_cache.py`), 2026-11: matching sets the time of the whole path, a node that is cut in
two included; a parent whose last leaf went is a leaf; what a request finds is not evicted for it.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop
from itertools import count

from inferdash.serving.simulated.prefix_cache import Prompt


@dataclass(eq=False)
class _Node:
    """A run of blocks, each of which stands for the text up to its end."""

    names: list[Hashable]
    above: "_Node | None"
    age: int
    used: int = 0
    children: dict[Hashable, "_Node"] = field(default_factory=dict)


@dataclass
class Radix:
    """A tree of prompts, whose least recently used leaf goes whole (SGLang)."""

    capacity: float
    answers: bool = field(default=False, init=False)
    whole_need: bool = False
    """Whether as much is evicted as a request needs (older releases), not only what lacks."""
    evicted: int = 0
    held: int = 0
    """Blocks."""
    _root: _Node = field(default_factory=lambda: _Node([], None, 0))
    _clock: Iterator[int] = field(default_factory=lambda: count(1))
    _ages: Iterator[int] = field(default_factory=lambda: count(1))

    def found(self, one: Prompt, block: int) -> int:
        """Blocks of a request that are there, from the first on."""
        most, here, place = one.lookable(block), self._root, 0
        while place < most and (below := here.children.get(one.blocks[place])):
            same = _same(below.names, one.blocks[place:most])
            place += same
            if same < len(below.names):
                break
            here = below
        return place

    def serve(self, one: Prompt, block: int) -> int:
        """Takes a request in, which has room for its blocks, and returns how many were found."""
        found, path = self._match(one.blocks[: one.lookable(block)])
        need = len(one.blocks) - found
        lacking = self.held + need - self.capacity
        if lacking > 0:
            self._evict(need if self.whole_need else lacking, path)
        self._insert(one.blocks)
        return found

    def _match(self, names: Sequence[Hashable]) -> tuple[int, list[_Node]]:
        """Blocks of a prompt that are there, and the nodes that hold just them, used now."""
        now, here, place, path = next(self._clock), self._root, 0, [self._root]
        while place < len(names) and (below := here.children.get(names[place])):
            same = _same(below.names, names[place:])
            below.used = now  # all of it, also what is not asked for
            if same < len(below.names):
                below = self._split(below, same)
            place += same
            here = below
            path.append(here)
        return place, path

    def _split(self, node: _Node, place: int) -> _Node:
        """Cuts a node in two and returns its beginning."""
        above = node.above or self._root
        start = _Node(node.names[:place], above, next(self._ages), node.used, {node.names[place]: node})
        above.children[node.names[0]] = start
        node.names, node.above = node.names[place:], start
        return start

    def _insert(self, names: Sequence[Hashable]) -> None:
        place, path = self._match(names)
        if place < len(names):
            node = _Node(list(names[place:]), path[-1], next(self._ages), path[-1].used or next(self._clock))
            path[-1].children[names[place]] = node
            self.held += len(node.names)

    def _evict(self, blocks: float, locked: Sequence[_Node]) -> None:
        kept = {id(node) for node in locked}
        leaves = [(node.used, node.age, node) for node in self._nodes() if not node.children and id(node) not in kept]
        heapify(leaves)
        while blocks > 0 and leaves:
            *_, node = heappop(leaves)
            above = node.above or self._root
            del above.children[node.names[0]]
            blocks -= len(node.names)
            self.held -= len(node.names)
            self.evicted += len(node.names)
            if not above.children and id(above) not in kept:
                leaves.append((above.used, above.age, above))
                heapify(leaves)

    def _nodes(self) -> Iterator[_Node]:
        below = [*self._root.children.values()]
        while below:
            node = below.pop()
            yield node
            below += node.children.values()


def _same(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """How many are the same from the start."""
    most = min(len(first), len(second))
    return next((place for place in range(most) if first[place] != second[place]), most)
