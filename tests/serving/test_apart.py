"""Prefill and decode on workers of their own: cases by hand, known answers, laws, and a loop that goes pass by pass."""

from dataclasses import replace
from math import inf
from typing import Any, Final

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.under_load import disaggregation, steady_state
from inferdash.scenario import Scenario
from inferdash.serving.simulated.apart import ServedApart, Stage, Transfer, simulate_apart
from inferdash.serving.simulated.requests import Requests, poisson, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling
from inferdash.serving.simulated.simulator import simulate
from inferdash.studies.run.disaggregation import moved_bytes
from inferdash.studies.run.transfer import transfer_of
from tests.serving.one_by_one import one_by_one
from tests.serving.test_serving_laws import random_case
from tests.serving.toys import flat, random_times

READING: Final = {"prompt_token_s": 0.1}
"""A pass takes 1 s, and 0.1 s more for each token of a prompt that it reads."""


def moving(count: int, *, sending: float = 0.0, receiving: float = 0.0, **how: Any) -> Transfer:
    return Transfer(sending_s=np.full(count, sending), receiving_s=np.full(count, receiving), **how)


def apart(
    coming: Requests, transfer: Transfer, *, prefill: int = 1, decode: int = 1, places: int = 4, **how: Any
) -> ServedApart:
    plan = Scheduling(places=places, pass_tokens=20, **how)
    first, then = (Stage(times=flat(**READING), how=plan, routing=Routing(replicas=many)) for many in (prefill, decode))
    return simulate_apart(coming, first, then, transfer)


def test_one_request_reads_moves_and_writes() -> None:
    """Read in 1 + 1 s, moved in 3 s with 0.5 s of latency, then two passes of 1 s."""
    found = apart(requests([2.0], prompt=10, answer=3), moving(1, sending=1, receiving=3, latency_s=0.5))
    told = found.whole(first_from_decode=False)
    assert (told.started_s[0], told.first_token_s[0], found.arrived_s[0], told.finish_s[0]) == (2, 4, 7.5, 9.5)
    assert found.whole(first_from_decode=True).first_token_s[0] == 7.5


def test_layers_that_are_sent_as_they_are_there() -> None:
    """Reading takes 2 s and moving 3: 1 s is left when the prompt is read, and the last of 4 layers 0.75 s more.

    Where moving takes less than reading, the last layer is left alone.
    """
    one = requests([0.0], prompt=10, answer=2)
    assert apart(one, moving(1, sending=3, layers=4)).arrived_s[0] == 2 + 1 + 0.75
    assert apart(one, moving(1, sending=1, layers=4)).arrived_s[0] == 2 + 0.25


def test_an_answer_of_one_token_is_not_moved() -> None:
    found = apart(requests([0.0, 0.0], prompt=10, answer=[1, 2]), moving(2, sending=9))
    assert found.moved.tolist() == [1]
    assert found.whole(first_from_decode=True).first_token_s.tolist() == [3, 12]
    assert found.whole(first_from_decode=True).finish_s.tolist() == [3, 13]


def test_a_link_serves_one_cache_after_another() -> None:
    """Both are read at 3 s in one pass; the second waits for the first on the link of their worker.

    Two prefill workers have read by 2 s and send at once; where all that decode workers take in a second is the
    limit, they wait for each other all the same.
    """
    both = requests([0.0, 0.0], prompt=10, answer=2)
    assert apart(both, moving(2, sending=4)).arrived_s.tolist() == [7, 11]
    assert apart(both, moving(2, sending=4), prefill=2).arrived_s.tolist() == [6, 6]
    assert apart(both, moving(2, receiving=4), prefill=2).arrived_s.tolist() == [6, 10]
    assert apart(both, moving(2, receiving=4), prefill=2, decode=2).arrived_s.tolist() == [6, 8]


def test_a_decode_is_not_interrupted() -> None:
    """A writes until 2 + 5; B comes at 3 and reads for 2 s, for which A would wait on one worker."""
    two = requests([0.0, 3.0], prompt=10, answer=[6, 2])
    found = apart(two, moving(2)).whole(first_from_decode=False)
    assert found.first_token_s.tolist() == [2, 5]
    assert found.finish_s.tolist() == [7, 6]
    together = simulate(two, flat(**READING), Scheduling(places=4, pass_tokens=20))
    assert together.finish_s.tolist() == [9, 6]


