"""`inferdash replay`: what real requests cost under the rules of a prompt cache, line by line."""

import argparse
import dataclasses
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from inferdash.facts.money.price_names import edges, longest
from inferdash.facts.money.rates import PriceList, Rates, entered
from inferdash.pricing import in_parts
from inferdash.pricing.bills import all_at, as_totals, bill
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.blocks import UNITS, Written
from inferdash.pricing.logs.packed import Folder
from inferdash.pricing.logs.recorded import Recorded, recorded
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.replay import Replay
from inferdash.printed import NOT_READ_IN_FULL, print_json
from inferdash.studies.price import replayed

_PRICES = "in=2,out=10,read=0.1,write=2.5"
_RULES = "minimum=512,increment=512,lifetime=300,renewed=yes"
_DIGITS = 12
_MOST_USD_PER_MTOK = 1_000_000
_SAMPLE = 1 << 16
"""Bytes of a file by which its lines are estimated."""
_MANY = 200_000
"""Lines from which on an engine is faster than one after another, its start included."""
_YES_OR_NO = {"yes": True, "no": False}


def add_to(commands: Any) -> None:
    """Adds the command to a parser's others."""
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


def run(given: argparse.Namespace) -> int:
    """Prints what the requests cost, and returns the exit status."""
    try:
        prices, law = _priced(given.prices, given.rules)
        with _opened(given.file) as stream:
            written = Written(block_tokens=given.block, unit=given.time_unit, dates=given.dates)
            trace = Trace(stream, written, engine=_engine(given.file))
            found, parted = in_parts.counted_by(trace, (law,), edges(), processes=given.processes)
            counts, _ = as_totals(found, longest)
            result = bill(counts, law, all_at(prices))
    except (ValueError, OSError) as error:
        sentence = f"{given.file} cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
        if given.json:
            print_json({"problems": [sentence]})
        print(f"inferdash: {sentence}", file=sys.stderr)
        return NOT_READ_IN_FULL
    asked = replayed.asks(result, prices)
    problems = [*trace.problems, *replayed.problems(result, asked), *replayed.one_price(trace.models)]
    said = recorded(counts, law, all_at(prices))
    notes = [*trace.notes, *parted, *replayed.cost_sentences(said, result)]
    if given.json:
        print_json(_numbers(result, said, billed=not asked) | {"problems": problems, "notes": notes})
    else:
        print(_text(result, billed=not asked))
        for sentence in (*problems, *notes):
            print(f"- {sentence}")
    return NOT_READ_IN_FULL if trace.left_out or asked or not result.requests else 0


def _opened(source: str) -> AbstractContextManager[Any]:
    """A file, what is piped in, or the files of a folder."""
    if source == "-":
        return nullcontext(sys.stdin.buffer)
    return nullcontext(Folder(Path(source))) if Path(source).is_dir() else Path(source).open("rb")


def _engine(source: str) -> Any:
    """What sums up lines in which the rules play no part, where there are many and its packages are there."""
    named = Path(source)
    if not named.is_file() or any(importlib.util.find_spec(name) is None for name in ("duckdb", "ibis")):
        return None
    with named.open("rb") as stream:
        lines = stream.read(_SAMPLE).count(b"\n") * named.stat().st_size / _SAMPLE
    if lines < _MANY:
        return None
    from inferdash.pricing.columns.engine import Engine  # noqa: PLC0415 - a second, which only many lines are worth

    return Engine


def _numbers(result: Replay, said: Recorded | None, *, billed: bool) -> dict[str, Any]:
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


def _text(result: Replay, *, billed: bool) -> str:
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
    from inferdash.scenario import OWN, Scenario  # noqa: PLC0415 - half a second, for those who name a model
    from inferdash.studies.price import ways  # noqa: PLC0415 - as well

    way = ways.of(Scenario(api=OWN).model_copy(update={"api": text, "prices": _today(), "compared": ()}))[0]
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
