"""The planner: who takes part, what the simulator says, and three jobs that it confirms."""

from dataclasses import replace
from math import inf
from typing import Any, Final

import numpy as np
import pytest

from bench.planning import ratios
from inferdash.physics.drafters import Proposals
from inferdash.serving.planned.candidates import setups_of
from inferdash.serving.planned.commands import commands
from inferdash.serving.planned.confirming import confirmed
from inferdash.serving.planned.curves import curves_of
from inferdash.serving.planned.offers import Demand
from inferdash.serving.planned.planner import Plan, plan
from tests.serving.offered import CHAT, CHIPS, SLOW, offer


def test_those_without_a_rent_or_a_peak_are_left_out_by_name() -> None:
    given = offer(rents={"h100-sxm": 3.0, "l40s": 1.0, "m4-max": 1.0, "rtx-a6000": 1.0})
    assert {name for one in curves_of(SLOW, given) for name in one.accelerators} == {"h100-sxm", "l40s", "rtx-a6000"}
    assert given.left_out["m4-max"] == "its maker publishes no peak"
    assert given.left_out["b200-sxm"] == "no rent is known"
    assert "alone" in given.left_out["l40s"]
    assert "at most 2" in given.left_out["rtx-a6000"]
    assert "h100-sxm" not in given.left_out
    assert max(one.layout.gpus for one in curves_of(SLOW, given) if "l40s" in one.accelerators) == 1


def test_a_pipeline_is_for_models_too_large_for_a_node() -> None:
    curves = curves_of(SLOW, offer("llama-3.1-405b", ("bf16",), caches=("bf16",)))
    piped = {name for one in curves if one.layout.pipeline > 1 for name in one.accelerators}
    assert "h100-sxm" in piped
    assert "mi300x" not in piped
    assert not [one for one in curves_of(SLOW, offer()) if "h100-sxm" in one.accelerators and one.layout.pipeline > 1]


def test_nothing_that_cannot_be_is_planned() -> None:
    with pytest.raises(ValueError, match="131,072"):
        plan(replace(CHAT, prompt=131_072), offer())
    with pytest.raises(ValueError, match="2 tokens"):
        replace(CHAT, answer=1)
    none = plan(replace(CHAT, inter_token_latency_s=1e-4), offer())
    assert (none.best, none.confirmation) == (None, None)
    assert none.frontier == none.following == ()
    assert sum(one.set_ups for one in none.failures) == none.set_ups


def test_a_replica_fewer_is_tried_where_it_may_hold() -> None:
    """What the closed forms say holds is confirmed, and a replica fewer is refused or taken by the simulator."""
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    (setup,) = (one for one in setups_of(curves_of(CHAT, given), CHAT) if one.curves.layout.gpus == 1)
    fewest = int(setup.fewest)
    assert setup.worth_trying(CHAT, beyond=1e9) == fewest - 1
    assert setup.worth_trying(CHAT, beyond=1) == fewest
    assert confirmed(setup.candidate(CHAT, 3.0), CHAT, given).holds
    far = confirmed(setup.candidate(CHAT, 3.0, int(fewest) - 3), CHAT, given)
    assert not far.holds
    assert far.candidate.utilization > 1


