"""What `make bench` prints: ratios, each of two things measured in this one run on this one machine.

Times of a machine say little about the next one, so none is kept; a ratio that grows is a page or a formula that
got slower. Each line is printed when it is known, and what could not be measured says why.
"""

import argparse
from collections.abc import Iterator
from typing import Final

from bench import comparing, events, formulas, keys, load
from bench.disaggregation import disaggregation
from bench.fields import PRESSED
from bench.kv_tiers import kv_tiers
from bench.limits import measured
from bench.planning import planning
from bench.speculation import speculation

PARTS: Final = {
    "formulas": "formulas over bare functions, and over numpy by hand; many draws",
    "events": "replay and simulation",
    "planning": "the planner",
    "speculation": "speed-ups by speculation, expected over measured",
    "tiers": "gains by caches in host memory, expected over measured",
    "disaggregation": "prefill and decode apart, expected over measured",
    "keys": "a key press on each page over one on an empty page",
    "comparing": "a rerun with two scenarios, and with eight variants, over one",
    "load": "many readers at one server",
}
PRESSES: Final = 80


def main() -> None:
    """Measures and prints what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").partition("\n")[0])
    said = "; ".join(f"{name}: {what}" for name, what in PARTS.items())
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all unless named: {said}")
    parser.add_argument("--pages", default=",".join(PRESSED), help=f"with commas between them ({', '.join(PRESSED)})")
    parser.add_argument("--presses", type=int, default=PRESSES, help=f"key presses a page ({PRESSES})")
    given = parser.parse_args()
    unknown = [part for part in given.parts if part not in PARTS]
    unknown += [page for page in given.pages.split(",") if page not in PRESSED]
    if unknown:
        parser.error(f"neither a part nor a page: {', '.join(unknown)}")
    for line in lines(given.parts or list(PARTS), given.pages.split(","), given.presses):
        print(line, flush=True)


def lines(parts: list[str], pages: list[str], presses: int) -> Iterator[str]:
    """The lines of some parts."""
    chosen = [PRESSED[page] for page in pages]
    if "formulas" in parts:
        yield from measured(formulas.formula_calls)
        yield from measured(formulas.arrays)
        yield from measured(formulas.draws)
    if "events" in parts:
        yield from measured(events.traffic)
        yield from measured(events.simulation)
    if "planning" in parts:
        yield from measured(planning)
    if "speculation" in parts:
        yield from measured(speculation)
    if "tiers" in parts:
        yield from measured(kv_tiers)
    if "disaggregation" in parts:
        yield from measured(disaggregation)
    if "keys" in parts:
        yield from keys.keys(chosen, presses)
    if "comparing" in parts:
        yield from comparing.comparing(chosen, presses)
    if "load" in parts:
        yield from load.loads(chosen)


if __name__ == "__main__":
    main()
