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
MARKINGS: Final = ("all", "session", "shared", "none")
"""How far prompts are marked for the cache: to the end, to what changes in a session, to what users share, or not."""


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
class Outcome:
    """How a prompt may meet the cache: what lies before `read` is read, what lies from there to `stored` is stored."""

    chance: float
    read: float
    stored: float


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


@dataclass(frozen=True)
class Prompt:
    """The prompt of one turn, in tokens."""

    history: int
    total: int
    outcomes: tuple[Outcome, ...]
    """Their chances add up to 1; without a cache nothing is read or stored."""

    @property
    def read(self) -> float:
        """Tokens that are read, as an expectation."""
        return sum(one.chance * one.read for one in self.outcomes)

    @property
    def written(self) -> float:
        """Tokens that are stored, as an expectation."""
        return sum(one.chance * (one.stored - one.read) for one in self.outcomes)

    @property
    def fresh(self) -> float:
        """Tokens that are neither read nor stored, as an expectation; exactly 0 where none can be."""
        return sum(one.chance * (self.total - one.stored) for one in self.outcomes)


def prompts(
    plan: Turns,
    cache: Cache | None,
    *,
    requests_per_day: float,
    known_share: float | None = None,
    marked: str = "all",
) -> list[Prompt]:
    """The prompt of each turn of a session, and how it may meet the cache; without a cache all input is fresh.

    Args:
        plan: what the session is made of.
        cache: its rules; None where there is none or they are not known, so that nothing is stored.
        requests_per_day: of all users, by which what they share is kept.
        known_share: the share of all input that is read, where it was measured: then the rules and the timing say only
            which of the rest is stored.
        marked: one of `MARKINGS`.
    """
    found = []
    before = 0
    for turn in range(plan.turns):
        history = int(history_tokens(turn=turn, message=plan.message, answer=plan.answer, limit=plan.history_limit))
        total = plan.shared + plan.own + history + plan.message
        if cache is None:
            read = (known_share or 0.0) * total
            found.append(Prompt(history, total, (Outcome(1.0, read, read),)))
            continue
        most = {"all": total, "session": plan.shared + plan.own, "shared": plan.shared, "none": 0}[marked]
        # What is cut off at its start changes all that follows it, so only the parts before the history are the same.
        cut = turn > 0 and turn * (plan.message + plan.answer) > plan.history_limit
        same = plan.shared + plan.own if cut else before
        # Where reads do not renew it, a lifetime runs from the first turn: a bound from below.
        waited = plan.gap_s * (1 if cache.renewed else turn)
        in_time = share_in_time(waited, plan.spread, cache.lifetime_s) if turn else 0.0
        warm = share_kept_warm(requests_per_day, cache.lifetime_s)
        chances: tuple[tuple[float, float], ...] = (
            (in_time, stored(min(same, most), cache)),
            ((1 - in_time) * warm, stored(min(plan.shared, most), cache)),
            ((1 - in_time) * (1 - warm), 0),
        )
        if known_share is not None:
            chances = ((1.0, known_share * total),)
        storable = stored(min(total, most), cache)
        found.append(Prompt(history, total, tuple(Outcome(p, read, max(read, storable)) for p, read in chances)))
        before = total
    return found


def session(
    plan: Turns,
    cache: Cache | None,
    *,
    requests_per_day: float,
    known_share: float | None = None,
    marked: str = "all",
) -> list[Turn]:
    """Expected tokens of each turn of a session, as `prompts` has them."""
    output = plan.answer + plan.thinking
    asked = prompts(plan, cache, requests_per_day=requests_per_day, known_share=known_share, marked=marked)
    return [Turn(fresh=one.fresh, read=one.read, written=one.written, output=output) for one in asked]


def split(prompt: Prompt, sizes: Sequence[int]) -> list[tuple[float, float, float]]:
    """Expected tokens of each part of a prompt, in their order, that are fresh, stored and read."""
    found, start = [], 0
    for size in sizes:
        end = start + size
        read = sum(one.chance * _within(0, one.read, start, end) for one in prompt.outcomes)
        written = sum(one.chance * _within(one.read, one.stored, start, end) for one in prompt.outcomes)
        fresh = sum(one.chance * _within(one.stored, end, start, end) for one in prompt.outcomes)
        found.append((fresh, written, read))
        start = end
    return found


def _within(low: float, high: float, start: float, end: float) -> float:
    """How much of a stretch lies in another one."""
    return max(0.0, min(high, end) - max(low, start))


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
