"""A number with the band in which logs have it."""

from dataclasses import dataclass
from typing import Final

import numpy as np


@dataclass(frozen=True)
class Span:
    """A number with the band in which logs have it."""

    low: float
    expected: float
    high: float

    def __add__(self, other: "Span") -> "Span":
        """The sum of two that do not depend on each other: what they are off by adds up as squares."""
        expected = self.expected + other.expected
        down = np.hypot(self.expected - self.low, other.expected - other.low)
        up = np.hypot(self.high - self.expected, other.high - other.expected)
        return Span(float(expected - down), expected, float(expected + up))

    def __neg__(self) -> "Span":
        """The same with the other sign."""
        return Span(-self.high, -self.expected, -self.low)

    def times(self, factor: float) -> "Span":
        """The same number of times, 0 or more."""
        return Span(self.low * factor, self.expected * factor, self.high * factor)


def exactly(value: float) -> Span:
    """A number without a band."""
    return Span(value, value, value)


NOTHING: Final = exactly(0)
