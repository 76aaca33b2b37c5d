"""Logs in blocks by an engine: the reader of lines, which knows nothing of columns, says what is right."""

import gzip
import io
import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("ibis", reason="the engine is an extra of the package: inferdash[logs]")

from bench.random_logs import log_of
from bench.sweeps.bills import differs
from inferdash.facts.money.price_names import edges
from inferdash.pricing.columns.engine import Engine
from inferdash.pricing.logs.packed import Folder
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import Summed, counted

OPENAI = {"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 600}}


def line(**more: Any) -> bytes:
    return json.dumps({"time": 1793000000, "model": "gpt-5-mini", "usage": OPENAI} | more).encode() + b"\n"


@pytest.mark.parametrize("seed", [3, 114, 100046, 100330, 100792, 100859])
def test_a_random_log_is_the_same_to_both_readers(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311 - a test
    assert differs(log_of(source), block=source.choice((300, 3000, 1 << 20))) == ""


@pytest.mark.parametrize(
    "odd",
    [
        line(usage=OPENAI | {"foo_tokens": 5}),
        line(usage=OPENAI | {"prompt_tokens": 2.5}),
        line(usage=OPENAI | {"prompt_tokens": True}),
        line(usage=OPENAI | {"prompt_tokens": "1000"}),
        line(usage=OPENAI | {"prompt_tokens": 10**13}),
        line().replace(b'"prompt_tokens": 1000', b'"prompt_tokens": 7, "prompt_tokens": 1000'),
        line().replace(b"}\n", b",}\n"),
        line(time=None),
        line(time="2026-11-30T01:00:00+02:00"),
        line(note='a text with "prompt_tokens": null in it'),
        line(model=None, requests=7),
        b"{\n",
        b"\xff\n",
        line(type={}),
    ],
)
def test_an_odd_line_among_plain_ones_is_read_or_named_as_ever(odd: bytes) -> None:
    assert differs(line() * 30 + odd + line() * 30, block=1 << 20) == ""


BATCH = {"body": {"model": "gpt-5-mini", "created": 1793000000, "usage": OPENAI}}


@pytest.mark.parametrize(
    "lines",
    [
        [line(id=f"a{at}", service_tier=tier) for at, tier in enumerate(["default", "flex", "", "weird", None, 5] * 5)],
        [json.dumps({"custom_id": f"r{at}", "response": BATCH}).encode() + b"\n" for at in range(20)],
        [line(id=f"a{at}", cached=at % 3 == 0, batch=at % 2 == 0) for at in range(30)],
        [json.dumps({"type": "turn.completed", "usage": {"input_tokens": 9 * at, "cached_input_tokens": at,
                     "output_tokens": 5 * at}}).encode() + b"\n" for at in range(1, 20)],
        [line(id=f"a{at}", user=f"u{at % 3}", metadata={"user_id": at}) for at in range(30)],
    ],
    ids=["tiers", "batch", "flags", "turns", "users"],
)  # fmt: skip
def test_what_is_told_beside_the_counts_is_the_same(lines: list[bytes]) -> None:
    assert differs(b"".join(lines), block=1 << 20) == ""


def test_the_last_copy_of_an_answer_counts_also_where_the_first_is_in_another_block() -> None:
    first, last = line(id="a"), line(id="a", usage=OPENAI | {"completion_tokens": 90})
    others = b"".join(line(id=f"b{number}") for number in range(40))
    content = first + others + last
    assert differs(content, block=500) == ""
    trace = Trace(io.BytesIO(content), engine=partial(Engine, block=500, fewest=0))
    counts = counted(trace, (), edges())
    assert sum(sums.output for sums in counts.told.values()) == 40 * 20 + 90
    assert sum(sums.requests for sums in counts.told.values()) == 41


def test_most_lines_of_a_plain_log_are_read_as_columns() -> None:
    content = b"".join(line(id=f"a{number}") for number in range(500))
    items = [*Trace(io.BytesIO(content), engine=partial(Engine, block=1 << 20, fewest=0))]
    assert len(items) < 5


def test_a_table_in_parquet_is_billed_as_the_same_records_in_lines(tmp_path: Path) -> None:
    source = random.Random(5)  # noqa: S311 - a test
    rows = [
        json.loads(
            line(id=f"a{source.randrange(400)}", time=1793000000 + source.randrange(10**6), cost=0.25, note=None)
        )
        | {"usage": OPENAI | {"prompt_tokens": source.randrange(500, 300_000)}}
        for _ in range(500)
    ]
    rows[7]["usage"]["completion_tokens"] = -1
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=100)
    lines = Trace(io.BytesIO(b"\n".join(json.dumps(row).encode() for row in rows)))
    with path.open("rb") as stream:
        table = Trace(stream, engine=Engine)
        sums = counted(table, (), edges())
    assert sums.told == counted(lines, (), edges()).told
    said = [one for one in lines.problems if "earlier in time" not in one]
    assert (table.left_out, [*table.problems]) == (lines.left_out, said)


def test_of_a_folder_what_cannot_be_read_is_named_and_the_rest_is_billed(tmp_path: Path) -> None:
    content = b"".join(line(id=f"a{number}") for number in range(300))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(content))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(bytes(random.Random(1).randbytes(9000)))[:5000])  # noqa: S311
    (tmp_path / "c.jsonl").write_bytes(b"")
    (tmp_path / "d.jsonl").write_bytes(line(id="d") + b"{")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "e.parquet")
    (tmp_path / "f.parquet").write_bytes(b"PAR1" + b"x" * 50)
    (tmp_path / "g.jsonl").write_bytes(line(id="g"))
    folder = Folder(tmp_path)
    trace = Trace(folder, engine=partial(Engine, fewest=0))
    requests = 0
    for item in trace:
        requests += item.sums.requests if isinstance(item, Summed) else item.requests
        if folder.name == "g.jsonl":
            with (tmp_path / "g.jsonl").open("ab") as stream:
                stream.write(line(id="h"))  # it grows for as long as it is read
    assert requests == 302
    said = " ".join(trace.problems)
    for name in ("b.jsonl.gz", "c.jsonl is empty", "f.parquet", "g.jsonl grew", "d.jsonl: The last line is cut off"):
        assert name in said
