"""Copies of the model, each run from event to event.

Between two events every request that writes gains a token in each pass. So it is known when it joins at which pass it
ends, and the time of a run of passes is a sum in closed form. An arrival is taken in after the pass that it falls into.
Where tokens are proposed, a pass is the part of a round in which a token of each is written; beside prompts a round is
whole, and what it writes is whole too: the rest of a token is written by a later one.
What is compiled here calls only what is compiled here: what is kept on disk is compiled anew when this file changes.
"""

from math import ceil, inf, sqrt

import numpy as np

from inferdash.compiled import compiled, inlined
from inferdash.physics.amounts import GRAPHED
from inferdash.serving.pass_times import Tables
from inferdash.serving.requests import Floats, Ints
from inferdash.serving.state import NONE, Routes, State


@compiled
def run(accepted: Ints, routes: Routes, state: State) -> Floats:
    """Sends each request somewhere as it comes, and runs the replicas until all have ended.

    Args:
        accepted: requests that come, by arrival.
        routes: who goes where.
        state: requests and replicas before any has come; as they have ended, afterwards.

    Returns:
        A row a step: replica, seconds, requests in the batch from then on, and the most pages in use.
    """
    replicas, book = state.replicas, state.book
    count, log, rows, homes = len(replicas.one), np.empty((4096, 4)), 0, {NONE}
    for turn in range(len(accepted) + 1):
        until_s = book.arrival_s[accepted[turn]] if turn < len(accepted) else inf
        if until_s == inf or not routes.in_turn:
            for r in range(count):
                log, rows = _advance(r, until_s, state, log, rows)
        if turn == len(accepted):
            break
        one = accepted[turn]
        place = turn % count if routes.in_turn else _least_loaded(one, homes, routes, state)
        home = book.prefix[one] * count + place
        if book.prefix[one] != NONE and home not in homes:
            homes.add(home)
            book.found[one] = 0
        book.replica[one] = place
        _enqueue(place, one, state)
    return log[:rows]


@inlined
def _least_loaded(one: int, homes: set[int], routes: Routes, state: State) -> int:
    """The replica with the fewest requests, or of those with the prefix if it is not clearly more loaded."""
    prefix, replicas = state.book.prefix[one], state.replicas
    waiting = replicas.one["queued"] - replicas.one["ended"]
    least, home, most = int(np.argmin(waiting)), NONE, 0
    if routes.aware and state.how.finds:
        for r in range(len(waiting)):
            found, _ = _found(r, one, state)
            if found > most or (0 < found == most and waiting[r] < waiting[home]):
                home, most = r, found
    elif routes.aware and prefix != NONE:
        for r in range(len(waiting)):
            if prefix * len(waiting) + r in homes and (home == NONE or waiting[r] < waiting[home]):
                home = r
    return home if home != NONE and waiting[home] < waiting[least] + routes.slack else least


@inlined
def _enqueue(r: int, one: int, state: State) -> None:
    """A request comes to replica `r`."""
    replicas, book = state.replicas, state.book
    me = replicas.one[r]
    if me.head == NONE:
        me.head = one
    else:
        book.behind[me.tail] = one
    me.tail = one
    book.behind[one] = NONE
    me.queued += 1


@inlined
def _advance(r: int, until_s: float, state: State, log: Floats, rows: int) -> tuple[Floats, int]:
    """Runs replica `r` until its clock is at `until_s`, and returns the log, longer where it was full, and its rows.

    All arrivals before then are in its queue; until infinity it goes on until all have ended.
    """
    replicas, how = state.replicas, state.how
    me = replicas.one[r]
    while me.now_s < until_s:
        if me.run:
            _finish(r, state)
        if me.done:
            _begin_to_write(r, state)
        full = _admit(r, state)
        _preempt(r, state)
        began_s, me.run, me.done = me.now_s, 0, 0
        if me.reading:
            _read(r, state)
        elif me.writing:
            _write(r, until_s, full, state)
        else:
            me.now_s = min(_coming_s(r, state), until_s)
        if rows == len(log):
            log = np.concatenate((log, np.empty_like(log)))
        log[rows, 0], log[rows, 1], log[rows, 2], log[rows, 3] = r, began_s, how.places - me.free, me.used
        rows += 1
    return log, rows


@inlined
def _coming_s(r: int, state: State) -> float:
    """When the next in the queue comes; infinity where it is empty."""
    replicas, book = state.replicas, state.book
    head = replicas.one[r].head
    return inf if head == NONE else book.arrival_s[head]


@inlined
def _pages(tokens: int, page: int) -> int:
    return (tokens + page - 1) // page


