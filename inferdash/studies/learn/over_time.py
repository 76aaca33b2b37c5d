"""Pictures of a simulation: its first requests as bars, its batch over time, latency along the load."""

from functools import lru_cache
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.scenario import BASE, Scenario
from inferdash.studies.run.ceilings import ceiling_per_s
from inferdash.studies.run.simulation import Run, run

_FIRST: Final = 100
"""Requests that are drawn as bars."""
_MOMENTS: Final = 400
"""Of the batch over time."""
LOADS: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
"""Of the ceiling, along the curve."""
_ALONG: Final = 600
"""Requests of each point of the curve."""
_FULL: Final = 12
"""Batches that come one after another at loads where the batch may fill up, before the last one counts."""
_FAR: Final = 1.25
"""Times the last load of the curve up to which the axis goes along with the scenario's."""
_NEAR: Final = 0.8
"""Such loads, of the ceiling."""
_MOST: Final = 6000
"""Requests of a point at most."""


def bar_rows(ran: Run) -> dict[str, list[dict[str, Any]]]:
    """The first hundred requests as bars: waiting, reading the prompt, moving its cache, writing the answer."""
    served, rows, stages = ran.served, [], _STAGES
    moments = [ran.asked.arrival_s, served.started_s, served.first_token_s, served.finish_s]
    if ran.apart:
        read_s, began_s = ran.apart.prefill.first_token_s, ran.apart.prefill.first_token_s.copy()
        began_s[ran.apart.moved] = ran.apart.decode.started_s
        moments, stages = [*moments[:2], read_s, began_s, served.finish_s], _STAGES_APART
    for place in range(min(_FIRST, len(ran.asked))):
        if served.replica[place] < 0:
            continue
        edges = [float(one[place]) for one in moments]
        for (stage, meaning), start, end in zip(stages, edges[:-1], edges[1:], strict=True):
            if end > start:
                took = quantities.shown(end - start, "s")
                rows.append(
                    {
                        "request": place + 1,
                        "above": place + 0.5,
                        "below": place + 1.5,
                        "start_s": start,
                        "end_s": end,
                        "meaning": meaning,
                        "label": f"{stage} {took}",
                    }
                )
    return {"bars": rows}


_STAGES: Final[tuple[tuple[str, str], ...]] = (("waiting", "waiting"), ("prefill", "compute"), ("decode", "memory"))
_STAGES_APART: Final[tuple[tuple[str, str], ...]] = (
    *_STAGES[:2],
    ("transfer and wait for a decode worker", "cache"),
    _STAGES[2],
)
BARS: Final = (
    "The first hundred requests, one per row. Grey: queueing. Orange: prefill, until the first token. "
    "Blue: decode, together with the rest of the batch."
)


BARS_APART: Final = "Green: transfer of the cache, and the wait for a place in a decode worker."


KNEE: Final = (
    "The same requests at other loads. Up to the knee nobody waits long; beyond it the queue grows for as long "
    "as they arrive, and the first token takes as long as the simulation lasts."
)


def moment_rows(ran: Run) -> dict[str, list[dict[str, Any]]]:
    """The batch of all replicas and the share of their cache in use, at even moments."""
    end_s = float(ran.served.finish_s[ran.served.replica >= 0].max(initial=0.0))
    moments = np.linspace(0, end_s, _MOMENTS)
    batch, pages = np.zeros(_MOMENTS), np.zeros(_MOMENTS)
    for steps in ran.served.steps:
        if not len(steps.time_s):
            continue
        at = np.searchsorted(steps.time_s, moments, side="right") - 1
        batch += np.where(at >= 0, steps.batch[at], 0)
        pages += np.where(at >= 0, steps.pages[at], 0)
    room = (ran.how.pages or 0) * ran.copies
    return {
        "batch": [
            {"at_s": at, "batch": ran.share * many, "cache": used / room if room else 0.0, "meaning": "memory"}
            for at, many, used in zip(moments.tolist(), batch.tolist(), pages.tolist(), strict=True)
        ]
    }


def curve_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Latency along the load, at the 90th percentile: the same requests closer together; it turns up at the knee.

    Rows "curve" (a row a load and quantity), "names" (the first of each), "load", "ceiling" and "targets"; nothing
    where nothing is simulated.
    """
    most = ceiling_per_s(scenario)  # sessions come as quickly as they are answered
    points = _curve(scenario, most) if most else []
    if not points:
        return {}
    firsts = [_point(load, first, "first token", "compute") for load, first, _ in points]
    betweens = [_point(load, between, "between tokens", "memory") for load, _, between in points if between is not None]
    targets = (("first token", "compute", scenario.target_first), ("between tokens", "memory", scenario.target_between))
    return {
        "curve": firsts + betweens,
        "names": [*firsts[:1], *betweens[:1]],
        "load": [_now(scenario.demand_per_s, max(load for load, _, _ in points))],
        "ceiling": [{"load": most, "label": "capacity"}],
        "targets": [{"seconds": s, "meaning": meaning, "label": f"target, {label}"} for label, meaning, s in targets],
    }


def _now(load: float, shown: float) -> dict[str, Any]:
    """Where the scenario's load lies; far beyond the curve, at its end and by its number."""
    if load <= _FAR * shown:
        return {"load": load, "label": "now"}
    return {"load": shown, "label": f"now {quantities.digits(load)}, far beyond"}


def _point(load: float, seconds: float, label: str, meaning: str) -> dict[str, Any]:
    return {"load": load, "seconds": seconds, "meaning": meaning, "label": label}


def _curve(scenario: Scenario, most: float) -> list[tuple[float, float, float | None]]:
    """Load, and the 90th percentiles of the first token and between tokens, as one of the replicas sees them."""
    one = scenario.model_copy(
        update={"load": BASE.load, "load_as": BASE.load_as, "title": "", "simulated": _ALONG}
        | ({} if scenario.disaggregated else {"replicas": 1})
        | {name: getattr(BASE, name) for name in ("target_first", "target_between", "rent")}
    )
    times = scenario.replicas // one.replicas
    return [(load * times, first, between) for load, first, between in _along(one, most / times)]


@lru_cache(maxsize=16)
def _along(scenario: Scenario, most: float) -> tuple[tuple[float, float, float | None], ...]:
    points = []
    for share in LOADS:
        load = share * most
        full = _FULL * scenario.places * scenario.served.sharing.data if share >= _NEAR else 0
        ran = run(scenario.model_copy(update={"load": load, "simulated": min(max(_ALONG, full), _MOST)}))
        found = ran.summary(scenario) if ran else None
        if ran and found and found.time_to_first_token_s.p90 is not None:
            points.append((load, found.time_to_first_token_s.p90 + ran.server_s, found.inter_token_latency_s.p90))
    return tuple(points)
