"""Where two ways to pay for the same tokens cost the same."""

from dataclasses import dataclass
from math import ceil, inf
from typing import Final

import numpy as np

from inferdash.formula import Number

_ALIKE: Final = 1e-300
"""Dollars of a token that are none."""
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
    usd_fixed: float = 0.0
    """A month, however many machines there are."""

    def machines(self, tokens: Number) -> Number:
        """Machines that serve so many tokens a month: one at least."""
        return np.maximum(1.0, np.ceil(np.asarray(tokens) / self.tokens_of_machine))

    def usd(self, tokens: Number) -> Number:
        """Dollars of a month with so many tokens."""
        return self.usd_per_token * tokens + self.usd_per_machine * self.machines(tokens) + self.usd_fixed


def break_evens(one: Way, other: Way) -> list[float]:
    """Tokens of a month at which both cost the same, in order; where machines are added, costs may also jump across.

    Both have machines of the same size, or one of them has none.
    """
    size = min(one.tokens_of_machine, other.tokens_of_machine)
    dearer = one.usd_per_token - other.usd_per_token
    if abs(dearer) < _ALIKE:
        return []
    machines = np.arange(1.0, 2.0 if size == inf else _MOST + 1)
    fixed = machines * (other.usd_per_machine - one.usd_per_machine) + other.usd_fixed - one.usd_fixed
    tokens = fixed / dearer
    ends = machines * size
    starts = ends - size if size < inf else np.zeros(1)
    return [float(found) for found in tokens[(tokens > starts) & (tokens <= ends)]]


def cheaper_from(one: Way, other: Way) -> float | None:
    """Tokens of a month from which `one` never costs more than `other`, whatever is added; None where it does for ever.

    `other` has no machines: it is an API.
    """
    gain = (other.usd_per_token - one.usd_per_token) * one.tokens_of_machine
    if gain <= one.usd_per_machine:
        return None
    # From so many machines on, one that was just added is paid by the tokens that filled the others.
    paid = ceil((one.usd_fixed + gain) / (gain - one.usd_per_machine))
    last = max(1, paid - 1)
    equal = (last * one.usd_per_machine + one.usd_fixed) / gain
    return min(float(last), equal) * one.tokens_of_machine
