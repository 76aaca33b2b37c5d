"""Whether a dialect fits the names of a record, and what their values then mean."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from inferdash.pricing.dialects.declared import INPUT, OUTPUT, STORED, Dialect, dialects
from inferdash.pricing.dialects.equations import Form, Solved, solve
from inferdash.pricing.dialects.names import normal
from inferdash.pricing.replay import Split

LACKS: Final = "lacks"
"""Reason: a name without which the maker never writes such a record."""
_LEFT_OUT: Final = ("tools", "thought", "answer", "written", "read")
"""Parts that a maker may leave out where they are 0; a total that says more than the rest contradicts that."""
_WHOLE: Final = {"input": INPUT, "output": OUTPUT}
_BARE: Final = "a log without cached tokens"
_UNDATED: Final = ("hour", "undated")
"""Parts that no maker tells apart without a reason."""
Misfit: TypeAlias = tuple[str, str]
"""Why a dialect does not fit: a reason, and what to say of it."""


class Counted(NamedTuple):
    """What an API counted for one request, the same for all makers."""

    input_tokens: int
    """All tokens of the prompt: fresh, read from the cache, and stored in it."""
    output_tokens: int
    """All output tokens, hidden reasoning included."""
    recorded: Split | None
    """What was read and stored, where the log says it."""


class Fit:
    """What a record's values are under one dialect, or under several that mean the same."""

    def __init__(
        self,
        dialect: Dialect,
        *,
        sought: Sequence[Form],
        checks: Sequence[Form],
        parts: Sequence[Form],
        zero: Sequence[int],
        assumed: tuple[str, ...],
    ) -> None:
        """Prepares how values are read.

        Args:
            dialect: the one that fits.
            sought: input, output, and read, stored, stored for an hour; without the last three nothing of the cache is
                told.
            checks: sums that are 0.
            parts: all parts that follow; none is below 0.
            zero: places of values that have a price of their own, so only 0 is read.
            assumed: parts that no count tells and that are 0 then.
        """
        self.dialect = dialect
        self.name = dialect.name if len(sought) > len(_WHOLE) else _BARE
        """How a reader is told of it: without a word of the cache, many makers write the same."""
        self.has_models = bool(dialect.models)
        """Whether it is spoken with some models alone."""
        self.assumed = assumed
        self.meaning = (tuple(sought), tuple(checks), tuple(parts), tuple(zero), dialect.models)
        """What it means, the same for dialects that mean the same."""
        self.read = _reader(sought, checks=checks, parts=parts, zero=zero)
        """From values to the counts, or to the reason why they are not of this dialect."""


def _reader(
    sought: Sequence[Form], *, checks: Sequence[Form], parts: Sequence[Form], zero: Sequence[int]
) -> Callable[[Sequence[int]], Counted | str]:
    """A function from values to counts.

    It runs for every line of a log, and its places are numbers of this program, so it is written as code: a call for
    each sum would take three times as long.
    """
    below = [form for form in dict.fromkeys((*parts, *sought)) if any(times < 0 for _, times in form)]
    tests = [f"'priced' if {' or '.join(f'v[{place}]' for place in zero)} else "] if zero else []
    tests += [f"'total' if {' or '.join(map(_sum, checks))} else "] if checks else []
    tests += [f"'sum' if {' or '.join(f'{_sum(form)} < 0' for form in below)} else "] if below else []
    whole, split = sought[: len(_WHOLE)], sought[len(_WHOLE) :]
    told = f"new(Split, ({', '.join(map(_sum, split))}))" if split else "None"
    code = f"lambda v: {''.join(tests)}new(Counted, ({', '.join(map(_sum, whole))}, {told}))"
    names = {"new": tuple.__new__, "Split": Split, "Counted": Counted, "__builtins__": {}}
    return eval(code, names)  # type: ignore[no-any-return]  # noqa: S307 - made of numbers and these names alone


def _sum(form: Form) -> str:
    """A sum of values as code."""
    terms = [f"{'-' if times < 0 else '+'}{abs(times)}*v[{place}]" for place, times in form]
    return "".join(terms).replace("+1*", "+").replace("-1*", "-").removeprefix("+") or "0"


