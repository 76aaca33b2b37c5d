"""Arrivals and lengths have the means and the spread that they were asked for."""

import numpy as np
import pytest

from inferdash.serving.simulated.requests import bursts, daily, in_turn, log_normal, poisson, requests


def test_random_arrivals() -> None:
    """At 5 a second: gaps of 0.2 s whose deviation is as long, and a Poisson number in each second."""
    times = poisson(100_000, per_s=5, seed=0)
    gaps = np.diff(times)
    assert gaps.mean() == pytest.approx(0.2, rel=0.01)
    assert gaps.std() == pytest.approx(0.2, rel=0.01)
    a_second = np.bincount(times.astype(int))[:-1]
    assert a_second.var() == pytest.approx(a_second.mean(), rel=0.05)
    assert (poisson(100, per_s=10, seed=0) == poisson(100, per_s=5, seed=0) / 2).all()


@pytest.mark.parametrize("variation", [0.3, 1, 3])
def test_bursts(variation: float) -> None:
    gaps = np.diff(bursts(200_000, per_s=5, variation=variation, seed=0))
    assert gaps.mean() == pytest.approx(0.2, rel=0.02)
    assert gaps.std() / gaps.mean() == pytest.approx(variation, rel=0.02)


def test_a_day() -> None:
    """Eight hours without anybody, then twice as many in the last eight as in those between, day after day."""
    times = daily(100_000, per_s=1, hours=[0] * 8 + [1] * 8 + [2] * 8, seed=0)
    hour = times / 3600 % 24
    assert (np.diff(times) >= 0).all()
    assert not (hour < 8).any()
    assert (hour >= 16).mean() == pytest.approx(2 / 3, abs=0.1)
    first = times[times < 86_400]
    assert len(first) == pytest.approx(86_400, rel=0.02)
    assert (first / 3600 >= 16).mean() == pytest.approx(2 / 3, rel=0.02)
    even = daily(1000, per_s=3, hours=[1], seed=0)
    assert even == pytest.approx(poisson(1000, per_s=3, seed=0))


def test_log_normal_lengths() -> None:
    """Two thirds within the factor, up and down, and nothing beyond the bounds."""
    tokens = log_normal(100_000, median=1000, spread=2, least=1, most=10**9, seed=0)
    assert np.median(tokens) == pytest.approx(1000, rel=0.01)
    assert ((tokens >= 500) & (tokens <= 2000)).mean() == pytest.approx(0.6827, abs=0.01)
    cut = log_normal(10_000, median=1000, spread=2, least=900, most=1500, seed=0)
    assert (cut.min(), cut.max()) == (900, 1500)
    assert (cut == 1500).mean() < 0.01  # cut off, not piled up at the end
    assert set(log_normal(5, median=1000, spread=1, least=1, most=800, seed=0).tolist()) == {800}
    far = log_normal(5, median=1000, spread=1.1, least=1, most=5, seed=0)
    assert set(far.tolist()) <= {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("arrival_s", "prompt", "answer", "found", "said"),
    [
        ([1, 0], 1, 1, 0, "falls"),
        ([-1, 0], 1, 1, 0, "begins below 0"),
        ([0, np.nan], 1, 1, 0, "not finite"),
        ([0, 1], [0, 1], 1, 0, "no tokens"),
        ([0, 1], 1, [1, 0], 0, "no tokens"),
        ([0, 1], 5, 1, [0, 5], "leaves no token"),
    ],
)
def test_requests_that_cannot_be(arrival_s: list[float], prompt: int, answer: int, found: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        requests(arrival_s, prompt=prompt, answer=answer, found=found)


@pytest.mark.parametrize(("of", "among"), [(4, 4), (4, 5), (4, 100), (2, 1_000_000)])
def test_arrivals_at_some_groups_are_those_that_come_to_them_in_turn(of: int, among: int) -> None:
    """Gaps at each group are those of a gamma of as many arrivals as there are groups: their mean and their spread."""
    each, per_s = 4000, 50.0
    mine = in_turn(each, of=of, among=among, per_s=per_s, seed=3)
    assert mine.size == each * of
    assert (np.diff(mine) > 0).all()
    gaps = np.diff(mine.reshape(each, of), axis=0)
    assert gaps.mean() == pytest.approx(among / per_s, rel=0.03)
    assert gaps.std() == pytest.approx(among**0.5 / per_s, rel=0.05)
    between = np.diff(mine.reshape(each, of), axis=1)
    assert between.mean() == pytest.approx(1 / per_s, rel=0.05)
    assert in_turn(each, of=of, among=among, per_s=2 * per_s, seed=3) == pytest.approx(mine / 2)
    if among <= 100:
        whole = poisson(each * among, per_s=per_s, seed=5).reshape(each, among)[:, :of]
        assert np.diff(whole, axis=0).std() == pytest.approx(gaps.std(), rel=0.1)
