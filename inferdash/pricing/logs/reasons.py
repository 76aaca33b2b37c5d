"""Why lines of a file were left out, in sentences."""

from collections import Counter
from typing import Final

FORMS: Final = "docs/files.md lists the forms that are read."
_MOST: Final = 20
"""Reasons that are told with what each is about."""
_REASONS: Final = {
    "time": ("has no time", "have no time"),
    "bad time": ("has a time that cannot be read", "have a time that cannot be read"),
    "input": ("has no count of input tokens", "have no count of input tokens"),
    "output": ("has no count of output tokens", "have no count of output tokens"),
    "tokens": (
        "has a token count that is not a whole number (write 10000)",
        "have a token count that is not a whole number (write 10000)",
    ),
    "negative": ("has a negative token count", "have a negative token count"),
    "many": ("has more than 10^12 tokens", "have more than 10^12 tokens"),
    "sum": (
        "has more cached tokens than tokens in its prompt",
        "have more cached tokens than tokens in their prompts",
    ),
    "total": ("has counts that do not add up to its total", "have counts that do not add up to their totals"),
    "twice": ("gives one count two different values", "give one count two different values"),
    "unknown": (
        "has an unknown count; rename it, or remove it if it is billed separately",
        "have an unknown count; rename it, or remove it if it is billed separately",
    ),
    "both": ("can be read in two ways that disagree", "can be read in two ways that disagree"),
    "lacks": ("is missing a count", "are missing a count"),
    "priced": (
        "has tokens with their own price (audio, for example), which is not known here",
        "have tokens with their own price (audio, for example), which is not known here",
    ),
    "service": (
        "was answered by a service with unknown prices",
        "were answered by a service with unknown prices",
    ),
    "gateway": (
        "was answered from a gateway’s own cache, so no API billed it; remove it",
        "were answered from a gateway’s own cache, so no API billed them; remove them",
    ),
    "running": ("has only a running total", "have only a running total"),
    "ids": ("has block ids that are neither numbers nor text", "have block ids that are neither numbers nor text"),
    "blocks": (
        "has a number of blocks that does not match its tokens",
        "have a number of blocks that does not match their tokens",
    ),
    "open": (
        "belongs to a trace whose blocks or times cannot be read",
        "belong to a trace whose blocks or times cannot be read",
    ),
    "json": ("is not valid JSON", "are not valid JSON"),
    "object": ("is not a JSON object", "are not JSON objects"),
    "columns": (
        "has a different number of columns from the first line",
        "have a different number of columns from the first line",
    ),
    "csv": ("is not valid CSV", "are not valid CSV"),
    "long": ("is longer than 16 MB", "are longer than 16 MB"),
}
"""Why a line was left out, said of one and of several."""
_OF_FORM: Final = frozenset({"input", "output", "unknown", "both", "lacks", "total", "twice", "running"})
"""Reasons after which it helps to see which forms are read."""


class Reasons:
    """Counts why lines were left out."""

    def __init__(self) -> None:
        self._counted: Counter[tuple[str, str]] = Counter()

    def add(self, reason: str, about: str = "", *, lines: int = 1) -> None:
        """So many more lines."""
        told = len(self._counted) < _MOST or (reason, about) in self._counted
        self._counted[reason, about if told else ""] += lines

    def sentences(self, noun: str) -> list[str]:
        """A sentence for each reason."""
        said = []
        for (reason, about), lines in self._counted.items():
            one, several = _REASONS[reason]
            what = f"{lines:,} {noun} {one}" if lines == 1 else f"{lines:,} {noun}s {several}"
            said.append(f"{what}{f': {about}' if about else ''}".rstrip(".") + ".")
        if said and any(reason in _OF_FORM for reason, _ in self._counted):
            said[-1] = f"{said[-1]} {FORMS}"
        return said
