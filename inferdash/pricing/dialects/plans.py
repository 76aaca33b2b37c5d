"""How records of one shape are read: where which counts stand, and what those that stand together may mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from inferdash.pricing.dialects.declared import known_names
from inferdash.pricing.dialects.doubled import marks
from inferdash.pricing.dialects.fees import FREE, MADE_OF, fee_of, without_sums
from inferdash.pricing.dialects.fitting import LACKS, Counted, Fit, Misfit, fits, nearest
from inferdash.pricing.dialects.names import (
    AROUND,
    LONGEST_WAY,
    USAGE_AT,
    aside,
    counts_something,
    in_usage,
    normal,
)
from inferdash.pricing.dialects.roles import KINDS, ROLES, SUMS, kind_of, role_of
from inferdash.pricing.dialects.services import SERVED, of_batch
from inferdash.pricing.dialects.shapes import Path, Seen, Shape, levels, paths
from inferdash.pricing.logs.values import Record, UnreadLineError

_SHORT: Final = 10
"""Letters up to which a name without "token" or "cache" is one only where counts are expected."""
_RUNNING: Final = "totaltokenusage"
BY_MODEL: Final = "modelusage"
"""The level at which the models of a sum stand, each with its own."""
_SHOWN: Final = 80
_WRONG: Final = ("priced", "total", "sum")
"""Reasons of dialects whose names fit, those first that say most."""


class Getter:
    """Takes values from a record, those of a level at once."""

    def __init__(self, ways: Sequence[Path]) -> None:
        levels: dict[Path, list[int]] = {}
        for place, way in enumerate(ways):
            levels.setdefault(way[:-1], []).append(place)
        self._levels = [
            (level, itemgetter(*(ways[place][-1] for place in places)), len(places) == 1)
            for level, places in levels.items()
        ]
        order = [place for places in levels.values() for place in places]
        self._order = [order.index(place) for place in range(len(ways))]
        self._is_ordered = self._order == sorted(self._order)

    def of(self, record: Record) -> list[Any]:
        """The values, in the order of their ways."""
        values: list[Any] = []
        for level, getter, single in self._levels:
            inner = record
            for name in level:
                inner = inner[name]
            if single:
                values.append(getter(inner))
            else:
                values += getter(inner)
        return values if self._is_ordered else [values[place] for place in self._order]


@dataclass(frozen=True)
class Place:
    """Counts that stand together, and what they may mean."""

    names: tuple[str, ...]
    ways: tuple[Path, ...]
    at: tuple[int, ...]
    """Places of the counts among all values."""
    is_all: bool
    """Whether these are all values, in their order."""
    again: tuple[tuple[int, int], ...]
    """Places of counts that stand there twice."""
    fits: tuple[Fit, ...]
    misfits: tuple[Misfit, ...]

    def meanings(self, values: Sequence[int], model: str) -> list[tuple[Counted, Fit]]:
        """What the values may mean, each meaning once, with a model of that name.

        Raises:
            UnreadLineError: where they mean nothing.
        """
        for first, second in self.again:
            if values[first] != values[second]:
                raise UnreadLineError("twice", shown(self.ways[self.at.index(first)]))
        own = values if self.is_all else [values[place] for place in self.at]
        said = [(fit.read(own), fit) for fit in self.fits if not fit.has_models or fit.dialect.speaks(model)]
        if len(said) == 1 and type(said[0][0]) is Counted:
            return said  # type: ignore[return-value]  # it is one
        found = [one for one in said if type(one[0]) is Counted]
        if not found:
            if said:
                raise UnreadLineError(min((str(wrong) for wrong, _ in said), key=_WRONG.index))
            raise UnreadLineError(*(self.misfits[0] if self.misfits else ("input", "")))
        return found  # type: ignore[return-value]  # what is left is no reason


@dataclass(frozen=True)
class Plan:
    """How counts are read."""

    places: tuple[Place, ...]
    failure: Misfit | None = None
    """Why they are not."""


@dataclass(slots=True)
class Layout:
    """Where what stands in records of one shape.

    Numbers are places among what stands there beside the counts.
    """

    counts: tuple[Path, ...]
    suspects: tuple[tuple[int, Path], ...]
    """What may be a count that is not known, and its way."""
    fees: tuple[tuple[int, str, str], ...]
    """What is counted in other things than tokens, and by which name."""
    running: tuple[Path, ...]
    roles: Mapping[str, tuple[int, ...]]
    sums: tuple[tuple[int, frozenset[str]], ...]
    kinds: tuple[tuple[Path, str], ...]
    others: tuple[Path, ...]
    getter: Getter
    others_getter: Getter
    certain: bool
    """Whether an id within the answer is that of the answer."""
    seen: tuple[Seen, ...]
    """All levels of such a record; none where one of them was a text or a list."""
    types: frozenset[type]
    """Types of the counts; none where that is not known."""
    model: str = ""
    """The only model of a list of what each used."""
    lists: tuple[Path, ...] = ()
    """Lists of what an answer is made of."""
    names: int = -1
    """Names at all levels; -1 where that is not known."""
    marks: Mapping[str, int] = field(default_factory=dict)
    """How often names on the way to counts stand in the text of such a record."""
    batch: bool = False
    """Whether such a record is a line of a batch's results."""
    plan: Plan | None = None

    @property
    def served(self) -> bool:
        """Whether something tells by which service it was answered."""
        return self.batch or any(self.roles[role] for role in SERVED)