@inlined
def _grown(r: int, passes: int, state: State) -> int:
    """Pages that those who write take in the next passes."""
    me, due, page = state.replicas.one[r], state.replicas.due[r], state.how.page
    start = me.passes % page
    beyond = start + passes % page
    grown = passes // page * me.writing
    for phase in range(start, min(beyond, page)):
        grown += due[phase]
    for phase in range(beyond - page):
        grown += due[phase]
    return int(grown)


@inlined
def _admit(r: int, state: State) -> bool:
    """Who joins the batch: first those that were put back, then by arrival; whether pages lack for the next one."""
    replicas, book, how = state.replicas, state.book, state.how
    me = replicas.one[r]
    if not how.continuous and me.free < how.places:
        return False
    lacking = _grown(r, how.checked, state)
    while me.free and (me.returned or _coming_s(r, state) <= me.now_s):
        one = replicas.returned[r, me.returned - 1] if me.returned else me.head
        known, shared = _found(r, one, state) if how.finds else (0, 0)
        most = min(book.goal[one] + 1, book.last[one]) + how.checked - 1
        if me.used + lacking + _pages(most, how.page) - shared > how.pages:
            return True
        swapped = me.returned and book.at[one] == book.goal[one]
        if known:
            book.at[one] = book.goal[one] if swapped else known * state.blocks.block[0]
        if me.returned:
            me.returned -= 1
            if swapped:
                me.pending_s += book.goal[one] * how.swap_token_s
        else:
            if how.finds:
                book.found[one] = known * state.blocks.block[0]
            book.at[one] = book.goal[one] if how.received else book.found[one]
            book.started_s[one] = me.now_s
            me.head = book.behind[one]
        me.used += _pages(book.goal[one], how.page)
        if how.finds:
            _take(r, one, known, state)
        me.free -= 1
        replicas.reading[r, me.reading] = one
        me.reading += 1
    return False


@inlined
def _preempt(r: int, state: State) -> None:
    """Who is put back: the latest, while those that write lack a page for their next token."""
    replicas, book, how = state.replicas, state.book, state.how
    me = replicas.one[r]
    while (how.chunked or not me.reading) and me.used + _grown(r, how.checked, state) > how.pages:
        if me.reading:
            me.reading -= 1
            one = replicas.reading[r, me.reading]
            me.used -= _pages(book.goal[one], how.page)
            if how.finds:
                _give(r, one, book.at[one], 0, state)
            if book.at[one] < book.goal[one]:
                book.at[one] = book.found[one]
        else:
            one = _latest(r, state)
            context = book.past[one] + me.passes
            _leave(r, one, (context, context, 0), state)
            if how.finds:
                _give(r, one, context, 0, state)
            if how.swaps:
                book.goal[one] = book.at[one] = context
                me.pending_s += context * how.swap_token_s
            else:
                book.goal[one], book.at[one] = context + 1, book.found[one]
        me.free += 1
        book.preemptions[one] += 1
        replicas.returned[r, me.returned] = one
        me.returned += 1


@inlined
def _latest(r: int, state: State) -> int:
    """The last that began to write; its event is taken off the heap."""
    replicas, book = state.replicas, state.book
    me, events, count = replicas.one[r], replicas.events[r], len(book.last)
    where = 0
    for place in range(1, me.writing):
        if book.joined[events[place] % count] > book.joined[events[where] % count]:
            where = place
    one = events[where] % count
    events[where] = -1  # the least of all
    _rise(events, where)
    _pop(events, me.writing)
    me.writing -= 1
    return int(one)


@inlined
def _leave(r: int, one: int, tokens: tuple[int, int, int], state: State) -> None:
    """What a request added that wrote: its pages, and the time of its text.

    Its tokens are those of its text, those at which it grew as it did last, and those that it was there beyond its end.
    """
    context, grown, late = tokens
    replicas, book, times, how = state.replicas, state.book, state.times, state.how
    me = replicas.one[r]
    me.used -= _pages(context + late, how.page)
    replicas.due[r, -book.past[one] % how.page] -= 1
    for line in range(2):
        replicas.text_s[r, line] -= times.context_s[line, context] + late * times.slope_s[line, grown]
        replicas.grow_s[r, line] -= times.slope_s[line, grown]


