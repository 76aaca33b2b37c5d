"""Replicas over a day: started and stopped with the load, or as many all day."""

from functools import lru_cache
from typing import Final

import numpy as np

from inferdash import quantities
from inferdash.formula import recording
from inferdash.scenario import Scenario
from inferdash.serving.simulated.autoscaling import DAY_S, Day, day, starts_in_s
from inferdash.studies.numbers import Row, Table, show
from inferdash.studies.run.arrivals import HOURS
from inferdash.studies.run.ceilings import ceiling_per_s

NOTE: Final = (
    "Reckoned by itself: the numbers above are of as many replicas as you entered, all the time. The example day of "
    "“Arrival pattern”, with your load as its mean and a busiest hour of about twice that. A "
    "replica is started when the load is over the target share of what runs, and costs from then on; it is stopped "
    "when fewer would have done for five minutes, as Kubernetes does by default. Measured from the command to the "
    "first answer: 59 s (small model, compiled code kept; vllm#20264), 215 s (70B in fp8 on eight GPUs; vllm#19824), "
    "277 s (Qwen3.6-35B on an RTX 5090; vllm#44881), and 2,222 s for a first compile (vllm#34399)."
)
_HOUR_S: Final = 3600.0


def delay_s(scenario: Scenario) -> float:
    """Seconds from the decision to start a replica until it serves."""
    with recording():
        return float(
            starts_in_s(
                weight_bytes=float(scenario.served.deployment.stored_bytes),
                load_rate=scenario.load_rate,
                start_up=scenario.start_up,
            )
        )


def days(scenario: Scenario) -> dict[str, Day]:
    """The day by how many replicas run; nothing where no capacity is known."""
    most = ceiling_per_s(scenario)
    if not most:
        return {}
    return dict(
        _days(
            most / scenario.replicas,
            scenario.demand_per_s,
            delay_s(scenario),
            scenario.scale_aim,
            scenario.target_first,
        )
    )


@lru_cache(maxsize=32)
def _days(
    carried_per_s: float, mean_per_s: float, starts_s: float, aim: float, target_s: float
) -> tuple[tuple[str, Day], ...]:
    weights = np.array(HOURS) / np.mean(HOURS) * mean_per_s
    middles = np.arange(-0.5, 25) * _HOUR_S
    levels = np.concatenate((weights[-1:], weights, weights[:1]))

    def load(now_s: float) -> float:
        return float(np.interp(now_s, middles, levels))

    def enough(per_s: float) -> int:
        return max(1, int(np.ceil(per_s / (aim * carried_per_s) - 1e-9)))

    def of(fixed: int | None) -> Day:
        return day(load, carried_per_s=carried_per_s, target_s=target_s, aim=aim, delay_s=starts_s, fixed=fixed)

    return (
        ("autoscaled", of(None)),
        ("fixed, for the busiest hour", of(enough(float(weights.max())))),
        ("fixed, for the mean", of(enough(mean_per_s))),
    )


def table(scenario: Scenario) -> Table:
    """What each costs in a day, and whom it lets wait."""
    rent = scenario.rent * scenario.gpus / _HOUR_S
    rows = tuple(
        Row(
            name,
            "word",
            (
                show(one.replica_s / DAY_S, "replicas"),
                f"{one.most:,}",
                show(one.replica_s * rent, "$"),
                show(one.missed, "%"),
                show(one.longest_s, "s"),
            ),
        )
        for name, one in days(scenario).items()
    )
    columns = ("replicas, mean", "most", "rent of a day", "wait over the target", "longest wait")
    return Table(columns, rows, head="Replicas")


def sentence(scenario: Scenario) -> str:
    """What autoscaling saves, and what it costs in waits, in words."""
    found = days(scenario)
    if not found:
        return "Replicas over a day are known where the capacity of one is."
    scaled, peak, _ = found.values()
    starts = show(delay_s(scenario), "s")
    said = f"A replica is up {starts} after the decision to start it"
    if peak.replica_s <= scaled.replica_s:
        return f"{said}; following the load saves nothing here."
    saved = quantities.percent(1 - scaled.replica_s / peak.replica_s)
    missed = quantities.percent(scaled.missed) if scaled.missed else "none"
    return (
        f"{said}. Following the load costs {saved} less than enough replicas for the busiest hour all day; {missed} of "
        "the requests wait longer than the target for a place."
    )
