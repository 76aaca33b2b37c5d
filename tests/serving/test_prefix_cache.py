"""Caches of prefixes: cases by hand, the known answers of real traffic to the block, and laws."""

import csv
import json
import lzma
from collections.abc import Callable, Iterator
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash import shipped
from inferdash.serving.simulated.pass_times import Line, PassTimes, Reading
from inferdash.serving.simulated.prefix_cache import Blocks, Cache, Prompt, Reuse, reuse
from inferdash.serving.simulated.radix import Radix
from inferdash.serving.simulated.requests import Texts, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.simulator import simulate

HERE: Final = Path(__file__).parent / "prefixes"
ANSWERS: Final = [*csv.DictReader((HERE / "answers.csv").read_text(encoding="utf-8").splitlines())]
SMALL: Final = json.loads((HERE / "small_cases.json").read_text(encoding="utf-8"))
FORMS: Final[dict[str, Callable[[float], Cache]]] = {
    "lru": Blocks,
    "radix_short": Radix,
    "radix_full": lambda capacity: Radix(capacity, whole_need=True),
}


@cache
def coming(trace: str) -> tuple[Prompt, ...]:
    """The requests of a trace by arrival; of several sessions that begin together, by session where they tie."""
    if trace.startswith("mooncake"):
        lines = lzma.decompress((shipped("presets") / "traces" / f"{trace}.jsonl.xz").read_bytes()).splitlines()
        rows = [json.loads(line) for line in lines]
        return tuple(
            Prompt(
                arrival_s=row["timestamp"] / 1e3,
                tokens=row["input_length"],
                answer=row["output_length"],
                blocks=row["hash_ids"][: row["input_length"] // 512],
            )
            for row in rows
        )
    name = trace.removeprefix("claude_code_")
    paths = sorted(HERE.glob("trace_*.json.xz" if name == "five_sessions_together" else f"{name}.json.xz"))
    found = [one for path in paths for one in session(path)]
    return tuple(sorted(found, key=lambda one: one.arrival_s))


def session(path: Path) -> Iterator[Prompt]:
    """The requests of a session of the assistant; the names of its blocks are its own."""
    for row in json.loads(lzma.decompress(path.read_bytes()))["requests"]:
        names = [(path.name, name) for name in row["hash_ids"][: row["in"] // 64]]
        yield Prompt(arrival_s=row["t"], tokens=row["in"], answer=max(1, row["out"]), blocks=names)


def form(row: dict[str, str]) -> Cache:
    capacity = inf if row["capacity_blocks_each"] == "unlimited" else int(row["capacity_blocks_each"])
    if row["cache"] == "block LRU":
        return Blocks(capacity, answers=row["answers_take_blocks"] == "yes")
    return Radix(capacity, whole_need="need" in row["cache"])


@pytest.mark.parametrize("trace", sorted({row["trace"] for row in ANSWERS}))
def test_known_answers_to_the_block(trace: str) -> None:
    rows = [row for row in ANSWERS if row["trace"] == trace]
    wrong = []
    for row in rows:
        replicas, rule = int(row["replicas"]), row["routing"].replace("one", "round robin")
        routing = Routing(replicas=replicas, rule=rule)  # type: ignore[arg-type]  # the file's words are the rule's
        found = reuse(
            coming(trace), [form(row) for _ in range(replicas)], block=int(row["block_tokens"]), routing=routing
        )
        right = Reuse(
            served=int(row["requests"]),
            refused=int(row["refused"]),
            tokens=int(row["prompt_tokens"]),
            blocks=int(row["full_blocks"]),
            found_blocks=int(row["hit_blocks"]),
            finders=int(row["requests_with_hit"]),
            evicted=int(row["evicted_blocks"]),
            by_replica=tuple(map(int, row["per_replica"].split())),
        )
        if found != right:
            wrong.append((row, found))
    assert rows
    assert wrong == []


@pytest.mark.parametrize("which", FORMS)
@pytest.mark.parametrize("case", SMALL, ids=lambda case: case["name"])
def test_cases_by_hand(case: dict[str, Any], which: str) -> None:
    if which not in case:
        assert case["answers_take_blocks"], "only of answers it is not said what a tree does"
        return
    block, kept = case["block_tokens"], FORMS[which](case["capacity_blocks"])
    if case.get("answers_take_blocks"):
        kept = Blocks(case["capacity_blocks"], answers=True)
    found: list[int | str] = []
    for row in case["requests"]:
        one = Prompt(tokens=row["prompt"], answer=row["answer"], blocks=row["blocks"])
        said = reuse([one], [kept], block=block, routing=Routing())
        found.append("refused" if said.refused else said.found_blocks)
    assert found == case[which]
    if isinstance(kept, Blocks):
        order = [name[0] if isinstance(name, tuple) else name for name in kept.order]
        assert order == case["lru_order_oldest_first"]


TEXTS: Final = st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=25)
"""A letter a block; a name of a block is all up to its end."""


def prompts(texts: list[str]) -> list[Prompt]:
    return [
        Prompt(tokens=16 * len(text) + 1, answer=1, blocks=[text[: end + 1] for end in range(len(text))])
        for text in texts
    ]


@given(TEXTS, st.integers(6, 20))
def test_least_recently_used_by_stamps(texts: list[str], capacity: int) -> None:
    """The same answer from stamps: each block of a request is stamped with its number and place; the smallest goes."""
    stamps: dict[str, tuple[int, int]] = {}
    for number, one in enumerate(prompts(texts)):
        blocks = [str(name) for name in one.blocks]
        there = next((place for place, name in enumerate(blocks) if name not in stamps), len(blocks))
        kept = Blocks(capacity)
        assert reuse(prompts(texts)[: number + 1], [kept], block=16, routing=Routing()).served == number + 1
        before = reuse(prompts(texts)[:number], [Blocks(capacity)], block=16, routing=Routing()).found_blocks
        assert reuse(prompts(texts)[: number + 1], [Blocks(capacity)], block=16, routing=Routing()).found_blocks == (
            before + there
        )
        stamps |= {name: (number, -place) for place, name in enumerate(blocks)}
        for name in sorted(stamps, key=stamps.__getitem__)[: max(0, len(stamps) - capacity)]:
            del stamps[name]
        assert set(kept.order) == set(stamps)


@given(TEXTS, st.integers(6, 20))
def test_more_room_never_finds_less(texts: list[str], capacity: int) -> None:
    small, large, endless = (
        reuse(prompts(texts), [Blocks(room)], block=16, routing=Routing()).found_blocks
        for room in (capacity, capacity + 1, inf)
    )
    assert small <= large <= endless


@given(TEXTS, st.integers(6, 20), st.sampled_from(["lru", "radix_short", "radix_full"]))
def test_what_was_stored_is_there_or_was_evicted(texts: list[str], capacity: int, which: str) -> None:
    kept = FORMS[which](capacity)
    said = reuse(prompts(texts), [kept], block=16, routing=Routing())
    held = len(kept.order) if isinstance(kept, Blocks) else kept.held if isinstance(kept, Radix) else -1
    assert 0 <= held <= capacity
    assert said.blocks - said.found_blocks == held + said.evicted


@given(TEXTS)
def test_without_a_limit_both_forms_agree(texts: list[str]) -> None:
    assert len({reuse(prompts(texts), [make(inf)], block=16, routing=Routing()) for make in FORMS.values()}) == 1


def far_apart(trace: tuple[Prompt, ...], *, block: int, pages: int) -> Served:
    """What the simulator makes of requests each of which ends before the next comes."""
    texts = Texts.of([one.blocks for one in trace], block=block)
    prompt, answer = [one.tokens for one in trace], [one.answer for one in trace]
    longest = max(map(sum, zip(prompt, answer, strict=True)))
    coming = requests(1e6 * np.arange(len(trace)), prompt=prompt, answer=answer, texts=texts)
    how = Scheduling(places=1, page=block, pages=pages, pass_tokens=512)
    even = np.full(longest + 600, 1e-3)
    line = Line(pass_s=even, context_s=even, readings=(Reading(end_s=even, start_s=even),))
    return simulate(coming, PassTimes(lines=(line,)), how)


@pytest.mark.parametrize(
    "row",
    [row for row in ANSWERS if row["answers_take_blocks"] == "yes"],
    ids=lambda row: row["trace"] + row["capacity_blocks_each"],
)
def test_the_simulator_finds_the_known_answers(row: dict[str, str]) -> None:
    """Requests far apart are served one by one, as the answers were counted."""
    block, capacity = int(row["block_tokens"]), row["capacity_blocks_each"]
    pages = 10**9 if capacity == "unlimited" else int(capacity)
    served = far_apart(coming(row["trace"]), block=block, pages=pages)
    assert int((served.replica >= 0).sum()) == int(row["requests"])
    assert int(served.found.sum()) == int(row["hit_tokens"])
    assert served.evicted.tolist() == [int(row["evicted_blocks"])]


@given(TEXTS, st.integers(8, 20), st.integers(1, 4), st.booleans())
def test_what_is_in_use_is_never_evicted(texts: list[str], capacity: int, places: int, chunked: bool) -> None:
    """Requests that overlap find no more than all that came before them had, and never hold more than there is."""
    trace = tuple(prompts(texts))
    blocks = Texts.of([one.blocks for one in trace], block=16)
    prompt = [one.tokens for one in trace]
    coming = requests(0.01 * np.arange(len(trace)), prompt=prompt, answer=20, texts=blocks)
    how = Scheduling(places=places, page=16, pages=capacity, pass_tokens=64, chunked=chunked)
    even = np.full(600, 1e-2)
    line = Line(pass_s=even, context_s=np.zeros(600), readings=(Reading(end_s=np.zeros(600), start_s=np.zeros(600)),))
    served = simulate(coming, PassTimes(lines=(line,)), how)
    ran = served.replica >= 0
    assert np.isfinite(served.finish_s[ran]).all()
    assert (served.steps[0].pages <= capacity).all()
    assert served.steps[0].pages[-1] == 0
    alone = reuse(trace, [Blocks(inf)], block=16, routing=Routing())
    assert served.found.sum() <= 16 * alone.found_blocks
