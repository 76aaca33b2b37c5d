"""A scenario as a link and back.

A link is plain query parameters: only what differs from the baseline of its version, the version last
(`?model=qwen3-32b&batch=64&v=2`). A link without a version was cut on the way or typed by hand. Reading never
fails: what cannot be read is a problem in a sentence, and the rest applies.
"""

import base64
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import accumulate
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from annotated_types import Ge, Le
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from inferdash import quantities
from inferdash.facts.models.precision import FILES
from inferdash.scenario import BASE, FIELDS, Choices, Scenario, counts, mark
from inferdash.scenario.marks import AUTO, as_text, clipped
from inferdash.scenario.operation import CHOSEN, ON_LOADING
from inferdash.validated import Quantity

BASELINES: Final[dict[int, Scenario]] = {
    1: BASE,
    2: BASE.model_copy(
        update={
            "weights": FILES,
            "layout": AUTO,
            "memory_of": AUTO,
            "formats": (FILES, CHOSEN, ON_LOADING),
            "marked": "best",
        }
    ),
}
"""Version -> the scenario of an empty link. An entry never changes: a new default is a new version.

Version 2 is what somebody can run: the model as its maker publishes it, an engine's memory and layout; and prompts
are marked for a cache as far as it pays.
"""
NEWEST: Final = max(BASELINES)
BASELINE: Final = BASELINES[NEWEST]
"""What a session begins with."""
VERSION: Final = "v"
_PACKED: Final = "z"
"""Parameter that holds a whole query, compressed."""
_LONG: Final = 1500
"""Characters from which on a query has a short form."""

_LONGEST: Final = 100_000
"""Characters of a query that are read; a link of this program has under 2,000."""
MOST: Final = 200
"""Parameters of a scenario that are read."""
_LONGEST_NAME: Final = 100
"""Characters of an unknown name or id that are compared with those there are."""
_SOME: Final = 10
"""Ids that a sentence lists at most."""
_EMPTY: Final = (
    dict.fromkeys(("title", "config", "measured", "own_rents", "ranges"), "none")
    | {"prefill_gpus": "as for decode", "prefill_rent": "as for decode, or the median quote"}
    | dict.fromkeys(("engine_version", "cache_room_of"), "any")
    | dict.fromkeys(("engine_share", "max_num_seqs", "max_num_batched_tokens"), "the engine’s")
    | dict.fromkeys(("activations", "overhead", "weight_memory", "cache_room"), "that of the rule")
)
PRESENT: Final = "present"
"""Parameter of a page that is presented; it is none of the scenario."""
_OF_THE_PAGE: Final = {"embed", "embed_options", PRESENT}
"""Parameters of how a page is shown, the first two Streamlit's own; they say nothing about the scenario."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be read."""

    field: str
    """Name of the parameter; empty where the whole link is meant."""
    sentence: str
    """What was read, what is allowed, and what is used now, in plain text."""


CUT: Final = Problem(
    VERSION, "The link has no version at its end, so a part of it may be missing; what is there was read."
)


@dataclass(frozen=True)
class Decoded:
    """What a link says."""

    scenario: Scenario
    problems: tuple[Problem, ...]
    version: int | None
    """As written in the link; None where it has none, or one that is no number."""


def encode(scenario: Scenario) -> str:
    """The query of a scenario, without "?"."""
    return query(parameters(scenario))


def query(parameters: Mapping[str, str]) -> str:
    """Parameters as a query, without "?"."""
    return urlencode(parameters, quote_via=quote, safe="/,")


def parameters(scenario: Scenario) -> dict[str, str]:
    """Parameters of the link of a scenario, in the order of the fields, the version last.

    The version is that from whose baseline fewer fields differ, so a link of an old one stays one while it is edited.
    """
    changed = {version: differing(scenario, baseline) for version, baseline in BASELINES.items()}
    version = min(reversed(changed), key=lambda version: len(changed[version]))
    return {name: written(name, getattr(scenario, name)) for name in changed[version]} | {VERSION: str(version)}


def differing(scenario: Scenario, baseline: Scenario) -> list[str]:
    """The fields that count in a scenario and say something else in another, in their order."""
    here, there = vars(scenario), vars(baseline)
    return [name for name in FIELDS if here[name] != there[name] and counts(name, scenario)]


