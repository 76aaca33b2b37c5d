"""A table of load tests, row by row: what is expected, what is said of a row that cannot be read, and the errors."""

import json
from pathlib import Path

import numpy as np
import pytest

from inferdash.cli import main
from inferdash.facts.measured import measurements
from inferdash.physics import named
from inferdash.physics.fitted.expected import expected_prefill
from inferdash.physics.under_load.served import usable
from inferdash.scenario import Scenario
from inferdash.studies.check import score
from inferdash.studies.expected import server_of
from inferdash.studies.run import simulation

ROW = {
    "model": "meta-llama/Llama-3.1-70B",
    "accelerator": "h200_sxm",
    "engine": "vllm",
    "weights": "fp8",
    "tensor": "4",
    "prompt": "1024",
    "answer": "1024",
    "spread": "0.2",
    "concurrency": "16",
    "ttft_mean_s": "0.126",
    "tpot_s": "0.0109",
}
"""As InferenceMAX measured it in October 2025."""


def table(*rows: dict[str, str]) -> str:
    heads = ",".join(score.COLUMNS)
    return "\n".join([heads, *(",".join(row.get(name, "") for name in score.COLUMNS) for row in rows)])


def test_the_rows_of_the_shipped_table_are_expected_as_the_shipped_engines_expect_them() -> None:
    """Errors over all of them are those of the fit, which has seen them: below those that the page shows."""
    served = list(usable().values())[::17]
    rows = [one.row for one in served]
    found = score.score(rows)
    assert not [one for one in found if one.problem]
    summary = score.summaries(found)
    assert summary["tpot_s"].n == summary["ttft_mean_s"].n == len(served)
    assert summary["tpot_s"].median < 0.12
    assert summary["tpot_s"].in_band > 0.7
    off = [abs(one.expected_s / one.measured_s - 1) for one in measurements() if one.phase == "output token"]
    assert summary["tpot_s"].median < np.median(off) + 0.02


QWEN_ON_MI300X = {
    ("1024", "1024"): (22.29, 38.34, 61.91, 99.48, 135.35),
    ("1024", "8192"): (23.01, 39.75, 70.49, 120.71, 177.37),
    ("8192", "1024"): (16.59, 30.87, 52.08, 85.50, 110.52),
}
"""Prompt and answer -> output tokens a second of one of eight MI300X with 4, 8, 16, 32 and 64 requests in flight.

Of Qwen3.5 in fp8 before its kernels were tuned, by https://github.com/ROCm/aiter/pull/2613 of 2026-04-03 (MIT; read
2026-11-30). No fit has seen them. It does not say which Qwen3.5 (taken to be that with 397B, as eight accelerators
say) nor how lengths were drawn (taken to be as in InferenceX, whose lengths these are).
"""


def test_an_accelerator_whose_kernels_nobody_tuned_is_near_another_source() -> None:
    rows = [
        {"model": "Qwen3.5-397B-A17B", "accelerator": "MI300X", "engine": "SGLang", "weights": "fp8-block"}
        | {"tensor": "8", "prompt": prompt, "answer": answer, "spread": "0.2", "concurrency": str(in_flight)}
        | {"output_tok_per_s": str(8 * of_one)}
        for (prompt, answer), of_each in QWEN_ON_MI300X.items()
        for in_flight, of_one in zip((4, 8, 16, 32, 64), of_each, strict=True)
    ]
    found = score.summaries(score.score(rows))["output_tok_per_s"]
    assert found.n == 15
    assert found.in_band >= 0.75
    assert found.median < 0.2
    assert abs(found.bias) < 0.12


