"""How much longer than expected passes and first tokens take with a given confidence, by the bands of an engine."""

from typing import Final, NamedTuple

import numpy as np

from inferdash.facts.machines.engine import Band, Bands
from inferdash.formula import Number, formula
from inferdash.physics.fitted.expected import uncertain_part

PASSES: Final[dict[str, float]] = {"even": 0.0, "80": 0.65, "95": 1.4}
"""Confidence -> exponent on the upper factor of the band of passes that serve, within which so many of the results lie.

Of results that a fit had not seen, by the worst of the three ways to leave them out: the errors have longer tails than
a normal distribution of their logarithms, of which these would be 0.66 and 1.28.
"""
FIRSTS: Final[dict[str, float]] = {"even": 0.0, "80": 0.8, "95": 1.7}
"""The same of times to first token."""


class Slower(NamedTuple):
    """Times as long as expected that passes take, and first tokens."""

    passes: Number
    firsts: Number


AS_EXPECTED: Final = Slower(1.0, 1.0)


@formula(unit="times", ref="measured")
def times_as_long(*, factor: Number, exponent: Number) -> Number:
    """Times as long as expected that something takes, by the factor of its band."""
    return factor**exponent


def slower(bands: Bands, confidence: str, *, limit_s: Number, expected_s: Number) -> Slower:
    """What is held with a confidence: passes that serve and first tokens take at most so many times as long.

    Args:
        bands: of the engine on the family of accelerators.
        confidence: a key of `PASSES`.
        limit_s: seconds of a pass at the limit; what is loaded is known, so that the band is narrower near it.
        expected_s: expected seconds of that pass.
    """
    certain = uncertain_part(limit_s=limit_s, expected_s=expected_s)
    passes = times_as_long(factor=bands.serving[1], exponent=PASSES[confidence] * certain)
    return Slower(passes, np.maximum(passes, times_as_long(factor=bands.first_token[1], exponent=FIRSTS[confidence])))


def edge(bands: Bands, side: int, *, limit_s: Number, expected_s: Number) -> Slower:
    """An edge of the 80% band, the lower (0) or the upper one (1); no pass takes less than its limit."""
    certain = uncertain_part(limit_s=limit_s, expected_s=expected_s)

    def factor(band: Band, exponent: Number) -> Number:
        return np.maximum(times_as_long(factor=band[side], exponent=exponent), limit_s / expected_s)

    passes, firsts = factor(bands.serving, certain), factor(bands.first_token, 1.0)
    return Slower(passes, np.maximum(passes, firsts) if side else np.minimum(passes, firsts))
