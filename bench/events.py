"""Replay and simulation over the least that could be: only parsing the lines, only a heap."""

import io
import json
import lzma
import timeit
from collections.abc import Iterator
from decimal import Decimal
from heapq import heappop, heappush
from pathlib import Path
from typing import Final

import numpy as np

from bench.pairs import ratio
from inferdash.facts import library
from inferdash.facts.money.rates import Rates, entered
from inferdash.pricing.bills import replay
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.traces import Trace
from inferdash.scenario import BASE
from inferdash.serving.simulated.pass_times import pass_times
from inferdash.serving.simulated.requests import poisson, requests
from inferdash.serving.simulated.scheduling import Scheduling, room_pages
from inferdash.serving.simulated.simulator import simulate
from inferdash.serving.simulated.summary import ceiling
from tests.serving.one_by_one import one_by_one

MOONCAKE: Final = Path(__file__).parent.parent / "presets/traces/mooncake_conversation_first1200s.jsonl.xz"


def traffic() -> Iterator[str]:
    """20 minutes of real requests through the rules of a cache, over a loop that only parses their lines."""
    content = lzma.decompress(MOONCAKE.read_bytes())
    lines = content.count(b"\n")
    rules = Rules(minimum_tokens=512, increment_tokens=512, lifetime_s=300, renewed=True)
    rates = entered(Rates(input=Decimal(2), output=Decimal(10), read=Decimal("0.1"), write=Decimal("2.5")))

    def replayed() -> None:
        assert replay(Trace(io.BytesIO(content)).requests(), rules, rates).requests == lines

    def parsed() -> None:
        for line in io.BytesIO(content):
            json.loads(line)

    yield f"requests/s, replayed over only parsed        {ratio(parsed, replayed):6.2f} times"


def simulation() -> Iterator[str]:
    """10,000 requests of 1,024 tokens in and 256 out on Llama 3 8B and one H100, at 65% of what it can serve.

    Over as many pushes to a heap and pops from it, and one by one over 500 of them.
    """
    places, how = 256, Scheduling(places=256, pages=room_pages(BASE.deployment, tokens=1280, page=16))
    times = pass_times(BASE.deployment, library.engines()["vllm"], places=places, tokens=1280, pass_tokens=8192)
    assert times is not None
    rate = 0.65 * ceiling(times, places=places, prompt=1024, answer=256)
    many, few = (requests(poisson(n, per_s=rate, seed=0), prompt=1024, answer=256) for n in (10_000, 500))
    numbers = np.random.default_rng(0).random(10_000).tolist()

    def heaped() -> None:
        heap: list[float] = []
        for number in numbers:
            heappush(heap, number)
        for _ in numbers:
            heappop(heap)

    quick_s = min(timeit.repeat(lambda: simulate(many, times, how), number=1, repeat=5))
    over_heap = ratio(lambda: simulate(many, times, how), heaped)
    yield f"10,000 requests simulated over a heap        {over_heap:6.2f} times ({1e4 / quick_s:,.0f}/s)"
    over_events = ratio(lambda: one_by_one(few, times, how), lambda: simulate(few, times, how), pairs=3)
    yield f"pass by pass over from event to event        {over_events:6.2f} times"
