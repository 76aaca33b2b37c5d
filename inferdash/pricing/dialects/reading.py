"""One record of a log -> what it says, by whatever dialect its names and numbers fit."""

import difflib
from collections import Counter
from collections.abc import Collection, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from inferdash.pricing.dialects.declared import bare_names, dialects, known_names, loose_names
from inferdash.pricing.dialects.doubled import doubled
from inferdash.pricing.dialects.fees import calls_in
from inferdash.pricing.dialects.fitting import Counted, Fit
from inferdash.pricing.dialects.names import normal
from inferdash.pricing.dialects.plans import Layout, Plan, agreed, layout, layout_of, placed, plan, shown
from inferdash.pricing.dialects.roles import ANSWERS, SHELLS
from inferdash.pricing.dialects.services import SERVED, STANDARD, YES, service_of
from inferdash.pricing.dialects.shapes import TEXTS, Path, Shape, Shapes, is_hit, is_like, is_text_level
from inferdash.pricing.logs.dates import Order
from inferdash.pricing.logs.values import MOST_TOKENS, Record, UnreadLineError, time_of, tokens, ungrouped

_MOST_SHAPES: Final = 512
_USD_PER_TICK: Final = Decimal("1e-10")
_LONGEST_NUMBER: Final = 80
_INT: Final[frozenset[type]] = frozenset({int})
_TEXT: Final[frozenset[type]] = frozenset({str})
_MOST_LETTERS: Final = 4096
_TIMES: Final = frozenset({"hour", "undated"})
"""Parts that matter only where something was stored."""


Told: TypeAlias = tuple[str, tuple[str, ...], int, int]
"""A dialect, parts that its records do not tell, how many records, and those of them that stored something."""


class Said(NamedTuple):
    """What one record of a log says."""

    counted: Counted
    time_s: float | None
    models: tuple[str, ...]
    message: str
    """Id of the answer, which copies of it share; "" where there is none."""
    request: str
    """Id of the request."""
    certain: bool
    """Whether the id of the answer is one beyond doubt, not any id that stands in the record."""
    running: tuple[int, ...]
    """Running totals beside the counts."""
    usd: Decimal | None
    """What its maker says that it cost."""
    requests: int
    """Requests that the record sums up; 0 where it is a sum of a number that is not told."""
    apart: tuple[tuple[str, int], ...]
    """What is counted in other things than tokens, and how many."""
    service: str
    """By which service it was answered, a key of `SERVICES`."""
    user: str
    """Who asked: the name of a user, else of a key; "" where there is none."""


