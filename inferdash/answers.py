"""What a program asks about a scenario, in values that JSON can hold.

The terminal, HTTP, an assistant and a notebook all ask here, so that all have the same number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from inferdash import links
from inferdash.facts import library
from inferdash.links import Decoded
from inferdash.scenario import FIELDS, Choices, Scenario, Several, mark
from inferdash.scenario.marks import clipped
from inferdash.studies import report as studies
from inferdash.studies.numbers import lines, show
from inferdash.validated import Quantity

_MOST: Final = 50
"""Models or accelerators that a search answers with, at most."""


class UnknownNameError(ValueError):
    """A page, a model or a field that is not there, in a sentence that names what is."""


def report(link: str) -> dict[str, Any]:
    """Every number of every page, in base units, with the link as it was read and what could not be read of it."""
    decoded = links.decode(link)
    return _head(decoded) | _numbers(decoded.scenario)


def page(name: str, link: str) -> dict[str, Any]:
    """One page: its sentence, and its numbers with label, unit and the text that the page shows.

    Args:
        name: as in the report, `compute_vs_memory`, or as in its address, `compute-vs-memory`.
        link: a link of the dashboard or its query.

    Raises:
        UnknownNameError: where there is no such page.
    """
    study = studies.STUDIES.get(name.replace("-", "_"))
    if study is None:
        raise UnknownNameError(f"There is no page {name[:40]!r}; there are {', '.join(studies.STUDIES)}.")
    decoded = links.decode(link)
    result = study.study(decoded.scenario)
    return _head(decoded) | {
        "page": study.NAME,
        "title": study.TITLE,
        "sentence": study.sentence(decoded.scenario, result),
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
    }


def changed(link: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The link of a scenario with some fields changed, and what could not be read of either.

    Raises:
        UnknownNameError: where a field is not there.
    """
    known(changes)
    decoded = links.decode(link)
    scenario, problems = links.read({name: written(value) for name, value in changes.items()}, decoded.scenario)
    return _head(Decoded(scenario, (*decoded.problems, *problems), decoded.version)) | {
        "subject": scenario.subject,
    }


def compared(first: str, second: str) -> dict[str, Any]:
    """Two scenarios: which fields differ, and the numbers that do, with the second over the first."""
    a, b = links.decode(first), links.decode(second)
    differing = [name for name in FIELDS if getattr(a.scenario, name) != getattr(b.scenario, name)]
    return {
        "a": _head(a),
        "b": _head(b),
        "fields": {name: [links.written(name, getattr(one.scenario, name)) for one in (a, b)] for name in differing},
        "numbers": {
            name: rows
            for name, study in studies.STUDIES.items()
            if (rows := _differences(study.study(a.scenario), study.study(b.scenario)))
        },
    }


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


def _head(decoded: Decoded) -> dict[str, Any]:
    return {
        "link": f"?{links.encode(decoded.scenario)}",
        "problems": [*(one.sentence for one in decoded.problems), *decoded.scenario.notes],
    }


@lru_cache(maxsize=64)
def _numbers(scenario: Scenario) -> dict[str, Any]:
    return studies.report(scenario)


def _differences(first: Any, second: Any) -> list[dict[str, Any]]:
    there = {line.path: line for line in lines(second)}
    found = []
    for line in lines(first):
        other = there.get(line.path)
        if other is None or line.unit == "rows" or line.value == other.value:
            continue
        pair = (line.value, other.value)
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in pair)
        found.append(
            {
                "name": line.path,
                "label": ": ".join(line.labels),
                "a": line.value,
                "b": other.value,
                "ratio": other.value / line.value if numbers and line.value else None,
                "shown": [show(one, line.unit) for one in pair],
            }
        )
    return found


def _matches(search: str, *names: str | None) -> bool:
    words = search.lower().split()
    text = " ".join(filter(None, names)).lower()
    return all(word in text for word in words)
