"""Requests of every kind to every route under `/api` of a server that runs, held against its OpenAPI document."""

import subprocess
import sys
from collections.abc import Iterator

from bench.server import serving
from bench.sweep import swept

_FILES_MAY_BE_NONE = "positive_data_acceptance"
"""A check that does not hold where a body is a file that cannot be read, which is refused in a sentence."""

_PATIENCE_S = 170
"""For an answer to a file on a machine that does other work as well; the server gives up before."""


def findings(count: int, seed: int) -> Iterator[str]:
    """What schemathesis says, where it finds something."""
    with serving() as server:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.address}/api/openapi.json"]
        given = [f"--max-examples={count}", f"--seed={seed}", f"--exclude-checks={_FILES_MAY_BE_NONE}"]
        given += [f"--request-timeout={_PATIENCE_S}", "--phases=fuzzing", "--no-color"]
        run = subprocess.run([*command, *given], capture_output=True, text=True, check=False)
    if run.returncode or "Unresolvable" in run.stdout:
        yield run.stdout + run.stderr


def main() -> int:
    """Sweeps."""
    return swept("requests to the routes of /api", 200, findings)


if __name__ == "__main__":
    sys.exit(main())
