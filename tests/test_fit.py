"""The shipped engines are what the shipped measurements give."""

import re
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from bench import calibration, fit
from inferdash.facts.library import accelerators, engines, models
from inferdash.facts.measured import rows_of
from inferdash.physics.expected import expected_pass
from inferdash.physics.published import CHUNK, SERVED, points


@cache
def table() -> tuple[fit.Table, npt.NDArray[np.bool_]]:
    return fit.table_of_points()


@cache
def predicted() -> list[tuple[str, ...]]:
    return fit.predicted(*table())


def test_the_points_are_all_there() -> None:
    assert len(points()) == 3380
    assert len({point.publisher for point in points()}) == 11
    assert len({point.row["accelerator"] for point in points()}) == 48
    assert len({point.row["model"] for point in points()}) == 27


def test_shapes_without_a_preset_have_their_published_sizes() -> None:
    published = {
        "Llama-2-13B": 13_015_864_320,
        "Mixtral-8x22B": 140_620_634_112,
        "TinyLlama-1.1B": 1_100_048_384,
        "Qwen2.5-14B": 14_770_033_664,
    }
    found = {point.row["model"]: point.machine for point in points()}
    for name, size in published.items():
        assert found[name].parameters.stored_total == pytest.approx(size, rel=1e-4)


def test_a_published_speed_is_the_time_that_is_fitted() -> None:
    for point in points():
        row = point.row
        if row["phase"] == "decode" and row["unit"] == "tok/s":
            assert point.measured_s == pytest.approx(float(row["batch"]) / float(row["value"]), rel=2e-3)


def test_the_shipped_engines_are_what_the_fit_gives() -> None:
    new = fit.shipped_form(*table())
    assert set(engines()) == set(new)
    assert fit.differences(new) == []
    new["vllm"]["vector_trips"] *= 1.02
    assert fit.differences(new) == ["vllm"]


def test_the_fit_adds_up_what_the_product_shows() -> None:
    """Terms of the fit are the parts of an expected pass, to the three digits that are shipped."""
    known = {"vLLM": "vllm", "SGLang": "sglang", "TensorRT-LLM": "tensorrt-llm", "llama.cpp": "llama.cpp"}
    whole, usable = table()
    expected = whole.expected(fit.fitted(whole, usable))
    compared = 0
    for point, seconds in list(zip(whole.points, expected, strict=True))[::7]:
        chip = point.machine.accelerator
        if point.row["engine"] not in known or chip not in accelerators().values():
            continue
        engine = engines()[known[point.row["engine"]]]
        served = point.publisher in SERVED and point.row["phase"] != "decode"
        total = engine.server if served else 0.0
        for count, positions, one in point.passes:
            part = expected_pass(point.machine, engine, one, requests=1, positions=positions)
            assert part is not None
            total += count * float(part.pass_s)
        assert total == pytest.approx(seconds, rel=0.01)
        compared += 1
    assert compared > 100


def test_publishers_that_were_left_out_are_expected_better_than_by_the_limit() -> None:
    whole, usable = table()
    held = fit.left_out(whole, usable)
    worst = {"decode": (0.08, 0.25), "prefill": (0.20, 0.50), "serving": (0.14, 0.41), "full load": (0.16, 0.38)}
    for phase, (median, tail) in worst.items():
        here = usable & (whole.phases == phase)
        error, limit = (np.abs(one[here] / whole.measured[here] - 1) for one in (held, whole.limit))
        assert np.median(error) < median < np.median(limit)
        assert np.quantile(error, 0.9) < tail < np.quantile(limit, 0.9)


def test_what_stays_apart_is_counted_too() -> None:
    whole, usable = table()
    assert 450 < (~usable).sum() < 500
    held = fit.left_out(whole, usable)
    assert np.median(whole.measured[~usable] / held[~usable]) > 1.5


def test_two_measurements_of_a_set_up_lead_to_its_others_within_ten_percent() -> None:
    lines = list(calibration.table(fit.left_out_times(*table())))
    assert len(lines) > 100
    found = re.search(r"All [\d,]+ others: median ([\d.]+) before and ([\d.]+) after", " ".join(lines))
    assert found
    before, after = (float(one) for one in found.groups())
    assert after <= 10 < before


def test_a_publisher_that_is_left_out_moves_nothing() -> None:
    whole, usable = table()
    here = whole.publishers == "xiongjiedai"
    before = fit.fitted(whole, usable & ~here).values
    changed, measured = fit.Table(whole.points), whole.measured.copy()
    measured[here] *= 3
    changed.measured = measured
    assert fit.fitted(changed, usable & ~here).values == before
    assert fit.fitted(changed, usable).values != before


def test_llama_cpp_reads_a_prompt_in_chunks() -> None:
    assert engines()["llama.cpp"].chunk == 512
    assert engines()["vllm"].chunk == CHUNK


def test_every_point_has_its_source_and_its_facts() -> None:
    tables = ("sources", "id"), ("models", "model"), ("accelerators", "accelerator")
    sources, shapes, chips = ({row[key] for row in rows_of(name)} for name, key in tables)
    for row in rows_of("points"):
        assert row["origin"] in sources
        assert row["model"] in shapes
        assert row["accelerator"] in chips
    assert all(row["source"] for row in rows_of("sources"))
    assert {row["preset"] for row in rows_of("models")} - {""} <= set(models())
    assert {row["preset"] for row in rows_of("accelerators")} - {""} <= set(accelerators())
    for row in rows_of("accelerators"):
        if row["preset"]:
            assert accelerators()[row["preset"]].family == row["class"]


def test_the_shipped_predictions_are_those_of_fits_that_did_not_see_the_publisher() -> None:
    there = {row["point"]: row for row in rows_of("predicted")}
    new = predicted()
    assert len(there) == len(new)
    for row in new:
        shipped = there[row[0]]
        assert (shipped["publisher"], shipped["phase"], shipped["class"]) == row[1:4]
        assert float(row[7]) == pytest.approx(float(shipped["expected_s"]), rel=0.012)
    assert np.mean([row[8] == there[row[0]]["inside"] for row in new]) > 0.99


def test_bands_hold_measurements_of_publishers_that_neither_fit_nor_band_has_seen() -> None:
    inside: dict[tuple[str, str], list[bool]] = {}
    for _, _, phase, family, apart, *_, held in predicted():
        if apart == "0":
            kind = "serving" if phase == "full load" else phase
            inside.setdefault((kind, ""), []).append(held == "1")
            inside.setdefault((kind, family), []).append(held == "1")
    for (_, family), held_ in inside.items():
        if not family:
            assert 0.75 <= np.mean(held_) <= 0.9
        elif len(held_) >= fit.NEEDED:
            assert np.mean(held_) > 0.65


def test_a_band_weighs_the_same_family_more_and_others_where_it_has_none() -> None:
    whole, usable = table()
    chosen = usable & (whole.phases == "decode")
    needed = np.where(whole.families == "apple", 1.0, 0.1)
    apple, geforce, none = (fit.band(whole, needed, family, chosen)[1] for family in ("apple", "geforce", "other"))
    assert apple > geforce
    assert geforce <= none
