"""Random logs, each summed by engines and read line by line: all must say the same, to the last digit.

python -m bench.sweeps.bills --count 1000 --seed 0 --in postgres://user@host/database spark

Each seed is a log of lines, which the blocks of DuckDB read, and a table, which lies in a file of DuckDB and in the
other databases that are named. Spark runs on this machine, where its package and Java are there.
"""

import argparse
import io
import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import ibis

from bench.random_logs import log_of, table_of
from bench.sweep import swept
from inferdash.facts.money.price_names import edges
from inferdash.pricing.columns.engine import Engine
from inferdash.pricing.columns.kinds import as_record
from inferdash.pricing.columns.warehouse import Warehouse
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import Counts, counted

RULES: Final = (Rules(minimum_tokens=512, increment_tokens=512, lifetime_s=300, renewed=True),)
_BLOCKS: Final = (300, 3000, 1 << 20)
_SPARK: Final = {"text": "string", "timestamptz": "timestamp"}
_FORMS: Final = " docs/files.md lists the forms that are read."
_OF_ORDER: Final = ("earlier in time than the one before",)
"""What is told of the order of lines, which plays no part in sums."""
_OF_LINES: Final = (*_OF_ORDER, "repeat an earlier one", "repeats an earlier one")
"""The same, and of what a table has not: lines as texts."""


def differs(content: bytes, *, block: int) -> str:
    """What the blocks of an engine say of a log of lines that its lines do not; "" where nothing."""
    (lines, one), (sums, other) = _read(content), _read(content, partial(Engine, block=block, fewest=0))
    said = [
        ("traces", lines.asked, sums.asked),
        ("days", lines.whole_days, sums.whole_days),
        ("first day", _day(lines.first_s), _day(sums.first_s)),
        ("notes", _told(one), _told(other)),
        ("models", one.models, other.models),
    ]
    return _shown([*_alike(lines, sums, one, other, _OF_ORDER), *said])


def differs_there(rows: Sequence[dict[str, Any]], where: Any) -> str:
    """What a database says of rows, by its address or a connection, that the same as lines do not; "" where nothing."""
    _store(rows, where)
    records = Records(Written())
    sums = counted(records.told.counted(Warehouse(where, "usage_log").requests(records)), RULES, edges())
    lines, trace = _read(b"".join(json.dumps(as_record(row)).encode() + b"\n" for row in rows))
    return _shown(_alike(lines, sums, trace, records, _OF_LINES))


def _read(content: bytes, engine: Any = None) -> tuple[Counts, Trace]:
    """What a log says, line by line or by an engine."""
    trace = Trace(io.BytesIO(content), engine=engine, users=True)
    return counted(trace, RULES, edges()), trace


def _alike(
    lines: Counts, sums: Counts, one: Any, other: Any, but: Sequence[str]
) -> Iterator[tuple[str, object, object]]:
    """What must be the same in every engine."""
    yield "sums", lines.told, sums.told
    yield "left out", one.left_out, other.left_out
    yield "problems", _named(one.problems, but), _named(other.problems, but)


def _shown(said: Iterable[tuple[str, object, object]]) -> str:
    return "; ".join(f"{name}: {mine} is not {others}"[:1500] for name, mine, others in said if mine != others)


def _day(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds // 86_400)


def _told(trace: Trace) -> list[str]:
    """All but which dialects were most common, where many were as common."""
    return sorted(note for note in trace.notes if not note.startswith("Counts are read"))


def _named(problems: Iterable[str], but: Sequence[str]) -> list[str]:
    return sorted(one.removesuffix(_FORMS) for one in problems if not any(part in one for part in but))


def _store(rows: Sequence[dict[str, Any]], where: Any) -> None:
    """Makes the table of rows."""
    if not isinstance(where, str):  # Spark's
        session: Any = where._session  # noqa: SLF001 - there is no public way
        kinds = ", ".join(f"`{name}` {_SPARK.get(kind := _kind(name), kind)}" for name in rows[0])
        session.createDataFrame([[*row.values()] for row in rows], kinds).createOrReplaceTempView("usage_log")
        return
    engine = ibis.connect(where)
    cursor, is_duckdb = engine.con.cursor(), where.startswith("duckdb")
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


def _findings(count: int, seed: int, places: Sequence[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        where = {"duckdb": f"duckdb://{Path(folder) / 'log.duckdb'}"}
        where |= {one.partition(":")[0]: _spark() if one == "spark" else one for one in places}
        for number in range(seed, seed + count):
            source = random.Random(number)  # noqa: S311 - for tests
            said = differs(log_of(source), block=source.choice(_BLOCKS))
            yield said and f"log {number}: {said}"
            rows = table_of(random.Random(number))  # noqa: S311 - for tests
            for name, one in where.items():
                said = differs_there(rows, one)
                yield said and f"table {number} in {name}: {said}"


def main() -> int:
    """Tries logs, and prints the seed and what was found."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--in", dest="places", nargs="*", default=(), help="databases, and spark")
    places = parser.parse_known_args()[0].places
    return swept("bills by engines", 1000, partial(_findings, places=places))


if __name__ == "__main__":
    raise SystemExit(main())
