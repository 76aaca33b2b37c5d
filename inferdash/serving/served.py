"""What became of requests: the lists that a simulation fills, and the arrays that it hands out."""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from inferdash.serving.requests import Floats, Ints, Requests


class Book:
    """What is known of each request, and what becomes of it, as lists that the replicas share."""

    def __init__(self, requests: Requests) -> None:
        self.arrival_s: list[float] = requests.arrival_s.tolist()
        self.prompt: list[int] = requests.prompt.tolist()
        self.last: list[int] = (requests.prompt + requests.answer - 1).tolist()
        """Tokens in the cache when the answer has ended: its last token is not."""
        self.found: list[int] = requests.found.tolist()
        count = len(self.prompt)
        self.started_s = [inf] * count
        self.first_token_s = [inf] * count
        self.finish_s = [inf] * count
        self.preemptions = [0] * count


@dataclass(frozen=True, eq=False)
class Steps:
    """A replica over time: what holds from the time of an event to that of the next. Arrays with a row an event."""

    flat: list[float]
    """The rows one after another."""

    @cached_property
    def _rows(self) -> Floats:
        return np.array(self.flat, dtype=np.float64).reshape(-1, 3)

    @property
    def time_s(self) -> Floats:
        """Seconds on the clock of the arrivals."""
        return self._rows[:, 0]

    @property
    def batch(self) -> Floats:
        """Requests in the batch, those that read and those that write."""
        return self._rows[:, 1]

    @property
    def pages(self) -> Floats:
        """Pages of the cache in use at the end of the step: within it they grow."""
        return self._rows[:, 2]


@dataclass(frozen=True, eq=False, kw_only=True)
class Served:
    """What became of each request, as arrays with a row a request, and of each replica over time.

    Times are seconds on the clock of the arrivals; those of a refused request are infinite: they never come.
    """

    started_s: Floats
    """When the pass began that first read of its prompt."""
    first_token_s: Floats
    """When its first token was there."""
    finish_s: Floats
    """When its last token was there."""
    preemptions: Ints
    """How often it was put back."""
    replica: Ints
    """Where it ran; -1 where it was refused, as it alone is larger than the cache."""
    found: Ints
    """Tokens of its prompt that were found where it ran."""
    steps: tuple[Steps, ...]
    """Of each replica."""