def test_a_full_cache_of_decode_reads_its_prompt_again() -> None:
    """Two texts of 10 + 12 tokens in 40: the later gives way at 20 and 20, and 21 tokens are read again in two passes.

    It comes back when the other has ended, at 2 + 11 s; what was received is lost, so all of it is read.
    """
    found = apart(requests([0.0, 0.0], prompt=10, answer=12), moving(2), prefill=2, pages=40, page=1)
    told = found.whole(first_from_decode=False)
    assert told.preemptions.tolist() == [0, 1]
    assert told.finish_s[0] == 2 + 11
    assert told.finish_s[1] == pytest.approx(13 + 2 * 1 + 21 * 0.1)


def test_what_one_stage_has_no_room_for_is_refused() -> None:
    """10 + 40 tokens fit a prefill worker of 20, which holds the prompt alone, and no decode worker of 20."""
    found = apart(requests([0.0, 0.0], prompt=10, answer=[41, 2]), moving(2), pages=20, page=1)
    told = found.whole(first_from_decode=False)
    assert told.replica.tolist() == [-1, 0]
    assert told.first_token_s[0] == told.finish_s[0] == inf


# Known answers, with the formulas that they were worked out by.


@pytest.mark.parametrize(
    ("model", "number_bytes", "token_bytes"),
    [
        ("llama-3.1-8b", 2, 131_072),
        ("llama-3.3-70b", 2, 327_680),
        ("qwen3-32b", 2, 262_144),
        ("deepseek-v3", 2, 70_272),
        ("deepseek-v3", 1, 35_136),
    ],
)
def test_bytes_and_seconds_of_a_prompt_of_8192(model: str, number_bytes: int, token_bytes: int) -> None:
    held = request_cache_bytes(library.models()[model], tokens=8192, bytes_per_number=number_bytes)
    assert held == 8192 * token_bytes
    for bandwidth, ms_of_8b in ((450e9, 2.386), (900e9, 1.193), (100e9, 10.737), (50e9, 21.475), (25e9, 42.95)):
        seconds = disaggregation.transfer_s(sent_bytes=held, received_bytes=0, link_bandwidth=bandwidth)
        assert 1e3 * seconds == pytest.approx(ms_of_8b * token_bytes / 131_072, rel=3e-4)


TARGETS: Final = (
    # prefill s, passes, target s, batch together, together a GPU, batch apart, workers for one, apart a GPU, gain
    (0.25, 1000, 0.02, 40, 2.0, 240, 3.0, 3.0, 1.5),
    (0.25, 1000, 0.05, 140, 2.8, 840, 4.2, 3.230769, 1.153846),
    (0.05, 1000, 0.02, 120, 6.0, 240, 0.6, 7.5, 1.25),
    (0.25, 100, 0.02, 4.7059, 2.352941, 240, 30.0, 3.870968, 1.645161),
    (0.25, 1000, 0.01, 6.6667, 0.666667, 40, 1.0, 2.0, 3.0),
    (0.25, 8000, 0.02, 147.6923, 0.923077, 240, 0.375, 1.090909, 1.181818),
)


@pytest.mark.parametrize("case", TARGETS)
def test_what_a_target_between_tokens_leaves(case: tuple[float, ...]) -> None:
    """A pass of b requests takes 8 ms and 0.05 ms for each."""
    prefill_s, passes, target_s, b_together, together, b_apart, workers, alone, gain = case
    one: dict[str, float] = {"prefill_s": prefill_s, "passes": passes}
    pass_s = 0.008 + 5e-5 * b_together
    carried = steady_state.carried_per_s(batch=b_together, pass_s=pass_s, **one)
    between_s = steady_state.interrupted_pass_s(pass_s=pass_s, carried_per_s=carried, prefill_s=prefill_s)
    assert between_s == pytest.approx(target_s, rel=1e-4)
    assert carried == pytest.approx(together, rel=1e-4)
    decode = {**one, "batch": b_apart, "pass_s": target_s}
    assert disaggregation.prefill_workers_per_decode_worker(**decode) == pytest.approx(workers)
    assert disaggregation.carried_per_gpu_s(**decode) == pytest.approx(alone, rel=1e-6)
    assert disaggregation.carried_per_gpu_s(**decode) / carried == pytest.approx(gain, rel=1e-4)


@pytest.mark.parametrize(("prefill", "decode", "per_s"), [(6, 2, 24), (4, 4, 16), (7, 1, 12), (5, 3, 20), (2, 6, 8)])
def test_whole_workers(prefill: int, decode: int, per_s: float) -> None:
    carried = disaggregation.carried_apart_per_s(
        prefill_workers=prefill, prefill_s=0.25, decode_workers=decode, batch=240, passes=1000, pass_s=0.02
    )
    assert carried == pytest.approx(per_s)


