"""Why lines of a file were left out, in sentences."""

from collections import Counter
from typing import Final

FORMS: Final = "docs/files.md lists the forms that are read."
_MOST: Final = 20
"""Reasons that are told with what each is about."""
_REASONS: Final = {
    "time": ("has no time", "have no time"),
    "bad time": ("has a time that is not understood", "have a time that is not understood"),
    "input": ("has no number of input tokens", "have no number of input tokens"),
    "output": ("has no number of output tokens", "have no number of output tokens"),
    "tokens": (
        "has a number of tokens that is not read, as 10000 would be",
        "have a number of tokens that is not read, as 10000 would be",
    ),
    "negative": ("has a number of tokens below 0", "have a number of tokens below 0"),
    "many": ("has more than 10^12 tokens", "have more than 10^12 tokens"),
    "sum": (
        "reads and stores more tokens in the cache than its prompt has",
        "read and store more tokens in the cache than their prompts have",
    ),
    "total": ("has counts that do not add up to its total", "have counts that do not add up to their totals"),
    "twice": ("says two different numbers for one count", "say two different numbers for one count"),
    "unknown": (
        "has a count that is not known; rename it, or leave it away where it is billed apart",
        "have a count that is not known; rename it, or leave it away where it is billed apart",
    ),
    "both": ("may be read in two ways that disagree", "may be read in two ways that disagree"),
    "lacks": ("lacks a count that belongs to it", "lack a count that belongs to them"),
    "priced": (
        "has tokens with a price of their own, as of sound, that is not asked for here",
        "have tokens with a price of their own, as of sound, that is not asked for here",
    ),
    "service": (
        "was answered by a service whose prices are not known",
        "were answered by a service whose prices are not known",
    ),
    "running": ("holds only a running total", "hold only a running total"),
    "ids": ("has block ids that are no numbers or words", "have block ids that are no numbers or words"),
    "blocks": (
        "names another number of blocks than its tokens make",
        "name another number of blocks than their tokens make",
    ),
    "open": (
        "is of a trace whose blocks or times are not understood",
        "are of a trace whose blocks or times are not understood",
    ),
    "json": ("is not valid JSON", "are not valid JSON"),
    "object": ("is not an object with names", "are not objects with names"),
    "columns": (
        "has another number of columns than the first line",
        "have another number of columns than the first line",
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

    def add(self, reason: str, about: str = "") -> None:
        """One more line."""
        told = len(self._counted) < _MOST or (reason, about) in self._counted
        self._counted[reason, about if told else ""] += 1

    def sentences(self, noun: str) -> list[str]:
        """A sentence for each reason."""
        said = []
        for (reason, about), lines in self._counted.items():
            one, several = _REASONS[reason]
            what = f"{lines:,} {noun} {one}" if lines == 1 else f"{lines:,} {noun}s {several}"
            said.append(f"{what}{f': {about}' if about else ''}.")
        if said and any(reason in _OF_FORM for reason, _ in self._counted):
            said[-1] = f"{said[-1]} {FORMS}"
        return said
