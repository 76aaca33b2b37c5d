"""Set-ups in arrays: against one by one and by hand, laws, and reasons of failure that are true."""

from dataclasses import fields, replace
from math import inf
from typing import Any

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.machines.accelerator import side_by_side
from inferdash.facts.machines.engine import Engine
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.capacity.memory import free_bytes_of_one
from inferdash.physics.deployment import deploy
from inferdash.physics.fitted.expected import expected, expected_pass
from inferdash.physics.parallelism import Layout
from inferdash.physics.passes import one_pass
from inferdash.serving.planned.candidates import setups_of
from inferdash.serving.planned.curves import Curves, curves_of
from inferdash.serving.planned.placed import deployment_of, whole_pages
from tests.serving.offered import CHAT, CHIPS, SLOW, VIEWS, VLLM, cheapest, held, offer


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
    machine = deployment_of(
        given, ("h100-sxm",), weights="bf16", cache="bf16", layout=curves.layout, context=1280, places=256
    )
    reading = expected(machine, VLLM, requests=1, positions=1024, past=0)
    writing = expected(machine, VLLM, requests=40, positions=1, past=1024 + 128)
    assert reading
    assert writing
    load = 40 / (40 * reading.pass_s + 255 * writing.pass_s)
    assert load == pytest.approx(curves.carried_per_s[0, np.argmin(np.abs(curves.carried_per_s[0] - load))])
    free = free_bytes_of_one(machine, requests=curves.most_places[0, 0], tokens=1280)
    more = free_bytes_of_one(machine, requests=curves.most_places[0, 0] + 1, tokens=1280)
    assert free >= 0 > more


def test_what_is_found_is_not_read() -> None:
    """All but a token found leaves a pass with that token alone; none found leaves the whole prompt."""
    given = offer(weights=("bf16",), caches=("bf16",), accelerators={"h100-sxm": CHIPS["h100-sxm"]})
    demand = replace(CHAT, found_share=1.0)
    assert demand.found == 1023
    machine = deployment_of(
        given, ("h100-sxm",), weights="bf16", cache="bf16", layout=Layout(even=False), context=1280, places=1
    )
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
            machine = deployment_of(
                given,
                (one.accelerator,),
                weights=one.weights,
                cache=one.cache,
                layout=one.layout,
                context=1280,
                places=one.places,
            )
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
            given,
            (failure.accelerator,),
            weights=failure.weights,
            cache=failure.cache,
            layout=failure.layout,
            context=1280,
            places=1,
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
                assert setup.fewest * setup.curves.layout.gpus > 64
    assert seen == {"memory", "first token", "inter-token", "load"}
