"""Links of two scenarios and their short forms, round and round.

python -m bench.sweeps.pairs_of_links --count 10000
"""

import base64
import sys
import zlib
from collections.abc import Iterator
from random import Random

from bench.sweep import swept
from bench.sweeps import links as sweep_links
from inferdash import links, pairs
from inferdash.pairs import Pair
from tests.scenarios import valid


def findings(count: int, seed: int) -> Iterator[str]:
    """A sentence for each link that is not read back, and for each hostile one that is not answered in sentences."""
    random = Random(seed)  # noqa: S311 - the same seed gives the same cases
    for place in range(count):
        pair = Pair(valid(seed + place), valid(seed + place + 1) if place % 2 else None)
        link = pairs.encode(pair)
        for form in (link, links.packed(link)):
            decoded = pairs.decode(form)
            if decoded.problems or pairs.encode(decoded.pair) != link:
                yield f"{form[:200]} is not read back: {[one.sentence for one in decoded.problems][:2]}"
        yield _hostile(random)


def _hostile(random: Random) -> str:
    text = sweep_links.query(random).partition("?")[2]
    prefixed = text.replace("&", "&b.") if random.random() < 0.5 else text
    packed = base64.urlsafe_b64encode(zlib.compress(prefixed.encode(errors="replace"))).decode()
    cut = packed[: random.randrange(len(packed) + 1)] if random.random() < 0.3 else packed
    for one in (prefixed, f"z={cut}&v=2"):
        decoded = pairs.decode(one)
        link = pairs.encode(decoded.pair)
        again = pairs.decode(link)
        if again.problems or pairs.encode(again.pair) != link:
            return f"the link of {one[:200]!r} is not read back"
        wrong = [p.sentence for p in decoded.problems if not p.sentence.isprintable() or p.sentence[-1] not in ".?"]
        if wrong:
            return f"{one[:200]!r} says {wrong[0]!r}"
    return ""


def main() -> int:
    """Runs the sweep; 1 where something was found."""
    return swept("Links of two and short forms", 10_000, findings)


if __name__ == "__main__":
    sys.exit(main())
