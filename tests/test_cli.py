"""The command line."""

import json

import pytest

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
