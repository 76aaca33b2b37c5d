"""Blocks of prompts over many random steps: none is lost, none is there twice, and nothing in use gives way.

    python -m bench.sweeps.blocks [--count 1000000] [--seed 0]

A step is a row of the simulator's log. Each case is one of those that the tests go through pass by pass; afterwards the
lists of what is kept, on the GPUs and below them, are walked from both ends and counted.
"""

import sys
from collections.abc import Iterator
from math import inf

import numpy as np
from numpy.typing import NDArray

from bench.sweep import swept
from inferdash.serving.simulated.pass_times import PassTimes
from inferdash.serving.simulated.replica import run
from inferdash.serving.simulated.requests import Floats, Requests
from inferdash.serving.simulated.scheduling import Scheduling
from inferdash.serving.simulated.state import (
    GONE,
    HOST,
    NEWER,
    NONE,
    OLDER,
    WHERE,
    Routes,
    State,
    ahead_of,
    below_of,
    blocks_of,
    book_of,
    replicas_of,
    rules_of,
)
from tests.serving.test_block_tiers import random_sessions


def stepped(who: Requests, times: PassTimes, how: Scheduling) -> tuple[State, Floats]:
    """The state after all have ended, and the log."""
    pages = np.ceil((who.prompt + who.answer + times.checked - 2) / how.page)
    fits, turns = pages <= (inf if how.pages is None else how.pages), who.turns
    blocks = blocks_of(who, how, replicas=1)
    below = below_of(blocks, how)
    state = State(
        replicas_of(1, how, requests=len(who), follow=bool(turns)),
        book_of(who),
        times.tables,
        rules_of(how, times, blocks=blocks, below=below, follow=bool(turns)),
        blocks,
        below,
        ahead_of(who, fits),
    )
    first = np.flatnonzero(turns.waits == 0 if turns else fits)
    return state, run(first, Routes(in_turn=True, aware=False, slack=8), state)


def walked(older: NDArray[np.int32], newer: NDArray[np.int32], oldest: int, newest: int) -> list[int]:
    """A list from its oldest on; empty where it is not the same from its newest on."""
    found: list[int] = []
    name = oldest
    while name != NONE:
        found.append(int(name))
        name = newer[name]
    back: list[int] = []
    name = newest
    while name != NONE:
        back.append(int(name))
        name = older[name]
    return found if found == back[::-1] and len({*found}) == len(found) else [-1]


def wrong(state: State, log: Floats, how: Scheduling) -> Iterator[str]:
    """What does not hold after all have ended."""
    me, blocks, below = state.replicas.one.view(np.recarray)[0], state.blocks, state.below
    most = how.pages or 0
    if log[:, 3].min(initial=0) < 0 or log[:, 3].max(initial=0) > most:
        yield "a step uses less than no pages, or more than there are"
    if me.used or me.free != how.places or me.loading or me.later or blocks.mine.any():
        yield "something is in use at the end"
    kept = walked(blocks.older[0], blocks.newer[0], me.oldest, me.newest)
    if sorted(kept) != np.flatnonzero(blocks.users[0] == 0).tolist():
        yield "what is kept is not what the list has"
    if (blocks.users[0] > 0).any():
        yield "a block is used by nobody that is there"
    if int(blocks.pages[kept].sum()) != me.cached or me.cached > most:
        yield "pages that are kept are not those of the blocks"
    if state.how.keeps_below:
        there = walked(below.blocks[0, :, OLDER], below.blocks[0, :, NEWER], me.below_oldest, me.below_newest)
        if sorted(there) != np.flatnonzero(below.blocks[0, :, WHERE] != GONE).tolist() or len(there) != me.below:
            yield "what is below is not what the list has"
        if me.below > below.numbers[1] or me.in_host != int((below.blocks[0, :, WHERE] == HOST).sum()):
            yield "below is more than has room"
        if [int(below.blocks[0, name, WHERE]) for name in there[::-1][: me.in_host]] != [HOST] * int(me.in_host):
            yield "host memory does not have the newest"


def findings(steps: int, seed: int) -> Iterator[str]:
    """A sentence for each finding, an empty one for each case without."""
    went, case = 0, seed * 1_000_000
    while went < steps:
        who, times, how = random_sessions(case)
        state, log = stepped(who, times, how)
        yield from (f"case {case}: {what}" for what in wrong(state, log, how))
        yield ""
        went, case = went + len(log), case + 1


def main() -> int:
    """Goes through so many steps of random cases."""
    return swept("blocks of prompts, over random steps", 1_000_000, findings)


if __name__ == "__main__":
    sys.exit(main())
