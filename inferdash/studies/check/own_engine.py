"""An engine moved to all runs of a reader's file, as a file of its own that stands beside the presets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import numpy as np
import tomli_w

from inferdash.facts.machines.engine import Bands, Engine
from inferdash.physics import named
from inferdash.physics.deployment import Deployment
from inferdash.physics.fitted.calibration import IN_A_PREFILL, PARTS, moved, parts_of
from inferdash.physics.fitted.expected import ExpectedPass, expected, expected_prefill, factor_needed
from inferdash.studies.check.score import On, machine_of, tested, whole_number

HELD: Final = 0.8
"""Share of the runs that the band of the moved engine holds at least."""


@dataclass(frozen=True)
class Number:
    """A number that a run measured, and what is expected of it."""

    phase: str
    """The band that it has."""
    measured_s: float
    whole: ExpectedPass
    server_s: float = 0.0

    @property
    def moves(self) -> tuple[str, ...]:
        """The parts that it moves."""
        return IN_A_PREFILL if self.phase in {"prefill", "first_token"} else PARTS


def _numbers(machine: Deployment, engine: Engine, row: Mapping[str, str]) -> list[Number]:
    """What a run measured that moves an engine; a time per output token and to a first one, or a pass alone."""
    if "phase" in row:
        past = int(float(row["past"]))
        alone = (
            expected_prefill(machine, engine, prompt=whole_number(row, "prompt"), past=past)
            if row["phase"] == "prefill"
            else expected(machine, engine, requests=1, positions=1, past=past)
        )
        return [] if alone is None else [Number(row["phase"], float(row["seconds"]), alone)]
    test = tested(machine, engine, row)
    if test is None:
        return []
    found = []
    if row.get("tpot_s"):
        found.append(Number("serving", float(row["tpot_s"]), test.between))
    if row.get("ttft_mean_s"):
        server = test.first_token_s - float(test.until_first.pass_s)
        found.append(Number("first_token", float(row["ttft_mean_s"]), test.until_first, server))
    return found


def of(rows: Iterable[Mapping[str, str]], on: On | None, *, name: str, origin: str, today: date) -> Engine:
    """The engine of the runs of a file, moved as little as they need.

    Args:
        rows: a table of load tests, or the runs of a load tool's file, as `score.read_any` gives them.
        on: what they ran on, where they do not say it.
        name: what it is called.
        origin: the file, as the source of the figures.
        today: the day that stands in it.

    Raises:
        ValueError: with a sentence, where they are of several set-ups, or none of them moves an engine.
    """
    usable = [row for row in rows if "speculation" not in row.get("note", "")]
    set_ups = [on or (machine_of(row), named.engine(row.get("engine", ""))) for row in usable]
    kinds = {(machine.architecture.name, machine.accelerator.name, engine.name) for machine, engine in set_ups}
    if len(kinds) != 1:
        raise ValueError(
            f"An engine is moved by tests of one model on one accelerator in one engine, and the file has {len(kinds)}."
        )
    engine = set_ups[0][1]

    def numbers(by: Engine) -> list[Number]:
        return [one for row, (machine, _) in zip(usable, set_ups, strict=True) for one in _numbers(machine, by, row)]

    before = numbers(engine)
    if not before:
        raise ValueError("The file has no time per output token or to a first token that an engine could be moved to.")
    parts = [parts_of(one.whole, server_s=one.server_s, moves=one.moves) for one in before]
    machine = set_ups[0][0]
    there = moved(engine, machine, parts, np.array([one.measured_s for one in before]))
    family = machine.accelerator.family
    reach = there.reach[family].model_copy(update={"bands": _bands(engine, there, family, numbers(there))})
    return there.model_copy(
        update={
            "name": name,
            "source": (f"{engine.name} moved to {len(before)} numbers of {origin}", *engine.source),
            "checked": today,
            "note": f"{engine.name} as {len(usable)} runs of {machine.architecture.name} on "
            f"{machine.accelerator.name} have it; for other models and accelerators it may be further off than that.",
            "reach": {**there.reach, family: reach},
        }
    )


def _bands(engine: Engine, there: Engine, family: Any, after: list[Number]) -> Bands:
    """Bands as narrow as moved engines have them, but no narrower than the runs themselves need."""
    bands = there.reach[family].bands.model_dump()
    for phase in {one.phase for one in after}:
        needed = [
            float(
                factor_needed(
                    limit_s=one.whole.limit_s,
                    expected_s=float(one.whole.pass_s) + one.server_s,
                    measured_s=one.measured_s,
                )
            )
            for one in after
            if one.phase == phase
        ]
        usual = engine.calibrated_once if len(needed) == 1 else engine.calibrated_twice
        factor = max(min(bands[phase][1], getattr(usual, phase)[1]), float(np.quantile(needed, HELD)))
        bands[phase] = (1 / factor, factor)
    return Bands(**bands)


def written(engine: Engine) -> str:
    """An engine as its file says it, which stands beside the presets."""
    return tomli_w.dumps(engine.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
