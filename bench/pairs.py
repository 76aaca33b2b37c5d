"""Two things timed in turn: their ratio does not depend on the machine, nor on its clock changing meanwhile."""

import statistics
import timeit
from collections.abc import Callable

Timed = Callable[[], object]


def ratio(one: Timed, other: Timed, *, number: int = 1, pairs: int = 15) -> float:
    """How many times as long the one takes as the other: the median over pairs that were timed together.

    Args:
        one: is called.
        other: is called right after it.
        number: calls of each in a pair.
        pairs: how many.
    """
    timed = [(timeit.timeit(one, number=number), timeit.timeit(other, number=number)) for _ in range(pairs)]
    return statistics.median(first / second for first, second in timed)
