"""A load test that keeps requests in flight: counted passes against a client and a server that go by the clock."""

from dataclasses import replace

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.amounts import amounts
from inferdash.physics.deployment import deploy
from inferdash.physics.fitted.expected import expected, of_amounts
from inferdash.physics.parallelism import Layout
from inferdash.physics.passes import one_pass
from inferdash.physics.under_load.closed_loop import (
    DELAY,
    WAVES,
    Intake,
    Load,
    Told,
    expected_of_load,
    intake_of,
    passes,
    waits,
)
from inferdash.physics.under_load.closed_loop import lengths as lengths_of
from inferdash.physics.under_load.served import usable

ENGINES = library.engines()


def by_the_clock(load: Load, intake: Intake, *, write_s: float, read_s: float) -> tuple[float, float]:
    """Mean seconds to the first token, and of a further token: each request as a list of what it still has to do."""
    count = WAVES * load.in_flight
    prompts, answers = lengths_of(load, count)
    lengths = [list(pair) for pair in zip(prompts, answers, strict=True)]
    sent = dict.fromkeys(range(load.in_flight), 0.0)
    behind = dict.fromkeys(range(load.in_flight), 0)
    """Request -> passes that must be over before it is taken in."""
    queue: list[int] = []
    now, passed, unlooked = 0.0, 0, 0
    writing: list[int] = []
    first: dict[int, float] = {}
    ended: dict[int, float] = {}
    while len(ended) < count:
        if unlooked in {0, intake.poll} or not writing:
            unlooked = 0
            for one in sorted(behind):
                if behind[one] <= passed or not (writing or queue):
                    queue.append(one)
                    del behind[one]
        reading, room = bool(queue), intake.chunk
        now += read_s if reading else write_s
        passed, unlooked = passed + 1, 0 if reading else unlooked + 1
        written = [] if reading and not intake.mixes else list(writing)
        while queue and room:
            one = queue[0]
            taken = min(room, lengths[one][0])
            room, lengths[one][0] = room - taken, lengths[one][0] - taken
            if lengths[one][0]:
                break
            queue.pop(0)
            first[one] = now
            lengths[one][1] -= 1
            writing.append(one)
        for one in sorted(written):
            lengths[one][1] -= 1
        for one in sorted(one for one in writing if lengths[one][1] == 0):
            writing.remove(one)
            ended[one] = now
            if len(sent) < count:
                behind[len(sent)] = passed + intake.delay
                sent[len(sent)] = now
    to_first = [first[one] - sent[one] for one in range(count)]
    further = [(ended[one] - first[one]) / (answers[one] - 1) for one in range(count)]
    return sum(to_first) / count, sum(further) / count


@pytest.mark.parametrize("seed", range(24))
def test_the_counted_passes_are_those_of_a_clock(seed: int) -> None:
    draw = np.random.default_rng(seed)
    load = Load(
        in_flight=int(draw.integers(1, 13)),
        prompt=int(draw.integers(1, 301)),
        answer=int(draw.integers(2, 41)),
        spread=float(draw.choice([0.0, 0.2, 0.7])),
    )
    intake = Intake(
        chunk=int(draw.integers(20, 401)),
        mixes=bool(draw.random() < 0.5),
        delay=int(draw.integers(4)),
        poll=int(draw.choice([1, 3, 10])),
    )
    counts = waits(load, intake)
    write_s, read_s = draw.random(), 5 * draw.random()
    first, further = by_the_clock(load, intake, write_s=write_s, read_s=read_s)
    assert counts.first_writes * write_s + counts.first_reads * read_s == pytest.approx(first)
    assert counts.writes * write_s + counts.reads * read_s == pytest.approx(further)


def test_alone_a_request_waits_for_its_own_passes_only() -> None:
    counts = waits(Load(in_flight=1, prompt=1000, answer=50), Intake(chunk=8192, mixes=True))
    assert (counts.first_writes, counts.first_reads, counts.first_read_tokens) == (0, 1, 1000)
    assert (counts.writes, counts.reads, counts.batch) == (1, 0, 1)


