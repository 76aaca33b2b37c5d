"""Random tables of usage in a database, summed there and read line by line: both must say the same.

INFERDASH_WAREHOUSE=postgres://user@host/database python -m bench.sweep_warehouses --count 1000

Without an address it is DuckDB, in a file; `--spark` is Spark on this machine, where its package and Java are there.
"""

import io
import json
import os
import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import ibis

from bench.bounded import arguments
from bench.sweep_columns import RULES, by_group
from inferdash.facts.price_names import edges
from inferdash.pricing.columns.kinds import as_record
from inferdash.pricing.columns.warehouse import Warehouse
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import counted

_COLUMNS: Final = (
    ("ts model prompt_tokens completion_tokens", "cost"),
    ("created_at model input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens", "id"),
    ("timestamp model input_tokens output_tokens cached_tokens", "request_id cost"),
    ("date model input_tokens output_tokens", "requests"),
    ("ts model input_tokens output_tokens total_tokens", "foo_tokens"),
)
_SPARK: Final = {"text": "string", "timestamptz": "timestamp"}
_START: Final = datetime(2026, 9, 1, 12, tzinfo=UTC)


def table_of(source: random.Random) -> list[dict[str, Any]]:
    """The rows of one table."""
    plain, others = source.choice(_COLUMNS)
    odd = source.choice((0.0, 0.03))
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
        if source.random() < odd and rows:  # the first line tells whether a log has times; a table has no first
            row[names[0]] = None
        rows.append(row)
    return rows


def differs(rows: list[dict[str, Any]], url: Any) -> str:
    """What is said differently of rows in a database, or a connection, and of the same as lines; "" where nothing."""
    _stored(rows, url)
    records = Records(Written())
    sums = counted(records.told.counted(Warehouse(url, "usage_log").requests(records)), RULES, edges())
    trace = Trace(io.BytesIO(b"".join(json.dumps(as_record(row)).encode() + b"\n" for row in rows)))
    lines = counted(trace, RULES, edges())
    said = (
        ("sums", by_group(lines), by_group(sums)),
        ("left out", _named(trace.problems), _named(records.problems)),
        ("number", trace.left_out, records.left_out),
    )
    return "; ".join(f"{name}: {mine} is not {others}"[:1500] for name, mine, others in said if mine != others)


def _named(problems: tuple[str, ...]) -> list[str]:
    """Without what is said of the order of lines, which a table has not."""
    apart = ("earlier in time", "repeat an earlier one", "repeats an earlier one")
    forms = " docs/files.md lists the forms that are read."
    return sorted(one.removesuffix(forms) for one in problems if not any(part in one for part in apart))


def _stored(rows: list[dict[str, Any]], url: Any) -> None:
    if not isinstance(url, str):  # Spark's
        session: Any = url._session  # noqa: SLF001 - there is no public way
        kinds = ", ".join(f"`{name}` {_SPARK.get(kind := _kind(name), kind)}" for name in rows[0])
        session.createDataFrame([[*row.values()] for row in rows], kinds).createOrReplaceTempView("usage_log")
        return
    engine = ibis.connect(url)
    cursor, is_duckdb = engine.con.cursor(), url.startswith("duckdb")
    names = ", ".join(f'"{name}" {_kind(name)}' for name in rows[0])
    cursor.execute("drop table if exists usage_log")
    cursor.execute(f"create table usage_log ({names})")
    places = ", ".join(["?" if is_duckdb else "%s"] * len(rows[0]))
    cursor.executemany(f"insert into usage_log values ({places})", [[*row.values()] for row in rows])  # noqa: S608
    if not is_duckdb:
        engine.con.commit()
    engine.disconnect()


def _kind(name: str) -> str:
    kinds = {"model": "text", "id": "text", "request_id": "text", "date": "date", "cost": "decimal(20, 12)"}
    return "timestamptz" if name in {"ts", "created_at", "timestamp"} else kinds.get(name, "bigint")


def _spark() -> Any:
    """A connection to Spark on this machine."""
    from pyspark.sql import SparkSession  # type: ignore[import-not-found]  # noqa: PLC0415 - where it is there

    own = {"ui.enabled": "false", "sql.shuffle.partitions": "1", "sql.session.timeZone": "UTC", "driver.memory": "1g",
           "driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1"}  # fmt: skip
    builder = SparkSession.builder.master("local[1]")
    for name, value in own.items():
        builder = builder.config(f"spark.{name}", value)
    return ibis.pyspark.connect(builder.getOrCreate())


def main() -> int:
    """Tries tables, and prints the seed and what was found."""
    is_spark = "--spark" in sys.argv
    given, found = arguments(1000, [one for one in sys.argv[1:] if one != "--spark"]), 0
    with tempfile.TemporaryDirectory() as folder:
        url = os.environ.get("INFERDASH_WAREHOUSE") or f"duckdb://{Path(folder) / 'log.duckdb'}"
        where = _spark() if is_spark else url
        for number in range(given.seed, given.seed + given.count):
            if said := differs(table_of(random.Random(number)), where):  # noqa: S311 - for tests
                found += 1
                print(f"table {number}: {said}", flush=True)
    named = "spark" if is_spark else url.partition(":")[0]
    print(f"{given.count} tables from seed {given.seed} in {named}: {found} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
