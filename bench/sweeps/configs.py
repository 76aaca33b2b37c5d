"""config.json files of many families against an independent count: exact, refused, or wrong.

The files and counts stand in tests/facts/swept_configs.json, made with transformers 5.24.0 on the meta device: the
parameters of the model's class, and what a forward pass of it adds to its cache for one more token.

    python -m bench.sweeps.configs
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from inferdash.facts.models import huggingface
from inferdash.facts.models.huggingface import UnreadConfigError
from inferdash.physics.capacity import kv_cache
from inferdash.physics.capacity.parameters import parameters

SWEPT: Final = Path(__file__).parents[2] / "tests" / "facts" / "swept_configs.json"
_NUMBER_BYTES: Final = 2


@dataclass(frozen=True)
class Verdict:
    """What came of one file."""

    name: str
    verdict: str
    """ "exact", "refused" or "wrong"."""
    parameters: int | None
    cache: int | None
    """Bytes of the first token at 16 bits."""
    said: str = ""


def verdict(name: str, case: dict[str, Any]) -> Verdict:
    """One file, read and compared."""
    try:
        architecture = huggingface.read(case["config"]).architecture
    except UnreadConfigError as error:
        return Verdict(name, "refused", None, None, str(error))
    count = int(parameters(architecture).stored_total)
    cache = int(kv_cache.text_cache_bytes(architecture, tokens=1, bytes_per_number=_NUMBER_BYTES))
    numbers = case["cache_numbers"]
    right = count == case["parameters"] and numbers in (None, cache // _NUMBER_BYTES)
    expected = f"{case['parameters']:,} and {numbers}" if not right else ""
    return Verdict(name, "exact" if right else "wrong", count, cache, expected)


def main() -> int:
    """Prints a line a file and the sums; 1 where one is wrong."""
    cases: dict[str, Any] = json.loads(SWEPT.read_text(encoding="utf-8"))
    found = [verdict(name, case) for name, case in cases.items()]
    for one in found:
        count = f"{one.parameters:,}" if one.parameters else ""
        cache = f"{one.cache:,} B" if one.cache is not None else ""
        print(f"{one.name:56} {one.verdict:8} {count:>19} {cache:>14}  {one.said[:110]}")
    sums = Counter(one.verdict for one in found)
    compared = sum(case["cache_numbers"] is not None for case in cases.values())
    print(
        f"{len(found)} files: {dict(sums)}; the cache was compared for {compared}, where the class has one to compare."
    )
    return 1 if sums["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