def test_a_row_says_what_is_expected_the_band_and_whether_it_holds() -> None:
    (one,) = score.score(score.read(table(ROW)))
    low, high = one.band["tpot_s"]
    assert low < one.expected["tpot_s"] < high
    assert one.error["tpot_s"] == pytest.approx(one.expected["tpot_s"] / 0.0109 - 1)
    assert one.inside["tpot_s"] == (low <= 0.0109 <= high)
    assert set(one.expected) == set(score.QUANTITIES[:4])
    assert one.expected["output_tok_per_s"] == pytest.approx(
        16
        / one.expected["tpot_s"]
        * one.expected["tpot_s"]
        * 922
        / (one.expected["ttft_mean_s"] + 921 * one.expected["tpot_s"]),
        rel=0.01,
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "nobody/nothing"}, "the model nobody/nothing is not known"),
        ({"accelerator": "abacus"}, "the accelerator abacus is not known"),
        ({"tensor": "3"}, "do not divide 64"),
        ({"gpus": "8"}, "4 GPUs by its layout are not the 8"),
        ({"concurrency": "1.5"}, "is no whole number"),
        ({"prompt": "-1"}, "is out of range"),
        ({"prompt": ""}, "prompt is missing"),
        ({"concurrency": ""}, "rate is missing"),
        ({"concurrency": "", "rate": "1000"}, "is more than it carries"),
        ({"tpot_s": "fast"}, "is no number"),
        ({"weights": "fp3"}, "the weight format fp3 is not known"),
        ({"spread": "1.5"}, "is not from 0 to 1"),
    ],
)
def test_a_row_that_cannot_be_read_says_why_and_loses_no_other(change: dict[str, str], said: str) -> None:
    broken, whole = score.score(score.read(table(ROW | change, ROW)))
    assert said in broken.problem
    assert not broken.expected
    assert not whole.problem


def test_an_open_loop_settles_where_requests_come_as_fast_as_they_go() -> None:
    (closed,) = score.score([ROW])
    rate = closed.expected["output_tok_per_s"] / 922
    (opened,) = score.score([ROW | {"concurrency": "", "rate": f"{rate}"}])
    assert opened.expected["tpot_s"] == pytest.approx(closed.expected["tpot_s"], rel=0.1)


def test_an_open_loop_is_what_serving_over_time_expects() -> None:
    """The same set-up, lengths and rate, on its page and as a row: requests at random times do not come in waves."""
    scenario = Scenario(load=8)
    ran = simulation.run(scenario)
    assert ran
    of_page = ran.summary(scenario)
    row = {"prompt": "1024", "answer": "256", "rate": "8"}
    (one,) = score.score([row], (scenario.as_run, scenario.program))
    expected = {name: float(value) for name, value in one.expected.items()}
    assert expected["ttft_p50_s"] == pytest.approx(
        float(of_page.time_to_first_token_s.p50 or 0) + ran.server_s, rel=0.15
    )
    assert expected["output_tok_per_s"] == pytest.approx(8 * 256)
    assert one.band["ttft_mean_s"][0] < expected["ttft_mean_s"] < one.band["ttft_mean_s"][1]


@pytest.mark.parametrize("prompt", [128, 1024, 8000])
def test_at_a_rate_of_nearly_nothing_a_request_is_alone(prompt: int) -> None:
    scenario = Scenario()
    row = {"prompt": f"{prompt}", "answer": "64", "rate": "0.001"}
    (one,) = score.score([row], (scenario.as_run, scenario.program))
    alone = expected_prefill(scenario.as_run, scenario.program, prompt=prompt)
    assert alone
    assert one.expected["ttft_p50_s"] == pytest.approx(
        server_of(scenario.model_copy(update={"prompt": prompt})) + float(alone.pass_s), rel=0.01
    )


def test_names_as_others_write_them() -> None:
    assert named.model("deepseek-ai/DeepSeek-V3").name == named.model("DeepSeek-V3").name
    assert named.model("Qwen/Qwen3-235B-A22B-FP8").name == named.model("qwen3-235b-a22b").name
    assert named.accelerator("b200_sxm") == named.accelerator("NVIDIA B200 SXM")
    assert named.engine("trtllm").name == named.engine("TensorRT-LLM").name == "TensorRT-LLM"
    assert named.engine("another").name == "Any engine"


def test_score_in_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tests.csv"
    path.write_text(table(ROW, ROW), encoding="utf-8")
    assert main(["score", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["summary"]["tpot_s"]["n"] == 2
    assert set(printed["summary"]["tpot_s"]) == {"n", "median", "p90", "bias", "in_band"}
    assert set(printed["rows"][0]) >= {"expected", "band", "measured", "error"}
    assert main(["score", str(path)]) == 0
    assert "Output token" in capsys.readouterr().out.splitlines()[-2]


def test_what_is_no_table_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tests.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert main(["score", str(path)]) == 2
    assert "model, accelerator, prompt, answer is missing" in capsys.readouterr().err
    assert main(["score", str(tmp_path / "none.csv")]) == 2
