"""Memory read time of a pass by part: the parameters, and the caches on top of them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inferdash.formula import Number
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies import expected

_ROOMY: Final = 1.6
"""From this factor on the caches have room for their name on top of the parameters."""


def rows(
    scenario: Scenario, along: str, values: NDArray[np.float64], *, requests: Number, past: Number
) -> dict[str, list[dict[str, Any]]]:
    """Rows "parts", two for each of `values` in the field `along`, "names", one at each end with its place, "expected".

    `requests` or `past` is `values`, the other one a number. What is expected is a whole pass, with its band.
    """
    machine = scenario.deployment
    total, bare = (
        np.broadcast_to(np.asarray(decode(machine, requests=requests, past=tokens).load_s), values.shape).tolist()
        for tokens in (past, 0)
    )
    parts = [
        {along: int(value), "part": part, "meaning": meaning, "load_s": seconds}
        for value, whole, parameters in zip(values.tolist(), total, bare, strict=True)
        for part, meaning, seconds in (("parameters", "memory", parameters), ("caches", "cache", whole - parameters))
    ]
    inside = total[-1] >= _ROOMY * bare[-1]
    names = [
        {along: int(values[0]), "load_s": bare[0] / 2, "part": "parameters", "place": "left"},
        {
            along: int(values[-1]),
            "load_s": bare[-1] if inside else total[-1],
            "part": "caches",
            "place": "inside" if inside else "above",
        },
    ]
    reached = expected.decode_along(scenario, requests=requests, past=past)
    edges = [] if reached is None else [np.broadcast_to(np.asarray(edge), values.shape).tolist() for edge in reached]
    passes = (
        [
            {along: int(value), "expected_s": middle, "low_s": low, "high_s": high, "label": "pass, expected"}
            for value, middle, low, high in zip(values.tolist(), *edges, strict=True)
        ]
        if edges
        else []
    )
    return {"parts": parts, "names": names, "expected": passes, "last": passes[-1:]}
