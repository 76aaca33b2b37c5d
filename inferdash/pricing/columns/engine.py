"""Files of lines through DuckDB, a block at a time: what is certain is summed there, the rest is read line by line.

Both add up to what the reader of lines says: answers that are told of twice, whose last copy counts, are found by their
ids after the last line of a file, and those lines alone are read again.
"""

import shutil
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb
import ibis
import numpy as np
from numpy.typing import NDArray

from inferdash.facts.price_names import edges
from inferdash.pricing.blocks import Written
from inferdash.pricing.columns import flat
from inferdash.pricing.columns.blocks import BLOCK, Block, RowBlock
from inferdash.pricing.columns.cells import CENT
from inferdash.pricing.columns.kinds import JsonLines, Kind, Parquet, Pieces, TableLines
from inferdash.pricing.columns.notes import noted
from inferdash.pricing.columns.sums import Lines
from inferdash.pricing.dialects.plans import layout_of
from inferdash.pricing.dialects.reading import Said
from inferdash.pricing.records import Records
from inferdash.pricing.replay import Request
from inferdash.pricing.tables import Table
from inferdash.pricing.tally import DATED_S, DAY_S, Group, Summed, Sums

SMALLEST: Final = 1 << 22
"""Bytes from which on a file is read in blocks: below, an engine's start takes longer than its lines."""
_LEARNED: Final = 2000
"""Lines of a block whose names are learned."""
_LEARN_AGAIN: Final = 0.02
"""Share of lines that are not read as columns, from which on their names are learned as well."""
_MEMORY: Final = "1GB"
_THREADS: Final = 2
_FEWEST: Final = 1 << 18
"""Bytes of a block that is read as columns."""
Rows: TypeAlias = "NDArray[np.int64]"
Item: TypeAlias = Request | Summed
_TYPES: Final = {
    "json": "string", "text": "string", "int": "int64", "real": "float64", "decimal": CENT, "time": "timestamp",
}  # fmt: skip


class Waiting(NamedTuple):
    """A line with an id that was read on its own, until the lines before it are known."""

    row: int
    said: Said
    request: Request
    waited: bool = True
    """Whether it is in no sum yet."""


@dataclass
class _Way:
    """How the blocks of one file become columns."""

    query: str
    lines: Lines
    present: set[int] = field(default_factory=set)
    """Which columns have values, for every kind of line that was met."""
    kinds: str = ""
    """The question for the kinds of a block."""
    read: str = ""
    """The question for what each line of these kinds says, and the one for the sums."""
    sums: str = ""
    answer: list[dict[str, Any]] = field(default_factory=list)
    """The sums of the last block."""
    is_all: bool = False
    """Whether they are of all its lines."""

    @property
    def has_ids(self) -> bool:
        """Whether a line may have an id, by which copies of its answer are known."""
        roles = layout_of([column.way for column in self.lines.columns]).roles
        return any(roles[role] for role in ("id", "message", "request"))


