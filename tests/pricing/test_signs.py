"""Bytes as compiled loops read them: Python's own readers say what is right."""

import json
import random
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

pytest.importorskip("ibis", reason="the engine is an extra of the package: inferdash[logs]")

from inferdash.pricing.columns.signs import SCRATCH, hashed_text, list_end, moment
from inferdash.pricing.columns.templates import template_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def signs(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


def micros(text: str) -> int:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return -1
    return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - EPOCH) // timedelta(microseconds=1)


def test_moments_are_those_of_the_standard_library_or_none() -> None:
    source = random.Random(1)  # noqa: S311 - a test
    for _ in range(500):
        zone = timezone(timedelta(minutes=source.randrange(-840, 840))) if source.random() < 0.3 else UTC
        when = (EPOCH + timedelta(seconds=source.randrange(4 * 10**9))).astimezone(zone)
        text = when.isoformat(sep=source.choice("T ")).replace("+00:00", source.choice(("Z", "", "+00:00", ".25Z")))
        assert moment(signs(text), 0, len(text)) == micros(text), text


@pytest.mark.parametrize(
    "text",
    ["2026-02-29", "2026-13-01", "2026-11-31T00:00:00", "2026-11-30T24:00:00", "20261130", "2026-11-30T1:00:00",
     "x" * 20, "2026-11-30T00:00:00.", "2026-11-30T00:00:00+2", "2026-1a-30", "1969-12-31", ""],
)  # fmt: skip
def test_what_is_no_moment_is_left_to_others(text: str) -> None:
    assert moment(signs(text), 0, len(text)) == -1


def value(source: random.Random, depth: int = 0) -> object:
    kinds = [1, -2.5, 1e30, True, None, "x", 'say "ü" \n', "\\u00e9"]
    if depth > 3 or source.random() < 0.5:
        return source.choice(kinds)
    if source.random() < 0.5:
        return [value(source, depth + 1) for _ in range(source.randrange(4))]
    return {f"k{place}": value(source, depth + 1) for place in range(source.randrange(4))}


def test_lists_end_where_json_says_and_broken_ones_nowhere() -> None:
    source = random.Random(2)  # noqa: S311 - a test
    words, room = (
        np.array([hashed_text(one) for one in ("ttl", "modality", "key")], np.uint64),
        np.zeros(SCRATCH, np.uint64),
    )
    for _ in range(400):
        text = json.dumps([value(source)], ensure_ascii=source.random() < 0.5)
        assert list_end(signs(text + ", 1"), 0, len(text.encode()) + 3, words, False, room) == len(text.encode())
        at = source.randrange(1, len(text))
        broken = text[:at] + source.choice(("", "}", ",", '"', "\x01", "01")) + text[at + 1 :]
        found = list_end(signs(broken), 0, len(broken.encode()), words, False, room)
        try:
            json.loads(broken, object_pairs_hook=once)
        except ValueError:
            assert found < len(broken.encode()), broken
        else:
            assert found in {-1, len(broken.encode())}, broken


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)


@pytest.mark.parametrize("text", ['[{"ttl": 1}]', '[{"a": 1, "a": 2}]', '[{"\\u0061": 1}]', "[NaN]", "[01]", '["\\x"]'])
def test_lists_that_may_say_something_are_left_to_others(text: str) -> None:
    words, room = (
        np.array([hashed_text(one) for one in ("ttl", "modality", "key")], np.uint64),
        np.zeros(SCRATCH, np.uint64),
    )
    assert list_end(signs(text), 0, len(text), words, False, room) == -1


def test_a_template_has_the_columns_that_say_something() -> None:
    found = template_of(
        '{"id": "a", "user": "u", "note": [1], "usage": {"prompt_tokens": 5, "completion_tokens": null}}'
    )
    assert found is not None
    assert [one.way for one in found.columns] == [("id",), ("usage", "prompt_tokens")]
    with_user = template_of('{"user": "u", "usage": {"prompt_tokens": 5, "completion_tokens": 1}}', users=True)
    assert with_user is not None
    assert with_user.columns[0].way == ("user",)


@pytest.mark.parametrize(
    "text",
    ['{"usage": {"prompt_tokens": 5, "prompt_tokens": 5}}', '{"a": 1}', "[1]", '{"usage": {"prompt_tokens": -5}}'],
)
def test_no_template_is_made_of_what_is_not_certain(text: str) -> None:
    assert template_of(text) is None
