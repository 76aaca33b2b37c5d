"""Where a fact comes from and how sure it is."""

from datetime import date
from typing import Literal

from inferdash.validated import Validated


class Sourced(Validated):
    """A fact with its source."""

    name: str
    """As its maker writes it."""
    maker: str
    source: tuple[str, ...]
    """Where the figures were read."""
    checked: date
    """The day on which they were last compared with the source."""
    confidence: Literal["high", "medium", "low"] = "high"
    """How far the sources carry the figures."""
    corrected: tuple[str, ...] = ()
    """Figures that were wrong in earlier releases: a sentence each, with its day."""
    note: str = ""
    """What a reader should know: where sources disagree, what is only recalled."""
