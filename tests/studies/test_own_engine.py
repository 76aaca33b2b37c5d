"""An engine moved to all runs of a file: it expects runs that it has not seen better, and its file is read back."""

import csv
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from inferdash.cli import main
from inferdash.facts import library
from inferdash.facts.machines.engine import Engine
from inferdash.physics.under_load.served import usable
from inferdash.studies.check import own_engine, score
from inferdash.studies.check.score import QUANTITIES

DAY = date(2026, 11, 30)


def runs(model: str, accelerator: str, engine: str, weights: str) -> list[dict[str, str]]:
    told = {"model": model, "accelerator": accelerator, "engine": engine, "weights": weights}
    return [one.row for one in usable().values() if told.items() <= one.row.items()]


SET_UPS = [
    ("gpt-oss-120b", "B200", "vLLM", "mxfp4"),
    ("Qwen3.5-397B", "B200", "SGLang", "fp8-block"),
    ("Llama-3.1-8B", "H100 SXM", "TensorRT-LLM", "bf16"),
]


@pytest.mark.parametrize("set_up", SET_UPS, ids=lambda set_up: set_up[0])
def test_every_second_run_given_brings_the_others_nearer(set_up: tuple[str, str, str, str]) -> None:
    rows = runs(*set_up)
    own = own_engine.of(rows[::2], None, name="mine", origin="tests.csv", today=DAY)
    before = score.summaries(score.score(rows[1::2]))["tpot_s"]
    moved = [one.error["tpot_s"] for row in rows[1::2] for one in score.score([row], (score.machine_of(row), own))]
    after = float(np.median(np.abs(moved)))
    assert after < max(0.08, 0.9 * before.median)
    family = score.machine_of(rows[0]).accelerator.family
    assert own.reach[family].bands.serving[0] < 1 < own.reach[family].bands.serving[1]


def test_its_file_is_read_back_and_stands_beside_the_presets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = runs(*SET_UPS[0])[:12]
    table = tmp_path / "tests.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, score.COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    there = tmp_path / "our-vllm.toml"
    assert main(["score", str(table), "--save", str(there)]) == 0
    capsys.readouterr()
    saved = library.read(there, Engine)
    again = own_engine.of(rows, None, name="our-vllm", origin="tests.csv", today=saved.checked)
    assert saved == Engine.model_validate(again.model_dump())
    (tmp_path / "broken.toml").write_text("name = 3\n")
    (tmp_path / "vllm.toml").write_text(there.read_text())
    asked = "from inferdash.facts.library import engines; print(sorted(engines()))"
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "INFERDASH_ENGINES": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "our-vllm" in done.stdout
    assert "broken" not in done.stdout
    assert done.stderr.count("is not taken as an engine") == 2


def test_tests_of_several_set_ups_move_no_engine() -> None:
    with pytest.raises(ValueError, match="the file has 2"):
        own_engine.of([runs(*SET_UPS[0])[0], runs(*SET_UPS[1])[0]], None, name="mine", origin="tests.csv", today=DAY)
    bare = {name: value for name, value in runs(*SET_UPS[0])[0].items() if name not in QUANTITIES}
    with pytest.raises(ValueError, match="no time"):
        own_engine.of([bare], None, name="mine", origin="tests.csv", today=DAY)


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "tests.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, score.COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(runs(*SET_UPS[0])[:2])
    assert main(["score", str(table), "--save", str(tmp_path / "none" / "own.toml")]) == 2
    assert "cannot be written" in capsys.readouterr().err
