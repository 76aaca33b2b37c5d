"""Replicas that follow the load, with a delay: what they cost and what they miss, beside a fixed number of them.

Requests flow: what comes beyond what the running replicas carry waits, and whoever waits longer than the target is
missed. A replica that is started costs from then on and carries when it is up; it is stopped when the load has been
lower for a while, as Kubernetes does by default.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final

from inferdash.formula import Number, formula

STEP_S: Final = 10.0
"""Seconds between two looks at the load."""
CALM_S: Final = 300.0
"""Seconds for which fewer replicas must do before one is stopped: the default of Kubernetes' autoscaler."""
DAY_S: Final = 86_400.0
_ROUNDING: Final = 1e-9


@formula(unit="s", ref="batching")
def starts_in_s(*, weight_bytes: Number, load_rate: Number, start_up: Number) -> Number:
    """Seconds from the decision to start a replica until it serves."""
    return weight_bytes / load_rate + start_up


@formula(unit="requests", ref="batching")
def backlog(*, arrivals_per_s: Number, carried_per_s: Number, delay_s: Number) -> Number:
    """Requests that wait when a replica is up that was started as the load had jumped."""
    return (arrivals_per_s - carried_per_s) * delay_s


@formula(unit="requests/s", ref="batching")
def spare_per_s(*, growth_per_s2: Number, delay_s: Number) -> Number:
    """Requests a second that must be spare at any time where the load grows steadily, so that nobody waits."""
    return growth_per_s2 * delay_s


@dataclass(frozen=True, kw_only=True)
class Day:
    """A day of a number of replicas."""

    replica_s: float
    """Seconds of replicas that are paid for, those that start included."""
    most: int
    """Replicas at a time."""
    missed: float
    """Share of the requests that wait longer than the target."""
    longest_s: float
    """The longest wait for a place."""
    waiting: float
    """Requests that wait, at most."""


def day(
    load: Callable[[float], float],
    *,
    carried_per_s: float,
    target_s: float,
    aim: float = 1.0,
    delay_s: float = 0.0,
    fixed: int | None = None,
    span_s: float = DAY_S,
) -> Day:
    """A day of replicas that follow the load, or of a fixed number.

    Args:
        load: requests a second that come, by the second of the day.
        carried_per_s: requests a second that a replica carries.
        target_s: seconds that a request may wait.
        aim: share of what replicas carry from which on another is started.
        delay_s: seconds until a replica that is started serves.
        fixed: replicas all day; None where they follow the load.
        span_s: seconds of the day.
    """
    up = fixed or max(1, ceil(load(0.0) / (aim * carried_per_s) - _ROUNDING))
    starting, coming = deque[tuple[float, int]](), 0
    needed_at: list[tuple[float, int]] = []
    queue = paid = missed = came = longest_s = most_waiting = 0.0
    most = up
    now_s = 0.0
    while now_s < span_s:
        per_s = load(now_s)
        while starting and starting[0][0] <= now_s:
            _, count = starting.popleft()
            up, coming = up + count, coming - count
        if fixed is None:
            wanted = max(1, ceil((per_s + queue / max(delay_s, STEP_S)) / (aim * carried_per_s) - _ROUNDING))
            needed_at = [(at, count) for at, count in needed_at if at > now_s - CALM_S and count > wanted]
            needed_at.append((now_s, wanted))
            if wanted > up + coming:
                starting.append((now_s + delay_s, wanted - up - coming))
                coming = wanted - up
            up = max(min(up, needed_at[0][1]), 1)
        carried = up * carried_per_s
        wait_s = queue / carried
        came += per_s * STEP_S
        missed += per_s * STEP_S * (wait_s > target_s)
        longest_s, most_waiting = max(longest_s, wait_s), max(most_waiting, queue)
        queue = max(0.0, queue + (per_s - carried) * STEP_S)
        paid += (up + coming) * STEP_S
        most = max(most, up + coming)
        now_s += STEP_S
    return Day(
        replica_s=paid, most=most, missed=missed / came if came else 0.0, longest_s=longest_s, waiting=most_waiting
    )
