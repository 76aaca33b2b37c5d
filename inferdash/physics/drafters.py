"""What proposes tokens to a model, and what a round of proposing and checking them takes.

A drafter is a small model that runs beside the large one: a model of its own, the layer that predicts further tokens
(MTP), a head that reads the large model's vectors (EAGLE-3), or a few layers that propose all tokens at once (DFlash,
DSpark). A search for the last words in the text so far (n-gram) takes no pass.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

import numpy as np

from inferdash.facts.machines.engine import Engine
from inferdash.facts.models.architecture import Architecture, Blocks
from inferdash.facts.models.precision import PRECISIONS
from inferdash.formula import Number
from inferdash.layers.feed_forward import GatedFeedForward
from inferdash.layers.grouped import GroupedAttention
from inferdash.physics import speculation
from inferdash.physics.amounts import amounts
from inferdash.physics.capacity.memory import cache_bytes_of_one
from inferdash.physics.capacity.parameters import bytes_in_format
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.expected import expected_pass, of_amounts
from inferdash.physics.passes import one_pass

Method = Literal["draft", "mtp", "eagle3", "block", "ngram"]
HEAD_VOCABULARY: Final = 32_000
"""Tokens that an EAGLE-3 head proposes: the most frequent ones, as published heads have it."""
BLOCK_LAYERS: Final = 5
"""Layers of a drafter that proposes a block at once, as DFlash is published."""
LAUNCH_S: Final = 0.6e-3
"""Seconds that a pass of a drafter takes in an engine beside what is counted: its kernels wait for each other and for
the tokens that it chose. Fitted to four rounds for Llama-3.1-8B on one H100 with vLLM (vllm-project/vllm#16937 at 2, 4
and 7 proposed tokens, SpecDecode-Bench at 3), whose passes took 0.35 to 0.8 ms more; two engines are too few to tell
them apart."""
_HEAD: Final = 128
"""Numbers of a head of a drafter, where the large model's attention is of another kind."""
_GROUPS: Final = 8
"""Its heads of keys and values."""
_TYPICAL: Final = 4096
"""Tokens of a text by which the cache of a drafter is compared with that of its model."""


@dataclass(frozen=True, kw_only=True)
class Proposals:
    """How tokens are proposed, and how many are written by a check of them.

    Raises:
        ValueError: where more are written than are checked, or fewer than one.
    """

    method: Method
    draft_tokens: int
    """Proposed one after another before each check."""
    tokens_per_pass: float
    """Written by a check on average: the large model's own and the proposals that it keeps; the acceptance length."""
    drafter: Architecture | None = None
    """None where a pass of it is a share of the large model's, or there is none."""
    share: float = 0.0
    """Of the large model's parameters, cache and time of a pass, where it is a scaled-down copy."""
    checked: int = 0
    """Positions of a request in a check: one more than are proposed, where 0; more of a tree of proposals."""

    def __post_init__(self) -> None:
        """Checks that what is written was checked."""
        if not 1 <= self.tokens_per_pass <= self.draft_tokens + 1:
            raise ValueError(
                f"a check of {self.draft_tokens} proposals writes from 1 to {self.draft_tokens + 1} tokens"
            )

    @property
    def positions(self) -> int:
        """Positions of a request in a check."""
        return self.checked or self.draft_tokens + 1

    @property
    def passes(self) -> int:
        """Passes of the drafter before each check."""
        return {"ngram": 0, "block": 1}.get(self.method, self.draft_tokens)

    @property
    def each(self) -> int:
        """Positions of a request in a pass of the drafter."""
        return self.draft_tokens if self.method == "block" else 1


@dataclass(frozen=True)
class Round:
    """A round of proposing and checking, in seconds; numbers, or arrays where it was asked for with arrays."""

    draft_s: Number
    verify_s: Number
    round_s: Number


def drafter_of(model: Architecture, method: Method) -> Architecture | None:
    """The drafter of a method as a model of one or a few layers; None where the method has none of its own.

    What joins vectors before an MTP layer (2h to h) or an EAGLE-3 layer (3h to h, and attention that reads 2h) counts
    as a narrow path. Where no width is published, it is as in Llama: three and a half times the vectors.
    """
    name = {"mtp": "MTP layer", "eagle3": "EAGLE-3 head", "block": "block drafter"}.get(method)
    if name is None or (method == "mtp" and model.mtp is None):
        return None
    if method == "mtp":
        layer = cast("Blocks", model.mtp).model_copy(update={"count": 1, "low_rank": model.hidden})
    else:
        attention = _attention(model)
        joined = 3 * model.hidden + (attention.heads + 2 * attention.kv_heads) * attention.head_dim
        layer = Blocks(
            count=BLOCK_LAYERS if method == "block" else 1,
            attention=attention,
            feed_forward=GatedFeedForward(width=_width(model)),
            low_rank=joined // 2 if method == "eagle3" else 0,
        )
    vocabulary = min(HEAD_VOCABULARY, model.vocabulary) if method == "eagle3" else model.vocabulary
    return model.model_copy(
        update={
            "name": f"{model.name}’s {name}",
            "blocks": (layer,),
            "mtp": None,
            "vocabulary": vocabulary,
            "tied_embeddings": True,
            "token_vocabulary": 0,
            "further_rows": 0,
            "other_parameters": 0,
        }
    )


