"""The curve of batching: tokens a second together against each, along the batch, and how to read it."""

from typing import Any, Final

import numpy as np

from inferdash.formula import Number
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies import expected
from inferdash.studies.capacity import apart, that_fit
from inferdash.studies.learn import batching, loading
from inferdash.studies.numbers import EXPECTED

_POINTS: Final = 80
_BEYOND: Final = 1.3
"""Times the fastest request of the band, up to which a limit is drawn beside it."""


def _batches(scenario: Scenario, result: batching.Batching) -> Any:
    fit = that_fit(scenario, tokens=scenario.prompt)
    beyond = [] if apart(scenario) else [scenario.batch, batching.CHAPTER_BATCHES[-1]]
    largest = max(result.max_batch, 1, *beyond)
    named = [result.compared_batch, max(result.max_batch, 1), max(fit, 1), *beyond[:1]]
    return np.unique(np.append(np.geomspace(1, largest, _POINTS).round(), named))


def curve_rows(scenario: Scenario, result: batching.Batching) -> dict[str, list[dict[str, Any]]]:
    """Tokens a second together against each, along the batch; nothing where no peak is known.

    Returns rows under "path" (the batches that fit), "beyond" (those that do not), "points" and "own" (named
    batches); of the batches that fit, "expected", "band" (its edges one after the other, as an outline), "name" (at
    the end that the own batch leaves free) and "reached", the own batch on that line.
    """
    machine = scenario.deployment
    batches = _batches(scenario, result)
    passes = decode(machine, requests=batches, past=scenario.prompt).pass_s
    if passes is None or batching.nothing_fits(scenario, result):
        return {}
    rows = [row | {"meaning": "memory", "label": ""} for row in _at(batches, passes)]
    fits = max(result.max_batch, 0)
    named, most = {line.batch for line in result.table}, that_fit(scenario, tokens=scenario.prompt)
    points = [
        row | {"label": f"batch {row['batch']:,}"}
        for row in rows
        if row["batch"] in (named & {1, 16, 64, 256}) | {fits}
    ]
    own = [row | {"label": f"batch {row['batch']:,}"} for row in rows if row["batch"] == result.compared_batch]
    both = [int(one) for one in (most, result.capacity.expected) if one is not None]
    fit = batches[batches <= max(min(both), 1)]
    reached = expected.decode_along(scenario, requests=fit, past=scenario.prompt)
    middle, low, high = [_at(fit, seconds) for seconds in reached] if reached else [[], [], []]
    other = [
        row | {"meaning": "memory", "label": f"batch {row['batch']:,}"}
        for row in middle
        if row["batch"] == result.compared_batch
    ]
    if scenario.speed == EXPECTED and other:
        own, other = other, [row | {"label": f"limit, {row['label']}"} for row in own]
        # The limit of a few requests may lie so far off that nothing else would be seen.
        most_each = _BEYOND * max(row["each"] for row in low)
        rows, points, other = ([row for row in some if row["each"] <= most_each] for some in (rows, points, other))
    low_down = own and middle and own[0]["together"] < middle[-1]["together"] / 2
    return {
        "path": [row for row in rows if row["batch"] <= fits],
        "beyond": [row for row in rows if row["batch"] >= fits],
        "points": [point for point in points if point["batch"] != result.compared_batch],
        "own": own,
        "expected": middle,
        "band": [row | {"place": place} for place, row in enumerate([*low, *reversed(high)])],
        "name": [row | {"label": "expected"} for row in (middle[-1:] if low_down else middle[:1])],
        "reached": other,
    }


def _at(batches: Any, pass_s: Number) -> list[dict[str, Any]]:
    return [
        {"batch": int(batch), "each": 1 / seconds, "together": batch / seconds}
        for batch, seconds in zip(batches.tolist(), np.asarray(pass_s).tolist(), strict=True)
    ]


def curve_caption(scenario: Scenario, result: batching.Batching) -> str:
    """How to read the curve: what is compared, and what does not fit."""
    said = []
    if scenario.batch == 1:
        said.append(
            f"Your batch is 1, so one of {result.compared_batch:,} is compared with it: a request alone would pay for "
            f"{'all GPUs' if scenario.gpus > 1 else 'the whole GPU'}."
        )
    if apart(scenario):
        said.append("Solid: the limit, with all of the memory. Dashed: expected, with what an engine leaves of it.")
        if _is_cut(scenario, result):
            said.append("The limit of the smallest batches is beyond the right edge.")
    elif result.max_batch < max(result.compared_batch, batching.CHAPTER_BATCHES[-1]):
        said.append("The dashed part does not fit in the memory.")
    return " ".join(said)


def _is_cut(scenario: Scenario, result: batching.Batching) -> bool:
    """Whether the limit of a single request lies too far from what is expected to be drawn."""
    alone = result.table[0].pass_s
    one = expected.decode_of(scenario, requests=1, past=scenario.prompt, limit_s=alone)
    return scenario.speed == EXPECTED and alone is not None and one.low is not None and one.low > _BEYOND * alone


def load_rows(scenario: Scenario, result: batching.Batching) -> dict[str, list[dict[str, Any]]]:
    """Memory read time of a pass along the batch."""
    batches = _batches(scenario, result)
    return loading.rows(scenario, "batch", batches, requests=batches, past=scenario.prompt)
