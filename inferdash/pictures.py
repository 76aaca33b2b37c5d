"""The picture of each page: its chart with the rows of a scenario, or of two."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from inferdash.charts import batching as batching_charts
from inferdash.charts import experts as experts_charts
from inferdash.charts import feature_cost as feature_cost_charts
from inferdash.charts import kv_cache as kv_cache_charts
from inferdash.charts import plan as plan_charts
from inferdash.charts import prompt_cache as prompt_cache_charts
from inferdash.charts import quantization as quantization_charts
from inferdash.charts import roofline as roofline_charts
from inferdash.charts import serving as serving_charts
from inferdash.charts import side_by_side
from inferdash.charts.side_by_side import Rows
from inferdash.pairs import Pair
from inferdash.scenario import Scenario
from inferdash.studies.check import model
from inferdash.studies.learn import (
    batch_curve,
    batching,
    compute_vs_memory,
    experts,
    kv_cache,
    over_time,
    quantization,
    roofline,
)
from inferdash.studies.price import feature_cost, prompt_cache
from inferdash.studies.run import memory, plan, serving, simulation

KEY: Final = "Hollow or dotted: B. All else: A."
"""What tells the two apart in a chart of both."""
_BELOW: Final = "Above: A. Below it, paler: B."
_ALIKE: Final = "The picture is the same for A and B."
_ALONE: Final = "The picture is of {} alone; there is none of {}."


@dataclass(frozen=True)
class Picture:
    """A chart and what is drawn in it."""

    spec: dict[str, Any]
    rows: Rows
    key: str = ""
    """Whose it is, where a link holds two scenarios."""


@dataclass(frozen=True)
class _Drawn:
    """How a page is drawn."""

    spec: Callable[[], dict[str, Any]]
    rows: Callable[[Scenario], Rows]
    """Of a scenario; empty where there is nothing to draw."""
    both: Callable[[dict[str, Any], Rows, Rows], Rows] = side_by_side.rows_over
    """The rows of two scenarios together, by the chart of one."""
    shape: Callable[[dict[str, Any]], dict[str, Any]] = side_by_side.over
    """The chart of two, by that of one."""
    key: str = KEY
    """What tells the two apart."""


def _roofline(scenario: Scenario) -> Rows:
    drawn = compute_vs_memory.as_drawn(scenario)
    return roofline.rows(drawn, compute_vs_memory.study(drawn))


def _stages(scenario: Scenario) -> Rows:
    ran = simulation.run(scenario)
    return over_time.bar_rows(ran) if ran and serving.study(scenario).batch_mean is not None else {}


def _curve(scenario: Scenario) -> Rows:
    return batch_curve.curve_rows(scenario, batching.study(scenario))


def _split(spec: Callable[[], dict[str, Any]], rows: Callable[[Scenario], Rows], *, field: str) -> _Drawn:
    return _Drawn(spec, rows, lambda _, a, b: side_by_side.rows_split(a, b, field=field), side_by_side.split)


def _joined(spec: Callable[[], dict[str, Any]], rows: Callable[[Scenario], Rows], *, by: str) -> _Drawn:
    return _Drawn(spec, rows, lambda _, a, b: side_by_side.rows_joined(a, b, by=by))


_DRAWN: Final[Mapping[str, _Drawn]] = {
    "overview": _Drawn(batching_charts.curve, _curve),
    "compute_vs_memory": _Drawn(roofline_charts.roofline, _roofline),
    "kv_cache": _split(kv_cache_charts.grid, lambda s: {"cells": kv_cache.grid_rows(s)}, field="made"),
    "prompt_cache": _Drawn(
        prompt_cache_charts.lifetime, lambda s: prompt_cache.lifetime_rows(s, prompt_cache.study(s))
    ),
    "batching": _Drawn(batching_charts.curve, _curve),
    "quantization": _joined(
        quantization_charts.sizes, lambda s: quantization.size_rows(s, quantization.study(s)), by="format"
    ),
    "experts": _Drawn(experts_charts.distinct, experts.distinct_rows),
    "feature_cost": _split(feature_cost_charts.bars, feature_cost.bar_rows, field="way"),
    "serving": _Drawn(
        serving_charts.bars,
        _stages,
        lambda _, a, b: side_by_side.rows_below(a, b, top="above", bottom="below"),
        side_by_side.below,
        _BELOW,
    ),
    "plan": _Drawn(plan_charts.frontier, plan.frontier_rows),
    "memory": _joined(kv_cache_charts.memory, lambda s: memory.bar_rows(s, memory.study(s)), by="part"),
    "model": _joined(quantization_charts.part_sizes, model.size_rows, by="format"),
}
"""Page -> how it is drawn; the others have no picture that follows from a link."""


def picture(page: str, pair: Pair) -> Picture | None:
    """The picture of a page, of both scenarios where a link holds two; None where there is nothing to draw."""
    drawn = _DRAWN.get(page)
    if drawn is None:
        return None
    a = _rows(page, pair.a)
    if pair.b is None:
        return Picture(drawn.spec(), a) if a else None
    b = _rows(page, pair.b)
    if not (a and b):
        alone = _ALONE.format(*("AB" if a else "BA"))
        return Picture(drawn.spec(), a or b, alone) if a or b else None
    if a == b:
        return Picture(drawn.spec(), b, _ALIKE)
    return Picture(_both(page), drawn.both(drawn.spec(), a, b), drawn.key)


@lru_cache(maxsize=32)
def _rows(page: str, scenario: Scenario) -> Rows:
    return _DRAWN[page].rows(scenario)


@lru_cache(maxsize=len(_DRAWN))
def _both(page: str) -> dict[str, Any]:
    return _DRAWN[page].shape(_DRAWN[page].spec())
