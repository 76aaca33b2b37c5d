"""What `make fit` prints: the parameters of presets/engines/ from the points of presets/measured/, and their errors.

Every error and every band is of publishers that the fit did not see: each publisher is left out in turn. The fit is of
the logarithm of the time, with Huber's loss, so that one wrong number moves little; what is apart from the common value
(a family, an engine) is drawn to it by a penalty, so that few measurements say little.

    python -m bench.fit            the parameters, whether they are the shipped ones, and the errors
    python -m bench.fit --write    the same, and writes presets/engines/
"""

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from math import exp, log
from typing import Any, Final, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import tomli_w

from bench import calibration
from bench.calibration import Times
from inferdash import quantities, shipped
from inferdash.facts.accelerator import Family
from inferdash.facts.engine import Engine
from inferdash.facts.library import engines
from inferdash.physics.expected import attention_part, factor_needed, vectors_s
from inferdash.physics.parallelism import ACTIVATION_BYTES
from inferdash.physics.published import SERVED, Point, points

Array: TypeAlias = npt.NDArray[np.float64]
FITTED: Final = date(2026, 11, 29)
HUBER: Final = 0.15
"""Error of a logarithm above which a point pulls no stronger."""
STACKED: Final = ("nvidia-datacenter", "amd-datacenter", "other-datacenter")
"""Families whose memory is stacked beside the chip: several times the bytes a second for each of its processors."""
SHORT_SUMS: Final = 2
"""Times the peak of GeForce where sums stay at 16 bits, as llama.cpp has them; the datasheets count sums at 32."""
SAME_FAMILY: Final = 5
"""How much a measurement on the same family weighs in a band, against one on another."""
ENGINES: Final = {
    "vllm": ("vLLM", "vLLM project", "vLLM", ""),
    "sglang": ("SGLang", "SGLang project", "SGLang", ""),
    "tensorrt-llm": ("TensorRT-LLM", "NVIDIA", "TensorRT-LLM", ""),
    "llama.cpp": ("llama.cpp", "ggml-org", "llama.cpp", "Ollama runs it too."),
    "mlx": ("MLX", "Apple", "MLX", "No measurement of it was at hand: what all engines have in common."),
    "exllama": ("ExLlama", "turboderp", "ExLlama", "Nine measurements, of 2023, all of a decode."),
    "unknown": ("Any engine", "", "", "What all engines have in common, with wider bands."),
}
"""Id -> name, maker, name in the points, a note."""
NEEDED: Final = 30
"""Points from which a group has a coverage of its own, or an engine more than low confidence."""


def apart(point: Point) -> bool:
    """Whether a result stays out of the fit: published as doubtful, or far from all others of its engine.

    Of the first half of 2024 at one publisher, vLLM on the MI300X took 2 to 15 times as long as the limit and as later
    engines there, and llama.cpp took 2 to 3 times as long as elsewhere on the same accelerators.
    """
    return point.publisher == "argonne" and (point.row["accelerator"] == "MI300X" or point.row["engine"] == "llama.cpp")


def doubtful(point: Point) -> bool:
    """Whether its note says that it cannot be what it says."""
    return point.row["used"] != "1" or "faster than roofline" in point.row["note"]


@dataclass(frozen=True)
class Term:
    """A part of the time: what it multiplies, and what its factor depends on."""

    name: str
    amount: Array
    start: float
    hold: float
    """Of the common factor to its start."""
    share: bool = False
    """Whether the factor is 1 over a share, at least 1."""
    groups: tuple[tuple[Sequence[str], float], ...] = ()
    """A label a point, and how strongly the labels are held together."""
    common: Array | float | None = None
    """The amount where the engine is not known; None where it is the same."""


@dataclass(frozen=True)
class Fit:
    """Factors by term: the common one, and those of labels on it, as logarithms."""

    values: dict[str, dict[str, float]]

    def factor(self, term: str, *labels: str) -> float:
        """The factor of a term, or of a share what it adds to 1."""
        own = self.values[term]
        return exp(own[""] + sum(own.get(label, 0.0) for label in labels if label))


