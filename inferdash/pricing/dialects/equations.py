"""Counts as sums of parts: what parts follow from counts, and which counts must agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Form: TypeAlias = tuple[tuple[int, int], ...]
"""A sum of values, each as its place and how often it counts: ((0, 1), (2, -1)) is the first less the third."""


@dataclass(frozen=True)
class Solved:
    """Equations "the parts of this set add up to the value at this place", brought to steps."""

    columns: tuple[str, ...]
    steps: tuple[tuple[int, tuple[Fraction, ...], tuple[Fraction, ...]], ...]
    """Column of the first part, factors of the parts, factors of the values."""
    checks: tuple[Form, ...]
    """Sums of values that are 0 where the values agree."""

    def form(self, parts: Sequence[str]) -> Form | None:
        """The sum of some parts as a sum of values; None where it does not follow."""
        left = [Fraction(name in parts) for name in self.columns]
        if sum(left) != len(set(parts)):
            return None
        values = [Fraction(0)] * (len(self.steps[0][2]) if self.steps else 0)
        for column, factors, origin in self.steps:
            if times := left[column]:
                left = [mine - times * other for mine, other in zip(left, factors, strict=True)]
                values = [mine + times * other for mine, other in zip(values, origin, strict=True)]
        return None if any(left) else _form(values)


def solve(sets: Sequence[Sequence[str]], columns: Sequence[str]) -> Solved:
    """Brings equations to steps; what is left without parts is a check."""
    rows = [
        ([Fraction(name in parts) for name in columns], [Fraction(place == own) for place in range(len(sets))])
        for own, parts in enumerate(sets)
    ]
    steps = []
    for column in range(len(columns)):
        found = next((row for row in rows if row[0][column]), None)
        if found is None:
            continue
        rows.remove(found)
        scale = found[0][column]
        factors, origin = [one / scale for one in found[0]], [one / scale for one in found[1]]
        for parts, values in rows:
            if times := parts[column]:
                parts[:] = [mine - times * other for mine, other in zip(parts, factors, strict=True)]
                values[:] = [mine - times * other for mine, other in zip(values, origin, strict=True)]
        steps.append((column, tuple(factors), tuple(origin)))
    return Solved(tuple(columns), tuple(steps), tuple(form for _, values in rows if (form := _form(values))))


def _form(values: Sequence[Fraction]) -> Form | None:
    whole = [value.numerator for value in values if value.denominator == 1]
    if len(whole) != len(values):
        return None
    return tuple((place, times) for place, times in enumerate(whole) if times)
