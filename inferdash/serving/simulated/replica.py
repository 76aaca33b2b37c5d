"""Copies of the model, each run from event to event.

Between two events every request that writes gains a token in each pass. So it is known when it joins at which pass it
ends, and the time of a run of passes is a sum in closed form. An arrival is taken in after the pass that it falls into.
Where tokens are proposed, a pass is the part of a round in which a token of each is written; beside prompts a round is
whole, and what it writes is whole too: the rest of a token is written by a later one.
What is kept on disk is compiled anew when a file of this folder changes.
"""

from math import ceil, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from inferdash.compiled import compiled, inlined
from inferdash.physics.amounts import GRAPHED
from inferdash.serving.simulated.block_cache import evict, found, give, pages_of, share, take
from inferdash.serving.simulated.event_heap import pop, push, rise
from inferdash.serving.simulated.follow_ups import came, coming, follow
from inferdash.serving.simulated.requests import Floats, Ints
from inferdash.serving.simulated.state import NONE, Routes, State
from inferdash.serving.simulated.tiers import chunk_s, reload


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
    count, log, rows = len(replicas.one), np.empty((4096, 4)), 0
    homes = np.zeros((book.prefix.max() + 1 if len(book.last) else 0, count), dtype=np.bool_)
    for turn in range(len(accepted) + 1):
        until_s = book.arrival_s[accepted[turn]] if turn < len(accepted) else inf
        if until_s == inf or not routes.in_turn:
            for r in range(count):
                rows = _advance(r, until_s, state, log, rows)
                while rows == len(log):
                    log = np.concatenate((log, np.empty_like(log)))
                    rows = _advance(r, until_s, state, log, rows)
        if turn == len(accepted):
            break
        one = accepted[turn]
        place = turn % count if routes.in_turn else _least_loaded(one, homes, routes, state)
        prefix = book.prefix[one]
        if prefix != NONE and not homes[prefix, place]:
            homes[prefix, place] = True
            book.found[one] = 0
        book.replica[one] = place
        _enqueue(place, one, state)
    return log[:rows]


@inlined
def _least_loaded(one: int, homes: NDArray[np.bool_], routes: Routes, state: State) -> int:
    """The replica with the fewest requests, or of those with the prefix if it is not clearly more loaded."""
    prefix, count = state.book.prefix[one], len(state.replicas.one)
    least, home, most = 0, NONE, 0
    for r in range(1, count):
        if _waiting(r, state) < _waiting(least, state):
            least = r
    if routes.aware and state.how.finds:
        for r in range(count):
            known, _ = found(r, one, state)
            if known > most or (0 < known == most and _waiting(r, state) < _waiting(home, state)):
                home, most = r, known
    elif routes.aware and prefix != NONE:
        for r in range(count):
            if homes[prefix, r] and (home == NONE or _waiting(r, state) < _waiting(home, state)):
                home = r
    return home if home != NONE and _waiting(home, state) < _waiting(least, state) + routes.slack else least


@inlined
def _waiting(r: int, state: State) -> int:
    """Requests at a replica that have not ended."""
    me = state.replicas.one[r]
    return int(me.queued - me.ended)


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
def _advance(r: int, until_s: float, state: State, log: Floats, rows: int) -> int:
    """Runs replica `r` until its clock is at `until_s`, or the log is full, and returns the rows of the log.

    All arrivals before then are in its queue; until infinity it goes on until all have ended.
    """
    replicas, how = state.replicas, state.how
    me = replicas.one[r]
    while me.now_s < until_s and rows < len(log):
        if me.run:
            _finish(r, state)
        if me.done:
            _begin_to_write(r, state)
        if me.loading:
            _load(r, state)
        full = _admit(r, state)
        returned = me.returned
        _preempt(r, state)
        began_s, me.run, me.done = me.now_s, 0, 0
        if me.reading:
            _read(r, state)
        elif me.writing:
            # Who is put back gives up copies of blocks that others have, and may fit in again with the next pass.
            _write(r, me.now_s if how.finds and me.returned > returned else until_s, full, state)
        else:
            me.now_s = min(until_s, _next_s(r, full, state))
        log[rows, 0], log[rows, 1], log[rows, 2], log[rows, 3] = r, began_s, how.places - me.free, me.used
        rows += 1
    return rows


@inlined
def _coming_s(r: int, state: State) -> float:
    """When the next one comes; infinity where nobody does."""
    one = _front(r, state)
    return inf if one == NONE else state.book.arrival_s[one]


@inlined
def _next_s(r: int, full: bool, state: State) -> float:
    """When something else may run: the next one comes and may join, or what is moved in for another is there."""
    me, how = state.replicas.one[r], state.how
    loaded_s = state.ahead.one[state.replicas.loading[r, 0]].ready_s if me.loading else inf
    may_join = me.free and not full and (how.continuous or me.free == how.places)
    return min(loaded_s, _coming_s(r, state)) if may_join else loaded_s


