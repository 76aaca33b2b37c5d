"""Requests over one or several replicas: who goes where, and what becomes of each."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import cycle
from math import inf

import numpy as np

from inferdash.serving.pass_times import PassTimes
from inferdash.serving.replica import replica
from inferdash.serving.requests import Requests
from inferdash.serving.scheduling import Routing, Scheduling
from inferdash.serving.served import Book, Served, Steps


def simulate(requests: Requests, times: PassTimes, how: Scheduling, routing: Routing | None = None) -> Served:
    """Runs requests through replicas until all have ended; one that alone is larger than the cache is refused.

    What is found of a prompt is found where its prefix was sent before, or everywhere where it has none.

    Args:
        requests: who comes.
        times: of the passes of each replica.
        how: what runs in a pass.
        routing: who goes where; one replica where None.

    Raises:
        ValueError: where a text, or a pass, can be larger than those that the times are for.
    """
    routing = routing or Routing()
    texts = requests.prompt + requests.answer
    pages = np.ceil((texts - 1) / how.page)
    accepted = np.flatnonzero(pages <= (inf if how.pages is None else how.pages))
    longest = int(texts[accepted].max(initial=0))
    largest = max(how.places, how.pass_tokens)
    if longest > times.tokens or largest > times.positions:
        raise ValueError(
            f"texts of up to {longest} tokens in passes of up to {largest} positions need times of passes for as"
            f" many, not for {times.tokens} and {times.positions}"
        )
    book = Book(requests)
    queues: list[list[int]] = [[] for _ in range(routing.replicas)]
    steps: list[list[float]] = [[] for _ in queues]
    runs = [replica(book, queue, times, how, rows) for queue, rows in zip(queues, steps, strict=True)]
    for run in runs:
        next(run)
    where = [-1] * len(requests)
    homes: defaultdict[int, set[int]] = defaultdict(set)
    turns = cycle(range(routing.replicas))
    prefixes: list[int] = requests.prefix.tolist()
    for one in accepted.tolist():
        prefix = prefixes[one]
        if routing.rule == "round robin":
            place = next(turns)
        else:
            waiting = [run.send(book.arrival_s[one]) for run in runs]
            place = _place(waiting, homes[prefix] if routing.rule == "prefix-aware" else (), slack=routing.slack)
        if prefix >= 0 and place not in homes[prefix]:
            homes[prefix].add(place)
            book.found[one] = 0
        where[one] = place
        queues[place].append(one)
    for run in runs:
        with suppress(StopIteration):
            run.send(inf)
    return Served(
        started_s=np.array(book.started_s),
        first_token_s=np.array(book.first_token_s),
        finish_s=np.array(book.finish_s),
        preemptions=np.array(book.preemptions, dtype=np.int64),
        replica=np.array(where, dtype=np.int64),
        found=np.array(book.found, dtype=np.int64),
        steps=tuple(Steps(rows) for rows in steps),
    )


def _place(waiting: Sequence[int], homes: Collection[int], *, slack: int) -> int:
    """The replica with the fewest requests, of those in `homes` if it has less than `slack` more than any other."""
    least = min(range(len(waiting)), key=waiting.__getitem__)
    home = min(sorted(homes), key=waiting.__getitem__, default=least)
    return home if waiting[home] < waiting[least] + slack else least
