"""The planner: arrays against one by one, laws, reasons, and three jobs that the simulator confirms."""

from dataclasses import fields, replace
from math import inf
from typing import Any, Final

import numpy as np
import pytest

from bench.planning import ratios
from inferdash.facts import library
from inferdash.facts.accelerator import side_by_side
from inferdash.facts.engine import Engine
from inferdash.facts.precision import PRECISIONS
from inferdash.physics.deployment import deploy
from inferdash.physics.expected import expected, expected_pass
from inferdash.physics.memory import free_bytes_of_one
from inferdash.physics.parallelism import Layout
from inferdash.physics.passes import one_pass
from inferdash.serving.candidates import Candidate, setups_of
from inferdash.serving.commands import commands
from inferdash.serving.curves import Curves, curves_of, deployment_of, whole_pages
from inferdash.serving.offers import Demand, Offer
from inferdash.serving.planner import Plan, confirmed, plan

VLLM: Final = library.engines()["vllm"]
CHIPS: Final = library.accelerators()
CHAT: Final = Demand(requests_per_s=167, prompt=1024, answer=256, time_to_first_token_s=1, inter_token_latency_s=0.05)
SLOW: Final = replace(CHAT, requests_per_s=20, time_to_first_token_s=0.2, inter_token_latency_s=0.02)
VIEWS: Final = pytest.mark.parametrize("engine", [None, VLLM], ids=["limit", "expected"])


def offer(model: str = "llama-3.1-8b", weights: tuple[str, ...] = ("bf16", "fp8"), **changes: Any) -> Offer:
    given: dict[str, Any] = {"accelerators": CHIPS, "caches": ("bf16", "fp8"), "engine": VLLM}
    return Offer(model=library.models()[model], weights=weights, **(given | changes))


def held(demand: Demand, given: Offer) -> list[Candidate]:
    rent = given.rent
    return [
        setup.candidate(demand, rent[setup.accelerator])
        for setup in setups_of(curves_of(demand, given), demand)
        if setup.failure(demand, given) is None
    ]


def cheapest(demand: Demand, given: Offer) -> float:
    return min((one.usd_per_hour for one in held(demand, given)), default=inf)


@VIEWS
@pytest.mark.parametrize(
    ("model", "layout"),
    [
        ("llama-3.1-8b", Layout()),
        ("llama-3.1-70b", Layout(even=False, tensor=4)),
        ("deepseek-v3", Layout(even=False, data=8, expert=8)),
        ("gpt-oss-120b", Layout(even=False, tensor=8, pipeline=2)),
    ],
)
def test_a_pass_of_accelerators_side_by_side_is_that_of_each(engine: Engine | None, model: str, layout: Layout) -> None:
    chips = [CHIPS[name] for name in ("a100-80gb-sxm", "h100-sxm", "h200-sxm", "b200-sxm")]
    batches = np.array([1.0, 7.0, 64.0, 333.0])
    fp8, bf16 = PRECISIONS["fp8"], PRECISIONS["bf16"]

    def of(chip: Any) -> Any:
        machine = deploy(library.models()[model], chip, gpus=layout.gpus, weights=fp8, cache=bf16, layout=layout)
        one = one_pass(machine, requests=batches, positions=3.0, past=1500.0, output_positions=1)
        if engine is None:
            return one
        return expected_pass(machine, engine, one, requests=batches, positions=3.0)

    together = of(side_by_side(chips))
    for row, chip in enumerate(chips):
        alone = of(chip)
        for part in fields(alone):
            one, other = getattr(alone, part.name), getattr(together, part.name)
            shape = (len(chips), len(batches))
            np.testing.assert_allclose(np.broadcast_to(other, shape)[row], np.broadcast_to(one, shape[1]), rtol=1e-12)


@VIEWS
def test_set_ups_in_arrays_are_those_of_each_accelerator_alone(engine: Engine | None) -> None:
    together = offer("gpt-oss-120b", ("mxfp4", "bf16"), engine=engine)
    alone = {
        (one.accelerators[0], one.weights, one.cache, one.layout): one
        for name in together.rent
        for one in curves_of(CHAT, replace(together, accelerators={name: CHIPS[name]}))
    }
    rows = 0
    for curves in curves_of(CHAT, together):
        for row, name in enumerate(curves.accelerators):
            one = alone.pop((name, curves.weights, curves.cache, curves.layout))
            for part in fields(Curves):
                array = getattr(one, part.name)
                if isinstance(array, np.ndarray):
                    np.testing.assert_allclose(array[0], getattr(curves, part.name)[row], rtol=1e-9)
            rows += 1
    assert rows > 100
    assert not alone


def test_the_numbers_of_a_set_up_by_hand() -> None:
    """One H100 with bf16: the passes are those of the formulas, one by one."""
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    (curves,) = (one for one in curves_of(CHAT, given) if one.layout.gpus == 1)
    machine = deployment_of(given, ("h100-sxm",), weights="bf16", cache="bf16", layout=curves.layout)
    reading = expected(machine, VLLM, requests=1, positions=1024, past=0)
    writing = expected(machine, VLLM, requests=40, positions=1, past=1024 + 128)
    assert reading
    assert writing
    load = 40 / (40 * reading.pass_s + 255 * writing.pass_s)
    assert load == pytest.approx(curves.carried_per_s[0, np.argmin(np.abs(curves.carried_per_s[0] - load))])
    free = free_bytes_of_one(machine, requests=curves.most_places[0], tokens=1280)
    more = free_bytes_of_one(machine, requests=curves.most_places[0] + 1, tokens=1280)
    assert free >= 0 > more