def layout(shape: Shape) -> Layout:
    """Where what stands in records of a shape."""
    seen = [*levels(shape)]
    opened = any(one is None for one in seen)
    own = layout_of(sorted(paths(shape), key=len), () if opened else tuple(filter(None, seen)))
    own.lists = tuple(
        (*way, name)
        for way, names, types in filter(None, seen)
        for name, kind in zip(names, types, strict=True)
        if kind is list and name in MADE_OF
    )
    own.marks = marks(own.counts)
    if not opened and not any(list in one[2] for one in filter(None, seen)):
        own.names = sum(len(names) for _, names, _ in own.seen)
    return own


def layout_of(ways: Sequence[Path], seen: tuple[Seen, ...] = ()) -> Layout:
    """Where what stands in records that have values at these ways."""
    counts, suspects, running = [], [], []
    found: dict[str, list[Path]] = {role: [] for role in {*ROLES.values()}}
    sums, kinds = [], []
    fees: dict[Path, str] = {}
    for path in ways:
        role, kind = role_of(path), kind_of(path)
        if role:
            found[role].append(path)
        if kind in SUMS:
            sums.append((path, SUMS[kind]))
        if kind in KINDS:
            kinds.append((path, kind))
        if role:
            continue
        beside = aside(path)
        if _RUNNING in beside:
            running.append(path)
        elif not beside:
            if what := fee_of(path):
                fees[path] = what
            if placed(path) is not None:
                counts.append(path)
            elif not what and not kind and normal(path[-1]) not in FREE and (counts_something(path) or in_usage(path)):
                suspects.append(path)
    fees = without_sums(fees)
    billed = {path[place + 1] for path in ways for place, name in enumerate(path[:-2]) if normal(name) == BY_MODEL}
    others = [*dict.fromkeys((*suspects, *fees, *(path for path, _ in sums), *chain.from_iterable(found.values())))]
    return Layout(
        counts=tuple(counts),
        suspects=tuple((others.index(path), path) for path in suspects),
        fees=tuple((others.index(path), what, normal(path[-1])) for path, what in fees.items()),
        running=tuple(running),
        roles={role: tuple(map(others.index, own)) for role, own in found.items()},
        sums=tuple((others.index(path), values) for path, values in sums),
        kinds=tuple(kinds),
        others=tuple(others),
        getter=Getter(counts),
        others_getter=Getter(others),
        certain=any(len(path) > 1 for path in found["id"]),
        seen=seen,
        types=frozenset(_type(path, seen) for path in counts if seen),
        batch=of_batch(ways, counts),
        model=billed.pop() if len(billed) == 1 else "",
    )


