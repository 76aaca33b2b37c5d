"""Names that stand twice in one object of a JSON text: a reader keeps the last value, whatever the first one said."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from inferdash.pricing.dialects.shapes import Path


def marks(ways: Iterable[Path]) -> dict[str, int]:
    """The names on the ways to some values as they stand in a text, and how often they do where none is doubled."""
    places = {way[: end + 1] for way in ways for end in range(len(way))}
    return dict(Counter(json.dumps(place[-1], ensure_ascii=False) for place in places))


def doubled(text: str, expected: Mapping[str, int]) -> str:
    """A name that an object of a text says twice, with two values; "" where none does.

    Args:
        text: the JSON.
        expected: how often names stand in it; where all do, nothing else is looked at.
    """
    return "" if all(text.count(mark) == times for mark, times in expected.items()) else twice(text)


def twice(text: str) -> str:
    """A name that an object of a text of JSON says twice, with two values; "" where none does."""
    found: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        own: dict[str, Any] = {}
        for name, value in pairs:
            if name in own and own[name] != value:
                found.append(name)
            own[name] = value
        return own

    json.loads(text, object_pairs_hook=look)
    return found[0] if found else ""
