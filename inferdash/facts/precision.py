"""Number formats: how many bytes a stored number takes, and at which of a chip's speeds it is multiplied."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Rate: TypeAlias = Literal["dense_bf16", "dense_fp8", "dense_int8"]
"""A peak of an accelerator, as its preset names it."""


@dataclass(frozen=True)
class Precision:
    """A format of stored numbers."""

    name: str
    bytes_per_number: float
    """Bytes; scales are one for each tensor and not counted."""
    rate: Rate
    """The peak at which a chip multiplies it, where the chip has that peak; else it works at bf16."""


PRECISIONS: Final = {
    "bf16": Precision(name="bf16", bytes_per_number=2, rate="dense_bf16"),
    "fp8": Precision(name="fp8", bytes_per_number=1, rate="dense_fp8"),
    "int8": Precision(name="int8", bytes_per_number=1, rate="dense_int8"),
}
"""Id in links -> format of the parameters."""

CACHE_PRECISIONS: Final = {"bf16": PRECISIONS["bf16"], "fp8": PRECISIONS["fp8"]}
"""Id in links -> format of keys and values in the cache."""
