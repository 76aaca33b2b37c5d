"""A load test whose client sends requests at a rate, at random times, whatever came of those before."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from inferdash.facts.machines.engine import Engine
from inferdash.formula import unrecorded
from inferdash.physics.deployment import Deployment
from inferdash.physics.under_load.closed_loop import Intake, Load, lengths
from inferdash.serving.simulated.pass_times import pass_times
from inferdash.serving.simulated.requests import poisson, requests
from inferdash.serving.simulated.scheduling import Scheduling
from inferdash.serving.simulated.simulator import simulate

_COUNT: Final = 1000
"""Requests of a test, from an empty server on."""
_PLACES: Final = 1024
_LONGEST: Final = 1 << 18
"""Tokens of a text, as on the page of what happens over time."""


@dataclass(frozen=True)
class AtRate:
    """What the client of such a test waits for, without the server's own time."""

    first_token_s: float
    """Mean seconds from a request to its first token."""
    first_token_p50_s: float
    """The median."""
    output_token_s: float
    """Mean over requests of the seconds for each further token."""
    answer: float
    """Tokens of an answer, the mean."""


def at_rate(machine: Deployment, engine: Engine, load: Load, intake: Intake, *, per_s: float) -> AtRate | None:
    """What a client finds that sends so many requests a second to all groups together; None where no peak is known.

    Args:
        machine: what runs on what.
        engine: the program that runs it.
        load: the lengths of the requests; how many are in flight follows from the rate.
        intake: how many tokens of prompts a pass reads, and whether it writes beside them.
        per_s: requests a second.

    Raises:
        ValueError: with a clause, where a text is longer than what is simulated.
    """
    tokens, pass_tokens = load.prompt + load.answer, max(intake.chunk, _PLACES + 1)
    if tokens > _LONGEST:
        raise ValueError(f"texts of {tokens:,} tokens are more than the {_LONGEST:,} that are simulated")
    with unrecorded():
        times = pass_times(machine, engine, places=_PLACES, tokens=tokens, pass_tokens=pass_tokens)
        if times is None:
            return None
        prompts, answers = (np.array(of, dtype=np.int64) for of in lengths(load, _COUNT))
        coming = requests(poisson(_COUNT, per_s=per_s / machine.layout.data, seed=0), prompt=prompts, answer=answers)
        how = Scheduling(places=_PLACES, pass_tokens=pass_tokens, chunked=intake.mixes)
        served = simulate(coming, times, how)
    waited = served.first_token_s - served.arrival_s
    further = (served.finish_s - served.first_token_s) / (answers - 1)
    return AtRate(
        first_token_s=float(waited.mean()),
        first_token_p50_s=float(np.median(waited)),
        output_token_s=float(further.mean()),
        answer=float(answers.mean()),
    )
