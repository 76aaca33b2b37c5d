"""Requests over one or several replicas: who goes where, and what becomes of each."""

from math import inf

import numpy as np

from inferdash.serving.simulated.pass_times import Line, PassTimes, Reading
from inferdash.serving.simulated.replica import run
from inferdash.serving.simulated.requests import Requests, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling
from inferdash.serving.simulated.served import Served, Steps
from inferdash.serving.simulated.state import (
    State,
    ahead_of,
    below_of,
    blocks_of,
    book_of,
    replicas_of,
    routes_of,
    rules_of,
)


def prepare() -> None:
    """Compiles the loop, or loads it where it was compiled before, so that the first to simulate does not wait."""
    even = np.ones(3)
    times = PassTimes(lines=(Line(pass_s=even, context_s=even, readings=(Reading(end_s=even, start_s=even),)),))
    simulate(requests(np.zeros(1), prompt=1, answer=1), times, Scheduling(places=1, pass_tokens=1))


def simulate(coming: Requests, times: PassTimes, how: Scheduling, routing: Routing | None = None) -> Served:
    """Runs requests through replicas until all have ended; one that alone is larger than the cache is refused.

    What is found of a prompt is found where its prefix was sent before, or everywhere where it has none; of blocks that
    are known, those from the first on that are still there. They give way, the least recently used first, where room is
    needed, and never while a request uses them. Where there are tiers, they are kept there, and moved in again where
    that is quicker. A request that follows on others comes where they ran, its pause after the last has ended.

    Args:
        coming: who comes.
        times: of the passes of each replica.
        how: what runs in a pass.
        routing: who goes where; one replica where None.

    Raises:
        ValueError: where a text, or a pass, can be larger than those that the times are for.
    """
    routing = routing or Routing()
    texts = coming.prompt + coming.answer
    pages = np.ceil((texts + times.checked - 2) / how.page)  # its last check has as many positions as any
    fits = pages <= (inf if how.pages is None else how.pages)
    turns = coming.turns
    longest = int(texts[fits].max(initial=1)) + times.checked - 1
    largest = max(times.checked * how.places, how.pass_tokens)
    if longest > times.tokens or largest > times.positions:
        raise ValueError(
            f"texts of up to {longest} tokens in passes of up to {largest} positions need times of passes for as"
            f" many, not for {times.tokens} and {times.positions}"
        )
    replicas = replicas_of(routing.replicas, how, requests=len(coming), follow=bool(turns))
    book, blocks = book_of(coming), blocks_of(coming, how, replicas=routing.replicas)
    below, ahead = below_of(blocks, how), ahead_of(coming, fits)
    rules = rules_of(how, times, blocks=blocks, below=below, follow=bool(turns))
    log = run(
        np.flatnonzero(turns.waits == 0 if turns else fits),
        routes_of(routing),
        State(replicas, book, times.tables, rules, blocks, below, ahead),
    )
    order = np.argsort(log[:, 0], kind="stable")
    ends = np.searchsorted(log[order, 0], np.arange(1, routing.replicas))
    return Served(
        arrival_s=book.arrival_s,
        started_s=book.started_s,
        first_token_s=book.first_token_s,
        finish_s=book.finish_s,
        preemptions=book.preemptions,
        replica=book.replica,
        found=book.found,
        reloaded=ahead.one["reloaded"],
        evicted=replicas.one["evicted"],
        steps=tuple(Steps(rows) for rows in np.split(log[order, 1:], ends)),
    )