class Reader:
    """Reads records, and keeps how those of a shape are read."""

    def __init__(self) -> None:
        self.order: Order = ""
        """What stands first in dates such as 11/02/2026."""
        self._before: list[Told] = []
        self._fits: dict[Fit, int] = {}
        self._storing: dict[Fit, int] = {}
        self._shapes = Shapes()
        self._layouts: dict[Shape, Layout] = {}
        self._plans: dict[tuple[Path, ...], Plan] = {}
        self._last: Layout | None = None
        """How the record before was read, as most are like it."""

    def __getstate__(self) -> dict[str, Any]:
        """What is kept of it: not how records of a shape are read, which is found again."""
        return {"order": self.order, "_before": self._told()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]  # as new, but for what was kept
        self.__dict__.update(kept)

    def read(self, record: Record, text: str = "") -> Said | None:
        """What a record says; None where it is of a kind that is no request.

        Args:
            record: the record, whose levels that are texts are opened in it.
            text: the JSON that it was read from, where a name may stand twice.

        Raises:
            UnreadLineError: where it is one and its counts are not understood.
        """
        own = self._layout(record)
        others, roles = own.others_getter.of(record), own.roles
        for place, values in own.sums:
            value = others[place]
            if type(value) is str and value in values:
                return None
        for place, path in own.suspects:
            if _is_count(others[place]):
                raise UnreadLineError("unknown", _unknown(path))
            if is_hit(path) and _is_yes(others[place]):
                raise UnreadLineError("gateway", shown(path))
        if not own.counts:
            _no_counts(record, own)
            return None
        if text and text.count('":') != own.names and (name := doubled(text, own.marks)):
            raise UnreadLineError("twice", name)
        models = _texts(others, places) if (places := roles["model"]) else (own.model,) if own.model else ()
        counted, fit = self._counted(record, own, models[0] if models else "")
        message = _text(others, places) if (places := roles["message"]) else ""
        said = (
            counted,
            _time(others, own, self.order),
            models,
            message or (_text(others, places) if (places := roles["id"]) else ""),
            _text(others, places) if (places := roles["request"]) else "",
            own.certain or message != "",
            tuple([_at(record, path) for path in own.running]) if own.running else (),
            _usd(others, own) if roles["cost"] or roles["ticks"] else None,
            _requests(others, own) if roles["requests"] else 1 - fit.dialect.sums,
            _apart(record, others, own) if own.fees or own.lists else (),
            _service(others, own) if own.served else STANDARD,
            _user(others, (*roles["user"], *roles["key"])) if roles["user"] or roles["key"] else "",
        )
        return tuple.__new__(Said, said)  # twice as fast, for each line of a file

    @property
    def dialects(self) -> Counter[str]:
        """Records by the dialect that they were read in."""
        counted: Counter[str] = Counter()
        for dialect, _, records, _ in self._told():
            counted[dialect] += records
        return counted

    @property
    def assumed(self) -> Counter[tuple[str, str]]:
        """Records by dialect and a part that they do not tell, as it is left out where it is 0."""
        counted: Counter[tuple[str, str]] = Counter()
        for dialect, assumed, records, storing in self._told():
            for part in assumed:
                counted[dialect, part] += storing if part in _TIMES else records
        return +counted

    def _told(self) -> list[Told]:
        """How many records were read as what, those before this reader went on included."""
        own = [(fit.name, fit.assumed, many, self._storing.get(fit, 0)) for fit, many in self._fits.items()]
        return [*self._before, *own]

    def columns(self, header: Sequence[str]) -> tuple[list[tuple[int, str, str]], str]:
        """The columns of a table that say something, and what is missing for it to be a log.

        Each is its place, its name, and what an empty cell stands for: where a table counts what was read or stored,
        nothing was.
        """
        own = layout_of([(name,) for name in dict.fromkeys(header)])
        said = {path[0] for path in (*own.counts, *own.others, *(path for path, _ in own.kinds))}
        levels = {name for name in header if is_text_level(name)}
        details = {path[0] for path in own.counts if (one := placed(path)) and one[1] not in bare_names()}
        kept = [
            (place, name, "0" if name in details else "")
            for place, name in enumerate(header)
            if name in said or name in levels
        ]
        failure = self._plan(own.counts).failure if own.counts else ("input", "")
        if levels or failure is None or failure[0] == "unknown":
            return kept, ""
        return kept, failure[1] or "no columns of input and output tokens"

    def _layout(self, record: Record) -> Layout:
        if self._last and is_like(record, self._last.seen):
            return self._last
        shape = self._shapes.of(record)
        own = self._layouts.get(shape)
        if own is None:
            own = layout(shape)
            if self._shapes.kept:
                if len(self._layouts) >= _MOST_SHAPES:
                    self._layouts.clear()
                self._layouts[shape] = own
        self._last = own if own.seen and self._shapes.kept else None
        return own

    def _counted(self, record: Record, own: Layout, model: str) -> tuple[Counted, Fit]:
        if own.plan is None:
            own.plan = self._plan(own.counts)
        how, said = own.plan, own.getter.of(record)
        values = said if own.types == _INT else _numbers(said, own.types or {*map(type, said)})
        if values is None or min(values) < 0 or max(values) > MOST_TOKENS:
            how, values = self._mended(own, said)
        if how.failure:
            how, values = self._without_nothing(own, how, values)
        found = (
            how.places[0].meanings(values, model)
            if len(how.places) == 1
            else [one for place in how.places for one in place.meanings(values, model)]
        )
        counted, fit = found[0] if len(found) == 1 else agreed(found)
        self.note(fit, lines=1, storing=bool(counted.recorded and counted.recorded.written_tokens))
        return counted, fit

    def note(self, fit: Fit, *, lines: int, storing: int) -> None:
        """Counts records that were read in a dialect, and those of them that stored something in a cache."""
        self._fits[fit] = self._fits.get(fit, 0) + lines
        if fit.assumed and storing:
            self._storing[fit] = self._storing.get(fit, 0) + storing

    def _mended(self, own: Layout, values: list[Any]) -> tuple[Plan, list[int]]:
        """Values that are no plain numbers: a prompt or an answer that is a text is no count."""
        kept, numbers = [], []
        for path, value in zip(own.counts, values, strict=True):
            if is_hit(path) and _is_yes(value):
                raise UnreadLineError("gateway", shown(path))
            if not (path[-1] in TEXTS and _is_text(value)):
                kept.append(path)
                is_loose = (one := placed(path)) is not None and one[1] in loose_names()
                numbers.append(0 if is_loose or (value is False and is_hit(path)) else tokens(value, missing="tokens"))
        if not kept:
            raise UnreadLineError("tokens")
        return self._plan(tuple(kept)), numbers

    def _without_nothing(self, own: Layout, how: Plan, values: list[int]) -> tuple[Plan, list[int]]:
        """The counts that are not 0, where a dialect knows all of them."""
        if how.failure and how.failure[0] == "unknown" and 0 in values and len(values) == len(own.counts):
            kept = tuple(path for path, value in zip(own.counts, values, strict=True) if value)
            if kept:
                how, values = self._plan(kept), [value for value in values if value]
        if how.failure:
            raise UnreadLineError(*how.failure)
        return how, values

    def _plan(self, counts: tuple[Path, ...]) -> Plan:
        found = self._plans.get(counts)
        if found is None:
            found = plan(counts)
            if sum(len(name) for path in counts for name in path) <= _MOST_LETTERS:
                if len(self._plans) >= _MOST_SHAPES:
                    self._plans.clear()
                self._plans[counts] = found
        return found