def _type(path: Path, seen: Sequence[Seen]) -> type:
    return next(types[names.index(path[-1])] for way, names, types in seen if way == path[:-1])


def placed(path: Path) -> tuple[str, str] | None:
    """Where a count stands and its name; None for what is none that is known."""
    joined = "".join(map(normal, path))
    known = known_names()
    for start in range(len(joined) if len(joined) <= LONGEST_WAY else 0):
        name = joined[start:]
        if name in known and AROUND.fullmatch(joined[:start]):
            if len(name) <= _SHORT and "token" not in name and "cache" not in name:
                inside = USAGE_AT.search(joined[:start])
                if not inside and (start or name == "total"):
                    return None
            return joined[:start], name
    return None


def plan(counts: tuple[Path, ...]) -> Plan:
    """What counts may mean, by where they stand."""
    by_place: dict[str, dict[str, list[Path]]] = {}
    for path in counts:
        place, name = placed(path) or ("", "")
        by_place.setdefault(place, {}).setdefault(name, []).append(path)
    groups = [*by_place.values()]
    read = [_place(group, counts) for group in groups]
    whole = [place for place in read if place.fits]
    rest = [group for group, place in zip(groups, read, strict=True) if not place.fits]
    if not rest:
        return Plan(tuple(whole))
    apart = _place(_union(rest), counts) if whole and len(rest) > 1 else None
    if apart and apart.fits:
        return Plan((*whole, apart))
    # Counts that mean nothing alone say more about those of another place, or only together are a whole.
    most = max(whole, key=lambda place: len(place.names), default=None)
    first = [group for group, place in zip(groups, read, strict=True) if place is most]
    joined = _place(_union([*first, *rest]), counts)
    if not joined.fits:
        return Plan((), _why(joined, read))
    return Plan((joined, *(place for place in whole if place is not most)))


def agreed(found: Sequence[tuple[Counted, Fit]]) -> tuple[Counted, Fit]:
    """The meaning on which all agree: one may say nothing of the cache where another does.

    Raises:
        UnreadLineError: where two contradict each other.
    """
    first = next((one for one in found if one[0].recorded is not None), found[0])
    for counted, fit in found:
        same = counted[:2] == first[0][:2] and counted.recorded in {None, first[0].recorded}
        if not same:
            hint = first[1].dialect.hint or fit.dialect.hint
            names = f"{first[1].dialect.name} and {fit.dialect.name}"
            raise UnreadLineError("both", f"{names}{'; ' * bool(hint)}{hint}")
    return first


def shown(path: Path) -> str:
    """A way as it is shown."""
    return ".".join(path)[:_SHOWN]


def _why(joined: Place, read: Sequence[Place]) -> Misfit:
    misfits = [*joined.misfits, *(misfit for place in read for misfit in place.misfits)]
    for misfit in (*(one for one in misfits if one[0] == LACKS), *misfits):
        return misfit
    best, strange = nearest(joined.names)
    if strange and len(strange) < len(joined.names):
        where = joined.ways[joined.names.index(strange[0])]
        return "unknown", f"{shown(where)} (in {best.dialect.name})"
    return "input", ""


def _place(group: Mapping[str, Sequence[Path]], counts: Sequence[Path]) -> Place:
    names = tuple(group)
    found, misfits = fits(names)
    index = {path: place for place, path in enumerate(counts)}
    return Place(
        names=names,
        ways=tuple(ways[0] for ways in group.values()),
        at=tuple(index[ways[0]] for ways in group.values()),
        is_all=[index[ways[0]] for ways in group.values()] == list(range(len(counts))),
        again=tuple((index[ways[0]], index[other]) for ways in group.values() for other in ways[1:]),
        fits=found,
        misfits=misfits,
    )


def _union(groups: Sequence[Mapping[str, Sequence[Path]]]) -> dict[str, list[Path]]:
    union: dict[str, list[Path]] = {}
    for group in groups:
        for name, ways in group.items():
            union.setdefault(name, []).extend(ways)
    return union
