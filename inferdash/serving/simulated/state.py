"""Requests and replicas as a loop over events has them: arrays, and numbers by name."""

from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inferdash.serving.simulated.pass_times import PassTimes, Tables
from inferdash.serving.simulated.requests import Floats, Ints, Requests, Texts
from inferdash.serving.simulated.scheduling import Routing, Scheduling

NONE: Final = -1
"""Where a request, or a replica, would stand."""
GONE: Final = 0
HOST: Final = 1
SSD: Final = 2
"""Where a block is below the GPUs."""
WHERE: Final = 0
OLDER: Final = 1
NEWER: Final = 2
"""What is known of a block there."""
_AHEAD: Final = np.dtype(
    [
        ("reloaded", np.int64),  # tokens that were moved in, when it was first taken in
        ("ready_s", np.float64),  # when what is moved in for it is there
        ("fits", np.bool_),  # whether it alone fits into the cache
        ("pause_s", np.float64),  # from the end of those that it waits for until it comes
        ("waits", np.int64),  # for how many it still waits
        ("first", np.int64),  # where those who wait for it begin
        ("last", np.int64),  # and where they end
    ],
    align=True,
)
_REPLICA: Final = np.dtype(
    [
        ("now_s", np.float64),
        ("pending_s", np.float64),  # what the next pass takes besides: caches that are moved
        ("owed", np.float64),  # part of a token that rounds beside prompts have written
        ("passes", np.int64),  # that have been run: tokens of each that writes
        ("run", np.int64),  # passes of the last step in which requests wrote
        ("done", np.int64),  # requests whose prompt was read to its end in it
        ("used", np.int64),  # pages of the cache
        ("free", np.int64),  # places in the batch
        ("writing", np.int64),  # requests
        ("reading", np.int64),  # requests
        ("returned", np.int64),  # requests
        ("head", np.int64),  # the first that waits, or none
        ("tail", np.int64),  # the last that came
        ("queued", np.int64),  # requests that came
        ("ended", np.int64),  # of them
        ("joined", np.int64),  # requests that began to write
        ("cached", np.int64),  # pages of blocks that nobody uses and a prompt may find
        ("oldest", np.int64),  # of these blocks the next to go, or none
        ("newest", np.int64),  # the last to go
        ("evicted", np.int64),  # pages
        ("later", np.int64),  # requests that follow on others, and come at a known time
        ("loading", np.int64),  # requests whose blocks are moved in from host memory or an SSD
        ("link_s", np.float64),  # when the link to these is free
        ("below", np.int64),  # blocks in host memory and on the SSD
        ("in_host", np.int64),  # of them
        ("below_oldest", np.int64),  # of them the next to go, or none
        ("below_newest", np.int64),  # the last to go
        ("host_oldest", np.int64),  # of those in host memory the next to go on to the SSD, or none
    ],
    align=True,
)


class Book(NamedTuple):
    """What is known of each request, and what becomes of it: arrays with a row a request."""

    arrival_s: Floats
    last: Ints
    """Tokens in the cache when the answer has ended: its last token is not."""
    prefix: Ints
    """A number of its prefix, or none."""
    found: Ints
    """Tokens."""
    replica: Ints
    """Where it runs; none where it is refused."""
    goal: Ints
    """Tokens that its cache has after reading."""
    at: Ints
    """Tokens that its cache has while it reads."""
    past: Ints
    """Its tokens in the cache less the passes of its replica, while it writes."""
    joined: Ints
    """Its number among those that began to write."""
    behind: Ints
    """Who came next to the same replica, or none."""
    started_s: Floats
    first_token_s: Floats
    finish_s: Floats
    preemptions: Ints


class Ahead(NamedTuple):
    """What is known of requests whose blocks are moved in, or that follow on others."""

    one: NDArray[Any]
    """Of each, by name."""
    after: Ints
    """Who waits for each, one after another."""


