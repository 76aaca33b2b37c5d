"""Sessions whose turns follow on each other: arithmetic, Little's law, and what holds for every session."""

import numpy as np
import pytest

from inferdash.serving.simulated.requests import Turns, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling
from inferdash.serving.simulated.sessions import (
    Session,
    computed_tokens,
    lanes,
    mean_pause_s,
    prompt_tokens,
    turns_per_s,
)
from inferdash.serving.simulated.simulator import simulate
from tests.serving.test_block_tiers import evenly
from tests.serving.toys import flat

PLAIN = Session(
    turns=50, start=20_000, shared=0, growth=1000, answer=400, tool_pause_s=9, person_every=99, person_pause_s=0
)


@pytest.mark.parametrize(
    ("turns", "prompts", "computed", "share"), [(50, 2_225_000, 69_000, 0.9690), (10, 245_000, 29_000, 0.8816)]
)
def test_what_a_session_reads_and_what_of_it_is_found(turns: int, prompts: int, computed: int, share: float) -> None:
    """By the formulas, and by a simulation with blocks that divide the growth and a cache that is never full."""
    shape = {"turns": turns, "start": 20_000, "growth": 1000}
    assert prompt_tokens(**shape) == prompts
    assert computed_tokens(**shape) == computed
    made = lanes(Session(**{**PLAIN.__dict__, "turns": turns}), live=1, count=1, block=8, seed=1)
    mine = made.turns.session == 1
    served = simulate(made.who, evenly(token_s=1e-6), Scheduling(places=4, page=8, pass_tokens=512))
    assert int(made.who.prompt[mine].sum()) == prompts
    assert int(made.who.prompt[mine].sum() - served.found[mine].sum()) == computed
    assert served.found[mine].sum() / made.who.prompt[mine].sum() == pytest.approx(share, abs=5e-5)


def test_turns_come_after_the_pause_and_sub_agents_side_by_side() -> None:
    """By hand: passes of 1 s. 0 ends at 2; 1 and 2 wait 3 s for it and write 2 and 3 tokens; 3 waits 1 s for both."""
    turns = Turns.of([[], [0], [0], [1, 2]], pause_s=[0, 3, 3, 1])
    who = requests([0, 0, 0, 0], prompt=1, answer=[2, 2, 3, 1], turns=turns)
    served = simulate(who, flat(), Scheduling(places=4, pass_tokens=8))
    assert served.arrival_s.tolist() == [0, 5, 5, 9]
    assert served.finish_s.tolist() == [2, 7, 8, 10]


def test_a_turn_that_is_larger_than_the_cache_is_refused_and_the_session_goes_on() -> None:
    turns = Turns.of([[], [0], [1]], pause_s=[0, 3, 3])
    who = requests([0, 0, 0], prompt=[1, 50, 1], answer=2, turns=turns)
    served = simulate(who, flat(), Scheduling(places=4, page=8, pages=2, pass_tokens=8))
    assert served.replica.tolist() == [0, -1, 0]
    assert served.finish_s.tolist() == [2, np.inf, 10]


def test_littles_law_of_sessions() -> None:
    """N sessions that answer for W and pause for Z on average have N / (W + Z) turns a second."""
    one = Session(**{**PLAIN.__dict__, "turns": 20, "start": 100, "growth": 10, "answer": 20, "pause_spread": 1.0})
    made = lanes(one, live=8, count=4000, block=10, seed=0)
    served = simulate(made.who, flat(prompt_token_s=1e-4), Scheduling(places=8, page=10, pass_tokens=512))
    ends = [served.finish_s[made.lane == lane].max() for lane in range(8)]
    within = (served.arrival_s > 100) & (served.arrival_s < min(ends))
    latency_s = (served.finish_s - served.arrival_s)[within].mean()
    pause_s = mean_pause_s(one) * 19 / 20  # a session follows on another at once
    expected = turns_per_s(sessions=8, latency_s=latency_s, pause_s=pause_s)
    assert within.sum() / (min(ends) - 100) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("rule", ["round robin", "least loaded", "prefix-aware"])
def test_all_turns_of_a_session_come_in_order_to_one_replica(replicas: int, rule: str) -> None:
    one = Session(
        **{
            **PLAIN.__dict__,
            "turns": 8,
            "start": 300,
            "growth": 40,
            "subagents": 3,
            "subagent_turns": 4,
            "spread": 1.5,
            "compact_at": 500,
            "shared": 100,
        }
    )
    made = lanes(one, live=6, count=300, block=16, seed=2)
    how = Scheduling(places=4, page=16, pages=120, pass_tokens=512)
    served = simulate(made.who, evenly(token_s=1e-3), how, Routing(replicas=replicas, rule=rule))  # type: ignore[arg-type]  # one of them
    turns = made.turns
    assert np.isfinite(served.finish_s).all()
    for before in range(len(made.who)):
        for later in turns.after[turns.first[before] : turns.first[before + 1]]:
            assert served.arrival_s[later] >= served.finish_s[before] + turns.pause_s[later] - 1e-9
    for lane in range(6):
        assert len({*served.replica[made.lane == lane].tolist()}) == 1
    assert all(made.who.prompt <= 500)
