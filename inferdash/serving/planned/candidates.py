"""Set-ups by name and number: those that hold, and why the others do not."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Final, Literal

import numpy as np

from inferdash.physics.drafters import Proposals
from inferdash.physics.parallelism import Layout
from inferdash.physics.under_load.batching import usd_per_mtok
from inferdash.physics.under_load.steady_state import fewest_replicas
from inferdash.serving.planned.curves import PLACES, REPLICAS, Curves
from inferdash.serving.planned.offers import Demand, Offer
from inferdash.serving.simulated.requests import Floats

_REPLICAS: Final = tuple(REPLICAS.tolist())
Reason = Literal["memory", "first token", "inter-token", "load"]


@dataclass(frozen=True, kw_only=True)
class Readers:
    """Prefill workers: what they are, what they cost, how fast they are."""

    accelerator: str
    """Id."""
    weights: str
    """Id of the number format of the parameters."""
    layout: Layout
    """How the GPUs of a worker share the model."""
    workers: int
    usd_per_hour: float
    """For all of them."""
    time_to_first_token_s: float
    """Predicted p90 of waiting for other prompts and reading its own."""
    places: int
    """Prompts that a group of GPUs has at a time, at most."""
    usable_bytes: float
    """Of one GPU for parameters and caches."""

    @property
    def total_gpus(self) -> int:
        """Of all workers."""
        return self.workers * self.layout.gpus


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A set-up: what it is, what it costs, how fast it is."""

    accelerator: str
    """Id."""
    weights: str
    """Id of the number format of the parameters."""
    cache: str
    """Id of the number format of keys and values."""
    layout: Layout
    """How the GPUs of a replica share the model."""
    places: int
    """Requests in the batch of a group of GPUs that serves requests of its own, at most."""
    replicas: int
    usd_per_hour: float
    """For all replicas."""
    usd_per_mtok_prompt: float
    """Dollars for a million tokens of prompts, found ones included, were they to pay for all."""
    usd_per_mtok_written: float
    """Dollars for a million written tokens, were they to pay for all."""
    carries_per_s: float
    """Requests a second that all replicas carry within the targets."""
    utilization: float
    """The load over that; above 1 where a set-up is tried nevertheless."""
    time_to_first_token_s: float
    """Predicted p90 at the load, without server and network; infinite beyond what its places carry."""
    inter_token_latency_s: float
    """Predicted p90 at the load, of the mean between the tokens of a request."""
    batch: float
    """Mean requests in the batch of a group at the load."""
    memory_bytes: float
    """In use on one GPU where all places are taken: parameters and caches."""
    usable_bytes: float
    """Of one GPU for parameters and caches."""
    proposals: Proposals | None = None
    """What proposes tokens; None where nothing does."""
    slower: tuple[float, float] = (1.0, 1.0)
    """Times as long as expected that passes and first tokens are taken to be."""
    readers: Readers | None = None
    """Who reads the prompts, where the replicas only decode; dollars and utilization are then of both."""

    @property
    def gpus(self) -> int:
        """Of a replica."""
        return self.layout.gpus

    @property
    def total_gpus(self) -> int:
        """Of all replicas, and of all that read prompts for them."""
        return self.replicas * self.layout.gpus + (self.readers.total_gpus if self.readers else 0)

    @property
    def groups(self) -> int:
        """Groups of GPUs that serve requests of their own, over all replicas."""
        return self.replicas * self.layout.data


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Set-ups that do not hold for one reason, and the one that misses by least.

    Memory: no request fits beside the parameters. First token, inter-token: the target is missed by a single request
    alone. Load: more GPUs are needed than can be had.
    """

    reason: Reason
    set_ups: int
    accelerator: str
    weights: str
    cache: str
    layout: Layout
    value: float
    """Of the nearest: bytes on one GPU with one request, seconds, or GPUs."""
    allowed: float
    """In the same unit."""


@dataclass(frozen=True, eq=False)
class Setup:
    """A row of curves, with the batch limit that needs the fewest replicas, and of these the one that carries most."""

    curves: Curves
    row: int
    place: int
    """Index of `PLACES`."""
    column: int
    """Of the curves where that place stands."""
    within_per_s: Floats
    """Requests a second that a replica carries within the targets, one of at least `REPLICAS`; 0 where none."""
    fewest: float
    """Replicas that carry the load within the targets, as predicted; infinite where no number does."""

    @property
    def accelerator(self) -> str:
        """Id."""
        return self.curves.accelerators[self.row]

    def candidate(self, demand: Demand, rent: float, replicas: int | None = None) -> Candidate:
        """The set-up with so many replicas; with the fewest that carry the load where None."""
        curves, row, column, layout = self.curves, self.row, self.column, self.curves.layout
        if replicas is None:
            replicas = int(self.fewest)
        load = demand.requests_per_s / (replicas * layout.data)
        regular = self._regular(replicas)
        carries_per_s = self.carries_per_s(replicas)
        usd_per_hour = rent * replicas * layout.gpus

        def at(values: Floats) -> float:
            return float(np.interp(load, curves.carried_per_s[row], values))

        def usd(tokens: int) -> float:
            tokens_per_s = tokens * demand.requests_per_s
            return float(usd_per_mtok(usd_per_hour=usd_per_hour, tokens_per_s=tokens_per_s, utilization=1))

        return Candidate(
            accelerator=self.accelerator,
            weights=curves.weights,
            cache=curves.cache,
            layout=layout,
            places=int(PLACES[self.place]),
            replicas=replicas,
            usd_per_hour=usd_per_hour,
            usd_per_mtok_prompt=usd(demand.prompt),
            usd_per_mtok_written=usd(demand.answer),
            carries_per_s=carries_per_s,
            utilization=demand.requests_per_s / carries_per_s if carries_per_s else inf,
            time_to_first_token_s=at(curves.first_token_s[row, regular, column]),
            inter_token_latency_s=self.latency_s(demand, replicas),
            batch=min(float(PLACES[self.place]), at(curves.batches[row, regular])),
            memory_bytes=float(curves.memory_bytes[row, column]),
            usable_bytes=float(curves.usable_bytes[row, column]),
            proposals=curves.proposals,
            slower=(float(curves.slower[row, 0]), float(curves.slower[row, 1])),
        )

    def latency_s(self, demand: Demand, replicas: int) -> float:
        """Predicted p90 of the mean between tokens with so many replicas."""
        curves, row, load = self.curves, self.row, demand.requests_per_s / (replicas * self.curves.layout.data)
        values = curves.latency_s[row, self._regular(replicas), self.column]
        return float(np.interp(load, curves.carried_per_s[row], values))

    def carries_per_s(self, replicas: int) -> float:
        """Requests a second that so many replicas carry together within the targets."""
        return replicas * float(self.within_per_s[self._regular(replicas)])

    def worth_trying(self, demand: Demand, *, beyond: float) -> int:
        """A replica fewer, where the load is at most `beyond` times what these are said to carry; else just as many."""
        fewer = int(self.fewest) - 1
        return fewer if fewer and demand.requests_per_s <= beyond * self.carries_per_s(fewer) else fewer + 1

    def _regular(self, replicas: int) -> int:
        return bisect_right(_REPLICAS, replicas) - 1

    def alone(self) -> "Setup":
        """The same without the memory of the others in its curves."""
        mine = self.curves.alone(self.row, self.place)
        return replace(self, curves=mine, row=0, column=0, within_per_s=self.within_per_s.copy())

    def failure(self, demand: Demand, offer: Offer) -> Failure | None:
        """Why it does not hold; None where it does."""
        curves, row, layout = self.curves, self.row, self.curves.layout
        if self.fewest * layout.gpus <= offer.most_gpus:
            return None
        first_s, latency_s = (float(one[row, ..., 0].min()) for one in (curves.first_token_s, curves.latency_s))
        tried: tuple[tuple[Reason, bool, float, float], ...] = (
            (
                "memory",
                curves.most_places[row, 0] < 1,
                float(curves.memory_bytes[row, 0]),
                float(curves.usable_bytes[row, 0]),
            ),
            ("first token", first_s > demand.time_to_first_token_s, first_s, demand.time_to_first_token_s),
            ("inter-token", self.fewest == inf, latency_s, demand.inter_token_latency_s),
        )
        for reason, failed, value, allowed in tried:
            if failed:
                return self._failure(reason, value, allowed)
        return self._failure("load", int(self.fewest) * layout.gpus, offer.most_gpus)

    def _failure(self, reason: Reason, value: float, allowed: float) -> Failure:
        return Failure(
            reason=reason,
            set_ups=1,
            accelerator=self.accelerator,
            weights=self.curves.weights,
            cache=self.curves.cache,
            layout=self.curves.layout,
            value=value,
            allowed=allowed,
        )


def setups_of(
    curves: Iterable[Curves], demand: Demand, *, within: Callable[[Curves, Demand], Floats] = Curves.within
) -> Iterator[Setup]:
    """Every accelerator, format and layout, each with its best batch limit; `within` is theirs, or what it was."""
    for one in curves:
        carried = one.layout.data * within(one, demand)
        with np.errstate(divide="ignore"):
            needed = fewest_replicas(requests_per_s=demand.requests_per_s, carried_per_s=carried)
        replicas = np.maximum(REPLICAS[:, None], needed)
        most = carried.max(axis=(1, 2), keepdims=True)
        rank = replicas - carried / np.where(most > 0, 2 * most, 1)  # a half at most, so less than a replica
        best = rank.min(axis=1).argmin(axis=1)
        fewest = replicas.min(axis=1)
        for row, place in enumerate(best.tolist()):
            yield Setup(one, row, place, place, carried[row, :, place], float(fewest[row, place]))


def by_reason(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """The nearest failure for each reason, with the set-ups of all, most of them first."""
    met: dict[Reason, Failure] = {}
    for one in failures:
        before = met.get(one.reason)
        nearest = one if before is None else min(before, one, key=_miss)
        met[one.reason] = replace(nearest, set_ups=(before.set_ups if before else 0) + one.set_ups)
    return tuple(sorted(met.values(), key=lambda failure: -failure.set_ups))


def _miss(one: Failure) -> float:
    """How many times what is allowed a set-up has; endless where nothing is."""
    return one.value / one.allowed if one.allowed > 0 else inf
