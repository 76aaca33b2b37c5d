"""Results that are kept by scenario, as many as have room."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from inferdash.scenario import Scenario

T = TypeVar("T")


class Kept(Generic[T]):
    """A function of a scenario with its latest results: those that were asked for least recently give way.

    Unlike `lru_cache` it counts how much each takes, and so holds many small results in the room of a few large ones.
    """

    def __init__(self, function: Callable[[Scenario], T], size: Callable[[Scenario], int], *, most: int) -> None:
        """Keeps results of `function` whose sizes add up to `most`, or one."""
        self._function, self._size, self._most = function, size, most
        self._found: OrderedDict[Scenario, T] = OrderedDict()
        self._lock = Lock()

    def __call__(self, scenario: Scenario) -> T:
        """The result, as it was or anew."""
        with self._lock:
            if scenario in self._found:
                self._found.move_to_end(scenario)
                return self._found[scenario]
        found = self._function(scenario)
        with self._lock:
            self._found[scenario] = found
            while len(self._found) > 1 and sum(map(self._size, self._found)) > self._most:
                self._found.popitem(last=False)
        return found
