"""What records with values at the same places say, as expressions over their columns.

The places and their meanings are those of the reader of lines (`dialects/plans.py`, `dialects/fitting.py`). A record is
read here where that is certain; every other one is left to that reader, which reads it or says why it is left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add, and_, or_, sub
from typing import Final, NamedTuple

import ibis

from inferdash.pricing.columns.cells import Column, Value, are_numbers
from inferdash.pricing.dialects.declared import Dialect
from inferdash.pricing.dialects.equations import Form
from inferdash.pricing.dialects.fitting import Fit
from inferdash.pricing.dialects.plans import Layout, Place, layout_of, plan
from inferdash.pricing.dialects.services import SERVED, STANDARD
from inferdash.pricing.dialects.shapes import is_hit

NUMBERS: Final = ("input", "output", "read", "written", "hour")
"""Whole numbers that a meaning has."""
BETWEEN: Final = "\x1f"
"""What stands between the models of a record."""


class Meant(NamedTuple):
    """What counts mean in one dialect."""

    fit: Fit
    holds: Value
    """Whether it can be what they mean."""
    numbers: tuple[Value, ...]
    """Input, output, and read, stored, stored for an hour; 0 for the last three where they are not told."""
    told: bool
    """Whether it tells what was read and stored."""

    def agrees(self, chosen: Sequence[tuple[Value, Value]]) -> Value:
        """Whether it says the same as the meaning that was chosen, or does not hold.

        Args:
            chosen: its numbers as expressions, and the columns of these.
        """
        told = zip(self.numbers, chosen[: 5 if self.told else 2], strict=False)
        same = [own == column for own, (value, column) in told if own.op() != value.op()]
        return ~self.holds | all_of(same)


@dataclass(frozen=True, kw_only=True)
class Said:
    """What records say, each an expression."""

    read: Value
    """Whether all but the meaning of their counts is read here: if not, the reader of lines is asked."""
    passed: Value
    """Whether they are of a kind that is no request."""
    meant: tuple[Meant, ...] = ()
    """What their counts may mean, those first that are chosen first; nothing where no record is read."""
    requests: Value = None
    """Requests that each sums up, 0 where that is not told; None where its meaning tells."""
    models: Value = None
    seconds: Value = None
    usd: Value = None
    message: Value = None
    request: Value = None
    user: Value = None
    fees: Mapping[str, Value] = field(default_factory=dict)
    service: Value = None
    """By which service each was answered; None where nothing tells."""

    def held(self, columns: Iterator[Value]) -> "Said":
        """The same, with the next of some columns for whether each meaning holds."""
        return replace(self, meant=tuple(one._replace(holds=next(columns)) for one in self.meant))


def said(table: Value, columns: Sequence[Column]) -> Said:
    """What records say that have values in these columns, and in no others.

    Args:
        table: that has the columns.
        columns: in the order in which they stand in a record.
    """
    ordered = sorted(columns, key=lambda one: len(one.way))
    own = layout_of([one.way for one in ordered])
    by_way = {one.way: one for one in ordered}
    others = [by_way[way] for way in own.others]
    passed = any_of(others[place].among(table, values) for place, values in own.sums)
    columns_of = [by_way[way] for way in own.counts]
    how = plan(own.counts) if _is_plain(own) else None
    if how is None or how.failure:
        return Said(read=ibis.literal(value=False), passed=passed)
    models = [others[place] for place in own.roles["model"]]
    names = [one.of(table) for one in models if one.form == "text"]
    checks = [are_numbers(table, columns_of), *(others[place].is_no_count(table) for place, _ in own.suspects)]
    checks += [ibis.literal(one.form == "text") for one in models]
    values = [one.number(table) for one in columns_of]
    meant: list[Meant] = []
    for place in how.places:
        here = _meanings(place, values, names[0].lower() if names else ibis.literal(""))
        checks += [values[one] == values[other] for one, other in place.again]
        checks += [any_of(one.holds for one in here)] if len(how.places) > 1 else []
        meant += here
    seconds = usd = requests = None
    if places := own.roles["time"] or own.roles["time_ms"]:
        read, seconds = others[places[0]].seconds(table, per_s=1 if own.roles["time"] else 1000)
        checks.append(read)
    if places := own.roles["cost"]:
        read, usd = others[places[0]].usd(table)
        checks.append(read)
    if places := own.roles["requests"]:
        checks.append(are_numbers(table, [others[places[0]]]))
        requests = ibis.greatest(others[places[0]].number(table), 1)
    ids: dict[str, Value] = {"message": None, "request": None}
    for role, places in (("message", (*own.roles["id"], *own.roles["message"])), ("request", own.roles["request"])):
        for column in [others[place] for place in places if others[place].is_text]:
            value, kind = column.of(table), "uint64" if column.form == "key" else "string"
            other = ibis.null(kind) if ids[role] is None else ids[role]  # the innermost is that of the answer itself
            ids[role] = ibis.cases((value != (0 if column.form == "key" else ""), value), else_=other)
    service: Value = None
    if own.served:
        told = [others[place].as_service(table, role) for role in SERVED for place in own.roles[role]]
        named = told[: len(own.roles["service"])]
        checks += [one == named[0] for one in named[1:]]  # what two names say is for the reader of lines
        told += [ibis.literal("batch")] * own.batch
        service = reduce(lambda one, other: ibis.cases((one == STANDARD, other), else_=one), told)
        checks += [(one == STANDARD) | (one == service) for one in told] if len(told) > 1 else [service.notnull()]
    counted = [(others[place], what) for place, what, _ in own.fees]
    checks += [are_numbers(table, [column for column, _ in counted])] if counted else []
    return Said(
        read=all_of(checks),
        passed=passed,
        meant=tuple(sorted(meant, key=lambda one: not one.told)),
        requests=requests,
        models=reduce(lambda one, other: one + BETWEEN + other, names) if names else None,
        seconds=seconds,
        usd=usd,
        message=ids["message"],
        request=ids["request"],
        service=service,
        user=_user(table, [others[place] for place in (*own.roles["user"], *own.roles["key"])]),
        fees={
            what: sum(column.number(table) for column, other in counted if other == what)
            for what in dict.fromkeys(what for _, what in counted)
        },
    )


def _user(table: Value, columns: Sequence[Column]) -> Value | None:
    """The first name, or number, that is there."""
    names = [one.of(table).cast("string").nullif("") for one in columns if one.form in {"text", "count", "int"}]
    return ibis.coalesce(*names) if names else None


def _is_plain(own: Layout) -> bool:
    """Whether what stands beside the counts is read by a rule that no value changes."""
    fees = [(what, name) for _, what, name in own.fees]
    ticks = own.roles["ticks"] and not own.roles["cost"]
    if any(is_hit(path) for _, path in own.suspects):
        return False
    return bool(own.counts) and not own.running and not ticks and len(fees) == len(set(fees))


def _meanings(place: Place, values: Sequence[Value], model: Value) -> list[Meant]:
    own = [values[at] for at in place.at]
    found = []
    for fit in place.fits:
        sought, checks, parts, zero, _ = fit.meaning
        below = [form for form in dict.fromkeys((*parts, *sought)) if any(times < 0 for _, times in form)]
        holds = [own[at] == 0 for at in zero] + [_sum(form, own) == 0 for form in checks]
        holds += [_sum(form, own) >= 0 for form in below]
        if fit.has_models:
            holds.append(_speaks(fit.dialect, model))
        numbers = [_sum(form, own) for form in sought]
        told = len(numbers) > 2  # noqa: PLR2004 - more than input and output
        numbers += [] if told else [ibis.literal(0, "int64")] * 3
        found.append(Meant(fit, all_of(holds), tuple(numbers), told))
    return found


def _sum(form: Form, values: Sequence[Value]) -> Value:
    added, taken = (
        [values[place] if abs(times) == 1 else values[place] * abs(times) for place, times in form if times * sign > 0]
        for sign in (1, -1)
    )
    return reduce(sub, taken, reduce(add, added) if added else ibis.literal(0, "int64"))


def _speaks(dialect: Dialect, model: Value) -> Value:
    """As `Dialect.speaks`, of a name in small letters."""
    return any_of(
        model == ""
        if not part
        else (model != "") & ~model.contains(part[1:])
        if part[0] == "!"
        else model.contains(part)
        for part in dialect.models
    )


def all_of(conditions: Iterable[Value]) -> Value:
    """Whether all of them hold."""
    return reduce(and_, conditions, ibis.literal(value=True))


def any_of(conditions: Iterable[Value]) -> Value:
    """Whether any of them holds."""
    return reduce(or_, conditions, ibis.literal(value=False))
