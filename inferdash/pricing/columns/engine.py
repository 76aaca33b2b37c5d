"""Files of lines through DuckDB, a block at a time: what is certain is summed there, the rest is read line by line.

Both add up to what the reader of lines says: answers that are told of twice, whose last copy counts, are found by their
ids after the last line of a file, and those lines alone are read again.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from inferdash.facts.money.price_names import edges
from inferdash.pricing.columns.blocks import BLOCK, Block, RowBlock
from inferdash.pricing.columns.database import Database
from inferdash.pricing.columns.ids import Ids
from inferdash.pricing.columns.kinds import JsonLines, Kind, Parquet, Pieces, TableLines
from inferdash.pricing.columns.notes import noted
from inferdash.pricing.columns.parts import Part, Rows, joined
from inferdash.pricing.columns.sums import Found
from inferdash.pricing.columns.templates import Templates
from inferdash.pricing.columns.ways import Way
from inferdash.pricing.dialects.reading import Said
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.tables import Table
from inferdash.pricing.replay import Request
from inferdash.pricing.tally import Summed

_MEMORY: Final = "1GB"
_THREADS: Final = 2
_FEWEST: Final = 1 << 18
"""Bytes of a block that is read as columns."""
Item: TypeAlias = Request | Summed


class Waiting(NamedTuple):
    """A line with an id that was read on its own, until the lines before it are known."""

    row: int
    said: Said
    request: Request
    waited: bool = True
    """Whether it is in no sum yet."""


class Engine:
    """Reads files of lines as sums; for the files of one log."""

    def __init__(
        self,
        records: Records,
        *,
        block: int = BLOCK,
        fewest: int = _FEWEST,
        threads: int = _THREADS,
        memory: str = _MEMORY,
        database: str = ":memory:",
        file: int = 0,
    ) -> None:
        """Opens an engine.

        Args:
            records: what is left to the reader of lines goes through these.
            block: bytes of a block.
            fewest: bytes of the smallest block that is read as columns.
            threads: that the engine may use.
            memory: that it may use for ids; more lie in a temporary folder.
            database: where it keeps the ids of answers.
            file: how many files of the log are in it.
        """
        self._records, self._block, self._fewest, self._threads = records, block, fewest, threads
        self._database = Database(database, threads=threads, memory=memory)
        self._ids = Ids(self._database, file)
        self._ways: dict[tuple[Any, ...], Way] = {}
        self._questions: dict[tuple[Any, ...], str] = {}
        self._templates = Templates(threads, users=records.users)
        self._edges = (0, *sorted(edges()))
        self.lines = 0
        """Lines so far."""

    def json(self, pieces: Pieces, again: Callable[[], Pieces]) -> Iterator[Item]:
        """The requests of lines of JSON; `again` gives the file from its start."""
        return self.read(JsonLines(self._records, pieces, again, self._templates))

    def table(self, table: Table, pieces: Pieces, again: Callable[[], Pieces]) -> Iterator[Item]:
        """The requests of a table, without the line that names its columns."""
        return self.read(TableLines(self._records, table, pieces, again, self._threads))

    def parquet(self, stream: Any) -> Iterator[Item]:
        """The requests of a table in Parquet.

        Raises:
            ValueError: with a sentence, where it is none.
        """
        return self.read(Parquet(stream, users=self._records.users))

    def read(self, kind: Kind) -> Iterator[Item]:
        """The requests of a file, most as sums."""
        self._ids.file += 1
        waiting: list[Waiting] = []
        before = 0
        parted = kind.blocks(self._block)
        for block in parted:
            rows = np.arange(0 if isinstance(block, list) else len(block), dtype=np.int64)
            if isinstance(block, list):
                yield from self._ended(waiting, kind)
                yield from kind.rest(block, parted)
                return
            is_small = isinstance(block, Block) and len(block.signs) < self._fewest
            parts, rest = ([], rows) if is_small else kind.parts(block, rows)
            if kind.stops(block, rest):
                yield from self._ended(waiting, kind)
                yield from kind.rest(block, parted)
                return
            for one in joined(parts):
                others = yield from self._summed(one, before, block if kind.is_text else None)
                rest = np.concatenate([rest, others])
            yield from self._alone(block, before, np.sort(rest), waiting, kind)
            before += len(block)
            self.lines += len(block)
        yield from self._ended(waiting, kind)

    def _summed(self, part: Part, before: int, block: Block | RowBlock | None) -> Generator[Summed, None, Rows]:
        """The sums of lines; what tells of their copies is kept, and those that are not certain are given back."""
        key = (part.query, *((one.way, one.form) for one in part.columns), *part.table.schema.types)
        way = self._ways.get(key)
        if way is None:
            name = f"block{len(self._ways)}"
            way = self._ways[key] = Way(name, self._database, part, edges=self._edges, threads=self._threads)
        yield from self._noted(way.take(part, self._questions))
        way.keep_ids(self._ids, before)
        if isinstance(block, Block):
            self._ids.keep_nameless(block, way.nameless(part))
        left = way.left()
        way.let_go()
        return left

    def _noted(self, sums: Iterable[Found]) -> Iterator[Summed]:
        """Sums as far as they are of requests."""
        return filter(None, (noted(found, self._records) for found in sums))

    def _alone(
        self, block: Block | RowBlock, before: int, rows: Iterable[int], waiting: list[Waiting], kind: Kind
    ) -> Iterator[Request]:
        """Lines that the engine does not read, one after another; those with ids wait."""
        named, nameless = list[tuple[int, Said, int]](), []
        for row in map(int, rows):
            found = kind.read(block, row, self._records)
            if found is None:
                continue
            said, request = found
            if said and (said.message or said.request):
                waiting.append(Waiting(before + row, said, request))
                named.append((before + row, said, request.output_tokens))
            else:
                nameless.append(row)
                yield request
        if isinstance(block, Block):
            self._ids.keep_nameless(block, np.array(nameless, np.int64))
        self._ids.keep(named)

    def _ended(self, waiting: list[Waiting], kind: Kind) -> Iterator[Item]:
        """What is held of a file, and again its lines that share their ids: of each answer, the last copy counts."""
        for way in self._ways.values():
            yield from self._noted(way.told())
        shared = self._ids.shared()
        alone = {one.row: one for one in waiting}
        rows = [row for row, *_ in shared]
        yield from self._ids.times(rows)
        lines = self._lines_again([row for row in rows if row not in alone], kind)
        copies, last = self._records.copies, 0
        for row, place, output in shared:
            found = alone.pop(row, None) or next(lines)
            if not found.waited:
                yield Summed.of(found.request, self._edges).negative()
            if output is not None:
                copies.remember(found.said.message, found.said.request, output)
            yield from copies.skip(place - last - 1)
            last = place
            if request := copies.offer(found.said, found.request):
                yield request
        for one in alone.values():
            yield one.request

    def end(self) -> None:
        """The log is over: lines that repeat another are told."""
        self._records.told.repeat(self._ids.repeated())

    def settled(self) -> int:
        """The number of the last file, of which all is where it is kept."""
        return self._ids.settled()

    def close(self) -> None:
        """Lets go of what it has."""
        self._database.close()

    def _lines_again(self, rows: Sequence[int], kind: Kind) -> Iterator[Waiting]:
        """Some lines of a file once more."""
        if not rows:
            return
        records = Records(Written(), users=self._records.users)
        records.told.models = self._records.told.models
        records.reader.order = self._records.reader.order
        wanted, before = iter(rows), 0
        row: int | None = next(wanted)
        for block in kind.blocks(self._block, again=True):
            if isinstance(block, list):
                return
            while row is not None and row < before + len(block):
                found = kind.read(block, row - before, records)
                if found and found[0]:
                    yield Waiting(row, found[0], found[1], waited=False)
                row = next(wanted, None)
            before += len(block)
