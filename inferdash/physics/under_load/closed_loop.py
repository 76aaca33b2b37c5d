"""A load test that keeps requests in flight: which passes each request waits for, and how long they are expected to be.

The next request comes when one ends. So who shares a pass with whom does not depend on how long passes take: it is
counted once for a load, and the means of a test are then sums of a few passes. A new request is taken in some passes
after it came, of whatever kind those are: where many come at once they read the prompts of others.
"""

from collections import deque
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heappop, heappush
from typing import Final

import numpy as np

from inferdash.facts.machines.engine import Engine
from inferdash.formula import Number, formula
from inferdash.physics.amounts import Amounts, amounts
from inferdash.physics.deployment import Deployment
from inferdash.physics.fitted.expected import ExpectedPass, of_amounts, server_s
from inferdash.physics.passes import one_pass

WAVES: Final = 10
"""Requests of a test for each one in flight, as InferenceMAX and InferenceX have it."""
DELAY: Final = 2
"""Passes until a new request can be taken in: the one under way, and the one that engines prepare beside it."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a client keeps in flight, and of what lengths."""

    in_flight: int
    prompt: int
    """Tokens of the longest prompt."""
    answer: int
    """Tokens of the longest answer, at least 2."""
    spread: float = 0.0
    """Lengths are drawn evenly from this share below the longest up to it: 0.2 is from 0.8 to 1."""

    def of_a_group(self, groups: int) -> "Load":
        """That of one of several groups that each serve requests of their own."""
        return replace(self, in_flight=max(1, round(self.in_flight / groups)))


@dataclass(frozen=True, kw_only=True)
class Intake:
    """How an engine takes requests in."""

    chunk: int
    """Tokens of prompts in one pass at most."""
    mixes: bool
    """Whether a pass that reads prompts writes tokens of other requests too."""
    delay: int = DELAY
    """Passes of any kind until a new request can be taken in."""
    poll: int = 1
    """Passes that only write between two looks for new requests; one that reads is followed by a look."""

    @property
    def at_once(self) -> "Intake":
        """That of an engine which takes everybody in at once."""
        return replace(self, delay=0, poll=1)


def room(*, chunk: int, beyond: int | None, prompt: int) -> int:
    """Tokens of prompts in a pass: `chunk`, or where `beyond` is given whole prompts within one and so many more."""
    return chunk if beyond is None else (prompt + beyond) // prompt * prompt


@dataclass(frozen=True, kw_only=True)
class Told:
    """What an engine was told of how to take requests in; None where that is not known."""

    chunk: int | None = None
    """Tokens of prompts in a pass at most."""
    poll: int | None = None
    """Passes between two looks for new requests."""
    gather: int = 0
    """Passes that a new request waits at most for others to be read with, of its own group or of all groups."""

    def intake(self, usual: Intake) -> Intake:
        """How an engine takes requests in that does so as usual but for this; a request waits half of `gather`."""
        return replace(
            usual,
            chunk=usual.chunk if self.chunk is None else self.chunk,
            poll=usual.poll if self.poll is None else self.poll,
            delay=usual.delay + self.gather // 2,
        )


NOTHING: Final = Told()


def intake_of(engine: Engine, load: Load, told: Told = NOTHING) -> Intake:
    """How an engine takes requests in, with what it was told where that is known."""
    chunk = room(chunk=engine.chunk, beyond=engine.beyond_prompt, prompt=load.prompt)
    return told.intake(Intake(chunk=chunk, mixes=engine.mixes, poll=engine.poll))


@dataclass(frozen=True, kw_only=True)
class Waits:
    """Means over the requests of a test."""

    prompt: float
    """Tokens of a prompt."""
    answer: float
    """Tokens of an answer."""
    batch: float
    """Requests in a pass that only writes."""
    firsts: tuple[tuple[int, int], ...]
    """By request: passes until its first token that only write, and that read prompts."""
    first_writes: float
    """Passes until the first token that only write."""
    first_reads: float
    """Passes until the first token that read prompts, its own among them."""
    first_read_tokens: float
    """Tokens that each of these reads."""
    writes: float
    """Passes that only write, for each further token."""
    reads: float
    """Passes that read prompts, for each further token."""
    read_tokens: float
    """Tokens that each of these reads."""


