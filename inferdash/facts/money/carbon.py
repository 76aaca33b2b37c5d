"""How much carbon dioxide a kilowatt-hour stands for, by region of the grid."""

import csv
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, NonNegativeFloat

from inferdash import shipped
from inferdash.validated import Validated


def _absent(value: Any) -> Any:
    return None if value == "" else value


class Grid(Validated):
    """One region of a grid, or of a cloud."""

    region: str
    """Id in links."""
    name: str
    g_per_kwh: NonNegativeFloat
    """Grams of CO2 equivalent for a kilowatt-hour, the mean of a year."""
    low: Annotated[NonNegativeFloat | None, BeforeValidator(_absent)]
    high: Annotated[NonNegativeFloat | None, BeforeValidator(_absent)]
    year: str
    """The year of the mean; empty where the source does not say."""
    basis: str
    """Over the lifecycle of the plants, or as a provider states it: the two are not compared with each other."""
    water_l_per_kwh: Annotated[NonNegativeFloat | None, BeforeValidator(_absent)]
    source: str
    licence: str
    confidence: Literal["high", "medium", "low"]


@cache
def names() -> Mapping[str, str]:
    """Id -> name, with its year where several have that name."""
    often = Counter(grid.name for grid in grids().values())
    return {key: f"{grid.name}, {grid.year}" if often[grid.name] > 1 else grid.name for key, grid in grids().items()}


@cache
def grids() -> Mapping[str, Grid]:
    """Id -> region, as presets/carbon/regions.csv has them."""
    with (shipped("presets") / "carbon" / "regions.csv").open(encoding="utf-8", newline="") as file:
        return {grid.region: grid for grid in (Grid.model_validate(row) for row in csv.DictReader(file))}
