"""Speculation on against off: measured speed-ups beside what the rounds of `physics.drafters` give.

    python -m bench.speculation

The rows of bench/measured/speculation.csv are those whose model, accelerator, method, proposed tokens and batch are
stated and known here, and whose acceptance is stated or was measured of the model. Four of them gave
`drafters.LAUNCH_S`; the others were used to fit nothing.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import deploy
from inferdash.physics.drafters import Proposals, drafter_of, round_of
from inferdash.physics.fitted.expected import expected
from inferdash.physics.parallelism import usual
from inferdash.physics.speculation import speedup

TABLE = Path(__file__).parent / "measured" / "speculation.csv"


@dataclass(frozen=True)
class Compared:
    """A row, and what is expected of it."""

    row: dict[str, str]
    expected: float

    @property
    def measured(self) -> float:
        """Times as fast as without."""
        return float(self.row["speedup"])

    @property
    def alike(self) -> bool:
        """Whether both say that it gains, or that it loses."""
        return (self.expected >= 1) == (self.measured >= 1)


def compared() -> Iterator[Compared]:
    """Every row."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        model, chip = library.models()[row["model"]], library.accelerators()[row["accelerator"]]
        gpus, method = int(row["gpus"]), row["method"]
        kind: Any = method
        machine = deploy(
            model,
            chip,
            gpus=gpus,
            weights=PRECISIONS[model.weights if row["weights"] == "files" else row["weights"]],
            cache=PRECISIONS["bf16"],
            layout=usual(model, gpus=gpus, linked=chip.linked),
        )
        engine = library.engines()[row["engine"]]
        proposals = Proposals(
            method=kind,
            draft_tokens=int(row["draft_tokens"]),
            tokens_per_pass=float(row["length"]),
            drafter=drafter_of(model, kind),
            checked=int(row["checked"]),
        )
        batch, past = int(row["batch"]), int(row["past"])
        plain = expected(machine, engine, requests=batch, positions=1, past=past)
        found = round_of(machine, engine, proposals, requests=batch, past=past)
        if plain is None or found is None:
            continue
        times = speedup(tokens_per_pass=proposals.tokens_per_pass, decode_pass_s=plain.pass_s, round_s=found.round_s)
        yield Compared(row, float(times))


def speculation() -> Iterator[str]:
    """A line for all rows, and one for each of them."""
    found = list(compared())
    off = np.abs([one.expected / one.measured - 1 for one in found])
    alike = sum(one.alike for one in found)
    yield (
        f"speculation, {len(found)} measured speed-ups: off by {np.median(off):.0%} at the median, "
        f"{np.quantile(off, 0.9):.0%} at the 90th; gain or loss right in {alike} ({alike / len(found):.0%})"
    )
    for one in found:
        row = one.row
        yield (
            f"  {row['model']:16} {row['accelerator']:14} {row['gpus']} {row['method']:7} {row['draft_tokens']:>2} "
            f"batch {row['batch']:>3}: measured {one.measured:.2f}, expected {one.expected:.2f}"
            + ("" if one.alike else "  the other way")
        )


def main() -> None:
    """Prints both."""
    for line in speculation():
        print(line)


if __name__ == "__main__":
    main()
