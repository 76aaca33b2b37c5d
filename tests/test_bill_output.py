"""A bill that nobody takes: what is said of it is about the output, not about a file."""

import os
import subprocess
import sys
from pathlib import Path


def test_an_output_that_cannot_be_written_is_no_file_that_cannot_be_read(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"model": "gpt-5-mini", "input_tokens": 1000, "output_tokens": 50}\n')
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "inferdash", "bill", str(log)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        1,
        "inferdash: The output cannot be written: No space left on device.\n",
    )
