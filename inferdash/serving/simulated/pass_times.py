"""How long a pass of any requests takes, from tables that the formulas of `physics` fill once.

The time of a pass is additive: what its positions take together, whatever came before them (the parameters are loaded
once for all), and what each request adds for the text before it. So two curves give every decode and two more every
chunk of a prompt, and each is a difference of passes of equal requests, which is what the formulas answer.

Where tokens are proposed, a pass that writes is a round: the passes of the drafter and a check of several positions of
each request. It writes `tokens_per_pass` tokens of each on average, so that a token takes as large a part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from inferdash.facts.machines.engine import Engine
from inferdash.formula import Number
from inferdash.physics.amounts import GRAPHED
from inferdash.physics.deployment import Deployment
from inferdash.physics.drafters import Proposals, proposing_s
from inferdash.physics.fitted.expected import ExpectedPass, expected_pass
from inferdash.physics.passes import one_pass

Seconds = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading:
    """What a request adds that reads a chunk of its prompt, as a sum of two numbers."""

    end_s: Seconds
    """By tokens up to the end of the chunk, from 0."""
    start_s: Seconds
    """By tokens before it, from 0."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Line:
    """Seconds of a pass as a sum; the time is the highest of its lines."""

    pass_s: Seconds
    """By positions of a pass, from 0: all that does not depend on the text before them."""
    context_s: Seconds
    """By tokens before it, from 0: what a request adds that writes. Straight between two bends."""
    readings: tuple[Reading, ...]
    """One, or two forms of which the quicker one counts."""
    round_s: Seconds | None = None
    """By requests that write, from 0: the same as `pass_s`, of a round; None where nothing is proposed."""
    reading_s: float = 0.0
    """That a pass takes more where a chunk is too long for a recorded graph."""

    def slower(self, times: float) -> "Line":
        """That of passes that take so many times as long."""
        return Line(
            pass_s=times * self.pass_s,
            context_s=times * self.context_s,
            readings=tuple(Reading(end_s=times * one.end_s, start_s=times * one.start_s) for one in self.readings),
            round_s=None if self.round_s is None else times * self.round_s,
            reading_s=times * self.reading_s,
        )

    def chunk_s(self, *, size: int, past: int) -> float:
        """Seconds that a request adds that reads `size` tokens after `past`."""
        return float(min(form.end_s[past + size] + form.start_s[past] for form in self.readings))