def lengths(load: Load, count: int) -> tuple[list[int], list[int]]:
    """Tokens of so many prompts and answers, drawn from a seed of their own."""
    shares = 1 - load.spread * np.random.default_rng(1).random((2, count))
    prompts, answers = np.round(shares * [[load.prompt], [load.answer]]).astype(int)
    return np.maximum(1, prompts).tolist(), np.maximum(2, answers).tolist()


def _one_chunk(waiting: deque[tuple[int, int]], chunk: int) -> tuple[int, list[int]]:
    """Takes the prompts of one pass from those who wait: how many tokens, and whose prompt is read then."""
    room, done = chunk, []
    while waiting and room:
        one, left = waiting.popleft()
        taken = min(left, room)
        room -= taken
        if taken < left:
            waiting.appendleft((one, left - taken))
        else:
            done.append(one)
    return chunk - room, done


@lru_cache(maxsize=4096)
def waits(load: Load, intake: Intake) -> Waits:
    """Which passes the requests of a test wait for."""
    chunk, mixes, delay, poll = intake.chunk, intake.mixes, intake.delay, intake.poll
    count = WAVES * load.in_flight
    prompts, answers = lengths(load, count)
    coming: deque[tuple[int, int]] = deque((one, 0) for one in range(load.in_flight))
    """Who is not taken in yet, and the pass before which it can be."""
    waiting: deque[tuple[int, int]] = deque()
    came: list[tuple[int, ...]] = [(0, 0, 0, 0)] * load.in_flight
    first: dict[int, tuple[int, ...]] = {}
    ends: list[tuple[int, int]] = []
    writes = reads = tokens = written = passes = since = 0
    """Passes that only write, that read, tokens read, tokens written by the former, passes that write, since a look."""
    totals = [0.0] * 7
    firsts: list[tuple[int, int]] = []
    while len(came) < count or coming or waiting or ends:
        looks = since == 0 or not ends
        while looks and coming and (coming[0][1] <= writes + reads or not (ends or waiting)):
            one = coming.popleft()[0]
            waiting.append((one, prompts[one]))
        if waiting:
            read, done = _one_chunk(waiting, chunk)
            reads, tokens, since = reads + 1, tokens + read, 0
            if mixes and ends:
                passes += 1
            for one in done:
                first[one] = (writes, reads, tokens, written)
                heappush(ends, (passes + answers[one] - 1, one))
        else:
            run = ends[0][0] - passes
            if coming:
                run = min(run, max(coming[0][1] - writes - reads, 1) if poll == 1 else poll - since)
            writes, passes, written = writes + run, passes + run, written + run * len(ends)
            since = (since + run) % poll
        while ends and ends[0][0] <= passes:
            one = heappop(ends)[1]
            further = answers[one] - 1
            until, start = first[one], came[one]
            firsts.append((until[0] - start[0], until[1] - start[1]))
            now = (writes, reads, tokens, written)
            totals = [
                *(total + end - begin for total, begin, end in zip(totals[:3], start, until, strict=False)),
                *(total + (end - begin) / further for total, begin, end in zip(totals[3:], until, now, strict=True)),
            ]
            if len(came) < count:
                coming.append((len(came), writes + reads + delay))
                came.append(now)
    first_writes, first_reads, first_tokens, each_writes, each_reads, each_tokens, each_written = (
        total / count for total in totals
    )
    return Waits(
        prompt=sum(prompts) / count,
        answer=sum(answers) / count,
        batch=each_written / each_writes if each_writes else float(load.in_flight),
        firsts=tuple(firsts),
        first_writes=first_writes,
        first_reads=first_reads,
        first_read_tokens=first_tokens / first_reads,
        writes=each_writes,
        reads=each_reads,
        read_tokens=each_tokens / each_reads if each_reads else first_tokens / first_reads,
    )


@dataclass(frozen=True)
class Passes:
    """The passes of a test, as what they have to do: one that only writes, and those that read."""

    write: Amounts
    first_read: Amounts
    """Until a first token."""
    read: Amounts
    """Between further tokens."""


def passes(machine: Deployment, load: Waits, *, mixes: bool) -> Passes:
    """What the passes of a test have to do; groups that serve requests of their own do the same side by side."""
    groups = machine.layout.data
    context = load.prompt + load.answer / 2
    write = _between(machine, load.batch, past=context, groups=groups)

    def read(tokens: float) -> Amounts:
        alone = _reads(machine, tokens, prompt=load.prompt, groups=groups)
        return alone.beside(write) if mixes and load.batch > 1 else alone

    return Passes(write=write, first_read=read(load.first_read_tokens), read=read(load.read_tokens))


