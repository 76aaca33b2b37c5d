"""What makers count in other things than tokens, and bill apart: searches, runs of code, sources."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from inferdash.pricing.dialects.names import aside, normal

_NAMES: Final[Mapping[str, str]] = {
    "web searches": "websearchrequests websearchcalls servertoolwebsearch serversidetoolwebsearch websearches",
    "fetches of pages": "webfetchrequests webfetchcalls",
    "searches for tools": "toolsearchrequests",
    "runs of code": "codeexecutionrequests codeexecutioncalls codeinterpretercalls serversidetoolcodeexecution",
    "file searches": "filesearchrequests filesearchcalls collectionssearchcalls documentsearchcalls",
    "searches of X": "xsearchcalls serversidetoolxsearch",
    "MCP calls": "mcpcalls serversidetoolmcp",
    "sources of live searches": "numsourcesused",
    "search queries": "numsearchqueries querycount",
    "search units": "searchunits",
    "classifications": "classifications",
    "images": "imagecount",
    "seconds of sound": "promptaudioseconds",
}
_FEES: Final = {name: what for what, names in _NAMES.items() for name in names.split()}
"""Normal form of a name -> what it counts."""
_SUMS: Final = frozenset({"numserversidetoolsused"})
"""Names of sums of others."""
FREE: Final = frozenset({"numsearchresults", "numresults", "searchcontextsize"})
"""Names of what has no price."""
MADE_OF: Final = frozenset({"output", "candidates", "iterations"})
"""Names of lists of what an answer, or its usage, is made of, calls of tools among it."""
_CALLS: Final = {
    "web_search_call": "web searches",
    "file_search_call": "file searches",
    "code_interpreter_call": "runs of code",
    "image_generation_call": "images",
    "compaction": "compactions of the prompt",  # whose tokens Anthropic leaves out of the counts above the list
    "advisor_message": "answers of an advisor",
}
"""Type of a member of such a list -> what it counts as."""
_GROUNDED: Final = "answers grounded in searches"
_GROUNDING: Final = "groundingMetadata"
SPOKEN_OF: Final = (*_CALLS, _GROUNDING)
"""Words without which such a list holds nothing that is billed apart."""
_LEVELS: Final = frozenset({"servertooluse", "servertoolusage", "serversidetoolusage", "serversidetoolusagedetails"})
"""Levels that hold nothing but counts of calls of tools."""


def fee_of(path: Sequence[str]) -> str:
    """What is counted at the end of a path and billed apart, in the plural; "" where nothing is."""
    last, above = normal(path[-1]), {*map(normal, path[:-1])}
    if aside(path) or "token" in last or "cache" in last:
        return ""
    if last in _FEES:
        return _FEES[last]
    return f"{path[-1][:40]}" if not _LEVELS.isdisjoint(above) or last in _SUMS else ""


def without_sums(fees: Mapping[tuple[str, ...], str]) -> dict[tuple[str, ...], str]:
    """Fees by their paths without those that add up others."""
    own = {path: what for path, what in fees.items() if normal(path[-1]) not in _SUMS}
    return own or dict(fees)


def calls_in(members: Sequence[Any]) -> Counter[str]:
    """What the members of such a list count, where any of them is billed apart."""
    found: Counter[str] = Counter()
    for member in members:
        if type(member) is dict:
            kind, grounding = member.get("type"), member.get(_GROUNDING)
            if type(kind) is str and kind in _CALLS:
                found[_CALLS[kind]] += 1
            if type(grounding) is dict and grounding.get("webSearchQueries"):
                found[_GROUNDED] += 1
    return found