class Engine:
    """Reads files of lines as sums; for the files of one log."""

    def __init__(self, records: Records, *, block: int = BLOCK, fewest: int = _FEWEST, threads: int = _THREADS) -> None:
        """Opens an engine in memory.

        Args:
            records: what is left to the reader of lines goes through these.
            block: bytes of a block.
            fewest: bytes of the smallest block that is read as columns.
            threads: that the engine may use.
        """
        self._records, self._block, self._fewest, self._threads = records, block, fewest, threads
        aside = tempfile.mkdtemp(prefix="inferdash-")  # for what its memory does not hold
        weakref.finalize(self, shutil.rmtree, aside, ignore_errors=True)
        config: dict[str, Any] = {"threads": threads, "memory_limit": _MEMORY, "temp_directory": aside}
        self._engine = duckdb.connect(config=config)
        self._engine.execute(
            "create table seen (file int, row bigint, message ubigint, request ubigint, output bigint)"
        )
        self._engine.execute("create table nameless (key ubigint)")
        self._repeated = 0
        self._edges = (0, *sorted(edges()))
        self._file = 0
        self.lines = 0
        """Lines so far."""

    def json(self, pieces: Pieces, again: Callable[[], Pieces]) -> Iterator[Item]:
        """The requests of lines of JSON; `again` gives the file from its start."""
        return self.read(JsonLines(self._records, pieces, again))

    def table(self, table: Table, pieces: Pieces, again: Callable[[], Pieces]) -> Iterator[Item]:
        """The requests of a table, without the line that names its columns."""
        return self.read(TableLines(self._records, table, pieces, again))

    def parquet(self, stream: Any) -> Iterator[Item]:
        """The requests of a table in Parquet.

        Raises:
            ValueError: with a sentence, where it is none.
        """
        return self.read(Parquet(stream))

    def read(self, kind: Kind) -> Iterator[Item]:
        """The requests of a file, most as sums."""
        self._file += 1
        waiting: list[Waiting] = []
        before: int = 0
        way: _Way | None = None
        parted = kind.blocks(self._block)
        for block in parted:
            if isinstance(block, list) or kind.stops(block):
                yield from self._ended(waiting, kind)
                yield from kind.rest(block, parted)
                return
            rows = np.arange(len(block), dtype=np.int64)
            while self._records.told.timed is None and len(rows):
                yield from self._alone(block, before, rows[:1], waiting, kind)
                rows = rows[1:]
            left = rows
            if isinstance(block, RowBlock) or len(block.data) >= self._fewest:
                way = way or self._learned(kind, block, rows)
                left = self._asked(block, rows, way)
                if len(left) > _LEARN_AGAIN * len(rows) and (newer := self._learned(kind, block, left)):
                    way = newer
                    left = self._asked(block, rows, way)
            if way and len(left) < len(rows):
                yield from self._summed(way, before, kind.key)
            yield from self._alone(block, before, left, waiting, kind)
            before += len(block)
            self.lines += len(block)
        yield from self._ended(waiting, kind)

    def _learned(self, kind: Kind, block: Block | RowBlock, rows: Rows) -> _Way | None:
        """How lines become columns, where these show any that were not known."""
        found = kind.learn(block, _sample(rows))
        if found is None:
            return None
        query, columns = found
        return _Way(query, Lines(columns, self._edges, timed=bool(self._records.told.timed)))

    def _asked(self, block: Block | RowBlock, rows: Rows, way: _Way | None) -> Rows:
        """Asks the engine what lines say, and gives the numbers of those that it does not read."""
        if way is None:
            return rows
        self._engine.register("block", block.table(rows, self._threads))
        self._engine.execute(f"create or replace temp table flat as {flat.needed(way.query, block.data)}")
        names = {one.name: _TYPES[one.form] for one in way.lines.columns}
        table = ibis.table({"row": "int64", "whole": "boolean", **names}, name="flat")
        if not way.kinds:
            way.kinds = _sql(table.filter(table.whole).select(kind=way.lines.presence(table)).distinct())
        present = {kind for (kind,) in self._engine.execute(way.kinds).fetchall()}
        if not present <= way.present or not way.read:
            way.present |= present
            read = way.lines.read(table, way.present)
            way.read, way.sums = _sql(read), _sql(way.lines.summed(ibis.table(read.schema(), name="said")))
        answer = self._engine.execute(f"with said as ({way.read}) {way.sums}")
        heads = [one[0] for one in answer.description]
        way.answer = [dict(zip(heads, row, strict=True)) for row in answer.fetchall()]
        way.is_all = sum(row["lines"] for row in way.answer) == len(rows)
        if way.is_all:
            return rows[:0]
        alone = "select row from said where not good order by row"
        left = self._engine.execute(f"with said as ({way.read}) {alone}")
        return np.asarray(left.fetchnumpy()["row"], np.int64)

    def _summed(self, way: _Way, before: int, key: str) -> Iterator[Summed]:
        """The sums of the lines that the engine reads; what tells of their copies is kept."""
        said, read = f"with said as ({way.read})", "not passed" if way.is_all else "good and not passed"
        if way.has_ids:
            kept = f"select {self._file}, row + {before}, {_IDS}, output from said where {read}"  # noqa: S608 - numbers
            self._engine.execute(f"insert into seen {said} {kept}")
        if key and any(row["nameless"] for row in way.answer):
            self._engine.execute(
                f"insert into nameless {said} select {key} from block semi join"  # noqa: S608 - as above
                f" (select row from said where {read} and message is null and request is null) using (row)"
            )
        for found in way.lines.found(way.answer):
            if summed := noted(found, self._records):
                yield summed

    def _alone(
        self, block: Block | RowBlock, before: int, rows: Iterable[int], waiting: list[Waiting], kind: Kind
    ) -> Iterator[Request]:
        """Lines that the engine does not read, one after another; those with ids wait."""
        ids, keys = [], []
        for row in map(int, rows):
            found = kind.read(block, row, self._records)
            if found is None:
                continue
            said, request = found
            if said and (said.message or said.request):
                waiting.append(Waiting(before + row, said, request))
                ids.append(
                    (self._file, before + row, said.message or None, said.request or None, request.output_tokens)
                )
            else:
                if isinstance(block, Block):
                    keys.append((block.text(row),))
                yield request
        if keys:
            self._engine.executemany(_KEYS, keys)
        if ids:
            self._engine.executemany(_INSERT, ids)

    def _ended(self, waiting: list[Waiting], kind: Kind) -> Iterator[Item]:
        """The lines of a file that wait, and again those that share their ids: of each answer, the last copy counts."""
        (repeated,) = self._engine.execute("select count(*) - count(distinct key) from nameless").fetchall()[0]
        self._records.told.repeat(repeated - self._repeated)
        self._repeated = repeated
        shared = self._engine.execute(_SHARED, {"file": self._file}).fetchall()
        alone = {one.row: one for one in waiting}
        rows = [row for row, *_ in shared]
        lines = self._lines_again([row for row in rows if row not in alone], kind)
        copies, last = self._records.copies, 0
        for row, place, output in shared:
            found = alone.pop(row, None) or next(lines)
            if not found.waited:
                yield _less(found.request, self._edges)
            if output is not None:
                copies.remember(found.said.message, found.said.request, output)
            yield from copies.skip(place - last - 1)
            last = place
            if request := copies.offer(found.said, found.request):
                yield request
        for one in alone.values():
            yield one.request
        self._engine.execute("checkpoint")

    def _lines_again(self, rows: Sequence[int], kind: Kind) -> Iterator[Waiting]:
        """Some lines of a file once more."""
        if not rows:
            return
        records = Records(Written())
        records.told.models, records.told.timed = self._records.told.models, self._records.told.timed
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