class Table:
    """The points as amounts, one array a term."""

    def __init__(self, chosen: Sequence[Point]) -> None:
        self.points = chosen
        self.measured = np.array([point.measured_s for point in chosen])
        rows = np.array([_amounts(point) for point in chosen])
        load, matrix, attention, layers, vectors, exchanges, gaps, self.link, self.limit = rows.T
        self.publishers = np.array([point.publisher for point in chosen])
        self.phases = np.array([_phase(point) for point in chosen])
        self.families = np.array([point.kind for point in chosen])
        self.engines = np.array([point.row["engine"] for point in chosen])
        llama = self.engines == "llama.cpp"
        slowed = llama & np.isin(self.families, STACKED)
        doubled = np.where(llama & (self.families == "geforce"), SHORT_SUMS, 1)
        bandwidths = np.array([point.machine.accelerator.bandwidth for point in chosen])
        peaks = np.array([point.machine.peak or 0.0 for point in chosen])
        served = np.isin(self.publishers, SERVED) & (self.phases != "decode")
        experts = ["experts" if point.machine.parameters.mixture else "" for point in chosen]
        apple = ["apple" if family == "apple" else "" for family in self.families]
        amd = [_amd(family) for family in self.families]
        family, engine = list(self.families), list(self.engines)
        self.terms = (
            Term("load", load, 0.25, 1, share=True, groups=((family, 0.5), (experts, 3))),
            Term("load-ceiling", load * bandwidths / 1e12 * slowed, 0.25, 2, common=0),
            Term("matrix", matrix / doubled, 0.9, 1, share=True, groups=((family, 2),), common=matrix),
            Term("matrix-ceiling", matrix * peaks / 1e14 * llama, 0.7, 2, common=0),
            Term("attention", attention, 2, 1, share=True),
            Term("layer", layers, 70e-6, 3, groups=((engine, 300), (experts, 8), (apple, 8))),
            Term("vectors", vectors, 10, 3),
            Term("exchange", exchanges, 10e-6, 10, groups=((amd, 3),)),
            Term("stage", gaps, 0.2e-3, 3),
            Term("server", served.astype(float), 30e-3, 3, groups=((engine, 8),)),
        )
        sizes = {key: int(n) for key, n in zip(*np.unique(self.groups, return_counts=True), strict=True)}
        self.weights = np.array([sizes[group] ** -0.5 for group in self.groups])
        self.weights *= len(chosen) / self.weights.sum()

    @property
    def groups(self) -> list[str]:
        """Publisher and phase of each point: each group weighs as the root of its size."""
        return [f"{who} {phase}" for who, phase in zip(self.publishers, self.phases, strict=True)]

    def parts(self, fit: Fit, *, engine_known: bool = True) -> Array:
        """Seconds of each part of each point, one row a term."""
        rows = []
        for term in self.terms:
            own = fit.values[term.name]
            known = term.groups if engine_known else tuple(g for g in term.groups if g[0] != list(self.engines))
            logs = np.full(len(self.points), own[""])
            for labels, _ in known:
                logs += [own.get(label, 0.0) if label else 0.0 for label in labels]
            amount = term.amount if engine_known or term.common is None else term.common
            rows.append(amount * (np.exp(logs) + term.share))
        return np.array(rows)

    def expected(self, fit: Fit, *, engine_known: bool = True) -> Array:
        """Expected seconds of each point."""
        total: Array = np.maximum(self.parts(fit, engine_known=engine_known).sum(axis=0) + self.link, self.limit)
        return total


def _phase(point: Point) -> str:
    if point.row["phase"] != "e2e":
        return point.row["phase"]
    return "full load" if point.row["batch_from"].startswith("derived") else "serving"


def _amd(family: str) -> str:
    return "amd" if family in {"amd-datacenter", "amd-unified", "radeon"} else ""