@inlined
def _read(r: int, state: State) -> None:
    """A pass that reads prompts, in chunks and beside those that write where it may."""
    replicas, book, times, how = state.replicas, state.book, state.times, state.how
    me = replicas.one[r]
    beside = me.writing if how.chunked else 0
    size, first_s, second_s, longest = beside * how.checked, 0.0, 0.0, 0
    if how.chunked:
        first_s = how.tokens_per_pass * replicas.text_s[r, 0] + times.beside_s[0, beside]
        second_s = how.tokens_per_pass * replicas.text_s[r, 1] + times.beside_s[1, beside]
    for place in range(me.reading):
        if size >= how.pass_tokens:
            break
        one = replicas.reading[r, place]
        before, after = book.at[one], book.goal[one]
        if after - before > how.pass_tokens - size:
            after = before + how.pass_tokens - size
        else:
            me.done += 1
        if after > before:
            size += after - before
            longest = max(longest, after - before)
            first_s += _chunk_s(times, 0, before, after)
            second_s += _chunk_s(times, 1, before, after)
            book.at[one] = after
            if how.finds:
                _share(r, one, before, after, state)
    if longest > GRAPHED:
        first_s += times.reading_s[0]
        second_s += times.reading_s[1]
    me.now_s += me.pending_s + max(first_s + times.pass_s[0, size], second_s + times.pass_s[1, size])
    me.pending_s = 0.0
    if beside:
        me.owed += how.tokens_per_pass
        me.run = int(me.owed)
        me.owed -= me.run
        me.used += _grown(r, me.run, state)
    if how.finds:
        _evict(r, state)


@inlined
def _chunk_s(times: Tables, line: int, before: int, after: int) -> float:
    """What a request adds that reads from one token to another, in the quicker of two forms."""
    end_s, start_s = times.end_s[line], times.start_s[line]
    return float(min(end_s[0, after] + start_s[0, before], end_s[1, after] + start_s[1, before]))


@inlined
def _write(r: int, until_s: float, full: bool, state: State) -> None:
    """A run of passes that only write, until something changes."""
    replicas, book, times, how = state.replicas, state.book, state.times, state.how
    me, due = replicas.one[r], replicas.due[r]
    me.now_s += me.pending_s
    me.pending_s = 0.0
    pass_s, more_s = times.write_s[0, me.writing] + replicas.text_s[r, 0], replicas.grow_s[r, 0]
    other_s, other_more_s = times.write_s[1, me.writing] + replicas.text_s[r, 1], replicas.grow_s[r, 1]
    if other_s > pass_s:
        pass_s, more_s, other_s, other_more_s = other_s, other_more_s, pass_s, more_s
    run = replicas.events[r, 0] // len(book.last) - me.passes
    if other_more_s > more_s:  # until the other line is the higher one
        run = min(run, int((pass_s - other_s) / (other_more_s - more_s)) + 1)
    more_s /= 2
    pass_s -= more_s
    coming_s = _coming_s(r, state)
    if me.free and how.continuous and not full and coming_s < until_s:
        until_s = coming_s
    if me.now_s + run * (pass_s + run * more_s) > until_s:  # it stops after the pass in which a request comes
        span_s = until_s - me.now_s
        fewest = 1.0
        if span_s > 0:
            fewest = 2 * span_s / (pass_s + sqrt(pass_s * pass_s + 4 * more_s * span_s))
        run = min(run, ceil(fewest))
    beyond = how.checked - 1  # of each check, which may keep no more than one
    if me.used + _grown(r, run + beyond, state) > how.pages:  # it stops when the cache is full
        run, grown = 0, _grown(r, beyond, state)
        while me.used + grown + due[(me.passes + run + beyond) % how.page] <= how.pages:
            grown += due[(me.passes + run + beyond) % how.page]
            run += 1
    me.used += _grown(r, run, state)
    if how.finds:
        _evict(r, state)
    me.now_s += run * (pass_s + run * more_s)
    me.run = run


@inlined
def _finish(r: int, state: State) -> None:
    """Who of those that wrote ends, or comes to a bend."""
    replicas, book, times, how = state.replicas, state.book, state.times, state.how
    me, events, count = replicas.one[r], replicas.events[r], len(book.last)
    me.passes += me.run
    for line in range(2):
        replicas.text_s[r, line] += me.run * replicas.grow_s[r, line]
    while me.writing and events[0] < (me.passes + 1) * count:
        one = events[0] % count
        late = me.passes - events[0] // count
        context = book.past[one] + me.passes - late
        _pop(events, me.writing)
        if context < book.last[one]:
            for line in range(2):
                bend_s = times.slope_s[line, context] - times.slope_s[line, context - 1]
                replicas.grow_s[r, line] += bend_s
                replicas.text_s[r, line] += late * bend_s
            _push(events, me.writing - 1, _event(one, context, state))
            continue
        me.writing -= 1
        me.free += 1
        me.ended += 1
        _leave(r, one, (context, context - 1, late), state)
        if how.finds:
            _give(r, one, context, context, state)
        book.finish_s[one] = me.now_s
    if not me.writing:
        replicas.text_s[r] = replicas.grow_s[r] = 0.0  # what rounding has left


@inlined
def _event(one: int, context: int, state: State) -> int:
    """When a request ends or comes to a bend, as its replica's heap has it."""
    book, bend = state.book, state.times.bend_after[context]
    return int((min(book.last[one], bend) - book.past[one]) * len(book.last) + one)


