"""The command: `inferdash` opens the dashboard; `inferdash report`, `model`, `replay` and `score` print numbers."""

import argparse
import dataclasses
import difflib
import io
import json
import os
import runpy
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from inferdash import bill_command, links, pairs, shipped
from inferdash import workers as several
from inferdash.facts import hub, huggingface, library
from inferdash.facts.huggingface import Found, UnreadConfigError
from inferdash.facts.price_names import edges, longest
from inferdash.facts.prices import PriceList, Rates, entered
from inferdash.pricing import in_parts
from inferdash.pricing.blocks import UNITS, Written
from inferdash.pricing.kept import Rules
from inferdash.pricing.packed import Folder
from inferdash.pricing.recorded import Recorded, recorded
from inferdash.pricing.replay import Replay
from inferdash.pricing.tally import all_at, as_totals, bill
from inferdash.pricing.traces import Trace
from inferdash.scenario import OWN, Scenario
from inferdash.studies.numbers import literal
from inferdash.studies.price import traffic

_NOT_READ_IN_FULL = 2
_NOBODY_READS = 141
"""As a program that the signal of a closed pipe ends."""
_LAST_PORT = 65_535
_LOCAL = ("localhost", "127.0.0.1", "::1")
_PRICES = "in=2,out=10,read=0.1,write=2.5"
_RULES = "minimum=512,increment=512,lifetime=300,renewed=yes"
_DIGITS = 12
_MOST_TOKENS = 1_000_000_000
_MOST_USD_PER_MTOK = 1_000_000
_YES_OR_NO = {"yes": True, "no": False}


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
    run = commands.add_parser("replay", help="what real requests cost under the rules of a prompt cache")
    run.add_argument(
        "file",
        metavar="FILE",
        help="a trace or a usage log, CSV or JSON, or a folder or ZIP archive of them; - reads standard input",
    )
    run.add_argument(
        "--prices",
        default=_PRICES,
        help=f"dollars per million tokens ({_PRICES}; also write_long); without read or write, that of the input; or an"
        " API's model, as anthropic/claude-sonnet-5-5, at today's prices",
    )
    run.add_argument("--rules", help=f"of the cache, in tokens and seconds ({_RULES}, or those of the API)")
    run.add_argument("--block", type=int, default=0, help="tokens of a block of a trace (or as its numbers say)")
    run.add_argument("--time-unit", choices=tuple(UNITS), default="", help="of a trace (or as its times say)")
    run.add_argument("--dates", choices=("month", "day"), default="", help="what comes first in 11/02/2026")
    run.add_argument("--processes", type=int, default=1, help="of this machine, for parts that share no block (1)")
    run.add_argument("--json", action="store_true", help="as JSON")
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
        case "report":
            return _report(given.link, as_markdown=given.markdown)
        case "model":
            return _model(given.source, contexts=given.context, as_json=given.json)
        case "replay":
            written = {"block_tokens": given.block, "unit": given.time_unit, "dates": given.dates}
            how = {"written": written, "processes": given.processes, "as_json": given.json}
            return _replay(given.file, priced=given.prices, rules=given.rules, **how)
        case "bill":
            return bill_command.run(given)
        case "score":
            return _score(given.file, given.on, save=given.save, as_json=given.json)
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
            return _NOT_READ_IN_FULL
    sys.argv = ["streamlit", "run", str(shipped("app.py")), f"--server.address={address}", f"--server.port={port}"]
    sys.argv += [f"--server.allowedHosts={host}" for host in named]
    runpy.run_module("streamlit", run_name="__main__")
    return 0


def _mcp() -> int:
    """Answers an assistant until its stream ends."""
    try:
        from inferdash.assistant import server  # noqa: PLC0415 - its package is only there where it was asked for
    except ModuleNotFoundError:
        print("inferdash: This needs the package mcp: pip install 'inferdash[mcp]'.", file=sys.stderr)
        return _NOT_READ_IN_FULL
    server.run()
    return 0


def _update_prices(url: str, *, confirmed: bool) -> int:
    from inferdash.facts import price_days, prices  # noqa: PLC0415 - for this command alone

    try:
        print(prices.update(url=url or price_days.URL, confirmed=confirmed))
    except price_days.PriceUpdateError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _report(link: str, *, as_markdown: bool) -> int:
    from inferdash import answers  # noqa: PLC0415 - all pages, for those who ask for them
    from inferdash.studies import comparison  # noqa: PLC0415 - as well

    decoded = pairs.decode(link)
    sentences = [problem.sentence for problem in decoded.problems]
    if as_markdown:
        print(comparison.markdown(decoded.pair, f"?{pairs.encode(decoded.pair)}"), end="")
        for sentence in sentences:
            print(f"\n- {literal(sentence)}")
    else:
        _print_json(answers.report(link))
    return _NOT_READ_IN_FULL if sentences else 0


