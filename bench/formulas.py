"""What it costs that a formula can be shown: over the bare function, and over numpy by hand; and many draws."""

import time
from collections.abc import Iterator
from typing import Final

import numpy as np

from bench.pairs import ratio
from inferdash import links
from inferdash.formula import recording
from inferdash.physics import roofline
from inferdash.physics.passes import decode
from inferdash.pricing.ranges import spread
from inferdash.scenario import BASE
from inferdash.studies.price import drawn

_DRAWS: Final = 100_000
_RANGED: Final = (
    "?api=anthropic/claude-sonnet-5-5&ranges=users ±25%, question ±25%, documents_tokens ±25%, answer ±25%, "
    "turns 2..8, sessions ±25%, gap ±25%&v=2"
)


def formula_calls() -> Iterator[str]:
    """One call of a formula, plain, as a formula, and while recording."""
    inputs = {"bytes_read": 1.5e10, "gpus": 1, "bandwidth": 3.35e12}

    def bare() -> None:
        roofline.load_s.function(**inputs)

    def formula() -> None:
        roofline.load_s(**inputs)

    def recorded() -> None:
        with recording():
            for _ in range(1000):
                roofline.load_s(**inputs)

    def unrecorded() -> None:
        for _ in range(1000):
            roofline.load_s(**inputs)

    yield f"formula call over the bare function          {ratio(formula, bare, number=2000, pairs=101):6.2f} times"
    yield f"formula call while recording over not        {ratio(recorded, unrecorded, number=2, pairs=51):6.2f} times"


def arrays() -> Iterator[str]:
    """65,536 decode passes over batch and context, through the formulas and written by hand."""
    machine = BASE.deployment
    batches = np.geomspace(1, 4096, 256)[:, None]
    contexts = np.geomspace(1, 131_072, 256)[None, :]

    def by_hand() -> np.ndarray:
        flops = batches * (2 * 7_504_924_672 + 4 * 32 * 32 * 128 * (contexts + 1))
        return np.maximum(flops / 989.4e12, (15_009_849_344 + batches * (131_072 * contexts)) / 3.35e12)

    def by_formulas() -> np.ndarray:
        return np.asarray(decode(machine, requests=batches, past=contexts).pass_s)

    np.testing.assert_allclose(by_formulas(), by_hand(), rtol=1e-12)
    times = ratio(by_formulas, by_hand, number=20)
    yield f"65,536 passes, formulas over numpy by hand   {times:6.2f} times (want below 3)"


def draws() -> Iterator[str]:
    """A month of which seven inputs are ranges, drawn and summed up."""
    scenario = links.decode(_RANGED).scenario
    taken = []
    for _ in range(15):
        begin = time.process_time()
        spread(np.asarray(drawn.month(scenario)(drawn.draws(scenario, count=_DRAWS))))
        taken.append(time.process_time() - begin)
    yield f"{_DRAWS:,} draws with seven ranges            {1e3 * min(taken):6.0f} ms (want at most 100)"
