"""What is pressed on each page: a number field whose every step changes words there."""

from dataclasses import dataclass
from typing import Final

from inferdash.studies.report import PAGES


@dataclass(frozen=True)
class Pressed:
    """A page as it is measured."""

    page: str
    """Its path."""
    field: str = "Batch"
    """Label of the number field."""
    query: str = "v=1"
    before: str = ""
    """A button that is clicked first."""


_OTHERS: Final = (
    Pressed("prompt-cache", "Shared prefix, tokens"),
    Pressed("experts", query="model=mixtral-8x7b&v=1"),
    Pressed("feature-cost", "Users"),
    Pressed("serving", "Load, requests/s"),
    Pressed("plan", "Load, requests/s"),
    Pressed("traffic", "Input price, $ per million", before="Try an example"),
)
PRESSED: Final = {page.replace("_", "-"): Pressed(page.replace("_", "-")) for page in PAGES} | {
    one.page: one for one in _OTHERS
}
"""Path of each page -> what is pressed there."""
