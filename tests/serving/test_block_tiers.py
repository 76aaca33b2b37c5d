"""Blocks below the GPUs: known answers of real traffic, a case by hand, and laws."""

from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash.serving.simulated.pass_times import Line, PassTimes, Reading
from inferdash.serving.simulated.requests import Requests, Texts, Turns, requests
from inferdash.serving.simulated.scheduling import Scheduling, Tiers, Write
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.simulator import simulate
from tests.serving.one_by_one import one_by_one
from tests.serving.test_prefix_cache import ANSWERS, TEXTS, coming, prompts
from tests.serving.toys import random_times

TOKENS: Final = 200_000
MOONCAKE: Final = "mooncake_conversation_first1200s"
KNOWN: Final = {
    int(row["capacity_blocks_each"]): row
    for row in ANSWERS
    if row["trace"] == MOONCAKE
    and row["cache"] == "block LRU"
    and (row["replicas"], row["answers_take_blocks"]) == ("1", "no")
    and row["capacity_blocks_each"] != "unlimited"
}
"""Blocks of one cache -> what a cache of least recently used blocks finds again."""


def evenly(*, token_s: float, tokens: int = TOKENS) -> PassTimes:
    """Each token that is read takes `token_s`, a pass nothing besides."""
    texts = token_s * np.arange(tokens + 600.0)
    none = np.zeros(tokens + 600)
    line = Line(pass_s=none, context_s=none, readings=(Reading(end_s=texts, start_s=-texts),))
    return PassTimes(lines=(line,))


def mooncake() -> Requests:
    """The requests of the trace so far apart that each ends before the next comes."""
    trace = coming(MOONCAKE)
    return requests(
        1e6 * np.arange(len(trace)),
        prompt=[one.tokens for one in trace],
        answer=[one.answer for one in trace],
        texts=Texts.of([one.blocks for one in trace], block=512),
    )


@pytest.mark.parametrize(("host", "ssd"), [(5000, 0), (20_000, 0), (5000, 15_000), (0, 50_000), (20_000, 80_000)])
def test_gpus_and_tiers_find_what_one_cache_of_their_size_finds(host: int, ssd: int) -> None:
    """Blocks are written out as they are used, so the tiers hold what a cache of their room holds, to the block."""
    who = mooncake()
    tiers = Tiers(host_pages=host, ssd_pages=ssd, ssd_token_s=1e-6)
    how = Scheduling(places=1, page=512, pages=600, pass_tokens=512, tiers=tiers)
    served = simulate(who, evenly(token_s=1e-3), how)
    assert int(served.found.sum()) == int(KNOWN[host + ssd]["hit_tokens"])
    alone = simulate(who, evenly(token_s=1e-3), replace(how, tiers=Tiers()))
    assert int((served.found - served.reloaded).sum()) == int(alone.found.sum())


def test_a_block_comes_back_where_that_is_quicker() -> None:
    """By hand: 48 tokens of 3 blocks; the same prompt after one that pushed it out of the GPUs.

    Of 49 tokens, 48 can be found. Recomputed they take 0.48 s; moved in 48 * 0.001 + 0.1 = 0.148 s, and the last one
    0.01 s. With a link ten times as slow that is 0.58 s, and all 49 are computed in 0.49 s.
    """
    names = [["a", "b", "c"], ["x", "y", "z"], ["a", "b", "c"]]
    who = requests([0, 10, 20], prompt=49, answer=1, texts=Texts.of(names, block=16))
    for token_s, first_s, moved in ((0.001, 0.158, 48), (0.01, 0.49, 0)):
        tiers = Tiers(host_pages=6, host_token_s=token_s, latency_s=0.1)
        how = Scheduling(places=1, page=16, pages=4, pass_tokens=64, tiers=tiers)
        served = simulate(who, evenly(token_s=0.01), how)
        assert served.reloaded.tolist() == [0, 0, moved]
        np.testing.assert_allclose(served.first_token_s, [0.49, 10.49, 20 + first_s], rtol=1e-12)


def test_others_run_while_blocks_come_back() -> None:
    """By hand: a block of the one takes 0.1 + 16 * 0.01 s; the other, which came just after it, is read meanwhile."""
    names = [["a", "b", "c"], ["x", "y", "z"], ["a", "b", "c"], ["n"]]
    who = requests([0, 10, 20, 20], prompt=[49, 49, 49, 17], answer=1, texts=Texts.of(names, block=16))
    tiers = Tiers(host_pages=6, host_token_s=0.01, latency_s=0.1)
    how = Scheduling(places=2, page=16, pages=6, pass_tokens=64, tiers=tiers)
    served = simulate(who, evenly(token_s=0.1), how)
    assert served.reloaded.tolist() == [0, 0, 16, 0]
    np.testing.assert_allclose(served.first_token_s[2:], [20 + 1.7 + 0.1, 21.7], rtol=1e-12)


def case(texts: list[str], *, places: int, pages: int, tiers: Tiers, chunked: bool = False) -> tuple[Requests, Served]:
    trace = prompts(texts)
    who = requests(
        0.3 * np.arange(len(trace)),
        prompt=[one.tokens for one in trace],
        answer=20,
        texts=Texts.of([one.blocks for one in trace], block=16),
    )
    how = Scheduling(places=places, page=16, pages=pages, pass_tokens=64, chunked=chunked, tiers=tiers)
    return who, simulate(who, evenly(token_s=0.01, tokens=200), how)