def _no_counts(record: Record, own: Layout) -> None:
    """Nothing where a record without counts is of a kind that has none.

    Raises:
        UnreadLineError: where it should have some.
    """
    if own.running:
        raise UnreadLineError("running")
    said = {kind: _at(record, path) for path, kind in own.kinds}
    answers = any(type(value) is str and value in ANSWERS.get(kind, ()) for kind, value in said.items())
    if said.get("payloadtype") == "token_count":
        answers = "info" not in record["payload"]  # where it is there and null, only limits are told
    if answers or not said or ({*said} == {"type"} and said["type"] in SHELLS):
        raise UnreadLineError("input")


def _at(record: Any, path: Path) -> Any:
    for name in path:
        record = record[name]
    return record


def _numbers(values: list[Any], types: Collection[type]) -> list[int] | None:
    """Whole numbers, or texts of digits as numbers; None where a value is neither."""
    if types == _INT:
        return values
    if types != _TEXT or not (joined := "".join(values)).isdigit() or not joined.isascii():
        return None
    try:
        return [*map(int, values)]
    except ValueError:  # an empty one
        return None


def _is_text(value: Any) -> bool:
    return type(value) is str and not value.strip().replace(".", "").replace(",", "").lstrip("-").isdigit()


def _is_yes(value: Any) -> bool:
    return value is True or (type(value) is str and value in YES)


def _is_count(value: Any) -> bool:
    """Whether it is a whole number other than 0, or the text of one."""
    if type(value) is str:
        if value[:1].isalpha():  # no number, or none that is a count
            return False
        try:
            value = float(ungrouped(value)) if len(value) <= _LONGEST_NUMBER else 0.0
        except ValueError:
            return False
    if type(value) is float:
        return value.is_integer() and value != 0
    return type(value) is int and value != 0


def _text(values: Sequence[Any], places: Sequence[int]) -> str:
    for place in reversed(places):  # the innermost is that of the answer itself
        value = values[place]
        if type(value) is str and value:
            return value
    return ""


def _texts(values: Sequence[Any], places: Sequence[int]) -> tuple[str, ...]:
    return tuple([name for place in places if type(value := values[place]) is str and (name := value.strip())])


def _user(values: Sequence[Any], places: Sequence[int]) -> str:
    """The first name, or number, that is there."""
    for place in places:
        value = values[place]
        if (type(value) is str and value) or type(value) is int:
            return str(value)
    return ""


def _time(values: Sequence[Any], own: Layout, order: Order) -> float | None:
    for place in own.roles["time"]:
        if (seconds := time_of(values[place], order=order)) is not None:
            return seconds
    for place in own.roles["time_ms"]:
        if (seconds := time_of(values[place], per_s=1000.0)) is not None:
            return seconds
    return None


def _usd(values: Sequence[Any], own: Layout) -> Decimal | None:
    for role, times in (("cost", Decimal(1)), ("ticks", _USD_PER_TICK)):
        for place in own.roles[role]:
            value = values[place]
            if type(value) in {int, float, str}:
                try:
                    usd = Decimal(str(value).strip().lstrip("$")[:_LONGEST_NUMBER]) * times
                except InvalidOperation:
                    continue
                if usd.is_finite() and usd >= 0:
                    return usd
    return None


def _requests(values: Sequence[Any], own: Layout) -> int:
    return max(1, tokens(values[own.roles["requests"][0]], missing="tokens"))


def _apart(record: Record, values: Sequence[Any], own: Layout) -> tuple[tuple[str, int], ...]:
    said: dict[tuple[str, str], int] = {}
    for place, what, name in own.fees:
        if _is_count(values[place]):  # one name at two places is one count
            said[what, name] = max(said.get((what, name), 0), tokens(values[place], missing="tokens"))
    found: Counter[str] = Counter()
    for (what, _), many in said.items():
        found[what] += many
    if not found:
        for path in own.lists:
            found.update(calls_in(_at(record, path)))
    return tuple(sorted((+found).items()))


def _service(values: Sequence[Any], own: Layout) -> str:
    said, speeds, flags = ([values[place] for place in own.roles[role]] for role in SERVED)
    return service_of(said, speeds, flags, batch=own.batch)


def _unknown(path: Path) -> str:
    near = difflib.get_close_matches(normal(path[-1])[:_LONGEST_NUMBER], known_names(), n=1, cutoff=0.75)
    written = next((one for one in _spelled() if normal(one) == near[0]), "") if near else ""
    return f"{shown(path)}{f' (is it {written}?)' if written and written != path[-1] else ''}"


@cache
def _spelled() -> frozenset[str]:
    return frozenset(name for one in dialects() for name in one.counts)
