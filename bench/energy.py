"""What `make fit` prints of power: the curve of presets/power/ from presets/measured/energy.csv, and its errors.

Every error and the bands are of results that the fit had not seen: each accelerator, each family of models, each task
and each smaller source is left out in turn. Watts are expected at the measured speed; joules of a token at the speed
that is expected in service, whose numbers are fitted to the same results and with the same ones left out.

    python -m bench.energy            the curve, whether it is the shipped one, and the errors
    python -m bench.energy --write    the same, and writes presets/power/curve.toml
"""

import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tomli_w

from inferdash import shipped
from inferdash.facts import library
from inferdash.facts.machines.power import PowerCurve, power_curve
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import deploy
from inferdash.physics.fitted.energy import served_s, watts, work
from inferdash.physics.fitted.expected import expected
from inferdash.physics.parallelism import EVEN
from inferdash.physics.passes import decode
from inferdash.physics.under_load.served import shared_layout

Array = npt.NDArray[np.float64]
_HUBER: Final = 0.15
"""Error of a logarithm above which a result pulls no stronger."""
_START: Final = (0.15, 1.0, 2.0, 0.6)
"""Idle, memory, compute, exponent before the fit."""
_PACE_START: Final = (1.1, 2e-5, 0.2)
"""Pace, seconds of a request, divided experts before the fit."""
_STEPS: Final = 60
_BAND: Final = (0.1, 0.9)
_CONTEXT: Final = 512.0
"""Tokens of context where no answers are told: those that the task names."""
_NEEDED: Final = 20
"""Results of an accelerator that make a band."""
WAYS: Final = ("accelerator", "family", "task", "source")
"""What is left out, one label after another."""


@dataclass(frozen=True)
class Measured:
    """The results that are used, one an entry."""

    accelerator: npt.NDArray[np.str_]
    family: npt.NDArray[np.str_]
    task: npt.NDArray[np.str_]
    source: npt.NDArray[np.str_]
    load_s: Array
    """Of a pass that writes, at full bandwidth."""
    compute_s: Array
    """At the full peak."""
    expected_s: Array
    """As the engine is expected to take."""
    measured_s: Array
    """From one token of a request to the next, on average over all."""
    requests: Array
    divided: Array
    """1 where experts are divided over accelerators, otherwise 0."""
    watts: Array
    """Of one accelerator, over what its board draws at most."""


