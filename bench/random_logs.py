"""Random logs of usage, as lines and as tables: of some makers, with odd ones among the plain."""

import copy
import csv
import io
import json
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from bench.sweeps import files as sweep_files

RECORDS: Final = json.loads((Path(__file__).parent.parent / "tests/pricing/usage_records.json").read_text("utf-8"))
_MODELS: Final = ("gpt-5-mini", "claude-sonnet-4-6", "gemini-2.5-pro", "grok-4", "my own", "", "Müller", 'say "x"')
_ODD: Final[tuple[Any, ...]] = (
    None, -1, 0, 2.0, 2.5, True, "12", "007", "1,234", "", "x", [], {}, 10**12, 10**13, 10**30, float("nan"), "12 ",
)  # fmt: skip
_SERVICES: Final[tuple[Any, ...]] = (
    "standard", "default", "batch", "flex", "priority", "fast", "scale", "ON_DEMAND", "ON_DEMAND_FLEX", "us", "global",
    "", None, True, False, "true", "FALSE", 3,
)  # fmt: skip
_NAMES: Final = (
    "foo_tokens", "cached", "stream", "note", "user", "web_search_requests", "requests", "total_tokens", "type", "cost",
    "spend", "ts_ms", "audio_tokens", "usage", "output", "input", "metadata",
)  # fmt: skip
_TIMES: Final = (
    "2026-11-30T23:59:59.5Z", "2026-11-30 01:02:03", "2026-11-30", "2026-11-30T01:00:00+02:00", "2026-02-30",
    "20261130", 1793000000, 1793000000.25, 1793000000000, 1793000000000000000, "1793000000", "", None, "soon", -5, 12,
    "11/30/2026",
)  # fmt: skip
_COLUMNS: Final = (
    ("ts model prompt_tokens completion_tokens", "cost"),
    ("created_at model input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens", "id"),
    ("timestamp model input_tokens output_tokens cached_tokens", "request_id cost"),
    ("date model input_tokens output_tokens", "requests"),
    ("ts model input_tokens output_tokens total_tokens", "foo_tokens"),
)
_START: Final = datetime(2026, 9, 1, 12, tzinfo=UTC)


def log_of(source: random.Random) -> bytes:
    """One log: of some makers, with odd lines among the plain ones."""
    if source.random() < 0.15:
        return sweep_files.file_of(source)
    kinds = [one["record"] for one in source.sample(RECORDS, source.choice((1, 1, 2, 4)))]
    lines = source.choice((1, 3, 40, 200))
    if source.random() < 0.3:
        return _table(source, lines)
    served = source.choice((0.0, 0.0, 0.5))
    dated, odd = source.choice((True, True, False)), source.choice((0.0, 0.02, 0.2))
    untimed = source.choice((0.0, 0.0, 0.3))
    rows: list[bytes] = []
    for _ in range(lines):
        record = _changed(copy.deepcopy(source.choice(kinds)), source)
        if dated and source.random() >= untimed:
            name = source.choice(("time",) * 9 + ("timestamp", "created_at"))
            record[name] = source.choice(_TIMES) if source.random() < 0.1 else 1793000000 + source.randrange(10**6)
        if source.random() < 0.8:
            record["model"] = source.choice(_MODELS[: source.choice((3, 8))])
        if source.random() < 0.2:
            record["cost"] = source.choice((0.1, 0.00321300000000000003, 1e-7, "0.5", "$1.25", -1, None, 3))
        if source.random() < served:
            _serve(record, source)
        if source.random() < 0.3:
            record["id"] = f"a{source.randrange(60)}" if source.random() < 0.3 else f"b{source.random()}"
        for _ in range(2 if source.random() < odd else 0):
            _spoil(record, source)
        rows.append(json.dumps(record, ensure_ascii=source.random() < 0.5).encode())
        if source.random() < odd:
            rows[-1] = source.choice((_cut, _doubled, _as_it_is, _noise))(rows[-1], source)
    return b"\n".join(rows) + source.choice((b"", b"\n"))


def _changed(record: Any, source: random.Random) -> Any:
    """The same record with other ids, and now and then with larger numbers."""
    times = source.choice((1, 1, 1, 2, 10))

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: change(one) for name, one in value.items()}
        return value * times if type(value) is int and value < 10**7 else value

    if isinstance(record.get("id"), str) and source.random() < 0.9:
        record["id"] = f"c{source.random()}"
    return change(record)


def _serve(record: dict[str, Any], source: random.Random) -> None:
    """Says by which service it was answered, somewhere in a record."""
    usage = record.get("usage")
    here = usage if isinstance(usage, dict) and source.random() < 0.5 else record
    name = source.choice(("service_tier", "serviceTier", "traffic_type", "speed", "batch", "inference_geo"))
    here[name] = source.choice(_SERVICES)
    if source.random() < 0.1:
        here["batch"] = source.choice((True, False, "True", 8))


