"""Where two ways to pay for the same tokens cost the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf
from typing import Final

import numpy as np

from inferdash.formula import Number

_MOST: Final = 1000
"""Machines up to which break-evens are looked for."""


@dataclass(frozen=True)
class Way:
    """A way to pay: so much for each token, and for each machine that is there whatever it does.

    An API has no machines. Rented ones cost nothing a token; owned ones the power that work takes beyond idling.
    """

    usd_per_token: float
    usd_per_machine: float = 0.0
    """A month."""
    tokens_of_machine: float = inf
    """That one serves in a month."""

    def machines(self, tokens: Number) -> Number:
        """Machines that serve so many tokens a month: one at least."""
        return np.maximum(1.0, np.ceil(np.asarray(tokens) / self.tokens_of_machine))

    def usd(self, tokens: Number) -> Number:
        """Dollars of a month with so many tokens."""
        return self.usd_per_token * tokens + self.usd_per_machine * self.machines(tokens)


def break_evens(one: Way, other: Way) -> list[float]:
    """Tokens of a month at which both cost the same, in order; where machines are added, costs may also jump across.

    Both have machines of the same size, or one of them has none.
    """
    return sorted(_equal(one, other))


def _equal(one: Way, other: Way) -> Iterator[float]:
    size = min(one.tokens_of_machine, other.tokens_of_machine)
    dearer = one.usd_per_token - other.usd_per_token
    fixed = other.usd_per_machine - one.usd_per_machine
    if not dearer or fixed / dearer < 0:
        return
    for machines in range(1, 2 if size == inf else _MOST + 1):
        tokens = machines * fixed / dearer
        if tokens > machines * size:
            return  # with each further machine it lies beyond what they serve
        if tokens > (machines - 1) * size or machines == 1:
            yield tokens
        else:
            return


def cheaper_from(one: Way, other: Way) -> float | None:
    """Tokens of a month from which `one` never costs more than `other`, whatever is added; None where it does for ever.

    `other` has no machines: it is an API.
    """
    gain = (other.usd_per_token - one.usd_per_token) * one.tokens_of_machine
    if gain <= one.usd_per_machine:
        return None
    # With n machines full, and one more just added, the API must already cost more than n + 1 of them.
    full = ceil(one.usd_per_machine / (gain - one.usd_per_machine))
    machines = max(1, full)
    return max((machines - 1) * one.tokens_of_machine, machines * one.usd_per_machine / gain * one.tokens_of_machine)
