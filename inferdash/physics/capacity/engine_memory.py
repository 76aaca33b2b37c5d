"""What an engine keeps of an accelerator for itself: activations, graphs, what lies outside its allocator.

A rule of what makes them, by engine and version, with the band in which logged starts lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from inferdash.facts.machines.engine_memory import EngineMemory, Era, Held, size_class
from inferdash.formula import Number, formula
from inferdash.physics.capacity.settings import Setting, Shape
from inferdash.physics.capacity.spans import NOTHING, Span, exactly

_WORK_BYTES: Final = 2
"""Of a number of the vectors in a pass, which are kept at 16 bits."""
_LOGIT_BYTES: Final = 4
_CAPTURED: Final = 256
"""Requests of a batch up to which all graphs are captured; fewer take less."""
_LEAST_CAPTURED: Final = 0.1
Word: TypeAlias = Literal["surely", "probably", "probably not", "no"]
"""Whether a start succeeds."""
_LEAST_CHUNK: Final = 2048


@formula(unit="B", ref="engine-memory")
def workspace_bytes(*, tokens: Number, experts_per_token: Number, width: Number, hidden: Number) -> Number:
    """Bytes in which the kernels of experts keep what the chosen experts of all tokens read and give, at 16 bits.

    `width` is that of the part of an expert on one accelerator.
    """
    return tokens * experts_per_token * (np.maximum(2 * width, hidden) + width) * 2


@formula(unit="B", ref="engine-memory")
def forward_bytes(
    *, tokens: Number, inner: Number, width: Number, vectors: Number, hidden: Number, workspace: Number
) -> Number:
    """Bytes that a pass over `tokens` holds at most: inner vectors, those beside them, the experts' workspace."""
    return tokens * 2 * (inner * width + vectors * hidden) + workspace


@formula(unit="B", ref="engine-memory")
def sampler_bytes(
    *,
    requests: Number,
    vocabulary: Number,
    per_logit: Number,
    tokens: Number,
    vectors: Number,
    hidden: Number,
    workspace: Number,
) -> Number:
    """Bytes while the sampler is tried out with as many requests as there may be, the vectors of a pass still held."""
    return requests * vocabulary * per_logit + tokens * 2 * vectors * hidden + workspace


@formula(unit="B", ref="engine-memory")
def compute_buffer_bytes(
    *,
    tokens: Number,
    logits: Number,
    vocabulary: Number,
    scores: Number,
    context: Number,
    heads: Number,
    hidden: Number,
) -> Number:
    """Bytes of a buffer that holds logits of a pass, or scores of attention where these have a place, at 32 bits."""
    return (
        tokens
        * 4
        * np.maximum(logits * vocabulary + np.ceil(logits) * hidden, scores * (context * heads + context + 4 * hidden))
    )


@formula(unit="B", ref="engine-memory")
def graph_bytes(*, layers: Number, of_layer: Number, at_all: Number) -> Number:
    """Bytes of captured graphs."""
    return layers * of_layer + at_all


@formula(unit="share", ref="engine-memory")
def share_beside_reserve(*, total: Number, reserve: Number) -> Number:
    """Share of the memory beside a reserve in bytes, in hundredths as engines round it."""
    return np.floor(100 * (total - reserve) / total) / 100


@formula(unit="B", ref="engine-memory")
def usable_memory(
    *, seen: Number, before: Number, not_taken: Number, outside: Number, activations: Number, graphs: Number
) -> Number:
    """Bytes of one accelerator that an engine has for parameters and caches, of those that programs see.

    What it finds taken, what its share leaves, what lies outside its own allocator, and what it keeps for itself.
    """
    return seen - before - not_taken - outside - activations - graphs


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What an engine keeps of one accelerator, in bytes, and what it has for parameters and caches."""

    era: str
    """What holds for the version; several where none is stated."""
    tokens: tuple[int, int]
    """Of a pass, the fewest and the most over the eras."""
    requests: tuple[int, int]
    share: float
    before: Span
    """Before the engine asks what is free."""
    not_taken: Span
    """That its share leaves: for the driver's context, for graphs, or for activations."""
    outside: Span
    activations: Span
    graphs: Span
    """Within its share."""
    usable: Span
    spare: Span
    """Of what is not taken, after all that has to find room there; where it is negative a start fails after all."""
    surely: bool


def kept(rule: EngineMemory, shape: Shape, setting: Setting) -> Kept:
    """What an engine keeps; where no version is stated the middle of all, with a band over all of them."""
    return _together([_kept(rule, era, shape, setting) for era in rule.possible(setting.version)])


