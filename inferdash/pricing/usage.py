"""What a log says about one request, in the words of its maker."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, TypeAlias

from inferdash.pricing.replay import Split

MOST_TOKENS: Final = 10**12
"""Above this a number of tokens is taken for a mistake."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 1e20
"""A number of a time beyond this is none, in whatever unit."""
_UNITS_PER_S: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Above the first, a bare number of a time since 1970 counts this many units a second: ns, µs, ms."""
_WORDS: Final = {
    "time": "time timestamp ts t date datetime created createdat starttime starttimestamp requesttime",
    "time_ms": "timems timestampms createdms",
    "input": "inputtokens prompttokens contexttokens inputlength tokensin intokens inputtokencount",
    "input_or_text": "input prompt in",
    "output": "outputtokens completiontokens generatedtokens outputlength tokensout outtokens outputtokencount",
    "output_or_text": "output completion out",
    "read": "cachedtokens cached cachedinputtokens inputcachedtokens cachedprompttokens cachereadtokens cacheread"
    " readtokens read prompttokenscached",
    "written": "cachewritetokens cachewrite cachecreationtokens writtentokens written write",
    "read_apart": "cachereadinputtokens",
    "written_apart": "cachecreationinputtokens",
    "written_5m": "ephemeral5minputtokens",
    "written_1h": "ephemeral1hinputtokens",
    "google_input": "prompttokencount",
    "google_tools": "tooluseprompttokencount",
    "google_read": "cachedcontenttokencount",
    "google_output": "candidatestokencount",
    "google_thoughts": "thoughtstokencount",
    "model": "model modelversion",
}
"""What a log may call each number, without capitals and signs.

