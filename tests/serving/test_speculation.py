"""Proposed tokens in the simulator: tables against formulas, laws, and a loop that draws each acceptance."""

from itertools import accumulate
from typing import Final

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import deploy
from inferdash.physics.drafters import Proposals, drafter_of, round_of
from inferdash.serving.simulated.pass_times import PassTimes, pass_times
from inferdash.serving.simulated.requests import poisson, requests
from inferdash.serving.simulated.scheduling import Scheduling
from inferdash.serving.simulated.simulator import simulate
from inferdash.serving.simulated.summary import summary

VLLM: Final = library.engines()["vllm"]
BF16: Final = PRECISIONS["bf16"]
MODEL: Final = library.models()["llama-3.1-8b"]
MACHINE: Final = deploy(MODEL, library.accelerators()["h100-sxm"], gpus=1, weights=BF16, cache=BF16)
HEAD: Final = drafter_of(MODEL, "eagle3")


def times(proposals: Proposals | None, *, limit: bool = False) -> PassTimes:
    found = pass_times(MACHINE, None if limit else VLLM, places=64, tokens=2000, pass_tokens=2048, proposals=proposals)
    assert found
    return found


def eagle(length: float, draft_tokens: int = 3) -> Proposals:
    return Proposals(method="eagle3", draft_tokens=draft_tokens, tokens_per_pass=length, drafter=HEAD)


@pytest.mark.parametrize("limit", [True, False])
def test_rounds_of_equal_requests_are_those_of_the_formulas(limit: bool) -> None:
    what = eagle(2.3)
    for batch in (1, 8, 64):
        for past in (1, 500, 1900):
            found = round_of(MACHINE, None if limit else VLLM, what, requests=batch, past=past)
            assert found
            assert times(what, limit=limit).token_s([past] * batch) == pytest.approx(float(found.round_s) / 2.3)


@pytest.mark.parametrize("chunked", [False, True])
def test_no_proposal_kept_is_no_speculation_plus_its_cost(chunked: bool) -> None:
    """A head that takes no time and is never right leaves each token as it was, but for the positions of its check."""
    coming = requests(poisson(300, per_s=4, seed=0), prompt=500, answer=100)
    how = Scheduling(places=64, pass_tokens=2048, chunked=chunked)
    plain, lost = (simulate(coming, times(what), how) for what in (None, eagle(1.0)))
    found = round_of(MACHINE, VLLM, eagle(1.0), requests=1, past=550)
    assert found
    alone = np.diff(coming.arrival_s, append=np.inf) > 5
    alone[1:] &= alone[:-1]
    took_s, took_plain_s = (one.finish_s - one.first_token_s for one in (lost, plain))
    assert (took_s > took_plain_s).all()
    assert took_s[alone] / 99 == pytest.approx(float(found.round_s), rel=1e-3)


def test_speculation_is_the_mean_of_drawn_acceptances() -> None:
    """Against a loop whose rounds are whole and whose acceptance is drawn for each request: within 2% of its time.

    300 answers of 30 to 300 tokens in eight places, each after its prompt in a pass of its own.
    """
    table, rng = times(eagle(2.952)), np.random.default_rng(0)
    answers = rng.integers(30, 300, size=300)
    coming = requests(np.zeros(300), prompt=100, answer=answers)
    served = simulate(coming, table, Scheduling(places=8, pass_tokens=2048))
    now, waiting, seats = 0.0, answers.tolist(), np.zeros((0, 2), dtype=int)
    while waiting or len(seats):
        joining = [(100, waiting.pop(0) - 1) for _ in range(min(8 - len(seats), len(waiting)))]
        if joining:
            now += table.pass_s(chunks=[(100, 0)] * len(joining))
            seats = np.concatenate([seats, joining])
        now += table.pass_s(contexts=seats[:, 0].tolist())
        kept = 1 + (rng.random((len(seats), 3)) < 0.8).cumprod(axis=1).sum(axis=1)
        seats = seats + np.stack([kept, -kept], axis=1)
        seats = seats[seats[:, 1] > 0]
    assert float(served.finish_s.max()) == pytest.approx(now, rel=0.02)


def test_a_longer_acceptance_is_never_slower() -> None:
    """Nor does a cache that fills up lose a request, with proposals of any number."""
    coming = requests(poisson(400, per_s=12, seed=1), prompt=400, answer=150)
    for draft_tokens in (1, 3, 16):
        ends: list[float] = []
        for share in (0.0, 0.5, 1.0):
            what = eagle(1 + share * draft_tokens, draft_tokens)
            served = simulate(coming, times(what), Scheduling(places=64, pass_tokens=2048, pages=300))
            assert np.isfinite(served.finish_s).all()
            ends.append(summary(coming, served).inter_token_latency_s.p50 or 0.0)
        assert ends == list(accumulate(ends, min))