def _spoil(record: dict[str, Any], source: random.Random) -> None:
    """Puts something odd at some place of a record."""
    here: Any = record
    while inner := [one for one in here.values() if isinstance(one, dict) and one]:
        if source.random() < 0.2:
            break
        here = source.choice(inner)
    name = source.choice(_NAMES if source.random() < 0.5 or not here else tuple(here))
    here[name] = source.choice(_ODD)


def _cut(line: bytes, source: random.Random) -> bytes:
    return line[: source.randrange(len(line) + 1)]


def _doubled(line: bytes, source: random.Random) -> bytes:
    """A name that stands twice."""
    name = source.choice((b'"prompt_tokens": 5, ', b'"input_tokens": 7, ', b'"model": "x", ', b'"total_tokens": 1, '))
    at = line.find(b"{", source.randrange(len(line))) + 1
    return line[:at] + name + line[at:]


def _as_it_is(line: bytes, source: random.Random) -> bytes:
    return source.choice(
        (line + b",", line[:-1] + b",}", b" " + line + b"\r", b"\xef\xbb\xbf" + line, b"[" + line + b"]")
    )


def _noise(_: bytes, source: random.Random) -> bytes:
    return source.choice(
        (b"", b"   ", b"null", b'"x"', b"7", b"{}", b"\xff\xfe{", b'{"a": 1} {"b": 2}', b'{"usage": null}')
    )


def _table(source: random.Random, lines: int) -> bytes:
    """A table, as spreadsheets and consoles write them."""
    names = source.choice(
        (
            ["Date", "Model", "Input Tokens", "Output Tokens", "Cached Tokens"],
            [
                "timestamp",
                "model",
                "input_tokens",
                "output_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
            ],
            ["time", "model", "prompt_tokens", "completion_tokens", "total_tokens", "cost"],
            ["id", "model", "input_tokens", "output_tokens", "note"],
            ["model", "input_tokens", "output_tokens", "requests", "foo_tokens"],
        )
    )
    text = io.StringIO()
    quoting: Any = source.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    rows = csv.writer(
        text, delimiter=source.choice(",;\t"), quoting=quoting, lineterminator=source.choice(("\n", "\r\n"))
    )
    rows.writerow(names)
    odd = source.choice((0.0, 0.02))
    for _ in range(lines):
        prompt, answer = source.randrange(1, 300_000), source.randrange(4000)
        cells: dict[str, Any] = {
            "Date": "2026-11-30", "timestamp": "2026-11-29T05:06:07Z", "time": source.choice(_TIMES[:3]),
            "Model": source.choice(_MODELS), "model": source.choice(_MODELS), "id": source.randrange(10**6),
            "total_tokens": prompt + answer, "cost": source.choice(("0.25", "", "$3")),
            "requests": source.choice((1, 1, 7)),
            "foo_tokens": 0, "note": source.choice(("", "a, b", 'he said "no"', "two\nlines", "x")) if odd else "x",
        }  # fmt: skip
        row = [cells.get(name, answer if "utput" in name or "completion" in name else prompt) for name in names]
        if "ached" in names[-1] or "cache" in names[-1]:
            row[4:] = [source.choice(("", 0, 12)) for _ in row[4:]]
        if source.random() < odd:
            row[source.randrange(len(row))] = source.choice(_ODD)
        if source.random() < odd:
            row = source.choice((row[:-1], [*row, ""], [*row, "x"], names, [""] * len(row)))
        rows.writerow(row)
    return text.getvalue().encode()


def table_of(source: random.Random) -> list[dict[str, Any]]:
    """The rows of one table."""
    plain, others = source.choice(_COLUMNS)
    odd, untimed = source.choice((0.0, 0.03)), source.choice((0.0, 0.0, 0.3))
    rows: list[dict[str, Any]] = []
    for number in range(source.choice((1, 30, 200))):
        prompt, answer = source.randrange(1, 300_000), source.randrange(5000)
        moment = _START + timedelta(seconds=number * 5000 + source.randrange(4000))
        cells: dict[str, Any] = {
            "ts": moment, "created_at": moment, "timestamp": moment, "date": moment.date(),
            "model": source.choice(("gpt-5-mini", "claude-sonnet-4-6", "own", None)),
            "cost": source.choice((Decimal("0.000000125000"), Decimal("3.250000000000"), None)),
            "total_tokens": prompt + answer, "requests": 1 if source.random() < 0.9 else source.choice((0, 4)),
            "foo_tokens": source.choice((0, 0, 4)), "completion_tokens": answer, "output_tokens": answer,
            "cached_tokens": source.choice((0, prompt // 2, None)),
        }  # fmt: skip
        an_id = f"a{source.randrange(40)}" if source.random() < 0.1 else f"b{number}"
        apart = source.choice((0, 7, None))
        names = (*plain.split(), *others.split())
        row = {name: cells.get(name, an_id if "id" in name.split("_") else prompt) for name in names}
        row |= {name: apart for name in names if name.startswith("cache_")}
        if source.random() < odd:
            row[source.choice([name for name in row if "tokens" in name])] = source.choice((-5, None, 10**13, 0))
        if source.random() < untimed:
            row[names[0]] = None
        rows.append(row)
    return rows
