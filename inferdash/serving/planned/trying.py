"""Set-ups of a demand that the simulator plays, each once, and the fewest of them that hold."""

from dataclasses import dataclass, field, replace
from math import ceil
from typing import Final

from inferdash.serving.planned.candidates import Setup
from inferdash.serving.planned.confirming import Confirmation, Known, confirmed, confirmed_pair, most_per_s
from inferdash.serving.planned.offers import Demand, Offer
from inferdash.serving.planned.pairs import Pair

_HOPELESS: Final = 1.1
"""Times what full places write at most that leave more requests waiting than there are places, in any run."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Tries:
    """What the simulator says of set-ups: each is played once."""

    demand: Demand
    offer: Offer
    seed: int
    """Of the arrivals."""
    known: Known
    """Groups of accelerators that were worked out."""
    alike: dict[tuple[Setup, int], Confirmation] = field(default_factory=dict)
    """What was said of replicas."""
    apart: dict[Pair, Confirmation] = field(default_factory=dict)
    """What was said of workers."""

    def replicas(self, setup: Setup, count: int) -> Confirmation:
        """What it says of so many replicas of a set-up."""
        if (setup, count) not in self.alike:
            one = setup.candidate(self.demand, self.offer.rent[setup.accelerator], count)
            said = confirmed(one, self.demand, self.offer, seed=self.seed, known=self.known)
            self.alike[setup, count] = said
        return self.alike[setup, count]

    def workers(self, pair: Pair) -> Confirmation:
        """What it says of prefill and decode workers."""
        if pair not in self.apart:
            self.apart[pair] = confirmed_pair(pair, self.demand, self.offer, seed=self.seed, known=self.known)
        return self.apart[pair]

    def fewest(self, said: Confirmation, setup: Setup) -> Confirmation:
        """A set-up that holds with the fewest replicas that do: prompts that share a pass carry more than predicted."""
        tried = said.candidate.replicas - 1
        low = self._too_few(said, setup) if tried else 0
        while tried > low:
            one = self.replicas(setup, tried)
            if one.holds:
                said = one
            else:
                low = tried
            tried = (low + said.candidate.replicas) // 2
        return _carried(said, self.demand)

    def _too_few(self, said: Confirmation, setup: Setup) -> int:
        """Replicas that were refused, or whose places, all taken, write less than is asked for."""
        refused = (count for (one, count), its in self.alike.items() if one is setup and not its.holds)
        each = _HOPELESS * setup.curves.layout.data * most_per_s(said.candidate, self.demand, self.offer, self.known)
        return max(ceil(self.demand.requests_per_s / each) - 1, *refused, 0)

    def fewest_of_both(self, said: Confirmation, pair: Pair) -> Confirmation:
        """Prefill and decode workers that hold, fewer of either kind for as long as they do."""
        for readers, writers in ((1, 0), (0, 1)):
            while pair.readers > readers and pair.writers > writers:
                one = replace(pair, readers=pair.readers - readers, writers=pair.writers - writers)
                if not one.may_carry(self.demand):
                    break
                tried = self.workers(one)
                if not tried.holds:
                    break
                said, pair = tried, one
        return _carried(said, self.demand)


def _carried(said: Confirmation, demand: Demand) -> Confirmation:
    """The same with what it carries, at least what it was seen to: the simulator has the last word."""
    carries_per_s = max(said.candidate.carries_per_s, demand.requests_per_s)
    utilization = demand.requests_per_s / carries_per_s
    return replace(said, candidate=replace(said.candidate, carries_per_s=carries_per_s, utilization=utilization))
