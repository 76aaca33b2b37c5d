"""The same rules as the simulator, pass by pass: slow, and short enough to be seen to be right."""

from dataclasses import dataclass
from math import ceil, inf

from inferdash.serving.simulated.pass_times import PassTimes
from inferdash.serving.simulated.requests import Requests
from inferdash.serving.simulated.scheduling import Scheduling
from tests.serving.slow_blocks import SlowBlocks


@dataclass
class Seat:
    """A request in the batch."""

    request: int
    goal: int
    """Tokens of its text that are read before it writes."""
    cached: int
    written: int
    moved: bool = False
    loaded_s: float = 0.0
    """When its blocks from below the GPUs are there."""

    @property
    def reads(self) -> bool:
        return self.cached < self.goal or self.moved


def one_by_one(  # noqa: PLR0912, PLR0915 - it stands beside a loop that is as long
    requests: Requests, times: PassTimes, how: Scheduling
) -> tuple[list[float], list[float], list[float], list[int]]:
    """Start, first token and finish of each request in seconds, infinite for those that are refused; preemptions.

    Where tokens are proposed, each goes by in its part of a round; a round beside prompts is whole. Where blocks are
    known, they say what is found; a request that follows on others comes its pause after they have ended.
    """
    kept = SlowBlocks(requests, times, how) if requests.texts else None
    turns = requests.turns
    waits = turns.waits.tolist() if turns else [0] * len(requests)
    arrival = requests.arrival_s.tolist()
    checked, owed = times.checked, 0.0
    count = len(requests)
    prompt, answer = requests.prompt.tolist(), requests.answer.tolist()
    started, first, finish, preempted = [inf] * count, [inf] * count, [inf] * count, [0] * count
    pages = inf if how.pages is None else how.pages

    def pages_of(tokens: int) -> int:
        return ceil(tokens / how.page)

    fits = [pages_of(prompt[one] + answer[one] + checked - 2) <= pages for one in range(count)]
    coming = [one for one in range(count) if not waits[one] and (fits[one] or turns)]
    back: list[Seat] = []
    seats: list[Seat] = []
    loading: list[Seat] = []
    now, late = 0.0, 0.0

    def ended(one: int) -> None:
        if turns:
            for other in turns.after[turns.first[one] : turns.first[one + 1]].tolist():
                waits[other] -= 1
                if not waits[other]:
                    arrival[other] = now + float(turns.pause_s[other])
                    coming.append(other)
            coming.sort(key=lambda one: (arrival[one], one))

    def used() -> int:
        held = sum(pages_of(seat.goal if seat.reads else seat.cached) for seat in (*seats, *loading))
        return held - (kept.shared() if kept else 0)

    while coming or back or seats or loading:
        if not seats and not back and not loading:
            now = max(now, arrival[coming[0]])
        while loading and loading[0].loaded_s <= now:
            seat = loading.pop(0)
            seats.append(seat)
            if kept:
                kept.share(seat.request, 0, seat.cached)

        def lacking() -> int:
            grown = [pages_of(seat.cached + checked) - pages_of(seat.cached) for seat in seats if not seat.reads]
            return sum(grown)

        static = how.batching == "static"
        closed, full = static and bool(seats or loading), False
        while not closed and len(seats) + len(loading) < how.places:
            if back:
                seat = back[0]
            elif coming and arrival[coming[0]] <= now and not fits[coming[0]]:
                ended(coming.pop(0))
                continue
            elif coming and arrival[coming[0]] <= now:
                seat = Seat(coming[0], prompt[coming[0]], int(requests.found[coming[0]]), 0)
                if how.received:
                    seat.cached, seat.written, seat.moved = seat.goal, 1, True
            else:
                break
            longest = prompt[seat.request] + answer[seat.request] - 1
            known, shared = kept.found(seat.request, seat.goal) if kept else (0, 0)
            if used() + lacking() + pages_of(min(seat.goal + 1, longest) + checked - 1) - shared > pages:
                full = True
                break
            moved = 0
            if kept and not seat.moved:
                queued = sum(one.goal - one.cached for one in seats if one.reads and not one.moved)
                moved, seat.loaded_s = kept.reload(seat.request, known, seat.goal, now, queued)
                seat.cached = (known + moved) * kept.block
            if back:
                back.pop(0)
                late += seat.moved * seat.goal * how.swap_token_s
            else:
                coming.pop(0)
                started[seat.request] = now
            (loading if moved else seats).append(seat)
            if kept:
                kept.take(seat.request, known)
                kept.evict(used())

        while used() + lacking() > pages and (how.chunked or not any(seat.reads for seat in seats)):
            seat = seats.pop()
            preempted[seat.request] += 1
            if kept:
                kept.give(seat.request, seat.cached, 0)
                kept.evict(used())
            if seat.reads:
                if not seat.moved:
                    seat.cached = int(requests.found[seat.request])
            elif how.preemption == "swap":
                late += seat.cached * how.swap_token_s
                seat.moved, seat.goal = True, seat.cached
            else:
                seat.goal, seat.cached = seat.cached + 1, int(requests.found[seat.request])
            back.insert(0, seat)

        if not seats:
            next_s = [loading[0].loaded_s] if loading else []
            if coming and not full and len(loading) < how.places and not (static and loading):
                next_s.append(arrival[coming[0]])
            if next_s:
                now = min(next_s)
            continue

        readers = [seat for seat in seats if seat.reads]
        writers = [seat for seat in seats if not seat.reads]
        if readers and not how.chunked:
            writers = []
        left = how.pass_tokens - checked * len(writers)
        contexts = [seat.cached for seat in writers]
        chunks, ready = [], []
        for seat in readers:
            if left <= 0:
                break
            size = min(left, seat.goal - seat.cached)
            if size:
                chunks.append((size, seat.cached))
                if kept:
                    kept.share(seat.request, seat.cached, seat.cached + size)
            seat.cached += size
            left -= size
            if seat.cached == seat.goal:
                ready.append(seat)
        passed_s = times.pass_s(contexts=contexts, chunks=chunks) if contexts or chunks else 0.0
        if not readers:
            passed_s, tokens = passed_s / times.tokens_per_pass, 1
        elif writers:
            owed += times.tokens_per_pass
            tokens, owed = int(owed), owed - int(owed)
        now += late + passed_s
        late = 0.0
        for seat in writers:
            seat.cached += tokens
            seat.written += tokens
        for seat in ready:
            if not seat.moved:
                seat.written += 1
                first[seat.request] = min(first[seat.request], now)
            seat.moved = False
        if kept:
            kept.evict(used())
        done = sorted((seat for seat in writers if seat.written >= answer[seat.request]), key=lambda one: one.request)
        for seat in (*done, *(seat for seat in ready if seat.written >= answer[seat.request])):
            seats.remove(seat)
            finish[seat.request] = now
            if kept:
                kept.give(seat.request, seat.cached, min(seat.cached, prompt[seat.request] + answer[seat.request] - 1))
                kept.evict(used())
            ended(seat.request)
    return started, first, finish, preempted
