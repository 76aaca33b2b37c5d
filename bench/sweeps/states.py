"""Random walks over pages, fields, Back and reset: scenario, widgets and address agree after each of 20 steps."""

import sys
from collections.abc import Iterator
from typing import Final

from bench.sweep import swept
from tests.states import Reader

STEPS: Final = 20


def main() -> int:
    """Runs the walks and returns the exit status."""
    return swept(f"walks of {STEPS} steps", 300, found)


def found(count: int, seed: int) -> Iterator[str]:
    """What did not agree, as it is found."""
    for number in range(seed, seed + count):
        yield ""
        yield from (f"seed {number}, {one}" for one in Reader(number).walk(STEPS))


if __name__ == "__main__":
    sys.exit(main())