def _model(source: str, *, contexts: Sequence[int], as_json: bool) -> int:
    from inferdash.studies.check import model  # noqa: PLC0415 - one page, for those who ask for it

    try:
        found = _found(source, contexts)
    except UnreadConfigError as error:
        if as_json:
            _print_json({"problems": [str(error)]})
        print(f"inferdash: {source}: {error}", file=sys.stderr)
        return _NOT_READ_IN_FULL
    numbers = model.report(
        found.architecture,
        contexts=[*model.CONTEXTS, *contexts],
        problems=found.problems,
        tensors=found.tensors,
    )
    if as_json:
        _print_json(numbers)
    else:
        print(model.text(numbers))
    return 0


def _found(source: str, contexts: Sequence[int]) -> Found:
    """A file, a preset, or a repository of the hub, that is asked for at some lengths of text."""
    outside = [tokens for tokens in contexts if not 0 < tokens <= _MOST_TOKENS]
    if outside:
        raise UnreadConfigError(f"--context: {outside[0]} is not from 1 to {_MOST_TOKENS:,} tokens.")
    content = _content(Path(source))
    if content is not None:
        fields, beside = huggingface.parse(content), _content(Path(source).with_name(huggingface.BESIDE))
        if beside is not None and not huggingface.says_formats(fields):
            fields = huggingface.with_formats(fields, beside)
        return huggingface.read(fields, name=Path(source).stem)
    if source in library.models():
        return Found(library.models()[source], (), {})
    if source.count("/") == 1 and not source.endswith(".json"):
        return hub.read(source, token=True)
    near = difflib.get_close_matches(source, library.models(), n=1)
    raise UnreadConfigError("There is no such file or preset." + "".join(f" Is it {name}?" for name in near))


