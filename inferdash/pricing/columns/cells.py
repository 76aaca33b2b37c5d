"""A column of a log: where its values stand in a record, how they are written, and what they are as expressions."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import ibis

from inferdash.pricing.dialects.names import normal
from inferdash.pricing.dialects.services import SPELLED, STANDARD, YES
from inferdash.pricing.dialects.shapes import FLAGS, TEXTS, Path, is_hit
from inferdash.pricing.values import MOST_TOKENS

Form: TypeAlias = Literal["json", "text", "int", "real", "decimal", "time"]
"""How values are written: as JSON, where a text has its quotes; as texts; or as values of an engine's own types."""
Value: TypeAlias = Any
"""An expression, whose types the library checks itself."""
CENT: Final = "decimal(38, 22)"
"""The type of dollars: more digits than any log has."""
_DIGITS: Final = r"^[0-9]{1,12}(,[0-9]{1,12})*$"
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
    tries: bool = True
    """Whether the engine has nothing in place of a text that is no number, where others fail."""

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
        if self.way[-1] in TEXTS and self.form == "json":
            return own.notnull() & own.re_search(r'^("\s*[-+.]?[0-9]|[^"\[]|\[[^{"\[])')
        if self.way[-1] in TEXTS and self.form == "text":
            return own.notnull() & own.re_search(r"^\s*[-+.]?[0-9]")
        if normal(self.way[-1]) in FLAGS or is_hit(self.way):
            return own.notnull() & (own < "n") | own.startswith("t") if self.form == "json" else own.notnull()
        # Numbers, quotes, and NaN and Infinity, which no number of tokens is, come before all else that JSON has.
        return own.notnull() & (own < "O") if self.form == "json" else own.notnull()

    def is_text(self, table: Value) -> Value:
        """Whether the value is a text that stands there as it is."""
        own = self.of(table)
        if self.form == "json":
            return own.startswith('"') & ~own.contains("\\")
        return ibis.literal(self.form == "text")

    def text(self, table: Value) -> Value:
        """The text, without its quotes."""
        own = self.of(table)
        return own.substr(1, own.length() - 2) if self.form == "json" else own

    def number(self, table: Value) -> Value:
        """The whole number, where it is one; from the column that was made of it, where there is one."""
        if self.count in table.columns:
            return table[self.count]
        own = self.of(table)
        if self.form not in {"json", "text"}:
            return own.cast("int64")
        return own.try_cast("int64") if self.tries else _guarded(own.re_search(_DIGITS), own, "0").cast("int64")

    def among(self, table: Value, values: Collection[str]) -> Value:
        """Whether the value is one of some texts."""
        if self.form not in {"json", "text"}:
            return ibis.literal(value=False)
        return self.of(table).isin([f'"{one}"' if self.form == "json" else one for one in sorted(values)])

    def as_service(self, table: Value, role: str) -> Value:
        """The service that the value names, by its role; nothing where another reader has to say it."""
        if role == "batch":
            said = self.of(table).cast("string").isin([*YES, *(f'"{one}"' for one in YES)])
            return ibis.cases((said, "batch"), else_=STANDARD)
        named = [(self.among(table, spelled), name) for name, spelled in SPELLED.items()]
        other = ibis.null("string") if role == "service" and self.form in {"json", "text"} else ibis.literal(STANDARD)
        if role == "speed":
            named = [(self.among(table, SPELLED["fast"]), "fast")]
        return ibis.cases(*named, else_=other)

    def is_no_count(self, table: Value) -> Value:
        """Whether the value is 0, or nothing that can be a number of tokens."""
        own = self.of(table)
        match self.form:
            case "json":
                return own.isin(["0", "0.0", '""']) | own.re_search(r'^"[A-Za-z]|^-?[0-9]+\.[0-9]*[1-9][0-9]*$')
            case "text":
                return own.isin(["0", "0.0", "0.00"]) | own.re_search("^[A-Za-z]")
            case "time":
                return ibis.literal(value=True)
            case _:
                return (own == 0) | (own != own.floor())

    def usd(self, table: Value) -> tuple[Value, Value]:
        """Whether the value is a sum of dollars that is read, and the dollars."""
        own = self.of(table)
        if self.form in {"int", "decimal"}:
            return own >= 0, own.cast(CENT)
        if self.form == "time":
            return ibis.literal(value=False), ibis.null(CENT)
        plain = own.cast("string").strip() if self.form != "json" else own
        good = plain.re_search(_USD)
        return good, _guarded(good, plain, "0").cast(CENT)

    def seconds(self, table: Value, *, per_s: int) -> tuple[Value, Value]:
        """Whether the value is a time that is read, and seconds since 1970, or since any moment.

        Args:
            table: that has the column.
            per_s: units of a number in a second.
        """
        own = self.of(table)
        if self.form == "time":
            moment = own if own.type().is_timestamp() else own.cast("timestamp")
            return ibis.literal(per_s == 1), moment.epoch_seconds().cast("float64")
        if self.form in {"int", "real", "decimal"}:
            return own.abs() < _LATEST, _in_seconds(own.cast("float64") / per_s)
        bare = own if self.form == "json" else own.strip()
        is_number = bare.re_search(_SECONDS)
        number = _in_seconds(_guarded(is_number, bare, "0").cast("float64") / per_s)
        said = self.text(table) if self.form == "json" else bare
        is_moment = own.startswith('"') & said.re_search(_MOMENT) if self.form == "json" else said.re_search(_MOMENT)
        if per_s != 1:
            return is_number, number
        moment = _guarded(is_moment, said, "1970-01-01").cast("timestamp").epoch_seconds().cast("float64")
        return is_number | is_moment, ibis.cases((is_number, number), else_=moment)


_LATEST: Final = 1e20


def are_numbers(table: Value, columns: Collection[Column]) -> Value:
    """Whether the values of all these columns are whole numbers, none of them below 0."""
    good = ibis.literal(value=True)
    written = [one.of(table) for one in columns if one.form in {"json", "text"}]
    if written:
        joined = written[0]
        for one in written[1:]:
            joined = joined + "," + one
        good = joined.re_search(_DIGITS)
    for one in columns:
        own = one.of(table)
        if one.form == "time":
            good = ibis.literal(value=False)
        elif one.form not in {"json", "text"}:
            whole = ibis.literal(value=True) if one.form == "int" else own == own.floor()
            good = good & whole & (own >= 0) & (own <= MOST_TOKENS)
    return good


def _guarded(good: Value, text: Value, other: str) -> Value:
    """A text, another one where it is not good, so that no engine fails at reading it."""
    return ibis.cases((good, text), else_=other)


def _in_seconds(value: Value) -> Value:
    """Seconds of a bare number: ms, µs or ns since 1970 are known by its size."""
    return ibis.cases(*((value.abs() > above, value / units) for above, units in _UNITS_PER_S), else_=value)
