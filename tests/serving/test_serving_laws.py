"""Laws of queues and of the simulator, and the simulator against one that goes pass by pass."""

from math import inf
from typing import Final

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import deploy
from inferdash.physics.fitted.expected import expected
from inferdash.physics.passes import one_pass
from inferdash.serving.simulated.pass_times import PassTimes, pass_times
from inferdash.serving.simulated.requests import Requests, bursts, log_normal, poisson, requests
from inferdash.serving.simulated.scheduling import Routing, Rule, Scheduling
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.simulator import simulate
from inferdash.serving.simulated.summary import ceiling, summary
from tests.serving.one_by_one import one_by_one
from tests.serving.toys import flat, random_times

VLLM: Final = library.engines()["vllm"]
BF16: Final = PRECISIONS["bf16"]
MACHINE: Final = deploy(
    library.models()["llama-3-8b"], library.accelerators()["h100-sxm"], gpus=1, weights=BF16, cache=BF16
)
LLAMA: Final = {
    view: times
    for view, engine in (("limit", None), ("expected", VLLM))
    if (times := pass_times(MACHINE, engine, places=64, tokens=4000, pass_tokens=2048))
}
VIEWS: Final = pytest.mark.parametrize("view", ["limit", "expected"])


def mixed(count: int, *, per_s: float) -> Requests:
    """Bursts of log-normal prompts and answers; the same draws at every rate."""
    return requests(
        bursts(count, per_s=per_s, variation=2, seed=1),
        prompt=log_normal(count, median=700, spread=2, least=10, most=3000, seed=2),
        answer=log_normal(count, median=100, spread=2, least=1, most=900, seed=3),
    )


RANDOM_CASES: Final = 1000