def _attention(model: Architecture) -> GroupedAttention:
    """That of the large model where its heads are grouped, else heads of the usual size."""
    for blocks in model.blocks:
        kind = blocks.attention
        if isinstance(kind, GroupedAttention) and not kind.shares_cache:
            return GroupedAttention(heads=kind.heads, kv_heads=kind.kv_heads, head_dim=kind.head_dim)
    heads = max(_GROUPS, model.hidden // _HEAD // _GROUPS * _GROUPS)
    return GroupedAttention(heads=heads, kv_heads=_GROUPS, head_dim=_HEAD)


def _width(model: Architecture) -> int:
    dense = [one.width for blocks in model.blocks for one in blocks.networks if isinstance(one, GatedFeedForward)]
    return dense[0] if dense else 7 * model.hidden // 2


def drafter_on(machine: Deployment, proposals: Proposals) -> Deployment | None:
    """The drafter on the accelerators of the large model, its matrices shared as that one's are; None without one.

    Heads and block drafters are published at 16 bits; an MTP layer and a draft model have the large model's format.
    """
    if proposals.drafter is None:
        return None
    layout = replace(machine.layout, pipeline=1, expert=machine.layout.expert if proposals.method == "mtp" else 1)
    return deploy(
        proposals.drafter,
        machine.accelerator,
        gpus=machine.gpus if layout.even else layout.gpus,
        weights=PRECISIONS["bf16"] if proposals.method in {"eagle3", "block"} else machine.weights,
        cache=machine.cache,
        layout=layout,
        fabric=machine.fabric,
    )


def beside(machine: Deployment, proposals: Proposals | None) -> Deployment:
    """The large model with the memory that its drafter leaves: less by its parameters, and by its part of each cache.

    The tables of tokens of an MTP layer are the large model's.
    """
    if proposals is None:
        return machine
    stored: Number = proposals.share * machine.stored_bytes_of_one
    cache: Number = proposals.share
    drafter = drafter_on(machine, proposals)
    if drafter is not None:
        counts = drafter.parameters
        tables = counts.output_layer if proposals.method == "mtp" else 0
        held = bytes_in_format(drafter.weights, counts.stored, output=0, mixture=counts.mixture)
        whole = held + bytes_in_format(
            drafter.weights, counts.stored.times(0), output=counts.output_layer, mixture=counts.mixture
        )
        stored = drafter.stored_bytes_of_one * (held / whole if tables else 1)
        own = cache_bytes_of_one(machine, tokens=_TYPICAL)
        cache = cache_bytes_of_one(drafter, tokens=_TYPICAL) / own
    free = machine.memory - machine.stored_bytes_of_one - stored
    left: Any = machine.stored_bytes_of_one + np.minimum(free, free / (1 + cache))
    return replace(machine, memory=left)


def round_of(
    machine: Deployment, engine: Engine | None, proposals: Proposals, *, requests: Number, past: Number
) -> Round | None:
    """A round for each of some requests after `past` tokens, at the limit or as expected; None without a peak.

    Args:
        machine: the large model on what it runs.
        engine: the program that runs it; None for the limit.
        proposals: what proposes.
        requests: requests in the batch.
        past: tokens of each in the cache.
    """
    positions = proposals.positions
    one = one_pass(machine, requests=requests, positions=positions, past=past, output_positions=positions)
    checked = one if engine is None else expected_pass(machine, engine, one, requests=requests, positions=positions)
    if checked is None or checked.pass_s is None:
        return None
    drafts_s = proposing_s(machine, engine, proposals, requests=requests, past=past)
    verify_s = checked.pass_s
    return Round(drafts_s, verify_s, speculation.round_s(draft_s=drafts_s, verify_s=verify_s))


def proposing_s(
    machine: Deployment, engine: Engine | None, proposals: Proposals, *, requests: Number, past: Number
) -> Number:
    """Seconds of the passes of the drafter before a check, on accelerators with a peak.

    What the processor beside them does for each request, it does once a round: that is counted with the check.
    """
    drafter = drafter_on(machine, proposals)
    of, positions = drafter or machine, proposals.each
    one = one_pass(of, requests=requests, positions=positions, past=past, output_positions=positions)
    if engine is None:
        pass_s = cast("Number", one.pass_s)
    else:
        work = amounts(of, one, requests=requests, positions=positions)
        pass_s = of_amounts(of, engine, replace(work, requests=0)).pass_s
    if drafter is None:
        pass_s = speculation.draft_pass_s(draft_share=proposals.share, decode_pass_s=pass_s)
    if engine is not None:
        pass_s = speculation.launched_pass_s(pass_s=pass_s, launch_s=LAUNCH_S)
    return speculation.draft_s(draft_tokens=proposals.passes, draft_pass_s=pass_s)