def _hashed(text: str) -> str:
    return f"case when {text} is not null then hash({text}) end"


_IDS: Final = f"{_hashed('message')}, {_hashed('request')}"
_INSERT: Final = f"""
    insert into seen select file, row, {_IDS}, output
    from (select ? as file, ? as row, ?::varchar as message, ?::varchar as request, ? as output)
"""  # noqa: S608 - made of these names alone
_KEYS: Final = f"insert into nameless select {flat.KEY} from (select ?::varchar as line)"  # noqa: S608 - as above
_SHARED: Final = """
    with mine as (select *, row_number() over (order by row) as place from seen where file = $file),
    messages as (
        select message, max_by(output, row) filter (file < $file) as output from seen
        where message in (select message from mine) group by message having count(*) > 1),
    requests as (
        select request, max_by(output, row) filter (file < $file and message is null) as output from seen
        where request in (select request from mine)
        group by request having count(*) > 1 and bool_or(message is null))
    select row, place, coalesce(messages.output, requests.output)
    from mine left join messages using (message) left join requests using (request)
    where messages.message is not null or requests.request is not null
    order by row
"""
"""Lines of a file that share an id, their places among all that were read, and the output of an earlier file's."""


def _less(request: Request, sizes: Sequence[int]) -> Summed:
    """What takes a request out of the sums again."""
    day = int(request.time_s // DAY_S) if DATED_S[0] < request.time_s < DATED_S[1] else None
    size = sizes[bisect_right(sizes, request.each_tokens or request.input_tokens) - 1]
    sums = Sums()
    sums.count(request)
    unsaid = request.recorded is None and request.input_tokens > 0
    group = Group(day, request.model, size, request.usd is not None, service=request.service)
    apart = tuple((what, -many) for what, many in request.apart)
    return Summed(group, sums.negative(), apart, None, None, whole_days=True, unsaid=-unsaid)


def _sql(expression: Any) -> str:
    return str(ibis.to_sql(expression, dialect="duckdb"))


def _sample(rows: Rows) -> Sequence[int]:
    """The first ones, and others evenly over the rest."""
    step = max(1, len(rows) // (_LEARNED // 2))
    return np.union1d(rows[: _LEARNED // 2], rows[::step]).tolist()  # type: ignore[no-any-return]  # they are numbers
