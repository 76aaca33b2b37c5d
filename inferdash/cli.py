"""The command: `inferdash` opens the dashboard, `inferdash report` and `inferdash model` print numbers."""

import argparse
import json
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inferdash import links, shipped
from inferdash.facts import huggingface, library
from inferdash.facts.huggingface import Found, UnreadConfigError
from inferdash.studies import model, report

_NOT_READ_IN_FULL = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 0, or 2 where a link or a file could not be read in full."""
    parser = argparse.ArgumentParser(prog="inferdash", description="What inference takes, what it costs, and why.")
    parser.add_argument("--port", type=int, default=8501, help="port of the dashboard (8501)")
    parser.add_argument("--address", default="localhost", help="address that it listens on (localhost)")
    commands = parser.add_subparsers(dest="command", metavar="report, model", title="instead of the dashboard")
    printed = commands.add_parser("report", help="print the numbers of a scenario")
    printed.add_argument("link", help="a link of the dashboard, or its query: '?model=qwen3-32b&v=1'")
    form = printed.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, in base units (the default)")
    form.add_argument("--markdown", action="store_true", help="as Markdown, with units")
    shape = commands.add_parser("model", help="print the numbers of a model: parameters, bytes, cache")
    shape.add_argument("source", metavar="FILE_OR_ID", help="a config.json, a preset's id, or a Hugging Face id")
    shape.add_argument("--context", type=int, action="append", default=[], help="also at this many tokens")
    shape.add_argument("--json", action="store_true", help="as JSON, in base units")
    given = parser.parse_args(arguments)
    match given.command:
        case "report":
            return _report(given.link, as_markdown=given.markdown)
        case "model":
            return _model(given.source, contexts=given.context, as_json=given.json)
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
        _print_json(
            {"link": f"?{links.encode(decoded.scenario)}", "problems": sentences} | report.report(decoded.scenario)
        )
    return _NOT_READ_IN_FULL if sentences else 0


def _model(source: str, *, contexts: Sequence[int], as_json: bool) -> int:
    try:
        found = _found(source)
    except UnreadConfigError as error:
        if as_json:
            _print_json({"problems": [str(error)]})
        print(f"inferdash: {source}: {error}", file=sys.stderr)
        return _NOT_READ_IN_FULL
    numbers = model.report(
        found.architecture,
        contexts=[*model.CONTEXTS, *(tokens for tokens in contexts if tokens > 0)],
        problems=found.problems,
    )
    if as_json:
        _print_json(numbers)
    else:
        print(model.text(numbers))
    return 0


def _found(source: str) -> Found:
    """A file, a preset, or a repository of the hub."""
    path = Path(source)
    if path.is_file():
        return huggingface.read(huggingface.parse(path.read_bytes()), name=path.stem)
    if source in library.models():
        return Found(library.models()[source], (), {})
    raise UnreadConfigError("There is no such file or preset.")


def _print_json(numbers: dict[str, Any]) -> None:
    print(json.dumps(numbers, indent=2, allow_nan=False, ensure_ascii=False))
