"""How many proposed tokens models were measured to keep, by model, method and kind of text."""

import csv
from functools import cache
from typing import Final, Literal

from pydantic import Field

from inferdash import shipped
from inferdash.validated import Validated

LONGEST: Final = 8
"""Proposed tokens up to which curves were measured."""


class Curve(Validated):
    """Tokens that a check writes on average, by the number of proposed ones."""

    id: str
    name: str
    method: Literal["mtp", "eagle3", "block", "ngram"]
    measured_on: str
    """Texts, hardware and engine."""
    lengths: tuple[float, ...] = Field(min_length=LONGEST, max_length=LONGEST)
    """From one proposed token on."""
    source: str
    licence: str
    checked: str


@cache
def curves() -> dict[str, Curve]:
    """Id -> curve, as presets/acceptance/curves.csv has them."""
    with (shipped("presets") / "acceptance" / "curves.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [f"k{tokens}" for tokens in range(1, LONGEST + 1)]
    return {
        row["id"]: Curve.model_validate(
            {name: value for name, value in row.items() if name not in columns}
            | {"lengths": tuple(row[name] for name in columns)}
        )
        for row in rows
    }
