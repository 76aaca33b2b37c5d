"""What `make fit` prints: the parameters of presets/engines/ from the results of presets/measured/, and their errors.

Every error and every band is of results that the fit had not seen: each publisher, each family of models and each
accelerator is left out in turn.

    python -m bench.fit            the parameters, whether they are the shipped ones, and the errors
    python -m bench.fit --write    the same, and writes presets/engines/ and presets/measured/predicted.csv
"""

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import tomli_w

from bench.fitting import calibration
from bench.fitting.bands import Errors, covered
from bench.fitting.engines import shipped_form
from bench.fitting.leave_out import WAYS, Held, left_out
from bench.fitting.report import report
from bench.fitting.results import results
from bench.fitting.solve import Problem, expected
from bench.fitting.table import Mask, Table
from inferdash import shipped
from inferdash.facts.library import engines
from inferdash.facts.machines.engine import Engine

PREDICTED: Final = (
    *("table", "place", "publisher", "phase", "class", "kind", "family", "apart", "bytes", "limit_s"),
    *(f"expected_s_{way}" for way in WAYS),
    *(f"inside_{way}" for way in WAYS),
)
"""Columns of presets/measured/predicted.csv."""


def predicted(table: Table, held: Held, inside: Mapping[str, Mask]) -> list[tuple[str, ...]]:
    """What was expected of each result by the fits that had not seen its publisher, its family, its accelerator."""
    return [
        (
            one.table,
            str(one.place),
            one.publisher,
            one.phase,
            one.kind,
            one.kind_of_model,
            one.model,
            str(int(one.apart)),
            f"{one.machine.stored_bytes:.4g}",
            f"{table.limit[n]:.4g}",
            *(f"{held[way][n]:.4g}" for way in WAYS),
            *(str(int(inside[way][n])) for way in WAYS),
        )
        for n, one in enumerate(table.results)
    ]


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
    table = Table(results())
    problem = Problem(table)
    fit = problem.fit(table.usable)
    held, unknown, parts = left_out(problem)
    errors = Errors(table, held, unknown)
    inside = covered(errors)
    times = calibration.times_of(table, parts)
    new = shipped_form(table, fit, errors, {given: calibration.bands(times, given=given) for given in (1, 2)})
    if "--write" in arguments:
        for key, one in new.items():
            (shipped("presets") / "engines" / f"{key}.toml").write_text(tomli_w.dumps(one), encoding="utf-8")
        engines.cache_clear()
        with (shipped("presets") / "measured" / "predicted.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([PREDICTED, *predicted(table, held, inside)])
    show(tomli_w.dumps({"unknown": new["unknown"]}))
    for line in report(table, held, inside, errors, expected(table, fit)):
        show(line)
    show("")
    for line in calibration.table(times):
        show(line)
    others = differences(new)
    show("")
    show(f"Not as shipped: {', '.join(others)}" if others else "presets/engines/ holds these parameters.")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
