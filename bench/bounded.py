"""What every attack has in common: a limit of memory, seeded cases, the time and memory of each, the worst ten."""

import argparse
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

MEMORY: Final = 1_500_000_000
"""Bytes of address space that an attack may have, the program included."""
SLOW_S: Final = 2.0
"""Seconds of processor that one case may take."""
LARGE: Final = 200_000_000
"""Bytes that one case may add to the most that the process ever had."""
_WORST: Final = 10


@dataclass(frozen=True, kw_only=True)
class Took:
    """What one case took, and what was wrong with it."""

    case: str
    """The case, or how to make it again."""
    cpu_s: float
    more_bytes: int
    """By which the most memory that the process ever had grew."""
    wrong: str
    """Empty where nothing was."""


def took(case: str, check: Callable[[], str]) -> Took:
    """What a check takes; an exception is what is wrong, as is to be slow or large."""
    before, began_s = _peak(), time.process_time()
    try:
        wrong = check()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for
        wrong = f"{type(error).__name__}: {error}"[:200]
    cpu_s, more_bytes = time.process_time() - began_s, _peak() - before
    wrong = wrong or (f"{cpu_s:.1f} s" if cpu_s > SLOW_S else "")
    return Took(case=case, cpu_s=cpu_s, more_bytes=more_bytes, wrong=wrong or _large(more_bytes))


def attack(name: str, cases: Iterable[Took], *, seed: int) -> int:
    """Runs through cases, prints what was wrong and the worst ten; 1 where something was."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    count, cpu_s, wrong = 0, 0.0, 0
    worst: list[Took] = []
    for one in cases:
        count += 1
        cpu_s += one.cpu_s
        worst = nlargest(_WORST, (*worst, one), key=lambda took: took.cpu_s) if _among(one, worst) else worst
        if one.wrong:
            wrong += 1
            print(f"WRONG {one.wrong}: {one.case[:2000]}", flush=True)
    print(f"{name}: {count:,} cases of seed {seed}, {cpu_s:.0f} s of processor, {wrong:,} wrong; the slowest:")
    for one in worst:
        print(f"  {1e3 * one.cpu_s:8.1f} ms {one.more_bytes / 1e6:+8.1f} MB  {one.case[:160]}")
    return 1 if wrong else 0


def arguments(count: int, given: list[str] | None = None) -> argparse.Namespace:
    """The count and the seed of an attack from the command line."""
    parser = argparse.ArgumentParser(description="An attack with seeded cases; prints what was wrong.")
    parser.add_argument("--count", type=int, default=count, help=f"cases ({count:,})")
    parser.add_argument("--seed", type=int, default=20261130, help="the same seed gives the same cases")
    return parser.parse_args(given)


def _among(one: Took, worst: list[Took]) -> bool:
    return len(worst) < _WORST or one.cpu_s > worst[-1].cpu_s


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _large(more_bytes: int) -> str:
    return f"{more_bytes / 1e6:.0f} MB" if more_bytes > LARGE else ""