def test_the_simulator_says_where_a_load_is_too_high() -> None:
    """Half of the replicas, with no target that a growing queue would miss."""
    demand = replace(CHAT, time_to_first_token_s=inf, inter_token_latency_s=inf)
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    best = plan(demand, given).best
    assert best
    half = confirmed(replace(best, replicas=best.replicas // 2), demand, given)
    assert not half.holds
    assert half.left_waiting == half.over > 2


def test_some_of_many_groups_see_what_all_see(monkeypatch: pytest.MonkeyPatch) -> None:
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    best = plan(CHAT, given).best
    assert best
    assert best.groups > 8
    some = confirmed(best, CHAT, given)
    monkeypatch.setattr("inferdash.serving.planned.confirming.SIMULATED", best.groups)
    every = confirmed(best, CHAT, given)
    assert (some.simulated, every.simulated) == (4, best.groups)
    assert some.inter_token_latency_s.p90 == pytest.approx(every.inter_token_latency_s.p90, rel=0.05)
    assert some.time_to_first_token_s.p90 == pytest.approx(every.time_to_first_token_s.p90, rel=0.05)
    assert some.preemptions == every.preemptions == 0


JOBS: Final = {
    "chat for 10,000 users": (("llama-3.1-8b", ("bf16", "fp8")), CHAT),
    "gpt-oss-120b": (
        ("gpt-oss-120b", ("mxfp4",)),
        Demand(requests_per_s=50, prompt=2048, answer=512, inter_token_latency_s=0.03),
    ),
    "DeepSeek-V3": (
        ("deepseek-v3", ("fp8-block",)),
        Demand(requests_per_s=5, prompt=4096, answer=1024, time_to_first_token_s=5, inter_token_latency_s=0.06),
    ),
}


def in_words(name: str, found: Plan) -> str:
    best, said = found.best, found.confirmation
    assert best
    assert said
    return (
        f"{name}: {best.replicas} × {best.gpus} {best.accelerator}, {best.weights} and {best.cache}, {best.layout}, "
        f"{best.places} places: ${best.usd_per_hour:.2f}/h, ${best.usd_per_mtok_written:.3f} a million written, "
        f"{best.utilization:.0%} of what it carries; p90 {1e3 * best.time_to_first_token_s:.0f} ms and "
        f"{1e3 * best.inter_token_latency_s:.1f} ms predicted, {1e3 * (said.time_to_first_token_s.p90 or inf):.0f} ms "
        f"and {1e3 * (said.inter_token_latency_s.p90 or inf):.1f} ms simulated, {len(found.refused)} refused"
    )


@pytest.mark.parametrize("name", JOBS)
def test_the_job_has_a_winner_that_the_simulator_confirms(name: str) -> None:
    (model, weights), demand = JOBS[name]
    given = offer(model, weights)
    found = plan(demand, given)
    print(in_words(name, found))  # noqa: T201 - what the planner says is read by people
    best, said = found.best, found.confirmation
    assert best
    assert said
    assert said.holds
    assert (said.time_to_first_token_s.p90 or inf) <= demand.time_to_first_token_s
    assert (said.inter_token_latency_s.p90 or inf) <= demand.inter_token_latency_s
    assert said.time_to_first_token_s.p99 is not None
    assert best.usd_per_hour <= min(one.usd_per_hour for one in found.following)
    assert all(one.utilization <= 1 for one in found.following)
    assert all(one.over > 1 and one.candidate.usd_per_hour <= best.usd_per_hour for one in found.refused)
    assert len(found.following) == 10
    speeds = [one.inter_token_latency_s for one in found.frontier]
    assert speeds == sorted(speeds, reverse=True)
    texts = [one.text for one in commands(best, demand, given)]
    assert all(str(best.places) in text or str(best.places * best.layout.data) in text for text in texts)
    assert given.model.hf_id in texts[0]


def test_closed_forms_are_near_the_simulator() -> None:
    """Over a part of the grid that `make bench` goes through, of which it says the whole distribution."""
    cases = (
        ("llama-3.1-8b", "h100-sxm", "bf16", 1, 1024, 256, 0.0),
        ("gpt-oss-120b", "h100-sxm", "mxfp4", 2, 2048, 512, 0.0),
        ("deepseek-v3", "h200-sxm", "fp8-block", 8, 4096, 1024, 0.0),
    )
    rows = np.array([row[-2:] for row in ratios(cases, places=(8, 64), replicas=(1, 4))])
    off = np.abs(rows - 1)
    first, latency = np.median(off, axis=0)
    first_90, latency_90 = np.percentile(off, 90, axis=0)
    print(f"first token {first:.1%}, p90 {first_90:.1%}; between tokens {latency:.1%}, p90 {latency_90:.1%}")  # noqa: T201 - as above
    assert first < 0.05
    assert latency < 0.02
    assert first_90 < 0.5
    assert latency_90 < 0.06


def test_speculation_is_used_where_it_saves_and_left_where_it_does_not() -> None:
    """A tight target between tokens is met by fewer replicas with it; rejected proposals are never better than none."""
    one: dict[str, Any] = {
        "accelerators": {"h100-sxm": CHIPS["h100-sxm"]},
        "weights": ("bf16",),
        "caches": ("bf16",),
    }
    tight = replace(CHAT, requests_per_s=50, inter_token_latency_s=0.012)
    plain = plan(tight, offer(**one))
    kept, lost = (
        plan(tight, offer(proposals=Proposals(method="ngram", draft_tokens=3, tokens_per_pass=length), **one))
        for length in (2.5, 1.0)
    )
    assert plain.best
    assert kept.best
    assert lost.best
    assert kept.confirmation
    assert kept.confirmation.holds
    assert kept.best.proposals
    assert kept.best.usd_per_hour < plain.best.usd_per_hour
    assert lost.best.proposals is None
    assert lost.best == plain.best