def test_what_a_link_carries() -> None:
    """12 prompts of 8,192 tokens a second of an 8B model: a quarter of 400 Gbit/s, and four times 25 Gbit/s."""
    held = 8192 * 131_072
    assert 12 / disaggregation.link_carries_per_s(link_bandwidth=50e9, sent_bytes=held) == pytest.approx(
        0.2577, abs=5e-5
    )
    assert disaggregation.link_carries_per_s(link_bandwidth=3.125e9, sent_bytes=held) == pytest.approx(2.9104, abs=5e-5)


def test_the_second_token_comes_after_the_transfer() -> None:
    """Read in 0.25 s, moved in 21.475 ms, written in 20 ms; and with 32 layers that are sent as they are there."""
    times = flat(pass_s=0.25), flat(pass_s=0.02)
    first, then = (Stage(times=one, how=Scheduling(places=1, pass_tokens=100), routing=Routing()) for one in times)
    for layers, second_s in ((0, 0.291475), (32, 0.270671)):
        one = requests([0.0], prompt=100, answer=2)
        found = simulate_apart(one, first, then, moving(1, sending=0.021475, layers=layers)).whole(
            first_from_decode=False
        )
        assert found.first_token_s[0] == 0.25
        assert found.finish_s[0] == pytest.approx(second_s, abs=1e-6)
    late_s = disaggregation.late_transfer_s(transfer_s=0.021475, prefill_s=0.25, layers=32)
    assert 0.25 + late_s + 0.02 == pytest.approx(0.270671, abs=1e-6)


def test_prompts_wait_as_in_a_queue_with_one_server() -> None:
    """Three prompts a second of 0.25 s each, one a pass: 0.375 s on average, by Pollaczek and Khinchine."""
    coming = requests(poisson(60_000, per_s=3, seed=1), prompt=1, answer=1)
    stage = Stage(times=flat(pass_s=0.25), how=Scheduling(places=1, pass_tokens=2), routing=Routing())
    found = simulate_apart(coming, stage, stage, moving(len(coming)))
    assert (found.prefill.started_s - coming.arrival_s).mean() == pytest.approx(0.375, rel=0.05)


def test_output_of_a_gpu_where_rates_match() -> None:
    """4 prompts a second on one GPU and 12 answers of 1,001 tokens on another: three GPUs read for one that writes."""
    matched = disaggregation.rate_matched_tok_per_s(
        answer=1001, prefill_per_s=4, prefill_gpus=1, decode_per_s=12, decode_gpus=1
    )
    assert matched == pytest.approx(3003.0)
    rng = np.random.default_rng(3)
    for _ in range(100):  # with workers of one GPU it is what a GPU carries at the ratio that keeps both busy
        one = dict(zip(("prefill_s", "batch", "passes", "pass_s"), rng.uniform(0.1, 9, 4).tolist(), strict=True))
        said = disaggregation.rate_matched_tok_per_s(
            answer=7.0,
            prefill_per_s=1 / one["prefill_s"],
            prefill_gpus=1.0,
            decode_per_s=one["batch"] / (one["passes"] * one["pass_s"]),
            decode_gpus=1.0,
        )
        assert said == pytest.approx(7 * disaggregation.carried_per_gpu_s(**one))


def test_what_a_decode_worker_has_found_is_not_moved() -> None:
    """6,144 of 8,192 tokens: 268 MB are moved of an 8B model, a quarter of the whole."""
    scenario = Scenario(model="llama-3.1-8b", prompt=8192, found_share=0.75, disaggregated=True, decode_prefixes=True)
    assert moved_bytes(scenario) == 268_435_456
    whole = scenario.model_copy(update={"decode_prefixes": False})
    assert moved_bytes(whole) == 4 * moved_bytes(scenario)
    who = requests(np.zeros(2), prompt=[8192, 100], answer=2, found=[6144, 0])
    some, every = (transfer_of(one, one.prefill, who) for one in (scenario, whole))
    assert some
    assert every
    assert some.sending_s / every.sending_s == pytest.approx([0.25, 1])
    again = requests(np.zeros(5), prompt=8192, answer=2, found=6144, prefix=[7, 3, 7, 7, 3])  # each seen first once
    once = transfer_of(scenario, scenario.prefill, again)
    assert once
    assert once.sending_s / every.sending_s[0] == pytest.approx([1, 1, 0.25, 0.25, 0.25])


# Laws.


