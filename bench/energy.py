"""What `make fit` prints of power: the curve of presets/power/ from presets/measured/energy.csv, and its errors.

Every error and the band are of results that the fit had not seen: each accelerator, each family of models, each task
and each smaller source is left out in turn. Watts are expected at the measured speed; joules of a token also at the
speed that is expected.

    python -m bench.energy            the curve, whether it is the shipped one, and the errors
    python -m bench.energy --write    the same, and writes presets/power/curve.toml
"""

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tomli_w

from inferdash import shipped
from inferdash.facts import library
from inferdash.facts.power import PowerCurve, power_curve
from inferdash.facts.precision import PRECISIONS
from inferdash.physics.deployment import deploy
from inferdash.physics.energy import watts, work
from inferdash.physics.expected import expected
from inferdash.physics.parallelism import EVEN, Layout
from inferdash.physics.passes import decode

Array = npt.NDArray[np.float64]
_HUBER: Final = 0.15
"""Error of a logarithm above which a result pulls no stronger."""
_START: Final = (0.15, 1.0, 2.0, 0.6)
"""Idle, memory, compute, exponent before the fit."""
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
    memory_share: Array
    """Share of the measured time in which memory would be busy at full bandwidth."""
    compute_share: Array
    watts: Array
    """Of one accelerator, over what its board draws at most."""
    expected_memory_share: Array
    """The same of the expected time of a pass that writes."""
    expected_compute_share: Array
    time_ratio: Array
    """Expected time of a pass over the measured one."""


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
    chip, gpus, tensor = library.accelerators()[row["accelerator"]], int(row["gpus"]), int(row["tensor"])
    experts = int(row["expert"])
    machine = deploy(
        library.models()[row["model"]],
        chip,
        gpus=gpus,
        weights=PRECISIONS[row["weights"]],
        cache=PRECISIONS["bf16"],
        layout=EVEN if gpus == 1 else Layout(even=False, tensor=tensor, data=gpus // tensor, expert=experts),
    )
    batch, past = float(row["batch"]), float(row["answer"]) / 2 if row["answer"] else _CONTEXT
    one = decode(machine, requests=batch, past=past)
    writing = expected(machine, library.engines()[row["engine"]], requests=batch, positions=1, past=past)
    if one.compute_s is None or writing is None or chip.power.board is None:
        raise ValueError(f"{row['accelerator']} has no peak or no power")
    seconds, expected_s = batch / float(row["tokens_per_s"]), float(writing.pass_s)
    load, compute = float(one.load_s), float(one.compute_s)
    return (
        min(1.0, load / seconds),
        min(1.0, compute / seconds),
        float(row["watts"]) / chip.power.board,
        min(1.0, load / expected_s),
        min(1.0, compute / expected_s),
        expected_s / seconds,
    )


def drawn(values: Array, memory_share: Array, compute_share: Array) -> Array:
    """Shares of the board's watts by the curve; `values` are its logarithms."""
    idle, memory, compute, exponent = np.exp(values)
    awake = work(
        memory=memory, memory_share=memory_share, compute=compute, compute_share=compute_share, exponent=exponent
    )
    found: Array = np.asarray(watts(board_w=1.0, idle=idle, work=awake))
    return found


def fit(table: Measured, seen: npt.NDArray[np.bool_]) -> Array:
    """Logarithms of the curve's numbers by damped Gauss-Newton steps; the loss is Huber's on logarithms."""
    memory, compute, target = table.memory_share[seen], table.compute_share[seen], np.log(table.watts[seen])

    def off(values: Array) -> Array:
        return np.log(drawn(values, memory, compute)) - target

    def loss(values: Array) -> float:
        far = np.abs(off(values))
        return float(
            np.where(far < _HUBER, far**2 / 2, _HUBER * (far - _HUBER / 2)).sum() + _pull(values) @ _pull(values) / 8
        )

    values: Array
    values, damping = np.log(np.array(_START)), 1e-2
    for _ in range(_STEPS):
        here = off(values)
        weight = np.where(np.abs(here) < _HUBER, 1.0, _HUBER / np.maximum(np.abs(here), 1e-12))
        slope = np.stack([(off(values + step) - here) / 1e-5 for step in np.eye(4) * 1e-5], axis=1)
        curved = slope.T @ (weight[:, None] * slope) + np.eye(4) / 4
        down = slope.T @ (weight * here) + _pull(values) / 4
        moved = values - np.linalg.solve(curved + damping * np.diag(np.diag(curved)), down)
        if loss(moved) < loss(values):
            values, damping = moved, damping / 3
        else:
            damping *= 4
    return values


def _pull(values: Array) -> Array:
    far: Array = values - np.log(np.array(_START))
    return far


def left_out(table: Measured, way: str) -> tuple[Array, Array]:
    """Watts over the measured ones, and joules of a token likewise, of fits that had not seen the label of a result."""
    labels: npt.NDArray[np.str_] = getattr(table, way)
    power, energy = np.zeros(len(labels)), np.zeros(len(labels))
    for label in np.unique(labels):
        here = labels == label
        values = fit(table, ~here)
        power[here] = drawn(values, table.memory_share, table.compute_share)[here] / table.watts[here]
        at_expected = drawn(values, table.expected_memory_share, table.expected_compute_share) * table.time_ratio
        energy[here] = (at_expected / table.watts)[here]
    return power, energy


def band(table: Measured, ratios: Array, seen: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """The outermost of the bands of the accelerators, as factors: of each, four of five results lie in its own."""
    edges = [
        np.quantile(1 / ratios[here], _BAND)
        for chip in np.unique(table.accelerator)
        if (here := seen & (table.accelerator == chip)).sum() >= _NEEDED
    ]
    return float(min(low for low, _ in edges)), float(max(high for _, high in edges))


def found() -> PowerCurve:
    """The curve with its band and its errors."""
    table = measured()
    every = table.watts > 0
    idle, memory, compute, exponent = (float(f"{value:.4g}") for value in np.exp(fit(table, every)))
    unseen = {way: left_out(table, way) for way in WAYS}
    low, high = (float(f"{edge:.3f}") for edge in band(table, unseen["accelerator"][0], every))
    held = [entry for way, ratios in unseen.items() for entry in _errors(table, way, ratios)]
    numbers = {"idle": idle, "memory": memory, "compute": compute, "exponent": exponent, "low": low, "high": high}
    return PowerCurve.model_validate({**numbers, "held": held})


def _errors(table: Measured, way: str, ratios: tuple[Array, Array]) -> Iterator[dict[str, Any]]:
    labels: npt.NDArray[np.str_] = getattr(table, way)
    for what, ratio in zip(("watts", "joules"), ratios, strict=True):
        inside = np.zeros(len(ratio), bool)
        for label in np.unique(labels):
            here = labels == label
            if way == "source" and here.sum() > len(here) / 2:
                continue  # what is left is too little to fit
            low, high = band(table, ratio, ~here)
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
    for name in ("idle", "memory", "compute", "exponent", "low", "high"):
        print(f"    {name:10} {getattr(curve, name):.4g}")
    print(f"{'':44}{'results':>8}{'median':>8}{'90%':>8}{'in band':>9}")
    for one in curve.held:
        name = f"{one.what}, without the {one.left_out}, {one.of}"
        print(f"{name:44}{one.results:8}{one.median:8.1%}{one.ninth:8.1%}{one.inside:9.1%}")
    if "--write" in sys.argv:
        (shipped("presets") / "power" / "curve.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
