"""What set-ups carry and how fast, as arrays over accelerators, batch limits and loads, by the formulas of physics."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, Final, cast

import numpy as np

from inferdash.physics.capacity.memory import free_bytes_of_one, largest_batch
from inferdash.physics.drafters import Proposals, Round, beside, round_of
from inferdash.physics.fitted.confidence import slower
from inferdash.physics.fitted.expected import expected_pass
from inferdash.physics.parallelism import Layout
from inferdash.physics.passes import one_pass
from inferdash.physics.speculation import token_s
from inferdash.physics.under_load import steady_state
from inferdash.serving.planned.offers import MOST_PLACES, NODE, Demand, Offer, layouts, linked, started_for
from inferdash.serving.planned.placed import Placed, placed, whole_pages
from inferdash.serving.simulated.requests import Floats

_OCTAVES: Final = 7
PLACES: Final = np.array(
    [1.0, 2.0, 3.0, *(part * 2**octave for octave in range(_OCTAVES + 1) for part in (4, 5, 6, 7)), float(MOST_PLACES)]
)
"""Batch limits that are tried: requests in a group of accelerators that serves requests of its own."""
REPLICAS: Final = np.array([1.0, 2.0, 4.0, 8.0])
"""Replicas at least, that requests are dealt out to in turn: more make the gaps at each of them more regular."""
BATCHES: Final = np.array(
    [0.01, 0.3, *range(1, 8), *(part * 2**octave for octave in range(_OCTAVES) for part in range(8, 16)), 1024.0]
)
"""Requests in the batch at which loads are worked out."""

_NAMED: Final = 6
"""Fields of curves that are no arrays, the first ones."""
_BY_PLACE: Final = ("full_per_s", "memory_bytes", "usable_bytes", "most_places")
_BY_REPLICAS_AND_PLACE: Final = ("first_token_s", "latency_s")


@dataclass(frozen=True, eq=False, kw_only=True)
class Curves:
    """Accelerators side by side with one layout and one number format, at every batch limit and load.

    The axes of arrays are the accelerators, `REPLICAS`, `PLACES` and the loads, rising; what is the same over one of
    them leaves it out. All is of one group of accelerators that serves requests of its own: a replica has `layout.data`
    of them.
    """

    accelerators: tuple[str, ...]
    weights: str
    cache: str
    layout: Layout
    proposals: Proposals | None
    """What proposes tokens; None where nothing does."""
    apart: bool
    """Whether others read the prompts: then the first token is the first that it writes, once it has the cache."""
    prefill_s: Floats
    """Seconds in which a prompt is read alone, an accelerator a row."""
    carried_per_s: Floats
    """Requests a second, by accelerator and load."""
    full_per_s: Floats
    """Requests a second of full places, by accelerator and place."""
    first_token_s: Floats
    """p90 from arrival to first token; infinite where the batch limit is reached."""
    latency_s: Floats
    """p90 of the mean between tokens."""
    memory_bytes: Floats
    """That are in use on one accelerator where all places are taken, by accelerator and place."""
    usable_bytes: Floats
    """Of one accelerator, by accelerator and place: an engine keeps more for a larger batch limit."""
    most_places: Floats
    """Requests whose caches fit, by accelerator and place; 0 where the parameters do not."""
    batches: Floats
    """The mean batch, by accelerator, replicas and load."""
    slower: Floats
    """Times as long as expected that passes and first tokens are taken to be, two columns, by accelerator."""

    def alone(self, row: int, place: int) -> "Curves":
        """One of the accelerators at one batch limit, without the memory of the others."""
        mine = {one.name: getattr(self, one.name)[row : row + 1] for one in fields(self)[_NAMED:]}
        mine |= {name: mine[name][:, place : place + 1] for name in _BY_PLACE}
        mine |= {name: mine[name][:, :, place : place + 1] for name in _BY_REPLICAS_AND_PLACE}
        return replace(self, accelerators=self.accelerators[row : row + 1], **{k: v.copy() for k, v in mine.items()})

    def within(self, demand: Demand) -> Floats:
        """Requests a second that each carries within the targets, by accelerator, replicas and place; 0 where none."""
        targets = (
            (self.first_token_s, demand.time_to_first_token_s),
            (self.latency_s, demand.inter_token_latency_s),
        )
        held = np.isfinite(self.first_token_s)
        for seconds, target in targets:
            held &= seconds <= target
        last = np.count_nonzero(held, axis=-1) - 1  # both rise with the load
        row, replicas, place = np.ogrid[tuple(map(slice, last.shape))]
        low_load, high_load = np.maximum(last, 0), np.minimum(last + 1, held.shape[-1] - 1)
        part = np.ones(last.shape)
        for seconds, target in targets:
            low, high = (seconds[row, replicas, place, load] for load in (low_load, high_load))
            if np.isfinite(target):
                part = np.minimum(part, (target - low) / np.where(high > low, high - low, 1))
            part = np.where(np.isfinite(high), part, 0.0)
        low, high = (self.carried_per_s[row, load] for load in (low_load, high_load))
        fits = (self.most_places[:, None] >= PLACES) & (last >= 0)
        return np.where(fits, low + np.clip(part, 0, 1) * (high - low), 0.0)


def curves_of(demand: Demand, offer: Offer) -> Iterator[Curves]:
    """Every set-up of an offer, block by block: accelerators and formats with each layout that can be.

    A pipeline over several nodes is for those accelerators alone whose node does not hold the model.
    """
    for names in offer.groups():
        joined = linked(offer.accelerators[names[0]])
        for weights, cache in product(offer.weights, offer.caches):
            left = names
            for layout in layouts(offer.model, linked=joined):
                members = left if layout.pipeline > 1 else names
                if not members:
                    continue
                held = placed(demand, offer, members, weights=weights, cache=cache, layout=layout)
                times = _slower(demand, offer, held)
                for proposals in (None, offer.proposals) if offer.proposals else (None,):
                    decode_s = _decode_s(demand, offer, held, proposals)
                    one = _curves(demand, held, decode_s, times, proposals=proposals)
                    yield one
                    if offer.apart:
                        yield _curves(demand, held, decode_s, times, proposals=proposals, apart=True)
                if layout.gpus <= NODE:
                    enough = {name for name, most in zip(names, one.most_places[:, 0], strict=True) if most >= 1}
                    left = tuple(name for name in left if name not in enough)


def _decode_s(demand: Demand, offer: Offer, held: Placed, proposals: Proposals | None) -> Floats:
    """Seconds of a token of each request, by accelerator and load."""
    requests, past = np.maximum(1, BATCHES), demand.prompt + demand.answer / 2
    if proposals is None:
        return held.pass_s(offer, requests=requests, positions=1.0, past=past)
    found = round_of(held.deployment, offer.engine, proposals, requests=held.layout.data * requests, past=past)
    round_s = cast("Round", found).round_s  # only accelerators with a peak take part
    return np.atleast_2d(token_s(round_s=round_s, tokens_per_pass=proposals.tokens_per_pass))


def _curves(
    demand: Demand, held: Placed, decode_s: Floats, times: Floats, *, proposals: Proposals | None, apart: bool = False
) -> Curves:
    layout, deployment = held.layout, held.deployment
    prefill_s = np.zeros_like(held.prefill_s) if apart else held.prefill_s
    memory = np.hstack([held.memory[started_for(int(places))] for places in PLACES])
    carried = steady_state.carried_per_s(batch=BATCHES, prefill_s=prefill_s, passes=demand.answer - 1, pass_s=decode_s)
    carried = np.maximum.accumulate(carried, axis=1)
    growth = np.clip(np.gradient(np.log(carried), np.log(BATCHES), axis=1), 0.02, 1)
    latency_s = steady_state.interrupted_pass_s(pass_s=decode_s, carried_per_s=carried, prefill_s=prefill_s)

    carried_, growth_, prefill_s_, decode_s_, latency_s_ = (
        np.asarray(one)[:, None, None, :] for one in (carried, growth, prefill_s, decode_s, latency_s)
    )
    variation, places = 1 / (layout.data * REPLICAS[:, None, None]), PLACES[:, None]
    full_per_s = carried[:, np.searchsorted(BATCHES, PLACES)]
    below = (places > BATCHES) & (carried_ < full_per_s[:, None, :, None])
    load_share = np.where(below, carried_ / full_per_s[:, None, :, None], 0.5)
    spread = steady_state.spread(batch=BATCHES, growth=growth_, variation=variation)
    batches = steady_state.mean_batch(batch=BATCHES, growth=growth_, variation=variation)
    room = steady_state.room(places=places, batch=batches, spread=spread)
    full_share = steady_state.full_share(load_share=load_share, variation=variation, spread=spread, room=room)
    beyond_share = steady_state.beyond_share(full_share=full_share)
    first_token_s = steady_state.late_first_token_s(
        prefill_s=prefill_s_,
        pass_s=decode_s_,
        batch=BATCHES,
        prompts_wait_s=0.0
        if apart
        else steady_state.prompts_wait_s(
            prefill_s=prefill_s_,
            reading_share=carried_ * prefill_s_,
            variation=variation,
            beyond_share=beyond_share,
        ),
        place_wait_s=steady_state.place_wait_s(
            full_share=full_share, load_share=load_share, variation=variation, full_per_s=full_per_s[:, None, :, None]
        ),
        beyond_share=beyond_share,
    )
    crowded = steady_state.crowded_batch(
        batch=BATCHES, growth=growth_, variation=variation, spread=spread, places=places
    )
    late_latency_s = steady_state.crowded_latency_s(
        latency_s=latency_s_, batch=BATCHES, crowded=np.maximum(crowded, BATCHES), growth=growth_
    )
    passes, firsts = times[:, :1], times[:, 1:, None, None]
    tokens = whole_pages(demand.tokens)
    by_place = beside(replace(deployment, memory=cast("float", memory)), proposals)
    free = free_bytes_of_one(by_place, requests=layout.data * PLACES, tokens=tokens)
    return Curves(
        accelerators=held.accelerators,
        weights=held.weights,
        cache=held.cache,
        layout=layout,
        proposals=proposals,
        apart=apart,
        prefill_s=held.prefill_s,
        carried_per_s=carried / passes,
        full_per_s=full_per_s / passes,
        first_token_s=firsts * np.maximum.accumulate(np.where(below, first_token_s, np.inf), axis=-1),
        latency_s=passes[..., None, None] * np.maximum.accumulate(late_latency_s, axis=-1),
        memory_bytes=np.asarray(by_place.memory - free),
        usable_bytes=np.asarray(by_place.memory),
        most_places=np.asarray(largest_batch(by_place, tokens=tokens)) / layout.data,
        batches=np.asarray(batches)[:, :, 0],
        slower=times,
    )


def _slower(demand: Demand, offer: Offer, held: Placed) -> Floats:
    """Times as long as expected that passes and first tokens are taken to be, by accelerator, at the batch least known.

    Times that all grow alike leave a queue as it is, but for its clock: so what is carried falls as they grow.
    """
    deployment, requests, past = held.deployment, np.maximum(1, BATCHES), demand.prompt + demand.answer / 2
    rows = len(np.atleast_2d(np.asarray(deployment.accelerator.bandwidth)))
    if offer.engine is None or demand.confidence == "even":
        return np.ones((rows, 2))
    together = deployment.layout.data * requests
    one = one_pass(deployment, requests=together, positions=1.0, past=past, output_positions=1)
    whole: Any = expected_pass(deployment, offer.engine, one, requests=together, positions=1.0)
    bands = offer.engine.reach[deployment.accelerator.family].bands
    both = slower(bands, demand.confidence, limit_s=whole.limit_s, expected_s=whole.pass_s)
    return np.stack([np.broadcast_to(np.atleast_2d(factor), (rows, len(BATCHES))).max(axis=-1) for factor in both], -1)
