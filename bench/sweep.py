"""What all sweeps share: a count and a seed, findings printed as they come, and an exit status."""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator


def swept(what: str, count: int, findings: Callable[[int, int], Iterable[str]], *, most: int = 50) -> int:
    """Runs a sweep as a command with `--count` and `--seed`, and returns its exit status: 1 where anything was found.

    Args:
        what: what is swept, in a few words.
        count: how many, unless told.
        findings: count and seed in, a sentence for each finding out; an empty one says only that work goes on.
        most: of findings, after which it ends.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    given, _ = parser.parse_known_args()
    print(f"{what}: count {given.count}, seed {given.seed}", flush=True)
    begin, found = time.monotonic(), 0
    for sentence in _until(findings(given.count, given.seed), most):
        found += 1
        print(f"  {sentence}", flush=True)
    print(f"{what}: {found or 'nothing'} found in {time.monotonic() - begin:,.0f} s", flush=True)
    return int(found > 0)


def _until(findings: Iterable[str], most: int) -> Iterator[str]:
    found = 0
    for sentence in findings:
        if sentence:
            yield sentence
            found += 1
        if found >= most:
            return
