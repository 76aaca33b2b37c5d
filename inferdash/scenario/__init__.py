"""Everything a person can turn, in one frozen model.

A field is declared once: its name is the link's parameter and the widget's key, its title is the label, the string
below it is the help, its bounds hold for the link and the widget alike. `machine` has what all pages share, `topics`
what single pages add, `operation` what serving over time does.
"""

from typing import Any, Final

from pydantic.fields import FieldInfo

from inferdash.scenario.marks import CONFIG, OWN, SHARE, Choices, Place, Several, numbers_in
from inferdash.scenario.operation import Operation
from inferdash.scenario.topics import CHANGES, PARTS

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
    "mark",
    "numbers_in",
]


class Scenario(Operation):
    """A model, accelerators, a workload, prices: what every number of every page follows from."""


FIELDS: Final[dict[str, FieldInfo]] = dict(Scenario.model_fields)
"""Name -> declaration of each field, in the order of the page."""


def mark(name: str, kind: type[Any]) -> Any:
    """The mark of a kind (`Choices`, `Place`, `Quantity`) on a field, or None."""
    return next((found for found in FIELDS[name].metadata if isinstance(found, kind)), None)


def counts(name: str, scenario: Scenario) -> bool:
    """Whether a field says anything in a scenario: those of an own model do only where it is chosen."""
    place: Place = mark(name, Place)
    return place.counts_if(scenario)


BASE: Final = Scenario()
"""The chapter's example."""