def test_apart_gains_nothing_at_the_same_batch() -> None:
    rng = np.random.default_rng(5)
    one = {
        "prefill_s": rng.uniform(0.01, 5, 500),
        "batch": rng.integers(1, 2000, 500).astype(float),
        "passes": rng.integers(1, 9000, 500).astype(float),
        "pass_s": rng.uniform(0.001, 0.2, 500),
    }
    together, alone = steady_state.carried_per_s(**one), disaggregation.carried_per_gpu_s(**one)
    np.testing.assert_allclose(alone, together, rtol=1e-12)
    ratio = disaggregation.prefill_workers_per_decode_worker(**one)
    whole = disaggregation.carried_apart_per_s(prefill_workers=ratio, decode_workers=1, **one)
    np.testing.assert_allclose(whole / (1 + ratio), together, rtol=1e-12)


def test_where_no_prompt_interrupts_apart_is_together() -> None:
    """Prompts that are read in one pass on an endless link: the same batch writes the same tokens at the same times.

    Likewise requests of which each has ended before the next one comes.
    """
    for seed in range(200):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 10))
        arrival_s = np.zeros(count) if seed % 2 else 1e4 * np.arange(count)
        coming = requests(arrival_s, prompt=rng.integers(1, 6, count), answer=rng.integers(1, 30, count))
        times, how = random_times(rng, tokens=100, positions=64), Scheduling(places=12, pass_tokens=64)
        stage = Stage(times=times, how=how, routing=Routing())
        found = simulate_apart(coming, stage, stage, moving(count)).whole(first_from_decode=bool(seed % 3))
        whole = simulate(coming, times, how)
        np.testing.assert_array_equal(found.first_token_s, whole.first_token_s)
        np.testing.assert_allclose(found.finish_s, whole.finish_s, rtol=1e-12)


@pytest.mark.parametrize("most", [0, 3])
def test_two_stages_from_event_to_event_are_two_stages_pass_by_pass(most: int) -> None:
    """On random cases, to 1e-9, with caches that put back and prompts that are refused, and with proposals."""
    preempted = refused = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        coming, times, how = random_case(seed, proposed=1 + seed % most if most else 0)
        sending, latency_s = rng.uniform(0, 3, len(coming)) * (seed % 2), float(rng.uniform(0, 1))
        stage = Stage(times=times, how=how, routing=Routing())
        transfer = Transfer(sending_s=sending, receiving_s=np.zeros(len(coming)), latency_s=latency_s)
        found = simulate_apart(coming, stage, stage, transfer)
        read_s = np.array(one_by_one(replace(coming, answer=np.ones_like(coming.answer)), times, how)[1])
        going = sorted(one for one in range(len(coming)) if read_s[one] < inf and coming.answer[one] > 1)
        free_s, arrived_s = 0.0, {}
        for one in sorted(going, key=lambda one: (read_s[one], one)):
            free_s = max(free_s, read_s[one]) + sending[one]
            arrived_s[one] = free_s + latency_s
        order = sorted(going, key=lambda one: (arrived_s[one], one))
        np.testing.assert_allclose(found.arrived_s, [arrived_s[one] for one in order], rtol=1e-9)
        moved = requests(found.arrived_s, prompt=coming.prompt[found.moved], answer=coming.answer[found.moved])
        *_, finish_s, put_back = one_by_one(moved, times, replace(how, received=True))
        np.testing.assert_allclose(found.decode.finish_s, finish_s, rtol=1e-9, err_msg=f"case {seed}")
        assert found.decode.preemptions.tolist() == put_back
        preempted += sum(put_back)
        refused += finish_s.count(inf)
    assert preempted > 50
    assert refused > 10


def test_a_slower_link_ends_nothing_sooner_and_two_stages_lose_nothing() -> None:
    """Every token is written once, in both stages; pages and places are free at the end."""
    rng = np.random.default_rng(3)
    coming = requests(
        np.sort(rng.uniform(0, 300, 400)), prompt=rng.integers(1, 20, 400), answer=rng.integers(1, 9, 400)
    )
    ends = []
    for seconds in (0.0, 0.2, 0.8):
        found = apart(coming, moving(400, sending=seconds), prefill=3, decode=2, places=400)
        told = found.whole(first_from_decode=True)
        assert np.isfinite(told.finish_s).all()
        assert (told.started_s < told.first_token_s).all()
        assert ((told.first_token_s < told.finish_s) == (coming.answer > 1)).all()
        for steps in (*found.prefill.steps, *found.decode.steps):
            assert steps.batch[-1] == steps.pages[-1] == 0
        ends.append(found.arrived_s.max())
    assert ends == sorted(ends)
