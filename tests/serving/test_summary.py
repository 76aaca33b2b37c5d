"""The summary by hand, and what it leaves unsaid."""

from typing import Final

import numpy as np
import pytest

from inferdash.serving.simulated.requests import requests
from inferdash.serving.simulated.scheduling import Scheduling
from inferdash.serving.simulated.simulator import simulate
from inferdash.serving.simulated.summary import Targets, inter_token_latency_s, percentiles, summary
from tests.serving.toys import flat

COMING: Final = requests([0, 2.5, 20, 30], prompt=[10, 5, 10, 900], answer=[4, 3, 1, 200])
HOW: Final = Scheduling(places=2, pages=10, pass_tokens=100)
SERVED: Final = simulate(COMING, flat(prompt_token_s=0.1), HOW)
"""First tokens at 2, 4.5 and 22, last ones at 6.5, 6.5 and 22; the last request is refused."""


def test_all_numbers_of_three_requests() -> None:
    """Until 22 there are 6.5 s and 2 s of work. A waits 0 s and B 0.5 s; from 3 to 6.5 both are in the batch."""
    said = summary(COMING, SERVED, targets=Targets(time_to_first_token_s=2, inter_token_latency_s=1.2))
    assert (said.measured, said.refused, said.preemptions) == (3, 1, 0)
    assert said.output_tok_per_s == pytest.approx(8 / 22)
    assert said.prompt_tok_per_s == pytest.approx(25 / 22)
    assert said.idle_share == pytest.approx(1 - 8.5 / 22)
    assert said.mean_batch == pytest.approx((6.5 + 3.5 + 2) / 8.5)
    assert said.met_share == pytest.approx(2 / 3)  # A has 1.5 s between tokens
    assert said.end_to_end_s.p50 is None
    assert (said.end_to_end_s.requests, said.inter_token_latency_s.requests) == (3, 2)


def test_a_warm_up_is_left_out() -> None:
    """From 4 on: of A's three tokens after its first at 2, 2.5 / 4.5 of the time are left, all of B's, and C's."""
    said = summary(COMING, SERVED, warm_up_s=4)
    assert said.measured == 1
    assert said.output_tok_per_s == pytest.approx((3 * 2.5 / 4.5 + 3 + 1) / 18)
    assert said.prompt_tok_per_s == pytest.approx(15 / 18)
    assert said.idle_share == pytest.approx(1 - 4.5 / 18)


def test_the_mean_between_tokens() -> None:
    assert inter_token_latency_s(finish_s=6.5, first_token_s=2.0, answer=4) == 1.5


@pytest.mark.parametrize(("count", "known"), [(19, 0), (20, 1), (99, 1), (100, 2), (999, 2), (1000, 3)])
def test_a_percentile_needs_ten_beyond_it(count: int, known: int) -> None:
    said = percentiles(np.arange(float(count)))
    assert [one is not None for one in (said.p50, said.p90, said.p99)] == [True] * known + [False] * (3 - known)
    if said.p99 is not None:
        assert (said.p50, said.p90, said.p99) == pytest.approx((499.5, 899.1, 989.01))


def test_nothing_served_is_no_division() -> None:
    alone = requests([1.0], prompt=900, answer=50)
    said = summary(alone, simulate(alone, flat(), HOW))
    assert (said.measured, said.refused, said.met_share, said.mean_batch) == (0, 1, None, None)
    assert (said.output_tok_per_s, said.idle_share) == (0, 1)
    none = requests([], prompt=1, answer=1)
    assert summary(none, simulate(none, flat(), HOW)).measured == 0
