"""Files of lines through DuckDB, a block at a time: what is certain is summed there, the rest is read line by line.

Both add up to what the reader of lines says: answers that are told of twice, whose last copy counts, are found by their
ids after the last line of a file, and those lines alone are read again.
"""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inferdash.facts.money.price_names import edges
from inferdash.pricing.columns.blocks import BLOCK, Block, RowBlock
from inferdash.pricing.columns.cells import CENT
from inferdash.pricing.columns.kinds import JsonLines, Kind, Parquet, Pieces, TableLines
from inferdash.pricing.columns.lines import hashes, repeated
from inferdash.pricing.columns.notes import noted
from inferdash.pricing.columns.parts import Part, Rows, is_id, joined
from inferdash.pricing.columns.signs import hashed_text
from inferdash.pricing.columns.sums import KEYS, NAMELESS, WHOLE, Lines
from inferdash.pricing.columns.templates import Templates
from inferdash.pricing.dialects.reading import Said
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.tables import Table
from inferdash.pricing.replay import Request
from inferdash.pricing.tally import DATED_S, DAY_S, Group, Summed, Sums

_MEMORY: Final = "1GB"
_THREADS: Final = 2
_FEWEST: Final = 1 << 18
"""Bytes of a block that is read as columns."""
_HASHES: Final = 1 << 22
"""Of ids that are held against each other at once."""
_HELD: Final = 8
"""Blocks whose sums are told at once: there are as many of a block as of many."""
Item: TypeAlias = Request | Summed
_TYPES: Final = {
    "text": "string", "key": "uint64", "count": "int64", "int": "int64", "moment": "int64", "real": "float64",
    "decimal": CENT, "time": "timestamp",
}  # fmt: skip


class Waiting(NamedTuple):
    """A line with an id that was read on its own, until the lines before it are known."""

    row: int
    said: Said
    request: Request
    waited: bool = True
    """Whether it is in no sum yet."""


