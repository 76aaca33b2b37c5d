"""A log that lies in a table of a database: it is summed there, and only what is not certain there is fetched."""

import warnings
from collections.abc import Iterator
from typing import Any, Final

import ibis

from inferdash.facts.money.price_names import edges
from inferdash.pricing.columns.cells import Column, Form, Value
from inferdash.pricing.columns.flat import is_flag, relevant, says
from inferdash.pricing.columns.kinds import as_record
from inferdash.pricing.columns.notes import noted
from inferdash.pricing.columns.parts import is_user
from inferdash.pricing.columns.sums import MOST_COLUMNS, WHOLE, Lines
from inferdash.pricing.dialects.plans import layout_of
from inferdash.pricing.dialects.shapes import Path, is_text_level
from inferdash.pricing.logs.records import Records
from inferdash.pricing.replay import Request
from inferdash.pricing.tally import Summed

_ROWS: Final = 10_000
"""Rows that are fetched at once."""
_OWN: Final = "own_"
"""What stands before the names of the table's own columns, so that none is taken for another."""


class Warehouse:
    """A table of a database, by Ibis."""

    def __init__(self, database: Any, table: str, *, users: bool = False) -> None:
        """Connects.

        Args:
            database: its address, as `ibis.connect` takes it: postgres://user@host/database, duckdb://file; or a
                connection of Ibis, which stays open.
            table: its name, with its schema before a point where it has one.
            users: whether it is to be known who asked.

        Raises:
            ValueError: with a sentence, where it cannot be reached, or says nothing of requests.
        """
        *above, name = table.split(".")
        self._is_own = isinstance(database, str)
        self._engine: Any = None if self._is_own else database
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # its own, of names that an engine gives up
                self._engine = self._engine or ibis.connect(database)
                found = self._engine.table(
                    name, database=tuple(above) if len(above) > 1 else above[0] if above else None
                )
        except Exception as error:  # noqa: BLE001 - each engine has its own
            self._close()
            reason = str(error).strip().partition("\n")[0][:200]
            raise ValueError(f"The table {table} cannot be reached: {reason or type(error).__name__}.") from None
        ways = [*_fields(found, found.schema())]
        kept = {way for way in relevant([way for way, _ in ways]) if users or not is_user(way)}
        ways = [(way, value.cast("string") if value.type().is_boolean() and is_flag(way) else value)
                for way, value in ways]  # fmt: skip
        typed = [(way, value, form) for way, value in ways if way in kept and (form := _form_of(value.type()))]
        if not 0 < len(typed) <= MOST_COLUMNS or not layout_of([way for way, *_ in typed]).counts:
            self._close()
            raise ValueError(f"The table {table} has no columns of input and output tokens that are known.")
        self._columns = [Column(f"c{place}", way, form) for place, (way, _, form) in enumerate(typed)]
        # What only the reader of lines opens: texts that hold JSON, columns of JSON, and lists that may say something.
        closed = [value.isnull() for way, value in ways if _form_of(value.type()) is None and says(way, value.type())]
        closed += [
            (value.isnull() | ~value.startswith("{"))
            for way, value, form in typed if form == "text" and is_text_level(way[-1])
        ]  # fmt: skip
        whole: Value = ibis.literal(value=True)
        for one in closed:
            whole = whole & one
        self._names = [*found.columns]
        own = {f"{_OWN}{place}": found[name] for place, name in enumerate(self._names)}
        cells = {f"c{place}": value for place, (_, value, _) in enumerate(typed)}
        self._table = found.select(**own, **cells, **{WHOLE: whole})

    def requests(self, records: Records) -> Iterator[Request | Summed]:
        """The requests of the table, most as sums; what is left to the reader of lines goes through `records`."""
        try:
            yield from self._requests(records)
        finally:  # a connection that is left open holds the table
            self._close()

    def _close(self) -> None:
        if self._is_own and self._engine is not None:
            self._engine.disconnect()

    def _requests(self, records: Records) -> Iterator[Request | Summed]:
        sizes = (0, *sorted(edges()))
        lines = Lines(self._columns, sizes)
        present = {row["kind"] for row in self._rows(self._table.select(kind=lines.presence(self._table)).distinct())}
        read = lines.read(self._table, present)
        copies = read.filter(read.good & read.message.notnull()).group_by("message").agg(many=lambda one: one.count())
        copies = copies.filter(copies.many > 1)
        again = read.filter(read.good & read.request.notnull() & read.message.isnull()).group_by("request")
        asked = again.agg(many=lambda one: one.count())
        asked = asked.filter(asked.many > 1)
        shared = read.message.isin(copies.message) | (read.message.isnull() & read.request.isin(asked.request))
        alone = read.mutate(good=read.good & ~shared.fill_null(False))
        for found in lines.found(self._rows(lines.summed(alone))):
            if summed := noted(found, records):
                yield summed
        left = alone.filter(~alone.good)
        for row in self._rows(left.order_by(left.seconds)):
            record = {name: row[f"{_OWN}{place}"] for place, name in enumerate(self._names)}
            if request := records.request(as_record(record), "", ""):
                yield request
        yield from records.copies.end_of_file()

    def _rows(self, expression: Value) -> Iterator[dict[str, Any]]:
        """The rows of an answer, as they come from the database: no number is made another type of."""
        answer = self._engine.raw_sql(str(self._engine.compile(expression)))
        if hasattr(answer, "toLocalIterator"):  # Spark's
            yield from (row.asDict(recursive=True) for row in answer.toLocalIterator())
            return
        names = [one[0] for one in answer.description]
        while rows := answer.fetchmany(_ROWS):
            yield from (dict(zip(names, row, strict=True)) for row in rows)
        if answer is not self._engine.con:
            answer.close()


def _fields(value: Value, schema: Any, above: Path = ()) -> Iterator[tuple[Path, Value]]:
    """The ways to all values, and these."""
    for name, kind in schema.items():
        if kind.is_struct():
            yield from _fields(value[name], kind, (*above, name))
        else:
            yield (*above, name), value[name]


def _form_of(kind: Any) -> Form | None:
    """How values of a type are read; None for those that say nothing as they are."""
    if kind.is_integer():
        return "int"
    if kind.is_floating():
        return "real"
    if kind.is_decimal():
        return "decimal"
    if kind.is_string():
        return "text"
    return "time" if kind.is_timestamp() or kind.is_date() else None