def _content(path: Path) -> bytes | None:
    """The content of a file, no more of it than a config.json has; None where there is none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.read(huggingface.LARGEST_FILE + 1)
    except OSError as error:
        raise UnreadConfigError(f"The file cannot be read: {error.strerror}.") from None


def _score(source: str, link: str | None, *, save: str | None, as_json: bool) -> int:
    from inferdash.studies.check import own_engine, score  # noqa: PLC0415 - one page, for those who ask for it

    try:
        on = None
        if link is not None:
            decoded = links.decode(link)
            if decoded.problems:
                problem = f"--on: {decoded.problems[0].sentence}"
                print(f"inferdash: {problem}", file=sys.stderr)
                return _NOT_READ_IN_FULL
            on = decoded.scenario.deployment, decoded.scenario.program
        rows = score.read_any(Path(source).read_text(encoding="utf-8-sig"), on)
        found = score.score(rows, on)
        if save is not None:
            name, origin = Path(save).stem, Path(source).name
            own = own_engine.of(rows, on, name=name, origin=origin, today=datetime.now(tz=UTC).date())
            Path(save).write_text(own_engine.written(own), encoding="utf-8")
    except (ValueError, OSError) as error:
        sentence = "The file is no text in UTF-8." if isinstance(error, UnicodeDecodeError) else str(error)
        if isinstance(error, OSError):
            did = "written" if error.filename == save else "read"
            sentence = f"{error.filename} cannot be {did}: {error.strerror}."
        if as_json:
            _print_json({"problems": [sentence]})
        print(f"inferdash: {sentence}", file=sys.stderr)
        return _NOT_READ_IN_FULL
    if as_json:
        _print_json(score.as_json(found))
    else:
        print(score.text(found))
    return _NOT_READ_IN_FULL if any(one.problem for one in found) else 0


def _replay(
    source: str, *, priced: str, rules: str | None, written: dict[str, Any], processes: int, as_json: bool
) -> int:
    try:
        prices, law = _priced(priced, rules)
        with _opened(source) as stream:
            trace = Trace(stream, Written(**written))
            found, parted = in_parts.counted_by(trace, (law,), edges(), processes=processes)
            counts, _ = as_totals(found, longest)
            result = bill(counts, law, all_at(prices))
    except (ValueError, OSError) as error:
        sentence = f"{source} cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
        if as_json:
            _print_json({"problems": [sentence]})
        print(f"inferdash: {sentence}", file=sys.stderr)
        return _NOT_READ_IN_FULL
    asked = traffic.asks(result, prices)
    problems = [*trace.problems, *traffic.problems(result, asked), *traffic.one_price(trace.models)]
    said = recorded(counts, law, all_at(prices))
    notes = [*trace.notes, *parted, *traffic.cost_sentences(said, result)]
    if as_json:
        _print_json(_replay_numbers(result, said, billed=not asked) | {"problems": problems, "notes": notes})
    else:
        print(_replay_text(result, billed=not asked))
        for sentence in (*problems, *notes):
            print(f"- {sentence}")
    return _NOT_READ_IN_FULL if trace.left_out or asked or not result.requests else 0


def _opened(source: str) -> AbstractContextManager[Any]:
    """A file, what is piped in, or the files of a folder."""
    if source == "-":
        return nullcontext(sys.stdin.buffer)
    return nullcontext(Folder(Path(source))) if Path(source).is_dir() else Path(source).open("rb")


def _replay_numbers(result: Replay, said: Recorded | None, *, billed: bool) -> dict[str, Any]:
    numbers = {
        "requests": result.requests,
        "fresh_tokens": result.fresh_tokens,
        "written_tokens": result.written_tokens,
        "read_tokens": result.read_tokens,
        "output_tokens": result.output_tokens,
        "cost_usd": float(result.cost_usd) if billed else None,
        "cost_without_cache_usd": float(result.cost_without_cache_usd),
        "read_share": result.read_share,
        "why": dataclasses.asdict(result.why),
    }
    if said:
        numbers["recorded"] = {
            "requests": said.requests,
            "cost_usd": float(said.usd),
            "at_these_prices_usd": float(said.priced_usd) if billed else None,
            "difference_usd": float(said.difference_usd) if billed else None,
        }
    return numbers


def _replay_text(result: Replay, *, billed: bool) -> str:
    why = result.why
    rows = [
        ("requests", f"{result.requests:,}"),
        ("fresh input tokens", f"{result.fresh_tokens:,}"),
        ("  written to the cache", f"{result.written_tokens:,}"),
        ("  cached input", f"{result.read_tokens:,} ({result.read_share:.2%})"),
        ("output tokens", f"{result.output_tokens:,}"),
        ("cost", f"${result.cost_usd:,.4f}" if billed else "a price is missing"),
        ("cost without caching", f"${result.cost_without_cache_usd:,.4f}"),
        ("not read: gap over the lifetime", f"{why.gap_over_lifetime:,}"),
        ("  below the minimum", f"{why.below_minimum:,}"),
        ("  never seen", f"{why.never_seen:,}"),
        ("  rest of a block", f"{why.rest_of_block:,}"),
        ("  not told by the file", f"{why.not_told:,}"),
    ]
    return "\n".join(f"{name:<32} {number}" for name, number in rows)


def _priced(text: str, rules: str | None) -> tuple[PriceList, Rules]:
    """Prices that were written out, or those of an API's model with the rules of its cache unless others are given.

    Raises:
        ValueError: with a sentence, where the prices, the model or the rules are not understood.
    """
    if "=" in text or "/" not in text:
        return entered(_rates(text)), _rules(_RULES if rules is None else rules)
    way = traffic.ways(Scenario(api=OWN).model_copy(update={"api": text, "prices": _today(), "compared": ()}))[0]
    return way.prices, way.rules if rules is None else _rules(rules)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _rates(text: str) -> Rates:
    """Prices as `in=2,out=10,read=0.1,write=2.5`.

    Raises:
        ValueError: with a sentence, where one is unknown, missing or no price.
    """
    given: dict[str, Decimal] = {}
    for name, value in _pairs(text, option="--prices", names=("in", "out", "read", "write", "write_long")).items():
        try:
            given[name] = Decimal(value)
        except InvalidOperation:
            raise ValueError(f"--prices: {name}={value} is no number of dollars per million tokens.") from None
        if not (given[name].is_finite() and 0 <= given[name] <= _MOST_USD_PER_MTOK):
            raise ValueError(f"--prices: {name}={value} is not from 0 to {_MOST_USD_PER_MTOK:,} dollars.")
    missing = [name for name in ("in", "out") if name not in given]
    if missing:
        raise ValueError(
            f"--prices: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing, as in {_PRICES}."
        )
    return Rates(given["in"], given["out"], given.get("read"), given.get("write"), given.get("write_long"))


def _rules(text: str) -> Rules:
    """Rules as `minimum=512,increment=512,lifetime=300,renewed=yes`; what is left out stays as it is there.

    Raises:
        ValueError: with a sentence, where one is unknown or makes no sense.
    """
    names = ("minimum", "increment", "lifetime", "renewed")
    pairs = _pairs(_RULES, option="--rules", names=names) | _pairs(text, option="--rules", names=names)
    for name in ("minimum", "increment"):
        if not (pairs[name].isascii() and pairs[name].isdigit() and len(pairs[name]) <= _DIGITS):
            raise ValueError(f"--rules: {name}={pairs[name]} is no whole number of tokens.")
    try:
        lifetime_s = float(pairs["lifetime"])
    except ValueError:
        raise ValueError(f"--rules: lifetime={pairs['lifetime']} is no number of seconds.") from None
    if pairs["renewed"] not in _YES_OR_NO:
        raise ValueError(f"--rules: renewed={pairs['renewed']} is neither yes nor no.")
    try:
        return Rules(
            minimum_tokens=int(pairs["minimum"]),
            increment_tokens=int(pairs["increment"]),
            lifetime_s=lifetime_s,
            renewed=_YES_OR_NO[pairs["renewed"]],
        )
    except ValueError as error:
        raise ValueError(f"--rules: {error}") from None


def _pairs(text: str, *, option: str, names: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or name not in names:
            raise ValueError(f"{option}: {part} is not known; it takes {', '.join(f'{known}=' for known in names)}.")
        if name in pairs:
            raise ValueError(f"{option}: {name} is given twice.")
        pairs[name] = value
    return pairs


def _print_json(numbers: dict[str, Any]) -> None:
    text = json.dumps(numbers, indent=2, allow_nan=False, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(numbers, indent=2, allow_nan=False)
    print(text)
