"""Whether a scenario was measured follows from what was, by set-ups that are known to be in the tables or not."""

import pytest

from inferdash import links
from inferdash.facts.measured import measurements
from inferdash.scenario import Scenario
from inferdash.studies.check import verdict


def of(query: str) -> Scenario:
    return links.decode(query).scenario


def test_what_was_measured_says_so() -> None:
    """Llama 3 8B at 16 bits on one H100 with vLLM, and gpt-oss-120b in MXFP4 on two, are in the tables."""
    for query in ("v=2", "model=gpt-oss-120b&batch=64&prompt=1024&answer=1024&gpus=2&v=2"):
        found = verdict.verdict(of(query))
        assert (found.kind, found.respects) == ("measured", ())
        assert found.nearest.preset == "h100-sxm"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("accelerator=own&v=2", "nothing was measured on your own accelerator"),
        ("engine=mlx&accelerator=m3-ultra&v=2", "nothing with MLX there"),
        ("model=qwen3-235b-a22b&weights=fp8&gpus=8&prompt=32000&batch=8&v=2", "8 GPUs (at most 4)"),
        ("prompt=400000&model=llama-3.1-8b&v=2", "tokens of context (at most "),
    ],
)
def test_what_lies_beyond_says_in_what_respect(query: str, said: str) -> None:
    found = verdict.verdict(of(query))
    assert found.kind == "beyond"
    assert any(said in one for one in found.respects)
    assert said in verdict.respects(of(query))
    assert verdict.mark(of(query)) == "Expected: beyond what was measured"


def test_a_batch_between_two_that_were_measured_is_between() -> None:
    """Of Llama 3 8B on one H100 the tables have few and many requests in flight."""
    alike = {
        one.batch
        for one in measurements()
        if (one.preset, one.engine, one.model_kind, one.weights) == ("h100-sxm", "vLLM", "dense", "fp16")
    }
    most = int(max(alike))
    found = {batch: verdict.verdict(of(f"batch={batch}&v=2")) for batch in (1, 3, 6, 24, most, 2 * most)}
    kinds = [one.kind for one in found.values()]
    assert kinds[0] == kinds[4] == "measured"
    assert kinds[1:4] == ["between"] * 3
    assert found[2 * most].respects == (f"{2 * most} requests in flight (at most {most})",)


def test_the_nearest_is_of_the_same_accelerator_where_there_is_one() -> None:
    found = verdict.nearest(of("accelerator=mi300x&v=2"), 8)
    assert len(found) == 8
    assert {one.preset for one in found} == {"mi300x"}
    assert not any(one.apart for one in found)
    assert len([one for one in measurements() if one.preset == "mi300x"]) > 8


def test_a_band_is_wider_where_a_set_up_is_beyond_in_several_respects() -> None:
    measured = of("v=2")
    own = measured.program.reach[measured.hardware.family].bands
    assert verdict.bands(measured) == own
    wide = [of("accelerator=own&v=2"), of("accelerator=own&batch=900&gpus=64&prompt=100000&layout=even&v=2")]
    for scenario in wide:
        usual = scenario.program.reach[scenario.hardware.family].bands
        beyond = len(verdict.verdict(scenario).respects)
        here = verdict.bands(scenario)
        assert (here.serving[1] > usual.serving[1]) == (beyond > 1)
        assert here.decode[0] <= usual.decode[0]
        assert here.first_token == usual.first_token
    assert len(verdict.verdict(wide[1]).respects) > 1


def test_a_mark_tells_of_each_batch_where_they_stand_differently() -> None:
    scenario = of("v=2")
    assert verdict.mark(scenario) == "Expected: measured"
    assert verdict.mark(scenario, 1, 256) == "Expected: measured (batch 256: beyond)"
    assert verdict.mark(scenario, 256) == "Expected: beyond what was measured"


@pytest.mark.parametrize("query", ["speculation=draft&v=2", "disaggregated=true&v=2"])
def test_what_nobody_measured_in_serving_is_not_marked_as_measured(query: str) -> None:
    scenario = of(query)
    assert verdict.mark(scenario, served=True) == "Expected: beyond what was measured"
    assert verdict.mark(scenario) == "Expected: measured"
    assert "No measurement has" in verdict.sentence(scenario)
