"""Prefill workers and decode workers for a demand: how many of which, by cost, before any is simulated.

Who reads and who writes are chosen apart, as the targets are: prefill workers keep the time to first token, decode
workers the latency between tokens. What both share is the format of the cache, and a link.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import product
from math import inf
from typing import Final

import numpy as np

from inferdash.physics.parallelism import Fabric, Layout
from inferdash.physics.under_load import steady_state
from inferdash.physics.under_load.batching import usd_per_mtok
from inferdash.physics.under_load.disaggregation import transfer_link
from inferdash.serving.planned.candidates import Candidate, Readers, Setup, setups_of
from inferdash.serving.planned.curves import PLACES, REPLICAS, Curves
from inferdash.serving.planned.offers import Demand, Offer
from inferdash.serving.simulated.requests import Floats

PROMPTS: Final = 256
"""Prompts that a group of prefill workers has at a time, at most."""
_SHARES: Final = np.linspace(0.02, 0.98, 49)
"""Of the time in which a prefill worker reads."""
_SHARED: Final = 1.5
"""Times the prompts that are read in a pass of their own that may be read where several share one."""
_BEYOND: Final = 0.1
"""Requests that may wait longer."""
_KEPT: Final = 16
"""Set-ups that read, and that write, which are paired."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading:
    """Prefill workers of one accelerator, format and layout."""

    accelerator: str
    weights: str
    cache: str
    layout: Layout
    usd_per_hour: float
    """Of one worker."""
    first_token_s: Floats
    """p90 of waiting and reading, by `REPLICAS` and share of the time in which they read."""
    carried_per_s: Floats
    """Requests a second of one worker, by share."""
    within_per_s: float
    """Requests a second of one of so many workers within the target."""
    usable_bytes: float
    """Of one accelerator for parameters and caches."""
    slower: tuple[float, float]
    """Times as long as expected that passes and first tokens are taken to be."""
    workers: int
    """The fewest that carry the load within the target."""

    def readers(self, demand: Demand, workers: int) -> Readers:
        """So many of them."""
        regular = int(np.searchsorted(REPLICAS, workers, side="right")) - 1
        waits_s = np.interp(demand.requests_per_s / workers, self.carried_per_s, self.first_token_s[regular])
        return Readers(
            accelerator=self.accelerator,
            weights=self.weights,
            layout=self.layout,
            workers=workers,
            usd_per_hour=workers * self.usd_per_hour,
            time_to_first_token_s=float(waits_s),
            places=PROMPTS,
            usable_bytes=self.usable_bytes,
        )


@dataclass(frozen=True)
class Pair:
    """Who reads and who writes, and how many of each."""

    reading: Reading
    writing: Setup
    readers: int
    writers: int

    def usd_per_hour(self, offer: Offer) -> float:
        """Of all."""
        each = offer.rent[self.writing.accelerator] * self.writing.curves.layout.gpus
        return self.readers * self.reading.usd_per_hour + self.writers * each

    def link(self, offer: Offer) -> Fabric | None:
        """What caches are moved over; None where its speed is not known."""
        chips = offer.accelerators
        gpus = self.readers * self.reading.layout.gpus + self.writers * self.writing.curves.layout.gpus
        return transfer_link(chips[self.reading.accelerator], chips[self.writing.accelerator], offer.fabric, gpus=gpus)

    def holds(self, offer: Offer) -> bool:
        """Whether as many accelerators can be had, of one maker, and their link is known."""
        chips = self.reading.accelerator, self.writing.accelerator
        if len({offer.accelerators[name].maker for name in chips}) > 1:
            return False
        gpus = self.readers * self.reading.layout.gpus, self.writers * self.writing.curves.layout.gpus
        most = sum(gpus) if chips[0] == chips[1] else max(gpus)
        return most <= offer.most_gpus and self.link(offer) is not None

    def may_carry(self, demand: Demand) -> bool:
        """Whether the load is not clearly beyond those that write, or that read: prompts may share a pass."""
        one = self.writing
        wrote = self.writers * one.curves.layout.data * one.curves.full_per_s[one.row, one.column]
        read = self.readers * self.reading.carried_per_s[-1]
        return bool(demand.requests_per_s <= min(wrote, _SHARED * read))

    def candidate(self, demand: Demand, offer: Offer) -> Candidate:
        """It as a set-up beside others."""
        one = self.writing.candidate(demand, offer.rent[self.writing.accelerator], self.writers)
        readers = self.reading.readers(demand, self.readers)
        usd_per_hour = one.usd_per_hour + readers.usd_per_hour
        carries_per_s = min(one.carries_per_s, self.readers * self.reading.within_per_s)

        def usd(tokens: int) -> float:
            tokens_per_s = tokens * demand.requests_per_s
            return float(usd_per_mtok(usd_per_hour=usd_per_hour, tokens_per_s=tokens_per_s, utilization=1))

        return replace(
            one,
            readers=readers,
            carries_per_s=carries_per_s,
            utilization=demand.requests_per_s / carries_per_s if carries_per_s else inf,
            usd_per_hour=usd_per_hour,
            usd_per_mtok_prompt=usd(demand.prompt),
            usd_per_mtok_written=usd(demand.answer),
            time_to_first_token_s=readers.time_to_first_token_s + one.time_to_first_token_s,
        )


