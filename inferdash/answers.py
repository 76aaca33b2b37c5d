"""What a program asks about a scenario, in values that JSON can hold.

The terminal, HTTP, an assistant and a notebook all ask here, so that all have the same number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from functools import lru_cache
from types import ModuleType
from typing import Any, Final

from inferdash import __version__, links, pairs
from inferdash.facts import library
from inferdash.formula import once, recording
from inferdash.links import Problem
from inferdash.pairs import Pair
from inferdash.references import REFERENCES
from inferdash.scenario import FIELDS, Choices, Scenario, Several, mark
from inferdash.scenario.marks import clipped
from inferdash.studies import comparison, differing, side_by_side
from inferdash.studies import report as studies
from inferdash.studies.numbers import lines
from inferdash.studies.run import plan, planning
from inferdash.validated import Quantity

_MOST: Final = 50
"""Models or accelerators that a search answers with, at most."""


class UnknownNameError(ValueError):
    """A page, a model or a field that is not there, in a sentence that names what is."""


def report(link: str) -> dict[str, Any]:
    """Every number of every page, in base units, with the link as it was read and what could not be read of it.

    A link of two scenarios gives the numbers of both, under "a" and "b", and what differs, under "difference".
    """
    decoded = pairs.decode(link)
    a, b = decoded.pair.a, decoded.pair.b
    if b is None:
        return _head(decoded) | _numbers(a)
    return _head(decoded) | {"a": _numbers(a), "b": _numbers(b), "difference": side_by_side.difference(a, b)}


def page(name: str, link: str) -> dict[str, Any]:
    """One page: its sentence, its numbers with label, unit and the text that the page shows, and its working.

    Args:
        name: as in the report, `compute_vs_memory`, or as in its address, `compute-vs-memory`.
        link: a link of the dashboard or its query.

    Raises:
        UnknownNameError: where there is no such page.
    """
    study = studies.STUDIES.get(name.replace("-", "_"))
    if study is None:
        raise UnknownNameError(f"There is no page {name[:40]!r}; there are {', '.join(studies.STUDIES)}.")
    decoded = pairs.decode(link)
    a, b = decoded.pair.a, decoded.pair.b
    head = _head(decoded) | {"page": study.NAME, "title": study.TITLE}
    if b is None:
        return head | _said(study, a)
    both = (study.study(a), study.study(b))
    rows = side_by_side.differences(*both)
    return head | {
        "sentence": comparison.sentence(study.NAME, a, b),
        "a": _said(study, a),
        "b": _said(study, b),
        "difference": {"fields": differing.fields(a, b), "numbers": rows},
    }


def _said(study: ModuleType, scenario: Scenario) -> dict[str, Any]:
    """The sentence of a page and its numbers."""
    result = study.study(scenario)
    return {
        "sentence": study.sentence(scenario, result),
        "headlines": [one.told() for one in study.headline_numbers(scenario, result)],
        "numbers": [
            {
                "name": line.path,
                "label": ": ".join(line.labels),
                "value": [asdict(one) for one in line.value] if line.unit == "rows" else line.value,
                "unit": "share" if line.unit == "%" else line.unit,
                "shown": "" if line.unit == "rows" else line.shown,
            }
            for line in lines(result)
        ],
        "working": _working(study, scenario),
    }


def changed(link: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The link of a scenario with some fields changed, and what could not be read of either.

    Of a link of two scenarios it is B that changes, as it is on a page.

    Raises:
        UnknownNameError: where a field is not there.
    """
    known(changes)
    decoded = pairs.decode(link)
    pair, values = decoded.pair, {name: written(value) for name, value in changes.items()}
    scenario, problems = links.read(values, pair.edited)
    found = Pair(pair.a, scenario) if pair.b else Pair(scenario)
    return _head(pairs.Decoded(found, (*decoded.problems, *problems))) | {"subject": scenario.subject}


def starts(link: str) -> list[dict[str, str]]:
    """What starts a replica of the plan that a scenario asks for, by engine; nothing without a plan."""
    return [
        {"engine": one.engine, "command": one.text, "source": one.source}
        for one in planning.starts(pairs.decode(link).pair.edited)
    ]