def _amounts(point: Point) -> Array:
    """Of all passes of a point: seconds of loading, of arithmetic, layers, vectors, exchanges, gaps, link, limit."""
    machine = point.machine
    shape, layout = machine.architecture, machine.layout
    total = np.zeros(9)
    for count, positions, one in point.passes:
        part = float(
            attention_part(
                matrix_flops=one.matrix_flops,
                peak=machine.peak or 1,
                attention_flops=one.attention_flops,
                attention_peak=machine.attention_peak or 1,
            )
        )
        compute = float(one.compute_s or 0)
        vectors = vectors_s(
            trips=1,
            layers=shape.layers,
            positions=positions,
            hidden=shape.hidden,
            bytes_per_number=ACTIVATION_BYTES,
            bandwidth=machine.accelerator.bandwidth,
        )
        total += count * np.array(
            [
                one.load_s,
                compute * (1 - part),
                compute * part,
                shape.layers,
                vectors,
                2 * shape.layers if layout.tensor > 1 else 0,
                layout.pipeline - 1,
                one.link_s or 0,
                one.pass_s,
            ],
            dtype=float,
        )
    return total


def fitted(table: Table, chosen: npt.NDArray[np.bool_]) -> Fit:
    """The factors that fit the chosen points, by damped Gauss-Newton steps on logarithms."""
    columns: list[Array] = []
    names: list[tuple[str, str]] = []
    hold, start, owner = [], [], []
    for index, term in enumerate(table.terms):
        levels: list[tuple[str, Array, float]] = [("", np.ones(len(table.points)), term.hold)]
        for labels, strength in term.groups:
            levels += [
                (x, np.array([label == x for label in labels], float), strength) for x in sorted({*labels} - {""})
            ]
        for label, column, strength in levels:
            names.append((term.name, label))
            columns.append(column[chosen])
            hold.append(strength)
            start.append(log(term.start) if not label else 0.0)
            owner.append(index)
    x, held, first = np.array(columns), np.array(hold), np.array(start)
    of = np.array(owner)
    amounts = np.array([term.amount[chosen] for term in table.terms])
    shares = np.array([term.share for term in table.terms], float)[:, None]
    link, y = table.link[chosen], np.log(table.measured[chosen])
    weights = table.weights[chosen]

    def movable(theta: Array) -> Array:
        logs = np.array([theta[of == index] @ x[of == index] for index in range(len(table.terms))])
        moved: Array = amounts * np.exp(np.clip(logs, -25, 12))
        return moved

    def loss(theta: Array) -> tuple[float, Array, Array]:
        moved = movable(theta)
        total = (moved + amounts * shares).sum(axis=0) + link
        error = np.log(total) - y
        size = np.abs(error)
        each = np.where(size < HUBER, size**2 / (2 * HUBER), size - HUBER / 2)
        return float(weights @ each + held @ (theta - first) ** 2 / 2), error, moved / total

    theta, damping = first.copy(), 1e-3
    current, error, parts = loss(theta)
    for _ in range(60):
        jacobian = x * parts[of]
        pull = weights / np.maximum(np.abs(error), HUBER)
        curvature = (jacobian * pull) @ jacobian.T + np.diag(held)
        slope = jacobian @ (pull * error) + held * (theta - first)
        while damping < 1e8:
            step = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), slope)
            there, new_error, new_parts = loss(theta - step)
            if there <= current:
                break
            damping *= 4
        else:
            break
        done = current - there < 1e-9 * current
        theta, current, error, parts, damping = theta - step, there, new_error, new_parts, damping / 6
        if done:
            break
    values: dict[str, dict[str, float]] = {}
    for (term_name, label), value in zip(names, theta, strict=True):
        values.setdefault(term_name, {})[label] = float(value)
    return Fit(values)


def table_of_points() -> tuple[Table, npt.NDArray[np.bool_]]:
    """All points without those that cannot be what they say, and which of them a fit may use."""
    table = Table([point for point in points() if not doubtful(point)])
    return table, np.array([not apart(point) for point in table.points])


