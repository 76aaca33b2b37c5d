"""How well an engine that was moved to two measurements of a set-up expects the others of that set-up.

All of it starts from a fit that did not see the publisher.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from inferdash.physics.calibration import factors
from inferdash.physics.expected import factor_needed
from inferdash.physics.published import Point

Array: TypeAlias = npt.NDArray[np.float64]
GIVEN: Final = 2
"""Measurements that the engine is moved to, the first ones of a group."""
FEWEST: Final = 4
"""Points of a group from which on it is in the table."""
_PARTS: Final = (("load", "load-ceiling"), ("matrix", "matrix-ceiling", "attention"), ("layer",), ("vectors",))
_WAITING: Final = ("exchange", "stage")


def parts(terms: Mapping[str, Array]) -> Array:
    """Seconds of the parts that move, a row a part, from those of the terms of the fit."""
    rows = [sum(terms[name] for name in names) for names in (*_PARTS, _WAITING, ("server",))]
    return np.array(rows)


@dataclass(frozen=True)
class Times:
    """Points with their seconds: by part where they move, on the link, at the limit, as measured. A column a point."""

    points: Sequence[Point]
    usable: Sequence[int]
    moving: Array
    link_s: Array
    limit_s: Array
    measured_s: Array

    def groups(self, *, by_phase: bool) -> dict[tuple[str, ...], list[int]]:
        """Places of usable points by accelerator, engine and model; `by_phase` by publisher and phase too."""
        found: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place in self.usable:
            point = self.points[place]
            key = (point.row["accelerator"], point.row["engine"], point.row["model"])
            found[(*key, point.publisher, point.row["phase"]) if by_phase else key].append(place)
        return found

    def expected(self, places: Sequence[int], moved: Array | float = 1.0) -> Array:
        """Expected seconds of some points, with a factor on each part that moves."""
        parts = self.moving[:, places] * np.reshape(moved, (-1, 1))
        seconds: Array = np.maximum(parts.sum(axis=0) + self.link_s[places], self.limit_s[places])
        return seconds

    def split(self, places: Sequence[int]) -> tuple[list[int], Array]:
        """The places after the first ones of a group, and the factors to which those lead."""
        given = list(places[:GIVEN])
        least = np.full(len(self.moving), 1e-3)
        return list(places[GIVEN:]), factors(self.moving[:, given], self.link_s[given], self.measured_s[given], least)


def bands(times: Times) -> dict[str, tuple[float, float]]:
    """By phase, the band that holds 80% of the others of a set-up; each set-up weighs as the root of its size."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (*_, phase), places in times.groups(by_phase=True).items():
        if len(places) > GIVEN:
            rest, moved = times.split(places)
            needed = factor_needed(
                limit_s=times.limit_s[rest], expected_s=times.expected(rest, moved), measured_s=times.measured_s[rest]
            )
            found[phase.replace("e2e", "serving")] += [(one, len(rest) ** -0.5) for one in np.asarray(needed).tolist()]
    return {phase: (round(1 / factor, 3), round(factor, 2)) for phase, factor in _held(found)}


def _held(found: Mapping[str, list[tuple[float, float]]]) -> Iterator[tuple[str, float]]:
    for phase, needed in found.items():
        ordered = sorted(needed)
        reached = np.cumsum([weight for _, weight in ordered])
        yield phase, ordered[int(np.searchsorted(reached, 0.8 * reached[-1]))][0]


def table(times: Times) -> Iterator[str]:
    """Errors of the others in each group with enough points, before and after, and of all of them."""
    yield f"Moved to the first {GIVEN} points of an accelerator, engine and model: median error of its others, %"
    before, after, medians = [], [], []
    for key, places in sorted(times.groups(by_phase=False).items()):
        if len(places) < FEWEST:
            continue
        rest, moved = times.split(places)
        both = (times.expected(rest), times.expected(rest, moved))
        errors = [100 * np.abs(seconds / times.measured_s[rest] - 1) for seconds in both]
        before += errors[0].tolist()
        after += errors[1].tolist()
        medians.append(float(np.median(errors[1])))
        yield f"{', '.join(key):64}{len(rest):5} others {np.median(errors[0]):6.1f} before {medians[-1]:6.1f} after"
    yield (
        f"All {len(after):,} others: median {np.median(before):.1f} before and {np.median(after):.1f} after, 90% "
        f"{np.quantile(before, 0.9):.1f} and {np.quantile(after, 0.9):.1f}; of {len(medians)} groups "
        f"{sum(one <= 10 for one in medians)} have a median of at most 10"
    )
