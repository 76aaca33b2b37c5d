"""How well an engine that was moved to two measurements of a set-up expects the others of that set-up.

All of it starts from a fit that did not see the publisher.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.fitting.bands import band_of
from bench.fitting.results import Result
from bench.fitting.solve import Parts
from bench.fitting.table import Array, Table
from inferdash.physics.fitted.calibration import IN_A_PREFILL, PARTS, factors
from inferdash.physics.fitted.expected import factor_needed

GIVEN: Final = 2
"""Measurements that the engine is moved to in the table, the first ones of a group."""
FEWEST: Final = 4
"""Points of a group from which on it is in the table."""
_PARTS: Final = (
    ("load", "load-experts", "load-ceiling"),
    ("matrices", "experts", "arithmetic-ceiling", "attention", "latent", "narrow", "packed"),
    (
        *("layer", "layer-experts", "layer-latent", "layer-latent-read", "layer-sparse", "layer-recurrent"),
        *("layer-scaled", "layer-fnuz"),
    ),
    ("vectors",),
    ("exchange", "stage"),
    ("host-pass", "host-request"),
    ("server", "server-token", "server-request"),
)
"""Terms of the fit in each part that moves, as `PARTS` names them, and of the server."""
_SOME: Final = 20
"""Points of another set-up that are tried."""


def times_of(table: Table, parts: Parts) -> "Times":
    """The results in parts, as fits expect them that had not seen their publisher."""
    found = parts.terms
    shares = {term.name: term.amount for term in table.terms if term.share}
    with np.errstate(invalid="ignore", divide="ignore"):
        least = np.array(
            [
                np.fmax(shares["load"] / found["load"], np.nan_to_num(shares["load-experts"] / found["load-experts"])),
                np.fmax.reduce([shares[name] / found[name] for name in ("matrices", "experts", "attention")]),
            ]
        )
    moving = np.array([sum(found[name] for name in names) for names in _PARTS])
    places = np.flatnonzero(table.usable).tolist()
    return Times(table.results, places, moving, parts.link, table.limit, table.measured, np.nan_to_num(least, nan=1e-3))


@dataclass(frozen=True)
class Times:
    """Points with their seconds: by part where they move, on the link, at the limit, as measured. A column a point."""

    points: Sequence[Result]
    usable: Sequence[int]
    moving: Array
    link_s: Array
    limit_s: Array
    measured_s: Array
    least: Array
    """The smallest factor on loading and on arithmetic, two rows: no share exceeds 1."""

    def groups(self, *, by_phase: bool) -> dict[tuple[str, ...], list[int]]:
        """Places of usable points by accelerator, engine and model; `by_phase` by publisher and phase too."""
        found: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place in self.usable:
            point = self.points[place]
            key = (point.system, point.engine, point.model)
            found[(*key, point.publisher, band_of(point.phase)) if by_phase else key].append(place)
        return found

    def expected(self, places: Sequence[int], moved: Array | float = 1.0) -> Array:
        """Expected seconds of some points, with a factor on each part that moves."""
        parts = self.moving[:, places] * np.reshape(moved, (-1, 1))
        seconds: Array = np.maximum(parts.sum(axis=0) + self.link_s[places], self.limit_s[places])
        return seconds

    def split(self, places: Sequence[int], given: int = GIVEN) -> tuple[list[int], Array]:
        """The places after the first ones of a group, and the factors to which those lead, as in the product."""
        first = list(places[:given])
        moving, stays = self.moving[:, first].copy(), self.link_s[first].copy()
        for column, place in enumerate(first):
            if self.points[place].phase in {"prefill", "first token"}:
                kept = [row for row, part in enumerate(PARTS) if part not in IN_A_PREFILL]
                stays[column] += moving[kept, column].sum()
                moving[kept, column] = 0
        least = np.full(len(self.moving), 1e-3)
        least[:2] = self.least[:, first[0]]
        return list(places[given:]), factors(moving, stays, self.measured_s[first], least)


def bands(times: Times, *, given: int) -> dict[str, tuple[float, float]]:
    """By phase, the band that holds 80% of the others of a set-up once so many of it were given.

    A set-up weighs as the root of its size.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (*_, phase), places in times.groups(by_phase=True).items():
        if len(places) > given:
            rest, moved = times.split(places, given)
            needed = factor_needed(
                limit_s=times.limit_s[rest], expected_s=times.expected(rest, moved), measured_s=times.measured_s[rest]
            )
            found[phase] += [(one, len(rest) ** -0.5) for one in np.asarray(needed).tolist()]
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
    by_phase: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for key, places in sorted(times.groups(by_phase=False).items()):
        if len(places) < FEWEST:
            continue
        rest, moved = times.split(places)
        both = (times.expected(rest), times.expected(rest, moved))
        errors = [100 * np.abs(seconds / times.measured_s[rest] - 1) for seconds in both]
        for place, *pair in zip(rest, *(error.tolist() for error in errors), strict=True):
            by_phase[band_of(times.points[place].phase)].append((pair[0], pair[1]))
        before += errors[0].tolist()
        after += errors[1].tolist()
        medians.append(float(np.median(errors[1])))
        yield f"{', '.join(key):64}{len(rest):5} others {np.median(errors[0]):6.1f} before {medians[-1]:6.1f} after"
    yield (
        f"All {len(after):,} others: median {np.median(before):.1f} before and {np.median(after):.1f} after, 90% "
        f"{np.quantile(before, 0.9):.1f} and {np.quantile(after, 0.9):.1f}; of {len(medians)} groups "
        f"{sum(one <= 10 for one in medians)} have a median of at most 10"
    )
    for phase, pairs in sorted(by_phase.items()):
        shipped, own = np.array(pairs).T
        yield f"{phase:10}{len(pairs):6,} others: median {np.median(shipped):.1f} before and {np.median(own):.1f} after"
    yield from _across(times)
    yield half_and_half(times)