def written(name: str, value: Any) -> str:
    """A field's value as it stands in a link or a text field; an unset one is empty."""
    return as_text(value, mark(name, Quantity))


def decode(query: str | Iterable[tuple[str, str]]) -> Decoded:
    """The scenario of a link, and what could not be read of it.

    Args:
        query: a query with or without "?", a whole address, or the pairs of its names and values. An empty one is
            the baseline, with nothing to complain about.
    """
    problems: list[Problem] = []
    pairs = parsed(query, problems)
    if not pairs and not problems:
        return Decoded(BASELINE, (), NEWEST)
    values = once(pairs, problems)
    version, baseline = _version(values.pop(VERSION, None), problems)
    scenario, unread = apply(values, baseline)
    return Decoded(scenario, (*problems, *unread), version)


def apply(values: Mapping[str, str | None], baseline: Scenario) -> tuple[Scenario, tuple[Problem, ...]]:
    """The scenario with the values of a link over a baseline, and what of them could not be read or says nothing."""
    scenario, unread = read(values, baseline)
    idle = [
        Problem(name, f"{name}={clipped(value)} says nothing about this scenario; it is left out.")
        for name, value in values.items()
        if name in FIELDS and not counts(name, scenario) and name not in {problem.field for problem in unread}
    ]
    return scenario, (*unread, *idle)


def once(pairs: Iterable[tuple[str, str]], problems: list[Problem]) -> dict[str, str]:
    """The value of each name, the last where there are several, which is told."""
    values: dict[str, str] = {}
    for name, value in pairs:
        if values.get(name, value) != value:
            problems.append(Problem(name, f"{clipped(name)} is given twice; {clipped(value)}, the last, counts."))
        values[name] = value
    return values


def read(values: Mapping[str, Any], baseline: Scenario = BASELINE) -> tuple[Scenario, tuple[Problem, ...]]:
    """The scenario with these values over a baseline, and what could not be read of them.

    A value that cannot be read leaves the baseline's. Links and widgets are both read here.
    """
    problems = [Problem(name, _unknown(name)) for name in values if name not in FIELDS]
    known = {name: value for name, value in values.items() if name in FIELDS}
    scenario = None
    while scenario is None:
        try:
            scenario = Scenario.model_validate(dict(baseline) | known)
        except ValidationError as failure:
            for error in failure.errors(include_url=False):
                names = [str(error["loc"][0])] if error["loc"] else list(error["ctx"]["fields"])
                if not known.keys() & set(names):  # what the baseline holds is what no longer fits
                    names = [*known, *names]
                problems.append(Problem(names[0], _unread(names, known, baseline, error)))
                for name in names:
                    known.pop(name, None)
    return scenario, tuple(problems)


def parsed(
    query: str | Iterable[tuple[str, str]], problems: list[Problem], *, most: int = MOST
) -> list[tuple[str, str]]:
    """The names and values of a link, as many as are read; what is beyond that is told."""
    if isinstance(query, str):
        query = query.partition("#")[0]
        if "=" not in query.partition("://")[0] and "://" in query:
            query = query.partition("?")[2]
        query = query.removeprefix("?")
        if len(query) > _LONGEST:
            problems.append(Problem("", f"The link has {len(query):,} characters, of which {_LONGEST:,} are read."))
            query = query[:_LONGEST]
        query = parse_qsl(query, keep_blank_values=True, errors="replace", separator="&")
    pairs = _unpacked([(name, value) for name, value in query if name not in _OF_THE_PAGE], problems)
    if len(pairs) > most:
        problems.append(Problem("", f"The link has {len(pairs):,} parameters, of which the first {most} are read."))
        pairs = pairs[:most]
    sizes = accumulate(len(name) + len(value) for name, value in pairs)
    short = [pair for pair, size in zip(pairs, sizes, strict=True) if size <= _LONGEST]
    if len(short) < len(pairs):
        problems.append(Problem("", f"The link has more than {_LONGEST:,} characters; what is beyond is not read."))
    return short


def packed(query: str) -> str:
    """A query in its short form, where it is long and the form is shorter: compressed in the link, stored nowhere.

    The version stands outside once more, so that a cut is seen.
    """
    if len(query) <= _LONG:
        return query
    text = base64.urlsafe_b64encode(zlib.compress(query.encode(), 9)).decode().rstrip("=")
    short = f"{_PACKED}={text}&{VERSION}={dict(parse_qsl(query)).get(VERSION, NEWEST)}"
    return min(query, short, key=len)


