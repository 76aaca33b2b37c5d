"""Of which kind an accelerator of the reader's own may be, by its figures."""

from math import log
from typing import Any, Final

from inferdash.facts import library
from inferdash.facts.machines.accelerator import FAMILIES, Accelerator
from inferdash.scenario import OWN, Scenario

_WEIGHTS: Final = {"bandwidth": 1.0, "memory": 0.5, "peak": 1.0}
"""What a factor of e in a figure adds to how unlike two accelerators are: memory is sold in several sizes."""


def nearest(scenario: Scenario) -> Accelerator:
    """The accelerator whose bandwidth, memory and dense peak at 16 bits are nearest to those of the scenario's."""
    mine = _figures(scenario.hardware)

    def unlike(chip: Accelerator) -> float:
        theirs = _figures(chip)
        return sum(
            more * abs(log(mine[name] / theirs[name])) for name, more in _WEIGHTS.items() if mine[name] and theirs[name]
        )

    return min((chip for chip in library.accelerators().values() if chip.dense_bf16 or chip.dense_fp16), key=unlike)


def _figures(chip: Accelerator) -> dict[str, float]:
    return {
        "bandwidth": chip.bandwidth,
        "memory": chip.memory,
        "peak": chip.dense_bf16 or chip.dense_fp16 or 0.0,
    }


def proposal(scenario: Scenario) -> tuple[str, dict[str, Any]] | None:
    """What to take an accelerator of one's own as, and the fields that do it; None where it is taken so already."""
    if scenario.accelerator != OWN:
        return None
    chip = nearest(scenario)
    if chip.family == scenario.family:
        return None
    return f"Take it as {FAMILIES[chip.family]}, like the {chip.name}", {"family": chip.family}
