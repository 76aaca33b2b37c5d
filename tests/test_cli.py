"""The command line."""

import io
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from urllib.parse import urlencode

import pytest

from inferdash import shipped
from inferdash.cli import main


def test_report_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "?v=1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    page = printed["compute_vs_memory"]
    assert page["decode"]["load_s"] == pytest.approx(0.0045206, rel=1e-5)
    assert page["prefill"]["compute_s"] == pytest.approx(0.015813, rel=1e-4)
    assert (page["decode"]["bound"], page["prefill"]["bound"]) == ("memory", "compute")
    assert 290 <= page["written_to_prompt_ratio"] <= 300
    assert printed["problems"] == []


def test_a_link_that_is_not_read_in_full_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "http://localhost:8501/compute-vs-memory?model=nonsense&batch=64&v=1"]) == 2
    printed = json.loads(capsys.readouterr().out)
    assert printed["link"] == "?batch=64&v=1"
    assert "model=nonsense is not a known model" in printed["problems"][0]


def test_report_in_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "?batch=64", "--markdown"]) == 2
    printed = capsys.readouterr().out
    assert "| decode pass: pass time (limit) | 7.04 ms |" in printed
    assert "has no version at its end" in printed.replace("\\", "")


def test_an_unknown_peak_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "?accelerator=m4-max&v=1"]) == 0
    page = json.loads(capsys.readouterr().out)["compute_vs_memory"]
    assert page["decode"]["compute_s"] is None
    assert page["decode"]["load_s"] == pytest.approx(15_144_067_072 / 546e9)


@pytest.fixture(scope="module")
def mooncake(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("traces") / "mooncake.jsonl"
    packed = shipped("presets") / "traces" / "mooncake_conversation_first1200s.jsonl.xz"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return str(path)


def test_replay_in_json(mooncake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", mooncake, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == {
        "requests": 3658,
        "fresh_tokens": 979_458,
        "written_tokens": 34_419_200,
        "read_tokens": 13_629_952,
        "output_tokens": 1_274_811,
        "cost_usd": pytest.approx(102.1180, abs=5e-5),
        "cost_without_cache_usd": pytest.approx(110.80533),
        "read_share": pytest.approx(13_629_952 / 49_028_610),
        "why": {
            "gap_over_lifetime": 2_227_712,
            "below_minimum": 0,
            "never_seen": 32_191_488,
            "rest_of_block": 979_458,
            "not_told": 0,
        },
        "problems": [],
        "notes": [
            "A block of this trace has 512 tokens, as the tokens and blocks of its prompts say. Its times are milliseconds, as the differences of its times say."  # noqa: E501 - one sentence
        ],
    }


def test_replay_with_other_prices_and_rules(mooncake: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--prices", "in=2, out=10, read=0.1, write=4", "--rules", "lifetime=3600"]
    assert main(["replay", mooncake, *options]) == 0
    printed = capsys.readouterr().out
    assert "$145.0587" in printed
    assert "15,857,664" in printed


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--prices", "in=2", "--prices: out is missing"),
        ("--prices", "in=2,out=ten", "--prices: out=ten is no number of dollars per million tokens."),
        ("--prices", "in=2,out=-1", "--prices: out=-1 is not from 0 to 1,000,000 dollars."),
        ("--prices", "in=NaN,out=1", "--prices: in=NaN is not from 0 to 1,000,000 dollars."),
        ("--prices", "in=2,out=1,cached=1", "--prices: cached=1 is not known; it takes in=, out=, read=, write="),
        ("--prices", "in=2,in=3,out=1", "--prices: in is given twice."),
        ("--rules", "renewed=perhaps", "--rules: renewed=perhaps is neither yes nor no."),
        ("--rules", "minimum=-1", "--rules: minimum=-1 is no whole number of tokens."),
        ("--rules", "increment=0", "--rules: increment is 0; it is 1 token or more."),
        ("--rules", "lifetime=5m", "--rules: lifetime=5m is no number of seconds."),
        ("--rules", "lifetime=0", "--rules: lifetime is 0; it is more than 0 seconds."),
        ("--rules", "lifetime", "--rules: lifetime is not known; it takes minimum="),
    ],
)
def test_replay_refuses_with_a_sentence(
    option: str, value: str, sentence: str, mooncake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", mooncake, option, value, "--json"]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert sentence in json.loads(printed.out)["problems"][0]


def test_replay_of_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(tmp_path / "none.csv")]) == 2
    assert "none.csv cannot be read: No such file or directory." in capsys.readouterr().err


def test_replay_of_a_pipe_that_is_not_read_in_full(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = b"time,input,cached,output\n0,100,60,5\n,100,60,5\n"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(log)))
    assert main(["replay", "-"]) == 2
    printed = capsys.readouterr().out
    assert "60 (60.00%)" in printed
    assert "- 1 line has no time." in printed


