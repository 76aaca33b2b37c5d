"""Replicas that follow the load: what is worked out by hand, and laws."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash.serving.simulated.autoscaling import CALM_S, DAY_S, STEP_S, backlog, day, spare_per_s, starts_in_s


def test_a_start_takes_its_weights_and_the_engine() -> None:
    """140 GB at 7 GB/s take 20 s and at 10G Ethernet 112 s; Llama 70B in fp8 was up after 215 s, 10 s of it weights."""
    assert starts_in_s(weight_bytes=140e9, load_rate=7e9, start_up=0) == 20
    assert starts_in_s(weight_bytes=140e9, load_rate=1.25e9, start_up=0) == 112
    assert starts_in_s(weight_bytes=70e9, load_rate=7e9, start_up=205) == 215


def test_a_jump_leaves_a_backlog_of_the_delay() -> None:
    """At 1,000 s the load jumps from 5 to 15 requests/s; a replica carries 10 and another is up after 200 s."""
    found = day(lambda now_s: 15.0 if now_s >= 1000 else 5.0, carried_per_s=10, target_s=1, delay_s=200, span_s=4000)
    assert backlog(arrivals_per_s=15, carried_per_s=10, delay_s=200) == 1000
    assert found.waiting == pytest.approx(1000, rel=0.06)
    assert found.longest_s == pytest.approx(100, rel=0.06)


def test_steady_growth_needs_spare_room_for_the_delay() -> None:
    """0.01 requests/s more each second, up after 100 s: 1 request a second must be spare, and less is not enough."""
    assert spare_per_s(growth_per_s2=0.01, delay_s=100) == 1.0
    longest = {
        aim: day(
            lambda now_s: 0.5 + 0.01 * now_s, carried_per_s=1.0, target_s=1, aim=aim, delay_s=100, span_s=300
        ).longest_s
        for aim in (1.0, 0.4)
    }
    assert longest[1.0] > 10
    assert longest[0.4] == 0


def test_an_even_load_costs_what_it_takes() -> None:
    found = day(lambda _: 25.0, carried_per_s=10, target_s=1, delay_s=100, span_s=1000)
    assert (found.replica_s, found.most, found.missed) == (3000, 3, 0)
    assert found == day(lambda _: 25.0, carried_per_s=10, target_s=1, fixed=3, span_s=1000)


def test_a_replica_is_stopped_when_the_load_has_been_low_for_a_while() -> None:
    found = day(lambda now_s: 15.0 if now_s < 1000 else 5.0, carried_per_s=10, target_s=1, span_s=3000)
    assert found.replica_s == pytest.approx(3000 + 1000 + CALM_S, abs=2 * STEP_S)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0.0, 50.0), min_size=4, max_size=4), st.sampled_from([0.0, 60.0, 300.0]))
def test_it_never_costs_more_than_its_most_all_day_nor_does_a_larger_fixed_number_miss_more(
    loads: list[float], delay_s: float
) -> None:
    def load(now_s: float) -> float:
        return loads[int(now_s // 900) % 4]

    found = day(load, carried_per_s=7, target_s=5, aim=0.8, delay_s=delay_s, span_s=3600)
    assert 3600 <= found.replica_s <= found.most * 3600 + 1e-6
    fewer, more = (day(load, carried_per_s=7, target_s=5, fixed=count, span_s=3600).missed for count in (3, 4))
    assert more <= fewer


def test_replicas_without_end_take_no_memory_each() -> None:
    """A load that a link may hold, on replicas that carry next to nothing: their number is a number, not a list."""
    found = day(lambda second: 1e9 + second, carried_per_s=1e-4, target_s=1.0, delay_s=3600.0)
    assert found.most > 1e13
    assert found.replica_s > 1e13 * DAY_S * 0.9
