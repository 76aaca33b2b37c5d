"""How soon a request was answered, as prices depend on it: at once, in a batch, when there is room, before others."""

from collections.abc import Iterable
from typing import Any, Final

from inferdash.facts.money.prices import SERVICES
from inferdash.pricing.dialects.names import normal
from inferdash.pricing.dialects.shapes import Path
from inferdash.pricing.logs.values import UnreadLineError

STANDARD: Final = "standard"
SERVED: Final = ("service", "speed", "batch")
"""Roles of what says by which service a request was answered."""
_NAMES: Final = {normal(name): name for name in SERVICES} | dict.fromkeys(("default", "ondemand"), STANDARD)
"""Normal form of what a maker writes -> a key of `SERVICES`."""
_UNSAID: Final = frozenset({"", "auto", "unspecified", "null", "none", "notavailable", "global"})
"""Normal forms of what leaves the service open."""
_STARTS: Final = ("servicetier", "traffictype", "ondemand")
"""With which a value begins that repeats its name, such as ON_DEMAND_FLEX."""
YES: Final = frozenset({"true", "True", "TRUE", "t", "T", "yes", "Yes", "YES", "y", "Y"})
"""Texts by which a name says yes, as databases and spreadsheets write it."""
BATCHED: Final = YES | {"batch"}
"""Texts by which a name says that it was a batch; a number may be the size of one."""
SAID_BESIDE: Final = ("fast", "batch")
"""What names such as `speed` and `usage_type` say of a service; all else that they say is of something else."""
SPELLED: Final = {
    STANDARD: frozenset({"standard", "default", "auto", "on_demand", "ON_DEMAND", "not_available", "global", ""}),
    "batch": frozenset({"batch"}),
    "flex": frozenset({"flex", "ON_DEMAND_FLEX"}),
    "priority": frozenset({"priority", "ON_DEMAND_PRIORITY"}),
    "fast": frozenset({"fast"}),
}
"""The same as makers write them, for those who compare texts alone."""
_LOTS: Final = (
    ("customid", ("response", "body")),
    ("customid", ("result", "message")),
    ("key", ("response", "usagemetadata")),
    ("processedtime", ("response", "usagemetadata")),
)
"""Name at the top of a line of a batch's results, and levels below which its counts are."""


OF_LOTS: Final = frozenset(name for name, _ in _LOTS)
"""Names at the top of such a line."""


def of_batch(ways: Iterable[Path], counts: Iterable[Path]) -> bool:
    """Whether records with values at these ways, and counts at those, are lines of a batch's results."""
    top = {normal(way[0]) for way in ways if len(way) == 1}
    below = {tuple(map(normal, way[:2])) for way in counts}
    return any(name in top and levels in below for name, levels in _LOTS)


def service_of(said: Iterable[Any], speeds: Iterable[Any], flags: Iterable[Any], *, batch: bool) -> str:
    """The service that a record tells of; the standard one where it tells of none.

    Args:
        said: values of names such as `service_tier`.
        speeds: values of names such as `speed` and `usage_type`, which may be of something else.
        flags: values of names that say whether it was a batch.
        batch: whether its form is that of a batch's results.

    Raises:
        UnreadLineError: where it is not known, or there are two.
    """
    found = {_named(value) for value in said if type(value) is str and normal(value) not in _UNSAID}
    more = {value for value in speeds if value in SAID_BESIDE}
    if batch or any(value is True or (type(value) is str and value in BATCHED) for value in flags):
        more.add("batch")
    found = found - {STANDARD} | more if more else found  # a batch is one whatever tier its answers name
    if len(found) > 1:
        raise UnreadLineError("service", " and ".join(sorted(found)))
    return found.pop() if found else STANDARD


def _named(value: str) -> str:
    plain = normal(value[:80])
    for start in _STARTS:
        if plain != start:
            plain = plain.removeprefix(start)
    if plain not in _NAMES:
        raise UnreadLineError("service", value[:80])
    return _NAMES[plain]
