"""Calls of an agent against sums done by hand, and laws."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash.pricing.agents import Loop, attempts, further_calls, usd_per_accepted
from inferdash.pricing.feature import Cache, Turn, total

CACHE = Cache(minimum=0, increment=1, lifetime_s=300, renewed=True)


def test_each_call_reads_what_came_before_it() -> None:
    loop = Loop(steps=3, call=50, result=200)
    assert further_calls(1000, loop, None) == [Turn(1250, 0, 0, 50), Turn(1500, 0, 0, 50)]
    assert further_calls(1000, loop, CACHE) == [Turn(0, 1000, 250, 50), Turn(0, 1250, 250, 50)]
    assert further_calls(1000, Loop(steps=1, call=50, result=200), CACHE) == []


def test_stored_starts_end_where_the_api_says() -> None:
    steps = Cache(minimum=1024, increment=128, lifetime_s=300, renewed=True)
    first, second = further_calls(1000, Loop(steps=3, call=50, result=200), steps)
    assert first == Turn(fresh=98, read=0, written=1152, output=50)  # 1,250 of which 9 x 128 are stored
    assert second == Turn(fresh=92, read=1152, written=256, output=50)  # 1,500 of which 11 x 128 are


def test_a_summary_takes_the_place_of_what_it_sums_up() -> None:
    loop = Loop(steps=4, call=50, result=200, compact_above=1400, summary=100, kept=300)
    assert further_calls(1000, loop, None) == [
        Turn(1250, 0, 0, 50),
        Turn(1500, 0, 0, 100),  # reads it all and writes the summary
        Turn(400, 0, 0, 50),
        Turn(650, 0, 0, 50),
    ]
    assert further_calls(1000, loop, CACHE)[1:3] == [Turn(0, 1250, 250, 100), Turn(0, 300, 100, 50)]


LOOPS = st.builds(
    Loop,
    steps=st.integers(1, 30),
    call=st.integers(0, 500),
    result=st.integers(0, 5000),
    compact_above=st.one_of(st.just(0), st.integers(1, 200_000)),
    summary=st.just(500),
    kept=st.just(300),
)


@given(prompt=st.integers(0, 100_000), loop=LOOPS, increment=st.sampled_from([1, 128, 1024]))
def test_more_steps_take_more_and_the_cache_only_moves_input(prompt: int, loop: Loop, increment: int) -> None:
    cache = Cache(minimum=1024, increment=increment, lifetime_s=300, renewed=True)
    plain, cached = total(further_calls(prompt, loop, None)), total(further_calls(prompt, loop, cache))
    assert cached.input == plain.input
    assert cached.output == plain.output >= (loop.steps - 1) * loop.call
    assert min(cached.fresh, cached.read, cached.written) >= 0
    longer = total(further_calls(prompt, replace(loop, steps=loop.steps + 1), None))
    assert longer.input >= plain.input
    assert longer.output >= plain.output


@given(again=st.floats(0, 0.9), more=st.floats(0, 0.09))
def test_asking_again_is_never_cheaper(again: float, more: float) -> None:
    assert attempts(again=again + more) >= attempts(again=again) >= 1


def test_an_accepted_answer_carries_those_that_are_not() -> None:
    assert attempts(again=0.2) == pytest.approx(1.25)
    assert usd_per_accepted(month_usd=900, answers=1000, accepted=0.75) == pytest.approx(1.2)
