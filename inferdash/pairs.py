"""One scenario, or two side by side, as one link and back.

A stands in the link as a scenario alone does. B stands beside it as what differs from A, each parameter with a
prefix: `?model=qwen3-32b&b.batch=64&v=2`. Where nothing differs the link says `b=a`. Without the parameters of B it
is the link of A, to the letter. Reading never fails, as for one scenario.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from inferdash import links
from inferdash.links import Problem
from inferdash.scenario import BASE, FIELDS, Scenario
from inferdash.scenario.marks import clipped

PREFIX: Final = "b."
"""What a parameter of B begins with."""
_BOTH, _EQUAL = "b", "a"
"""The parameter, and its value, by which a link says that B is A as it stands."""


@dataclass(frozen=True)
class Pair:
    """What a link holds."""

    a: Scenario
    b: Scenario | None = None
    """What A is compared with; None where the link holds one scenario alone."""

    @property
    def edited(self) -> Scenario:
        """The one that a reader turns: B where there is one."""
        return self.b or self.a

    def swapped(self) -> "Pair":
        """The same with A for B; a scenario alone stays."""
        return Pair(self.b, self.a) if self.b else self


@dataclass(frozen=True)
class Decoded:
    """What a link says."""

    pair: Pair
    problems: tuple[Problem, ...]
    """Those of A, then those of B, which say so."""


def encode(pair: Pair) -> str:
    """The query of a pair, without "?"."""
    return links.query(parameters(pair))


def parameters(pair: Pair) -> dict[str, str]:
    """Parameters of the link of a pair: those of A, what differs in B, the version last, so that a cut is seen."""
    found = links.parameters(pair.a)
    if pair.b is None:
        return found
    a = links.decode(found.items()).scenario  # without what does not count in A, and so is not in the link
    version = found.pop(links.VERSION)
    return found | (_beside(a, pair.b) or {_BOTH: _EQUAL}) | {links.VERSION: version}


def _beside(a: Scenario, b: Scenario) -> dict[str, str]:
    return {f"{PREFIX}{name}": links.written(name, getattr(b, name)) for name in links.differing(b, a)}


def _may_be_unset(name: str) -> bool:
    return name in FIELDS and getattr(BASE, name) is None


def decode(query: str | Iterable[tuple[str, str]]) -> Decoded:
    """The scenarios of a link, and what could not be read of it.

    Args:
        query: a query with or without "?", a whole address, or the pairs of its names and values.
    """
    problems: list[Problem] = []
    found = links.parsed(query, problems, most=2 * links.MOST)
    alone = [pair for pair in found if not _of_b(pair[0])]
    if len(alone) == len(found):
        first = links.decode(found if problems or not isinstance(query, str) else query)
        return Decoded(Pair(first.scenario), (*problems, *first.problems))
    first = links.decode(alone) if alone else links.Decoded(links.BASELINE, (links.CUT,), None)
    second, told = _second(links.once([pair for pair in found if _of_b(pair[0])], problems), first.scenario)
    return Decoded(Pair(first.scenario, second), (*problems, *first.problems, *told))


def _of_b(name: str) -> bool:
    return name == _BOTH or name.startswith(PREFIX)


def _second(values: Mapping[str, str], a: Scenario) -> tuple[Scenario, list[Problem]]:
    """B over A, and what could not be read of it."""
    equal = values.get(_BOTH, _EQUAL)
    written = {name.removeprefix(PREFIX): value for name, value in values.items() if name != _BOTH}
    known = {name: None if value == "" and _may_be_unset(name) else value for name, value in written.items()}
    b, unread = links.apply(known, a)
    told = [Problem(f"{PREFIX}{one.field}", f"B: {one.sentence}") for one in unread]
    if equal != _EQUAL:
        sentence = (
            f"b={clipped(equal)} is left out; what differs in B is written as b.batch=64, and b=a says nothing does."
        )
        told.append(Problem(_BOTH, sentence))
    return b, told
