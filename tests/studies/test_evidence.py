"""The evidence is that of the shipped measurements, and its headline is of publishers that no fit saw."""

import pytest

from inferdash import links
from inferdash.facts.measured import PHASES, measurements
from inferdash.formula import recording
from inferdash.scenario import BASE
from inferdash.studies import evidence, published


def test_measurements_and_their_predictions_belong_together() -> None:
    """A decode pass of Llama 2 7B in bf16 on one A100 at 104.9 tokens/s."""
    one = measurements()[0]
    assert (one.model, one.accelerator, one.engine) == ("Llama-2-7B", "A100 SXM 80GB", "gpt-fast")
    assert one.measured_s == pytest.approx(1 / 104.9, rel=1e-4)
    assert {one.phase for one in measurements()} == set(PHASES)
    assert all(one.expected_s >= one.limit_s * 0.999 for one in measurements())
    assert all(one.source for one in measurements())


def test_the_headline_is_better_than_the_limit_and_not_too_good() -> None:
    """The plain roofline's median error of a decode pass is 31 to 34 percent in two independent studies."""
    result = evidence.study(BASE)
    assert 0.25 < result.decode_limit_error < 0.40
    assert 0.03 < result.decode_error < result.decode_limit_error / 2
    assert f"{result.points:,}" in evidence.sentence(BASE, result)


def test_the_nearest_points_are_of_the_scenarios_accelerator() -> None:
    scenario = links.decode("accelerator=rtx-4090&model=llama-3-8b&v=1").scenario
    assert {one.accelerator for one in evidence.nearest(scenario)} <= {"RTX 4090", "RTX 4090 Laptop"}
    assert "https://" in evidence.nearest_table(scenario).markdown()


def test_the_chapters_example_has_its_own_measurements_nearest() -> None:
    near = evidence.nearest(BASE)
    assert {(one.model, one.accelerator, one.engine, one.batch) for one in near[:3]} == {
        ("Llama-3-8B", "H100 SXM", "vLLM", 1.0)
    }
    assert "tokens in" in near[0].lengths


@pytest.mark.parametrize("by", evidence.BY)
def test_every_measurement_is_in_one_group(by: str) -> None:
    sizes = [len(evidence.chosen(by, group)) for group in evidence.groups(by)]
    assert sum(sizes) == len(evidence.chosen(by, None)) == evidence.study(BASE).points
    rows = evidence.error_rows(by)["groups"]
    assert [row["points"] for row in rows] == sizes
    assert all(row["low"] <= row["under"] <= row["middle"] <= row["over"] <= row["high"] for row in rows)
    assert [row.label for row in evidence.error_table(by).rows] == evidence.groups(by)


def test_a_chosen_measurement_is_shown_and_the_nearest_until_one_is() -> None:
    assert evidence.at(1, BASE).model == "Llama-2-7B"
    assert evidence.at(None, BASE) == evidence.nearest(BASE)[0]
    assert evidence.at(10**9, BASE) == evidence.nearest(BASE)[0]


def test_the_working_of_a_measurement_adds_up_to_what_the_shipped_engine_expects() -> None:
    for one in evidence.chosen("phase", None)[::97]:
        with recording() as steps:
            whole = published.study(one)
        assert {step.section for step in steps} >= {"Passes at the limit"}
        assert all(step.section for step in steps)
        parts = [row.values[0] for row in published.table(one).rows]
        assert sum(parts[:-1]) == pytest.approx(parts[-1], rel=0.02)
        assert 0.2 < float(whole.pass_s) / one.expected_s < 3
        assert one.accelerator in published.sentence(one)
