"""Logs that people brought, in their publicly shown shape, each with the bill that its thread, or arithmetic, gives."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from inferdash.cli import main

FIELD: Final = Path(__file__).parent / "field"
CLAUDE: Final = "in=3,read=0.3,write=3.75,write_long=6,out=15"
BAILIAN: Final = ("--rules", "minimum=16,increment=16,lifetime=300,renewed=yes")


def replayed(path: Path, prices: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any]]:
    """The exit status, and what is printed."""
    status = main(["replay", str(path), "--json", "--prices", prices, *more])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("file", "prices", "more", "requests", "usd"),
    [
        ("01-log.jsonl", CLAUDE, (), 1, 0.054399),  # BerriAI/litellm#9812: billed twice
        ("03-log.jsonl", "in=5,read=0.5,write=6.25,write_long=10,out=25", (), 2, 0.15438775),  # earendil-works/pi#8752
        ("04-log.jsonl", "in=0.435,read=0.003625,out=0.87", (), 1, 0.0074298),  # mnfst/llm-gateway#2051
        ("05-log.jsonl", CLAUDE, (), 1, 0.076515),  # langchain-ai/langchain#32818
        ("08-log.json", CLAUDE, (), 1, 0.029409),  # BerriAI/litellm#10667, #16341
        ("09-log.jsonl", "in=5,read=0.5,write=6.25,write_long=10,out=25", (), 1, 0.104375),  # titeya/dms-claudecode#52
        ("11-log.jsonl", CLAUDE, BAILIAN, 3, 0.008769),  # alibaba-edu/qwen-bailian-usagetraces-anon
        ("13-log.jsonl", "in=5,read=0.5,out=30", (), 1, 0.00875),  # janekbaraniewski/openusage#360
        ("15-log.csv", CLAUDE, (), 1, 0.3 + 0.15 + 0.12 + 0.27 + 0.075),  # the header of Anthropic's console
    ],
)
def test_a_log_that_was_brought(
    file: str, prices: str, more: tuple[str, ...], requests: int, usd: float, *, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed = replayed(FIELD / file, prices, capsys, *more)
    assert (status, printed["requests"]) == (0, requests)
    assert printed["cost_usd"] == pytest.approx(usd, rel=1e-12)
    assert printed["problems"] == []


def test_a_trace_of_bailian_is_read_in_its_own_blocks_and_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    _, printed = replayed(FIELD / "11-log.jsonl", CLAUDE, capsys, *BAILIAN)
    assert (printed["read_tokens"], printed["why"]["gap_over_lifetime"]) == (160, 160)
    assert "16 tokens" in printed["notes"][0]
    assert "seconds" in printed["notes"][0]


@pytest.mark.parametrize(
    ("table", "tokens"),
    [
        (
            (
                "Date,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,"
                "Total Tokens,Cost\n2026-10-01T10:00:00.000Z,Included,claude,No,2000,1000,6000,700,9700,0.12\n"
            ),
            [1000, 2000, 6000, 700],
        ),
        (
            (
                "Date,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,"
                "Total Tokens,Cost\n2026-10-01T10:00:00.000Z,Included,claude,No,1200,1000,5000,300,6500,$0.12\n"
            ),
            [1000, 200, 5000, 300],
        ),
        (
            (
                "generation_id,created_at,cost_total,tokens_prompt,tokens_completion,tokens_reasoning,tokens_cached,"
                "model_permaslug\ngen-a,2026-04-13T10:00:00Z,0.12,900,70,20,600,openai/gpt\n"
            ),
            [300, 0, 600, 70],
        ),
        (
            "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,log\n",
            [472, 0, 0, 18],
        ),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n", [2162, 0, 0, 5]),
        (
            (
                "start_time,model,input_tokens,input_cached_tokens,output_tokens,num_model_requests\n"
                "1780000000,gpt,5200000,4100000,310000,412\n"
            ),
            [1_100_000, 0, 4_100_000, 310_000],
        ),
    ],
    ids=["cursor", "cursor-first-with-second", "openrouter", "burstgpt", "azure-2024", "openai-console"],
)
def test_tables_of_consoles(table: str, tokens: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(table, encoding="utf-8")
    status, printed = replayed(path, CLAUDE, capsys)
    names = ("fresh_tokens", "written_tokens", "read_tokens", "output_tokens")
    assert (status, [printed[name] for name in names]) == (0, tokens)


def test_a_row_of_many_requests_pays_by_the_size_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """412 requests of 12,621 tokens are no request of 5,200,000, which would pay a higher tier."""
    path = tmp_path / "table.csv"
    path.write_text(
        "start_time,input_tokens,input_cached_tokens,output_tokens,num_model_requests\n1780000000,5200000,0,0,412\n",
        encoding="utf-8",
    )
    status, printed = replayed(path, "google/gemini-2.5-pro", capsys)
    assert status == 0
    assert printed["cost_usd"] == pytest.approx(5.2 * 1.25)
    assert any("adds up several requests" in note for note in printed["notes"])


def test_a_metadata_cell_that_is_a_json_text_is_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads((FIELD / "08-log.json").read_text(encoding="utf-8"))
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row | {"metadata": json.dumps(row["metadata"])}), encoding="utf-8")
    assert replayed(path, CLAUDE, capsys)[1]["cost_usd"] == pytest.approx(0.029409)


def test_conversations_hold_no_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sharegpt.json"
    path.write_text('[{"id": "a", "conversations": [{"from": "human", "value": "hi"}]}]', encoding="utf-8")
    status, printed = replayed(path, CLAUDE, capsys)
    assert status == 2
    assert "docs/files.md" in printed["problems"][0]
