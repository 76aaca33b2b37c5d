"""The blocks of prompts in the cache of a replica: which are there, in use or only kept, and which give way."""

from inferdash.compiled import inlined
from inferdash.serving.simulated.state import NONE, State
from inferdash.serving.simulated.tiers import write_back, write_out


@inlined
def pages_of(tokens: int, page: int) -> int:
    """Pages that so many tokens take."""
    return (tokens + page - 1) // page


@inlined
def found(r: int, one: int, state: State) -> tuple[int, int]:
    """Blocks of a prompt that are there, from the first on, and the pages of those that others use.

    Its last token is run again in any case.
    """
    blocks, known, shared = state.blocks, 0, 0
    begin, end = blocks.first[one], blocks.first[one + 1]
    most = min(end - begin, (state.book.goal[one] - 1) // blocks.block[0])
    while known < most and blocks.users[r, blocks.names[begin + known]] != NONE:
        if blocks.users[r, blocks.names[begin + known]]:
            shared += blocks.block[1]
        known += 1
    return known, shared


@inlined
def take(r: int, one: int, known: int, state: State) -> None:
    """A request uses the blocks that it found; those that nobody used do not give way any more."""
    me, blocks = state.replicas.one[r], state.blocks
    for place in range(blocks.first[one], blocks.first[one] + known):
        name = blocks.names[place]
        if blocks.users[r, name]:
            me.used -= blocks.block[1]
        else:
            unlink(r, name, state)
        blocks.users[r, name] += 1
        blocks.mine[place] = True
    evict(r, state)


@inlined
def share(r: int, one: int, before: int, after: int, state: State) -> None:
    """The blocks that a request reads now may be found from the next pass on, where they are not there yet."""
    blocks = state.blocks
    begin, end = blocks.first[one], blocks.first[one + 1]
    for place in range(begin + before // blocks.block[0], min(end, begin + after // blocks.block[0])):
        if blocks.users[r, blocks.names[place]] == NONE:
            blocks.users[r, blocks.names[place]] = 1
            blocks.mine[place] = True


@inlined
def give(r: int, one: int, read: int, context: int, state: State) -> None:
    """A request uses its blocks no more: they are kept from the last, which is then the next to go, to the first.

    `read` are its tokens in the cache. Of a request that has ended, its answer is kept too, up to `context` tokens.
    """
    me, blocks, how = state.replicas.one[r], state.blocks, state.how
    begin, end = blocks.first[one], blocks.first[one + 1]
    if how.keeps_below:
        write_out(r, one, read, state)
    if context:
        answer = len(blocks.pages) - len(state.book.last) + one
        blocks.pages[answer] = pages_of(context, how.page) - (end - begin) * blocks.block[1]
        if blocks.pages[answer]:
            link(r, answer, state)
    for place in range(end - 1, begin - 1, -1):
        name = blocks.names[place]
        if blocks.mine[place]:
            blocks.mine[place] = False
            blocks.users[r, name] -= 1
            if blocks.users[r, name]:
                me.used += blocks.block[1]  # others use it
            else:
                link(r, name, state)
        elif (place - begin + 1) * blocks.block[0] <= read and blocks.users[r, name] <= 0:
            if blocks.users[r, name] == 0:
                unlink(r, name, state)  # of two copies one is kept
            link(r, name, state)
    evict(r, state)


@inlined
def link(r: int, name: int, state: State) -> None:
    """A block that nobody uses is kept, and goes last."""
    me, blocks = state.replicas.one[r], state.blocks
    blocks.users[r, name] = 0
    blocks.older[r, name], blocks.newer[r, name] = me.newest, NONE
    if me.newest == NONE:
        me.oldest = name
    else:
        blocks.newer[r, me.newest] = name
    me.newest = name
    me.cached += blocks.pages[name]


@inlined
def unlink(r: int, name: int, state: State) -> None:
    """A block is not among those any more that nobody uses."""
    me, blocks = state.replicas.one[r], state.blocks
    older, newer = blocks.older[r, name], blocks.newer[r, name]
    if older == NONE:
        me.oldest = newer
    else:
        blocks.newer[r, older] = newer
    if newer == NONE:
        me.newest = older
    else:
        blocks.older[r, newer] = older
    me.cached -= blocks.pages[name]


@inlined
def evict(r: int, state: State) -> None:
    """What nobody uses gives way to what is used: the least recently used block, of an answer a page at a time."""
    me, blocks = state.replicas.one[r], state.blocks
    answers = len(blocks.pages) - len(state.book.last)
    while me.cached and me.used + me.cached > state.how.pages:
        name = me.oldest
        pages = (
            min(blocks.pages[name], me.used + me.cached - state.how.pages) if name >= answers else blocks.pages[name]
        )
        me.evicted += pages
        if pages < blocks.pages[name]:
            blocks.pages[name] -= pages
            me.cached -= pages
        else:
            unlink(r, name, state)
            blocks.users[r, name] = NONE
            if state.how.keeps_below and name < answers:
                write_back(r, name, state)