def compared(first: str, second: str = "") -> dict[str, Any]:
    """Two scenarios: which fields differ, what that does to each page in words, and the numbers that differ.

    Args:
        first: a link; one of two scenarios is compared in itself where there is no second.
        second: another one.

    Raises:
        UnknownNameError: where there is but one scenario.
    """
    found = pairs.decode(first)
    a, b, problems = found.pair.a, found.pair.b, found.problems
    if second:
        other = pairs.decode(second)
        b = other.pair.a
        problems = (*problems, *(Problem(one.field, f"B: {one.sentence}") for one in other.problems))
    if b is None:
        raise UnknownNameError("The link holds one scenario; a comparison takes a second link, or one that holds two.")
    return (
        _head(pairs.Decoded(Pair(a, b), problems))
        | {name: _head(pairs.Decoded(Pair(one), ())) for name, one in (("a", a), ("b", b))}
        | side_by_side.difference(a, b)
    )


def fields() -> dict[str, Any]:
    """JSON schema of a scenario: each field with its help, its bounds, its unit and what may be chosen."""
    schema = Scenario.model_json_schema()
    for name, said in schema["properties"].items():
        choices, quantity = mark(name, Choices), mark(name, Quantity)
        several = mark(name, Several)
        if choices or several:
            ids = sorted({*(choices or several.of).names(), *(choices.quick if choices else ())})
            (said["items"] if several else said)["enum"] = ids
        if quantity:
            said["unit"] = quantity.unit
    return schema


def models(search: str = "") -> list[dict[str, Any]]:
    """Presets of models whose id, name or repository holds a text."""
    return [
        {"id": key, "name": one.name, "repository": one.hf_id, "weights": one.weights, "context": one.context}
        for key, one in library.models().items()
        if _matches(search, key, one.name, one.hf_id)
    ][:_MOST]


def accelerators(search: str = "") -> list[dict[str, Any]]:
    """Presets of accelerators whose id or name holds a text, in base units; what their makers do not say is None."""
    return [
        {
            "id": key,
            "name": one.name,
            "memory_bytes": one.memory,
            "bandwidth_bytes_per_s": one.bandwidth,
            "rent_usd_per_hour": one.rent and one.rent.middle,
        }
        for key, one in library.accelerators().items()
        if _matches(search, key, one.name)
    ][:_MOST]


def written(value: Any) -> Any:
    """A value of a field as a link has it, where a program gives a list for several ids."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


def known(names: Iterable[str]) -> None:
    """Refuses fields that are not there.

    Raises:
        UnknownNameError: for the first of them.
    """
    for name in names:
        if name not in FIELDS:
            near = get_close_matches(name[:100].lower(), FIELDS, n=1)
            advice = f"; did you mean {near[0]}?" if near else "."
            raise UnknownNameError(f"{clipped(name)} is no field of a scenario{advice}")


def _head(decoded: pairs.Decoded) -> dict[str, Any]:
    pair = decoded.pair
    notes = [*pair.a.notes, *(f"B: {note}" for note in (pair.b.notes if pair.b else ()))]
    return {
        "link": f"?{pairs.encode(pair)}",
        "problems": [*(one.sentence for one in decoded.problems), *notes],
        "version": __version__,
    }


def _working(study: ModuleType, scenario: Scenario) -> list[dict[str, str]]:
    """Each formula that ran, with this scenario's numbers; a plan shows those of the set-up that it found."""
    with recording() as steps:
        (planning.worked if study is plan else study.study)(scenario)
    return [
        {
            "of": step.section,
            "name": step.formula.name,
            "says": step.formula.summary,
            "formula": step.formula.text(),
            "with_numbers": step.text,
            "result": step.result,
            "source": REFERENCES[step.formula.ref].title,
        }
        for step in once(steps)
    ]


@lru_cache(maxsize=64)
def _numbers(scenario: Scenario) -> dict[str, Any]:
    return studies.report(scenario)


def _matches(search: str, *names: str | None) -> bool:
    words = search.lower().split()
    text = " ".join(filter(None, names)).lower()
    return all(word in text for word in words)