def test_a_pass_between_whole_batches_lies_between_them() -> None:
    machine = deploy(
        library.models()["qwen3-32b"],
        library.accelerators()["h100-sxm"],
        gpus=2,
        layout=Layout(even=False, tensor=2),
        weights=PRECISIONS["bf16"],
        cache=PRECISIONS["bf16"],
    )
    counts = waits(Load(in_flight=8, prompt=512, answer=64, spread=0.2), Intake(chunk=8192, mixes=True))
    each = passes(machine, counts, mixes=True)
    between = float(of_amounts(machine, ENGINES["vllm"], each.write).pass_s)
    low, high = (
        expected(machine, ENGINES["vllm"], requests=n, positions=1, past=counts.prompt + counts.answer / 2)
        for n in (int(counts.batch), int(counts.batch) + 1)
    )
    assert low is not None
    assert high is not None
    assert low.pass_s <= between <= high.pass_s
    mixed, alone = (
        of_amounts(machine, ENGINES["vllm"], passes(machine, counts, mixes=mixes).read) for mixes in (True, False)
    )
    assert alone.pass_s < mixed.pass_s < alone.pass_s + between
    one = one_pass(machine, requests=1, positions=700, past=0, output_positions=1)
    whole = amounts(machine, one, requests=1, positions=700)
    shared = whole.of_prompts(2)
    assert (shared.requests, shared.attention_s) == (2, whole.attention_s / 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_more_in_flight_is_slower_for_each_and_faster_for_all(engine: str) -> None:
    machine = deploy(
        library.models()["llama-3.1-70b"],
        library.accelerators()["h200-sxm"],
        gpus=4,
        layout=Layout(even=False, tensor=4),
        weights=PRECISIONS["fp8"],
        cache=PRECISIONS["fp8"],
    )
    found = [
        expected_of_load(machine, ENGINES[engine], Load(in_flight=n, prompt=1024, answer=256)) for n in (1, 4, 16, 64)
    ]
    output, speed = ([getattr(one, name) for one in found] for name in ("output_token_s", "output_tokens_per_s"))
    assert output == sorted(output)
    assert speed == sorted(speed)


def test_an_engine_is_told_its_chunk_or_has_one_of_its_own() -> None:
    load = Load(in_flight=4, prompt=1000, answer=100)
    assert intake_of(ENGINES["vllm"], load) == Intake(chunk=8192, mixes=True, delay=DELAY)
    assert intake_of(ENGINES["vllm"], load, Told(chunk=512)).chunk == 512
    assert intake_of(ENGINES["tensorrt-llm"], load).chunk == 2000  # two whole prompts in 1,000 and 1,500
    assert intake_of(ENGINES["sglang"], load, Told(poll=30)).poll == 30 > intake_of(ENGINES["sglang"], load).poll > 1


def test_a_limit_knows_of_no_waiting_to_be_taken_in() -> None:
    machine = deploy(
        library.models()["llama-3-8b"],
        library.accelerators()["h100-sxm"],
        gpus=1,
        layout=Layout(),
        weights=PRECISIONS["bf16"],
        cache=PRECISIONS["bf16"],
    )
    load = Load(in_flight=8, prompt=1024, answer=256, spread=0.2)
    often, seldom = (expected_of_load(machine, ENGINES["sglang"], load, Told(poll=poll)) for poll in (1, 50))
    assert often is not None
    assert seldom is not None
    assert often.first_token_s < seldom.first_token_s
    assert often.until_first.limit_s == seldom.until_first.limit_s


def test_who_waits_for_others_gets_the_first_token_later_and_the_others_no_later() -> None:
    """Half of the passes that it may wait, nearly all of them decodes where answers are long."""
    test = next(one for one in usable().values() if one.told.gather and one.load.answer > 4 * one.load.prompt)
    engine = ENGINES["tensorrt-llm"]
    alone = expected_of_load(test.machine, engine, test.load, replace(test.told, gather=0))
    waiting = expected_of_load(test.machine, engine, test.load, test.told)
    assert alone is not None
    assert waiting is not None
    passes_s = test.told.gather / 2 * waiting.output_token_s
    assert waiting.first_token_s - alone.first_token_s == pytest.approx(passes_s, rel=0.15)
    assert waiting.output_token_s == pytest.approx(alone.output_token_s, rel=0.05)


def test_a_median_knows_nothing_of_the_first_wave() -> None:
    """One in ten requests waits for the prompts of all that come first: the mean feels it, the median does not."""
    machine = deploy(
        library.models()["llama-3-8b"],
        library.accelerators()["h100-sxm"],
        gpus=1,
        layout=Layout(),
        weights=PRECISIONS["bf16"],
        cache=PRECISIONS["bf16"],
    )
    load = Load(in_flight=64, prompt=8192, answer=1024, spread=0.2)
    found = expected_of_load(machine, ENGINES["vllm"], load)
    alone = expected_of_load(machine, ENGINES["vllm"], Load(in_flight=1, prompt=8192, answer=1024))
    assert found is not None
    assert alone is not None
    assert found.first_token_p50_s < found.first_token_s
    assert alone.first_token_p50_s == pytest.approx(alone.first_token_s)