def random_case(seed: int, *, proposed: int = 0) -> tuple[Requests, PassTimes, Scheduling]:
    rng = np.random.default_rng(seed)
    count, places, page = (int(rng.integers(1, most)) for most in (12, 9, 9))
    prompt = rng.integers(1, 40, size=count)
    coming = requests(
        np.sort(rng.uniform(0, rng.choice([0, 5, 60]), size=count)),
        prompt=prompt,
        answer=rng.integers(1, 30, size=count),
        found=rng.integers(0, prompt) if rng.random() < 0.5 else 0,
    )
    how = Scheduling(
        places=places,
        page=page,
        pages=None if rng.random() < 0.2 else int(rng.integers(4, 200) // page + 1),
        batching="static" if rng.random() < 0.3 else "continuous",
        chunked=rng.random() < 0.5,
        pass_tokens=int(rng.integers(places + 1, 60)),
        preemption="swap" if rng.random() < 0.5 else "recompute",
        swap_token_s=float(rng.uniform(0, 0.1)),
    )
    return coming, random_times(rng, tokens=100, positions=64, proposed=proposed), how


@pytest.mark.parametrize("most", [0, 6])
def test_skipping_from_event_to_event_is_going_pass_by_pass(most: int) -> None:
    """On random small cases, to 1e-9; among them caches that put back, and requests that can never fit.

    Without proposals, and with one to six in each round.
    """
    preempted = refused = 0
    for seed in range(RANDOM_CASES):
        coming, times, how = random_case(seed, proposed=1 + seed % most if most else 0)
        slow, quick = one_by_one(coming, times, how), simulate(coming, times, how)
        *moments, put_back = slow
        for one, other in zip(moments, (quick.started_s, quick.first_token_s, quick.finish_s), strict=True):
            np.testing.assert_allclose(other, np.array(one), rtol=1e-9, atol=1e-9, err_msg=f"case {seed}")
        assert put_back == quick.preemptions.tolist(), f"case {seed}"
        preempted, refused = preempted + sum(put_back), refused + moments[0].count(inf)
    assert preempted > RANDOM_CASES / 2
    assert refused > RANDOM_CASES / 5


@pytest.mark.parametrize("rule", ["least loaded", "prefix-aware"])
def test_a_replica_that_is_asked_at_each_arrival_does_what_it_does_alone(rule: Rule) -> None:
    for seed in range(0, RANDOM_CASES, 10):
        coming, times, how = random_case(seed)
        alone, asked = simulate(coming, times, how), simulate(coming, times, how, Routing(rule=rule))
        np.testing.assert_allclose(asked.finish_s, alone.finish_s, rtol=1e-9)
        three = simulate(coming, times, how, Routing(replicas=3))
        for place in range(3):
            mine = three.replica == place
            own = requests(
                coming.arrival_s[mine], prompt=coming.prompt[mine], answer=coming.answer[mine], found=coming.found[mine]
            )
            assert simulate(own, times, how).finish_s.tolist() == three.finish_s[mine].tolist()


def check(coming: Requests, result: Served, how: Scheduling) -> None:
    """What holds for every simulation."""
    ran = result.replica >= 0
    assert (coming.arrival_s <= result.started_s).all()
    assert (result.started_s[ran] < result.first_token_s[ran]).all()
    assert ((result.first_token_s < result.finish_s) == (coming.answer > 1))[ran].all()
    for steps in result.steps:
        assert (np.diff(steps.time_s) >= 0).all()
        assert 0 <= steps.batch.min() <= steps.batch.max() <= how.places
        assert 0 <= steps.pages.min() <= steps.pages.max() <= (inf if how.pages is None else how.pages)
        assert (steps.batch[-1], steps.pages[-1]) == (0, 0)


SCHEDULINGS: Final = (
    Scheduling(places=64, pass_tokens=2048),
    Scheduling(places=64, pass_tokens=2048, chunked=True),
    Scheduling(places=32, pass_tokens=2048, batching="static"),
    Scheduling(places=64, pass_tokens=2048, pages=500),
    Scheduling(places=64, pass_tokens=512, pages=400, chunked=True, preemption="swap", swap_token_s=1e-6),
)


@VIEWS
@pytest.mark.parametrize("how", SCHEDULINGS)
def test_all_that_comes_is_served_once(view: str, how: Scheduling) -> None:
    """Tokens that are asked for are written, also under a load that no replica holds; the same seed does the same."""
    coming = mixed(500, per_s=40)
    result = simulate(coming, LLAMA[view], how)
    check(coming, result, how)
    said = summary(coming, result)
    end_s = result.finish_s.max()
    assert said.refused == 0
    assert said.output_tok_per_s * end_s == pytest.approx(coming.answer.sum(), rel=1e-9)
    assert said.prompt_tok_per_s * end_s == pytest.approx(coming.prompt.sum(), rel=1e-9)
    if how.pages:
        assert said.preemptions > 0
    again = simulate(mixed(500, per_s=40), LLAMA[view], how)
    for field in ("started_s", "first_token_s", "finish_s", "preemptions"):
        assert getattr(again, field).tolist() == getattr(result, field).tolist()


@VIEWS
def test_nobody_waits_beside_a_free_place(view: str) -> None:
    coming, how = mixed(2000, per_s=8), SCHEDULINGS[0]
    result = simulate(coming, LLAMA[view], how)
    (steps,) = result.steps
    free = steps.batch < how.places
    arrived = np.searchsorted(coming.arrival_s, steps.time_s, side="right")
    started = np.searchsorted(np.sort(result.started_s), steps.time_s, side="right")
    assert free.any()
    assert (arrived == started)[free].all()


@VIEWS
def test_littles_law(view: str) -> None:
    """Requests in the batch on average are the rate that was asked for times the mean time in it."""
    rate, how = 6.0, Scheduling(places=64, pass_tokens=2048)
    coming = requests(poisson(20_000, per_s=rate, seed=0), prompt=500, answer=100)
    result = simulate(coming, LLAMA[view], how)
    (steps,) = result.steps
    lasts = np.diff(steps.time_s)
    mean_batch = (steps.batch[:-1] * lasts).sum() / lasts.sum()
    assert mean_batch == pytest.approx(rate * (result.finish_s - result.started_s).mean(), rel=0.01)
    said = summary(coming, result)
    assert said.mean_batch is not None
    assert said.mean_batch * (1 - said.idle_share) == pytest.approx(mean_batch, rel=1e-9)


@VIEWS
def test_without_load_it_is_the_closed_form(view: str) -> None:
    """The prefill, then a pass of the decode after each token, from the formulas one by one."""

    def pass_s(*, positions: int, past: int) -> float:
        if view == "limit":
            one = one_pass(MACHINE, requests=1, positions=positions, past=past, output_positions=1)
        else:
            one = expected(MACHINE, VLLM, requests=1, positions=positions, past=past)  # type: ignore[assignment]
        assert one.pass_s is not None
        return float(one.pass_s)

    coming = requests(poisson(200, per_s=1e-4, seed=0), prompt=1024, answer=256)
    result = simulate(coming, LLAMA[view], SCHEDULINGS[0])
    prefill_s = pass_s(positions=1024, past=0)
    whole_s = prefill_s + sum(pass_s(positions=1, past=past) for past in range(1024, 1024 + 255))
    assert result.first_token_s - coming.arrival_s == pytest.approx(prefill_s, rel=1e-6)
    assert result.finish_s - coming.arrival_s == pytest.approx(whole_s, rel=1e-6)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_one_place_is_the_queue_m_d_1(load: float) -> None:
    """Each wait is Lindley's: that of the request before, its service, less the time between them, and never below 0.

    Pollaczek and Khinchine: with a service of fixed length S they are S load / (2 (1 - load)) on average.
    """
    service_s = 1 + 9.0  # the pass of the prompt, and nine decodes
    coming = requests(poisson(150_000, per_s=load / service_s, seed=3), prompt=1, answer=10)
    result = simulate(coming, flat(), Scheduling(places=1, pass_tokens=8))
    waits_s = result.started_s - coming.arrival_s
    lindley_s = [0.0]
    for gap_s in np.diff(coming.arrival_s).tolist():
        lindley_s.append(max(0.0, lindley_s[-1] + service_s - gap_s))
    np.testing.assert_allclose(waits_s, lindley_s, rtol=0, atol=1e-6)
    assert waits_s.mean() == pytest.approx(service_s * load / (2 * (1 - load)), rel=0.02)
    np.testing.assert_allclose(result.finish_s - result.started_s, service_s, rtol=1e-6)


@VIEWS
@pytest.mark.parametrize("chunked", [False, True])
def test_more_load_never_lowers_the_99th_percentile(view: str, chunked: bool) -> None:
    how = Scheduling(places=64, pass_tokens=2048, chunked=chunked)
    slowest = []
    for per_s in (1, 2, 4, 6, 8, 12, 16, 24, 40):
        coming = mixed(1500, per_s=per_s)
        p99 = summary(coming, simulate(coming, LLAMA[view], how)).end_to_end_s.p99
        assert p99 is not None
        slowest.append(p99)
    assert slowest == sorted(slowest)
    assert slowest[-1] > 2 * slowest[0]


@VIEWS
def test_a_full_replica_serves_the_ceiling(view: str) -> None:
    """To the digit where full batches follow each other; at 1.2 times the ceiling but for its start and its end."""
    how = Scheduling(places=64, pass_tokens=1024)
    most = ceiling(LLAMA[view], places=64, prompt=1024, answer=256)
    count = 64 * 60
    for arrival_s, near in ((np.zeros(count), 1e-9), (poisson(count, per_s=1.2 * most, seed=0), 0.01)):
        result = simulate(requests(arrival_s, prompt=1024, answer=256), LLAMA[view], how)
        assert most * (1 - near) < count / result.finish_s.max() <= most * (1 + 1e-9)


def test_a_swamped_replica_ends_and_says_how_long_it_took() -> None:
    coming = requests(np.zeros(2000), prompt=1000, answer=200)
    result = simulate(coming, LLAMA["expected"], Scheduling(places=64, pass_tokens=2048, pages=300))
    check(coming, result, Scheduling(places=64, pages=300))
    assert np.isfinite(result.finish_s).all()


def test_passes_twice_as_long_are_the_same_at_half_the_pace() -> None:
    """Times that all grow alike change nothing but the clock: a queue at a slower engine is one at a higher load."""
    rng = np.random.default_rng(15)
    for _ in range(20):
        times = random_times(rng, tokens=400, positions=256, proposed=int(rng.integers(0, 3)))
        asked = requests(
            np.sort(rng.uniform(0, 300, 80)), prompt=rng.integers(1, 200, 80), answer=rng.integers(2, 150, 80)
        )
        later = requests(2 * asked.arrival_s, prompt=asked.prompt, answer=asked.answer)
        how = Scheduling(places=16, pass_tokens=128)
        one, two = simulate(asked, times, how), simulate(later, times.slower(2.0), how)
        assert two.finish_s == pytest.approx(2 * one.finish_s)
        assert two.first_token_s == pytest.approx(2 * one.first_token_s)