def test_replay_names_what_was_stored_for_longer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    created = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1_000_000}
    usage = {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation": created, "output_tokens": 0}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"time": 0, "usage": usage}), encoding="utf-8")
    assert main(["replay", str(path), "--json"]) == 2
    printed = json.loads(capsys.readouterr().out)
    assert printed["cost_usd"] is None
    assert printed["problems"][0].startswith("1,000,000 tokens were stored for an hour, and these prices have none")
    assert main(["replay", str(path)]) == 2
    assert "a price is missing" in capsys.readouterr().out
    assert main(["replay", str(path), "--json", "--prices", "in=2,out=10,write=2.5,write_long=4"]) == 0
    assert json.loads(capsys.readouterr().out)["cost_usd"] == 4


def test_replay_at_the_prices_and_rules_of_an_api(mooncake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", mooncake, "--prices", "anthropic/claude-sonnet-5-5", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["read_tokens"] == 13_629_952
    assert printed["cost_without_cache_usd"] == pytest.approx(110.80533)
    assert main(["replay", mooncake, "--prices", "anthropic/claude-of-tomorrow"]) == 2
    assert "claude-of-tomorrow is not in the list of prices" in capsys.readouterr().err


def test_what_stands_beside_a_config_says_its_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    (tmp_path / "config.json").write_text(json.dumps(fields | {"intermediate_size": 128, "vocab_size": 1000}))
    plain = {"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(plain))
    assert main(["model", str(tmp_path / "config.json"), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["weight_format"] == "files"
    in_layers = 2 * (4 * 64 * 64 + 3 * 64 * 128)
    assert numbers["weight_bytes_native"] == in_layers + 2 * (2 * 1000 * 64 + 5 * 64)
    assert main(["model", str(tmp_path / "hf_quant_config.json")]) == 2
    assert "belong in config.json" in capsys.readouterr().err


def test_a_report_names_what_was_assumed_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1000}
    config = json.dumps({"intermediate_size": 128, **fields})
    link = "?" + urlencode({"model": "config", "config": config, "v": 1})
    assert main(["report", link]) == 0
    assert "read as a plain transformer" in " ".join(json.loads(capsys.readouterr().out)["problems"])
    assert main(["report", link, "--markdown"]) == 0
    assert "read as a plain transformer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gemma-3-27"], "There is no such file or preset. Is it gemma-3-27b?"),
        (["nothing-like-it-at-all.json"], "There is no such file or preset.\n"),
        (["gemma-3-27b", "--context", "0"], "--context: 0 is not from 1 to 1,000,000,000 tokens."),
        (["gemma-3-27b", "--context", "-5"], "--context: -5 is not"),
        (["gemma-3-27b", "--context", "1000000000000000"], "--context: 1000000000000000 is not"),
    ],
)
def test_a_model_that_is_asked_for_wrongly(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["model", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def inferdash(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a shell of its own."""
    return subprocess.run(
        ["/bin/bash", "-c", command.replace("inferdash", f"{sys.executable} -m inferdash")],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("set -o pipefail; inferdash model llama-3-8b | true", 141, ""),
        ("set -o pipefail; inferdash report v=1 | true", 141, ""),
        ("inferdash report v=1 > /dev/full", 1, "The output cannot be written: No space left on device."),
        ("inferdash model /proc/self/mem", 2, "The file cannot be read: Input/output error."),
        ("inferdash model " + "x" * 5000, 2, "The file cannot be read: File name too long."),
        ("inferdash --port 99999", 2, "99999 is no port from 1 to 65,535"),
        ("inferdash --port -5", 2, "-5 is no port from 1 to 65,535"),
    ],
)
def test_no_traceback_whatever_the_terminal_does(command: str, status: int, said: str) -> None:
    ran = inferdash(command)
    assert ran.returncode == status
    assert "Traceback" not in ran.stderr
    assert said in ran.stderr
    assert said or not ran.stderr


def test_a_terminal_of_ascii_alone() -> None:
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = inferdash("inferdash report v=1 --markdown", **ascii_alone)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.isascii()
    numbers = inferdash("inferdash report title=%C3%97 ", **ascii_alone)
    assert numbers.stdout.isascii()
    assert json.loads(numbers.stdout)["link"] == "?title=%C3%97&v=2"


def test_a_replay_by_two_processes_is_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [path for path in sys.path if Path(path).name != "tests"])  # its numbers.py
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # as a page that was tried left its own
    path = tmp_path / "trace.jsonl"
    rows = [
        {"timestamp": n, "input_length": 1024, "output_length": 2, "hash_ids": [n % 3, n % 3 + 9]} for n in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = []
    for processes in ("1", "2"):
        assert (
            main(["replay", str(path), "--block", "512", "--time-unit", "s", "--processes", processes, "--json"]) == 0
        )
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert main(["replay", str(path), "--processes", "0"]) == 2