def _together(found: Sequence[Kept]) -> Kept:
    first = found[0]
    if len(found) == 1:
        return first

    def over(name: str) -> Span:
        spans: list[Span] = [getattr(one, name) for one in found]
        middles = [span.expected for span in spans]
        middle = (min(middles) + max(middles)) / 2
        return Span(min(span.low for span in spans), middle, max(span.high for span in spans))

    spans = {
        name: over(name) for name in ("before", "not_taken", "outside", "activations", "graphs", "usable", "spare")
    }
    total = first.usable.expected + sum(getattr(first, name).expected for name in list(spans)[:5])
    usable = total - sum(spans[name].expected for name in list(spans)[:5])
    whole = spans["usable"]
    spans["usable"] = Span(min(whole.low, usable), usable, max(whole.high, usable))
    return Kept(
        era=f"{first.era} to {found[-1].era}",
        tokens=(min(one.tokens[0] for one in found), max(one.tokens[1] for one in found)),
        requests=(min(one.requests[0] for one in found), max(one.requests[1] for one in found)),
        share=first.share,
        surely=all(one.surely for one in found),
        **spans,
    )


def _kept(rule: EngineMemory, era: Era, shape: Shape, setting: Setting) -> Kept:
    size, total = size_class(setting.total, a100=setting.a100), setting.total
    whole = setting.context if setting.context <= era.whole_context else 0
    tokens = setting.tokens or max(whole, era.tokens[size])
    requests = min(setting.requests or era.requests[size], tokens)
    before = Span(*(rule.before if setting.gpus == 1 else rule.before_shared))
    activations, sampler = _activations(rule, era, shape, setting, tokens=tokens, requests=requests)
    outside = _outside(era, shape, setting, size) if setting.outside is None else exactly(setting.outside)
    known = not setting.strange and rule.is_logged(setting.version)
    if not known and setting.outside is None:
        outside = outside + Span(*rule.strange)
    graphs = _graphs(era, shape, size, requests=requests)
    share = setting.share or _share(rule, era, setting, tokens=tokens, size=size)
    entered = setting.activations is not None and setting.outside is not None
    inside = graphs if era.graphs_in_share and not entered else NOTHING
    demands = [] if era.graphs_in_share else [graphs]
    match rule.budget:
        case "share of all":
            not_taken = exactly(total * (1 - share))
            # The sampler is tried once more when cache and graphs have their place: a start was logged that failed so.
            demands += [before, Span(0, 0, sampler)]
            before = NOTHING
        case "share of free":
            not_taken = (-before + exactly(total)).times(1 - share)
            demands += [activations]
            activations = NOTHING
        case "share of the rest":
            rest = -before + -activations + exactly(total - setting.weights)
            not_taken = Span(*(max(0.0, one) for one in (rest.low, rest.expected, rest.high))).times(1 - share)
        case "all":
            not_taken, demands = NOTHING, []
    band = before + outside + activations + inside
    usable = float(
        usable_memory(
            seen=total,
            before=before.expected,
            not_taken=not_taken.expected,
            outside=outside.expected,
            activations=activations.expected,
            graphs=inside.expected,
        )
    )
    return Kept(
        era=era.name,
        tokens=(tokens, tokens),
        requests=(requests, requests),
        share=share,
        before=before,
        not_taken=not_taken,
        outside=outside,
        activations=activations,
        graphs=inside,
        usable=Span(usable - (band.high - band.expected), usable, usable + (band.expected - band.low)),
        spare=Span(
            not_taken.low - sum(one.high for one in demands),
            not_taken.expected - sum(one.expected for one in demands),
            not_taken.high - sum(one.low for one in demands),
        ),
        surely=era.surely and known and not shape.recurrent and setting.expert == 1,
    )


def _activations(
    rule: EngineMemory, era: Era, shape: Shape, setting: Setting, *, tokens: int, requests: int
) -> tuple[Span, float]:
    """Bytes of activations, and those of them that are the sampler's alone."""
    workspace = _workspace(shape, setting, tokens)
    forward = max(
        _forward(era, shape, tokens, width=shape.width / setting.tensor, workspace=0.0),
        _forward(era, shape, tokens, width=0.0, workspace=workspace) if shape.experts_per_token else 0.0,
    )
    beside = [
        float(
            compute_buffer_bytes(
                tokens=tokens,
                logits=era.logits,
                vocabulary=shape.vocabulary,
                scores=scores,
                context=setting.context,
                heads=shape.heads,
                hidden=shape.hidden,
            )
        )
        if era.logits or scores
        else 0.0
        for scores in era.scores
    ]
    sampler = requests * shape.vocabulary * era.sampler[1] if setting.last else 0.0
    if setting.activations is not None:
        return exactly(setting.activations), sampler
    sampled = [
        float(
            sampler_bytes(
                requests=requests,
                vocabulary=shape.vocabulary,
                per_logit=per_logit,
                tokens=tokens,
                vectors=3 if shape.towers else 1,
                hidden=shape.hidden,
                workspace=era.experts_in_sampler * workspace,
            )
        )
        if per_logit and setting.last
        else 0.0
        for per_logit in era.sampler
    ]
    first = 0.0 if setting.last else tokens * _WORK_BYTES * 2 * shape.hidden
    found = [max(forward + first, *both) for both in zip(beside, sampled, strict=True)]
    return _with_errors(rule, found, towers=shape.towers), sampler


