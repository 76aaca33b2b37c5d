"""A model on accelerators as an engine is started there: what all ways to run it have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from inferdash.facts.machines.accelerator import column, side_by_side
from inferdash.facts.models.precision import CACHE_PRECISIONS, PRECISIONS
from inferdash.formula import Number
from inferdash.physics.capacity.settings import shape_of
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.expected import expected_pass
from inferdash.physics.parallelism import Layout
from inferdash.physics.passes import one_pass
from inferdash.physics.under_load.batching import pages_of
from inferdash.serving.planned.offers import MOST_PLACES, Demand, Offer, started_for
from inferdash.serving.simulated.requests import Floats

PAGE: Final = 16
"""Tokens of a page of the cache."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Placed:
    """Accelerators side by side that hold a model with one layout and one number format."""

    accelerators: tuple[str, ...]
    """Ids."""
    weights: str
    cache: str
    layout: Layout
    deployment: Deployment
    """With the memory that an engine has for the smaller of two batch limits."""
    memory: dict[int, Floats]
    """Bytes of one accelerator for parameters and caches, a row an accelerator; by what the engine is started for."""
    prefill_s: Floats
    """Seconds in which a prompt is read alone, a row an accelerator."""

    def pass_s(self, offer: Offer, *, requests: Number, positions: Number, past: Number) -> Floats:
        """Seconds of a pass in which every group of accelerators has that many requests."""
        return _pass_s(self.deployment, offer, requests=requests, positions=positions, past=past)


def _pass_s(machine: Deployment, offer: Offer, *, requests: Number, positions: Number, past: Number) -> Floats:
    together = machine.layout.data * requests
    one = one_pass(machine, requests=together, positions=positions, past=past, output_positions=1)
    whole: Any = one
    if offer.engine is not None:
        whole = expected_pass(machine, offer.engine, one, requests=together, positions=positions)
    return np.atleast_2d(whole.pass_s)


def placed(demand: Demand, offer: Offer, names: tuple[str, ...], *, weights: str, cache: str, layout: Layout) -> Placed:
    """The model on accelerators side by side, for requests of this size."""
    smaller = started_for(1)
    machine = deployment_of(
        offer, names, weights=weights, cache=cache, layout=layout, context=demand.tokens, places=smaller
    )
    larger = _memory(offer, names, machine, weights=weights, context=demand.tokens, places=MOST_PLACES)
    fresh = demand.prompt - demand.found
    chunks = -(-fresh // offer.pass_tokens)
    middle = demand.found + (chunks - 1) / 2 * fresh / chunks
    return Placed(
        accelerators=names,
        weights=weights,
        cache=cache,
        layout=layout,
        deployment=machine,
        memory={smaller: np.atleast_2d(machine.memory), started_for(MOST_PLACES): np.atleast_2d(larger)},
        prefill_s=chunks * _pass_s(machine, offer, requests=1.0, positions=fresh / chunks, past=middle),
    )


def deployment_of(
    offer: Offer, names: Sequence[str], *, weights: str, cache: str, layout: Layout, context: int, places: int
) -> Deployment:
    """The model on an accelerator, or on several side by side, with the memory that an engine has of each.

    `context` is the tokens of the longest request, `places` the batch limit with which the engine is started.
    """
    chips, precision = [offer.accelerators[name] for name in names], PRECISIONS[weights]
    whole = deploy(
        offer.model,
        chips[0] if len(chips) == 1 else side_by_side(chips),
        gpus=layout.gpus,
        weights=precision,
        cache=CACHE_PRECISIONS[cache],
        layout=layout,
        stored_bytes=offer.room.weights(offer.model, precision),
        fabric=offer.fabric,
    )
    return replace(whole, memory=_memory(offer, names, whole, weights=weights, context=context, places=places))


def _memory(
    offer: Offer, names: Sequence[str], machine: Deployment, *, weights: str, context: int, places: int
) -> float:
    """Bytes of one accelerator that an engine started for so many requests has; a column where there are several."""
    shape = shape_of(offer.model, fp4_experts=PRECISIONS[weights] == PRECISIONS["mxfp4"])
    held = float(machine.stored_bytes_of_one)
    rooms = [
        offer.room.of(
            offer.accelerators[name],
            shape,
            machine.layout,
            places=places,
            tokens=offer.pass_tokens,
            context=context,
            weights=held,
        )
        for name in names
    ]
    return rooms[0] if len(rooms) == 1 else cast("float", column(rooms))


def whole_pages(tokens: int) -> int:
    """Tokens of the pages that a text takes."""
    return int(PAGE * pages_of(tokens=tokens, page=PAGE))
