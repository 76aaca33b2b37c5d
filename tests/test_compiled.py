"""Loops as machine code: the numbers that Python gives, also where nothing can be kept on disk."""

from collections.abc import Callable
from typing import Any

from inferdash.compiled import compiled, inlined


@inlined
def half(number: float) -> float:
    return number / 2


@compiled
def harmonic(count: int) -> float:
    whole = 0.0
    for one in range(1, count + 1):
        whole += half(2.0) / one
    return whole


def test_a_loop_gives_what_python_gives_to_the_last_digit() -> None:
    assert harmonic(1000) == sum(1 / one for one in range(1, 1001))


def test_what_cannot_be_kept_is_compiled_anyway() -> None:
    """A function without a file has no place beside its source, nor a name in the user's cache."""
    without_file: dict[str, Any] = {}
    exec("def double(number):\n    return number * 2", without_file)  # noqa: S102 - the way to have no file
    double: Callable[[int], int] = compiled(without_file["double"])
    assert double(21) == 42
