"""The results of presets/measured/served.csv: load tests that keep requests in flight, as their client ran them."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from inferdash.facts.measured import rows_of
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.published import tables
from inferdash.physics.parallelism import Layout
from inferdash.physics.under_load.closed_loop import Load, Told

QUANTITIES: Final = {"output token": "tpot_s", "first token": "ttft_mean_s"}
"""What such a test measures -> its column."""


@dataclass(frozen=True)
class Served:
    """A load test, and what it measured."""

    row: dict[str, str]
    publisher: str
    kind: str
    """Family of the accelerator."""
    machine: Deployment
    load: Load
    told: Told
    """What the engine was told of how to take requests in, where that is known."""

    @property
    def used(self) -> bool:
        """Whether the row says all that an answer needs, and is no repetition of another one."""
        return self.row["used"] == "1"


def shared_layout(*, tensor: int, pipeline: int, data: int, expert: int) -> Layout:
    """A layout as engines run it, where groups that share attention also divide experts.

    Experts that are divided over the GPUs of one such group need no exchange of their own: each has the vectors of all
    positions already, and the sum over the group brings the results together. The bytes that one loads are the same.
    """
    return Layout(
        even=False, tensor=tensor, pipeline=pipeline, data=data, expert=expert if data > 1 and expert > 1 else 1
    )


def served(row: dict[str, str]) -> Served:
    """A row of the table that names its GPUs."""
    shapes, chips, publishers = tables()
    chip, kind = chips[row["accelerator"]]
    tensor, pipeline, data, expert = (int(row[name]) for name in ("tensor", "pipeline", "data", "expert"))
    machine = deploy(
        shapes[row["model"]],
        chip,
        gpus=tensor * pipeline * data,
        layout=shared_layout(tensor=tensor, pipeline=pipeline, data=data, expert=expert),
        weights=PRECISIONS[row["weights"]],
        cache=PRECISIONS[row["kv"]],
    )
    load = Load(
        in_flight=int(row["concurrency"]),
        prompt=int(row["prompt"]),
        answer=int(row["answer"]),
        spread=float(row["spread"]),
    )
    told = Told(**{name: int(row[name]) for name in ("chunk", "poll", "gather") if row[name]})
    return Served(row, publishers[row["origin"]], kind, machine, load, told)


@cache
def usable() -> dict[int, Served]:
    """Place in the table, from 1 -> a result that the fit uses."""
    return {place: served(row) for place, row in enumerate(rows_of("served"), 1) if row["used"] == "1"}