@inlined
def _load(r: int, state: State) -> None:
    """What is moved in for some is there: they read on, and others may find it."""
    replicas, book = state.replicas, state.book
    me, loading = replicas.one[r], replicas.loading[r]
    while me.loading and state.ahead.one[loading[0]].ready_s <= me.now_s:
        one = loading[0]
        me.loading -= 1
        for place in range(me.loading):
            loading[place] = loading[place + 1]
        share(r, one, 0, book.at[one], state)
        replicas.reading[r, me.reading] = one
        me.reading += 1


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
def _admit(r: int, state: State) -> bool:  # noqa: PLR0912 - a part of it as a function costs a fifth of the speed
    """Who joins the batch: first those that were put back, then by arrival; whether pages lack for the next one."""
    replicas, book, how = state.replicas, state.book, state.how
    me = replicas.one[r]
    if not how.continuous and me.free < how.places:
        return False
    lacking = _grown(r, how.checked, state)
    while me.free and (me.returned or _coming_s(r, state) <= me.now_s):
        one = replicas.returned[r, me.returned - 1] if me.returned else _front(r, state)
        if how.follows and not me.returned and not state.ahead.one[one].fits:
            _refuse(r, one, state)
            continue
        known, shared = found(r, one, state) if how.finds else (0, 0)
        most = min(book.goal[one] + 1, book.last[one]) + how.checked - 1
        if me.used + lacking + pages_of(most, how.page) - shared > how.pages:
            return True
        swapped, moved = me.returned and book.at[one] == book.goal[one], 0
        if how.finds and not swapped:
            moved = reload(r, one, known, state) if how.keeps_below else 0
            book.at[one] = (known + moved) * state.blocks.block[0]
        if me.returned:
            me.returned -= 1
            if swapped:
                me.pending_s += book.goal[one] * how.swap_token_s
        else:
            if how.finds:
                book.found[one] = book.at[one]
                if moved:
                    state.ahead.one[one].reloaded = moved * state.blocks.block[0]
            book.at[one] = book.goal[one] if how.received else book.found[one]
            book.started_s[one] = me.now_s
            if how.follows:
                came(r, one, state)
            else:
                me.head = book.behind[one]
        me.used += pages_of(book.goal[one], how.page)
        if how.finds:
            take(r, one, known, state)
        me.free -= 1
        if moved:
            replicas.loading[r, me.loading] = one
            me.loading += 1
        else:
            replicas.reading[r, me.reading] = one
            me.reading += 1
    return False


@inlined
def _front(r: int, state: State) -> int:
    """Who comes next; none where nobody does."""
    return coming(r, state) if state.how.follows else int(state.replicas.one[r].head)


@inlined
def _refuse(r: int, one: int, state: State) -> None:
    """Who alone is larger than the cache ends as it comes."""
    came(r, one, state)
    state.book.replica[one] = NONE
    state.replicas.one[r].ended += 1
    follow(r, one, state)


@inlined
def _preempt(r: int, state: State) -> None:
    """Who is put back: the latest, while those that write lack a page for their next token."""
    replicas, book, how = state.replicas, state.book, state.how
    me = replicas.one[r]
    while (how.chunked or not me.reading) and me.used + _grown(r, how.checked, state) > how.pages:
        if me.reading:
            me.reading -= 1
            one = replicas.reading[r, me.reading]
            me.used -= pages_of(book.goal[one], how.page)
            if how.finds:
                give(r, one, book.at[one], 0, state)
            if book.at[one] < book.goal[one]:
                book.at[one] = book.found[one]
        else:
            one = _latest(r, state)
            context = book.past[one] + me.passes
            _leave(r, one, (context, context, 0), state)
            if how.finds:
                give(r, one, context, 0, state)
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
    rise(events, where)
    pop(events, me.writing)
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
    me.used -= pages_of(context + late, how.page)
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
            first_s += chunk_s(times, 0, before, after)
            second_s += chunk_s(times, 1, before, after)
            book.at[one] = after
            if how.finds:
                share(r, one, before, after, state)
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
        evict(r, state)


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
    until_s = min(until_s, _next_s(r, full, state))
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
        evict(r, state)
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
        pop(events, me.writing)
        if context < book.last[one]:
            for line in range(2):
                bend_s = times.slope_s[line, context] - times.slope_s[line, context - 1]
                replicas.grow_s[r, line] += bend_s
                replicas.text_s[r, line] += late * bend_s
            push(events, me.writing - 1, _event(one, context, state))
            continue
        me.writing -= 1
        me.free += 1
        me.ended += 1
        _leave(r, one, (context, context - 1, late), state)
        if how.finds:
            give(r, one, context, context, state)
        book.finish_s[one] = me.now_s
        if how.follows:
            follow(r, one, state)
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
            me.used -= pages_of(context, how.page)
            if how.finds:
                give(r, one, context, context, state)
            book.finish_s[one] = me.now_s
            if how.follows:
                follow(r, one, state)
            continue
        book.past[one] = context - me.passes
        replicas.due[r, -book.past[one] % how.page] += 1
        for line in range(2):
            replicas.text_s[r, line] += times.context_s[line, context]
            replicas.grow_s[r, line] += times.slope_s[line, context]
        me.joined += 1
        book.joined[one] = me.joined
        push(replicas.events[r], me.writing, _event(one, context, state))
        me.writing += 1
    me.reading -= me.done
    for place in range(me.reading):
        replicas.reading[r, place] = replicas.reading[r, place + me.done]
