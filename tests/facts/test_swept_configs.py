"""Files of many families: exact or refused. `make sweep ARGS=configs` prints all of them in a table."""

import json
from typing import Any, Final

import pytest

from bench.sweeps.configs import SWEPT, verdict

CASES: Final[dict[str, Any]] = json.loads(SWEPT.read_text(encoding="utf-8"))
SAMPLE: Final = tuple(CASES)[::4]


def test_there_are_two_hundred() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize("name", SAMPLE)
def test_a_file_is_exact_or_refused(name: str) -> None:
    found = verdict(name, CASES[name])
    assert found.verdict in {"exact", "refused"}, found
    assert (found.verdict == "refused") == bool(found.said)


def test_most_are_read() -> None:
    read = [name for name in SAMPLE if verdict(name, CASES[name]).verdict == "exact"]
    assert len(read) > 0.75 * len(SAMPLE)
