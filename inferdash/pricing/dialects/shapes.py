"""The shape of a record: its names at all levels, so that how one is read is found once for all like it."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from inferdash.pricing.dialects.names import LONGEST_NAME, normal
from inferdash.pricing.logs.values import Record

Path: TypeAlias = tuple[str, ...]
Shape: TypeAlias = Any
"""A level, or a tuple of one and of what its inner names hold: a shape, True for a value, None for nothing."""
TEXTS: Final = frozenset(("input", "prompt", "in", "output", "completion", "out", "Input", "Prompt", "Output"))
"""Names under which a prompt or an answer may stand, or how many tokens it has."""
_MOST_NAMES: Final = 400
_MOST_LEVELS: Final = 2048
DEEPEST: Final = 12
"""Levels below each other that are looked at."""
_NUMBER: Final = re.compile(r"\s*[-+.]?\d")
_AS_TEXT: Final = frozenset(
    (
        "usage",
        "usageobject",
        "metadata",
        "response",
        "responsebody",
        "attributes",
        "body",
        "usagedetails",
        "tokens",
        "text",
        "fullresponse",
    )
)
"""Levels that a table may hold as a JSON text in one cell."""
LABELS: Final = ("ttl", "modality", "key")
"""What names the members of a list of counts."""
FLAGS: Final = frozenset(("batch", "isbatch"))
_HITS: Final = frozenset(("cached", "cachehit", "iscachehit"))
"""Names that may say that a gateway answered from a cache of its own."""
_KEPT_FLAGS: Final = FLAGS | _HITS
"""Names whose truth says something."""
_LABELLED: Final = frozenset(LABELS)
_PLAIN: Final = frozenset((int, float, str))


class Level:
    """The names of one level that hold something, and those whose values must be looked at."""

    __slots__ = ("inner", "kept", "names", "types", "values")

    def __init__(self, names: tuple[str, ...], types: tuple[type, ...]) -> None:
        self.names, self.types = [*names], [*types]
        self.values: list[str] = []
        inner: list[str] = []
        for name, kind in zip(names, types, strict=True):
            text_or_count = name in TEXTS and (kind in {str, list, bool})
            if kind is dict or kind is list or text_or_count or (kind is str and is_text_level(name)):
                inner.append(name)
            elif kind in _PLAIN or (kind is bool and normal(name) in _KEPT_FLAGS):
                self.values.append(name)
        self.inner = tuple(inner)
        self.kept = len(names) <= _MOST_NAMES and all(len(name) <= LONGEST_NAME for name in names)


class Shapes:
    """Finds the shapes of records, and keeps those of their levels."""

    def __init__(self) -> None:
        self._levels: dict[tuple[tuple[str, ...], tuple[type, ...]], Level] = {}
        self.kept = True
        """Whether the last record's shape may be kept: none of its names is long, and there are not too many."""

    def of(self, record: Record) -> Shape:
        """The names of a record and of all levels below it.

        Levels that stand there as a text, and lists whose members are named counts, are opened in the record itself.
        """
        self.kept = True
        return self._of(record, 0)

    def _of(self, record: Record, depth: int) -> Shape:
        key = tuple(record), tuple(map(type, record.values()))
        level = self._levels.get(key)
        if level is None:
            level = Level(*key)
            if not level.kept:
                self.kept = False
            else:
                if len(self._levels) >= _MOST_LEVELS:
                    self._levels.clear()
                self._levels[key] = level
        if not level.inner:
            return level
        shape: list[Shape] = [level]
        for name in level.inner:
            value = record[name]
            if type(value) is not dict:
                value = _opened(name, value)
                if type(value) is not dict:
                    shape.append(value)
                    continue
                record[name] = value
            shape.append(self._of(value, depth + 1) if depth < DEEPEST else None)
        return tuple(shape)


def _opened(name: str, value: Any) -> Any:
    """The level that a text or a list is; True for a value, None for what says nothing."""
    kind = type(value)
    if kind is str:
        if value[:1] == "{" and is_text_level(name):
            return _read(value)
        return True if name not in TEXTS or _NUMBER.match(value) else None
    if kind is list:
        if value and type(value[0]) is dict and not _LABELLED.isdisjoint(value[0]) and (found := _labelled(value)):
            return found
        return True if name in TEXTS and not (value and type(value[0]) in {dict, str, list}) else None
    return True if name in TEXTS else None


def is_hit(path: Path) -> bool:
    """Whether a yes at the end of a path says that a gateway answered from a cache of its own."""
    return normal(path[-1]) in _HITS


def is_text_level(name: str) -> bool:
    """Whether a table may hold a whole level below this name, as a text."""
    return normal(name) in _AS_TEXT


Seen: TypeAlias = tuple[Path, list[str], list[type]]
"""The way to a level, its names, and the types of its values."""


def levels(shape: Shape, above: Path = ()) -> Iterator[Seen | None]:
    """The levels of a shape, outer ones first; None for one that was a text or a list before."""
    level, inner = (shape[0], shape[1:]) if type(shape) is tuple else (shape, ())
    yield above, level.names, level.types
    for name, one in zip(level.inner, inner, strict=True):
        if one is True or one is None or level.types[level.names.index(name)] is not dict:
            yield None
        else:
            yield from levels(one, (*above, name))


def is_like(record: Record, seen: Sequence[Seen]) -> bool:
    """Whether a record has these levels, so that its shape is the one that they are of."""
    for way, names, types in seen:
        inner = record
        for name in way:
            inner = inner[name]
        if [*inner] != names or [*map(type, inner.values())] != types:
            return False
    return True


def paths(shape: Shape, above: Path = ()) -> Iterator[Path]:
    """The way to each value, from the outermost name on."""
    level, inner = (shape[0], shape[1:]) if type(shape) is tuple else (shape, ())
    for name in level.values:
        yield (*above, name)
    for name, one in zip(level.inner, inner, strict=True):
        if one is True:
            yield (*above, name)
        elif one is not None:
            yield from paths(one, (*above, name))


def _read(text: str) -> Record | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if type(found) is dict else None


def _labelled(members: list[Any]) -> Record | None:
    """A list of counts by the label of each: [{"ttl": "1h", "inputTokens": 5}] is {"1h": {"inputTokens": 5}}."""
    label = next((name for name in LABELS if name in members[0]), None)
    if label is None:
        return None
    found: Record = {}
    for member in members:
        name = member.get(label) if type(member) is dict else None
        if type(name) is not str:
            return None
        rest: Any = {key: value for key, value in member.items() if key != label}
        if label == "key":
            rest = rest.get("value")
            rest = next(iter(rest.values()), None) if type(rest) is dict else rest
        found[f"{name} {len(found)}" if name in found else name] = rest
    return found
