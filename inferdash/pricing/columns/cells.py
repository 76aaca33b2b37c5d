"""A column of a log: where its values stand in a record, how they are written, and what they are as expressions."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import ibis

from inferdash.pricing.dialects.services import BATCHED, SAID_BESIDE, SPELLED, STANDARD
from inferdash.pricing.dialects.shapes import TEXTS, Path
from inferdash.pricing.logs.values import MOST_TOKENS

Form: TypeAlias = Literal["text", "key", "count", "int", "moment", "real", "decimal", "time"]
"""How values are written: as texts, ids as their hashes (0 for an empty one), whole numbers that each can be a
count of tokens, moments as microseconds since 1970, or as values of an engine's own types."""
Value: TypeAlias = Any
"""An expression, whose types the library checks itself."""
CENT: Final = "decimal(38, 22)"
"""The type of dollars: more digits than any log has."""
_DIGITS: Final = "^[0-9]{1,12}$"
_USD: Final = r"^[0-9]{1,12}(\.[0-9]{1,22})?$"
_SECONDS: Final = r"^[0-9]{1,20}(\.[0-9]{1,9})?$"
_MONTH: Final = r"(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31"
_CLOCK: Final = r"[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|\+00:00)?"
_MOMENT: Final = rf"^[12][0-9]{{3}}-({_MONTH})({_CLOCK})?$"
_UNITS_PER_S: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


@dataclass(frozen=True)
class Column:
    """Values of one name."""

    name: str
    """In the table of the engine."""
    way: Path
    """In a record."""
    form: Form

    @property
    def count(self) -> str:
        """Name of the column of its whole numbers."""
        return f"n_{self.name}"

    def of(self, table: Value) -> Value:
        """The values as they are written."""
        return table[self.name]

    def present(self, table: Value) -> Value:
        """Whether a record has a value there: a number or a text."""
        own = self.of(table)
        if self.way[-1] in TEXTS and self.form == "text":
            return own.notnull() & own.re_search(r"^\s*[-+.]?[0-9]")
        return own.notnull()

    @property
    def is_text(self) -> bool:
        """Whether the values are texts."""
        return self.form in {"text", "key"}

    def number(self, table: Value) -> Value:
        """The whole number, where it is one; from the column that was made of it, where there is one."""
        if self.count in table.columns:
            return table[self.count]
        own = self.of(table)
        if self.form == "text":
            own = _guarded(own.re_search(_DIGITS), own, "0")
        elif self.form != "count":
            own = _bounded(own)
        return own.cast("int64")

    def among(self, table: Value, values: Collection[str]) -> Value:
        """Whether the value is one of some texts."""
        return self.of(table).isin(sorted(values)) if self.form == "text" else ibis.literal(value=False)

    def as_service(self, table: Value, role: str) -> Value:
        """The service that the value names, by its role; nothing where another reader has to say it."""
        if role == "batch":
            said = self.of(table).cast("string").isin(sorted(BATCHED))
            return ibis.cases((said, "batch"), else_=STANDARD)
        named = [(self.among(table, spelled), name) for name, spelled in SPELLED.items()]
        other = ibis.null("string") if role == "service" and self.form == "text" else ibis.literal(STANDARD)
        if role == "speed":
            named = [(self.among(table, {name}), name) for name in SAID_BESIDE]
        return ibis.cases(*named, else_=other)

    def is_no_count(self, table: Value) -> Value:
        """Whether the value is 0, or nothing that can be a number of tokens."""
        own = self.of(table)
        match self.form:
            case "text":
                return own.isin(["0", "0.0", "0.00"]) | own.re_search("^[A-Za-z]")
            case "time" | "moment" | "key":
                return ibis.literal(value=True)
            case "count" | "int":
                return own == 0
            case _:
                return (own == 0) | (own != _bounded(own).floor())

    def usd(self, table: Value) -> tuple[Value, Value]:
        """Whether the value is a sum of dollars that is read, and the dollars."""
        own = self.of(table)
        if self.form in {"count", "int", "decimal"}:
            return own >= 0, own.cast(CENT)
        if self.form not in {"real", "text"}:
            return ibis.literal(value=False), ibis.null(CENT)
        plain = own.cast("string").strip()
        good = plain.re_search(_USD)
        return good, _guarded(good, plain, "0").cast(CENT)

    def seconds(self, table: Value, *, per_s: int) -> tuple[Value, Value]:
        """Whether the value is a time that is read, and seconds since 1970, or since any moment.

        Args:
            table: that has the column.
            per_s: units of a number in a second.
        """
        own = self.of(table)
        if self.form == "moment":
            return ibis.literal(per_s == 1), own.cast("float64") / _MICROS
        if self.form == "time":
            moment = own if own.type().is_timestamp() else own.cast("timestamp")
            return ibis.literal(per_s == 1), moment.epoch_seconds().cast("float64")
        if self.form in {"count", "int"}:
            return ibis.literal(value=True), _in_seconds(_per(own.cast("float64"), per_s))
        if self.form in {"real", "decimal"}:
            return own.abs() < _LATEST, _in_seconds(_per(own.cast("float64"), per_s))
        if self.form == "key":
            return ibis.literal(value=False), ibis.null("float64")
        bare = own.strip()
        is_number, is_moment = bare.re_search(_SECONDS), bare.re_search(_MOMENT)
        number = _in_seconds(_per(_guarded(is_number, bare, "0").cast("float64"), per_s))
        if per_s != 1:
            return is_number, number
        moment = _guarded(is_moment, bare, "1970-01-01").cast("timestamp").epoch_seconds().cast("float64")
        return is_number | is_moment, ibis.cases((is_number, number), else_=moment)


_MICROS: Final = 1_000_000
_LATEST: Final = 1e20


def are_numbers(table: Value, columns: Collection[Column]) -> Value:
    """Whether the values of all these columns are whole numbers, none of them below 0."""
    good = ibis.literal(value=True)
    for one in (column for column in columns if column.form != "count"):
        own = one.of(table)
        if one.form == "text":
            good = good & own.re_search(_DIGITS)
        elif one.form in {"time", "moment", "key"}:
            good = ibis.literal(value=False)
        else:
            whole = ibis.literal(value=True) if one.form == "int" else own == _bounded(own).floor()
            good = good & whole & (own >= 0) & (own <= MOST_TOKENS)
    return good


def _guarded(good: Value, text: Value, other: str) -> Value:
    """A text, another one where it is not good, so that no engine fails at reading it."""
    return ibis.cases((good, text), else_=other)


def _bounded(number: Value) -> Value:
    """A number, 0 where it is none or too large for tokens, so that no engine fails at making it a whole one."""
    return ibis.cases(((number >= -MOST_TOKENS) & (number <= MOST_TOKENS), number), else_=0)


def _in_seconds(value: Value) -> Value:
    """Seconds of a bare number: ms, µs or ns since 1970 are known by its size."""
    size = value.abs()
    finer = ibis.cases(*((size > above, value / units) for above, units in _UNITS_PER_S), else_=value)
    return ibis.cases((size > _UNITS_PER_S[-1][0], finer), else_=value)  # as most are seconds


def _per(value: Value, units: int) -> Value:
    return value if units == 1 else value / units
