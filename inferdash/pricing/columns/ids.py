"""What tells that two lines are of one answer: ids of the answers of all files, and hashes of lines that have none."""

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from inferdash.pricing.columns.blocks import Block
from inferdash.pricing.columns.database import Database
from inferdash.pricing.columns.lines import hashes, repeated
from inferdash.pricing.columns.parts import Rows
from inferdash.pricing.columns.signs import hashed_text
from inferdash.pricing.dialects.reading import Said
from inferdash.pricing.tally import DATED_S, DAY_S, Group, Summed, Sums

_HASHES: Final = 1 << 22
"""Of ids that are held against each other at once."""


class Ids:
    """Those of the files of one log, which a database keeps."""

    def __init__(self, database: Database, file: int) -> None:
        """Begins, or goes on behind the last of so many files that is done."""
        self.file = file
        """Number of the file that is read."""
        self._database = database
        for table, columns in _TABLES.items():
            database.once(f"create table if not exists {table} ({columns})")
            database.once(f"delete from {table} where file > $file", file=file)  # noqa: S608 - names are our own

    def keep_said(self, said: str, where: str, before: int) -> None:
        """Keeps the ids of lines that are in sums.

        Args:
            said: the start of a question, in which `said` is what lines say.
            where: which of them.
            before: lines of the file before them.
        """
        kept = f"select $1, row + $2, message, request, output, {_DATED} from said where {where}"  # noqa: S608 - as above
        self._database.run(f"insert into seen {said} {kept}", self.file, before)

    def keep(self, lines: Sequence[tuple[int, Said, int]]) -> None:
        """Keeps the ids of lines that are in no sum: their number in the file, what they say, and their output."""
        found = [
            (self.file, row, *(hashed_text(one) if one else None for one in (said.message, said.request)), output)
            for row, said, output in lines
        ]
        if found:
            self._database.with_table("ids", pa.table([*map(pa.array, zip(*found, strict=True), _TYPES)], [*"abcde"]))
            self._database.once("insert into seen select *, null from ids")

    def keep_nameless(self, block: Block, rows: Rows) -> None:
        """Keeps what lines without an id say, so that those that repeat another are known."""
        if len(rows):
            found = hashes(block.signs, block.starts, block.ends, rows)
            self._database.with_table("keys", pa.table({"key": found}))
            self._database.once("insert into nameless select $file, key from keys", file=self.file)

    def shared(self) -> list[tuple[int, int, int | None]]:
        """Lines of the file that share an id with another, their places among all, and an earlier file's output."""
        again = (
            any(self._repeated(name, "seen", self.file) for name in ("message", "request"))
            or self._database.once(_IS_SHARED, file=self.file)[0][0]
        )
        return self._database.once(_SHARED, file=self.file) if again else []

    def times(self, again: Sequence[int]) -> Iterator[Summed]:
        """First and last time of the file's lines with ids that are in sums, without those that are read again."""
        self._database.with_table("again", pa.table({"row": pa.array(again, pa.int64())}))
        first_s, last_s, whole_days = self._database.once(_TIMES, file=self.file, day=DAY_S)[0]
        if first_s is not None:
            yield Summed(Group(None, "", 0, said=False), Sums(), (), first_s, last_s, whole_days, unsaid=0)

    def repeated(self) -> int:
        """Lines without an id that repeat another, of all files."""
        return self._repeated("key", "nameless")

    def settled(self) -> int:
        """The number of the last file, of which all is where it is kept."""
        self._database.once("checkpoint")
        return self.file

    def _repeated(self, key: str, table: str, file: int = 0) -> int:
        """How many hashes of the files from one on stood before; in parts, so that they fit into memory."""
        rows = f"from {table} where {key} is not null and file >= {file}"
        ((many,),) = self._database.once(f"select count(*) {rows}")
        parts = -(-many // _HASHES)
        asked = (f"select {key} as row {rows} and {key} // 256 % {parts} = {part}" for part in range(parts))
        return sum(repeated(self._database.hashes(one)) for one in asked)


_TABLES: Final = {
    "seen": "file int, row bigint, message ubigint, request ubigint, output bigint, dated double",
    "nameless": "file int, key ubigint",
}
_TYPES: Final = (pa.int32(), pa.int64(), pa.uint64(), pa.uint64(), pa.int64())
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