def measured() -> Measured:
    """The results of presets/measured/energy.csv that are used, with what their passes have to do."""
    text = (shipped("presets") / "measured" / "energy.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["used"] == "1"]
    columns = list(zip(*(_one(row) for row in rows), strict=True))
    names = {name: np.array([row[name] for row in rows]) for name in ("accelerator", "model", "task", "origin")}
    families = np.array([name.partition("-")[0].rstrip("0123456789.") for name in names["model"].tolist()])
    labels = (names["accelerator"], families, names["task"], names["origin"])
    return Measured(*labels, *(np.array(column) for column in columns))


def _one(row: dict[str, str]) -> tuple[float, ...]:
    chip, gpus, expert = library.accelerators()[row["accelerator"]], int(row["gpus"]), int(row["expert"])
    # Its start commands divide the matrices over all GPUs, and the experts beside; its tables name the latter alone.
    machine = deploy(
        library.models()[row["model"]],
        chip,
        gpus=gpus,
        weights=PRECISIONS[row["weights"]],
        cache=PRECISIONS["bf16"],
        layout=EVEN if gpus == 1 else shared_layout(tensor=gpus, pipeline=1, data=1, expert=expert),
    )
    batch, past = float(row["batch"]), float(row["answer"]) / 2 if row["answer"] else _CONTEXT
    one = decode(machine, requests=batch, past=past)
    writing = expected(machine, library.engines()[row["engine"]], requests=batch, positions=1, past=past)
    if one.compute_s is None or writing is None or chip.power.board is None:
        raise ValueError(f"{row['accelerator']} has no peak or no power")
    return (
        float(one.load_s),
        float(one.compute_s),
        float(writing.pass_s),
        batch / float(row["tokens_per_s"]),
        batch,
        float(expert > 1),
        float(row["watts"]) / chip.power.board,
    )


def drawn(values: Array, table: Measured, seconds: Array) -> Array:
    """Shares of the board's watts by the curve where passes take so long; `values` are its logarithms."""
    idle, memory, compute, exponent = np.exp(values)
    awake = work(
        memory=memory,
        memory_share=np.minimum(1, table.load_s / seconds),
        compute=compute,
        compute_share=np.minimum(1, table.compute_s / seconds),
        exponent=exponent,
    )
    found: Array = np.asarray(watts(board_w=1.0, idle=idle, work=awake))
    return found


def served(values: Array, table: Measured) -> Array:
    """Seconds from token to token in service; `values` are the logarithms of its numbers."""
    pace, request_s, divided = np.exp(values)
    found: Array = np.asarray(
        served_s(
            pass_s=table.expected_s,
            pace=pace,
            requests=table.requests,
            request_s=request_s,
            divided=divided * table.divided,
        )
    )
    return found


def fit(table: Measured, seen: npt.NDArray[np.bool_]) -> Array:
    """Logarithms of the numbers of the curve."""
    return _least(lambda values: np.log(drawn(values, table, table.measured_s) / table.watts)[seen], _START)


def fit_served(table: Measured, seen: npt.NDArray[np.bool_]) -> Array:
    """Logarithms of the numbers of a served pass."""
    return _least(lambda values: np.log(served(values, table) / table.measured_s)[seen], _PACE_START)


def _least(off: Callable[[Array], Array], start: tuple[float, ...]) -> Array:
    """Logarithms of the numbers of the least errors of logarithms, by damped Gauss-Newton steps with Huber's loss."""
    origin = np.log(np.array(start))

    def loss(values: Array) -> float:
        far, pull = np.abs(off(values)), values - origin
        return float(np.where(far < _HUBER, far**2 / 2, _HUBER * (far - _HUBER / 2)).sum() + pull @ pull / 8)

    values: Array
    values, damping = origin, 1e-2
    for _ in range(_STEPS):
        here = off(values)
        weight = np.where(np.abs(here) < _HUBER, 1.0, _HUBER / np.maximum(np.abs(here), 1e-12))
        slope = np.stack([(off(values + step) - here) / 1e-5 for step in np.eye(len(start)) * 1e-5], axis=1)
        curved = slope.T @ (weight[:, None] * slope) + np.eye(len(start)) / 4
        down = slope.T @ (weight * here) + (values - origin) / 4
        moved = values - np.linalg.solve(curved + damping * np.diag(np.diag(curved)), down)
        if loss(moved) < loss(values):
            values, damping = moved, damping / 3
        else:
            damping *= 4
    return values


def left_out(table: Measured, way: str) -> tuple[Array, Array]:
    """Watts over the measured ones, and joules of a token likewise, of fits that had not seen the label of a result."""
    labels: npt.NDArray[np.str_] = getattr(table, way)
    power, energy = np.zeros(len(labels)), np.zeros(len(labels))
    for label in np.unique(labels):
        here = labels == label
        values, seconds = fit(table, ~here), served(fit_served(table, ~here), table)
        power[here] = (drawn(values, table, table.measured_s) / table.watts)[here]
        energy[here] = (drawn(values, table, seconds) * seconds / table.measured_s / table.watts)[here]
    return power, energy


def band(table: Measured, ratios: Array, seen: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """The outermost of the bands of the accelerators, as factors: of each, 80% of the results lie in its own."""
    edges = [
        np.quantile(1 / ratios[here], _BAND)
        for chip in np.unique(table.accelerator)
        if (here := seen & (table.accelerator == chip)).sum() >= _NEEDED
    ]
    return float(min(low for low, _ in edges)), float(max(high for _, high in edges))


def either_way(edges: tuple[float, float]) -> tuple[float, float]:
    """The band of an accelerator of which nothing was measured: nobody knows on which side of the others it lies."""
    most = max(edges[1], 1 / edges[0])
    return 1 / most, most


def found() -> PowerCurve:
    """The curve with its bands and its errors."""
    table = measured()
    every = table.watts > 0
    numbers = [*np.exp(fit(table, every)), *np.exp(fit_served(table, every))]
    names = ("idle", "memory", "compute", "exponent", "pace", "request_s", "divided")
    unseen = {way: left_out(table, way) for way in WAYS}
    edges = [band(table, ratios, every) for ratios in unseen["accelerator"]]
    edges += [either_way(one) for one in edges]
    bands = ("watts_band", "joules_band", "unmeasured_watts_band", "unmeasured_joules_band")
    held = [entry for way, ratios in unseen.items() for entry in _errors(table, way, ratios)]
    return PowerCurve.model_validate(
        {
            **{name: float(f"{value:.4g}") for name, value in zip(names, numbers, strict=True)},
            **{name: tuple(float(f"{edge:.3f}") for edge in pair) for name, pair in zip(bands, edges, strict=True)},
            "measured": tuple(np.unique(table.accelerator).tolist()),
            "held": held,
        }
    )


def _errors(table: Measured, way: str, ratios: tuple[Array, Array]) -> Iterator[dict[str, Any]]:
    labels: npt.NDArray[np.str_] = getattr(table, way)
    for what, ratio in zip(("watts", "joules"), ratios, strict=True):
        inside = np.zeros(len(ratio), bool)
        for label in np.unique(labels):
            here = labels == label
            if way == "source" and here.sum() > len(here) / 2:
                continue  # what is left is too little to fit
            edges = band(table, ratio, ~here)
            low, high = either_way(edges) if way == "accelerator" else edges
            inside[here] = (1 / ratio[here] >= low) & (1 / ratio[here] <= high)
        for chip in ("all", *np.unique(table.accelerator).tolist()):
            here = np.ones(len(ratio), bool) if chip == "all" else table.accelerator == chip
            if way == "source":
                here &= table.source != "mlenergy-v3"
            if here.any() and (chip != "all" or way != "source"):
                off = np.abs(ratio[here] - 1)
                yield {
                    "left_out": way,
                    "of": chip,
                    "what": what,
                    "results": int(here.sum()),
                    "median": float(f"{np.median(off):.3f}"),
                    "ninth": float(f"{np.quantile(off, 0.9):.3f}"),
                    "inside": float(f"{inside[here].mean():.3f}"),
                }


def main() -> None:
    """Prints the curve and its errors."""
    curve = found()
    text = tomli_w.dumps(curve.model_dump())
    print(f"Power: {'the shipped curve' if curve == power_curve() else 'NOT the shipped curve'}")
    for name, value in curve.model_dump(exclude={"held"}).items():
        print(f"    {name:12} {value}")
    print(f"{'':44}{'results':>8}{'median':>8}{'90%':>8}{'in band':>9}")
    for one in curve.held:
        name = f"{one.what}, without the {one.left_out}, {one.of}"
        print(f"{name:44}{one.results:8}{one.median:8.1%}{one.ninth:8.1%}{one.inside:9.1%}")
    if "--write" in sys.argv:
        (shipped("presets") / "power" / "curve.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