@dataclass(frozen=True)
class Grammar:
    """A dialect by the normal forms of its names."""

    dialect: Dialect
    counts: Mapping[str, tuple[str, ...]]
    names: frozenset[str]
    needs: frozenset[str]
    some: tuple[str, ...]
    together: tuple[tuple[str, tuple[str, ...]], ...]
    bare: frozenset[str]
    priced: frozenset[str]

    def fit(self, names: Sequence[str]) -> Fit | Misfit | None:
        """How it fits names of which each is known to it; None where a record of it has others."""
        own = {*names}
        if not self.needs <= own:
            return None
        if self.some and not any(name.startswith(self.some) for name in own):
            return None
        told = self.dialect.told
        counted = [place for place, name in enumerate(names) if name in self.counts]
        sets = [[part for part in self.counts[names[place]] if part in told] for place in counted]
        columns = [part for part in (*INPUT, *OUTPUT) if part in told]
        solved = solve(sets, columns)
        if lacking := self._lacking(own, solved):
            return self._lacks(lacking)
        is_bare = bool(self.bare) and all(name in self.bare or self._of_output(name) for name in own)
        absent = {*self.dialect.silent, *(INPUT if is_bare else ())}
        if (missing := self._missing(own, self.dialect.silent)) is not None:
            return missing, ""
        zero: list[str] = []
        for parts in (*([part] for part in _UNDATED), _LEFT_OUT):
            left = [part for part in parts if part in columns and (part in absent or part in _UNDATED)]
            zero += [part for part in left if solved.form([part]) is None]
            solved = solve([*sets, *([part] for part in zero)], columns)
        split = {"read": ("read",), "stored": STORED, "hour": ("hour",)}
        forms = {
            name: solved.form([part for part in parts if part in told]) for name, parts in (_WHOLE | split).items()
        }
        for name in _WHOLE:
            if forms[name] is None:
                return name, ""
        if not is_bare and None in forms.values():
            return self._lacks(f"what was {'read' if forms['read'] is None else 'stored'}")

        def placed(form: Form | None) -> Form:
            return tuple((counted[place], times) for place, times in form or () if place < len(counted))

        sought = [forms[name] for name in (_WHOLE if is_bare else forms)]
        return Fit(
            self.dialect,
            sought=[placed(form) for form in sought],
            checks=[form for check in solved.checks if (form := placed(check))],
            parts=[placed(one) for part in columns if (one := solved.form([part])) is not None],
            zero=[place for place, name in enumerate(names) if name in self.priced],
            assumed=() if is_bare else tuple(zero),
        )

    def _lacks(self, what: str) -> Misfit:
        hint = self.dialect.hint
        return LACKS, f"{self.dialect.name} without {what}{'; ' * bool(hint)}{hint}"

    def _lacking(self, own: Collection[str], solved: Solved) -> str:
        """A name without which its maker never writes such a record, and whose parts do not follow either."""
        told = self.dialect.told
        for start, required in self.together:
            if not any(name.startswith(start) for name in own):
                continue
            for name in required:
                parts = [part for part in self.counts.get(normal(name), ()) if part in told]
                is_total = {*solved.columns} <= {*parts}  # which follows always, and so tells nothing
                if normal(name) not in own and (not parts or is_total or solved.form(parts) is None):
                    return name
        return ""

    def _missing(self, own: Collection[str], absent: Collection[str]) -> str | None:
        """Whether a count of the input, or of the output, is missing; totals do not stand for one."""
        for part, side in (("fresh", "input"), ("answer", "output")):
            named = (self.counts.get(name, ()) for name in own)
            if part not in absent and not any(part in parts and not {*INPUT, *OUTPUT} <= {*parts} for parts in named):
                return side
        return None

    def _of_output(self, name: str) -> bool:
        """Whether a name says nothing of the input, let alone of the cache."""
        return name not in self.counts or {*self.counts[name]} <= {*OUTPUT}


@cache
def grammars() -> tuple[Grammar, ...]:
    """All dialects."""
    return tuple(
        Grammar(
            dialect=one,
            counts={normal(name): parts for name, parts in one.counts.items()},
            names=frozenset(map(normal, (*one.counts, *one.within, *one.priced))),
            needs=frozenset(map(normal, one.needs)),
            some=tuple(map(normal, one.some)),
            together=tuple((normal(start), names) for start, names in one.together.items()),
            bare=frozenset(map(normal, one.bare)),
            priced=frozenset(map(normal, one.priced)),
        )
        for one in dialects()
    )


def fits(names: Sequence[str]) -> tuple[tuple[Fit, ...], tuple[Misfit, ...]]:
    """Every dialect that knows all these names and fits, those that mean the same once; and why others do not."""
    found: dict[object, Fit] = {}
    misfits: list[Misfit] = []
    for grammar in grammars():
        if not grammar.names.issuperset(names):
            continue
        fit = grammar.fit(names)
        if isinstance(fit, Fit):
            found.setdefault(fit.meaning, fit)
        elif fit is not None:
            misfits.append(fit)
    return tuple(found.values()), tuple(misfits)


def nearest(names: Iterable[str]) -> tuple[Grammar, tuple[str, ...]]:
    """The dialect that knows most of some names, and those that it does not know."""
    own = [*names]
    best = max(grammars(), key=lambda grammar: sum(name in grammar.names for name in own))
    return best, tuple(name for name in own if name not in best.names)
