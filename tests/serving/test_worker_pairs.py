"""Prefill and decode apart in a plan: the cheapest that holds wins, and start commands say who does what."""

from dataclasses import replace
from typing import Final

import pytest

from inferdash.physics.parallelism import Fabric
from inferdash.serving.planned.commands import commands
from inferdash.serving.planned.confirming import confirmed_pair
from inferdash.serving.planned.curves import curves_of
from inferdash.serving.planned.offers import Demand, Offer
from inferdash.serving.planned.pairs import pairs_of
from inferdash.serving.planned.planner import Plan, plan
from tests.serving.offered import CHIPS, offer

STRICT: Final = Demand(requests_per_s=20, prompt=8000, answer=500, time_to_first_token_s=2, inter_token_latency_s=0.02)
"""Long prompts and a strict target between tokens, where prompts in between are what costs."""
CHOSEN: Final = {name: CHIPS[name] for name in ("h100-sxm", "h200-sxm")}
GIVEN: Final = replace(
    offer("llama-3.1-70b", ("fp8",), caches=("fp8",), accelerators=CHOSEN),
    apart=True,
    fabric=Fabric(node=8, bandwidth=50e9),
)


@pytest.fixture(scope="module")
def found() -> Plan:
    return plan(STRICT, GIVEN)


def test_apart_wins_where_prompts_interrupt(found: Plan) -> None:
    """It is simulated, holds, and costs less than the cheapest together, which is that of a plan without it."""
    best, together = found.best, found.together
    assert best
    assert best.readers
    assert together
    assert found.confirmation
    assert found.confirmation.holds
    assert best.usd_per_hour < together.candidate.usd_per_hour
    without = plan(STRICT, replace(GIVEN, apart=False))
    assert without.best == together.candidate
    assert without.frontier == found.frontier
    rent = GIVEN.rent
    assert best.usd_per_hour == pytest.approx(
        best.replicas * best.gpus * rent[best.accelerator] + best.readers.total_gpus * rent[best.readers.accelerator]
    )


def test_no_worker_too_many(found: Plan) -> None:
    """One prefill worker fewer, or one decode worker fewer, misses a target in the simulation."""
    best = found.best
    assert best
    assert best.readers
    readers = best.readers
    (pair,) = (
        one
        for one in pairs_of(curves_of(STRICT, GIVEN), STRICT, GIVEN, most=400)
        if (one.reading.accelerator, one.reading.layout) == (readers.accelerator, readers.layout)
        and (one.writing.accelerator, one.writing.curves.layout) == (best.accelerator, best.layout)
    )
    there = replace(pair, readers=readers.workers, writers=best.replicas)
    assert confirmed_pair(there, STRICT, GIVEN).holds
    for fewer in (replace(there, readers=readers.workers - 1), replace(there, writers=best.replicas - 1)):
        assert not confirmed_pair(fewer, STRICT, GIVEN).holds


def test_the_cheapest_pairs_are_those_of_all_pairs() -> None:
    """Every reader with every writer, by hand; of the same cache, and over a link that is known."""
    blocks = tuple(curves_of(STRICT, GIVEN))
    every = pairs_of(blocks, STRICT, GIVEN, most=10_000)
    usd = [one.usd_per_hour(GIVEN) for one in every]
    assert usd == sorted(usd)
    reads = min(one.readers * one.reading.usd_per_hour for one in every)
    writes = min(usd_all - one.readers * one.reading.usd_per_hour for usd_all, one in zip(usd, every, strict=True))
    assert usd[0] == pytest.approx(reads + writes)
    assert len({(id(one.reading), id(one.writing)) for one in every}) == len(every)


def test_a_slow_link_makes_it_lose() -> None:
    """25 Gbit/s for each GPU carry a prompt of 8,000 tokens in half a second: the first token, with vLLM, is late."""
    slow = replace(GIVEN, fabric=Fabric(node=8, bandwidth=0.3e9))
    found = plan(replace(STRICT, time_to_first_token_s=1.0), slow)
    assert found.best
    assert found.best.readers is None or found.best.total_gpus <= 8


def test_makers_are_not_mixed() -> None:
    given = replace(GIVEN, accelerators={name: CHIPS[name] for name in ("h100-sxm", "mi300x")})
    for one in pairs_of(curves_of(STRICT, given), STRICT, given, most=400):
        chips = {CHIPS[one.reading.accelerator].maker, CHIPS[one.writing.accelerator].maker}
        assert len(chips) == 1


def said(found: Plan, given: Offer) -> dict[str, str]:
    assert found.best
    return {one.engine: one.text for one in commands(found.best, STRICT, given)}


def test_both_kinds_of_workers_and_what_joins_them(found: Plan) -> None:
    best, texts = found.best, said(found, GIVEN)
    assert best
    assert best.readers
    assert list(texts) == ["vLLM", "SGLang", "TensorRT-LLM"]
    for text in texts.values():
        assert text.startswith(f"# each of {best.readers.workers} prefill workers; ")
        assert f"\n\n# each of {best.replicas} decode workers; " in text
        assert "\n\n# the router\n" in text
    assert '"kv_role": "kv_producer"' in texts["vLLM"].split("\n\n")[0]
    assert '"kv_role": "kv_consumer"' in texts["vLLM"].split("\n\n")[1]
    assert "VLLM_NIXL_SIDE_CHANNEL_HOST=<address of this machine> \\\nvllm serve" in texts["vLLM"]
    assert "--prefiller-hosts <prefill-1> <prefill-2> \\\n  --prefiller-ports 8000 8000" in texts["vLLM"]
    assert "--decoder-hosts <decode-1> <decode-2> \\\n  --decoder-ports 8000 8000" in texts["vLLM"]
    assert "--disaggregation-mode prefill" in texts["SGLang"].split("\n\n")[0]
    assert "--disaggregation-mode decode" in texts["SGLang"].split("\n\n")[1]
    assert "--pd-disaggregation \\\n  --prefill http://<prefill-1>:30000" in texts["SGLang"]
    first, then, router = texts["TensorRT-LLM"].split("\n\n")
    assert "disable_overlap_scheduler: true\ncache_transceiver_config:\n  backend: NIXL" in first
    assert "disable_overlap_scheduler" not in then
    assert "cache_transceiver_config" in then
    assert "context_servers:\n  num_instances: 2\n  urls:\n" in router
    assert router.endswith("trtllm-serve disaggregated -c disagg_config.yaml")