def _unpacked(pairs: list[tuple[str, str]], problems: list[Problem]) -> list[tuple[str, str]]:
    """Names and values with those that are compressed among them in their place, none of which is compressed again."""
    found: list[tuple[str, str]] = []
    for name, value in pairs:
        inside = _inside(value, problems) if name == _PACKED else [(name, value)]
        found += [one for one in inside if one[0] not in {_PACKED, *_OF_THE_PAGE}]
    return found


def _inside(text: str, problems: list[Problem]) -> list[tuple[str, str]]:
    """What is compressed; nothing where it cannot be read, or is more than a link holds, of which no more is made."""
    opened = zlib.decompressobj()
    try:
        whole = opened.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), _LONGEST + 1)
        query = whole.decode()
    except (ValueError, zlib.error):  # neither base64, nor zlib, nor text
        query, whole = "", b""
    if len(whole) > _LONGEST:
        problems.append(Problem(_PACKED, f"{_PACKED} holds more than {_LONGEST:,} characters and is left out."))
        return []
    if not query or not opened.eof:
        problems.append(Problem(_PACKED, f"{_PACKED}={clipped(text)} is damaged or cut, and is left out."))
        return []
    return parse_qsl(query, keep_blank_values=True, errors="replace", separator="&")


def _version(written: str | None, problems: list[Problem]) -> tuple[int | None, Scenario]:
    if written is None:
        problems.append(CUT)
        return None, BASELINE
    version = int(written) if written.isascii() and written.isdigit() and len(written) < 9 else None  # noqa: PLR2004 - versions are small
    if version not in BASELINES:
        made = "a newer inferdash" if version and version > NEWEST else "no inferdash"
        sentence = f"v={clipped(written)} was written by {made}; the link is read as v={NEWEST}."
        problems.append(Problem(VERSION, sentence))
        return version, BASELINE
    return version, BASELINES[version]


def _unread(names: list[str], values: Mapping[str, Any], baseline: Scenario, error: ErrorDetails) -> str:
    given = " and ".join(f"{name}={clipped(values.get(name, getattr(baseline, name)))}" for name in names)
    used = ", ".join(
        f"{name}={written(name, getattr(baseline, name)) or _EMPTY.get(name, 'the datasheet’s')}" for name in names
    )
    reason = _reason(names[0], error)
    return f"{given} {reason}{'' if reason.endswith('?') else '.'} Used instead: {used}."


def _unknown(name: str) -> str:
    near = get_close_matches(name[:_LONGEST_NAME].lower(), FIELDS, n=1)
    advice = f" and is left out; did you mean {near[0]}?" if near else " and is left out."
    return f"{clipped(name)} is no part of a scenario{advice}"


def _reason(name: str, error: ErrorDetails) -> str:
    match error["type"]:
        case "choice":
            names = mark(name, Choices).names()
            ids = {title.lower(): key for key, title in names.items()} | {key: key for key in names}
            near = get_close_matches(str(error["input"])[:_LONGEST_NAME].lower(), ids, n=1)
            some = list(names)[:_SOME]
            known = f"known are {', '.join(some)}" + (f" and {len(names) - _SOME} more" if len(names) > _SOME else "")
            return error["msg"] + (f"; did you mean {ids[near[0]]}?" if near else f"; {known}")
        case "quantity" | "plain" | "fields":
            return error["msg"]
        case "string_unicode":
            return "holds characters that cannot be shown"
        case "string_too_long":
            return f"is longer than {error['ctx']['max_length']} characters"
        case "bool_parsing" | "bool_type":
            return "is neither true nor false"
    least, most = (
        next(getattr(m, key) for m in FIELDS[name].metadata if isinstance(m, kind))
        for key, kind in (("ge", Ge), ("le", Le))
    )
    unit = mark(name, Quantity)
    if unit:
        return f"is not from {quantities.shown(least, unit.unit)} to {quantities.shown(most, unit.unit)}"
    whole = "a whole number" if isinstance(getattr(BASE, name), int) else "a number"
    return f"is not {whole} from {least:,} to {most:,}"