def test_what_is_found_is_not_read() -> None:
    """All but a token found leaves a pass with that token alone; none found leaves the whole prompt."""
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    demand = replace(CHAT, found_share=1.0)
    assert demand.found == 1023
    machine = deployment_of(given, ("h100-sxm",), weights="bf16", cache="bf16", layout=Layout(even=False))
    token = expected(machine, VLLM, requests=1, positions=1, past=1023)
    assert token
    (curves,) = (one for one in curves_of(demand, given) if one.layout.gpus == 1)
    assert curves.first_token_s[0, 0, 0, 0] == pytest.approx(token.pass_s, rel=0.05)
    costs = [cheapest(replace(CHAT, found_share=share), given) for share in (0.0, 0.3, 0.6, 0.9, 1.0)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.7 * costs[0]


@VIEWS
def test_a_laxer_target_never_costs_more(engine: Engine | None) -> None:
    given = offer(engine=engine)
    busy = replace(SLOW, requests_per_s=300)
    firsts = [replace(busy, time_to_first_token_s=value) for value in (0.02, 0.05, 0.1, 0.2, 0.5, 2, inf)]
    latencies = [replace(busy, inter_token_latency_s=value) for value in (0.003, 0.006, 0.01, 0.02, 0.05, 0.1, inf)]
    for demands in (firsts, latencies):
        costs = [cheapest(demand, given) for demand in demands]
        assert costs == sorted(costs, reverse=True)
        assert costs[0] > costs[-1]


@VIEWS
def test_more_load_never_costs_less(engine: Engine | None) -> None:
    given = offer(engine=engine)
    costs = [cheapest(replace(SLOW, requests_per_s=load), given) for load in np.geomspace(0.1, 3000, 25).tolist()]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1] < inf


def test_a_cheaper_rent_never_makes_it_dearer() -> None:
    rent = offer().rent
    before = cheapest(SLOW, offer())
    for name in rent:
        assert cheapest(SLOW, offer(rents=rent | {name: rent[name] / 2})) <= before


def test_what_holds_fits_and_is_within_the_targets() -> None:
    for model, weights in (("llama-3.1-8b", "bf16"), ("deepseek-v3", "fp8-block")):
        given = offer(model, (weights,))
        for one in held(CHAT, given):
            machine = deployment_of(given, (one.accelerator,), weights=one.weights, cache=one.cache, layout=one.layout)
            taken = one.places * one.layout.data
            assert free_bytes_of_one(machine, requests=taken, tokens=whole_pages(CHAT.tokens)) >= 0
            assert one.memory_bytes <= one.usable_bytes == pytest.approx(machine.memory)
            assert one.time_to_first_token_s <= 1 + 1e-9
            assert one.inter_token_latency_s <= 0.05 + 1e-9
            assert one.utilization <= 1 + 1e-12
            assert one.carries_per_s >= CHAT.requests_per_s * (1 - 1e-12)
            assert one.usd_per_hour == pytest.approx(given.rent[one.accelerator] * one.total_gpus)
            written = one.usd_per_mtok_written * CHAT.answer * CHAT.requests_per_s * 3600 / 1e6
            assert written == pytest.approx(one.usd_per_hour)


def test_reasons_of_failure_are_true() -> None:
    """A single request of each is checked with the formulas alone."""
    demand = replace(SLOW, requests_per_s=2000, time_to_first_token_s=0.04, inter_token_latency_s=0.007)
    given = offer(weights=("bf16",), most_gpus=64)
    seen = set()
    for setup in setups_of(curves_of(demand, given), demand):
        failure = setup.failure(demand, given)
        if failure is None:
            continue
        seen.add(failure.reason)
        assert failure.value > failure.allowed
        machine = deployment_of(
            given, (failure.accelerator,), weights=failure.weights, cache=failure.cache, layout=failure.layout
        )
        together = failure.layout.data
        free = free_bytes_of_one(machine, requests=together, tokens=1280)
        reading = expected(machine, VLLM, requests=together, positions=1024, past=0)
        writing = expected(machine, VLLM, requests=together, positions=1, past=1152)
        assert reading
        assert writing
        match failure.reason:
            case "memory":
                assert free < 0
            case "first token":
                assert reading.pass_s > 0.97 * failure.allowed
            case "inter-token":
                assert writing.pass_s > 0.97 * failure.allowed
            case "load":
                assert free >= 0
                assert setup.fewest(demand) * setup.curves.layout.gpus > 64
    assert seen == {"memory", "first token", "inter-token", "load"}


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


def test_the_simulator_says_where_a_load_is_too_high() -> None:
    """Half of the replicas, with no target that a growing queue would miss."""
    demand = replace(CHAT, time_to_first_token_s=inf, inter_token_latency_s=inf)
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    best = plan(demand, given).best
    assert best
    half = confirmed(replace(best, replicas=best.replicas // 2), demand, given)
    assert not half.holds
    assert half.left_waiting == half.over > 2


def test_simulating_some_of_many_groups_is_simulating_them() -> None:
    """Ten replicas of which eight are simulated wait as long as three of thirty would."""
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    best = plan(CHAT, given).best
    assert best
    assert best.groups > 8
    some = confirmed(best, CHAT, given)
    again = confirmed(best, CHAT, given, seed=1)
    assert some.simulated == 8
    assert some.inter_token_latency_s.p90 == pytest.approx(again.inter_token_latency_s.p90, rel=0.02)
    assert some.preemptions == 0


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
