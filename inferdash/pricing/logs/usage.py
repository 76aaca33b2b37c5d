"""What a log says about one request, in the words of its maker."""

from collections.abc import Mapping
from typing import Any

from inferdash.pricing.dialects.fitting import Counted
from inferdash.pricing.dialects.reading import Reader
from inferdash.pricing.logs.values import UnreadLineError

__all__ = ["Counted", "UnreadLineError", "usage"]


def usage(record: Mapping[str, Any]) -> Counted:
    """What one record of a log counts, in any of the declared dialects (docs/files.md).

    Raises:
        UnreadLineError: where it counts nothing, or no dialect fits, or two do that disagree.
    """
    said = Reader().read(dict(record))
    if said is None:
        raise UnreadLineError("input")
    return said.counted
