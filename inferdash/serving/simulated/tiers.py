"""Blocks of prompts in host memory and on an SSD, below the cache of a replica's GPUs."""

from inferdash.compiled import inlined
from inferdash.serving.simulated.pass_times import Tables
from inferdash.serving.simulated.state import GONE, HOST, NEWER, NONE, OLDER, SSD, WHERE, State


@inlined
def reload(r: int, one: int, known: int, state: State) -> int:
    """Blocks after the `known` ones that are moved in for a request, as that is quicker than to compute them.

    Those up to the first that is not in host memory, or those on the SSD too, or none. The link is taken for them. The
    waits for the link, and for the prompts that are read before it, are included.
    """
    me, book, blocks, below = state.replicas.one[r], state.book, state.blocks, state.below
    block, begin = blocks.block[0], blocks.first[one]
    most = min(blocks.first[one + 1] - begin, (book.goal[one] - 1) // block)
    waits_s = _queue_s(r, state)
    least_s = waits_s + alone_s(known * block, book.goal[one], state)
    start_s = max(me.now_s, me.link_s)
    ready_s, best, place = start_s + below.numbers[4], 0, known
    free_s = ready_s
    while place < most and below.blocks[r, blocks.names[begin + place], WHERE] != GONE:
        here = below.blocks[r, blocks.names[begin + place], WHERE]
        ready_s += below.numbers[2 + here - HOST]
        place += 1
        if place == most or below.blocks[r, blocks.names[begin + place], WHERE] != here:
            whole_s = max(ready_s - me.now_s, waits_s) + alone_s(place * block, book.goal[one], state)
            if whole_s < least_s:
                least_s, best, free_s = whole_s, place - known, ready_s
    if best:
        state.ahead.one[one].ready_s = free_s
        me.link_s = free_s - below.numbers[4]  # the next one's first bytes are on their way meanwhile
    return best


@inlined
def _queue_s(r: int, state: State) -> float:
    """Seconds in which what is there to be read is read, but for what comes before it in each text."""
    replicas, book, times, most = state.replicas, state.book, state.times, state.how.pass_tokens
    tokens = 0
    for place in range(replicas.one[r].reading):
        one = replicas.reading[r, place]
        tokens += book.goal[one] - book.at[one]
    whole, rest = tokens // most, tokens % most
    first_s = whole * times.pass_s[0, most] + times.pass_s[0, rest]
    second_s = whole * times.pass_s[1, most] + times.pass_s[1, rest]
    return float(max(first_s, second_s))


@inlined
def alone_s(before: int, after: int, state: State) -> float:
    """Seconds in which a prompt is read from one token to another, in passes of its own."""
    times, most = state.times, state.how.pass_tokens
    whole, rest = (after - before) // most, (after - before) % most
    first_s = whole * times.pass_s[0, most] + times.pass_s[0, rest] + chunk_s(times, 0, before, after)
    second_s = whole * times.pass_s[1, most] + times.pass_s[1, rest] + chunk_s(times, 1, before, after)
    return float(max(first_s, second_s))


@inlined
def chunk_s(times: Tables, line: int, before: int, after: int) -> float:
    """What a request adds that reads from one token to another, in the quicker of two forms."""
    end_s, start_s = times.end_s[line], times.start_s[line]
    return float(min(end_s[0, after] + start_s[0, before], end_s[1, after] + start_s[1, before]))


@inlined
def write_out(r: int, one: int, read: int, state: State) -> None:
    """A request used its blocks up to `read` tokens: they go last, those that are written out when they are used."""
    blocks, below = state.blocks, state.below
    begin, end = blocks.first[one], blocks.first[one + 1]
    for place in range(min(end, begin + read // blocks.block[0]) - 1, begin - 1, -1):
        name = blocks.names[place]
        if below.blocks[r, name, WHERE] != GONE:
            _leave(r, name, state)
            _enter(r, name, state)
        elif not state.how.writes_back:
            _enter(r, name, state)


@inlined
def write_back(r: int, name: int, state: State) -> None:
    """A block gave way on the GPUs."""
    if state.how.writes_back:
        if state.below.blocks[r, name, WHERE] != GONE:
            _leave(r, name, state)
        _enter(r, name, state)


@inlined
def _enter(r: int, name: int, state: State) -> None:
    """A block that is not below goes last there; what has no room in host memory goes on to the SSD, and from it."""
    me, below = state.replicas.one[r], state.below
    below.blocks[r, name, OLDER], below.blocks[r, name, NEWER] = me.below_newest, NONE
    if me.below_newest == NONE:
        me.below_oldest = name
    else:
        below.blocks[r, me.below_newest, NEWER] = name
    me.below_newest = name
    below.blocks[r, name, WHERE] = HOST
    me.below += 1
    me.in_host += 1
    if me.host_oldest == NONE:
        me.host_oldest = name
    if me.in_host > below.numbers[0]:
        gone = me.host_oldest
        below.blocks[r, gone, WHERE] = SSD
        me.host_oldest = below.blocks[r, gone, NEWER]
        me.in_host -= 1
    if me.below > below.numbers[1]:
        _leave(r, me.below_oldest, state)


@inlined
def _leave(r: int, name: int, state: State) -> None:
    """A block is below no more."""
    me, below = state.replicas.one[r], state.below
    older, newer = below.blocks[r, name, OLDER], below.blocks[r, name, NEWER]
    if me.host_oldest == name:
        me.host_oldest = newer
    if older == NONE:
        me.below_oldest = newer
    else:
        below.blocks[r, older, NEWER] = newer
    if newer == NONE:
        me.below_newest = older
    else:
        below.blocks[r, newer, OLDER] = older
    me.in_host -= below.blocks[r, name, WHERE] == HOST
    below.blocks[r, name, WHERE] = GONE
    me.below -= 1
