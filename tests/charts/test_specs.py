"""Every chart is one specification that never changes, with titled axes and the theme's colours."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inferdash import links
from inferdash.charts import request, roofline, speculation, theme
from inferdash.charts.gallery import CHARTS
from inferdash.scenario import BASE
from inferdash.studies.learn import compute_vs_memory
from inferdash.studies.learn import request as request_study
from inferdash.studies.learn import roofline as roofline_study
from inferdash.studies.learn import speculation as speculation_study


def parts(node: Any) -> Iterator[dict[str, Any]]:
    """Every dictionary of a specification."""
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from parts(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from parts(inner)


@pytest.mark.parametrize("build", CHARTS, ids=str)
def test_it_is_built_once_and_holds_no_data(build: Callable[[], dict[str, Any]]) -> None:
    spec = build()
    assert build() is spec
    assert "datasets" not in spec
    assert all(set(part["data"]) == {"name"} for part in parts(spec) if "data" in part)


@pytest.mark.parametrize("build", CHARTS, ids=str)
def test_axes_have_titles_and_colours_come_from_the_theme(build: Callable[[], dict[str, Any]]) -> None:
    spec = build()
    titled = [part["axis"]["title"] for part in parts(spec) if "axis" in part and "field" in part]
    assert titled
    assert all(title is None or title.strip() for title in titled)
    for part in parts(spec):
        colour = part.get("color")
        assert not (isinstance(colour, str) and colour.startswith("#")), "a colour of its own"
        if isinstance(colour, dict) and "field" in colour:
            assert colour["scale"]["domain"] == list(theme.MEANINGS)
    assert spec["config"]["axis"]["labelFontSize"] >= 16


def test_each_named_data_set_has_rows() -> None:
    result = compute_vs_memory.study(BASE)
    rows = request_study.rows(
        result.time_to_first_token, result.answer_s, prefill=result.prefill.bound, decode=result.decode.bound
    )
    sent = {
        roofline.roofline: set(roofline_study.rows(BASE, result)),
        request.first_token: {"waiting"},
        request.timeline: {"stages", "first"},
        speculation.gain: set(speculation_study.gain_rows(BASE, result.speculation)),
    }
    assert rows
    for build, names in sent.items():
        assert {part["data"]["name"] for part in parts(build()) if "data" in part} == names


def test_the_roof_meets_at_the_ridge_and_the_passes_lie_under_it() -> None:
    rows = roofline_study.rows(BASE, compute_vs_memory.study(BASE))
    roof = rows["roof"]
    assert roof[1]["intensity"] == pytest.approx(989.4e12 / 3.35e12)
    assert [row["flop_per_s"] for row in roof[1:]] == pytest.approx([989.4e12] * 3)
    prefill, decode = rows["points"]
    assert (prefill["flop_per_s"], prefill["meaning"]) == (pytest.approx(989.4e12), "compute")
    assert decode["flop_per_s"] == pytest.approx(decode["intensity"] * 3.35e12)
    assert [row["batch"] for row in rows["path"]][-1] == 476
    assert [row["label"] for row in rows["path"] if row["label"]] == [f"batch {b}" for b in (4, 16, 64, 476)]


def test_no_batch_is_named_where_the_ridge_has_its_name() -> None:
    scenario = links.decode("prompt=20&v=1").scenario
    rows = roofline_study.rows(scenario, compute_vs_memory.study(scenario))
    at = {row["batch"]: row["intensity"] for row in rows["path"]}
    assert rows["roof"][1]["intensity"] / 1.8 < at[256] < rows["roof"][1]["intensity"] * 1.8
    assert [row["label"] for row in rows["path"] if row["label"]] == [f"batch {b}" for b in ("4", "16", "64", "24,390")]