def _forward(era: Era, shape: Shape, tokens: int, *, width: float, workspace: float) -> float:
    return float(
        forward_bytes(
            tokens=tokens,
            inner=era.inner,
            width=width,
            vectors=era.vectors,
            hidden=shape.hidden,
            workspace=workspace if era.inner else 0.0,
        )
    )


def _workspace(shape: Shape, setting: Setting, tokens: int) -> float:
    if not (shape.experts_per_token and shape.workspace):
        return 0.0
    return float(
        workspace_bytes(
            tokens=tokens,
            experts_per_token=shape.experts_per_token,
            width=shape.expert_width / (1 if setting.expert > 1 else setting.tensor),
            hidden=shape.hidden,
        )
    )


def _with_errors(rule: EngineMemory, found: Sequence[float], *, towers: bool) -> Span:
    low, expected, high = (number * factor for number, factor in zip(found, rule.error, strict=True))
    known = Span(max(0.0, min(low, expected - rule.least_error)), expected, max(high, expected + rule.least_error))
    return known + Span(*rule.towers) if towers else known


def _outside(era: Era, shape: Shape, setting: Setting, size: int) -> Span:
    if shape.recurrent and era.recurrent_outside and size == 0:
        return Span(*era.recurrent_outside)
    row = [one for one in era.outside if one.gpus <= max(setting.tensor, min(setting.gpus, 2) - 1)][-1]
    return Span(*(row.large if size else row.small))


def _graphs(era: Era, shape: Shape, size: int, *, requests: int) -> Span:
    def of(place: int) -> float:
        held: tuple[Held, Held] = era.graphs_of_layer, era.graphs_at_all
        return float(graph_bytes(layers=shape.layers, of_layer=held[0][place], at_all=held[1][place]))

    captured = max(_LEAST_CAPTURED, min(1.0, requests / _CAPTURED))
    return Span(of(0), of(1), of(2)).times(captured * (1 if size else era.graphs_small))


def _share(rule: EngineMemory, era: Era, setting: Setting, *, tokens: int, size: int) -> float:
    if era.reserve:
        one = era.reserve
        reserve = one.base + one.token * max(tokens, _LEAST_CHUNK) + one.gpu * setting.gpus
        reserve += one.graph * one.graphs[size]
        held = max(reserve, one.least) if size else reserve
        return max(0.1, float(share_beside_reserve(total=setting.total, reserve=held)))
    reached = [share for gpus, share in era.shares if gpus <= setting.tensor]
    return reached[-1] if reached else rule.share


def starts(found: Kept, *, weights: Span, needed: float) -> Word:
    """Whether an engine starts, with the band.

    Args:
        found: what it keeps.
        weights: bytes of the parameters on one accelerator.
        needed: bytes of one accelerator for the cache of one request, without which it refuses.
    """
    free = found.usable + -weights + exactly(-needed)
    if free.high < 0:
        return "no"
    if free.expected < 0 or found.spare.expected < 0:
        return "probably not"
    return "surely" if free.low >= 0 and found.spare.low >= 0 and found.surely else "probably"


def as_entered(*, seen: float, share: float, activations: float, outside: float) -> Kept:
    """What an engine keeps where all of it was entered or logged."""
    not_taken = exactly(seen * (1 - share))
    usable = usable_memory(
        seen=seen,
        before=0,
        not_taken=not_taken.expected,
        outside=outside,
        activations=activations,
        graphs=0,
    )
    return Kept(
        era="",
        tokens=(0, 0),
        requests=(0, 0),
        share=share,
        before=NOTHING,
        not_taken=not_taken,
        outside=exactly(outside),
        activations=exactly(activations),
        graphs=NOTHING,
        usable=exactly(float(usable)),
        spare=not_taken,
        surely=True,
    )
