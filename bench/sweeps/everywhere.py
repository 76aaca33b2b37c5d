"""Random scenarios by every way to their numbers: page, report, HTTP, assistant and notebook show the same digits."""

import logging
import sys
from collections.abc import Iterator

from bench.sweep import swept
from tests.everywhere import Everywhere
from tests.scenarios import valid


def findings(count: int, seed: int) -> Iterator[str]:
    """What one way shows otherwise than the page; every other scenario has values that are usual."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    ways = Everywhere()
    for number in range(seed, seed + count):
        yield ""
        yield from (f"seed {number}: {one}" for one in ways.unlike(valid(number, usual=number % 2 == 0)))


def main() -> int:
    """Sweeps."""
    return swept("numbers on top of every page, by every way", 200, findings)


if __name__ == "__main__":
    sys.exit(main())
