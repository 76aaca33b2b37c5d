"""Samples of the attacks of bench/, in a process of their own with little memory, always of the same seed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(("attack", "count"), [("links", 1000), ("files", 300)])
def test_nothing_hostile_fails_or_takes_much(attack: str, count: int) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", f"bench.sweeps.{attack}", "--count", str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    assert " 0 wrong" in ran.stdout
