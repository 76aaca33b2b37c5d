"""The roofline of a scenario: the roof, and where prefill and decode stand under it."""

from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.physics import roofline
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies.learn.compute_vs_memory import ComputeVsMemory, PassNumbers
from inferdash.studies.numbers import show

_CURVE_POINTS: Final = 60
_NAMED_BATCHES: Final = (1, 4, 16, 64, 256)
"""Batches that are written beside the path of the decode."""
_APART: Final = 1.8
"""Labels closer than this factor would overlap on a phone."""


def rows(scenario: Scenario, result: ComputeVsMemory) -> dict[str, list[dict[str, Any]]]:
    """The roof, the prefill and the decode under it, and the path of the decode as the batch grows.

    Returns rows under "roof", "names" (labels along it), "path", "points" and "expected" (what the passes reach, with
    a band). Where no peak is known, the roof is the slope of the bandwidth alone.
    """
    machine = scenario.deployment
    ridge = result.ridge_flop_per_byte or np.inf

    def at(intensity: float) -> dict[str, Any]:
        height = roofline.attainable_flop_per_s(
            gpus=machine.gpus,
            peak=machine.peak or np.inf,
            bandwidth=machine.accelerator.bandwidth,
            intensity=intensity,
        )
        limit = "memory" if intensity < ridge else "compute"
        return {"intensity": intensity, "flop_per_s": float(height), "meaning": limit, "label": ""}

    largest = result.largest_batch
    path: list[dict[str, Any]] = []
    if largest:
        batches = np.unique(np.geomspace(1, largest, _CURVE_POINTS).round())
        batches = np.union1d(batches, [b for b in _NAMED_BATCHES if b < largest])
        passes = decode(machine, requests=batches, past=scenario.prompt)
        intensities = roofline.intensity_flop_per_byte(flops=passes.flops, bytes_read=passes.bytes_read)
        path = [at(x) | {"batch": int(b)} for b, x in zip(batches, np.asarray(intensities).tolist(), strict=True)]
    points = [
        at(float(roofline.intensity_flop_per_byte(flops=one.flops, bytes_read=one.bytes_read)))
        | {"pass": name, "label": f"{name}, {_time(one)}"}
        for name, one in (("Prefill", result.prefill), ("Decode", result.decode))
    ]
    reached = [
        {
            "intensity": point["intensity"],
            "pass": point["pass"],
            "flop_per_s": one.flops / estimate.expected,
            "low": one.flops / estimate.high,
            "high": one.flops / estimate.low,
        }
        for point, one, estimate in zip(
            points,
            (result.prefill, result.decode),
            (result.expected.prefill, result.expected.decode),
            strict=True,
        )
        if estimate.expected and estimate.low and estimate.high
    ]
    _name_batches(path, own=points[-1]["intensity"], ridge=ridge)
    along = [row["intensity"] for row in path + points]
    low, high = min(along) / 2, max(along) * 2
    roof, names = [at(low), at(high)], []
    if result.ridge_flop_per_byte is not None:
        low, high = min(low, ridge / 4), max(high, ridge * 8)
        roof = [at(low), at(ridge) | {"meaning": "memory"}, at(ridge), at(high)]
        peak = quantities.shown(roof[-1]["flop_per_s"], "FLOP/s")
        names = [
            at(ridge) | {"at": "ridge", "label": f"ridge at {quantities.shown(ridge, 'FLOP/B')}"},
            at(ridge) | {"at": "peak", "label": f"peak {peak}"},
        ]
    middle = (low * high) ** 0.5
    for point in points:
        on_the_slope = "right" if point["intensity"] < middle else "left"
        point["side"] = "below" if point["meaning"] == "compute" else on_the_slope
        bands = [row["low"] for row in reached if row["pass"] == point["pass"] and point["side"] == "below"]
        point["named_at"] = min([point["flop_per_s"], *bands])
    if points[0]["side"] == points[1]["side"] and points[0]["intensity"] < _APART**2 * points[1]["intensity"]:
        points[0]["side"] = "left"
    return {"roof": roof, "names": names, "path": path, "points": points, "expected": reached}


def _name_batches(path: list[dict[str, Any]], *, own: float, ridge: float) -> None:
    """Labels the largest batch and the chapter's below it, apart from each other, `own` and the ridge's name."""
    lowest = np.inf
    for row in reversed(path):
        named = row is path[-1] or row["batch"] in _NAMED_BATCHES
        here = row["intensity"]
        free = not ridge / _APART < here < ridge * _APART**2 and abs(np.log(here / own)) > np.log(_APART)
        if named and free and here * _APART <= lowest:
            row["label"] = f"batch {row['batch']:,}"
            lowest = here


def caption(scenario: Scenario, result: ComputeVsMemory) -> str:
    """How to read the roofline."""
    most = f"{quantities.count(result.largest_batch, 'request')} of {quantities.count(scenario.prompt, 'token')}"
    band = (
        f"The pale band is decode as the batch grows, up to the {most} that fit."
        if result.largest_batch
        else "No request fits in the memory."
    )
    if result.ridge_flop_per_byte is None:
        return f"The slope is the limit of memory bandwidth; the limit of compute is not known. {band}"
    return (
        f"Left of the ridge memory bandwidth is the limit, right of it compute. {band} The hollow marks show what "
        f"{scenario.program.name} is expected to reach, with its 80% band."
    )


def _time(one: PassNumbers) -> str:
    return f"at least {show(one.load_s, 's')}" if one.pass_s is None else show(one.pass_s, "s")
