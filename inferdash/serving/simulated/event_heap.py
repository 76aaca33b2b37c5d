"""A heap of whole numbers in an array, the least first."""

from inferdash.compiled import inlined
from inferdash.serving.simulated.requests import Ints


@inlined
def push(heap: Ints, length: int, event: int) -> None:
    """Adds to a heap of so many."""
    heap[length] = event
    rise(heap, length)


@inlined
def rise(heap: Ints, place: int) -> None:
    """Moves an event of a heap up to where it belongs."""
    event = heap[place]
    while place and heap[(place - 1) // 2] > event:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = event


@inlined
def pop(heap: Ints, length: int) -> None:
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
