"""The closed forms of a steady load: by hand, and the queue of prompts against the queue itself."""

import numpy as np
import pytest

from inferdash.physics.under_load import steady_state


def test_a_batch_of_ten_by_hand() -> None:
    """Ten prompts of 30 ms and 255 passes of 20 ms: ten requests in 5.4 s, each of which waits for nine prompts."""
    carried = steady_state.carried_per_s(batch=10, prefill_s=0.03, passes=255, pass_s=0.02)
    assert carried == pytest.approx(10 / 5.4)
    between_s = steady_state.interrupted_pass_s(pass_s=0.02, carried_per_s=carried, prefill_s=0.03)
    assert between_s == pytest.approx(5.4 / 255)
    assert 255 * between_s * carried == pytest.approx(10)  # Little's law


def test_random_arrivals_make_the_batch_poissons() -> None:
    assert steady_state.spread(batch=16, growth=1, variation=1) == 4
    assert steady_state.spread(batch=16, growth=1, variation=1 / 4) == 2
    assert steady_state.spread(batch=16, growth=0.25, variation=1) == 8
    assert steady_state.mean_batch(batch=16, growth=1, variation=1) == 16
    assert steady_state.crowded_batch(batch=16, growth=1, variation=1, spread=4, places=18) == 18


def test_without_room_every_request_waits_for_a_place() -> None:
    near = steady_state.full_share(load_share=1 - 1e-9, variation=1, spread=10, room=0)
    far = steady_state.full_share(load_share=0.5, variation=1, spread=10, room=25)
    assert near == pytest.approx(1, abs=1e-6)
    assert far < 1e-100
    wait_s = steady_state.place_wait_s(full_share=1, load_share=0.9, variation=1, full_per_s=2)
    assert wait_s == pytest.approx(np.log(10) / (2 * 0.1 * 2))
    assert steady_state.place_wait_s(full_share=0.1, load_share=0.9, variation=1, full_per_s=2) == 0


def waits(load: float, every: int) -> np.ndarray:
    """Waits for a service of 1 in turn where every so many-th of random arrivals comes, by Lindley's recursion."""
    gaps = np.random.default_rng(5).exponential(size=(200_000, every)).sum(axis=1) / (every * load)
    wait, found = 0.0, []
    for gap in gaps.tolist():
        found.append(wait)
        wait = max(0.0, wait + 1 - gap)
    return np.array(found)


@pytest.mark.parametrize("load", [0.15, 0.3, 0.5, 0.7, 0.85])
def test_prompts_in_front_are_the_queue_m_d_1(load: float) -> None:
    said = steady_state.prompts_wait_s(prefill_s=1, reading_share=load, variation=1, beyond_share=0.1)
    assert said == pytest.approx(np.percentile(waits(load, 1), 90), rel=0.1, abs=0.02)


@pytest.mark.parametrize("load", [0.15, 0.3, 0.5, 0.7, 0.85])
def test_regular_arrivals_wait_no_longer_than_is_said(load: float) -> None:
    said = steady_state.prompts_wait_s(prefill_s=1, reading_share=load, variation=1 / 4, beyond_share=0.1)
    assert np.percentile(waits(load, 4), 90) <= said + 0.1
