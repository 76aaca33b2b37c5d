"""What one scenario does to the headline numbers of another, page by page, and the difference in words.

Ratios are of B to A. A limit is never held against an expectation, and a number that one of the two does not have
has no ratio.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from inferdash import quantities
from inferdash.scenario import Scenario
from inferdash.studies import reasons, report
from inferdash.studies.differing import differing, in_brackets, of_other_make
from inferdash.studies.numbers import Headline, show
from inferdash.studies.price import traffic
from inferdash.studies.ratios import Ratio

_MOST: Final = 4
"""Numbers that a sentence compares."""
_ALIKE: Final = 0.005
"""Up to so far from 1 a ratio is no difference."""
BATCH: Final = re.compile(r"batch ([\d,]+)")
"""The batch in the label of a number."""

PAGES: Final = {name: study for name, study in report.PAGES.items() if name != traffic.NAME}
"""The pages whose numbers follow from a link."""


class Answer(NamedTuple):
    """What a page says of a scenario."""

    sentence: str
    shown: tuple[Headline, ...]


@dataclass(frozen=True)
class Beside:
    """A headline number of both scenarios; None where one of them does not have it."""

    name: str
    a: Headline | None
    b: Headline | None

    @property
    def unit(self) -> str:
        """Its base unit."""
        found = self.a or self.b
        return found.unit if found else ""

    @property
    def comparable(self) -> bool:
        """Whether both are known, in one unit, and both at the limit or both expected."""
        return (
            self.a is not None
            and self.b is not None
            and (self.a.unit, self.a.kind) == (self.b.unit, self.b.kind)
            and self.a.value is not None
            and self.b.value is not None
        )

    @property
    def ratio(self) -> float | None:
        """B over A; None where they cannot be compared, or A is 0."""
        if not self.comparable or not (self.a and self.b and self.a.value) or self.b.value is None:
            return None
        return self.b.value / self.a.value

    @property
    def words(self) -> Ratio | None:
        """How its ratio is said; None of a share, which is said of both."""
        found = self.a or self.b
        return found.ratio if found else None

    @property
    def gained(self) -> bool | None:
        """Whether B gains by it; None where it neither gains nor loses, or they cannot be compared."""
        if not (self.comparable and self.words and self.a and self.b):
            return None
        return self.words.gained(self.a.value or 0.0, self.b.value or 0.0)

    @property
    def within_bands(self) -> bool:
        """Whether the band of each holds the number of the other too."""
        if not (self.comparable and self.a and self.b and self.a.band and self.b.band):
            return False
        pairs = ((self.a.value, self.b.band), (self.b.value, self.a.band))
        return all(value is not None and low <= value <= high for value, (low, high) in pairs)

    @property
    def said(self) -> str:
        """B to A, as it stands in a column: in words, or the difference of two shares; why not, where there is none."""
        if self.a and self.b and not self.comparable:
            return "limit and expected" if self.a.kind != self.b.kind and self.a.unit == self.b.unit else ""
        if self.unit == "%" and self.a and self.b:
            points = 100 * ((self.b.value or 0.0) - (self.a.value or 0.0))
            return "the same" if abs(points) < 0.05 else f"{points:+.1f} points".replace("-", "−")  # noqa: PLR2004 - as it is rounded
        if self.ratio is None:
            return ""
        if self.ratio == 1:
            return "the same"
        return self.words.said(self.ratio) if self.words and self.words.text else f"× {quantities.digits(self.ratio)}"


@lru_cache(maxsize=64)
def answer(page: str, scenario: Scenario) -> Answer:
    """The sentence and the headline numbers of a page of `PAGES`."""
    study, drawn = PAGES[page], _drawn(page, scenario)
    result = study.study(drawn)
    return Answer(study.sentence(scenario, result), tuple(study.headline_numbers(drawn, result)))


def figures(page: str, scenario: Scenario, *, of: str = "") -> Sequence[Headline]:
    """The headline numbers of a page of `PAGES` without what stands below them, where that takes longer.

    In a table of several values of a field, `of`, those of a batch are at the batch of the row.
    """
    study, drawn = PAGES[page], _drawn(page, scenario)
    if of == "batch" and hasattr(study, "at_its_batch"):
        own: Sequence[Headline] = study.at_its_batch(drawn)
        return own
    told: Callable[[Scenario, Any], Sequence[Headline]] = getattr(study, "figures", study.headline_numbers)
    return told(drawn, study.study(drawn))


def _drawn(page: str, scenario: Scenario) -> Scenario:
    """The scenario as the page draws it."""
    study = PAGES[page]
    drawn: Scenario = study.as_drawn(scenario) if hasattr(study, "as_drawn") else scenario
    return drawn


def headlines(page: str, a: Scenario, b: Scenario) -> list[Beside]:
    """The headline numbers of a page for both, in the order of the page, those of B alone last."""
    of_a, of_b = ({one.name: one for one in answer(page, scenario).shown} for scenario in (a, b))
    return [Beside(name, of_a.get(name), of_b.get(name)) for name in of_a | of_b]


def sentence(page: str, a: Scenario, b: Scenario) -> str:
    """What B does to the numbers of a page, in words: what it gains, then what it loses.

    Of two that have no number in common, what the page says of each.
    """
    if not differing(a, b):
        return "A and B are the same scenario."
    found = [one for one in headlines(page, a, b) if one.a and one.b]
    if not any(one.comparable for one in found):
        return f"A: {answer(page, a).sentence} B: {answer(page, b).sentence}"
    phrases = {phrase: one for one in found if (phrase := _phrase(one, found))}
    if not phrases:
        said = [answer(page, one).sentence for one in (a, b)]
        more = f" A: {said[0]} B: {said[1]}" if said[0] != said[1] else ""
        return f"The headline numbers of this page are the same for A and B.{more}"
    shown = dict([*phrases.items()][:_MOST])
    inline, end = _batches(shown)
    lost = [phrase for phrase, one in shown.items() if one.gained is False]
    apart = lost if any(one.gained for one in shown.values()) else []
    parts = [[phrase for phrase in shown if phrase not in apart], apart]
    said = [_listed([f"{phrase}{inline.get(phrase, '')}" for phrase in part]) for part in parts if part]
    doubt = _doubt(shown) if of_other_make(a, b) else ""
    return f"With B{in_brackets(a, b)}, {', but '.join(said)}.{end}{doubt}{reasons.rents(a, b, told=shown.values())}"


def _doubt(phrases: Mapping[str, Beside]) -> str:
    """Which of the differences that were told are smaller than what is uncertain of both, in words."""
    within = [one for one in phrases.values() if one.within_bands]
    if not within:
        return ""
    if len(within) == len(phrases):
        return " All of this lies within both 80% bands: which is better is not sure."
    verb = "lies" if len(within) == 1 else "lie"
    named = _listed([_lower(one.name) for one in within])
    return f" Of that, {named} {verb} within both 80% bands and {'is' if verb == 'lies' else 'are'} not sure."


def _batches(phrases: Mapping[str, Beside]) -> tuple[dict[str, str], str]:
    """That numbers are of another batch in B than in A, as where one does not fit.

    What is said behind each phrase, and at the end of the sentence where that is one thing for several.
    """
    batches: dict[str, tuple[str, str]] = {}
    for phrase, one in phrases.items():
        a, b = (BATCH.search(shown.label) if shown else None for shown in (one.a, one.b))
        if a and b and a[0] != b[0]:
            batches[phrase] = a[1], b[1]
    if len(batches) > 1 and len({*batches.values()}) == 1:
        a_batch, b_batch = next(iter(batches.values()))
        return {}, f" B is at a batch of {b_batch}, A at {a_batch}."
    return {phrase: f" (batch {b_batch} against {a_batch})" for phrase, (a_batch, b_batch) in batches.items()}, ""


def _phrase(one: Beside, found: Sequence[Beside]) -> str:
    """How a number of B differs from that of A; nothing where it does not, or another number says it."""
    if one.comparable and (one.words is None or not one.ratio):  # a share, or one of the two is 0
        text = one.words.text if one.words else f"the {_lower(one.name)} is {{}}"
        was, now = (_told(shown, text) for shown in (one.a, one.b))
        return "" if was == now or not text else f"{text.format(now)} instead of {was}"
    if one.words is None:
        return ""
    if one.ratio is None or abs(one.ratio - 1) < _ALIKE:
        return ""
    other = next((beside.ratio for beside in found if beside.name == one.words.told_by), None)
    if other is not None and abs(one.ratio / other - 1) < _ALIKE:
        return ""
    return one.words.text.format(one.words.said(one.ratio))


def _told(shown: Headline | None, text: str) -> str:
    """A number with its unit, but where the text says what is counted: "2" of "{} requests fit"."""
    if shown is None or shown.value is None:
        return ""
    return str(quantities.shown(shown.value, shown.unit)) if text.endswith("{}") else f"{shown.value:,.15g}"


def _lower(name: str) -> str:
    return name if name[:2].isupper() else name[0].lower() + name[1:]


def _listed(phrases: Sequence[str]) -> str:
    if len(phrases) == 1:
        return phrases[0]
    comma = "," if len(phrases) > 2 else ""  # noqa: PLR2004 - a pair has none
    return f"{', '.join(phrases[:-1])}{comma} and {phrases[-1]}"


def tab(title: str, shown: Sequence[Headline], found: Sequence[Beside] = ()) -> str:
    """The answer in a few words, for a tab, a bookmark or a preview: the page and the first of its numbers.

    Args:
        title: the page's name.
        shown: its headline numbers.
        found: those of two scenarios, whose first is said for both.
    """
    first = next((one for one in found if one.comparable and one.a and one.b), None)
    if first and first.a and first.b:
        said = (f"{who} {show(one.value, one.unit)}" for who, one in (("A", first.a), ("B", first.b)))
        return f"{title}: {', '.join(said)}"
    known = [show(one.value, one.unit) for one in shown[:1] if one.value is not None]
    return f"{title}{''.join(f': {one}' for one in known)}"
