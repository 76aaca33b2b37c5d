"""What sums logs up many lines at once, where its packages are installed."""

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from inferdash.pricing.logs.records import Records

_SMALLEST: Final = 1 << 20
"""Bytes from which on an engine is started: below, its start takes longer than the lines."""
_PACKAGES: Final = ("duckdb", "ibis")


def has_packages() -> bool:
    """Whether the packages of `inferdash[logs]` are installed."""
    return all(importlib.util.find_spec(name) is not None for name in _PACKAGES)


def engine(size: int, **options: Any) -> Callable[[Records], Any] | None:
    """What sums so many bytes up; None where line by line is as well, or all that there is.

    Args:
        size: bytes of the log.
        options: of the engine.
    """
    if size < _SMALLEST or not has_packages():
        return None
    from inferdash.pricing.columns.engine import Engine  # noqa: PLC0415 - its packages may not be there

    return partial(Engine, **options)