@inlined
def _begin_to_write(r: int, state: State) -> None:
    """Who has read its text has its next token with it, and writes on."""
    replicas, book, times, how = state.replicas, state.book, state.times, state.how
    me = replicas.one[r]
    for place in range(me.done):
        one = replicas.reading[r, place]
        context = book.goal[one]
        if book.first_token_s[one] == inf:
            book.first_token_s[one] = me.now_s
        if context == book.last[one]:
            me.free += 1
            me.ended += 1
            me.used -= _pages(context, how.page)
            if how.finds:
                _give(r, one, context, context, state)
            book.finish_s[one] = me.now_s
            continue
        book.past[one] = context - me.passes
        replicas.due[r, -book.past[one] % how.page] += 1
        for line in range(2):
            replicas.text_s[r, line] += times.context_s[line, context]
            replicas.grow_s[r, line] += times.slope_s[line, context]
        me.joined += 1
        book.joined[one] = me.joined
        _push(replicas.events[r], me.writing, _event(one, context, state))
        me.writing += 1
    me.reading -= me.done
    for place in range(me.reading):
        replicas.reading[r, place] = replicas.reading[r, place + me.done]


@inlined
def _found(r: int, one: int, state: State) -> tuple[int, int]:
    """Blocks of a prompt that are there, from the first on, and the pages of those that others use.

    Its last token is run again in any case.
    """
    blocks, found, shared = state.blocks, 0, 0
    begin, end = blocks.first[one], blocks.first[one + 1]
    most = min(end - begin, (state.book.goal[one] - 1) // blocks.block[0])
    while found < most and blocks.users[r, blocks.names[begin + found]] != NONE:
        if blocks.users[r, blocks.names[begin + found]]:
            shared += blocks.block[1]
        found += 1
    return found, shared


@inlined
def _take(r: int, one: int, known: int, state: State) -> None:
    """A request uses the blocks that it found; those that nobody used do not give way any more."""
    me, blocks = state.replicas.one[r], state.blocks
    for place in range(blocks.first[one], blocks.first[one] + known):
        name = blocks.names[place]
        if blocks.users[r, name]:
            me.used -= blocks.block[1]
        else:
            _unlink(r, name, state)
        blocks.users[r, name] += 1
        blocks.mine[place] = True
    _evict(r, state)


@inlined
def _share(r: int, one: int, before: int, after: int, state: State) -> None:
    """The blocks that a request reads now may be found from the next pass on, where they are not there yet."""
    blocks = state.blocks
    begin, end = blocks.first[one], blocks.first[one + 1]
    for place in range(begin + before // blocks.block[0], min(end, begin + after // blocks.block[0])):
        if blocks.users[r, blocks.names[place]] == NONE:
            blocks.users[r, blocks.names[place]] = 1
            blocks.mine[place] = True


@inlined
def _give(r: int, one: int, read: int, context: int, state: State) -> None:
    """A request uses its blocks no more: they are kept from the last, which is then the next to go, to the first.

    `read` are its tokens in the cache. Of a request that has ended, its answer is kept too, up to `context` tokens.
    """
    me, blocks, how = state.replicas.one[r], state.blocks, state.how
    begin, end = blocks.first[one], blocks.first[one + 1]
    if context:
        answer = len(blocks.pages) - len(state.book.last) + one
        blocks.pages[answer] = _pages(context, how.page) - (end - begin) * blocks.block[1]
        if blocks.pages[answer]:
            _link(r, answer, state)
    for place in range(end - 1, begin - 1, -1):
        name = blocks.names[place]
        if blocks.mine[place]:
            blocks.mine[place] = False
            blocks.users[r, name] -= 1
            if blocks.users[r, name]:
                me.used += blocks.block[1]  # others use it
            else:
                _link(r, name, state)
        elif (place - begin + 1) * blocks.block[0] <= read and blocks.users[r, name] <= 0:
            if blocks.users[r, name] == 0:
                _unlink(r, name, state)  # of two copies one is kept
            _link(r, name, state)
    _evict(r, state)


@inlined
def _link(r: int, name: int, state: State) -> None:
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
def _unlink(r: int, name: int, state: State) -> None:
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
def _evict(r: int, state: State) -> None:
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
            _unlink(r, name, state)
            blocks.users[r, name] = NONE


@inlined
def _push(heap: Ints, length: int, event: int) -> None:
    """Adds to a heap of so many."""
    heap[length] = event
    _rise(heap, length)


@inlined
def _rise(heap: Ints, place: int) -> None:
    event = heap[place]
    while place and heap[(place - 1) // 2] > event:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = event


@inlined
def _pop(heap: Ints, length: int) -> None:
    """Takes the least off a heap of so many."""
    event, place, child = heap[length - 1], 0, 1
    while child < length - 1:
        if child + 1 < length - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= event:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = event
