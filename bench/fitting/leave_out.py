"""What fits expect of results when they have not seen their publisher, their family of models, or their accelerator."""

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bench.fitting.solve import Fit, Parts, Problem, expected, parts
from bench.fitting.table import Array, Mask, Table

WAYS: Final = ("publisher", "family", "system")
"""What is left out, one label after another: who measured, the model's family, the accelerator."""
Held: TypeAlias = dict[str, Array]
"""Way -> expected seconds of each result."""


def labels(table: Table, way: str) -> npt.NDArray[np.str_]:
    """What is left out with each result."""
    return {"publisher": table.publishers, "family": table.models, "system": table.systems}[way]


def fits(problem: Problem, way: str) -> Iterator[tuple[Mask, Fit]]:
    """Which results share a label, and the fit of all others, label after label."""
    table = problem.table
    every = labels(table, way)
    for label in np.unique(every):
        here = every == label
        yield here, problem.fit(table.usable & ~here)


def left_out(problem: Problem) -> tuple[Held, Array, Parts]:
    """Expected seconds by way; and, with publishers left out, those without word of the engine, and by part."""
    table = problem.table
    held = {way: np.zeros(len(table.results)) for way in WAYS}
    unknown = np.zeros(len(table.results))
    whole = Parts({term.name: np.zeros(len(table.results)) for term in table.terms}, np.zeros(len(table.results)))
    for way in WAYS:
        for here, fit in fits(problem, way):
            held[way][here] = expected(table, fit)[here]
            if way == "publisher":
                unknown[here] = expected(table, fit, engine_known=False)[here]
                found = parts(table, fit)
                whole.link[here] = found.link[here]
                for name, seconds in found.terms.items():
                    whole.terms[name][here] = seconds[here]
    return held, unknown, whole
