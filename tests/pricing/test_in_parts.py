"""Replay in parts: the replay in one piece says what is right."""

import lzma
import os
import random
import signal
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from threading import Timer
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash import shipped
from inferdash.facts.money.price_names import edges
from inferdash.pricing.in_parts import Parts, Work, counted_in_parts, on_dask
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.replay import Request, Split
from inferdash.pricing.tally import Counts, counted

RULES = Rules(minimum_tokens=512, increment_tokens=512, lifetime_s=300, renewed=True)
WAYS = (RULES, replace(RULES, renewed=False), replace(RULES, minimum_tokens=1024, increment_tokens=128, lifetime_s=60))
MOONCAKE = shipped("presets") / "traces" / "mooncake_conversation_first1200s.jsonl.xz"


def tenants(many: int, *, seed: int = 7) -> list[Request]:
    """Requests of so many tenants, whose prompts share nothing with those of others; some are as a log records them."""
    source, found = random.Random(seed), []  # noqa: S311 - a test
    for number in range(many * 5):
        tenant, length = source.randrange(many), source.randrange(1, 9)
        blocks = tuple((tenant, place) for place in range(length))
        tokens = 512 * length + source.randrange(512)
        if source.random() < 0.1:
            found.append(Request(float(number), tokens, 3, recorded=Split(5, 1), model="gpt-5-mini"))
        else:
            found.append(Request(float(number), tokens, 3, blocks, 512, model=f"m{tenant % 3}"))
    return found


def mooncake() -> list[Request]:
    with lzma.open(MOONCAKE) as stream:
        return [*Trace(stream).requests()]


def here(work: Work, parts: Iterable[list[Request]]) -> Iterable[Counts]:
    return map(work, parts)


def test_mooncake_and_a_thousand_tenants_are_the_same_in_parts() -> None:
    for requests in (mooncake(), tenants(1000)):
        whole = counted(requests, WAYS, edges())
        parts, _ = counted_in_parts(requests, WAYS, edges(), here, bins=7)
        assert parts == whole


def test_two_processes_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [path for path in sys.path if Path(path).name != "tests"])  # its numbers.py
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # as a page that was tried left its own
    requests = tenants(50)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts, _ = counted_in_parts(requests, (RULES,), edges(), pool.map, bins=4)
    assert parts == counted(requests, (RULES,), edges())


@given(st.lists(st.lists(st.integers(0, 12), max_size=4), max_size=25), st.integers(1, 5))
def test_blocks_that_are_shared_in_any_way_stay_together(named: list[list[int]], bins: int) -> None:
    requests = [Request(float(time), 512 * 4, 1, tuple(ids), 512) for time, ids in enumerate(named)]
    apart = [{block for request in one for block in request.blocks} for one in Parts(requests).bins(bins)]
    assert sum(map(len, apart)) == len(set().union(*apart))
    assert counted_in_parts(requests, WAYS, (), here, bins=bins)[0] == counted(requests, WAYS, ())


def test_a_prompt_that_all_share_is_one_part() -> None:
    requests = [Request(float(n), 1024, 1, ("system", n), 512) for n in range(20)]
    assert Parts(requests).largest == 1.0
    assert len(Parts(requests).bins(8)) == 1
    assert Parts(tenants(1000)).largest < 0.01


def test_a_worker_of_a_cluster_that_is_killed_changes_nothing() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is no part of the package")
    requests = tenants(300)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        client = distributed.Client(cluster)
        first = next(iter(cluster.workers.values()))
        killer = Timer(0.2, os.kill, (first.pid, signal.SIGKILL))
        killer.start()
        found, _ = counted_in_parts(requests, (RULES,), edges(), on_dask(client), bins=40)
        killer.join()
        client.close()
    assert found == counted(requests, (RULES,), edges())
