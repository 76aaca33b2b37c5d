"""Everything a person can turn, in one frozen model.

A field is declared once: its name is the link's parameter and the widget's key, its title is the label, the string
below it is the help, its bounds hold for the link and the widget alike. `served_model`, `accelerators` and `machine`
have what all pages share, `topics` what single pages add, `operation` what serving over time does, `costs` what the
full cost does.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final

from annotated_types import Ge
from pydantic import model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from inferdash import quantities
from inferdash.scenario.costs import Costs
from inferdash.scenario.marks import CONFIG, OWN, SHARE, Choices, Place, Several, numbers_in
from inferdash.scenario.topics import CHANGES, PARTS
from inferdash.validated import Quantity

__all__ = [
    "BASE",
    "CHANGES",
    "CONFIG",
    "FIELDS",
    "OWN",
    "PARTS",
    "SHARE",
    "Choices",
    "Place",
    "Scenario",
    "Several",
    "counts",
    "is_number",
    "is_whole",
    "mark",
    "numbers_in",
]

_POINTS_APART: Final = re.compile(r"\s*[-+]?\d{1,3}(\.\d{3})+\s*", re.ASCII)
"""What may be a whole number whose thousands are set apart by points, as in parts of Europe."""


class Scenario(Costs):
    """A model, accelerators, a workload, prices: what every number of every page follows from."""

    @model_validator(mode="before")
    @classmethod
    def _as_people_type(cls, values: Any) -> Any:
        """Reads 32k, 10,000 or 40% where a number is expected, and no point for a comma."""
        if not isinstance(values, Mapping):
            return values
        read = dict(values)
        for name, value in values.items():
            if isinstance(value, str) and name in FIELDS and is_number(name):
                if is_whole(name) and _POINTS_APART.fullmatch(value):
                    context = {"what": "is not a whole number; write 10,000 or 10 000", "fields": (name,)}
                    raise PydanticCustomError("fields", "{what}", context)
                with suppress(ValueError):  # what is none is refused with the field's bounds
                    read[name] = quantities.number(value)
        return read


FIELDS: Final[dict[str, FieldInfo]] = dict(Scenario.model_fields)
"""Name -> declaration of each field, in the order of the page."""


def mark(name: str, kind: type[Any]) -> Any:
    """The mark of a kind (`Choices`, `Place`, `Quantity`) on a field, or None."""
    for found in FIELDS[name].metadata:
        if isinstance(found, kind):
            return found
    return None


@cache
def is_number(name: str) -> bool:
    """Whether a field is a number without a unit."""
    return mark(name, Ge) is not None and mark(name, Quantity) is None


@cache
def is_whole(name: str) -> bool:
    """Whether a field is a number that is whole."""
    return is_number(name) and "int" in str(FIELDS[name].annotation)


def counts(name: str, scenario: Scenario) -> bool:
    """Whether a field says anything in a scenario: those of an own model do only where it is chosen."""
    place: Place = mark(name, Place)
    return place.counts_if(scenario)


BASE: Final = Scenario()
"""The chapter's example."""
