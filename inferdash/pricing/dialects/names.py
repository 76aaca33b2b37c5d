"""Names in records, whatever their spelling: `Input Tokens`, `inputTokens` and `input.tokens` are one."""

import re
from collections.abc import Sequence
from typing import Final

LONGEST_NAME: Final = 64
"""Characters of a name beyond which nothing about it is kept."""
LONGEST_WAY: Final = 400
"""Letters of all names on the way to a value that says something."""
_MOST_KEPT: Final = 4096
_SIGNS: Final = re.compile(r"[^a-z0-9]+")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_normal: dict[str, str] = {}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


USAGES: Final = _words(
    "usage usages tokenusage tokensusage usageobject usageinfo usagemetadata usagedetails rawusage lasttokenusage "
    "tokens tokencount"
)
"""Levels that hold counts and little else."""
_AROUND: Final = USAGES | _words(
    "response responses message body result results data payload info metadata attributes spanattributes "
    "properties event raw rawresponse modelresponse input output outputs outputbodyjson kwargs additionalkwargs "
    "responsemetadata llmoutput generationinfo providermetadata anthropic openai google bedrock vertex record log "
    "entry completion span fields jsonpayload jsonbody metrics extra llm ai text mlflow chat "
    "amazonbedrockinvocationmetrics fullresponse paramsupdate"
)
AROUND: Final = re.compile(f"(?>{'|'.join(sorted(_AROUND, key=len, reverse=True))})*+")
"""Any number of these levels; it never goes back, so that no name takes long."""
USAGE_AT: Final = re.compile("|".join(sorted(USAGES, key=len, reverse=True)))
ASIDE: Final = _words(
    "request requestbody inputbodyjson params parameters optionalparams litellmparams modelparameters "
    "invocationparams config generationconfig inferenceconfig modelinfo settings options tools tool tooluse "
    "toolcall toolcalls tooluseresult toolinput headers requestheaders responseheaders ratelimit ratelimits "
    "limits pricing prices price costdetails costbreakdown timings context totaltokenusage totalusage "
    "cumulativeusage sessionusage turntokenusage threadtokenusage latesttokenusagerecord modelusage cost "
    "responseformat schema logprobs thinking reasoningconfig iterations"
)
"""Levels that hold settings, limits, prices or running totals, not what a request used."""
_NO_COUNT: Final = re.compile(
    r"max|min|limit|budget|persecond|pers$|window|price|cost|usd|latency|time|duration|ttft|ms$|seconds?$|rate|ratio"
    r"|percent|pct|share|saving|remaining|quota|throughput|speed|ttl|expire|threshold|id$|key$|hash|type$|index|version"
)
_COUNTED: Final = _words("cache cached token tokens hit hits read reads write writes written creation")


def normal(name: str) -> str:
    """A name without capitals and signs."""
    known = _normal.get(name)
    if known is None:
        known = _SIGNS.sub("", name.lower())
        if len(name) <= LONGEST_NAME:
            if len(_normal) >= _MOST_KEPT:
                _normal.clear()
            _normal[name] = known
    return known


_WRAPPING: Final = ("params", "update")
"""The first levels of a message that a protocol wraps, what it tells below them."""


def aside(path: Sequence[str]) -> frozenset[str]:
    """The levels on a way that hold settings, limits, prices or running totals."""
    wrapped = len(_WRAPPING) * ((*map(normal, path[: len(_WRAPPING)]),) == _WRAPPING)
    return ASIDE.intersection(normal(piece) for name in path[wrapped:-1] for piece in (name, *name.split(".")))


def counts_something(path: Sequence[str]) -> bool:
    """Whether the last names of a path say that a number of tokens, or something of a cache, stands there."""
    last = normal(path[-1])
    if _NO_COUNT.search(last) or aside(path):
        return False
    if "token" in last or "cache" in last:
        return True
    words = {word.lower() for name in path[-2:] for word in _WORD.findall(name)}
    return not words.isdisjoint(_COUNTED)


def in_usage(path: Sequence[str]) -> bool:
    """Whether a path leads through a level that holds counts and little else, and its last name may be one of them."""
    if aside((*path, "")) or USAGES.isdisjoint(map(normal, path[:-1])):
        return False
    last = normal(path[-1])
    return not _NO_COUNT.search(last)