def left_out(table: Table, usable: npt.NDArray[np.bool_], *, engine_known: bool = True) -> Array:
    """Expected seconds of each point from a fit that did not see its publisher."""
    parts = left_out_parts(table, usable, engine_known=engine_known)
    expected: Array = np.maximum(parts.sum(axis=0) + table.link, table.limit)
    return expected


def left_out_parts(table: Table, usable: npt.NDArray[np.bool_], *, engine_known: bool = True) -> Array:
    """The same by part, one row a term, without the link."""
    parts = np.zeros((len(table.terms), len(table.points)))
    for publisher in np.unique(table.publishers):
        here = table.publishers == publisher
        fit = fitted(table, usable & ~here)
        parts[:, here] = table.parts(fit, engine_known=engine_known)[:, here]
    return parts


def left_out_times(table: Table, usable: npt.NDArray[np.bool_]) -> Times:
    """What `bench.calibration` works on: the usable points, and of all of them the times in parts."""
    terms = dict(zip([term.name for term in table.terms], left_out_parts(table, usable), strict=True))
    places = np.flatnonzero(usable).tolist()
    shares = [{term.name: term.amount for term in table.terms if term.share}, terms]
    with np.errstate(invalid="ignore"):
        load, matrix, attention = (shares[0][name] / shares[1][name] for name in ("load", "matrix", "attention"))
    least = np.array([load, np.fmax(matrix, attention)])
    return Times(table.points, places, calibration.parts(terms), table.link, table.limit, table.measured, least)


def two_left_out(table: Table, usable: npt.NDArray[np.bool_]) -> dict[str, Array]:
    """By publisher, expected seconds of the points of all others from fits that saw neither it nor theirs.

    Its own points stand at their limit and say nothing.
    """
    names = [str(name) for name in np.unique(table.publishers)]
    expected = {name: table.limit.copy() for name in names}
    for pair in combinations(names, 2):
        seconds = table.expected(fitted(table, usable & ~np.isin(table.publishers, pair)))
        for name, other in (pair, pair[::-1]):
            here = table.publishers == other
            expected[name][here] = seconds[here]
    return expected


