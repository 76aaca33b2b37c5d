"""Ranges instead of points: how they are written, drawn from a seed, and what the spread of a result comes from."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inferdash import quantities

Draws = NDArray[np.float64]
COUNT: Final = 20_000
"""Draws of a page."""
_LEAST: Final = 0.001
"""Share of the variance below which an input is not named."""
_ROUNDING: Final = 1e-9
"""Differences below this part are of the arithmetic, not of what was drawn."""
_PERCENT: Final = re.compile(r"\s*(?:±|\+-|\+/-)\s*([\d.]+)\s*%\s*")
_SPREAD: Final = 1e6


@dataclass(frozen=True)
class Range:
    """What a number may be: from low to high, evenly or as a triangle with a likely one; or a share around it."""

    low: float = 0.0
    high: float = 0.0
    likely: float | None = None
    around: float | None = None
    """Share of the point, up and down: 0.2 is ±20%."""

    def bounds(self, point: float) -> tuple[float, float]:
        """The least and the most that it may be."""
        if self.around is not None:
            return point * (1 - self.around), point * (1 + self.around)
        return self.low, self.high

    def drawn(self, point: float, uniform: Draws) -> Draws:
        """What it is for numbers that are even between 0 and 1."""
        low, high = self.bounds(point)
        if self.likely is None or high <= low:
            return low + (high - low) * uniform
        share = (self.likely - low) / (high - low)
        rising = low + np.sqrt(uniform * (high - low) * (self.likely - low))
        falling = high - np.sqrt((1 - uniform) * (high - low) * (high - self.likely))
        return np.where(uniform < share, rising, falling)


def read_range(text: str) -> Range:
    """The range that a text writes: 20k..60k, ±20%, or low/likely/high.

    Raises:
        ValueError: with what is wrong, in words.
    """
    share = _PERCENT.fullmatch(text)
    if share:
        around = float(share[1]) / 100
        if not 0 <= around <= 1:
            raise ValueError("holds a range of more than ±100%")
        return Range(around=around)
    parts = text.split("..") if ".." in text else text.split("/")
    try:
        numbers = [quantities.number(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in {2, 3} or (".." in text and len(numbers) != 2):  # noqa: PLR2004 - two ends, or a middle too
        raise ValueError("holds no range such as 20k..60k, ±20% or 200/400/900")
    if numbers != sorted(numbers) or min(numbers) < 0 or max(numbers) > _SPREAD * _SPREAD:
        raise ValueError("holds a range that does not rise from its low end to its high one")
    return Range(numbers[0], numbers[-1], numbers[1] if len(numbers) == 3 else None)  # noqa: PLR2004 - a middle too


def uniforms(names: tuple[str, ...], *, seed: int, count: int = COUNT) -> dict[str, Draws]:
    """Numbers that are even between 0 and 1, for each name draws of its own, always the same from a seed."""
    return {name: np.random.default_rng([seed, *name.encode()]).random(count) for name in names}


@dataclass(frozen=True)
class Spread:
    """Where a result lies."""

    low: float
    """One in ten results is lower."""
    middle: float
    high: float
    """One in ten is higher."""


def spread(results: Draws) -> Spread:
    """The 10th, 50th and 90th percentile."""
    low, middle, high = np.percentile(results, [10, 50, 90])
    return Spread(float(low), float(middle), float(high))


def is_spread(draws: Draws) -> bool:
    """Whether draws differ by more than rounding."""
    return bool(np.ptp(draws) > _ROUNDING * np.max(np.abs(draws)))


def variance_shares(
    inputs: Mapping[str, Draws], result: Callable[[Mapping[str, Draws]], Draws], points: Mapping[str, float]
) -> dict[str, float]:
    """Share of the variance that each input makes alone, the others at their points; the largest first.

    What two make only together is in none, so that the shares may add up to less than one, or more.
    """
    drawn = result(inputs)
    if not is_spread(drawn):
        return {}
    whole = float(np.var(drawn))
    found = {}
    for name in inputs:
        others = {other: np.full_like(draws, points[other]) for other, draws in inputs.items()}
        found[name] = float(np.var(result({**others, name: inputs[name]}))) / whole
    return dict(sorted(((n, s) for n, s in found.items() if s > _LEAST), key=lambda item: -item[1]))
