"""Tables whose columns have types: what only a type can hold, in Parquet and in a database."""

import io
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inferdash.facts.money.price_names import edges
from inferdash.pricing.columns.engine import Engine
from inferdash.pricing.columns.warehouse import Warehouse
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import counted
from inferdash.studies.price.bill import bill

HOURS = [datetime(2026, 11, 10, 23, 30, tzinfo=UTC), datetime(2026, 11, 11, 0, 30, tzinfo=UTC)]
GOOGLE = {"promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 1050}
TEXT, AUDIO = ([{"modality": name, "tokenCount": 1000}] for name in ("TEXT", "AUDIO"))
LABELLED = pa.array([GOOGLE | {"promptTokensDetails": one} for one in (TEXT, AUDIO)])
MAPPED = pa.map_(pa.string(), pa.int64())
MESSAGE = [("cache_read_input_tokens", 400), ("cache_creation_input_tokens", 100)]
CASES: Sequence[tuple[dict[str, Any], str, int]] = [
    # 1,000 x 0.25 + 50 x 2 dollars a million for each of two lines, half of it in a batch
    ({"batch": pa.array([True, False])}, "0.000525", 0),
    ({"batch": pa.array(["Y", "N"])}, "0.000525", 0),
    ({"batch": pa.array([8, 0])}, "0.0007", 0),
    ({"cache_hit": pa.array([True, False])}, "0.00035", 1),
    ({"cache_hit": pa.array(["t", "f"])}, "0.00035", 1),
    # no numbers, and those that are too large to be made whole ones
    ({"output_tokens": pa.array([50.0, float("nan")])}, "0.00035", 1),
    ({"output_tokens": pa.array([50.0, float("-inf")])}, "0.00035", 1),
    ({"output_tokens": pa.array([50.0, 1e300])}, "0.00035", 1),
    ({"output_tokens": pa.array([50, 2**63 + 50], pa.uint64())}, "0.00035", 1),
    ({"output_tokens": pa.array([Decimal(50), Decimal(10) ** 30], pa.decimal128(38, 0))}, "0.00035", 1),
    # 1,000 x 0.3 + 50 x 2.5; audio has its own price
    ({"model": pa.array(["gemini-2.5-flash"] * 2), "input_tokens": None, "usageMetadata": LABELLED}, "0.000425", 1),
]


def table(columns: dict[str, Any]) -> Any:
    plain = {"model": ["gpt-5-mini"] * 2, "input_tokens": [1000] * 2, "output_tokens": [50] * 2}
    found = plain | columns
    if found["input_tokens"] is None:
        found = {name: found[name] for name in ("model", "usageMetadata")}
    return pa.table(found)


def of_parquet(rows: Any, by: Sequence[str] = ()) -> tuple[Any, Trace]:
    file = io.BytesIO()
    pq.write_table(rows, file)
    trace = Trace(io.BytesIO(file.getvalue()), engine=partial(Engine, block=1 << 20, fewest=0), users="user" in by)
    return bill(counted(trace, (), edges()), by=by, against=(), day=date(2026, 11, 30)), trace


@pytest.mark.parametrize(("columns", "usd", "left_out"), CASES)
def test_what_a_type_says_counts_in_a_file(columns: dict[str, Any], usd: str, left_out: int) -> None:
    found, trace = of_parquet(table(columns))
    assert (found.whole.cost_usd, trace.left_out) == (Decimal(usd), left_out)


@pytest.mark.parametrize(("columns", "usd", "left_out"), CASES)
def test_what_a_type_says_counts_in_a_database(
    columns: dict[str, Any], usd: str, left_out: int, tmp_path: Path
) -> None:
    path = tmp_path / "usage.duckdb"
    with duckdb.connect(str(path)) as database:
        database.register("rows", table(columns))
        database.execute("create table requests as select * from rows")
    records = Records(Written())
    requests = records.told.counted(Warehouse(f"duckdb://{path}", "requests").requests(records))
    found = bill(counted(requests, (), edges()), by=(), against=(), day=date(2026, 11, 30))
    assert (found.whole.cost_usd, records.left_out) == (Decimal(usd), left_out)


def test_a_map_of_counts_is_a_level_of_counts() -> None:
    counts = {"input_tokens": 500, "output_tokens": 50, "total_tokens": 1050}
    told = pa.array([[*counts.items(), *MESSAGE]], MAPPED)
    found, trace = of_parquet(pa.table({"model": ["claude-sonnet-4-5"], "usage": told}))
    # 500 x 3 + 400 x 0.3 + 100 x 3.75 + 50 x 15
    assert (found.whole.cost_usd, trace.left_out) == (Decimal("0.002745"), 0)


def test_a_time_with_a_zone_is_of_the_day_of_utc_also_below_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    kind = pa.struct([("timestamp", pa.timestamp("us", tz="Europe/Berlin"))])
    found, _ = of_parquet(table({"metadata": pa.array([{"timestamp": one} for one in HOURS], kind)}), by=("day",))
    assert [names for names, _ in found.parts] == [("2026-11-10",), ("2026-11-11",)]


def test_a_user_may_be_a_large_number() -> None:
    found, _ = of_parquet(table({"user_id": pa.array([5, 2**64 - 1], pa.uint64())}), by=("user",))
    assert [names for names, _ in found.parts] == [("18446744073709551615",), ("5",)]
