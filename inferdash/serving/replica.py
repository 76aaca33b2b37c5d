"""One copy of the model, run from event to event.

Between two events every request that writes gains a token in each pass. So it is known when it joins at which pass it
ends, and the time of a run of passes is a sum in closed form. An arrival is taken in after the pass that it falls into.
"""

from collections.abc import Generator, Sequence
from heapq import heapify, heappop, heappush
from math import ceil, inf, sqrt

from inferdash.serving.pass_times import PassTimes
from inferdash.serving.scheduling import Scheduling
from inferdash.serving.served import Book


def replica(  # noqa: PLR0912, PLR0915 - one loop on local variables, which is what makes it quick
    book: Book, queue: Sequence[int], times: PassTimes, how: Scheduling, steps: list[float]
) -> Generator[int, float, None]:
    """Serves the requests in `queue`, in order, and writes into `book` and `steps`.

    It is sent the time up to which all arrivals are in the queue, goes on until its clock is there, and yields how
    many of the requests in the queue had not ended at that time. Sent infinity, it goes on until all have.

    Args:
        book: the requests.
        queue: those that come here, by arrival; may grow between two sends.
        times: of the passes.
        how: what runs in a pass.
        steps: gets three numbers an event: seconds, requests in the batch from then on, and the most pages in use.
    """
    (pass_1, context_1, slope_1, (end_1, start_1), (short_end_1, short_start_1)) = times.lists[0]
    (pass_2, context_2, slope_2, (end_2, start_2), (short_end_2, short_start_2)) = times.lists[1]
    forms = len(times.lines[0].readings)
    bend_after = times.bend_after
    arrival, last, found = book.arrival_s, book.last, book.found
    started_s, first_token_s, finish_s = book.started_s, book.first_token_s, book.finish_s
    page, budget, chunked, continuous = how.page, how.pass_tokens, how.chunked, how.batching == "continuous"
    capacity = inf if how.pages is None else how.pages
    count = len(arrival)

    now = pending_s = 0.0
    passes = ended = head = used = 0
    free = how.places
    coming_s = inf
    """When the next in the queue comes; infinity where it is empty."""
    running: dict[int, int] = {}
    """Request that writes -> its tokens in the cache less `passes`, in order of admission."""
    events: list[int] = []
    """Heap of pass * count + request: where each of `running` ends or comes to a bend."""
    due = [0] * (2 * page)
    """Requests that take a page with the pass that is so many beyond a multiple of `page`; twice over, for slices."""
    reading: list[int] = []
    returned: list[int] = []
    """Preempted, the earliest of them last."""
    goal, at = book.prompt[:], found[:]
    """Tokens that the cache of a request has after reading, and has so far."""
    text_1 = text_2 = grow_1 = grow_2 = 0.0
    """What the texts of all that write add to the next pass, and by how much more each pass, by line."""

    horizon = yield 0
    if queue:
        coming_s = arrival[queue[0]]
    while True:
        # Who joins the batch: first those that were put back, then by arrival, while places and pages are free.
        full = False
        lacking = due[passes % page]
        if continuous or free == how.places:
            while free and (returned or coming_s <= now):
                one = returned[-1] if returned else queue[head]
                if used + lacking - (-min(goal[one] + 1, last[one]) // page) > capacity:
                    full = True
                    break
                if returned:
                    returned.pop()
                    if at[one] == goal[one]:
                        pending_s += goal[one] * how.swap_token_s
                else:
                    at[one] = found[one]
                    started_s[one] = now
                    head += 1
                    coming_s = arrival[queue[head]] if head < len(queue) else inf
                used -= -goal[one] // page
                free -= 1
                reading.append(one)

        # Who is put back: the latest, while those that write lack a page for their next token.
        while used + lacking > capacity and (chunked or not reading):
            if reading:
                one = reading.pop()
                used += -goal[one] // page
                if at[one] < goal[one]:
                    at[one] = found[one]
            else:
                one, past = running.popitem()
                context = past + passes
                used += -context // page
                phase = -past % page
                due[phase] -= 1
                due[phase + page] -= 1
                lacking = due[passes % page]
                text_1 -= context_1[context]
                text_2 -= context_2[context]
                grow_1 -= slope_1[context]
                grow_2 -= slope_2[context]
                events = [event for event in events if event % count != one]
                heapify(events)
                if how.preemption == "swap":
                    goal[one] = at[one] = context
                    pending_s += context * how.swap_token_s
                else:
                    goal[one], at[one] = context + 1, found[one]
            free += 1
            book.preemptions[one] += 1
            returned.append(one)

        # One pass that reads, or a run of passes that write until something changes.
        began_s, run, done = now, 0, 0
        batch = len(running)
        if reading:
            size, add_1, add_2 = (batch, text_1, text_2) if chunked else (0, 0.0, 0.0)
            for one in reading:
                if size == budget:
                    break
                before, after = at[one], goal[one]
                if after - before > budget - size:
                    after = before + budget - size
                else:
                    done += 1
                if after > before:
                    size += after - before
                    read_1, read_2 = end_1[after] + start_1[before], end_2[after] + start_2[before]
                    if forms > 1:
                        read_1 = min(read_1, short_end_1[after] + short_start_1[before])
                        read_2 = min(read_2, short_end_2[after] + short_start_2[before])
                    add_1 += read_1
                    add_2 += read_2
                    at[one] = after
            add_1 += pass_1[size]
            add_2 += pass_2[size]
            now += pending_s + (add_1 if add_1 > add_2 else add_2)  # noqa: FURB136 - quicker than a call
            pending_s = 0.0
            if chunked and batch:
                run = 1
                used += lacking
        elif batch:
            now += pending_s
            pending_s = 0.0
            pass_s, more_s = pass_1[batch] + text_1, grow_1
            other_s, other_more_s = pass_2[batch] + text_2, grow_2
            if other_s > pass_s:
                pass_s, more_s, other_s, other_more_s = other_s, other_more_s, pass_s, more_s
            run = events[0] // count - passes
            if other_more_s > more_s:  # until the other line is the higher one
                run = min(run, int((pass_s - other_s) / (other_more_s - more_s)) + 1)
            more_s /= 2
            pass_s -= more_s
            run_s = run * (pass_s + run * more_s)
            until = coming_s if free and continuous and not full and coming_s < horizon else horizon
            if now + run_s > until:  # it stops after the pass in which a request comes
                span_s = until - now
                fewest = 2 * span_s / (pass_s + sqrt(pass_s * pass_s + 4 * more_s * span_s)) if span_s > 0 else 1
                run = min(run, ceil(fewest))
                run_s = run * (pass_s + run * more_s)
            start = passes % page
            grown = run // page * batch + sum(due[start : start + run % page])
            if used + grown > capacity:  # it stops when the cache is full
                run = grown = 0
                while used + grown + due[(start + run) % page] <= capacity:
                    grown += due[(start + run) % page]
                    run += 1
                run_s = run * (pass_s + run * more_s)
            used += grown
            now += run_s
        else:
            now = min(coming_s, horizon)
        steps += (began_s, how.places - free, used)
        while now >= horizon:
            if now == inf:
                return
            horizon = yield len(queue) - ended
            coming_s = arrival[queue[head]] if head < len(queue) else inf

        # Who ends, or comes to a bend.
        if run:
            passes += run
            text_1 += run * grow_1
            text_2 += run * grow_2
            edge = (passes + 1) * count
            while events and events[0] < edge:
                one = heappop(events) % count
                past = running[one]
                context = past + passes
                if context < last[one]:
                    grow_1 += slope_1[context] - slope_1[context - 1]
                    grow_2 += slope_2[context] - slope_2[context - 1]
                    heappush(events, (min(last[one], bend_after[context]) - past) * count + one)
                    continue
                del running[one]
                free += 1
                ended += 1
                used += -context // page
                phase = -past % page
                due[phase] -= 1
                due[phase + page] -= 1
                text_1 -= context_1[context]
                text_2 -= context_2[context]
                grow_1 -= slope_1[context - 1]
                grow_2 -= slope_2[context - 1]
                finish_s[one] = now
            if not running:
                text_1 = text_2 = grow_1 = grow_2 = 0.0  # what rounding has left

        # Who has read its text has its next token with it, and writes on.
        if done:
            for one in reading[:done]:
                context = goal[one]
                if first_token_s[one] == inf:
                    first_token_s[one] = now
                if context == last[one]:
                    free += 1
                    ended += 1
                    used += -context // page
                    finish_s[one] = now
                    continue
                past = running[one] = context - passes
                phase = -past % page
                due[phase] += 1
                due[phase + page] += 1
                text_1 += context_1[context]
                text_2 += context_2[context]
                grow_1 += slope_1[context]
                grow_2 += slope_2[context]
                heappush(events, (min(last[one], bend_after[context]) - past) * count + one)
            del reading[:done]
