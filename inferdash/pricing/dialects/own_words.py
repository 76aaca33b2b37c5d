"""Headers that a person wrote in words, as the plain columns that they mean.

No program's field has a space in its name, but for the exports of consoles, which are declared as they stand there. So
“Cached input tokens” is not the field `cachedInputTokens` of the AI SDK, whose input leaves the cache out with some
models: the words say that it is a part of the input.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from inferdash.pricing.dialects.declared import dialects
from inferdash.pricing.dialects.names import normal

_WORD: Final = re.compile(r"[a-z]+")
_FILLING: Final = frozenset(("token", "tokens", "count", "number", "no", "of", "which", "it", "the", "to", "from"))
"""Words that a header may have or not."""
_MEANT: Final[Mapping[frozenset[str], str]] = {
    frozenset(words.split()): name
    for name, many in {
        "cached_tokens": ("cached", "cached input", "cached prompt", "cached inputs", "cached prompts"),
        "cache_read_tokens": ("cache read", "cache reads"),
        "cache_write_tokens": ("cache write", "cache writes", "cache written", "cache creation"),
    }.items()
    for words in many
}
"""Words -> the plain column that they mean."""


def plain_column(header: str) -> str:
    """The plain column that a header in words means; a header of other words, or without a space, as it is."""
    if " " not in header or normal(header) in _plain_names():
        return header
    return _MEANT.get(frozenset(_WORD.findall(header.lower())) - _FILLING, header)


@cache
def _plain_names() -> frozenset[str]:
    return frozenset(normal(name) for one in dialects() if one.name.startswith("Plain columns") for name in one.counts)