def readings_of(curves: Curves, demand: Demand, offer: Offer) -> Iterable[Reading]:
    """Each accelerator of a block that can read prompts within the target to the first token.

    Not those whose layers lie on several nodes one after another, which are for models too large for one.
    """
    if curves.layout.pipeline > 1:
        return
    variation = 1 / (curves.layout.data * REPLICAS[:, None])
    for row, name in enumerate(curves.accelerators):
        prefill_s = float(curves.prefill_s[row, 0] * curves.slower[row, 1])
        if curves.most_places[row, 0] < 1 or prefill_s > demand.time_to_first_token_s:
            continue
        waits_s = steady_state.prompts_wait_s(
            prefill_s=prefill_s, reading_share=_SHARES, variation=variation, beyond_share=_BEYOND
        )
        first_token_s = np.maximum.accumulate(prefill_s + waits_s, axis=-1)
        carried_per_s = curves.layout.data * _SHARES / prefill_s
        within = (first_token_s <= demand.time_to_first_token_s).sum(axis=-1)
        carried = np.where(within > 0, carried_per_s[within - 1], np.nan)
        if np.isnan(carried).all():
            continue
        needed = steady_state.fewest_replicas(requests_per_s=demand.requests_per_s, carried_per_s=carried)
        workers = np.maximum(REPLICAS, needed)
        best = int(np.nanargmin(workers))
        yield Reading(
            accelerator=name,
            weights=curves.weights,
            cache=curves.cache,
            layout=curves.layout,
            usd_per_hour=offer.rent[name] * curves.layout.gpus,
            first_token_s=first_token_s,
            carried_per_s=carried_per_s,
            usable_bytes=float(curves.usable_bytes[row, int(np.searchsorted(PLACES, PROMPTS))]),
            slower=(float(curves.slower[row, 0]), float(curves.slower[row, 1])),
            workers=int(workers[best]),
            within_per_s=float(carried[best]),
        )


def pairs_of(
    blocks: Iterable[Curves],
    demand: Demand,
    offer: Offer,
    *,
    most: int,
    within: Callable[[Curves, Demand], Floats] = Curves.within,
) -> list[Pair]:
    """The cheapest pairs that are predicted to hold, the cheapest first; `within` is that of curves, or what it was."""
    reading: list[Reading] = []
    writing: list[Setup] = []
    for curves in blocks:
        if curves.apart:
            setups = setups_of([curves], demand, within=within)
            writing += (one for one in setups if one.fewest * curves.layout.gpus <= offer.most_gpus)
        elif curves.proposals is None:
            reading += readings_of(curves, demand, offer)

    def reads_usd(one: Reading) -> float:
        return one.workers * one.usd_per_hour

    def writes_usd(one: Setup) -> float:
        return one.fewest * offer.rent[one.accelerator] * one.curves.layout.gpus

    found = (
        Pair(first, then, first.workers, int(then.fewest))
        for first, then in product(nsmallest(_KEPT, reading, key=reads_usd), nsmallest(_KEPT, writing, key=writes_usd))
        if first.cache == then.curves.cache
    )
    return nsmallest(most, (one for one in found if one.holds(offer)), key=lambda one: one.usd_per_hour(offer))