Where input tokens leave out those of the cache (Anthropic), those stand apart. A prompt or an answer may be a text.
"""
_APART: Final = {"read_apart", "written_apart", "written_5m", "written_1h"}
_MEANINGS: Final = {word: meaning for meaning, words in _WORDS.items() for word in words.split()}
_USAGES: Final = ("usage", "usageMetadata", "usage_metadata")
AROUND: Final = ("response", "message", "body")
_WITHIN: Final = (
    "prompt_tokens_details", "input_tokens_details", "promptTokensDetails", "inputTokensDetails", "cache_creation",
)  # fmt: skip
_WHOLE: Final = re.compile(r"-?\d+(\.0)?", re.ASCII)
Record: TypeAlias = dict[str, Any]


class UnreadLineError(ValueError):
    """A line, or a record of usage, that is left out; its argument is a key of the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an API counted for one request, the same for all makers."""

    input_tokens: int
    """All tokens of the prompt: fresh, read from the cache, and stored in it."""
    output_tokens: int
    """All output tokens, hidden reasoning included."""
    recorded: Split | None
    """What was read and stored, where the log says it."""


def usage(record: Mapping[str, Any]) -> Usage:
    """What one record of a log counts: a usage object of Anthropic, OpenAI or Google, or plain numbers.

    It may stand in the record itself, below `usage` or `usageMetadata`, or in the `response`, `message` or `body`
    around that. Anthropic's input tokens leave out those read and stored; all others' include them. Reasoning is
    inside the output tokens, but for Google's thoughts, which are counted apart.

    Raises:
        UnreadLineError: where input or output tokens are missing, or more are read and stored than there are.
    """
    found: Mapping[str, Any] = record
    for one in (record, *(inner for name in AROUND if isinstance(inner := record.get(name), dict))):
        inner = next((one[name] for name in _USAGES if isinstance(one.get(name), dict)), None)
        if inner is not None:
            found = inner
            break
    numbers = meant_by(found)
    for name in _WITHIN:
        if isinstance(part := found.get(name), dict):
            numbers = meant_by(part) | numbers
    return usage_of(numbers)


def usage_of(numbers: Mapping[str, Any]) -> Usage:
    """Usage from numbers by their meaning."""

    def optional(meaning: str) -> int:
        value = numbers.get(meaning)
        return 0 if value is None else tokens(value, missing="tokens")

    def one_of(meaning: str) -> int:
        value = numbers.get(meaning)
        return tokens(numbers.get(f"{meaning}_or_text") if value is None else value, missing=meaning)

    if any(numbers.get(meaning) is not None for meaning in ("google_input", "google_output", "google_thoughts")):
        prompt = optional("google_input") + optional("google_tools")  # Google leaves out what is 0
        output = optional("google_output") + optional("google_thoughts")
        read, written = optional("google_read"), 0
    else:
        prompt, output = one_of("input"), one_of("output")
        if not numbers.keys().isdisjoint(_APART):
            read, hour = optional("read_apart"), optional("written_1h")
            whole = numbers.get("written_apart")
            written = optional("written_5m") + hour if whole is None else tokens(whole, missing="tokens")
            split = Split(read_tokens=read, written_tokens=written, written_long_tokens=min(hour, written))
            return Usage(input_tokens=prompt + read + written, output_tokens=output, recorded=split)
        if "read" not in numbers and "written" not in numbers:
            return Usage(input_tokens=prompt, output_tokens=output, recorded=None)
        read, written = optional("read"), optional("written")
    if read + written > prompt:
        raise UnreadLineError("sum")
    return Usage(input_tokens=prompt, output_tokens=output, recorded=Split(read_tokens=read, written_tokens=written))


def meant_by(record: Mapping[str, Any]) -> Record:
    """The values of a record whose names mean something, by that meaning."""
    numbers: Record = {}
    for name, value in record.items():
        if meaning := meaning_of(name):
            put(numbers, meaning, value)
    return numbers


def put(numbers: Record, meaning: str, value: Any) -> None:
    """Keeps the first value of a meaning; one that is nothing gives way."""
    if numbers.get(meaning) is None:
        numbers[meaning] = value


def is_number(value: Any) -> bool:
    """Whether it is a number that a time can be."""
    return type(value) in {int, float} and abs(value) <= _LATEST


def tokens(value: Any, *, missing: str, default: int | None = None) -> int:
    """A number of tokens: a whole number, or the text of one."""
    if value is None:
        if default is None:
            raise UnreadLineError(missing)
        return default
    if type(value) is not int:
        try:
            # In a text a point may part thousands: 100.0 is read, 10.000 is not.
            plain = type(value) is float or (type(value) is str and _WHOLE.fullmatch(value.strip()))
            number = float(value) if plain else math.nan
        except ValueError:
            number = math.nan
        if not number.is_integer():  # so it is neither a fraction nor infinite nor no number
            raise UnreadLineError("tokens")
        value = int(number)
    if value < 0:
        raise UnreadLineError("negative")
    if value > MOST_TOKENS:
        raise UnreadLineError("many")
    return int(value)


def number_time(value: Any) -> float:
    """A time that is a number, as it stands.

    Raises:
        UnreadLineError: where it is none.
    """
    if value is None:
        raise UnreadLineError("time")
    if not is_number(value):
        raise UnreadLineError("bad time")
    return float(value)


def time_of(numbers: Mapping[str, Any]) -> float | None:
    """Seconds of a time: a number since any moment (s, or ms, µs, ns since 1970), or ISO 8601, UTC if it has no zone.

    Raises:
        UnreadLineError: where there is one, and it is neither.
    """
    value, per_s = numbers.get("time"), 1.0
    if value is None or value == "":
        value, per_s = numbers.get("time_ms"), 1000.0
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            value = _moment_s(value.strip())
        except (ValueError, OverflowError):
            raise UnreadLineError("bad time") from None
    seconds = number_time(value) / per_s
    if abs(seconds) <= _UNITS_PER_S[-1][0]:
        return seconds
    return next(seconds / units for above, units in _UNITS_PER_S if abs(seconds) > above)


def _moment_s(text: str) -> float:
    if text[4:5] != "-":
        return float(text)
    moment = datetime.fromisoformat(text)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


@lru_cache(maxsize=4096)
def meaning_of(name: str) -> str:
    """What a name means, or nothing: `Input Tokens`, `inputTokens` and `usage.input_tokens` are one."""
    # In OpenTelemetry's names the input tokens include those of the cache.
    last = re.sub(r"\b(cache_(read|creation))\.input_tokens$", r"\1_tokens", name).rpartition(".")[2]
    return _MEANINGS.get(re.sub(r"[^a-z0-9]", "", last.lower()), "")