class Replicas(NamedTuple):
    """Where the replicas are: arrays with a row a replica."""

    one: NDArray[Any]
    """Its numbers, by name."""
    events: Ints
    """Heap of pass * requests + request: where each that writes ends or comes to a bend."""
    due: Ints
    """Requests that take a page with the pass that is so many beyond a multiple of a page."""
    reading: Ints
    """Requests, in the order in which they are read."""
    returned: Ints
    """Preempted, the earliest of them last."""
    loading: Ints
    """Requests whose blocks are moved in, in the order in which they will be there."""
    later: Ints
    """Heap of requests by when they come, of those that follow on others."""
    text_s: Floats
    """What the texts of all that write add to the next pass, by line."""
    grow_s: Floats
    """By how much more each pass, by line."""


class Blocks(NamedTuple):
    """The blocks of prompts, and where they are: arrays with a row a replica, but for the first four.

    After the blocks of prompts come one for each request: what its answer leaves, which no prompt finds.
    """

    names: Ints
    first: Ints
    mine: NDArray[np.bool_]
    """Whether a request shares its block with others, in the order of `names`; else it has a copy of its own."""
    pages: Ints
    """Of each block."""
    users: NDArray[np.int32]
    """Requests that use it; 0 where it is only kept, none where it is not there."""
    older: NDArray[np.int32]
    """Of blocks that are only kept: the next that went out of use before it."""
    newer: NDArray[np.int32]
    block: Ints
    """Tokens of a block, and its pages."""


class Below(NamedTuple):
    """Blocks in host memory and on an SSD, in one list a replica by when they were last used.

    The newest of a list are in host memory, as many as have room there.
    """

    blocks: NDArray[np.int32]
    """By replica and block: where it is (`GONE`, `HOST` or `SSD`), and who was used before and after it (`WHERE`,
    `OLDER`, `NEWER`)."""
    numbers: Floats
    """Blocks that have room in host memory, and in both; seconds of a block from each; and until its first byte."""


class Rules(NamedTuple):
    """How a replica chooses what runs in its next pass, as `Scheduling` has it."""

    places: int
    pages: int
    page: int
    pass_tokens: int
    chunked: bool
    continuous: bool
    swaps: bool
    swap_token_s: float
    finds: bool
    """Whether the blocks of prompts are known, and found again."""
    received: bool
    """Whether prompts come with their cache."""
    checked: int
    """Positions of each request that writes."""
    tokens_per_pass: float
    """That a round writes of each."""
    keeps_below: bool
    """Whether there is room for blocks in host memory or on an SSD."""
    writes_back: bool
    """Whether blocks are written out only when they give way."""
    follows: bool
    """Whether requests follow on others."""


class Routes(NamedTuple):
    """Who goes where, as `Routing` has it."""

    in_turn: bool
    aware: bool
    slack: int


class State(NamedTuple):
    """All that a loop over events needs."""

    replicas: Replicas
    book: Book
    times: Tables
    how: Rules
    blocks: Blocks
    below: Below
    ahead: Ahead


def book_of(requests: Requests) -> Book:
    """The requests before any has come."""
    count = len(requests)
    prefix = np.full(count, NONE, dtype=np.int64)
    shared = requests.prefix >= 0
    if shared.any():
        prefix[shared] = np.unique(requests.prefix[shared], return_inverse=True)[1]
    never_s = np.full((3, count), inf)
    none = np.zeros((4, count), dtype=np.int64)
    return Book(
        arrival_s=requests.arrival_s.copy(),
        last=requests.prompt + requests.answer - 1,
        prefix=prefix,
        found=requests.found.copy(),
        replica=np.full(count, NONE, dtype=np.int64),
        goal=requests.prompt.copy(),
        at=requests.found.copy(),
        past=none[0],
        joined=none[1],
        behind=none[2],
        started_s=never_s[0],
        first_token_s=never_s[1],
        finish_s=never_s[2],
        preemptions=none[3],
    )


def ahead_of(requests: Requests, fits: NDArray[np.bool_]) -> Ahead:
    """The same before any has come; `fits` says whether each alone fits into the cache."""
    turns, one = requests.turns, np.zeros(len(requests), dtype=_AHEAD)
    if turns:
        one["fits"] = fits
        one["pause_s"], one["waits"] = turns.pause_s, turns.waits
        one["first"], one["last"] = turns.first[:-1], turns.first[1:]
    return Ahead(one=one, after=turns.after.copy() if turns else np.zeros(0, dtype=np.int64))


