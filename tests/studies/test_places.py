"""Logs that lie on the server: what is not allowed is not read."""

import json
from pathlib import Path

import pytest

from inferdash.studies.price import own_log, places

LINE = {"time": 1793000000, "model": "gpt-5-mini", "usage": {"prompt_tokens": 1000, "completion_tokens": 5}}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.jsonl").write_text(json.dumps(LINE))
    (tmp_path / "secret.jsonl").write_text(json.dumps(LINE))
    (inside / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    monkeypatch.setenv(places.ROOTS, str(inside))
    return inside


@pytest.mark.parametrize("name", ["a.jsonl", ".", "./a.jsonl"])
def test_a_file_or_a_folder_that_is_allowed_is_billed(root: Path, name: str) -> None:
    assert root.exists()
    file = own_log.read_at(name, ())
    assert (sum(sums.lines for sums in file.counts.told.values()), file.left_out) == (1, 0)


@pytest.mark.parametrize("name", ["../secret.jsonl", "link.jsonl", "/etc/passwd", "none.jsonl", "a.jsonl/x"])
def test_nothing_else_is(root: Path, name: str) -> None:
    assert root.exists()
    file = own_log.read_at(name, ())
    assert (file.counts.told, file.problems[0][:33]) == ({}, "There is no such file or folder a")


def test_where_nothing_is_allowed_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(places.ROOTS, raising=False)
    (tmp_path / "a.jsonl").write_text(json.dumps(LINE))
    assert own_log.read_at(str(tmp_path / "a.jsonl"), ()).left_out == 1


def test_tables_have_names_that_do_not_tell_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.TABLES, "usage=postgres://reader:secret@host/database#public.requests broken=x")
    assert places.tables() == {"usage": ("postgres://reader:secret@host/database", "public.requests")}
