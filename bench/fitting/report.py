"""What `make fit` prints of the errors, each of results that the fit had not seen."""

from collections.abc import Iterator, Mapping

import numpy as np

from bench.fitting.bands import NEEDED, PHASES, Errors
from bench.fitting.leave_out import WAYS, Held
from bench.fitting.table import Array, Mask, Table

EVERY = ("decode", "prefill", "serving", "full load", "output token", "first token")
KINDS = ("dense", "experts", "latent attention")
MANY = 50
BIASED = 0.12
IN_FLIGHT = {"1-4": (1, 7), "8-32": (8, 63), "64-256": (64, 511), "512 and more": (512, 1 << 30)}
"""Requests in flight, in classes that hold every number."""


def said(expected: Array, table: Table, chosen: Mask) -> str:
    """Median and 90th percentile of the absolute error, and the error at the median, in percent."""
    ratio = expected[chosen] / table.measured[chosen]
    off = 100 * np.abs(ratio - 1)
    return f"{np.median(off):5.1f} /{np.quantile(off, 0.9):5.1f} ({100 * (np.median(ratio) - 1):+.0f})"


def report(table: Table, held: Held, inside: Mapping[str, Mask], errors: Errors, seen: Array) -> Iterator[str]:
    """Errors and coverage of groups, by what was left out."""

    def line(name: str, chosen: Mask) -> Iterator[str]:
        if chosen.sum() >= NEEDED:
            cells = [f"{said(held[way], table, chosen)} {100 * inside[way][chosen].mean():3.0f}" for way in WAYS]
            cells += [said(seen, table, chosen), said(table.limit, table, chosen)]
            yield f"{name:44}{chosen.sum():6,}  " + "  ".join(cells)

    heads = (*(f"without its {way}" for way in WAYS), "in the fit", "limit")
    yield f"{'':52}" + "  ".join(f"{head:26}"[:26] for head in heads)
    yield "Error in percent: median / 90th percentile (at the median), and how many lie in the 80% band"
    usable = table.usable
    for phase in EVERY:
        yield from line(phase, usable & (table.phases == phase))
    yield from line("what stays apart, serving", ~usable & (table.phases == "serving"))
    yield ""
    for band in PHASES:
        for engine in np.unique(table.engines).tolist():
            yield from line(f"{band}, {engine}", usable & (errors.phase == band) & (table.engines == engine))
        for kind in np.unique(table.kinds).tolist():
            yield from line(f"{band}, {kind}", usable & (errors.phase == band) & (table.kinds == kind))
    yield ""
    biased: list[str] = []
    kinds = np.array([one.kind_of_model for one in table.results])
    for kind in KINDS:
        for name, (low, high) in IN_FLIGHT.items():
            for phase in ("serving", "output token", "first token"):
                here = usable & (kinds == kind) & (table.batches >= low) & (table.batches <= high)
                here &= table.phases == phase
                yield from line(f"{phase}, {kind}, {name} in flight", here)
                if here.sum() >= MANY:
                    off = {way: float(np.median(held[way][here] / table.measured[here])) - 1 for way in WAYS}
                    far = [f"{off[way]:+.0%} without its {way}" for way in WAYS if abs(off[way]) > BIASED]
                    biased += [f"{phase}, {kind}, {name} in flight ({here.sum()}): {', '.join(far)}"] if far else []
    yield ""
    yield f"Groups of {MANY} or more that are off by more than {BIASED:.0%} at the median: {len(biased)}"
    yield from biased
    yield ""
    for model in np.unique(table.models[table.phases == "output token"]).tolist():
        for phase in ("output token", "first token"):
            yield from line(f"{phase}, {model}", usable & (table.models == model) & (table.phases == phase))
