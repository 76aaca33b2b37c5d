"""How a trace is written: tokens of a block and unit of its times, as they follow from its own numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from inferdash.pricing.logs.dates import Order
from inferdash.pricing.logs.values import Record, UnreadLineError, is_number

UNITS: Final = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Unit of times -> how many make a second."""
NAMES: Final = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
"""Unit -> its name."""
SAY_IT: Final = "does not follow from the file"
"""What is said where a trace leaves something open."""
_SINCE_1970: Final = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"), (1e9, "s"))
_APART_IN_MS: Final = 50.0
"""Whole numbers that lie that far apart on average are milliseconds: seconds would be 50 between two requests."""
_APART_IN_S: Final = 5.0
"""Whole numbers no further apart are seconds: milliseconds would be 200 requests a second or more."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """How a trace is written, where its reader says so; 0 and "" follow from the trace."""

    block_tokens: int = 0
    """Tokens of a block."""
    unit: str = ""
    """Unit of its times: s, ms, us or ns."""
    dates: Order = ""
    """What stands first in dates such as 11/02/2026."""

    def __post_init__(self) -> None:
        """Refuses what is none.

        Raises:
            ValueError: where a block has less than one token, or the unit is not known.
        """
        if self.block_tokens < 0:
            raise ValueError(f"block is {self.block_tokens}; it is 1 token or more.")
        if self.unit not in {"", *UNITS}:
            raise ValueError(f"unit is {self.unit}; it is {', '.join(UNITS)}.")


def of_rows(rows: Sequence[Record], given: Written, *, prompt: str, time: str) -> tuple[Written, str]:
    """How a trace is written, and a sentence that says what follows from what.

    Args:
        rows: its first rows.
        given: what its reader says; that holds.
        prompt: name of the tokens of a prompt.
        time: name of a time.

    Raises:
        ValueError: with a sentence, where the rows leave it open.
    """
    block, unit = given.block_tokens, given.unit
    block_said = unit_said = "as you say"
    pairs = [
        (row[prompt], len(ids))
        for row in rows
        if isinstance(ids := row.get("hash_ids"), list) and ids and type(row.get(prompt)) is int and row[prompt] > 0
    ]
    if not block and pairs:
        block, block_said = _block(pairs), "as the tokens and blocks of its prompts say"
    said = (row.get(time) for row in rows)
    times = [float(value) for value in said if is_number(value) and math.isfinite(value)]
    if not unit:
        unit, unit_said = _unit(times), "as the differences of its times say"
    parts = [f"Its times are {NAMES[unit]}, {unit_said}."]
    if block:
        parts.insert(0, f"A block of this trace has {block:,} tokens, {block_said}.")
    return Written(block_tokens=block, unit=unit), " ".join(parts)


def holds(tokens: int, blocks: int, *, block_tokens: int) -> bool:
    """Whether a prompt has as many blocks as its tokens make, its last one whole or left out."""
    return blocks in {tokens // block_tokens, -(-tokens // block_tokens)}


def _block(pairs: Sequence[tuple[int, int]]) -> int:
    """Tokens of a block, so that each prompt has as many as its tokens fill, or begin."""
    begun = (
        max(-(-tokens // blocks) for tokens, blocks in pairs),
        min(((tokens - 1) // (blocks - 1) if blocks > 1 else 10**9) for tokens, blocks in pairs),
    )
    filled = (
        max(tokens // (blocks + 1) + 1 for tokens, blocks in pairs),
        min(tokens // blocks for tokens, blocks in pairs),
    )
    for low, high in (begun, filled):
        if low > high:
            continue
        powers = [1 << exponent for exponent in range(31) if low <= 1 << exponent <= high]
        if len(powers) == 1:
            return powers[0]
        if low == high:
            return low
        raise ValueError(
            f"How many tokens a block has does not follow from the file: {low:,} "
            f"{f'to {high:,}' if high < 10**9 else 'and more'} would fit. Set it (--block 512)."
        )
    raise ValueError(
        "How many tokens a block has does not follow from the file: its prompts disagree. Set it (--block 512)."
    )


def _unit(times: Sequence[float]) -> str:
    """The unit in which times lie apart as requests do."""
    if not times:
        return "s"
    for least, unit in _SINCE_1970:
        if min(times) >= least:
            return unit
    if any(not time.is_integer() for time in times):
        return "s"
    apart = (max(times) - min(times)) / max(1, len(times) - 1)
    if apart <= _APART_IN_S:
        return "s"
    if apart >= _APART_IN_MS:
        return "ms"
    raise ValueError(
        f"The unit of the times does not follow from the file: they lie {apart:.3g} apart. Set it (--time-unit ms)."
    )


def checked(tokens: int, blocks: Sequence[object], block_tokens: int) -> None:
    """Nothing where a prompt has as many blocks as its tokens make.

    Raises:
        UnreadLineError: where it has not.
    """
    if blocks and not holds(tokens, len(blocks), block_tokens=block_tokens):
        raise UnreadLineError("blocks")
