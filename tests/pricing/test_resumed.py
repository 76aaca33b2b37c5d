"""A bill over many files that is stopped goes on: one that was never stopped says what is right."""

import json
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inferdash.facts.money.price_names import edges
from inferdash.pricing.logs import resumed as module
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.engines import has_packages
from inferdash.pricing.logs.packed import Folder
from inferdash.pricing.logs.resumed import Kept, resumed
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import Counts, counted


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for file in range(4):
        lines = [
            {"id": f"a{(file * 30 + row) % 100}", "time": 1793000000 + row, "model": "gpt-5-mini",
             "user": f"u{row % 3}", "usage": {"prompt_tokens": 100 + row, "completion_tokens": 5}}
            for row in range(40)
        ]  # fmt: skip
        (folder / f"{file}.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{")
    return folder


def run(folder: Path, kept: Path, engine: Any, until: int = 9) -> tuple[Any, Counts]:
    seen = 0

    def watched(items: Iterator[Any], at: Callable[[], int]) -> Iterator[Any]:
        nonlocal seen
        seen += 1
        if seen > until:
            raise KeyboardInterrupt
        assert at() >= 0
        yield from items

    how = {"rules": (), "edges": [*edges()], "written": Written(), "users": True, "engine": engine, "watched": watched}
    return resumed(Folder(folder), Kept(kept), **how)


def engines() -> list[Any]:
    if not has_packages():
        return [None]
    from functools import partial  # noqa: PLC0415 - its packages may not be there

    from inferdash.pricing.columns.engine import Engine  # noqa: PLC0415 - as above

    return [None, partial(Engine, fewest=0)]


@pytest.mark.parametrize("engine", engines(), ids=str)
def test_what_was_stopped_goes_on_and_says_the_same(
    tmp_path: Path, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, kept = folder_of(tmp_path), tmp_path / "kept"
    monkeypatch.setattr(module, "_EVERY_S", -1)
    with pytest.raises(KeyboardInterrupt):
        run(folder, kept, engine, until=2)
    records, counts = run(folder, kept, engine, until=2)  # two files are left
    whole = Trace(Folder(folder), users=True)
    assert counts.told == counted(whole, (), edges()).told
    assert (records.left_out, sorted(records.problems), sorted(records.notes)) == (
        whole.left_out, sorted(whole.problems), sorted(whole.notes)
    )  # fmt: skip


def test_a_file_that_changed_and_a_folder_of_others_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, kept = folder_of(tmp_path), tmp_path / "kept"
    monkeypatch.setattr(module, "_EVERY_S", -1)
    with pytest.raises(KeyboardInterrupt):
        run(folder, kept, None, until=2)
    os.utime(folder / "0.jsonl", (1, 1))
    with pytest.raises(ValueError, match=r"0\.jsonl changed since"):
        run(folder, kept, None)
    with pytest.raises(ValueError, match="no folder of a bill"):
        Kept(folder)


def test_what_was_kept_by_others_is_not_run(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "kept")
    (tmp_path / "kept" / "progress").write_bytes(pickle.dumps(os.getcwd))
    with pytest.raises(ValueError, match="cannot be read"):
        kept.load(())
