"""Load tests of a reader: every tool’s file, a table, an engine file, and what is said of those that fail."""

import csv
import io
import tomllib
from datetime import date
from pathlib import Path

import pytest

from inferdash.facts.machines.engine import Engine
from inferdash.physics.under_load.served import usable
from inferdash.scenario import BASE
from inferdash.studies.check import own_runs, score
from inferdash.studies.check.own_runs import OwnRuns

TOOLS = Path(__file__).parents[1] / "serving" / "load_tools"
FILES = sorted(path for path in TOOLS.iterdir() if path.suffix != ".md")
DAY = date(2026, 11, 30)


def of(text: str, given: str = "") -> OwnRuns:
    return own_runs.study(io.BytesIO(text.encode()), BASE, given, "tests", DAY)


def table(model: str, accelerator: str, engine: str) -> str:
    told = {"model": model, "accelerator": accelerator, "engine": engine}
    rows = [one.row for one in usable().values() if told.items() <= one.row.items()][:12]
    written = io.StringIO()
    writer = csv.DictWriter(written, score.COLUMNS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_run_of_a_tool_stands_beside_what_was_expected(path: Path) -> None:
    found = of(path.read_text(encoding="utf-8"))
    if "speculative" in path.name:
        assert [problem for problem in found.problems if "speculation" in problem]
        assert not found.engine
        return
    assert not found.problems
    drawn = own_runs.drawn(found)["points"]
    assert len(drawn) >= len(found.before) > 0
    assert len(own_runs.table(found).rows) >= len(drawn)
    moved, before = (score.summaries(some) for some in (found.after, found.before))
    seconds = [name for name in before if name.endswith("_s") and name != "ttft_p50_s"]
    assert sum(moved[name].median for name in seconds) < sum(before[name].median for name in seconds)
    assert Engine.model_validate(tomllib.loads(found.engine)).checked == DAY


def test_a_table_says_itself_what_it_ran_on_and_an_engine_file_is_held_against_it() -> None:
    text = table("gpt-oss-120b", "B200", "vLLM")
    found = of(text)
    assert len(found.before) == 12
    assert not found.problems
    assert "20 of 24 numbers" in own_runs.cut(found)
    every, shown = own_runs.table(found).rows, own_runs.table(found, most=20).rows
    off = [abs(value / one.expected[key]) for one in found.before for key, value in one.measured.items()]
    nearest = sorted(zip((max(one, 1 / one) for one in off), every, strict=True), key=lambda both: both[0])[:4]
    assert shown == tuple(row for row in every if row not in [row for _, row in nearest])
    again = of(text, found.engine)
    assert [one.expected for one in again.before] == [one.expected for one in found.after]
    assert score.summaries(again.before)["tpot_s"].median < score.summaries(found.before)["tpot_s"].median


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("a,b\n1,2\n", "", "no table of load tests"),
        ("{}", "", "no file of a load tool"),
        ("{", "", "no JSON"),
        ("\x00", "", "no table"),
        (table("gpt-oss-120b", "B200", "vLLM"), "name = 3", "no engine file"),
        (table("gpt-oss-120b", "B200", "vLLM"), "name = ", "no engine file"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text: str, given: str, said: str) -> None:
    found = of(text, given)
    assert said in " ".join(found.problems)
    assert not found.before
    assert own_runs.study(io.BytesIO(b"\xff\xfe"), BASE, "", "x", DAY).problems == ("The file is no text in UTF-8.",)


def test_several_set_ups_are_compared_and_move_no_engine() -> None:
    both = table("gpt-oss-120b", "B200", "vLLM") + "".join(
        table("Llama-3.1-70B", "B200", "vLLM").splitlines(keepends=True)[1:]
    )
    found = of(both)
    assert len(found.before) == 24
    assert not found.engine
    assert "the file has 2" in " ".join(found.problems)
    assert len(own_runs.errors(found).columns) == 3
