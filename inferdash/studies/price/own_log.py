"""A log of the reader's own, read once into sums: uploaded, or where it lies."""

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from inferdash.facts.money.price_names import edges, longest
from inferdash.pricing.bills import as_totals
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.blocks import NAMES, Written
from inferdash.pricing.logs.dates import Order
from inferdash.pricing.logs.engines import engine
from inferdash.pricing.logs.packed import Folder, Readable
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import Counts, counted
from inferdash.studies.price import places

_BLOCK_BYTES: Final = 1 << 23
_MEMORY: Final = "50MB"
"""Bytes at once, and memory of ids, of an engine that reads for a page: readers of a server share its memory."""
BLOCK: Final = "_block"
"""Where a page keeps the tokens of a block that its reader says."""
UNIT: Final = "_unit"
"""Where it keeps the unit of times."""
_UNITS: Final = {"inferred": ""} | {name: unit for unit, name in NAMES.items()}
UNIT_NAMES: Final = tuple(_UNITS)
DATES: Final = "_dates"
"""Where it keeps the order of dates."""
_ORDERS: Final[dict[str, Order]] = {"inferred": "", "month first (11/30/2026)": "month", "day first": "day"}
ORDER_NAMES: Final = tuple(_ORDERS)


@dataclass(frozen=True)
class File:
    """What a file holds, in sums that are small however long it is: its bill at any prices follows from them."""

    counts: Counts
    left_out: int
    """Lines or requests that were not read."""
    problems: tuple[str, ...]
    """What the reader should know about the file, in sentences."""
    notes: tuple[str, ...] = ()
    """How the file was understood, in sentences."""
    block_tokens: int = 0
    """Tokens of a block, where the file is a trace that names blocks."""
    models: tuple[str, ...] = ()
    """Models that it names."""
    totals: int = 0
    """Its lines that sum up a whole day."""
    written: Written = field(default_factory=Written)
    """What the reader said of how it is written."""

    def answers(self, rules: Collection[Rules], written: Written) -> bool:
        """Whether its bill follows under rules of a cache, without reading it again."""
        known = not any(self.counts.asked.values()) or set(rules) <= set(self.counts.asked)
        return known and written == self.written


def written(block: int | None, unit: str | None, dates: str | None) -> Written:
    """How the reader says that a file is written; what is not said follows from the file."""
    return Written(block_tokens=block or 0, unit=_UNITS.get(unit or "", ""), dates=_ORDERS.get(dates or "", ""))


def read(stream: Readable, rules: tuple[Rules, ...], written: Written | None = None) -> File:
    """Reads a file once.

    Args:
        stream: a file that is open for bytes.
        rules: of the caches that prompts go through, where the file tells what they have in common.
        written: tokens of a block, unit of times and order of dates, where the reader says them.

    Raises:
        OSError: where the file cannot be read.
    """
    trace = Trace(stream, written, engine=engine(_size(stream), block=_BLOCK_BYTES, memory=_MEMORY))
    return _file(trace, counted(trace, rules, edges()), written)


def read_at(place: str, rules: tuple[Rules, ...], written: Written | None = None) -> File:
    """Reads a file or a folder where it lies, or a table of a database, as `read`.

    Args:
        place: as the reader of a page names it; only what `places` allows is read.
        rules: as `read`.
        written: as `read`.
    """
    known = places.tables()
    try:
        if place in known:
            from inferdash.pricing.columns.warehouse import Warehouse  # noqa: PLC0415 - its packages may not be there

            records = Records(written or Written())
            requests = Warehouse(*known[place]).requests(records)
            return _file(records, counted(records.told.counted(requests), rules, edges()), written)
        files = Folder(places.allowed(place))
        trace = Trace(files, written, engine=engine(files.size, block=_BLOCK_BYTES, memory=_MEMORY))
        return _file(trace, counted(trace, rules, edges()), written)
    except ModuleNotFoundError:
        return File(Counts(), 1, ("A table needs more packages on this server: pip install 'inferdash[logs]'.",))
    except (ValueError, OSError) as error:
        return File(Counts(), 1, (str(error),))


def _file(trace: Trace | Records, counts: Counts, written: Written | None) -> File:
    counts, totals = as_totals(counts, longest)
    said = []
    if totals:
        lines = "1 line is" if totals == 1 else f"{totals:,} lines are"
        said.append(
            f"{lines} taken for totals of a day, so long-prompt prices are not applied there. If each is one request,"
            " add its time to the date."
        )
    return File(
        counts,
        trace.left_out,
        trace.problems,
        notes=(*trace.notes, *said),
        block_tokens=trace.block_tokens,
        models=tuple(sorted(trace.models)),
        totals=totals,
        written=written or Written(),
    )


def _size(stream: Any) -> int:
    """Bytes of a file that lies on a disk; 0 of others, whose end is not known."""
    try:
        return os.fstat(stream.fileno()).st_size
    except (AttributeError, OSError, ValueError):
        return 0