def _between(machine: Deployment, batch: float, *, past: float, groups: int) -> Amounts:
    """A pass that writes a token of `batch` requests, a mean: what lies between its whole numbers."""
    low = max(1, int(batch))
    share = max(0.0, batch - low)

    def at(requests: int) -> Amounts:
        one = one_pass(machine, requests=requests * groups, positions=1, past=past, output_positions=1)
        return amounts(machine, one, requests=requests * groups, positions=1)

    return at(low) if share == 0 else at(low).times(1 - share).then(at(low + 1).times(share))


def _reads(machine: Deployment, tokens: float, *, prompt: float, groups: int) -> Amounts:
    """A pass that reads `tokens` of prompts of `prompt` tokens, of several or a part of one."""
    one = one_pass(machine, requests=groups, positions=tokens, past=max(0.0, (prompt - tokens) / 2), output_positions=1)
    whole = amounts(machine, one, requests=groups, positions=tokens)
    return whole.of_prompts(max(1.0, tokens / prompt))


@formula(unit="s", ref="measured")
def first_token_s(
    *, server_s: Number, admission: Number, writes: Number, write_s: Number, reads: Number, read_s: Number
) -> Number:
    """Expected mean seconds to the first token: the server's time, and the passes that a request waits for."""
    return server_s + (admission + writes) * write_s + reads * read_s


@formula(unit="s", ref="measured")
def output_token_s(*, writes: Number, write_s: Number, reads: Number, read_s: Number) -> Number:
    """Expected mean seconds from one token of a request to the next: passes that only write, and those that read."""
    return writes * write_s + reads * read_s


def first_limit_s(machine: Deployment, load: Load, intake: Intake) -> float:
    """The limit of a mean time to the first token: of the passes that nobody can be spared who is taken in at once."""
    counts = waits(load, intake.at_once)
    each = passes(machine, counts, mixes=intake.mixes)
    return float(counts.first_writes * each.write.limit_s + counts.first_reads * each.first_read.limit_s)


@dataclass(frozen=True)
class LoadTest:
    """What a load test is expected to find."""

    first_token_s: float
    first_token_p50_s: float
    """The median, where the other one is the mean."""
    output_token_s: float
    output_tokens_per_s: float
    until_first: ExpectedPass
    """The passes until a first token together."""
    between: ExpectedPass
    """Those between two tokens."""


def expected_of_load(machine: Deployment, engine: Engine, load: Load, told: Told = NOTHING) -> LoadTest | None:
    """What a test is expected to find; None where no peak of the accelerator is known.

    Args:
        machine: what runs on what.
        engine: the program that runs it.
        load: what the client does.
        told: of how it takes requests in.
    """
    if machine.peak is None or machine.attention_peak is None:
        return None
    mine, intake = load.of_a_group(machine.layout.data), intake_of(engine, load, told)
    counts = waits(mine, intake)
    each = passes(machine, counts, mixes=engine.mixes)
    write, first_read, read = (of_amounts(machine, engine, one) for one in (each.write, each.first_read, each.read))
    first = first_token_s(
        server_s=server_s(
            server_s=engine.server,
            token_s=engine.server_token,
            prompt=load.prompt,
            request_s=engine.server_request,
            in_flight=load.in_flight,
        ),
        admission=engine.admission,
        writes=counts.first_writes,
        write_s=write.pass_s,
        reads=counts.first_reads,
        read_s=first_read.pass_s,
    )
    output = output_token_s(writes=counts.writes, write_s=write.pass_s, reads=counts.reads, read_s=read.pass_s)
    until = write.times(engine.admission + counts.first_writes).then(first_read.times(counts.first_reads))
    waited = np.array(counts.firsts) @ [float(write.pass_s), float(first_read.pass_s)]
    middle = first - counts.first_writes * write.pass_s - counts.first_reads * first_read.pass_s + np.median(waited)
    return LoadTest(
        first_token_s=float(first),
        first_token_p50_s=float(middle),
        output_token_s=float(output),
        output_tokens_per_s=float(load.in_flight * counts.answer / (first + (counts.answer - 1) * output)),
        until_first=replace(until, limit_s=first_limit_s(machine, mine, intake)),
        between=write.times(counts.writes).then(read.times(counts.reads)),
    )