class Tables(NamedTuple):
    """The curves of two lines of which the higher one counts, in seconds: arrays with a row a line."""

    pass_s: Seconds
    """By positions of a pass."""
    write_s: Seconds
    """By requests that write: a token of each."""
    beside_s: Seconds
    """By requests that write: what proposing adds to a pass that has their positions."""
    context_s: Seconds
    """By tokens before it: what a request adds to that."""
    slope_s: Seconds
    """By how much more a token later: the same between two bends to the last digit, so that a sum can be undone."""
    end_s: Seconds
    """By form, then by tokens up to the end of a chunk."""
    start_s: Seconds
    """By form, then by tokens before it."""
    reading_s: Seconds
    """Of a pass that reads a chunk which is too long for a recorded graph."""
    bend_after: NDArray[np.int64]
    """By tokens: the next bend beyond them, and beyond the last one more than the longest text."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PassTimes:
    """Seconds of every pass that requests of at most `tokens` tokens can share."""

    lines: tuple[Line, ...]
    """One where parts stand one after another (expected), two where the longer one counts (limit)."""
    bends: tuple[int, ...] = ()
    """Tokens before a position at which `context_s` changes its slope, rising."""
    checked: int = 1
    """Positions of each request that writes: those that are proposed and one more."""
    tokens_per_pass: float = 1.0
    """That a pass writes of each on average."""

    @property
    def tokens(self) -> int:
        """Tokens of the longest text."""
        return len(self.lines[0].context_s) - 1

    @property
    def positions(self) -> int:
        """Positions of the largest pass."""
        return len(self.lines[0].pass_s) - 1

    @cached_property
    def tables(self) -> Tables:
        """The curves for a loop. A single line, or a single form, is its own second."""
        edges = sorted({min(1, self.tokens), *self.bends, self.tokens})
        lines = (self.lines[0], self.lines[-1])
        pass_s = np.array([line.pass_s for line in lines])
        plain_s = pass_s[:, :: self.checked]
        rounds = [line.round_s for line in lines if line.round_s is not None]
        round_s = np.array(rounds) if rounds else plain_s
        context_s = np.array([line.context_s for line in lines]) / self.tokens_per_pass
        slope_s = np.zeros_like(context_s)
        for low, high in pairwise(edges):
            slope_s[:, low:high] = (context_s[:, [high]] - context_s[:, [low]]) / (high - low)
        forms = [(line.readings[0], line.readings[-1]) for line in lines]
        bends = np.array([*self.bends, self.tokens + 1])
        return Tables(
            pass_s=pass_s,
            write_s=round_s / self.tokens_per_pass,
            beside_s=round_s - plain_s[:, : round_s.shape[1]],
            context_s=context_s,
            slope_s=slope_s,
            end_s=np.array([[form.end_s for form in pair] for pair in forms]),
            start_s=np.array([[form.start_s for form in pair] for pair in forms]),
            reading_s=np.array([line.reading_s for line in lines]),
            bend_after=bends[np.searchsorted(bends, np.arange(self.tokens + 1), side="right")],
        )

    def slower(self, times: float) -> "PassTimes":
        """Those of passes that take so many times as long."""
        return self if times == 1 else replace(self, lines=tuple(line.slower(times) for line in self.lines))

    def pass_s(self, *, contexts: Sequence[int] = (), chunks: Sequence[tuple[int, int]] = ()) -> float:
        """Seconds of one pass, or of a round.

        Args:
            contexts: for each request that writes a token, the tokens before it.
            chunks: for each request that reads, tokens that it reads now, and those that it read before.

        Raises:
            IndexError: where the pass or a text is longer than the tables.
        """
        positions = self.checked * len(contexts) + sum(size for size, _ in chunks)
        return max(
            float(
                line.pass_s[positions]
                + self._proposing_s(line, len(contexts))
                + line.context_s[list(contexts)].sum()
                + sum(line.chunk_s(size=size, past=past) for size, past in chunks)
                + line.reading_s * any(size > GRAPHED for size, _ in chunks)
            )
            for line in self.lines
        )

    def token_s(self, contexts: Sequence[int]) -> float:
        """Seconds of a token of each of some requests, with so many tokens before it."""
        return self.pass_s(contexts=contexts) / self.tokens_per_pass

    def _proposing_s(self, line: Line, requests: int) -> float:
        """What proposing adds to a pass that has the positions of so many requests."""
        return 0.0 if line.round_s is None else float(line.round_s[requests] - line.pass_s[self.checked * requests])


def pass_times(
    deployment: Deployment,
    engine: Engine | None,
    *,
    places: int,
    tokens: int,
    pass_tokens: int,
    proposals: Proposals | None = None,
) -> PassTimes | None:
    """The times of passes of a deployment at its limit, or as expected of an engine; None where no peak is known.

    Exact but for two things. Entries into which tokens are pressed count evenly, not one by one: less than an entry a
    layer. Groups that serve requests of their own share nothing but experts: the times are those of one group while
    the others do the same, so that a layout of `data` groups is as many replicas.

    Args:
        deployment: what runs on what.
        engine: the program that runs it; None for the limit.
        places: requests that write in one pass, at most.
        tokens: tokens of the longest prompt and answer together.
        pass_tokens: tokens of prompts in one pass, at most.
        proposals: what proposes tokens; None where nothing does. Its passes are taken to grow evenly with the texts.
    """
    if deployment.peak is None or deployment.attention_peak is None:
        return None
    graphed = engine and engine.model_copy(update={"latent_read": 0.0})
    parts_of = partial(_parts, deployment, graphed)
    checked = proposals.positions if proposals else 1
    tokens += checked - 1  # the last check may write beyond the answer
    largest = max(checked * places, pass_tokens)
    counts = np.arange(1.0, max(largest, tokens + pass_tokens) + 1)
    past = np.arange(0.0, tokens + 1)
    bends = _bends(deployment, tokens)
    nodes = np.array(sorted({1, *bends, max(tokens, 1)}), dtype=np.float64)
    alone = parts_of(requests=counts, positions=1, past=0)
    whole = parts_of(requests=1, positions=counts, past=0)
    chunk = parts_of(requests=1, positions=pass_tokens, past=past)
    text = parts_of(requests=1, positions=1, past=nodes)
    rounds = _rounds(deployment, engine, proposals, places=places, nodes=nodes) if proposals else None
    output = parts_of(requests=1, positions=1, past=1, output_positions=2)

    reads_s = _parts(deployment, engine, requests=1, positions=pass_tokens, past=0)[:, 0] - whole[:, 0, pass_tokens - 1]

    def curves(line: int, part: int) -> tuple[Seconds, Reading]:
        added_s = np.append(0.0, whole[line, part] - alone[line, part])
        starts_s = chunk[line, part] - alone[line, part, pass_tokens - 1] - added_s[pass_tokens:][: tokens + 1]
        context_s = np.interp(past, nodes, text[line, part] - alone[line, part, 0])
        return context_s, Reading(end_s=added_s[: tokens + 1], start_s=starts_s)

    def line_of(line: int) -> Line:
        context_s, reading = curves(line, 0)
        readings: tuple[Reading, ...] = (reading,)
        if any(blocks.attention.expands for blocks in deployment.architecture.blocks if blocks.attention):
            readings = (reading, unexpanded(line, reading))
        pass_s = np.append(0.0, alone[line, 0, :largest])
        if rounds is None:
            return Line(pass_s=pass_s, context_s=context_s, readings=readings, reading_s=float(reads_s[line]))
        by_requests, by_text = rounds[0][line], rounds[1][line]
        return Line(
            pass_s=pass_s,
            context_s=np.interp(past, nodes, by_text - by_requests[0]),
            readings=readings,
            round_s=np.append(0.0, by_requests),
            reading_s=float(reads_s[line]),
        )

    def unexpanded(line: int, reading: Reading) -> Reading:
        """The arithmetic of a short chunk is that of as many decodes, but for the output layer."""
        step_s, arithmetic = curves(line, 1)
        output_s = output[line, 1] - text[line, 1, 0]
        steps_s = np.append(0.0, step_s[:-1].cumsum()) - output_s * past
        return Reading(
            end_s=reading.end_s - arithmetic.end_s + steps_s,
            start_s=reading.start_s - arithmetic.start_s - steps_s + output_s,
        )

    return PassTimes(
        lines=tuple(line_of(line) for line in range(len(alone))),
        bends=bends,
        checked=checked,
        tokens_per_pass=proposals.tokens_per_pass if proposals else 1.0,
    )


def _parts(
    machine: Deployment,
    engine: Engine | None,
    *,
    requests: Number,
    positions: Number,
    past: Number,
    output_positions: int = 1,
) -> Seconds:
    """Seconds of a pass by line, then whole and those of arithmetic, then by what was asked for as an array."""
    together = machine.layout.data * requests
    one = one_pass(machine, requests=together, positions=positions, past=past, output_positions=output_positions)
    if engine is None:
        compute_s, link_s = cast("Number", one.compute_s), 0.0 if one.link_s is None else one.link_s
        parts: tuple[Number, ...] = (one.load_s + link_s, 0.0, compute_s + link_s, compute_s)
    else:
        whole = cast("ExpectedPass", expected_pass(machine, engine, one, requests=together, positions=positions))
        parts = (whole.pass_s, whole.compute_s)
    shape = np.broadcast(requests, positions, past).shape
    return np.array([np.broadcast_to(part, shape) for part in parts]).reshape(-1, 2, *shape)


def _rounds(
    machine: Deployment, engine: Engine | None, proposals: Proposals, *, places: int, nodes: Seconds
) -> tuple[Seconds, Seconds]:
    """Seconds of rounds by line: without text by requests, and of one request by the tokens before it."""
    positions, groups = proposals.positions, machine.layout.data

    def round_s(*, requests: Number, past: Number) -> Seconds:
        one = _parts(machine, engine, requests=requests, positions=positions, past=past, output_positions=positions)
        return one[:, 0] + proposing_s(machine, engine, proposals, requests=groups * requests, past=past)

    return round_s(requests=np.arange(1.0, places + 1), past=0), round_s(requests=1, past=nodes)


def _bends(deployment: Deployment, tokens: int) -> tuple[int, ...]:
    """Contexts below `tokens` at which a layer reads no further token, or works on none: a position counts itself."""
    bounds = {
        bound
        for blocks in deployment.architecture.blocks
        if blocks.attention
        for bound in blocks.attention.reads_at_most
    }
    return tuple(sorted(bend for bound in bounds for bend in {bound - 1, bound} if 1 < bend < tokens))
