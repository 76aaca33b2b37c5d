"""Who comes, when, and with how many tokens."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_HOUR_S: Final = 3600.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Requests:
    """Requests by arrival: arrays of one length, a row a request."""

    arrival_s: Floats
    """Seconds since a common start, never falling."""
    prompt: Ints
    """Tokens of the prompt, at least 1."""
    answer: Ints
    """Tokens of the answer, at least 1."""
    found: Ints
    """Tokens at the start of the prompt that are found in a cache of prefixes, fewer than the prompt.

    They are not run, and take their place in the cache.
    """
    prefix: Ints
    """What the start of the prompt is the same for, such as a session. A replica finds it once it was there.

    Below 0: on all replicas, from the beginning.
    """
    texts: "Texts | None" = None
    """The blocks of the prompts, where they are known: then they say what is found, not `found`."""
    turns: "Turns | None" = None
    """Which requests follow on others, where any do; what `arrival_s` has of those counts for nothing."""

    def __len__(self) -> int:
        """How many requests there are."""
        return len(self.arrival_s)

    def some(self, which: Ints) -> "Requests":
        """Those of them with these numbers, in order."""
        return Requests(
            arrival_s=self.arrival_s[which],
            prompt=self.prompt[which],
            answer=self.answer[which],
            found=self.found[which],
            prefix=self.prefix[which],
            texts=self.texts and self.texts.some(which),
            turns=self.turns and self.turns.some(which),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Texts:
    """The whole blocks of prompts, each of which stands for the text up to its end; only these are found again."""

    names: Ints
    """Numbers of blocks from 0, of one prompt after another."""
    first: Ints
    """Where each prompt begins in them, and where the last ends."""
    block: int
    """Tokens of a block, a multiple of a page."""

    @classmethod
    def of(cls, prompts: Sequence[Sequence[Hashable]], *, block: int) -> "Texts":
        """From the names of the blocks of each prompt."""
        numbers: dict[Hashable, int] = {}
        names = [numbers.setdefault(name, len(numbers)) for prompt in prompts for name in prompt]
        first = np.cumsum([0, *map(len, prompts)], dtype=np.int64)
        return cls(names=np.array(names, dtype=np.int64), first=first, block=block)

    def some(self, which: Ints) -> "Texts":
        """Those of the prompts with these numbers."""
        parts = [self.names[self.first[one] : self.first[one + 1]] for one in which]
        names = np.concatenate([self.names[:0], *parts])
        first = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return Texts(names=np.unique(names, return_inverse=True)[1], first=first, block=self.block)


@dataclass(frozen=True, eq=False, kw_only=True)
class Turns:
    """Requests that come when others have ended, such as the turns of a session. Nobody waits for himself."""

    after: Ints
    """Numbers of the requests that wait for one, of one request after another."""
    first: Ints
    """Where those that wait for each begin in them, and where those for the last one end."""
    pause_s: Floats
    """Seconds from the end of the last one that a request waits for until it comes."""
    waits: Ints
    """How many it waits for; 0 where it comes at a time of its own."""
    session: Ints
    """A number of the session of each."""

    @classmethod
    def of(cls, before: Sequence[Sequence[int]], *, pause_s: Any, session: Any = 0) -> "Turns":
        """From the numbers of those that each request waits for."""
        waiting: list[list[int]] = [[] for _ in before]
        for one, ends in enumerate(before):
            for end in ends:
                waiting[end].append(one)
        return cls(
            after=np.array([one for ones in waiting for one in ones], dtype=np.int64),
            first=np.cumsum([0, *map(len, waiting)], dtype=np.int64),
            pause_s=np.broadcast_to(np.asarray(pause_s, dtype=np.float64), (len(before),)),
            waits=np.array([*map(len, before)], dtype=np.int64),
            session=np.broadcast_to(np.asarray(session, dtype=np.int64), (len(before),)),
        )

    def some(self, which: Ints) -> "Turns":
        """Those of the requests with these numbers; one whose others are left out comes without them."""
        place = {int(one): number for number, one in enumerate(which)}
        before: list[list[int]] = [[] for _ in which]
        for one, number in place.items():
            for later in self.after[self.first[one] : self.first[one + 1]].tolist():
                if later in place:
                    before[place[later]].append(number)
        return Turns.of(before, pause_s=self.pause_s[which], session=self.session[which])


def requests(
    arrival_s: Any,
    *,
    prompt: Any,
    answer: Any,
    found: Any = 0,
    prefix: Any = -1,
    texts: Texts | None = None,
    turns: Turns | None = None,
) -> Requests:
    """Requests from numbers, or arrays of them; a number holds for all.

    Args:
        arrival_s: seconds, an array.
        prompt: tokens of each prompt.
        answer: tokens of each answer.
        found: tokens of each prompt that are found.
        prefix: what the start of each prompt is the same for.
        texts: their blocks; then `found` and `prefix` count for nothing.
        turns: which follow on others; of those `arrival_s` is only what it might be.

    Raises:
        ValueError: where times fall, begin below 0 or are not finite, a text has no tokens, or no token of a prompt is
            left to run.
    """
    times = np.asarray(arrival_s, dtype=np.float64)
    prompts, answers, finds, prefixes = (
        np.broadcast_to(np.asarray(one, dtype=np.int64), times.shape) for one in (prompt, answer, found, prefix)
    )
    if not np.isfinite(times).all() or (np.diff(times, prepend=0.0) < 0).any():
        raise ValueError("arrival_s is not finite, falls, or begins below 0")
    if (prompts < 1).any() or (answers < 1).any():
        raise ValueError("a prompt or an answer has no tokens")
    if (finds < 0).any() or (finds >= prompts).any():
        raise ValueError("found is below 0, or leaves no token of a prompt to run")
    return Requests(
        arrival_s=times, prompt=prompts, answer=answers, found=finds, prefix=prefixes, texts=texts, turns=turns
    )


def poisson(count: int, *, per_s: float, seed: int) -> Floats:
    """Seconds of `count` arrivals that come at random, `per_s` of them a second. The same seed scales with the rate."""
    return np.random.default_rng(seed).exponential(size=count).cumsum() / per_s


def in_turn(each: int, *, of: int, among: int, per_s: float, seed: int) -> Floats:
    """Seconds of the arrivals at the first `of` groups, where all that come at random go to `among` groups in turn.

    The others' gaps are drawn as one: a sum of exponential gaps is a gamma. So it takes no more memory for many groups.

    Args:
        each: arrivals at each group.
        of: groups whose arrivals are wanted.
        among: groups in all.
        per_s: requests a second that come for all groups.
        seed: the same seed scales with the rate.
    """
    if of == among:
        return poisson(each * among, per_s=per_s, seed=seed)
    source = np.random.default_rng(seed)
    gaps = source.exponential(size=(each, of))
    gaps[1:, 0] += source.gamma(among - of, size=each - 1)
    return gaps.ravel().cumsum() / per_s


def bursts(count: int, *, per_s: float, variation: float, seed: int) -> Floats:
    """Seconds of `count` arrivals with gamma gaps, `per_s` of them a second on average.

    `variation` is the coefficient of variation of the gaps: 1 is Poisson, more comes in bursts, less more evenly.
    """
    shape = 1 / variation**2
    return np.random.default_rng(seed).gamma(shape, 1 / shape, size=count).cumsum() / per_s


def daily(count: int, *, per_s: float, hours: Sequence[float], seed: int) -> Floats:
    """Seconds since midnight of `count` arrivals that come at random, at a rate that differs by hour of the day.

    `per_s` is the mean of a day and `hours` the weights of its hours; the day is cut evenly into as many as there are.
    """
    weights = np.asarray(hours, dtype=np.float64) / np.mean(hours)
    day_s = 24 * _HOUR_S
    expected = np.random.default_rng(seed).exponential(size=count).cumsum() / (per_s * day_s)  # days of an even rate
    whole = np.floor(expected)
    passed = np.append(0.0, weights.cumsum() / len(weights))
    return whole * day_s + np.interp(expected - whole, passed, np.linspace(0, day_s, len(passed)))


def log_normal(count: int, *, median: float, spread: float, least: int, most: int, seed: int) -> Ints:
    """Tokens of `count` texts that are log-normal between `least` and `most`.

    `spread` is the factor within which two thirds lie, up and down; at 1 all are the median.
    """
    if spread <= 1:
        return np.full(count, round(min(max(median, least), most)), dtype=np.int64)
    normal = NormalDist(log(median), log(spread))
    low, high = normal.cdf(log(least - 0.5)), normal.cdf(log(most + 0.5))
    shares = np.random.default_rng(seed).uniform(low, high, size=count)
    drawn = [exp(normal.inv_cdf(min(max(share, 1e-15), 1 - 1e-15))) for share in shares.tolist()]
    return np.clip(np.rint(drawn), least, most).astype(np.int64)
