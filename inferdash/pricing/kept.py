"""What a prompt cache has stored: blocks with their clocks, under the rules of an API."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

MOST_BLOCKS: Final = 3_000_000
"""Blocks that a replay keeps the clocks of, some 500 MB; before there are more, those used longest ago go.

Several rules at once share them evenly, and so the memory.
"""
_MOST_EXPIRED: Final = 500_000
"""Expired blocks after which the expired ones before them are forgotten, shared likewise."""
_SWEEP_AT_LEAST: Final = 65_536
_CLOCK_TICK_S: Final = 1e-6
"""Times that differ by less are equal; a difference of two times in floating point is not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When a cache stores the start of a prompt, and when it gives it back."""

    minimum_tokens: int
    """The shortest start that is stored or given back, in tokens."""
    increment_tokens: int
    """A start is stored and given back in multiples of this many tokens."""
    lifetime_s: float
    """Seconds from storing a block, or from its last use, through which it is given back; the end is included."""
    renewed: bool
    """Whether a use starts the lifetime again."""

    def __post_init__(self) -> None:
        """Refuses what is no rule.

        Raises:
            ValueError: where the minimum is below 0, the increment below 1, or the lifetime not above 0.
        """
        if self.minimum_tokens < 0:
            raise ValueError(f"minimum is {self.minimum_tokens}; it is 0 tokens or more.")
        if self.increment_tokens < 1:
            raise ValueError(f"increment is {self.increment_tokens}; it is 1 token or more.")
        if not self.lifetime_s > 0:
            raise ValueError(f"lifetime is {self.lifetime_s:g}; it is more than 0 seconds.")


class Cache:
    """The blocks that were stored, each with its clock; what has expired is dropped."""

    def __init__(self, rules: Rules, *, among: int) -> None:
        """`among` is how many caches share the memory."""
        self.rules = rules
        self.most, self.most_expired = MOST_BLOCKS // among, _MOST_EXPIRED // among
        self.through_s = rules.lifetime_s + _CLOCK_TICK_S
        self.clocks: dict[Hashable, float] = {}
        self.expired: set[Hashable] = set()
        self.expired_before: set[Hashable] = set()
        self.sweep_at = _SWEEP_AT_LEAST
        self.forgotten = 0

    def ask(
        self, now: float, input_tokens: int, named: tuple[Hashable, ...], size: int
    ) -> tuple[int, int, tuple[int, int, int, int]]:
        """Tokens of a prompt that are read, and stored, and why the others are not read; the clocks move.

        Args:
            now: when it came, in seconds.
            input_tokens: all tokens of the prompt.
            named: its blocks from its start.
            size: tokens of a block.

        The reasons stand in the order of the fields of `NotRead`: gap, minimum, never seen, rest of a block.
        """
        rules = self.rules
        whole = min(len(named), input_tokens // size)
        blocks = named[:whole]
        storable = self._in_steps(whole * size)
        if storable == 0:
            short = whole * size if whole * size < rules.minimum_tokens else 0
            return 0, 0, (0, short, 0, input_tokens - short)

        clocks, through_s = self.clocks, self.through_s
        found = 0
        for block in blocks:
            clock = clocks.get(block)
            if clock is None or now - clock > through_s:
                break
            found += 1
        read = self._in_steps(found * size)
        kept = -(-storable // size)
        new = max(0, storable - found * size)
        known = sum(1 for block in blocks[found:kept] if block in clocks or self._has_expired(block))
        gap = min(new, known * size)
        unread = found * size - read
        short = unread if found * size < rules.minimum_tokens else 0

        # From the end of what was read on, everything is stored anew, and its clock starts anew too.
        first = 0 if rules.renewed else -(-read // size)
        clocks.update(dict.fromkeys(blocks[first:kept], now))
        if len(clocks) > self.sweep_at:
            self._sweep(now)
        rest = input_tokens - read - gap - short - (new - gap)
        return read, storable - read, (gap, short, new - gap, rest)

    def _in_steps(self, tokens: int) -> int:
        """The start of that many known tokens that the cache keeps: multiples of the increment, or nothing."""
        kept = tokens // self.rules.increment_tokens * self.rules.increment_tokens
        return kept if kept >= self.rules.minimum_tokens else 0

    def _has_expired(self, block: Hashable) -> bool:
        return block in self.expired or block in self.expired_before

    def _sweep(self, now: float) -> None:
        """Drops what has expired; as rare as the blocks are many, so that it costs little for each."""
        live = {block: clock for block, clock in self.clocks.items() if now - clock <= self.through_s}
        self.expired.update(block for block in self.clocks if block not in live)
        if len(self.expired) > self.most_expired:
            self.expired, self.expired_before = set(), self.expired
        if len(live) > self.most * 3 // 4:
            newest = sorted(live, key=live.__getitem__)[-(self.most // 2) :]
            self.forgotten += len(live) - len(newest)
            live = {block: live[block] for block in newest}
        self.clocks = live
        self.sweep_at = min(2 * len(live) + _SWEEP_AT_LEAST, self.most)
