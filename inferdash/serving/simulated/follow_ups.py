"""Requests that follow on others, such as the turns of a session: they come where those ran."""

from inferdash.compiled import inlined
from inferdash.serving.simulated.requests import Ints
from inferdash.serving.simulated.state import NONE, Book, State


@inlined
def follow(r: int, one: int, state: State) -> None:
    """A request has ended: those that waited for it alone come after their pause."""
    me, book, ahead, later = state.replicas.one[r], state.book, state.ahead, state.replicas.later[r]
    for place in range(ahead.one[one].first, ahead.one[one].last):
        other = ahead.after[place]
        ahead.one[other].waits -= 1
        if ahead.one[other].waits == 0:
            book.arrival_s[other] = me.now_s + ahead.one[other].pause_s
            book.replica[other] = r
            _add(later, me.later, other, book)
            me.later += 1
            me.queued += 1


@inlined
def coming(r: int, state: State) -> int:
    """Who comes next to replica `r`: the first that waits, or one that follows on others; none where nobody does."""
    me = state.replicas.one[r]
    if me.later and (me.head == NONE or _sooner(state.replicas.later[r, 0], me.head, state.book)):
        return int(state.replicas.later[r, 0])
    return int(me.head)


@inlined
def came(r: int, one: int, state: State) -> None:
    """The one that comes next is taken in."""
    me = state.replicas.one[r]
    if me.later and state.replicas.later[r, 0] == one:
        _take(state.replicas.later[r], me.later, state.book)
        me.later -= 1
    else:
        me.head = state.book.behind[one]


@inlined
def _sooner(one: int, other: int, book: Book) -> bool:
    """Whether a request comes before another; of two that come together, the one with the lower number."""
    first_s, second_s = book.arrival_s[one], book.arrival_s[other]
    return bool(first_s < second_s or (first_s == second_s and one < other))


@inlined
def _add(heap: Ints, length: int, one: int, book: Book) -> None:
    """Adds a request to a heap of so many."""
    place = length
    while place and _sooner(one, heap[(place - 1) // 2], book):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = one


@inlined
def _take(heap: Ints, length: int, book: Book) -> None:
    """Takes the first off a heap of so many."""
    one, place, child = heap[length - 1], 0, 1
    while child < length - 1:
        if child + 1 < length - 1 and _sooner(heap[child + 1], heap[child], book):
            child += 1
        if not _sooner(heap[child], one, book):
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = one
