"""Records of a table as sums by day, model and size: one expression for every engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from typing import Any, Final

import ibis
from ibis.expr.operations import Literal

from inferdash.pricing.columns.cells import CENT, Column, Value
from inferdash.pricing.columns.meaning import BETWEEN, NUMBERS, Meant, Said, all_of, said
from inferdash.pricing.dialects.fitting import Fit
from inferdash.pricing.dialects.plans import layout_of
from inferdash.pricing.dialects.services import STANDARD
from inferdash.pricing.tally import DATED_S, DAY_S, Group, Summed, Sums

WHOLE: Final = "whole"
"""Name of the column that says whether the columns are all that a record has."""
MOST_COLUMNS: Final = 60
"""Columns whose presence is told by one number."""
_FEE, _HOLDS = "fee_", "holds_"
KEYS: Final = ("what", "models", "user", "service", "day", "size")
"""What the sums of some lines have in common; all others are added up, but the first and last time."""
NAMELESS: Final = "nameless"
"""Name of the column of how many lines have no id; where none has one, it is not there."""
_SUMS: Final = {
    "prompts": "input", "read_tokens": "read", "written_tokens": "written", "hour_tokens": "hour",
    "output_tokens": "output", "dollars": "usd",
}  # fmt: skip
"""Sums, and what they are of."""
_PASSED, _HAS_USD, _MANY, _UNTIMED, _FITS = 1, 2, 4, 8, 16
"""Of what sums have in common, as one number: no requests, dollars are told, several requests each, no time;
times the fit."""


@dataclass
class Lines:
    """What is known of a log that is read as columns."""

    columns: Sequence[Column]
    """In the order in which they stand in a record."""
    edges: Sequence[int]
    """Input tokens at which any price changes, from 0 on."""
    meant: list[Meant] = field(default_factory=list)
    """All meanings of counts that were met."""
    fees: list[str] = field(default_factory=list)
    """What is counted in other things than tokens, in the order of the columns of the sums."""
    same: dict[str, Any] = field(default_factory=dict)
    """What all records that are read say alike, which is in no sum."""

    def presence(self, table: Value) -> Value:
        """A number whose bits say in which columns a record has a value."""
        bits = [
            ibis.cases((column.present(table), 1 << place), else_=0).cast("int64")
            for place, column in enumerate(self.columns)
        ]
        return reduce(lambda one, other: one + other, bits) if bits else ibis.literal(0, "int64")

    def read(self, table: Value, present: Iterable[int]) -> Value:
        """A table of what each record says.

        Args:
            table: of the columns, and where there is one of `WHOLE`.
            present: which columns have values, for every kind of record that there is; others are not read.
        """
        counts = [*layout_of([one.way for one in self.columns]).counts]
        single = {(1 << len(self.columns)) - 1} == {*present}
        own = table.mutate(
            kind=ibis.literal(0) if single else self.presence(table),
            **{one.count: one.number(table) for one in self.columns if one.way in counts},
        )
        kinds = [(True if single else own.kind == one, self._said(own, one)) for one in sorted(present)]
        holds = {
            f"{_HOLDS}{at}": one.holds for at, one in enumerate(one for _, saying in kinds for one in saying.meant)
        }
        own = own.mutate(**holds)  # once, as they are asked for twice
        named = iter([own[name] for name in holds])
        kinds = [(is_kind, saying.held(named)) for is_kind, saying in kinds]
        meant = [(is_kind, one) for is_kind, saying in kinds for one in saying.meant]
        self.meant = [one for _, one in meant]
        self.fees = [*dict.fromkeys(what for _, one in kinds for what in one.fees)]
        own = own.mutate(
            fit=_cases([(is_kind & one.holds, at) for at, (is_kind, one) in enumerate(meant)], -1, "int64")
        )

        def of_meant(value: Callable[[Meant], Any], other: Any, kind: str) -> Value:
            found: dict[Any, tuple[Any, list[int]]] = {}  # most dialects have their sums in common
            for at, (_, one) in enumerate(meant):
                got = value(one)
                found.setdefault(got.op() if isinstance(got, ibis.Value) else got, (got, []))[1].append(at)
            if len(found) == 1:  # what has no meaning is in no sum
                (same, _), *_ = found.values()
                return same if isinstance(same, ibis.Value) else ibis.literal(same, kind)
            return _cases([(own.fit.isin(places), got) for got, places in found.values()], other, kind)

        def of(value: Callable[[Said], Value | None], kind: str, other: Any = None) -> Value:
            return _cases(
                [(is_kind, got) for is_kind, saying in kinds if (got := value(saying)) is not None], other, kind
            )

        sums = of_meant(lambda one: int(not one.fit.dialect.sums), 1, "int64")
        many = [(is_kind, one.requests) for is_kind, one in kinds if one.requests is not None]
        said = {
            **{name: of_meant(_number(place), 0, "int64") for place, name in enumerate(NUMBERS)},
            "passed": of(lambda one: one.passed, "boolean", other=False),
            "models": of(lambda one: one.models, "string", ""),
            "seconds": of(lambda one: one.seconds, "float64"),
            "usd": of(lambda one: one.usd, CENT),
            "user": of(lambda one: one.user, "string"),
            "message": of(lambda one: one.message, self._key),
            "request": of(lambda one: one.request, self._key),
            "service": of(lambda one: one.service, "string", STANDARD),
            "requests": many[0][1] if many and single else ibis.cases(*many, else_=sums) if many else sums,
            **{f"{_FEE}{place}": of(_fee(what), "int64", 0) for place, what in enumerate(self.fees)},
        }
        self.same = {name: value.op().value for name, value in said.items() if isinstance(value.op(), Literal)}
        if len(meant) == 1 and self.same.get("passed") is False:  # what is read has a meaning
            self.same["fit"] = 0
        own = own.mutate(**said)
        chosen = [(said[name], own[name]) for name in NUMBERS]
        agreed = [(is_kind, all_of(one.agrees(chosen) for one in saying.meant)) for is_kind, saying in kinds
                  if len(saying.meant) > 1]  # fmt: skip
        whole = own[WHOLE] if WHOLE in table.columns else ibis.literal(value=True)
        read = of(lambda one: one.read, "boolean", other=False) & (own.fit >= 0) & _cases(agreed, True, "boolean")
        own = own.mutate(
            good=(whole & (own.passed | read.fill_null(False))).fill_null(False),
        )
        return own.drop("kind", *(name for name in own.columns if name in self._names or name.startswith(_HOLDS)))

    @property
    def _key(self) -> str:
        """The type of an id."""
        return "uint64" if any(one.form == "key" for one in self.columns) else "string"

    @property
    def _names(self) -> set[str]:
        return {name for one in self.columns for name in (one.name, one.count)}

    def _said(self, table: Value, present: int) -> Said:
        own = [column for place, column in enumerate(self.columns) if present >> place & 1]
        return said(table, own)

    def summed(self, read: Value, *, copied: bool = False) -> Value:
        """The sums over what is read of `read`; what is the same for all is left to `found`.

        Args:
            read: as of the method of that name.
            copied: whether records with an id may be copies of others, so that which of their times count is not known.
        """
        good = read.filter(read.good)
        times = good.seconds
        dated = (times > DATED_S[0]) & (times < DATED_S[1])
        each = good.input if self.same.get("requests") == 1 else ibis.cases(
            (good.requests == 1, good.input),
            (good.requests == 0, 1),
            else_=ibis.greatest((good.input // ibis.greatest(good.requests, 1)).cast("int64"), 1),
        )  # fmt: skip
        fit = ibis.literal(0) if "fit" in self.same else good.fit
        bits = ((good.passed, _PASSED), (good.usd.notnull(), _HAS_USD), (good.requests != 1, _MANY),
                (times.isnull(), _UNTIMED))  # fmt: skip
        keyed = good.mutate(
            each=each,
            dated=ibis.cases((dated, times), else_=ibis.null("float64")),
            what=sum((ibis.cases((is_so, bit), else_=0) for is_so, bit in bits), fit * _FITS),
        )
        keyed = keyed.mutate(
            day=(keyed.dated / DAY_S).floor().cast("int64"), size=_size(keyed.each, self.edges).cast("int64")
        )
        has_ids = not {"message", "request"} <= self.same.keys()
        nameless = keyed.message.isnull() & keyed.request.isnull()
        counted = ibis.cases((nameless, keyed.dated), else_=ibis.null("float64")) if copied and has_ids else keyed.dated
        counts = {
            "lines": keyed.count(),
            "first_s": counted.min(),
            "last_s": counted.max(),
            "whole_days": (counted != keyed.day * DAY_S).sum(),
            **{name: keyed[of].sum() for name, of in _SUMS.items() if of not in self.same},
            **{f"{_FEE}{place}": keyed[f"{_FEE}{place}"].sum() for place in range(len(self.fees))},
        }
        if "requests" not in self.same:
            counts["requests"] = ibis.greatest(keyed.requests, 1).sum()
        if "written" not in self.same:
            counts["storing"] = (keyed.written > 0).sum()
        if not all(one.told for one in self.meant):
            counts["asking"] = (keyed.input > 0).sum()
        if has_ids:
            counts[NAMELESS] = nameless.sum()
        return keyed.group_by(*(name for name in KEYS if name not in self.same)).agg(**counts)

    def _whole(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Sums with what is the same for all that they are of."""
        lines, same = int(row["lines"]), self.same
        found = {name: lines * (same[of] or 0) for name, of in _SUMS.items() if of in same}
        found |= {name: same[name] for name in KEYS if name in same}
        found["requests"] = lines * max(same.get("requests") or 0, 1)
        found["storing"] = lines * ((same.get("written") or 0) > 0)
        return {"asking": 0, **found, **row}

    def found(self, rows: Iterable[Mapping[str, Any]]) -> Iterator["Found"]:
        """The sums as they came from an engine."""
        for row in map(self._whole, rows):
            models = tuple(filter(None, (one.strip() for one in (row["models"] or "").split(BETWEEN))))
            what = int(row["what"])
            own = (row["day"], models[0] if models else "", row["size"], bool(what & _HAS_USD))
            group = Group(*own, service=row["service"], user=row["user"] or "")
            meant = None if what & _PASSED else self.meant[what // _FITS]
            sums = Sums(
                lines=int(row["lines"]),
                requests=int(row["requests"]),
                prompts=int(row["prompts"]),
                read=int(row["read_tokens"]),
                written=int(row["written_tokens"]),
                written_long=int(row["hour_tokens"]),
                output=int(row["output_tokens"]),
                untold=int(row["prompts"]) - int(row["read_tokens"]),
                usd=row["dollars"] or Decimal(0),
            )
            apart = {what: many for place, what in enumerate(self.fees) if (many := int(row[f"{_FEE}{place}"] or 0))}
            unsaid = 0 if meant is None or meant.told else int(row["asking"])
            whole = not row["whole_days"]
            yield Found(
                Summed(
                    group,
                    sums,
                    tuple(sorted(apart.items())),
                    row["first_s"],
                    row["last_s"],
                    whole,
                    unsaid,
                    timed=not what & _UNTIMED,
                ),
                fit=meant and meant.fit,
                models=models,
                storing=int(row["storing"]),
                many=bool(what & _MANY),
            )


def _size(each: Value, edges: Sequence[int]) -> Value:
    """The largest edge up to a number of tokens, found by halves as there are many."""
    if len(edges) == 1:
        return ibis.literal(edges[0], "int64")
    middle = len(edges) // 2
    below, above = _size(each, edges[:middle]), _size(each, edges[middle:])
    return ibis.cases((each < edges[middle], below), else_=above)


def _cases(cases: Sequence[tuple[Value, Any]], other: Any, kind: str) -> Value:
    if cases and cases[0][0] is True:
        return cases[0][1]
    last = ibis.null(kind) if other is None else ibis.literal(other, kind)
    return ibis.cases(*cases, else_=last) if cases else last


def _number(place: int) -> Callable[[Meant], Value]:
    return lambda one: one.numbers[place]


def _fee(what: str) -> Callable[[Said], Value | None]:
    return lambda one: one.fees.get(what)


@dataclass(frozen=True)
class Found:
    """Sums of records that have in common what is said of them."""

    summed: Summed
    fit: Fit | None
    """What their counts mean; None for records that are no requests."""
    models: tuple[str, ...]
    """All models that each of them names."""
    storing: int
    """Those that stored something in a cache."""
    many: bool
    """Whether each sums several requests up."""
