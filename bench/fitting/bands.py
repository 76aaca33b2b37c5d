"""Bands: the factor around what is expected that holds four of five results which a fit has not seen."""

from collections.abc import Mapping
from math import exp, log
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.fitting.leave_out import WAYS, Held, labels
from bench.fitting.table import Array, Mask, Table
from inferdash.physics.fitted.expected import factor_needed

PHASES: Final = {
    "decode": ("decode",),
    "prefill": ("prefill",),
    "serving": ("serving", "full load", "output token"),
    "first_token": ("first token",),
}
"""Band -> the phases that share it."""
SAME: Final = 10
"""How much a result on the same family of accelerators, or in the same engine, weighs in a band, against another."""
NEEDED: Final = 30
"""Results from which a group has a coverage of its own, and errors of fits that know its publisher count for it."""
HELD: Final = 0.82
"""Share of left-out errors that a band holds: a little more than four of five, as others come in groups of a kind."""


def quantile(values: Array, weights: Array, at: float) -> float:
    """A quantile of weighted values."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(reached, at)), len(values) - 1)])


class Errors:
    """What factor each result needs, as a logarithm, by what was left out."""

    def __init__(self, table: Table, held: Held, unknown: Array) -> None:
        self.table = table
        self.needed: dict[str, Array] = {
            way: np.log(factor_needed(limit_s=table.limit, expected_s=seconds, measured_s=table.measured))
            for way, seconds in {**held, "unknown": unknown}.items()
        }
        self.phase = np.array([band_of(phase) for phase in table.phases])
        pairs = np.char.add(np.char.add(table.publishers, " "), np.char.add(table.kinds, self.phase))
        _, inverse, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        self.weights: Array = counts[inverse].astype(np.float64) ** -0.5

    def factor(self, phase: str, *, kind: str, engine: str | None, without: Mask | None = None) -> float:
        """The factor of a band, as a logarithm.

        Results of the same family and engine weigh more. Where an engine was hardly measured on a family, only errors
        of fits that had not seen a publisher count, which are the larger ones; where it is not known, the fits had no
        word of it either.

        Args:
            phase: the band.
            kind: family of the accelerator.
            engine: as the results name it; None where it is not known.
            without: results that stay out of it.
        """
        table = self.table
        here = table.usable & (self.phase == phase)
        if without is not None:
            here &= ~without
        near = (table.kinds == kind) & (table.engines == engine)
        ways = ("unknown",) if engine is None else WAYS if (here & near).sum() >= NEEDED else ("publisher",)
        weights = self.weights * np.where(table.kinds == kind, SAME, 1) * np.where(table.engines == engine, SAME, 1)
        return quantile(
            np.concatenate([self.needed[way][here] for way in ways]), np.tile(weights[here], len(ways)), HELD
        )


def band_of(phase: str) -> str:
    """The band that a phase shares."""
    return next(name for name, phases in PHASES.items() if phase in phases)


def rounded(factor: float) -> tuple[float, float]:
    """The two factors of a band, one over the other, from the logarithm of the upper one."""
    return round(1 / exp(factor), 3), round(exp(factor), 2)


def covered(errors: Errors) -> Mapping[str, npt.NDArray[np.bool_]]:
    """By way, whether each result lies in the band that all results without its label give."""
    table = errors.table
    found = {}
    for way in WAYS:
        inside = np.zeros(len(table.results), bool)
        every = labels(table, way)
        cells = sorted(
            {*zip(every.tolist(), errors.phase.tolist(), table.kinds.tolist(), table.engines.tolist(), strict=True)}
        )
        for label, phase, kind, engine in cells:
            without = every == label
            here = without & (errors.phase == phase) & (table.kinds == kind) & (table.engines == engine)
            factor = errors.factor(phase, kind=kind, engine=engine, without=without)
            inside[here] = errors.needed[way][here] <= max(factor, log(1.01))
        found[way] = inside
    return found
