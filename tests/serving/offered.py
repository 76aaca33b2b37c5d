"""Demands and offers for tests of the planner, and the cheapest that its closed forms find."""

from dataclasses import replace
from math import inf
from typing import Any, Final

import pytest

from inferdash.facts import library
from inferdash.serving.planned.candidates import Candidate, setups_of
from inferdash.serving.planned.curves import curves_of
from inferdash.serving.planned.offers import Demand, Offer

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
