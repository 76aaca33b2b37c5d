"""How long a pass of any requests takes, from tables that the formulas of `physics` fill once.

The time of a pass is additive: what its positions take together, whatever came before them (the parameters are loaded
once for all), and what each request adds for the text before it. So two curves give every decode and two more every
chunk of a prompt, and each is a difference of passes of equal requests, which is what the formulas answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from inferdash.facts.engine import Engine
from inferdash.formula import Number
from inferdash.physics.deployment import Deployment
from inferdash.physics.expected import ExpectedPass, expected_pass
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
    """By tokens before it, from 0: what a request adds that writes one token. Straight between two bends."""
    readings: tuple[Reading, ...]
    """One, or two forms of which the quicker one counts."""

    def chunk_s(self, *, size: int, past: int) -> float:
        """Seconds that a request adds that reads `size` tokens after `past`."""
        return float(min(form.end_s[past + size] + form.start_s[past] for form in self.readings))


class Tables(NamedTuple):
    """The curves of two lines of which the higher one counts, in seconds: arrays with a row a line."""

    pass_s: Seconds
    """By positions of a pass."""
    context_s: Seconds
    """By tokens before it: what a request adds that writes."""
    slope_s: Seconds
    """By how much more a token later: the same between two bends to the last digit, so that a sum can be undone."""
    end_s: Seconds
    """By form, then by tokens up to the end of a chunk."""
    start_s: Seconds
    """By form, then by tokens before it."""
    bend_after: NDArray[np.int64]
    """By tokens: the next bend beyond them, and beyond the last one more than the longest text."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PassTimes:
    """Seconds of every pass that requests of at most `tokens` tokens can share."""

    lines: tuple[Line, ...]
    """One where parts stand one after another (expected), two where the longer one counts (limit)."""
    bends: tuple[int, ...] = ()
    """Tokens before a position at which `context_s` changes its slope, rising."""

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
        context_s = np.array([line.context_s for line in lines])
        slope_s = np.zeros_like(context_s)
        for low, high in pairwise(edges):
            slope_s[:, low:high] = (context_s[:, [high]] - context_s[:, [low]]) / (high - low)
        forms = [(line.readings[0], line.readings[-1]) for line in lines]
        bends = np.array([*self.bends, self.tokens + 1])
        return Tables(
            pass_s=np.array([line.pass_s for line in lines]),
            context_s=context_s,
            slope_s=slope_s,
            end_s=np.array([[form.end_s for form in pair] for pair in forms]),
            start_s=np.array([[form.start_s for form in pair] for pair in forms]),
            bend_after=bends[np.searchsorted(bends, np.arange(self.tokens + 1), side="right")],
        )

    def pass_s(self, *, contexts: Sequence[int] = (), chunks: Sequence[tuple[int, int]] = ()) -> float:
        """Seconds of one pass.

        Args:
            contexts: for each request that writes a token, the tokens before it.
            chunks: for each request that reads, tokens that it reads now, and those that it read before.

        Raises:
            IndexError: where the pass or a text is longer than the tables.
        """
        positions = len(contexts) + sum(size for size, _ in chunks)
        return max(
            float(
                line.pass_s[positions]
                + line.context_s[list(contexts)].sum()
                + sum(line.chunk_s(size=size, past=past) for size, past in chunks)
            )
            for line in self.lines
        )


def pass_times(
    deployment: Deployment, engine: Engine | None, *, places: int, tokens: int, pass_tokens: int
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
    """
    if deployment.peak is None or deployment.attention_peak is None:
        return None

    def parts_of(*, requests: Number, positions: Number, past: Number, output_positions: int = 1) -> Seconds:
        """Seconds of a pass by line, then whole and those of arithmetic, then by what was asked for as an array."""
        together = deployment.layout.data * requests
        one = one_pass(deployment, requests=together, positions=positions, past=past, output_positions=output_positions)
        if engine is None:
            compute_s, link_s = cast("Number", one.compute_s), 0.0 if one.link_s is None else one.link_s
            parts: tuple[Number, ...] = (one.load_s + link_s, 0.0, compute_s + link_s, compute_s)
        else:
            whole = cast("ExpectedPass", expected_pass(deployment, engine, one, requests=together, positions=positions))
            parts = (whole.pass_s, whole.compute_s)
        shape = np.broadcast(requests, positions, past).shape
        return np.array([np.broadcast_to(part, shape) for part in parts]).reshape(-1, 2, *shape)

    largest = max(places, pass_tokens)
    counts = np.arange(1.0, max(largest, tokens + pass_tokens) + 1)
    past = np.arange(0.0, tokens + 1)
    bends = _bends(deployment, tokens)
    nodes = np.array(sorted({1, *bends, max(tokens, 1)}), dtype=np.float64)
    alone = parts_of(requests=counts, positions=1, past=0)
    whole = parts_of(requests=1, positions=counts, past=0)
    chunk = parts_of(requests=1, positions=pass_tokens, past=past)
    text = parts_of(requests=1, positions=1, past=nodes)
    output = parts_of(requests=1, positions=1, past=1, output_positions=2)

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
        return Line(pass_s=np.append(0.0, alone[line, 0, :largest]), context_s=context_s, readings=readings)

    def unexpanded(line: int, reading: Reading) -> Reading:
        """The arithmetic of a short chunk is that of as many decodes, but for the output layer."""
        step_s, arithmetic = curves(line, 1)
        output_s = output[line, 1] - text[line, 1, 0]
        steps_s = np.append(0.0, step_s[:-1].cumsum()) - output_s * past
        return Reading(
            end_s=reading.end_s - arithmetic.end_s + steps_s,
            start_s=reading.start_s - arithmetic.start_s - steps_s + output_s,
        )

    return PassTimes(lines=tuple(line_of(line) for line in range(len(alone))), bends=bends)


def _bends(deployment: Deployment, tokens: int) -> tuple[int, ...]:
    """Contexts below `tokens` at which a layer reads no further token, or works on none: a position counts itself."""
    bounds = {
        bound
        for blocks in deployment.architecture.blocks
        if blocks.attention
        for bound in blocks.attention.reads_at_most
    }
    return tuple(sorted(bend for bound in bounds for bend in {bound - 1, bound} if 1 < bend < tokens))
