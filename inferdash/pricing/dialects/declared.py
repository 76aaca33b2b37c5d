"""A dialect: what one maker calls its counts, and which of them are parts of which."""

import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Final

from pydantic import Field, field_validator, model_validator

from inferdash import shipped
from inferdash.pricing.dialects.names import normal
from inferdash.validated import Validated

INPUT: Final = ("fresh", "read", "written", "hour", "undated", "tools")
"""Parts of a prompt: neither read nor stored, read, stored for the usual time, stored for an hour, stored for a time
that is not told, and what tools put in (billed as fresh)."""
OUTPUT: Final = ("answer", "thought")
"""Parts of an answer, both billed as output."""
PARTS: Final = (*INPUT, *OUTPUT)
STORED: Final = ("written", "hour", "undated")
_SHORT: Final[Mapping[str, tuple[str, ...]]] = {"input": INPUT, "output": OUTPUT, "stored": STORED}


class Dialect(Validated):
    """What one maker calls its counts.

    Names are written with points between levels; how a file spells them, with capitals, lines, points or levels, plays
    no part.
    """

    name: str
    """The maker and its product."""
    counts: dict[str, tuple[str, ...]]
    """Name of a count -> the parts that it holds: "input" and "output" stand for all of theirs, "stored" for what is
    stored for whatever time."""
    bare: tuple[str, ...] = ()
    """Names that say nothing of the cache: with these alone, it is not told what was read or stored."""
    needs: tuple[str, ...] = ()
    """Names without all of which a record is not of this dialect."""
    some: tuple[str, ...] = ()
    """Names, or starts of names, of which a record of this dialect has at least one."""
    together: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Start of a name -> the names that its maker never writes it without."""
    silent: tuple[str, ...] = ()
    """Parts that are 0 where no count tells them, as the maker leaves them out then."""
    within: tuple[str, ...] = ()
    """Names that say more about a count that is there already, at no price of their own."""
    priced: tuple[str, ...] = ()
    """Names of tokens with a price of their own, which is asked nowhere here: only 0 is read."""
    models: tuple[str, ...] = ()
    """Parts of a model's name with which alone this dialect is spoken; "" is no name, "!x" is one without x."""
    sums: bool = False
    """Whether a record sums up requests, of a number that it may not say."""
    hint: str = ""
    """What to rename where another dialect fits as well and says something else."""
    source: str
    """Package and version, or address, in which the maker says so."""
    checked: date | None = None
    """The day on which the source was read; None where the names are those that users of it have shown."""

    @field_validator("counts", mode="before")
    @classmethod
    def _parts(cls, given: dict[str, str]) -> dict[str, tuple[str, ...]]:
        return {
            name: tuple(part for word in words.split() for part in _SHORT.get(word, (word,)))
            for name, words in given.items()
        }

    @model_validator(mode="after")
    def _consistent(self) -> "Dialect":
        unknown = {part for parts in (*self.counts.values(), self.silent) for part in parts} - {*PARTS}
        if unknown:
            raise ValueError(f"{self.name}: {', '.join(sorted(unknown))} are no parts.")
        strange = {*self.bare, *self.needs} - {*self.counts, *self.within, *self.priced}
        if strange:
            raise ValueError(f"{self.name}: {', '.join(sorted(strange))} are no names of it.")
        return self

    @property
    def told(self) -> frozenset[str]:
        """Parts that some name of it tells apart from the others."""
        apart = {part for parts in self.counts.values() for part in parts if not {*INPUT} <= {*parts}}
        return frozenset({"fresh", "answer", *apart})

    @property
    def counts_cache_in_input(self) -> bool | None:
        """Whether its count of the input includes what was read from a cache; None where it has both or neither."""
        prompts = [{*parts} for parts in self.counts.values() if "fresh" in parts and "answer" not in parts]
        found = (
            {"read" in parts for parts in prompts} if any(parts == ("read",) for parts in self.counts.values()) else ()
        )
        return next(iter(found)) if len(found) == 1 else None

    def speaks(self, model: str) -> bool:
        """Whether it is spoken with a model of that name."""
        if not self.models:
            return True
        name = model.lower()
        return any(
            (not name) if not part else (name != "" and part[1:] not in name) if part[0] == "!" else part in name
            for part in self.models
        )


@cache
def dialects() -> tuple[Dialect, ...]:
    """All that are declared, in the order of their files."""
    folder = shipped("presets") / "usage"
    return tuple(
        Dialect.model_validate(entry)
        for path in sorted(folder.iterdir(), key=lambda path: path.name)
        if path.name.endswith(".toml")
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["dialects"]
    )


@cache
def known_names() -> frozenset[str]:
    """Normal forms of all names of counts."""
    return frozenset(normal(name) for one in dialects() for name in (*one.counts, *one.within, *one.priced))


@cache
def bare_names() -> frozenset[str]:
    """Normal forms of the names of whole prompts, answers and totals."""
    whole = ({*INPUT}, {*OUTPUT}, {*INPUT, *OUTPUT})
    return frozenset(
        normal(name)
        for one in dialects()
        for name, parts in one.counts.items()
        if name in one.bare or name in one.needs or {*parts} in whole
    )


@cache
def loose_names() -> frozenset[str]:
    """Normal forms of the names whose values decide on nothing, whatever they are."""
    counted = {normal(name) for one in dialects() for name in (*one.counts, *one.priced)}
    return frozenset(normal(name) for one in dialects() for name in one.within) - counted
