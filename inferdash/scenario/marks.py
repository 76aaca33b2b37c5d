"""Marks on the fields of a scenario, and what a reader may write into them."""

import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function, no_info_before_validator_function

from inferdash import quantities
from inferdash.validated import Quantity

OWN: Final = "own"
"""Id of the reader's own model or accelerator, whose figures are fields of the scenario."""
SHARE: Final = "share"
"""Id of a draft model that is a share of the large one."""

AUTO: Final = "auto"
"""Id of a layout and of a view of the memory: the ideal for limits, an engine’s for what is expected."""
CONFIG: Final = "config"
"""Id of a model that the reader's config.json describes; its fields are a field of the scenario."""

TOKENS: Final = 10_000_000
"""The most tokens that a field takes."""
_LONGEST_LIST: Final = 1000
_JOINER: Final = "\N{ZERO WIDTH JOINER}"
"""Makes one sign of several, such as a family."""
_LONGEST_ANSWER: Final = 100_000
_LARGEST_NUMBER: Final = 1e12
"""Of a list that the reader enters."""


Group: TypeAlias = Literal["model", "accelerator", "workload", "page"]


@dataclass(frozen=True)
class Choices:
    """Marks a field that takes one of a number of ids; `names` gives id -> name."""

    what: str
    names: Callable[[], Mapping[str, str]]
    quick: frozenset[str] = frozenset()
    """Ids that are known without asking for all names, which may take long."""
    also: Callable[[str], bool] = lambda _: False
    """Whether an id is known that nobody else may be shown."""
    missing: str = ""
    """What to say of an id that is not known, where it may be known elsewhere."""

    def is_known(self, value: str) -> bool:
        """Whether a value is one of the ids."""
        return value in self.quick or self.also(value) or value in self.names()

    def known(self, value: str) -> str:
        """`value`, if it is one of the ids.

        Raises:
            PydanticCustomError: names what it should have been.
        """
        if not self.is_known(value):
            if self.missing:
                raise PydanticCustomError("plain", "{why}", {"why": self.missing})
            raise PydanticCustomError("choice", "is not a known {what}", {"what": self.what})
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self.known, handler(source))


@dataclass(frozen=True)
class Several:
    """Marks a field that takes some of a number of ids, in a link with commas between them."""

    of: Choices
    most: int

    def known(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """`values`, each once, if all are ids.

        Raises:
            PydanticCustomError: names the first that is none, or says that they are too many.
        """
        values = tuple(dict.fromkeys(values))
        if len(values) > self.most:
            raise PydanticCustomError("plain", "holds more than {most}", {"most": self.most})
        unknown = next((value for value in values if not self.of.is_known(value)), None)
        if unknown is not None:
            context = {"what": self.of.what, "one": unknown[:40] if unknown.isprintable() else "something"}
            raise PydanticCustomError("plain", "holds {one}, which is not a known {what}", context)
        return values

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(_parts, no_info_after_validator_function(self.known, handler(source)))


def _parts(value: Any) -> Any:
    """The parts of a text with commas; another value as it is."""
    return tuple(part for part in value.split(",") if part) if isinstance(value, str) else value


def names_of(facts: Mapping[str, Any]) -> dict[str, str]:
    """Id -> name of some facts."""
    return {key: fact.name for key, fact in facts.items()}


def plain_text(value: str) -> str:
    """One line of text: any white space is a space, and marks that only steer the line's layout are left out.

    Raises:
        PydanticCustomError: where it holds characters that cannot be shown.
    """
    if any(unicodedata.category(c) in {"Cc", "Cs"} for c in value):
        raise PydanticCustomError("plain", "holds characters that cannot be shown")
    line = "".join(" " if c.isspace() else c for c in value if c.isprintable() or c.isspace() or c == _JOINER)
    return " ".join(line.split())


def clipped(value: Any) -> str:
    """At most 40 characters that can be shown, of what may be anything."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value)[:41])
    return text if len(text) <= 40 else f"{text[:39]}…"  # noqa: PLR2004 - the length that the docstring states


def as_text(value: Any, quantity: Quantity | None) -> str:
    """A field's value as it stands in a link or a text field, as a quantity where it is one; an unset one is empty."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(value)
        case int() | float() if quantity:
            return quantities.written(value, quantity.unit)
        case float():
            return str(value).removesuffix(".0")
    return str(value)


def numbers_in(text: str) -> list[float]:
    """The numbers of a list such as "500, 63x50": 500 once and 50 sixty-three times.

    Raises:
        ValueError: where a part is no number, a count is below 1, or the list is too long.
    """
    found: list[float] = []
    for part in text.replace(";", ",").split(","):
        count, times, number = part.strip().rpartition("x")
        repeats, value = int(count) if times else 1, float(number)
        if not (0 < repeats <= _LONGEST_LIST - len(found) and math.isfinite(value)):
            raise ValueError(text)
        found += [value] * repeats
    return found


def numbers(value: str) -> str:
    """A list of numbers as it was written.

    Raises:
        PydanticCustomError: where it is none, or one of them is too large or too near to 0 to be shown.
    """
    try:
        found = numbers_in(value)
    except ValueError:
        what = "is not a list of at most {most} numbers with commas between them"
        raise PydanticCustomError("plain", what, {"most": f"{_LONGEST_LIST:,}"}) from None
    if not all(number == 0 or 1 / _LARGEST_NUMBER <= abs(number) <= _LARGEST_NUMBER for number in found):
        raise PydanticCustomError("plain", "holds a number beyond a trillion, or one nearer to 0 than its inverse")
    return value


def whole_numbers(value: str) -> str:
    """A list of counts as it was written.

    Raises:
        PydanticCustomError: where it is none.
    """
    if not all(number == int(number) and 1 <= number <= _LONGEST_ANSWER for number in numbers_in(numbers(value))):
        raise PydanticCustomError("plain", "is not a list of whole numbers from 1 to 100,000")
    return value


@dataclass(frozen=True)
class Place:
    """Where a field stands on the page, and when it counts at all."""

    group: Group
    counts_if: Callable[[Any], bool] = lambda _: True
    """Whether the field says anything in a scenario; where it does not, links leave it out."""
    step: float = 0.01
    """By which a number that is not whole goes up and down."""
