"""What all sweeps share: a count and a seed, findings printed as they come, and an exit status.

`python -m bench.sweep` runs them all.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path


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


def main() -> int:
    """Runs every file of `bench/sweeps/`, whatever comes of the one before, and returns 1 where any found something."""
    known = sorted(path.stem for path in Path(__file__).with_name("sweeps").glob("[a-z]*.py"))
    parser = argparse.ArgumentParser(prog="python -m bench.sweep", description="Tries many generated cases.")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"all unless named: {', '.join(known)}")
    parser.add_argument("--count", help="cases of each topic (each has a number of its own)")
    parser.add_argument("--seed", help="of the first case (0)")
    given = parser.parse_args()
    unknown = set(given.topics) - set(known)
    if unknown:
        parser.error(f"no topic: {', '.join(sorted(unknown))}")
    options = [f"--{name}={value}" for name in ("count", "seed") if (value := getattr(given, name))]
    statuses = {topic: _ran(topic, options) for topic in given.topics or known}
    bad = [topic for topic, status in statuses.items() if status]
    print(f"Found something, or failed: {', '.join(bad)}." if bad else "Nothing was found.", flush=True)
    return int(bool(bad))


def _ran(topic: str, options: list[str]) -> int:
    print(f"\n# {topic}", flush=True)
    code = f"import sys; from bench.sweeps.{topic} import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *options], cwd=Path(__file__).parent.parent, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
