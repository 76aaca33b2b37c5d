"""How long a pass of any requests takes, from tables that the formulas of `physics` fill once.

The time of a pass is additive: what its positions take together, whatever came before them (the parameters are loaded
once for all), and what each request adds for the text before it. So two curves give every decode and two more every
chunk of a prompt, and each is a difference of passes of equal requests, which is what the formulas answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from inferdash.facts.engine import Engine
from inferdash.formula import Number
from inferdash.physics.deployment import Deployment
from inferdash.physics.expected import expected_pass
from inferdash.physics.passes import one_pass

Seconds = NDArray[np.float64]
Lists = tuple[list[float], list[float], list[float], list[float], list[float]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Line:
    """Seconds of a pass as a sum; the time is the highest of its lines."""

    pass_s: Seconds
    """By positions of a pass, from 0: all that does not depend on the text before them."""
    context_s: Seconds
    """By tokens before it, from 0: what a request adds that writes one token. Straight between two bends."""
    prompt_s: Seconds
    """By tokens, from 0: what a request adds that reads a prompt of so many in one pass."""
    start_s: Seconds
    """By tokens before it, from 0: what a chunk of a prompt adds to the `prompt_s` of where it ends."""


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
    def lists(self) -> tuple[Lists, Lists]:
        """The curves of two lines as lists, for a loop: `pass_s`, `context_s`, its slope, `prompt_s` and `start_s`.

        The slope is the same between two bends to the last digit, so that what was added can be taken off. A single
        line is its own second.
        """
        edges = sorted({min(1, self.tokens), *self.bends, self.tokens})

        def lists(line: Line) -> Lists:
            slopes = [0.0] * (self.tokens + 1)
            for low, high in pairwise(edges):
                slopes[low:high] = [float(line.context_s[high] - line.context_s[low]) / (high - low)] * (high - low)
            plain = (line.pass_s, line.context_s, line.prompt_s, line.start_s)
            of_pass, of_context, of_prompt, of_start = (curve.tolist() for curve in plain)
            return of_pass, of_context, slopes, of_prompt, of_start

        return lists(self.lines[0]), lists(self.lines[-1])

    @cached_property
    def bend_after(self) -> list[int]:
        """By tokens, from 0: the next bend beyond them, and beyond the last one more than the longest text."""
        after: list[int] = []
        for bend in (*self.bends, self.tokens + 1):
            after += [bend] * (bend - len(after))
        return after

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
                + sum(line.prompt_s[past + size] + line.start_s[past] for size, past in chunks)
            )
            for line in self.lines
        )


def pass_times(
    deployment: Deployment, engine: Engine | None, *, places: int, tokens: int, pass_tokens: int
) -> PassTimes | None:
    """The times of passes of a deployment at its limit, or as expected of an engine; None where no peak is known.

    Exact for attention over all tokens or the last ones, dense or with experts, and for recurrent layers. Three things
    are not. Entries into which tokens are pressed count evenly, not one by one: less than an entry a layer. A chunk
    of a prompt expands a latent cache as a chunk of `pass_tokens` does; a short one may do without. Groups that serve
    requests of their own share nothing but experts: the times are those of one group while the others do the same, so
    that a layout of `data` groups is as many replicas.

    Args:
        deployment: what runs on what.
        engine: the program that runs it; None for the limit.
        places: requests that write in one pass, at most.
        tokens: tokens of the longest prompt and answer together.
        pass_tokens: tokens of prompts in one pass, at most.
    """

    def lines_of(*, requests: Number, positions: Number, past: Number) -> tuple[Number, ...] | None:
        together = deployment.layout.data * requests
        one = one_pass(deployment, requests=together, positions=positions, past=past, output_positions=1)
        if engine is not None:
            whole = expected_pass(deployment, engine, one, requests=together, positions=positions)
            return None if whole is None else (whole.pass_s,)
        link_s = 0.0 if one.link_s is None else one.link_s
        return None if one.compute_s is None else (one.load_s + link_s, one.compute_s + link_s)

    largest = max(places, pass_tokens)
    counts = np.arange(1.0, max(largest, tokens + pass_tokens) + 1)
    bends = _bends(deployment, tokens)
    nodes = np.array([*{1, *bends, max(tokens, 1)}], dtype=np.float64)
    nodes.sort()
    past = np.arange(0.0, tokens + 1)
    alone = lines_of(requests=counts, positions=1, past=0)
    whole = lines_of(requests=1, positions=counts, past=0)
    chunk = lines_of(requests=1, positions=pass_tokens, past=past)
    text = lines_of(requests=1, positions=1, past=nodes)
    if alone is None or whole is None or chunk is None or text is None:
        return None

    def line(alone: Seconds, whole: Seconds, chunk: Seconds, text: Seconds) -> Line:
        prompt_s = np.append(0.0, whole - alone)
        return Line(
            pass_s=np.append(0.0, alone)[: largest + 1],
            context_s=np.interp(past, nodes, text - alone[0]),
            prompt_s=prompt_s[: tokens + 1],
            start_s=chunk - alone[pass_tokens - 1] - prompt_s[pass_tokens : pass_tokens + tokens + 1],
        )

    parts = zip(alone, whole, chunk, text, strict=True)
    sizes = (counts, counts, past, nodes)
    return PassTimes(
        lines=tuple(line(*(part + 0 * size for part, size in zip(each, sizes, strict=True))) for each in parts),
        bends=bends,
    )


def _bends(deployment: Deployment, tokens: int) -> tuple[int, ...]:
    """Contexts below `tokens` at which a layer reads no further token, or works on none: a position counts itself."""
    bounds = {
        bound
        for blocks in deployment.architecture.blocks
        if blocks.attention
        for bound in blocks.attention.reads_at_most
    }
    return tuple(sorted(bend for bound in bounds for bend in {bound - 1, bound} if 1 < bend < tokens))
