"""In which fields two scenarios differ, and how their values are said."""

from typing import Final

from inferdash import links, quantities
from inferdash.scenario import FIELDS, Choices, Scenario, Several, counts, mark
from inferdash.scenario.marks import clipped
from inferdash.validated import Quantity

_SOME: Final = 8
"""Fields that are named as differing; more are counted."""

_FEW: Final = 2
"""Fields that are named within a sentence."""
_SHORT: Final = 60
"""Characters that they take there."""
_ANSWERS: Final = frozenset({"model", "config", "weights", "kv", "api", "runs_on", "book"})
"""Fields by which other answers are given."""

_MAKE: Final = frozenset({"model", "config", "accelerator", "weights", "kv", "engine", "engine_version", "layout"})
"""Fields in which two scenarios were measured apart: an error in one says little of the other's."""


def differing(a: Scenario, b: Scenario) -> list[str]:
    """The fields in which two scenarios differ and that say something in one of them, in their order."""
    return [name for name in FIELDS if getattr(a, name) != getattr(b, name) and (counts(name, a) or counts(name, b))]


def told(a: Scenario, b: Scenario) -> str:
    """What differs, in one line of plain text."""
    names = differing(a, b)
    if not names:
        return "Nothing differs yet: what you change from here on is changed in B."
    shown = [f"{FIELDS[name].title}: {said(name, a)} → {said(name, b)}" for name in names[:_SOME]]
    more = [f"{len(names) - _SOME} more"] if len(names) > _SOME else []
    return "; ".join(shown + more)


def in_brackets(a: Scenario, b: Scenario) -> str:
    """What is other in B, where that is short: " (Engine: SGLang)"; else nothing."""
    named = [f"{FIELDS[name].title}: {said(name, b)}" for name in differing(a, b)]
    return f" ({'; '.join(named)})" if len(named) <= _FEW and sum(map(len, named)) <= _SHORT else ""


def beyond_numbers(a: Scenario, b: Scenario) -> str:
    """What no number says: that answers may differ in quality; empty where the same model answers in both."""
    other = [name for name in differing(a, b) if name in _ANSWERS]
    return "How good the answers are is not compared." if other else ""


def said(name: str, scenario: Scenario) -> str:
    """The value of a field as a reader knows it; a dash where it says nothing in this scenario."""
    value = getattr(scenario, name)
    if not counts(name, scenario) or value is None or value in ("", ()):
        return "–"
    choices, several, quantity = mark(name, Choices), mark(name, Several), mark(name, Quantity)
    if choices:
        return str(choices.names().get(value, value))
    if several:
        names = several.of.names()
        return clipped(", ".join(names.get(one, one) for one in value))
    if quantity:
        return str(quantities.shown(value, quantity.unit))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return quantities.typed(value) if isinstance(value, int | float) else clipped(value)


def of_other_make(a: Scenario, b: Scenario) -> bool:
    """Whether what is expected of the two may err apart; a longer prompt, say, has the error of the shorter one."""
    return any(name in _MAKE for name in differing(a, b))


def fields(a: Scenario, b: Scenario) -> dict[str, list[str]]:
    """The fields that differ, each with both values as in a link."""
    return {name: [links.written(name, getattr(one, name)) for one in (a, b)] for name in differing(a, b)}