class _Stream:
    """Lines as the engine scans them, by one name for all blocks: what it is asked about them is planned once."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(schema)


@dataclass
class _Way:
    """How lines with the same columns are summed."""

    name: str
    """Of its lines in the engine."""
    stream: _Stream
    lines: Lines
    source: Any
    """The table that the engine is asked about."""
    present: set[int] = field(default_factory=set)
    """Which columns have values, for every kind of line that was met."""
    read: str = ""
    """The question for what each line of these kinds says, and the one for the sums."""
    sums: str = ""
    held: list[Any] = field(default_factory=list)
    """The sums of the last blocks."""

    @property
    def has_ids(self) -> bool:
        """Whether a line may have an id, by which copies of its answer are known."""
        return any(is_id(column.way) for column in self.lines.columns)


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
        aside = tempfile.mkdtemp(prefix="inferdash-")  # for what its memory does not hold
        weakref.finalize(self, shutil.rmtree, aside, ignore_errors=True)
        config: dict[str, Any] = {"threads": threads, "memory_limit": memory, "temp_directory": aside}
        self._engine = duckdb.connect(database, config=config)
        self._engine.execute(
            "create table if not exists seen (file int, row bigint, message ubigint, request ubigint, output bigint,"
            " dated double)"
        )
        self._engine.execute("create table if not exists nameless (file int, key ubigint)")
        self._ways: dict[tuple[Any, ...], _Way] = {}
        self._questions: dict[tuple[Any, ...], str] = {}
        self._planned: dict[str, str] = {}
        self._templates = Templates(threads, users=records.users)
        self._edges = (0, *sorted(edges()))
        self._file = file
        for table in ("seen", "nameless"):  # what came behind the last file that is done is not known
            self._engine.execute(f"delete from {table} where file > {file}")  # noqa: S608 - numbers
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
        self._file += 1
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

    def _way(self, part: Part) -> _Way:
        """How lines with these columns are summed."""
        key = (part.query, *((one.way, one.form) for one in part.columns), *part.table.schema.types)
        if key not in self._ways:
            names = {one.name: _TYPES[one.form] for one in part.columns}
            source = ibis.table({"row": "int64", **({WHOLE: "boolean"} if part.query else {}), **names}, name="lines")
            name, stream = f"block{len(self._ways)}", _Stream(part.table)
            self._engine.register(name, stream)
            self._ways[key] = _Way(name, stream, Lines(part.columns, self._edges), source)
        return self._ways[key]

    def _kinds(self, part: Part, way: _Way, source: str) -> set[int]:
        """Which columns have values in these lines, for every kind of them."""
        if not part.varies:
            return {(1 << len(part.columns)) - 1}
        asked = _sql(way.source.select(kind=way.lines.presence(way.source)).distinct())
        return {kind for (kind,) in self._engine.execute(self._asked(f"with lines as ({source}) {asked}")).fetchall()}

    def _summed(self, part: Part, before: int, block: Block | RowBlock | None) -> Generator[Summed, None, Rows]:
        """The sums of lines; what tells of their copies is kept, and those that are not certain are given back."""
        way, many = self._way(part), len(part.table)
        batches = part.table.to_batches(max_chunksize=max(1, -(-many // self._threads)))
        way.stream.table = pa.Table.from_batches(batches)
        source = f"{part.query} from {way.name}"
        present = self._kinds(part, way, source)
        if not present <= way.present or not way.read:
            yield from self._told(way)
            way.present |= present
            read = way.lines.read(way.source, way.present)
            way.read = _sql(read)
            alike = (*way.lines.same.items(), *(one.told for one in way.lines.meant))
            key = (*read.schema().items(), *alike)  # all that the question for the sums depends on
            if key not in self._questions:
                self._questions[key] = _sql(way.lines.summed(ibis.table(read.schema(), name="said"), copied=True))
            way.sums = self._questions[key]
        said = f"with lines as ({source}), said as ({way.read})"
        sums = self._engine.sql(self._asked(f"{said} {way.sums}")).to_arrow_table()
        way.held.append(sums)
        is_all = pc.sum(sums["lines"]).as_py() == many
        good = "not passed" if is_all else "good and not passed"
        if way.has_ids and len(sums):
            kept = f"select $1, row + $2, message, request, output, {_DATED} from said where {good}"  # noqa: S608 - as below
            self._engine.execute(self._asked(f"insert into seen {said} {kept}", self._file, before))
        has_names = NAMELESS in sums.column_names
        if isinstance(block, Block) and is_all and not has_names and way.lines.same.get("passed") is False:
            self._remember(block, part.table["row"].to_numpy())
        elif isinstance(block, Block) and (not has_names or pc.any(pc.greater(sums[NAMELESS], 0)).as_py()):
            alone = f"select row from said where {good} and message is null and request is null"  # noqa: S608 - as below
            self._remember(block, self._numbers(f"{said} {alone}"))
        if len(way.held) == _HELD:
            yield from self._told(way)
        left = f"{said} select row from said where not good"  # noqa: S608 - expressions of names that are our own
        others = np.empty(0, np.int64) if is_all else self._numbers(left)
        way.stream.table = part.table.schema.empty_table()
        return others

    def _told(self, way: _Way) -> Iterator[Summed]:
        """The sums that are held, as one, as far as they are of requests."""
        if not way.held:
            return
        sums = pa.concat_tables(way.held)
        if len(way.held) > 1:
            self._engine.register("held", sums)
            sums = self._engine.sql(_as_one(sums.column_names)).to_arrow_table()
        way.held.clear()
        yield from filter(None, (noted(found, self._records) for found in way.lines.found(sums.to_pylist())))

    def _asked(self, question: str, *numbers: int) -> str:
        """A question as the engine has planned it."""
        if question not in self._planned:
            self._planned[question] = f"asked{len(self._planned)}"
            self._engine.execute(f"prepare {self._planned[question]} as {question}")
        return f"execute {self._planned[question]}" + (f"({', '.join(map(str, numbers))})" if numbers else "")

    def _numbers(self, question: str) -> Rows:
        return np.asarray(self._engine.execute(self._asked(question)).fetchnumpy()["row"], np.int64)

    def _remember(self, block: Block, rows: Rows) -> None:
        """Keeps what lines without an id say, so that those that repeat another are known."""
        found = hashes(block.signs, block.starts, block.ends, rows)
        self._engine.register("keys", pa.table({"key": found}))
        self._engine.execute("insert into nameless select ?, key from keys", [self._file])

    def _alone(
        self, block: Block | RowBlock, before: int, rows: Iterable[int], waiting: list[Waiting], kind: Kind
    ) -> Iterator[Request]:
        """Lines that the engine does not read, one after another; those with ids wait."""
        ids, nameless = [], []
        for row in map(int, rows):
            found = kind.read(block, row, self._records)
            if found is None:
                continue
            said, request = found
            if said and (said.message or said.request):
                waiting.append(Waiting(before + row, said, request))
                keys = [hashed_text(one) if one else None for one in (said.message, said.request)]
                ids.append((self._file, before + row, *keys, request.output_tokens))
            else:
                nameless.append(row)
                yield request
        if nameless and isinstance(block, Block):
            self._remember(block, np.array(nameless, np.int64))
        if ids:
            self._engine.register("ids", pa.table([*map(pa.array, zip(*ids, strict=True), _SEEN)], [*"abcde"]))
            self._engine.execute("insert into seen select *, null from ids")

    def _ended(self, waiting: list[Waiting], kind: Kind) -> Iterator[Item]:
        """What is held of a file, and again its lines that share their ids: of each answer, the last copy counts."""
        for way in self._ways.values():
            yield from self._told(way)
        again = (
            any(self._repeated(name, "seen", self._file) for name in ("message", "request"))
            or self._engine.execute(_IS_SHARED, {"file": self._file}).fetchall()[0][0]
        )
        shared = self._engine.execute(_SHARED, {"file": self._file}).fetchall() if again else []
        alone = {one.row: one for one in waiting}
        rows = [row for row, *_ in shared]
        yield from self._times(rows)
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

    def _times(self, again: Sequence[int]) -> Iterator[Summed]:
        """First and last time of a file's lines with ids that are in sums, without those that are read again."""
        self._engine.register("again", pa.table({"row": pa.array(again, pa.int64())}))
        first_s, last_s, whole_days = self._engine.execute(_TIMES, {"file": self._file, "day": DAY_S}).fetchall()[0]
        if first_s is not None:
            yield Summed(Group(None, "", 0, said=False), Sums(), (), first_s, last_s, whole_days, unsaid=0)

    def end(self) -> None:
        """The log is over: lines that repeat another are told."""
        self._records.told.repeat(self._repeated("key", "nameless"))

    def _repeated(self, key: str, table: str, file: int = 0) -> int:
        """How many hashes of the files from one on stood before; in parts, so that they fit into memory."""
        rows = f"from {table} where {key} is not null and file >= {file}"
        (many,) = self._engine.execute(f"select count(*) {rows}").fetchall()[0]
        parts = -(-many // _HASHES)
        asked = (f"select {key} as row {rows} and {key} // 256 % {parts} = {part}" for part in range(parts))
        return sum(repeated(self._engine.execute(one).fetchnumpy()["row"]) for one in asked)

    def settled(self) -> int:
        """The number of the last file, of which all is where it is kept."""
        self._engine.execute("checkpoint")
        return self._file

    def close(self) -> None:
        """Lets go of what it has."""
        self._engine.close()

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


_SEEN: Final = (pa.int32(), pa.int64(), pa.uint64(), pa.uint64(), pa.int64())
"""Types of file, row, id of the answer, id of the request, output tokens."""
_DATED: Final = f"case when seconds > {DATED_S[0]} and seconds < {DATED_S[1]} then seconds end"
"""A line's time since 1970."""
_TIMES: Final = """
    select min(dated), max(dated), bool_and(dated % $day = 0) from seen anti join again using (row)
    where file = $file
"""
_IS_SHARED: Final = """
    select exists (select 1 from seen where file < $file and message in (select message from seen where file = $file))
        or exists (select 1 from seen where file < $file and request in (select request from seen where file = $file))
"""
"""Whether a line of a file may share its id with one of an earlier file."""
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


def _as_one(names: Iterable[str]) -> str:
    """The question that makes of several sums of the same kind one."""
    how = {name: name for name in KEYS} | {"first_s": "min(first_s)", "last_s": "max(last_s)"}
    asked = ", ".join(f"{how.get(name, f'sum({name})')} as {name}" for name in names)
    return f"select {asked} from held group by all"  # noqa: S608 - names are our own


def _sql(expression: Any) -> str:
    return str(ibis.to_sql(expression, dialect="duckdb"))
