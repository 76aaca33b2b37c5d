"""Prompts are read by some workers and answers written by others; between them the cache of each request is moved.

Each stage is the simulator: a prefill worker serves requests whose answer is their first token, and a decode worker
gets prompts with their cache. Links serve one cache after another, in the order in which they are ready.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from inferdash.serving.simulated.pass_times import PassTimes
from inferdash.serving.simulated.requests import Floats, Ints, Requests, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling
from inferdash.serving.simulated.served import Served
from inferdash.serving.simulated.simulator import simulate

FIRST_FROM_DECODE: Final = frozenset({"vLLM", "SGLang"})
"""Names of engines whose clients get the first token from the decode worker, so after the transfer.

The proxy of vLLM's NIXL connector (tests/v1/kv_connector/nixl_integration/toy_proxy_server.py) and SGLang's balancer
(mini_lb.py) forward its stream alone; TensorRT-LLM's server sends the first token of the prefill worker before that.
Read in their repositories on 2026-11-30.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """Workers that are alike: the times of their passes, how they fill them, and who goes to which of them."""

    times: PassTimes
    how: Scheduling
    routing: Routing


@dataclass(frozen=True, eq=False, kw_only=True)
class Transfer:
    """How long caches are on their way: arrays with a row a request."""

    sending_s: Floats
    """Seconds for which the links of a prefill worker are busy with a cache."""
    receiving_s: Floats
    """The same of a decode worker. That of all of them together counts, as requests are shared out evenly."""
    latency_s: float = 0.0
    """Of each transfer beside its bytes."""
    layers: int = 0
    """Parts that are sent as soon as they are there; 0 where a cache is sent when its prompt is read."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ServedApart:
    """What became of requests in both stages."""

    prefill: Served
    """Of all requests; they finish with their first token."""
    decode: Served
    """Of those whose cache was moved."""
    moved: Ints
    """Their numbers, in the order in which their caches came."""
    arrived_s: Floats
    """When the cache of each was there."""

    def whole(self, *, first_from_decode: bool) -> Served:
        """What became of each request from arrival to last token; steps and pages are those of the decode workers.

        Args:
            first_from_decode: whether the first token is told when a decode worker takes the request in.
        """
        finish_s, first_s = self.prefill.finish_s.copy(), self.prefill.first_token_s.copy()
        preemptions, replica = self.prefill.preemptions.copy(), self.prefill.replica.copy()
        finish_s[self.moved] = self.decode.finish_s
        preemptions[self.moved] += self.decode.preemptions
        replica[self.moved] = self.decode.replica
        if first_from_decode:
            first_s[self.moved] = self.decode.first_token_s
        refused = replica < 0
        first_s[refused] = finish_s[refused] = np.inf
        return Served(
            arrival_s=self.prefill.arrival_s,
            started_s=self.prefill.started_s,
            first_token_s=first_s,
            finish_s=finish_s,
            preemptions=preemptions,
            replica=replica,
            found=self.prefill.found,
            reloaded=self.prefill.reloaded,
            evicted=self.prefill.evicted,
            steps=self.decode.steps,
        )


def simulate_apart(coming: Requests, prefill: Stage, decode: Stage, transfer: Transfer) -> ServedApart:
    """Runs requests through prefill workers, over the links and through decode workers until all have ended.

    What is found of prompts is found by prefill workers. What decode workers have of them plays a part in the transfer
    alone: they take pages for whole prompts.
    The pages of a prefill worker are free when its prompt is read, not when its cache has been sent.

    Args:
        coming: who comes.
        prefill: the workers that read prompts.
        decode: the workers that write answers; where their cache is full, they read again what they put back.
        transfer: of caches from the ones to the others.

    Raises:
        ValueError: where a text, or a pass, can be larger than those that the times are for.
    """
    read = simulate(replace(coming, answer=np.ones_like(coming.answer)), prefill.times, prefill.how, prefill.routing)
    moved = np.flatnonzero((read.replica >= 0) & (coming.answer > 1))
    arrived_s = _arrived_s(read, transfer, moved, decode_workers=decode.routing.replicas)
    order = np.argsort(arrived_s, kind="stable")
    moved, arrived_s = moved[order], arrived_s[order]
    going = requests(arrived_s, prompt=coming.prompt[moved], answer=coming.answer[moved])
    wrote = simulate(going, decode.times, replace(decode.how, received=True), decode.routing)
    return ServedApart(prefill=read, decode=wrote, moved=moved, arrived_s=arrived_s)


def _arrived_s(read: Served, transfer: Transfer, moved: Ints, *, decode_workers: int) -> Floats:
    """When each cache is with its decode worker: after those before it on the links of both workers."""
    sending_s, receiving_s = transfer.sending_s[moved], transfer.receiving_s[moved]
    first_s, home = read.first_token_s[moved], read.replica[moved]
    ready_s = read.started_s[moved] if transfer.layers else first_s
    sent_s = np.empty_like(ready_s)
    for worker in np.unique(home):
        mine = np.flatnonzero(home == worker)
        sent_s[mine] = _begin_s(ready_s[mine], sending_s[mine])
    begin_s = _begin_s(sent_s, receiving_s / decode_workers)
    took_s = np.maximum(sending_s, receiving_s)
    if not transfer.layers:
        return begin_s + took_s + transfer.latency_s
    return np.maximum(begin_s + took_s, first_s) + took_s / transfer.layers + transfer.latency_s


def _begin_s(ready_s: Floats, busy_s: Floats) -> Floats:
    """When a link begins with each of what it serves, one after another in the order in which they are ready."""
    order = np.argsort(ready_s, kind="stable")
    before_s = np.append(0.0, busy_s[order].cumsum()[:-1])
    begin_s = np.empty_like(ready_s)
    begin_s[order] = np.maximum(ready_s[order], before_s + np.maximum.accumulate(ready_s[order] - before_s))
    return begin_s
