"""The command: `inferdash` opens the dashboard; `inferdash report`, `model`, `replay` and `score` print numbers."""

import argparse
import io
import os
import runpy
import sys
from collections.abc import Sequence
from contextlib import suppress

from inferdash import bill_command, replay_command, shipped
from inferdash import workers as several
from inferdash.printed import NOT_READ_IN_FULL

_NOBODY_READS = 141
"""As a program that the signal of a closed pipe ends."""
_LAST_PORT = 65_535
_LOCAL = ("localhost", "127.0.0.1", "::1")
_DIGITS = 12


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status.

    0, or 2 where a link or a file could not be read in full, 1 where what was printed could not be written, and 141
    where nobody reads it any more.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for a terminal that has no sign for a multiplication
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError, ValueError):  # what is left is not written at the end of the program either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return _NOBODY_READS
        print(f"inferdash: The output cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    return status


def _run(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="inferdash", description="What inference takes, what it costs, and why.")
    parser.add_argument("--port", type=_port, default=8501, help="port of the dashboard (8501)")
    parser.add_argument("--address", default="localhost", help="address to listen on (localhost)")
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name that browsers may use; without one, any for an address that is not local",
    )
    parser.add_argument("--workers", type=int, default=1, help="processes behind one address; needs HAProxy (1)")
    commands = parser.add_subparsers(
        dest="command", metavar="report, model, replay, bill, score, mcp", title="instead of the dashboard"
    )
    printed = commands.add_parser("report", help="print the numbers of a scenario")
    printed.add_argument("link", help="a link of the dashboard, or its query: '?model=qwen3-32b&v=2'")
    form = printed.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, in base units (the default)")
    form.add_argument("--markdown", action="store_true", help="as Markdown, with units")
    shape = commands.add_parser("model", help="print the numbers of a model: parameters, bytes, cache")
    shape.add_argument("source", metavar="FILE_OR_ID", help="a config.json, a preset's id, or a Hugging Face id")
    shape.add_argument("--context", type=int, action="append", default=[], help="also at this many tokens")
    shape.add_argument("--json", action="store_true", help="as JSON, in base units")
    replay_command.add_to(commands)
    bill_command.add_to(commands)
    tests = commands.add_parser("score", help="compare load tests with what is expected of them")
    tests.add_argument(
        "file",
        metavar="FILE",
        help="a table of load tests as CSV (docs/numbers.md has its columns), or a load tool's file",
    )
    tests.add_argument("--on", metavar="LINK", help="what a load tool's file ran on: '?model=qwen3-32b&gpus=2&v=2'")
    tests.add_argument("--save", metavar="ENGINE.toml", help="write the engine fitted to all runs of the file")
    tests.add_argument("--json", action="store_true", help="as JSON, in base units")
    newer = commands.add_parser("prices", help="fetch today's prices: inferdash prices update")
    newer.add_argument("what", choices=("update",))
    newer.add_argument("--from", dest="url", default="", help="another address for the list")
    newer.add_argument("--yes", action="store_true", help="accept it even where prices move more than tenfold")
    commands.add_parser("mcp", help="serve an assistant on standard streams (needs the package mcp)")
    given = parser.parse_args(arguments)
    match given.command:
        case "mcp":
            return _mcp()
        case "prices":
            return _update_prices(given.url, confirmed=given.yes)
        case "replay":
            return replay_command.run(given)
        case "bill":
            return bill_command.run(given)
        case "report" | "model" | "score":
            return _numbers(given)
    return _dashboard(given.address, given.port, given.host, workers=given.workers)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:_DIGITS]) <= _LAST_PORT):
        raise argparse.ArgumentTypeError(f"{text[:_DIGITS]} is no port from 1 to {_LAST_PORT:,}")
    return int(text)


def _dashboard(address: str, port: int, hosts: Sequence[str], *, workers: int) -> int:
    """Opens the dashboard. One for this machine alone answers to its names only, whatever a name server says."""
    named = [*hosts, *_LOCAL] if hosts or address in _LOCAL else []
    if workers > 1:
        try:
            return several.run(workers, address=address, port=port, hosts=named)
        except several.NoProxyError as error:
            print(f"inferdash: {error}", file=sys.stderr)
            return NOT_READ_IN_FULL
    sys.argv = ["streamlit", "run", str(shipped("app.py")), f"--server.address={address}", f"--server.port={port}"]
    sys.argv += [f"--server.allowedHosts={host}" for host in named]
    runpy.run_module("streamlit", run_name="__main__")
    return 0


def _numbers(given: argparse.Namespace) -> int:
    """Prints what needs the whole house, which a bill does not wait for."""
    from inferdash import report_command as asked  # noqa: PLC0415 - as said

    if given.command == "report":
        return asked.report(given.link, as_markdown=given.markdown)
    if given.command == "model":
        return asked.model(given.source, contexts=given.context, as_json=given.json)
    return asked.score(given.file, given.on, save=given.save, as_json=given.json)


def _mcp() -> int:
    """Answers an assistant until its stream ends."""
    try:
        from inferdash.assistant import server  # noqa: PLC0415 - its package is only there where it was asked for
    except ModuleNotFoundError:
        print("inferdash: This needs the package mcp: pip install 'inferdash[mcp]'.", file=sys.stderr)
        return NOT_READ_IN_FULL
    server.run()
    return 0


def _update_prices(url: str, *, confirmed: bool) -> int:
    from inferdash.facts.money import price_days, prices  # noqa: PLC0415 - for this command alone

    try:
        print(prices.update(url=url or price_days.URL, confirmed=confirmed))
    except price_days.PriceUpdateError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
