"""The evidence is that of the shipped measurements, and its headline is of publishers that no fit saw."""

import pytest

from inferdash import links, quantities
from inferdash.facts.measured import PHASES, measurements
from inferdash.formula import recording
from inferdash.scenario import BASE
from inferdash.studies.check import evidence, published, verdict


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
    assert f"{result.points:,}" in evidence.errors_sentence(result)


@pytest.mark.parametrize(
    ("accelerator", "measured"),
    [
        ("rtx-4090", {"RTX 4090"}),
        ("mi300x", {"MI300X"}),
        ("a100-80gb-pcie", {"A100 PCIe 80GB"}),
        ("a100-80gb-sxm", {"A100 SXM 80GB"}),
        ("a10g", {"A10G"}),
        ("m3-ultra", {"M3 Ultra 80c"}),
        ("rtx-pro-6000-server", {"RTX PRO 6000 BW SE"}),
    ],
)
def test_the_nearest_points_are_of_the_scenarios_accelerator(accelerator: str, measured: set[str]) -> None:
    scenario = links.decode(f"accelerator={accelerator}&model=llama-3-8b&v=1").scenario
    near = verdict.nearest(scenario, 8)
    own = [one for one in evidence.chosen("phase", None) if one.accelerator in measured]
    assert {one.accelerator for one in near[: len(own)]} == measured
    assert evidence.nearest_note(scenario) == ""
    assert "https://" in evidence.nearest_table(scenario).markdown()


@pytest.mark.parametrize(
    ("accelerator", "family"),
    [("l4", "nvidia-workstation"), ("rtx-pro-6000", "nvidia-workstation"), ("m4-max", "apple")],
)
def test_where_nobody_measured_the_accelerator_its_family_is_nearest(accelerator: str, family: str) -> None:
    scenario = links.decode(f"accelerator={accelerator}&v=1").scenario
    assert {one.family for one in verdict.nearest(scenario, 8)} == {family}
    assert scenario.hardware.name in evidence.nearest_note(scenario)


def test_nothing_is_said_to_be_of_a_kind_that_nobody_measured() -> None:
    scenario = links.decode("accelerator=tpu-v5e&v=1").scenario
    assert evidence.nearest_note(scenario).endswith("or on similar accelerators.")


def test_the_largest_misses_are_named_with_their_figures() -> None:
    said, misses = evidence.not_covered(), evidence.missed()
    assert misses
    for name, mine in misses:
        assert len(mine) >= 20
        assert sum(one.inside for one in mine) < len(mine) / 2
        took = sorted(one.measured_s / one.expected_s for one in mine)
        middle = (took[(len(took) - 1) // 2] + took[len(took) // 2]) / 2
        assert f"- {name}: at the median {quantities.times(middle)} the expected time" in said


def test_the_chapters_example_has_its_own_measurements_nearest() -> None:
    near = verdict.nearest(BASE, 8)
    assert {(one.accelerator, one.engine, one.batch) for one in near} == {("H100 SXM", "vLLM", 1.0)}
    assert (near[0].model, near[0].lengths) == ("Llama-3-8B", "1,024 tokens in, 1,024 out")
    assert "tokens in" in near[0].lengths


@pytest.mark.parametrize("by", evidence.BY)
def test_every_measurement_is_in_one_group(by: str) -> None:
    sizes = [len(evidence.chosen(by, group)) for group in evidence.groups(by)]
    assert sum(sizes) == len(evidence.chosen(by, None)) == evidence.study(BASE).points
    rows = evidence.error_rows(by)["groups"]
    assert [row["points"] for row in rows] == sizes
    assert all(row["low"] <= row["under"] <= row["middle"] <= row["over"] <= row["high"] for row in rows)


def test_errors_by_phase_are_a_row_each() -> None:
    rows = evidence.error_table("phase").rows
    assert [row.label for row in rows] == evidence.groups("phase")
    assert [row.values[-1] for row in rows] == ["578", "264", "1,017", "394", "1,673", "1,731"]


def test_other_groups_are_crossed_with_the_phase_where_they_have_enough_points() -> None:
    rows = {row.label: row.values for row in evidence.error_table("family").rows}
    assert rows["AMD unified memory, prefill"][-1] == "22"
    assert "Radeon, decode" not in rows
    for name, values in rows.items():
        group, phase = name.split(", ")
        mine = [one for one in evidence.chosen("family", group) if one.phase == phase]
        assert values[-1] == f"{len(mine):,}"
        assert len(mine) >= 20


def test_a_chosen_measurement_is_shown_and_the_nearest_until_one_is() -> None:
    assert evidence.at(1, BASE).model == "Llama-2-7B"
    assert evidence.at(None, BASE) == verdict.nearest(BASE, 8)[0]
    assert evidence.at(10**9, BASE) == verdict.nearest(BASE, 8)[0]


def test_the_working_of_a_measurement_adds_up_to_what_the_shipped_engine_expects() -> None:
    for one in evidence.chosen("phase", None)[::97]:
        with recording() as steps:
            whole = published.study(one)
        assert {step.section for step in steps} >= {"Passes at the limit"}
        assert all(step.section for step in steps)
        *parts, off = [row.values[0] for row in published.table(one).rows]
        assert sum(parts[:-1]) == pytest.approx(parts[-1], rel=0.02)
        assert off == pytest.approx(abs(parts[-1] / one.measured_s - 1))
        assert 0.2 < float(whole.pass_s) / one.expected_s < 3
        assert one.accelerator in published.sentence(one)
        assert f"[{one.publisher}, {one.published}](https://" in published.sentence(one)
