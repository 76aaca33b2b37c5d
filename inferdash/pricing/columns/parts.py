"""Lines that have values of the same kinds at the same places, as a table whose columns have types."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inferdash.pricing.columns.blocks import Block
from inferdash.pricing.columns.cells import Column
from inferdash.pricing.columns.lines import texts
from inferdash.pricing.dialects.names import normal
from inferdash.pricing.dialects.plans import layout_of
from inferdash.pricing.dialects.services import OF_LOTS
from inferdash.pricing.dialects.shapes import Path
from inferdash.pricing.logs.values import MOST_TOKENS

Rows = NDArray[np.int64]
_FEW: Final = 1 << 12
"""Lines below which a second thread takes longer to start than it saves."""
_KEPT: Final = 1 << 12
"""Ways of which it is kept what they say."""
_USERS: Final = frozenset({"user", "key"})
_IDS: Final = ("id", "message", "request")


@dataclass(frozen=True)
class Part:
    """Some lines of a block."""

    columns: tuple[Column, ...]
    table: Any
    """Their values, and numbers of the lines as `row`."""
    query: str = ""
    """What makes of the table the columns and `whole`, without its name; nothing where it has them already."""
    varies: bool = False
    """Whether some lines have no value in some column."""


@lru_cache(_KEPT)
def roles_of(way: Path) -> frozenset[str]:
    """What else than a count a value says."""
    return frozenset(role for role, places in layout_of([way]).roles.items() if places)


@lru_cache(_KEPT)
def is_id(way: Path) -> bool:
    """Whether copies of an answer are known by a value."""
    return not roles_of(way).isdisjoint(_IDS)


@lru_cache(_KEPT)
def is_relevant(way: Path, *, users: bool) -> bool:
    """Whether a number or a text there may say something of a request that is asked for."""
    own = layout_of([way])
    said = own.counts or own.others or own.running or (len(way) == 1 and normal(way[0]) in OF_LOTS)
    return bool(said) and (users or not is_user(way))


def is_user(way: Path) -> bool:
    """Whether a value says who asked, and nothing else."""
    return bool(roles := roles_of(way)) and roles <= _USERS


def halved(work: Callable[[slice], None], many: int, threads: int) -> None:
    """Does work on so many lines, by several threads where that pays."""
    if threads < 2 or many < _FEW:  # noqa: PLR2004 - one has nothing to share
        work(slice(0, many))
        return
    step = -(-many // threads)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, [slice(at, min(many, at + step)) for at in range(0, many, step)]))


def kinds_of(found: Rows) -> tuple[Rows, Rows]:
    """Kinds of lines that are there, and how many of each; most blocks have one."""
    if len(found) and (found == found[0]).all():
        return found[:1], np.array([len(found)])
    return np.unique(found, return_counts=True)


def of_kind(values: NDArray[Any], found: Rows, kind: int, *, many: int) -> NDArray[Any]:
    """What belongs to lines of a kind, of which there are so many."""
    return values if many == len(found) else values[found == kind]


def part(block: Block, rows: Rows, columns: Sequence[Column], values: NDArray[np.int64]) -> Part:
    """Lines with their values: numbers, hashes, or places and lengths of texts; a column of them each."""
    arrays = [_array(block, one, values[:, at]) for at, one in enumerate(columns)]
    table = pa.table([pa.array(rows), *arrays], ["row", *(one.name for one in columns)])
    return Part(tuple(map(narrowed, columns, arrays)), table)


def narrowed(column: Column, array: Any) -> Column:
    """A column of whole numbers as one of counts, where each of them can be one."""
    if column.form != "int":
        return column
    bounds = pc.min_max(array).as_py()
    is_count = bounds["min"] is not None and bounds["min"] >= 0 and bounds["max"] <= MOST_TOKENS
    return replace(column, form="count") if is_count else column


def _array(block: Block, column: Column, values: NDArray[np.int64]) -> Any:
    if column.form == "key":
        return pa.array(values.view(np.uint64) if values.flags.contiguous else values.astype(np.uint64))
    if column.form != "text":
        return pa.array(values)
    offsets = np.empty(len(values) + 1, np.int32)
    data = texts(block.signs, values, offsets)
    array = pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(data))
    return array.dictionary_encode() if "model" in roles_of(column.way) else array


def joined(parts: Iterable[Part]) -> list[Part]:
    """The same with those as one whose columns are the same."""
    found: dict[tuple[Any, ...], list[Part]] = {}
    for one in parts:
        found.setdefault((one.query, one.varies, *((column.way, column.form) for column in one.columns)), []).append(
            one
        )
    return [one[0] if len(one) == 1 else _as_one(one) for one in found.values()]


def _as_one(parts: Sequence[Part]) -> Part:
    return replace(parts[0], table=pa.concat_tables([one.table for one in parts]).unify_dictionaries())
