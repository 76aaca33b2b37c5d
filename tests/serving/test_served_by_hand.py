"""Small cases whose times are added up by hand."""

from math import inf
from typing import Any

import pytest

from inferdash.physics.under_load import batching
from inferdash.serving.simulated.requests import Requests, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.simulator import simulate
from tests.serving.toys import flat


def served(
    coming: Requests, routing: Routing | None = None, *, toy: dict[str, float] | None = None, **how: Any
) -> Served:
    return simulate(coming, flat(**(toy or {})), Scheduling(**{"pass_tokens": 100, **how}), routing)


READING = {"prompt_token_s": 0.1}
"""A pass takes 1 s, and 0.1 s more for each token of a prompt that it reads."""


@pytest.mark.parametrize("lengths", [[500, *[50] * 63], [500, *[50] * 630], [9, 3, 3, 7, 1, 1, 5]])
@pytest.mark.parametrize("places", [3, 64])
def test_the_chapters_64_requests(lengths: list[int], places: int) -> None:
    """One answer of 500 tokens and 63 of 50, all there at 0, and every pass takes 1 s.

    The pass that reads the one token of a prompt gives the first token of its answer, so an answer of 50 takes 50
    passes, and prompts are read beside decodes, so a place that is free is taken in the next pass. The seconds are
    then the passes that `physics.batching` counts: for the 64, 500 both ways; for ten times as many short ones, static
    500 + 9 x 50 and continuous 500.
    """
    coming = requests([0.0] * len(lengths), prompt=1, answer=lengths)
    for way, plan in (("static", batching.static), ("continuous", batching.continuous)):
        result = served(coming, places=places, batching=way, chunked=True)
        ends = {stay.request: stay.first_pass + stay.passes for stay in plan(lengths, places=places)}
        assert result.finish_s.tolist() == [ends[one] for one in range(len(lengths))]
    if len(lengths) == 631 and places == 64:
        assert max(served(coming, places=64, batching="static", chunked=True).finish_s) == 950
        assert max(served(coming, places=64, chunked=True).finish_s) == 500


def test_one_request_is_a_sum_of_passes() -> None:
    """Prompt of 10 tokens in 1 + 1 s; then passes after 10, 11 and 12 tokens, at 0.01 s for each of them."""
    result = served(requests([3.0], prompt=10, answer=4), toy={**READING, "context_token_s": 0.01}, places=2)
    assert (result.started_s[0], result.first_token_s[0]) == (3, 5)
    assert result.finish_s[0] == pytest.approx(5 + 3 + 0.33)


def test_two_requests_that_meet() -> None:
    """A reads until 2 and writes until 3, when B, there since 2.5, reads for 1.5 s; then both write, A two more."""
    coming = requests([0, 2.5], prompt=[10, 5], answer=[4, 3])
    result = served(coming, toy=READING, places=2)
    assert result.started_s.tolist() == [0, 3]
    assert result.first_token_s.tolist() == [2, 4.5]
    assert result.finish_s.tolist() == [6.5, 6.5]


def test_a_chunk_between_decodes() -> None:
    """Four positions a pass. A reads 4 + 4 + 2 tokens: 1.4 + 1.4 + 1.2 s, and has two tokens at 5.

    B, there since 4.5, has three positions beside A's one: 3 tokens in 1.3 s, 2 tokens in 1.2 s, in both of which A
    writes its last two. B has its first token at 7.5 and two more alone.
    """
    coming = requests([0, 4.5], prompt=[10, 5], answer=[4, 3])
    result = served(coming, toy=READING, places=2, chunked=True, pass_tokens=4)
    assert result.started_s.tolist() == [0, 5]
    assert result.first_token_s == pytest.approx([4, 7.5])
    assert result.finish_s == pytest.approx([7.5, 9.5])


def test_prompts_are_read_first_and_together() -> None:
    """Three prompts of 4 in passes of 10: 4 + 4 + 2 tokens in 2 s, then 2 in 1.2 s, and only then decodes."""
    result = served(requests([0] * 3, prompt=4, answer=2), toy=READING, places=3, pass_tokens=10)
    assert result.first_token_s == pytest.approx([2, 2, 3.2])
    assert result.finish_s == pytest.approx([4.2] * 3)


def test_a_cache_that_holds_one_of_two() -> None:
    """Three pages of four tokens; each request takes two for its prompt of 8 and needs three in the end.

    B does not fit beside A, which has tokens at 1, 2, 3 and 4. B starts then.
    """
    result = served(requests([0, 0], prompt=8, answer=4), places=2, pages=3, page=4)
    assert result.started_s.tolist() == [0, 4]
    assert result.finish_s.tolist() == [4, 8]
    assert result.preemptions.tolist() == [0, 0]
    assert max(result.steps[0].pages) == 3