def quantile(values: Array, weights: Array, at: float) -> float:
    """A quantile of weighted values."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(reached, at)), len(values) - 1)])


def factors_needed(table: Table, expected: Array) -> Array:
    """The logarithm of the factor that a band would need to reach each point."""
    needed: Array = np.log(factor_needed(limit_s=table.limit, expected_s=expected, measured_s=table.measured))
    return needed


def band(table: Table, needed: Array, family: str, chosen: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """The factors of a family's band, one over the other: 80% of the weighted errors of the chosen points lie within.

    Each publisher's points on a family weigh as the root of their number, and those on the same family weigh more.
    A family that nobody measured has the band of all.
    """
    groups = np.array([f"{who} {kind}" for who, kind in zip(table.publishers, table.families, strict=True)])
    sizes = {group: float(n) for group, n in zip(*np.unique(groups[chosen], return_counts=True), strict=True)}
    weights = np.array([sizes[group] ** -0.5 for group in groups[chosen]])
    weights *= np.where(table.families[chosen] == family, SAME_FAMILY, 1)
    factor = exp(quantile(needed[chosen], weights, 0.8))
    return round(1 / factor, 3), round(factor, 2)


def band_phases(table: Table) -> npt.NDArray[np.str_]:
    """The phase of each point whose band it shares."""
    return np.where(table.phases == "full load", "serving", table.phases)


def three(value: float) -> float:
    """A number with three significant digits, as it is shipped."""
    return float(f"{value:.3g}")


def shipped_form(table: Table, usable: npt.NDArray[np.bool_]) -> dict[str, dict[str, Any]]:
    """Id -> engine as its preset file says it."""
    fit = fitted(table, usable)
    needed = {known: factors_needed(table, left_out(table, usable, engine_known=known)) for known in (True, False)}
    phases = band_phases(table)

    def seconds(value: float) -> str:
        return quantities.written(three(value), "s").replace("µ", "u")

    bands = {
        (known, family): {
            phase: band(table, needed[known], family, usable & (phases == phase))
            for phase in ("decode", "prefill", "serving")
        }
        for known in (True, False)
        for family in get_args(Family)
    }

    times = left_out_times(table, usable)
    written = {}
    for key, (name, maker, label, note) in ENGINES.items():
        own = int((table.engines == label).sum()) if label else 0
        llama = key == "llama.cpp"
        bandwidth_ceiling = {"bandwidth_ceiling": f"{three(1 / fit.factor('load-ceiling')):g} TB/s"}
        arithmetic_ceiling = {"arithmetic_ceiling": f"{three(100 / fit.factor('matrix-ceiling')):g} TFLOP/s"}
        written[key] = {
            "name": name,
            "maker": maker,
            "source": [
                f"python -m bench.fit: {usable.sum():,} measurements of presets/measured/, {own:,} of this engine"
            ],
            "checked": FITTED,
            "confidence": "medium" if own >= NEEDED else "low",
            **({"note": note} if note else {}),
            **(arithmetic_ceiling if llama else {}),
            "attention_share": three(1 / (1 + fit.factor("attention"))),
            "vector_trips": three(fit.factor("vectors")),
            "experts_loading": three(exp(fit.values["load"]["experts"])),
            "experts_factor": three(exp(fit.values["layer"]["experts"])),
            "stage": seconds(fit.factor("stage")),
            "server": seconds(fit.factor("server", label)),
            **({"chunk": 512} if llama else {}),
            "calibrated_once": calibration.bands(times, given=1),
            "calibrated_twice": calibration.bands(times, given=2),
            "reach": {
                family: {
                    "bandwidth_share": three(1 / (1 + fit.factor("load", family))),
                    **(bandwidth_ceiling if llama and family in STACKED else {}),
                    "arithmetic_share": three(1 / (1 + fit.factor("matrix", family))),
                    **({"peak_factor": SHORT_SUMS} if llama and family == "geforce" else {}),
                    "layer": seconds(fit.factor("layer", label, family)),
                    "exchange": seconds(fit.factor("exchange", _amd(family))),
                    "bands": bands[key != "unknown", family],
                }
                for family in get_args(Family)
            },
        }
    return written


def errors(expected: Array, table: Table, chosen: npt.NDArray[np.bool_]) -> str:
    """Median and 90th percentile of the absolute error, in percent."""
    error = 100 * np.abs(expected[chosen] / table.measured[chosen] - 1)
    return f"{np.median(error):5.1f} / {np.quantile(error, 0.9):5.1f}"


def covered(table: Table, usable: npt.NDArray[np.bool_], held: Array) -> npt.NDArray[np.bool_]:
    """Whether each point lies in the band that the other publishers give without any word of its own.

    Their errors, from which the band comes, are of fits that saw neither them nor the publisher of the point.
    """
    phases, mine = band_phases(table), factors_needed(table, held)
    inside = np.zeros(len(mine), bool)
    for publisher, expected in two_left_out(table, usable).items():
        theirs = table.publishers == publisher
        needed = factors_needed(table, expected)
        for phase, family in {(phases[n], table.families[n]) for n in np.flatnonzero(theirs)}:
            _, high = band(table, needed, family, usable & (phases == phase) & ~theirs)
            here = theirs & (phases == phase) & (table.families == family)
            inside[here] = mine[here] <= log(high)
    return inside


PREDICTED: Final = ("point", "publisher", "phase", "class", "apart", "bytes", "limit_s", "expected_s", "inside")
"""Columns of presets/measured/predicted.csv."""


def predicted(table: Table, usable: npt.NDArray[np.bool_]) -> list[tuple[str, ...]]:
    """What was expected of each point by the fit that did not see its publisher: its row in points.csv comes first."""
    held = left_out(table, usable)
    inside = covered(table, usable, held)
    places = {id(point): place for place, point in enumerate(points(), 1)}
    return [
        (
            str(places[id(point)]),
            point.publisher,
            str(table.phases[n]),
            point.kind,
            str(int(not usable[n])),
            f"{point.machine.stored_bytes:.4g}",
            f"{table.limit[n]:.4g}",
            f"{held[n]:.4g}",
            str(int(inside[n])),
        )
        for n, point in enumerate(table.points)
    ]


def report(table: Table, usable: npt.NDArray[np.bool_]) -> Iterator[str]:
    """Errors and coverage, each of publishers left out."""
    held, seen = left_out(table, usable), table.expected(fitted(table, usable))
    yield "Error, median / 90th percentile, %      points    left out        in the fit       plain roofline"
    rows: list[tuple[str, npt.NDArray[np.bool_]]] = [
        (phase, usable & (table.phases == phase)) for phase in ("decode", "prefill", "serving", "full load")
    ]
    rows.append(
        ("prefill, not through a server", usable & (table.phases == "prefill") & ~np.isin(table.publishers, SERVED))
    )
    rows += [
        ("serving, with what stays apart", table.phases == "serving"),
        ("serving, what stays apart alone", ~usable & (table.phases == "serving")),
    ]
    for name, chosen in rows:
        cells = [errors(one, table, chosen) for one in (held, seen, table.limit)]
        yield f"{name:38}{chosen.sum():8,}   {'   '.join(cells)}"
    yield ""
    yield "Left out, by publisher"
    for group in sorted(set(table.groups)):
        chosen = usable & (np.array(table.groups) == group)
        if chosen.any():
            yield f"{group:38}{chosen.sum():8,}   {errors(held, table, chosen)}   {errors(seen, table, chosen)}"
    yield ""
    yield "Inside the 80% band, %: fit and band without the publisher, band from errors of fits without two"
    phases, inside = band_phases(table), covered(table, usable, held)
    for phase in ("decode", "prefill", "serving"):
        for family in ("", *np.unique(table.families)):
            chosen = usable & (phases == phase) & ((table.families == family) | (family == ""))
            if chosen.sum() >= NEEDED:
                yield f"{phase + ' ' + (family or '(all)'):38}{chosen.sum():8,}   {100 * inside[chosen].mean():5.1f}"
    everything = phases == "serving"
    yield f"{'serving, with what stays apart':38}{everything.sum():8,}   {100 * inside[everything].mean():5.1f}"
    yield ""
    yield from calibration.table(left_out_times(table, usable))


def numbers(value: Any, name: str = "") -> dict[str, Any]:
    """What an engine says, by the path to it."""
    if isinstance(value, dict):
        return {path: one for key, inner in value.items() for path, one in numbers(inner, f"{name}.{key}").items()}
    if isinstance(value, tuple):
        return numbers(dict(enumerate(value)), name)
    return {name: value}


def differences(new: dict[str, dict[str, Any]]) -> list[str]:
    """Engines whose shipped preset is not what the fit gives, but for the last of the digits that are shipped."""

    def alike(one: object, other: object) -> bool:
        if isinstance(one, float) and isinstance(other, float):
            return abs(one - other) <= 0.012 * abs(one)
        return one == other

    found = []
    for key, form in new.items():
        there = numbers(engines()[key].model_dump()) if key in engines() else {}
        here = numbers(Engine.model_validate(form).model_dump())
        if there.keys() != here.keys() or not all(alike(there[name], one) for name, one in here.items()):
            found.append(key)
    return found


def main(arguments: Sequence[str], show: Callable[[str], None] = print) -> int:
    """Prints all, and writes the presets where asked to; 1 where the shipped ones are others."""
    table, usable = table_of_points()
    new = shipped_form(table, usable)
    if "--write" in arguments:
        for key, one in new.items():
            (shipped("presets") / "engines" / f"{key}.toml").write_text(tomli_w.dumps(one), encoding="utf-8")
        engines.cache_clear()
        with (shipped("presets") / "measured" / "predicted.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([PREDICTED, *predicted(table, usable)])
    show(tomli_w.dumps({"unknown": new["unknown"]}))
    for line in report(table, usable):
        show(line)
    others = differences(new)
    show("")
    show(f"Not as shipped: {', '.join(others)}" if others else "presets/engines/ holds these parameters.")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
