"""Replay: real requests, one after another, through the rules of a prompt cache.

Each prompt is split into tokens that the cache gives back, tokens that it stores, and the rest. The three are
disjoint and their sum is the prompt, so each token is billed once, at its own price.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal
from math import inf
from typing import Final, NamedTuple

from inferdash.facts.money.rates import Kind
from inferdash.pricing.tokens import Tokens


class Split(NamedTuple):
    """What a log itself says about the prompt of one request, in tokens of that prompt."""

    read_tokens: int
    """Tokens that the cache gave back."""
    written_tokens: int
    """Tokens that were stored in the cache, those for the longer lifetime included."""
    written_long_tokens: int = 0
    """Tokens that were stored for the longer lifetime, at a price of their own."""


UNTIMED: Final = -inf
"""Time of a request of which none is told."""


class Request(NamedTuple):
    """One request: when it came, its tokens, and what is known about the start of its prompt."""

    time_s: float
    """Seconds since any fixed moment; `UNTIMED` where that is not told."""
    input_tokens: int
    """All tokens of the prompt, cached or not."""
    output_tokens: int
    """All tokens that are billed as output, hidden reasoning included."""
    blocks: tuple[Hashable, ...] = ()
    """Ids of the blocks of the prompt from its start; equal ids mean the same whole prompt up to there."""
    block_tokens: int = 0
    """Tokens of a block; the last one of a prompt may be shorter."""
    recorded: Split | None = None
    """What the log says about the cache. Where it does, the rules do not guess."""
    usd: Decimal | None = None
    """What the log itself says that it cost."""
    each_tokens: int = 0
    """Where it sums several requests up, tokens of the prompt of each, by which its tier is known; 0 for one."""
    requests: int = 1
    """How many it sums up; 1 also where it is a sum of a number that is not told."""
    model: str = ""
    """The model that the log names; "" where it names none."""
    apart: tuple[tuple[str, int], ...] = ()
    """What it counts in other things than tokens, in the plural, and how many: these are not in the bill."""
    service: str = "standard"
    """By which service it was answered: a key of `facts.prices.SERVICES`."""
    session: str = ""
    """Of a trace that says so: whose turn it is; "" where it comes by itself."""
    pause_s: float = -1.0
    """Seconds from the end of the turn before it in its session until it came; below 0 where that is not told."""
    user: str = ""
    """Who asked, where that is to be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Why tokens of prompts were not read from the cache: each such token has one reason."""

    gap_over_lifetime: int = 0
    """Their block was stored, and its lifetime was over, or that of a block before it."""
    below_minimum: int = 0
    """The whole prompt, or the part of it that was in the cache, was shorter than the minimum."""
    never_seen: int = 0
    """Their block came for the first time, or last so long ago that it was forgotten."""
    rest_of_block: int = 0
    """They lie after the last whole block, or after the last multiple of the increment."""
    not_told: int = 0
    """The log names no blocks of the prompt, or records by itself what was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a run of requests is billed under the rules of a cache, and without one."""

    requests: int
    """Requests in all."""
    tokens: Tokens
    """All their tokens, by what they are billed as."""
    usd: dict[Kind, Decimal]
    """Dollars by kind of token, each request at the rates of its size."""
    cost_without_cache_usd: Decimal
    """Dollars for the same tokens with every token of a prompt at the price of an input token."""
    why: NotRead = field(default_factory=NotRead)
    """Why tokens were not read: its parts add up to those stored and fresh."""
    over_tier: int = 0
    """Requests so long that they pay the rates of a higher tier."""
    over_tier_usd: Decimal = Decimal(0)
    """Dollars that these cost more than at the lowest rates."""
    forgotten_blocks: int = 0
    """Blocks that were dropped before their lifetime was over, because there were too many to keep."""

    @property
    def fresh_tokens(self) -> int:
        """Tokens of prompts that were neither read from the cache nor stored in it."""
        return self.tokens.fresh

    @property
    def written_tokens(self) -> int:
        """Tokens of prompts that were stored in the cache, for whatever lifetime."""
        return self.tokens.written + self.tokens.written_long

    @property
    def read_tokens(self) -> int:
        """Tokens of prompts that were read from the cache."""
        return self.tokens.read

    @property
    def output_tokens(self) -> int:
        """Output tokens."""
        return self.tokens.output

    @property
    def cost_usd(self) -> Decimal:
        """Dollars for all of it."""
        return sum(self.usd.values(), Decimal(0))

    @property
    def read_share(self) -> float:
        """Share of the tokens of the prompts that were read from the cache; 0 where there are none."""
        return self.tokens.read / self.tokens.input if self.tokens.input else 0.0