@pytest.mark.parametrize(("preemption", "first_ends", "second_ends"), [("recompute", 9.8, 14.7), ("swap", 10.2, 14.6)])
def test_a_full_cache_puts_back_the_latest(preemption: str, first_ends: float, second_ends: float) -> None:
    """Four pages of four tokens; A and B have prompts of 4 and answers of 9, so each needs three pages in the end.

    Both are read by 1.8 and have five tokens and two pages each at 5.8. Each needs a third page: B is put back.

    Recompute: A has its last four tokens at 9.8. B reads its 9 tokens so far for 1.9 s, which gives its sixth, and
    writes three more: 14.7. Swap: B's 8 tokens in the cache are moved out for 0.4 s, so A ends at 10.2; they are moved
    in for 0.4 s, and B writes four more: 14.6.
    """
    coming = requests([0, 0], prompt=4, answer=9)
    result = served(coming, toy=READING, places=2, pages=4, page=4, preemption=preemption, swap_token_s=0.05)
    assert result.first_token_s == pytest.approx([1.8, 1.8])
    assert result.finish_s == pytest.approx([first_ends, second_ends])
    assert result.preemptions.tolist() == [0, 1]


def test_static_batching_waits_for_the_longest() -> None:
    """Answers of 4, 2 and 3 in two places: the third starts at 4, and at 2 where the place is taken at once."""
    coming = requests([0] * 3, prompt=1, answer=[4, 2, 3])
    assert served(coming, places=2, batching="static", chunked=True).finish_s.tolist() == [4, 2, 7]
    assert served(coming, places=2, chunked=True).finish_s.tolist() == [4, 2, 5]


def test_what_is_found_is_not_read_and_takes_its_pages() -> None:
    """Of 10 tokens 6 are found: 4 are read in 1.4 s. Three pages of 4 hold it either way."""
    result = served(requests([0], prompt=10, answer=1, found=6), toy=READING, places=1, pages=3, page=4)
    assert result.first_token_s == pytest.approx([1.4])
    assert result.finish_s == pytest.approx([1.4])
    assert max(result.steps[0].pages) == 3


def test_what_can_never_fit_is_refused() -> None:
    """Two pages of 4: a prompt of 8 with one token fits, as that token is never cached; with two it does not."""
    result = served(requests([0, 0, 0], prompt=8, answer=[2, 1, 500]), places=2, pages=2, page=4)
    assert result.replica.tolist() == [-1, 0, -1]
    assert result.finish_s.tolist() == [inf, 1, inf]


def test_the_least_loaded_replica() -> None:
    """A is long, B has ended when C comes: in turn C would go to A's replica."""
    coming = requests([0, 0.5, 5], prompt=1, answer=[50, 2, 2])
    in_turn = served(coming, Routing(replicas=2), places=4)
    least = served(coming, Routing(replicas=2, rule="least loaded"), places=4)
    assert in_turn.replica.tolist() == [0, 1, 0]
    assert least.replica.tolist() == [0, 1, 1]
    assert least.finish_s.tolist() == [50, 2.5, 7]


def test_a_prefix_goes_home_until_that_is_clearly_more_loaded() -> None:
    """One session of four turns on two replicas. The first finds nothing; the second goes where the first is.

    At the third, home has two requests more than the other, which is the slack: it goes there and finds nothing. Then
    both have the prefix, and the fourth goes to the one with fewer.
    """
    coming = requests([0, 2.5, 4.5, 6.5], prompt=10, answer=50, found=6, prefix=7)
    result = served(coming, Routing(replicas=2, rule="prefix-aware", slack=2), toy=READING, places=4)
    assert result.replica.tolist() == [0, 0, 1, 1]
    assert result.found.tolist() == [0, 6, 0, 6]
    near = served(coming, Routing(replicas=2, rule="prefix-aware", slack=9), toy=READING, places=4)
    assert near.replica.tolist() == [0] * 4
    in_turn = served(coming, Routing(replicas=2), toy=READING, places=4)
    assert in_turn.found.tolist() == [0, 0, 6, 6]


def test_what_does_not_fit_the_tables_is_said() -> None:
    with pytest.raises(ValueError, match="texts of up to 1100 tokens"):
        served(requests([0], prompt=1000, answer=100), places=1)
    with pytest.raises(ValueError, match="leave none for prompts"):
        Scheduling(places=8, chunked=True, pass_tokens=8)
    with pytest.raises(ValueError, match="1 at least"):
        Routing(replicas=0)
    nothing_runs: list[dict[str, Any]] = [{"places": 0}, {"places": 1, "page": 0}, {"places": 1, "pass_tokens": 0}]
    for none in nothing_runs:
        with pytest.raises(ValueError, match="1 at least"):
            Scheduling(**none)