def _across(times: Times) -> Iterator[str]:
    """What two measurements of a set-up do to other models, and to other accelerators, of the same publisher."""
    cells = times.groups(by_phase=False)
    errors: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (chip, engine, model), places in cells.items():
        _, moved = times.split(places)
        who = {times.points[place].publisher for place in places[:GIVEN]}
        for (other_chip, other_engine, other_model), others in cells.items():
            theirs = [place for place in others if times.points[place].publisher in who][:_SOME]
            one_alike = (other_chip == chip) != (other_model == model)
            if len(places) < GIVEN or other_engine != engine or not theirs or not one_alike:
                continue
            both = (times.expected(theirs), times.expected(theirs, moved))
            shipped, own = (100 * np.abs(one / times.measured_s[theirs] - 1) for one in both)
            what = "another model on the same accelerator" if other_chip == chip else "the same model on another"
            errors[what] += list(zip(shipped.tolist(), own.tolist(), strict=True))
    for what, pairs in errors.items():
        shipped, own = np.median(np.array(pairs), axis=0)
        yield f"{what}: median {shipped:.1f} before and {own:.1f} after"


def half_and_half(times: Times) -> str:
    """Every second load test of a set-up given: how far the others lie in their time per output token."""
    cells: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place in times.usable:
        one = times.points[place]
        if one.phase == "output token":
            machine = one.machine
            cells[one.model, one.system, one.engine, machine.weights.name, machine.layout, one.publisher].append(place)
    medians = []
    for places in cells.values():
        if len(places) >= FEWEST:
            given, rest = places[::2], places[1::2]
            _, moved = times.split([*given, *rest], len(given))
            medians.append(float(np.median(np.abs(times.expected(rest, moved) / times.measured_s[rest] - 1))))
    within = sum(one <= 0.08 for one in medians)
    return (
        f"Output token, every second test of {len(medians)} set-ups given: the others are off by "
        f"{100 * np.median(medians):.1f}% at the median over set-ups, at most 8% in {within} of them"
    )
