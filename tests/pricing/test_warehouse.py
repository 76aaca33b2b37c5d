"""Tables of a database: the reader of lines, which reads the same rows as JSON, says what is right."""

import os
import random
from pathlib import Path

import pytest

pytest.importorskip("ibis", reason="the engine is an extra of the package: inferdash[logs]")

from bench.random_logs import table_of
from bench.sweeps.bills import differs_there
from inferdash.cli import main

POSTGRES = os.environ.get("INFERDASH_POSTGRES", "")


@pytest.mark.parametrize("seed", [1, 5, 100045])
def test_a_random_table_is_the_same_in_a_file_of_duckdb(seed: int, tmp_path: Path) -> None:
    assert differs_there(table_of(random.Random(seed)), f"duckdb://{tmp_path}/log.duckdb") == ""  # noqa: S311 - a test


@pytest.mark.skipif(not POSTGRES, reason="INFERDASH_POSTGRES names no database")
@pytest.mark.parametrize("seed", range(1, 11))
def test_a_random_table_is_the_same_in_postgres(seed: int) -> None:
    assert differs_there(table_of(random.Random(seed)), POSTGRES) == ""  # noqa: S311 - a test


def test_a_database_that_is_none_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bill", f"duckdb://{tmp_path}/log.duckdb", "--table", "none"]) == 2
    assert "The table none cannot be reached" in capsys.readouterr().err
    assert main(["bill", f"duckdb://{tmp_path}/log.duckdb"]) == 2
    assert "--table" in capsys.readouterr().err
