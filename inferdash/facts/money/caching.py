"""How an API caches prompts: what is stored, for how long, and what is uncertain about it."""

from datetime import date
from fnmatch import fnmatch

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from inferdash.validated import Validated


class Lifetime(Validated):
    """How long a stored start lives."""

    seconds: PositiveFloat
    renewed: bool
    """Whether a read starts it again."""
    long: bool = False
    """Whether storing for it has the price of the longer lifetime."""
    write: str | None = None
    """Price of a stored token as a multiple of the input's, where the list of prices does not have it."""


class Minimum(Validated):
    """The shortest start that is stored."""

    tokens: NonNegativeInt
    models: tuple[str, ...]
    """Patterns of the models for which it holds."""


class Storage(Validated):
    """What it costs to keep a start that the reader stores by name, for as long as he says."""

    usd_per_mtok_hour: NonNegativeFloat
    models: tuple[str, ...]
    since: date | None = None
    """The first day of this price; None where it always held."""


class CachingRules(Validated):
    """The rules of one provider, or of some of its models."""

    name: str
    provider: str
    only: tuple[str, ...] = ("*",)
    """Patterns of the models that follow them."""
    lifetimes: tuple[Lifetime, ...] = Field(min_length=1)
    increment: PositiveInt
    """Stored starts end at multiples of this many tokens."""
    minimums: tuple[Minimum, ...]
    breakpoints: PositiveInt | None = None
    """Places of a prompt that can be marked; None where it is all implicit."""
    storage: tuple[Storage, ...] = ()
    """Prices of keeping a start by name; a later one takes the place of an earlier one."""
    uncertain: tuple[str, ...] = ()
    """What the sources leave open or contradict."""
    source: tuple[str, ...]
    checked: date

    def minimum(self, model: str) -> int:
        """The shortest start, in tokens, that is stored for a model: the first that holds, else the largest."""
        held = [one.tokens for one in self.minimums if any(fnmatch(model, pattern) for pattern in one.models)]
        return held[0] if held else max(one.tokens for one in self.minimums)

    def storage_price(self, model: str, day: date) -> float | None:
        """Dollars for keeping a million tokens for an hour on a day; None where it is not sold, or not known."""
        held = [
            one.usd_per_mtok_hour
            for one in self.storage
            if any(fnmatch(model, pattern) for pattern in one.models) and (one.since is None or one.since <= day)
        ]
        return held[-1] if held else None
