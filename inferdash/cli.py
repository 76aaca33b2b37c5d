"""The command: `inferdash` opens the dashboard, `inferdash report LINK` prints its numbers."""

import argparse
import json
import runpy
import sys
from collections.abc import Sequence

from inferdash import links, shipped
from inferdash.studies import report

_NOT_READ_IN_FULL = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 0, or 2 where a link could not be read in full."""
    parser = argparse.ArgumentParser(prog="inferdash", description="What inference takes, what it costs, and why.")
    parser.add_argument("--port", type=int, default=8501, help="port of the dashboard (8501)")
    parser.add_argument("--address", default="localhost", help="address that it listens on (localhost)")
    commands = parser.add_subparsers(dest="command", metavar="report", title="instead of the dashboard")
    printed = commands.add_parser("report", help="print the numbers of a scenario")
    printed.add_argument("link", help="a link of the dashboard, or its query: '?model=qwen3-32b&v=1'")
    form = printed.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, in base units (the default)")
    form.add_argument("--markdown", action="store_true", help="as Markdown, with units")
    given = parser.parse_args(arguments)
    if given.command == "report":
        return _report(given.link, as_markdown=given.markdown)
    return _dashboard(given.address, given.port)


def _dashboard(address: str, port: int) -> int:
    sys.argv = ["streamlit", "run", str(shipped("app.py")), f"--server.address={address}", f"--server.port={port}"]
    runpy.run_module("streamlit", run_name="__main__")
    return 0


def _report(link: str, *, as_markdown: bool) -> int:
    decoded = links.decode(link)
    sentences = [problem.sentence for problem in decoded.problems]
    if as_markdown:
        print(report.markdown(decoded.scenario, f"?{links.encode(decoded.scenario)}"), end="")
        for sentence in sentences:
            print(f"\n- {report.literal(sentence)}")
    else:
        numbers = {"link": f"?{links.encode(decoded.scenario)}", "problems": sentences} | report.report(
            decoded.scenario
        )
        print(json.dumps(numbers, indent=2, allow_nan=False, ensure_ascii=False))
    return _NOT_READ_IN_FULL if sentences else 0