def replicas_of(count: int, how: Scheduling, *, requests: int, follow: bool) -> Replicas:
    """So many replicas, all empty, for so many requests; `follow` says whether some follow on others."""
    one = np.zeros(count, dtype=_REPLICA)
    one["free"] = how.places
    for name in ("head", "tail", "oldest", "newest", "below_oldest", "below_newest", "host_oldest"):
        one[name] = NONE
    places = min(how.places, requests)
    return Replicas(
        one=one,
        events=np.zeros((count, places), dtype=np.int64),
        due=np.zeros((count, how.page), dtype=np.int64),
        reading=np.zeros((count, places), dtype=np.int64),
        returned=np.zeros((count, places), dtype=np.int64),
        loading=np.zeros((count, places), dtype=np.int64),
        later=np.zeros((count, requests if follow else 0), dtype=np.int64),
        text_s=np.zeros((count, 2)),
        grow_s=np.zeros((count, 2)),
    )


def blocks_of(requests: Requests, how: Scheduling, *, replicas: int) -> Blocks:
    """The blocks of prompts before any is there; none where they are not known.

    Raises:
        ValueError: where a block is not a number of whole pages.
    """
    count = len(requests)
    texts = requests.texts or Texts(
        names=np.zeros(0, dtype=np.int64), first=np.zeros(count + 1, dtype=np.int64), block=how.page
    )
    if texts.block % how.page:
        raise ValueError(f"a block of {texts.block} tokens is no number of whole pages of {how.page}")
    known = int(texts.names.max(initial=NONE)) + 1
    there = np.full((replicas, known + count * bool(known)), NONE, dtype=np.int32)
    pages = np.zeros(there.shape[1], dtype=np.int64)
    pages[:known] = texts.block // how.page
    return Blocks(
        names=texts.names.copy(),
        first=texts.first.copy(),
        mine=np.zeros(len(texts.names), dtype=np.bool_),
        pages=pages,
        users=there,
        older=there.copy(),
        newer=there.copy(),
        block=np.array([texts.block, texts.block // how.page]),
    )


def below_of(blocks: Blocks, how: Scheduling) -> Below:
    """The tiers below the GPUs before any block is there."""
    tiers, (block, pages) = how.tiers, blocks.block.tolist()
    host, ssd = tiers.host_pages // pages, tiers.ssd_pages // pages
    shape = blocks.users.shape if host + ssd else (len(blocks.users), 0)
    found = np.zeros((*shape, 3), dtype=np.int32)
    found[:, :, OLDER:] = NONE
    return Below(
        blocks=found,
        numbers=np.array(
            [host, host + ssd, block * tiers.host_token_s, block * tiers.ssd_token_s, tiers.latency_s], dtype=np.float64
        ),
    )


def rules_of(how: Scheduling, times: PassTimes, *, blocks: Blocks, below: Below, follow: bool) -> Rules:
    """What an operator set, as numbers; `follow` says whether requests follow on others."""
    return Rules(
        places=how.places,
        pages=np.iinfo(np.int64).max // 2 if how.pages is None else how.pages,
        page=how.page,
        pass_tokens=how.pass_tokens,
        chunked=how.chunked,
        continuous=how.batching == "continuous",
        swaps=how.preemption == "swap",
        swap_token_s=how.swap_token_s,
        received=how.received,
        finds=bool(blocks.users.shape[1]),
        checked=times.checked,
        tokens_per_pass=times.tokens_per_pass,
        keeps_below=bool(below.blocks.shape[1]),
        writes_back=how.tiers.write == "back",
        follows=follow,
    )


def routes_of(routing: Routing) -> Routes:
    """The same, as numbers."""
    return Routes(in_turn=routing.rule == "round robin", aware=routing.rule == "prefix-aware", slack=routing.slack)
