"""A feature as its users meet it: sessions of turns, whose prompt grows and is partly read from a cache.

Every number is an expectation over many sessions. A turn finds the prompt of the turn before it in the cache where the
time between them is shorter than the lifetime; the part that all users share is found where any of them came lately.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, exp, log, sqrt
from typing import Final

import numpy as np

from inferdash.formula import Number, formula

DAYS: Final = 30
"""Days of a month, wherever a month is said: the one of the first links, and easily checked by hand."""
HOURS: Final = 24 * DAYS
"""Hours of a month."""
_DAY_S: Final = 86_400


@dataclass(frozen=True)
class Turns:
    """What a session is made of, in tokens and seconds."""

    shared: int
    """Tokens at the start that all users share: tools and the system turn."""
    own: int
    """Tokens after them that stay the same in a session: facts about the user, documents."""
    message: int
    answer: int
    """Visible tokens of an answer, which the history keeps."""
    thinking: int
    """Hidden tokens of an answer, which it does not."""
    turns: int
    history_limit: int
    """Tokens of the history that are kept at most."""
    gap_s: float
    """Median seconds between turns."""
    spread: float
    """Factor within which two thirds of the gaps lie, up and down."""


@dataclass(frozen=True)
class Cache:
    """The rules under which the prompts are stored."""

    minimum: int
    increment: int
    lifetime_s: float
    renewed: bool


@dataclass(frozen=True)
class Turn:
    """Expected tokens of one turn, by what they are billed as."""

    fresh: float
    read: float
    written: float
    output: float

    @property
    def input(self) -> float:
        """All input tokens."""
        return self.fresh + self.read + self.written


@formula(unit="tokens", ref="prompt-caching")
def history_tokens(*, turn: Number, message: Number, answer: Number, limit: Number) -> Number:
    """Tokens of the earlier messages and answers in a prompt; `turn` counts from 0, `limit` is where it is cut."""
    return np.minimum(turn * (message + answer), limit)


@formula(unit="requests", ref="prompt-caching")
def requests_a_day(*, users: Number, sessions_a_day: Number, turns: Number) -> Number:
    """Requests of all users in a day."""
    return users * sessions_a_day * turns


def share_in_time(gap_s: float, spread: float, lifetime_s: float) -> float:
    """Share of the gaps between turns that are shorter than the lifetime: they are log-normal around the median."""
    if spread <= 1:
        return 1.0 if gap_s <= lifetime_s else 0.0
    return 0.5 * (1 + erf(log(lifetime_s / gap_s) / (log(spread) * sqrt(2))))


def share_kept_warm(requests_per_day: float, lifetime_s: float) -> float:
    """Share of sessions that find what all users share, as some request came within the lifetime (Poisson)."""
    return 1 - exp(-requests_per_day / _DAY_S * lifetime_s)


def session(
    plan: Turns, cache: Cache | None, *, requests_per_day: float, known_share: float | None = None
) -> list[Turn]:
    """Expected tokens of each turn of a session; without a cache all input is fresh.

    `known_share` is the share of all input that is read, where it was measured: then the rules and the timing say
    only which of the rest is stored.
    """
    found = []
    before = 0
    for turn in range(plan.turns):
        history = int(history_tokens(turn=turn, message=plan.message, answer=plan.answer, limit=plan.history_limit))
        total = plan.shared + plan.own + history + plan.message
        output = plan.answer + plan.thinking
        if cache is None:
            found.append(Turn(total, 0.0, 0.0, output))
            continue
        # What is cut off at its start changes all that follows it, so only the parts before the history are the same.
        cut = turn > 0 and turn * (plan.message + plan.answer) > plan.history_limit
        same = plan.shared + plan.own if cut else before
        # Where reads do not renew it, a lifetime runs from the first turn: a bound from below.
        waited = plan.gap_s * (1 if cache.renewed else turn)
        in_time = share_in_time(waited, plan.spread, cache.lifetime_s) if turn else 0.0
        warm = share_kept_warm(requests_per_day, cache.lifetime_s)
        read = in_time * stored(same, cache) + (1 - in_time) * warm * stored(plan.shared, cache)
        read = read if known_share is None else known_share * total
        kept = max(read, stored(total, cache))
        found.append(Turn(fresh=total - kept, read=read, written=kept - read, output=output))
        before = total
    return found


def stored(tokens: float, cache: Cache) -> int:
    """Tokens of a start that is stored: at multiples of the increment, none below the minimum."""
    kept = int(tokens // cache.increment) * cache.increment
    return kept if kept >= cache.minimum else 0


def total(turns: Sequence[Turn]) -> Turn:
    """The sum over turns."""
    return Turn(
        fresh=sum(turn.fresh for turn in turns),
        read=sum(turn.read for turn in turns),
        written=sum(turn.written for turn in turns),
        output=sum(turn.output for turn in turns),
    )