TIERS: Final = st.builds(
    Tiers,
    host_pages=st.integers(0, 12),
    ssd_pages=st.integers(0, 12),
    host_token_s=st.sampled_from([0.0, 1e-3, 5e-3]),
    ssd_token_s=st.sampled_from([1e-3, 5e-3, 2e-2]),
    latency_s=st.sampled_from([0.0, 0.05]),
    write=st.sampled_from(["through", "back"]),
)


@settings(deadline=None)
@given(TEXTS, st.integers(8, 20), st.integers(1, 4), st.booleans(), TIERS)
def test_all_end_and_none_finds_more_than_there_was(
    texts: list[str], pages: int, places: int, chunked: bool, tiers: Tiers
) -> None:
    who, served = case(texts, places=places, pages=pages, tiers=tiers, chunked=chunked)
    ran = served.replica >= 0
    assert np.isfinite(served.finish_s[ran]).all()
    assert (served.reloaded <= served.found).all()
    assert (served.found < who.prompt).all()
    assert 0 <= served.steps[0].pages.min() <= served.steps[0].pages.max() <= pages
    assert served.steps[0].pages[-1] == 0


@settings(deadline=None)
@given(TEXTS, st.integers(8, 20), st.sampled_from(["through", "back"]))
def test_tiers_without_room_are_none(texts: list[str], pages: int, write: Write) -> None:
    tiers = Tiers(host_pages=0, ssd_pages=0, latency_s=1.0, write=write)
    _, served = case(texts, places=2, pages=pages, tiers=tiers)
    _, without = case(texts, places=2, pages=pages, tiers=Tiers())
    assert served.finish_s.tolist() == without.finish_s.tolist()
    assert not served.reloaded.any()


@settings(deadline=None)
@given(TEXTS, st.integers(8, 14), st.integers(0, 20))
def test_more_room_below_never_finds_less(texts: list[str], pages: int, room: int) -> None:
    """One after another, with a link that takes no time."""
    found = [
        int(case(texts, places=1, pages=pages, tiers=Tiers(host_pages=host))[1].found.sum())
        for host in (room, room + 1)
    ]
    assert found[0] <= found[1]


def random_sessions(seed: int) -> tuple[Requests, PassTimes, Scheduling]:
    """Requests with blocks, of which some follow on others, on a replica with tiers; also larger than the cache."""
    rng = np.random.default_rng(seed)
    count, places, page = int(rng.integers(2, 14)), int(rng.integers(1, 7)), int(rng.integers(1, 5))
    block = page * int(rng.integers(1, 3))
    names: list[list[tuple[int, int]]] = []
    prompt = rng.integers(1, 40, size=count)
    for tokens in prompt.tolist():
        family, whole = int(rng.integers(3)), tokens // block
        same = min(whole, int(rng.integers(0, 12)))
        own = [(len(names), place) for place in range(same, whole)]
        names.append([(family, place) for place in range(same)] + own)
    turns = None
    if rng.random() < 0.6:
        before = [[] if one == 0 or rng.random() < 0.4 else [int(rng.integers(one))] for one in range(count)]
        for one in range(2, count):
            if before[one] and rng.random() < 0.3:
                before[one] = sorted({*before[one], int(rng.integers(one))})
        turns = Turns.of(before, pause_s=rng.uniform(0, 6, size=count))
    who = requests(
        np.sort(rng.uniform(0, 30, size=count)),
        prompt=prompt,
        answer=rng.integers(1, 25, size=count),
        texts=Texts.of(names, block=block),
        turns=turns,
    )
    write: Write = "back" if rng.random() < 0.5 else "through"
    tiers = Tiers(
        host_pages=int(rng.choice([0, 10, 40])),
        ssd_pages=int(rng.choice([0, 10, 40])),
        host_token_s=float(rng.uniform(0, 0.02)),
        ssd_token_s=float(rng.uniform(0, 0.08)),
        latency_s=float(rng.choice([0.0, 0.3])),
        write=write,
    )
    how = Scheduling(
        places=places,
        page=page,
        pages=int(rng.integers(8, 120) // page + 1),
        batching="static" if rng.random() < 0.2 else "continuous",
        chunked=rng.random() < 0.5,
        pass_tokens=int(rng.integers(places + 1, 60)),
        preemption="swap" if rng.random() < 0.3 else "recompute",
        swap_token_s=float(rng.uniform(0, 0.1)),
        tiers=tiers if rng.random() < 0.8 else Tiers(),
    )
    return who, random_times(rng, tokens=100, positions=64), how


def test_blocks_tiers_and_turns_from_event_to_event_are_those_pass_by_pass() -> None:
    """On random small cases, to 1e-9: with blocks in every one, tiers in most, turns in many."""
    reloaded = preempted = followed = 0
    for seed in range(400):
        who, times, how = random_sessions(seed)
        slow, quick = one_by_one(who, times, how), simulate(who, times, how)
        *moments, put_back = slow
        for one, other in zip(moments, (quick.started_s, quick.first_token_s, quick.finish_s), strict=True):
            np.testing.assert_allclose(other, np.array(one), rtol=1e-9, atol=1e-9, err_msg=f"case {seed}")
        assert put_back == quick.preemptions.tolist(), f"case {seed}"
        reloaded += int(quick.reloaded.sum() > 0)
        preempted += int(quick.preemptions.sum() > 0)
        followed += who.turns is not None
    assert min(reloaded, preempted, followed) > 40
