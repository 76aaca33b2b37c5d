"""Published serving results against the simulator, and against the sum of passes that the fit is of.

    python -m bench.serving [every]

Each result is a number of requests that are always under way, with prompts and answers of a length. The simulator gets
several batches of them at once and as many places, so that the batch stays full, and is asked for the time of a batch.
Both use the engines as they ship, which have seen these results: the two are compared with each other.
"""

import sys
from collections.abc import Sequence
from typing import Final

import numpy as np

from inferdash.facts.library import engines
from inferdash.facts.machines.engine import Engine
from inferdash.facts.measured import measurements
from inferdash.physics.fitted.expected import expected_pass
from inferdash.physics.fitted.published import CHUNK, SERVED, Point, point
from inferdash.serving.simulated.pass_times import pass_times
from inferdash.serving.simulated.requests import requests
from inferdash.serving.simulated.scheduling import Scheduling
from inferdash.serving.simulated.simulator import simulate

BATCHES: Final = 4
"""That are sent; the first of them is the warm-up."""


def closed_form_s(one: Point, engine: Engine) -> float:
    """Expected seconds of a batch: its prompts, then its answers side by side."""
    total = engine.server if one.publisher in SERVED else 0.0
    for step in one.passes:
        part = expected_pass(one.machine, engine, step.one, requests=step.requests, positions=step.positions)
        total += step.passes * float(part.pass_s) if part else float("nan")
    return total


def simulated_s(one: Point, engine: Engine) -> float:
    """Seconds of a batch while as many requests are always under way."""
    prompt, answer = int(one.row["prompt"]), int(one.row["answer"])
    groups = one.machine.layout.data
    places = max(1, one.batch // groups)
    chunk = int(one.row["chunk"] or CHUNK)
    times = pass_times(one.machine, engine, places=places, tokens=prompt + answer, pass_tokens=chunk)
    if times is None:
        return float("nan")
    count = BATCHES * places
    served = simulate(
        requests(np.zeros(count), prompt=prompt, answer=answer), times, Scheduling(places=places, pass_tokens=chunk)
    )
    ends = np.sort(served.finish_s)
    return float(ends[-1] - ends[places - 1]) / (BATCHES - 1)


def main(arguments: Sequence[str]) -> None:
    """Prints the errors of both."""
    every = int(arguments[0]) if arguments else 1
    by_name = {engine.name: engine for engine in engines().values()}
    chosen = [one for one in measurements() if one.phase in {"serving", "full load"} and not one.apart][::every]
    errors: dict[tuple[str, str], list[float]] = {}
    for one in chosen:
        engine = by_name.get(one.engine)
        if engine is None:
            continue
        published = point(one.row)
        for name, seconds in (
            ("sum of passes", closed_form_s(published, engine)),
            ("simulator", simulated_s(published, engine)),
            ("plain roofline", one.limit_s),
        ):
            ratio = one.measured_s / seconds  # throughput expected over measured
            errors.setdefault((one.phase, name), []).append(ratio - 1)
    for (phase, name), found in errors.items():
        size = 100 * np.abs(found)
        quarter, middle, over = 100 * np.quantile(found, (0.25, 0.5, 0.75))
        print(
            f"{phase:10} {name:15}{len(found):6,} results: throughput off by {np.median(size):5.1f}% at the median and "
            f"{np.quantile(size, 0.9):6.1f}% at the 90th; quartiles {quarter:+6.1f} {middle:+6.1f} {over:+6.1f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
