"""An engine moved to measurements of one set-up, as little as they need."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from inferdash.facts.machines.engine import Engine
from inferdash.physics.deployment import Deployment
from inferdash.physics.fitted.expected import ExpectedPass

Array: TypeAlias = npt.NDArray[np.float64]
PARTS: Final = ("load_s", "compute_s", "layers_s", "vectors_s", "waiting_s", "host_s")
"""Parts of an expected time that move; the server's time is the last one. The link keeps its bandwidth."""
IN_A_PREFILL: Final = ("compute_s", "waiting_s")
"""Those that a prefill moves: what it seems to say of the others carries over to decode passes wrongly."""
_LAYERS: Final = (
    *("experts_layer", "latent_layer", "latent_read", "sparse_layer", "recurrent_layer", "scaled_layer"),
    "fnuz_layer",
)
_ARITHMETIC: Final = ("latent_attention", "experts_narrow", "experts_packed")
_SERVER: Final = ("server", "server_token", "server_request")
READING: Final = 0.05
"""Error of a measurement itself, as a logarithm: how near to it the engine is moved."""
MOVE: Final = 0.3
"""Error of a part of the expected time, as a logarithm: how easily it moves. Only its ratio to `READING` counts."""
_STEPS: Final = 40


def parts_of(whole: ExpectedPass, *, server_s: float = 0.0, moves: Sequence[str] = PARTS) -> tuple[list[float], float]:
    """Seconds of each part of an expected time that a measurement moves, 0 where it does not, and of what stays."""
    seconds = {part: float(getattr(whole, part)) for part in PARTS}
    moving = [value if part in moves else 0.0 for part, value in seconds.items()]
    return [*moving, server_s], float(whole.link_s) + sum(seconds.values()) - sum(moving)


def factors(parts: Array, staying_s: Array, measured_s: Array, least: Array) -> Array:
    """Factors on the parts of some expected times that bring these to what was measured.

    The least sum of squared errors of the logarithms of the times and of the factors, each over the square of what it
    may err.

    Args:
        parts: seconds, a row a part, a column a measurement.
        staying_s: seconds of each measurement that stay.
        measured_s: seconds of each measurement.
        least: the smallest factor on each part.
    """
    logs, goal, lowest = np.zeros(len(parts)), np.log(measured_s), np.minimum(np.log(least), 0)
    for _ in range(_STEPS):
        moved = parts * np.exp(logs)[:, None]
        total = moved.sum(axis=0) + staying_s
        slopes, errors = moved / total, np.log(total) - goal
        downhill = slopes @ errors / READING**2 + logs / MOVE**2
        free = (logs > lowest) | (downhill < 0)
        curvature = slopes[free] @ slopes[free].T / READING**2 + np.eye(int(free.sum())) / MOVE**2
        step = np.zeros(len(parts))
        step[free] = np.linalg.solve(curvature, downhill[free])
        logs = np.maximum(logs - np.clip(step, -0.5, 0.5), lowest)
    return np.exp(logs)


def moved(
    engine: Engine, machine: Deployment, parts: Sequence[tuple[Sequence[float], float]], measured_s: Array
) -> Engine:
    """The engine whose expected times of a model on an accelerator come near to what was measured; no share exceeds 1.

    Args:
        engine: as others measured it.
        machine: what was measured.
        parts: of each measurement, as `parts_of` gives them.
        measured_s: seconds of each measurement.
    """
    family = machine.accelerator.family
    reach = engine.reach[family]
    least = np.full(len(PARTS) + 1, 1e-3)
    mixture = machine.parameters.mixture
    least[:2] = (
        max(reach.bandwidth_share, reach.experts_bandwidth_share if mixture else 0),
        max(reach.arithmetic_share, reach.experts_arithmetic_share if mixture else 0, engine.attention_share),
    )
    load, compute, layers, vectors, waiting, host, server = factors(
        np.array([moving for moving, _ in parts]).T, np.array([stays for _, stays in parts]), measured_s, least
    ).tolist()

    def ceiling(of: float | None, factor: float) -> float | None:
        return None if of is None else of / factor

    own = reach.model_copy(
        update={
            "bandwidth_share": reach.bandwidth_share / load,
            "experts_bandwidth_share": min(1.0, reach.experts_bandwidth_share / load),
            "bandwidth_ceiling": ceiling(reach.bandwidth_ceiling, load),
            "arithmetic_share": reach.arithmetic_share / compute,
            "experts_arithmetic_share": min(1.0, reach.experts_arithmetic_share / compute),
            "layer": reach.layer * layers,
            "exchange": reach.exchange * waiting,
        }
    )
    grown = {name: getattr(engine, name) * layers for name in _LAYERS}
    grown |= {name: getattr(engine, name) * compute for name in _ARITHMETIC}
    grown |= {name: getattr(engine, name) * server for name in _SERVER}
    return engine.model_copy(
        update={
            "reach": {**engine.reach, family: own},
            "arithmetic_ceiling": ceiling(engine.arithmetic_ceiling, compute),
            "attention_share": engine.attention_share / compute,
            "vector_trips": engine.vector_trips * vectors,
            "stage": engine.stage * waiting,
            "host_pass": engine.host_pass * host,
            "host_request": engine.host_request * host,
            **grown,
        }
    )
