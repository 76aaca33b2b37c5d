"""Random scenarios and pairs without a page: every study, its words, the workbook and pictures, many times as quick.

`sweep_scenarios` reads what Streamlit shows of them.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from bench.sweep import swept
from inferdash import answers, links, pairs, pictures
from inferdash.pairs import Pair
from inferdash.scenario import Scenario
from inferdash.studies import comparison, side_by_side, variants
from inferdash.studies.report import STUDIES
from inferdash.workbook import workbook
from tests.numbers import NO_NUMBER, several, wrong_results
from tests.scenarios import beside, canonical, valid

_SLOW_S = 20.0
"""Seconds of processor of one way for one scenario, from which on it is a finding."""


_SHRUNK_S = 60.0
"""In which a finding is made small."""
_WHOLE = 10
"""One scenario in so many has every accelerator that it draws in its plan."""


@dataclass(frozen=True)
class _Way:
    name: str
    wrong: Callable[[Pair], Iterator[str]]


def main() -> int:
    """Asks, and returns the exit status."""
    return swept("random scenarios in every report", 3000, found)


def found(count: int, seed: int) -> Iterator[str]:
    """What is wrong, as it is found, each kind once."""
    told: set[str] = set()
    for number in range(seed, seed + count):
        scenario = _quick(valid(number)) if number % _WHOLE else valid(number)
        pair = Pair(beside(number, scenario), scenario) if number % 3 == 0 else Pair(scenario)
        for way in _WAYS:
            yield ""
            kinds = _kinds(way, pair)
            for kind in kinds.keys() - told:
                told.add(kind)
                yield f"seed {number}, {way.name}: ?{pairs.encode(least(pair, kind, way))}\n    {kinds[kind]}"
        if (number - seed + 1) % 100 == 0:
            print(f"  {number - seed + 1} asked", flush=True)


def _quick(scenario: Scenario) -> Scenario:
    """The same with few accelerators and formats to plan with, which take most of the time."""
    few = {name: getattr(scenario, name)[:4] for name in ("considered", "formats")}
    return canonical(links.read({**dict(scenario), **few})[0])


def least(pair: Pair, kind: str, way: _Way) -> Pair:
    """A pair with as many fields as can be at the chapter's example, so that the same is still wrong."""
    for alone in (Pair(pair.edited), Pair(pair.a)) if pair.b else ():
        if kind in _kinds(way, alone):
            pair = alone
            break
    end = time.monotonic() + _SHRUNK_S
    for name in {**links.parameters(pair.a), **links.parameters(pair.edited)}:
        if time.monotonic() > end:
            break
        fewer = Pair(_without(pair.a, name), pair.b and _without(pair.b, name))
        if fewer != pair and kind in _kinds(way, fewer):
            pair = fewer
    return pair


def _without(scenario: Scenario, name: str) -> Scenario:
    decoded = links.decode([one for one in links.parameters(scenario).items() if one[0] != name])
    return scenario if decoded.problems else canonical(decoded.scenario)


def _kinds(way: _Way, pair: Pair) -> dict[str, str]:
    """Kind of what is wrong -> what is wrong."""
    begin, wrong = time.process_time(), list[str]()
    try:
        wrong += way.wrong(pair)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        wrong.append(f"{type(error).__name__}: {error} at {_place(error)}")
    if time.process_time() - begin > _SLOW_S:
        wrong.append(f"slow: {time.process_time() - begin:.0f} s")
    return {f"{way.name}: {''.join(c for c in one[:80] if not c.isdigit())}": one for one in wrong}


def _place(error: Exception) -> str:
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    return f"{frame.tb_frame.f_code.co_filename.rpartition('/')[2]}:{frame.tb_lineno}" if frame else ""


def _numbers(name: str) -> Callable[[Pair], Iterator[str]]:
    def wrong(pair: Pair) -> Iterator[str]:
        for scenario in (pair.a, pair.b) if pair.b else (pair.a,):
            yield from wrong_results(name, scenario)
        said = answers.page(name, pairs.encode(pair))
        yield from _unsaid(said, said["sentence"])

    return wrong


def _unsaid(value: Any, sentence: str) -> Iterator[str]:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        yield f"JSON: {error}"
    yield from _words(sentence)


def _words(text: str) -> Iterator[str]:
    met = NO_NUMBER.search(text)
    if met:
        yield f"a word that is no number: …{text[max(0, met.start() - 60) : met.end() + 20]}…"


def _markdown(pair: Pair) -> Iterator[str]:
    yield from _words(side_by_side.markdown(pair, "http://here"))


def _workbook(pair: Pair) -> Iterator[str]:
    if not workbook(pair, link="http://here", day="2026-11-30"):
        yield "the workbook is empty"


def _pictures(pair: Pair) -> Iterator[str]:
    for name in STUDIES:
        drawn = pictures.picture(name, pair)
        yield from _unsaid(drawn.spec if drawn else {}, "")


def _variants(pair: Pair) -> Iterator[str]:
    scenario = pair.edited
    random = Random(pairs.encode(pair))  # noqa: S311 - nothing is kept secret with it
    name = random.choice([*variants.fields(scenario)])
    given = several(name, scenario)
    values = variants.values(given) if isinstance(given, str) else given
    made = variants.variants(scenario, name, values)
    page = random.choice([*comparison.PAGES])
    if made.scenarios:
        yield from _words(variants.table(page, made).markdown())
        yield from _unsaid(variants.records(page, made), "")


_WAYS = (
    *(_Way(name, _numbers(name)) for name in STUDIES),
    _Way("Markdown", _markdown),
    _Way("workbook", _workbook),
    _Way("pictures", _pictures),
    _Way("variants", _variants),
)


if __name__ == "__main__":
    sys.exit(main())
