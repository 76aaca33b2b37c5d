"""The same rules as the simulator, pass by pass: slow, and short enough to be seen to be right."""

from dataclasses import dataclass
from math import ceil, inf

from inferdash.serving.pass_times import PassTimes
from inferdash.serving.requests import Requests
from inferdash.serving.scheduling import Scheduling


@dataclass
class Seat:
    """A request in the batch."""

    request: int
    goal: int
    """Tokens of its text that are read before it writes."""
    cached: int
    written: int
    moved: bool = False

    @property
    def reads(self) -> bool:
        return self.cached < self.goal or self.moved


def one_by_one(  # noqa: PLR0912, PLR0915 - it stands beside a loop that is as long
    requests: Requests, times: PassTimes, how: Scheduling
) -> tuple[list[float], list[float], list[float], list[int]]:
    """Start, first token and finish of each request in seconds, infinite for those that are refused; preemptions.

    Where tokens are proposed, each goes by in its part of a round; a round beside prompts is whole.
    """
    checked, owed = times.checked, 0.0
    count = len(requests)
    prompt, answer = requests.prompt.tolist(), requests.answer.tolist()
    started, first, finish, preempted = [inf] * count, [inf] * count, [inf] * count, [0] * count
    pages = inf if how.pages is None else how.pages

    def pages_of(tokens: int) -> int:
        return ceil(tokens / how.page)

    coming = [one for one in range(count) if pages_of(prompt[one] + answer[one] + checked - 2) <= pages]
    back: list[Seat] = []
    seats: list[Seat] = []
    now, late = 0.0, 0.0
    while coming or back or seats:
        if not seats and not back:
            now = max(now, float(requests.arrival_s[coming[0]]))

        def used() -> int:
            return sum(pages_of(seat.goal if seat.reads else seat.cached) for seat in seats)

        def lacking() -> int:
            grown = [pages_of(seat.cached + checked) - pages_of(seat.cached) for seat in seats if not seat.reads]
            return sum(grown)

        static = how.batching == "static"
        closed = static and bool(seats)
        while not closed and len(seats) < how.places:
            if back:
                seat = back[0]
            elif coming and requests.arrival_s[coming[0]] <= now:
                seat = Seat(coming[0], prompt[coming[0]], int(requests.found[coming[0]]), 0)
                if how.received:
                    seat.cached, seat.written, seat.moved = seat.goal, 1, True
            else:
                break
            longest = prompt[seat.request] + answer[seat.request] - 1
            if used() + lacking() + pages_of(min(seat.goal + 1, longest) + checked - 1) > pages:
                break
            if back:
                back.pop(0)
                late += seat.moved * seat.goal * how.swap_token_s
            else:
                coming.pop(0)
                started[seat.request] = now
            seats.append(seat)

        while used() + lacking() > pages and (how.chunked or not any(seat.reads for seat in seats)):
            seat = seats.pop()
            preempted[seat.request] += 1
            if seat.reads:
                if not seat.moved:
                    seat.cached = int(requests.found[seat.request])
            elif how.preemption == "swap":
                late += seat.cached * how.swap_token_s
                seat.moved, seat.goal = True, seat.cached
            else:
                seat.goal, seat.cached = seat.cached + 1, int(requests.found[seat.request])
            back.insert(0, seat)

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
        for seat in [seat for seat in seats if seat.written >= answer[seat.request]]:
            seats.remove(seat)
            finish[seat.request] = now
    return started, first, finish, preempted
