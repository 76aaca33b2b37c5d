"""The same four requests in the files of every load tool."""

import json
from pathlib import Path

import pytest

from inferdash.serving.load_files import rows

FILES = Path(__file__).parent / "load_tools"
SERVED = sorted(path for path in FILES.iterdir() if "llama" not in path.name and path.suffix != ".md")


@pytest.mark.parametrize("path", SERVED, ids=lambda path: path.name)
def test_every_tool_tells_the_same(path: Path) -> None:
    (row,) = rows(path.read_text(encoding="utf-8"))
    found = {name: float(value) for name, value in row.items() if name not in {"note", "rate"}}
    assert (found["prompt"], found["answer"]) == (128, 11)
    assert found["ttft_mean_s"] == pytest.approx(0.065)
    assert found["tpot_s"] == pytest.approx(0.010)
    assert found["output_tok_per_s"] == pytest.approx(129.41, rel=1e-4)
    assert row.get("concurrency") == "2" or row["rate"] == "25"
    assert ("speculation" in row.get("note", "")) == ("speculative" in path.name)


@pytest.mark.parametrize("name", ["llama_bench.json", "llama_bench.csv"])
def test_llama_bench_times_passes(name: str) -> None:
    found = rows((FILES / name).read_text(encoding="utf-8"))
    assert [row["phase"] for row in found] == ["prefill", "decode", "decode"]
    assert [float(row["seconds"]) for row in found] == pytest.approx([512 / 5000, 1 / 100, 1 / 80])
    assert [float(row["past"]) for row in found] == [0, 64, 4096 + 64]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mean_tpot_ms": 30.0}, "its latency of 0.165 s is not that of its tokens, 0.365 s"),
        ({"output_throughput": 300.0}, "its 300 tokens/s are not its requests times their tokens, 129.4"),
        ({"failed": 2}, "2 requests failed"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, float], said: str) -> None:
    one = json.loads((FILES / "vllm_bench_serve.json").read_text(encoding="utf-8"))
    (row,) = rows(json.dumps(one | change))
    assert said in row["note"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", "a,b\n1,2", '{"benchmarks": []}', "[1, 2]"])
def test_what_no_tool_writes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no (file|JSON)"):
        rows(text)
