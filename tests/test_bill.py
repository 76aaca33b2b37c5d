"""The command that bills logs: its sums are made here by hand."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from inferdash import bill_command
from inferdash.cli import main
from inferdash.facts.money.prices import price_list
from inferdash.pricing.logs import engines
from inferdash.studies.price import bill


def log(path: Path, lines: int) -> None:
    usage = {"prompt_tokens": 1001, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 100}}
    rows = (
        {"time": 1790000000 + 86_400 * (n > lines // 2), "model": "gpt-5-mini", "usage": usage} for n in range(lines)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_bill_is_exact_and_parted_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log(tmp_path / "a.jsonl", 3)
    log(tmp_path / "b.jsonl", 4)
    assert main(["bill", str(tmp_path), "--by", "day", "--against", "gpt-5.5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    rates = price_list("openai", "gpt-5-mini", day=bill.day_of(1790000000 // 86_400)).rates
    one = (901 * rates.input + 100 * rates.of("read") + 7 * rates.output) / 1_000_000
    assert Decimal(answer["usd"]) == 7 * one
    assert [(row["requests"], Decimal(row["usd"])) for row in answer["by"]] == [(5, 5 * one), (2, 2 * one)]
    assert Decimal(answer["against"][0]["usd"]) > Decimal(answer["usd"])


def test_a_pattern_and_a_name_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log(tmp_path / "a.jsonl", 2)
    assert main(["bill", f"{tmp_path}/*.jsonl", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("gpt-5-mini,2,1802,200,")
    assert main(["bill", f"{tmp_path}/none"]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert main(["bill", str(tmp_path), "--by", "moon"]) == 2
    assert main(["bill", str(tmp_path), "--against", "no such model"]) == 2


def test_a_bill_in_parquet_is_a_whole_file_or_none(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    log(tmp_path / "a.jsonl", 2)
    into = tmp_path / "bill.parquet"
    assert main(["bill", str(tmp_path / "a.jsonl"), "--parquet", str(into)]) == 0
    assert pq.read_table(into).to_pylist()[0]["requests"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "bill.parquet"]


def test_an_engine_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ibis", reason="the engine is an extra of the package: inferdash[logs]")
    log(tmp_path / "a.jsonl", 2000)
    answers = []
    for smallest in (1 << 40, 0):
        monkeypatch.setattr(engines, "_SMALLEST", smallest)
        assert main(["bill", str(tmp_path), "--by", "model,day", "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]


def test_how_far_it_is_and_how_long_it_takes_yet() -> None:
    assert bill_command.progress(10**9, 4 * 10**9, 20.0) == "1.00 of 4.00 GB, 60 s left"
    assert bill_command.progress(10**9, 4 * 10**9, 200.0) == "1.00 of 4.00 GB, 10 min left"


def test_fees_are_told_in_dollars_where_the_list_has_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Anthropic asks $10 for a thousand searches; what a page that is fetched costs is not in the list."""
    counts = {"web_search_requests": 6, "web_fetch_requests": 2}
    usage = {"input_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 1}
    line = {"model": "claude-sonnet-5-5", "created_at": 1794000000, "usage": usage | {"server_tool_use": counts}}
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(line)}\n" * 2)
    main(["bill", str(tmp_path), "--json"])
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert "Fees at list prices add $0.120 to the tokens: 12 web searches for $0.120." in problems
    assert any("fetches of pages (4)" in one for one in problems)
