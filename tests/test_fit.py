"""The shipped engines are what the shipped measurements give."""

from functools import cache

import numpy as np
import pytest

from bench import fit
from bench.fitting import bands, engines, leave_out, report
from bench.fitting.results import results
from bench.fitting.solve import Fit, Problem, expected
from bench.fitting.table import Table
from inferdash.facts.library import accelerators, models
from inferdash.facts.library import engines as shipped_engines
from inferdash.facts.machines.engine import Engine
from inferdash.facts.measured import WAYS, measurements, rows_of
from inferdash.physics.fitted.expected import expected_pass
from inferdash.physics.fitted.published import CHUNK, SERVED, points
from inferdash.physics.under_load.closed_loop import expected_of_load
from inferdash.physics.under_load.served import usable

IDS = {"vLLM": "vllm", "SGLang": "sglang", "TensorRT-LLM": "tensorrt-llm", "llama.cpp": "llama.cpp"}


@cache
def table() -> Table:
    return Table(results())


@cache
def problem() -> Problem:
    return Problem(table())


@cache
def whole() -> Fit:
    return problem().fit(table().usable)


def test_the_results_are_all_there() -> None:
    assert len(points()) == 3380
    assert len(rows_of("served")) == 3408
    assert len(usable()) == 1673
    assert len({one.publisher for one in table().results}) == 11
    assert len({one.system for one in table().results}) == 47


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


def test_the_figures_of_the_shipped_engines_are_what_the_fit_gives() -> None:
    """Bands are of fits without each label in turn, which `make fit` repeats."""
    form = engines.figures(table(), whole())
    assert set(shipped_engines()) == set(form)
    for key, one in form.items():
        there = fit.numbers(shipped_engines()[key].model_dump())
        here = fit.numbers(Engine.model_validate(one | _bands(key)).model_dump())
        for name, value in here.items():
            if ".bands." not in name and ".calibrated_" not in name:
                same = (
                    value == there[name]
                    if not isinstance(value, float)
                    else abs(value - there[name]) <= 0.012 * abs(value)
                )
                assert same, (key, name, value, there[name])


def _bands(key: str) -> dict[str, object]:
    shipped = shipped_engines()[key]
    form = engines.figures(table(), whole())[key]["reach"]
    return {
        "calibrated_once": shipped.calibrated_once.model_dump(),
        "calibrated_twice": shipped.calibrated_twice.model_dump(),
        "reach": {family: one | {"bands": shipped.reach[family].bands.model_dump()} for family, one in form.items()},
    }


def test_the_fit_adds_up_what_the_product_shows() -> None:
    """Terms of the fit are the parts of an expected pass, to the three digits that are shipped."""
    seconds = expected(table(), whole())
    compared = 0
    for one, fitted in list(zip(table().results, seconds, strict=True))[::23]:
        if one.engine not in IDS or one.machine.accelerator not in accelerators().values() or one.early:
            continue
        engine = shipped_engines()[IDS[one.engine]]
        if one.table == "served":
            test = usable()[one.place]
            found = expected_of_load(one.machine, engine, test.load, test.told)
            assert found is not None
            total = found.first_token_s if one.phase == "first token" else found.output_token_s
        elif one.publisher in SERVED:
            continue
        else:
            point = points()[one.place - 1]
            parts = [
                expected_pass(point.machine, engine, s.one, requests=s.requests, positions=s.positions)
                for s in point.passes
            ]
            total = sum(s.passes * float(p.pass_s) for s, p in zip(point.passes, parts, strict=True) if p is not None)
        assert total == pytest.approx(fitted, rel=0.012), (one.table, one.place, one.phase)
        compared += 1
    assert compared > 100


def test_results_that_were_left_out_are_expected_better_than_by_the_limit() -> None:
    """Median and 90th percentile of the error, by phase: without the publisher, the family, the accelerator."""
    worst = {
        "decode": ((0.10, 0.30), (0.08, 0.30), (0.08, 0.30)),
        "prefill": ((0.23, 0.50), (0.16, 0.45), (0.18, 0.48)),
        "serving": ((0.21, 0.46), (0.12, 0.33), (0.14, 0.44)),
        "output token": ((0.17, 0.45), (0.12, 0.30), (0.12, 0.30)),
        "first token": ((0.36, 0.95), (0.33, 0.90), (0.35, 0.90)),
    }
    for phase, limits in worst.items():
        mine = [one for one in measurements() if one.phase == phase and not one.apart]
        off_limit = np.median([abs(one.limit_s / one.measured_s - 1) for one in mine])
        for way, (median, tail) in zip(WAYS, limits, strict=True):
            off = [abs(one.without[way].expected_s / one.measured_s - 1) for one in mine]
            assert np.median(off) < min(median, off_limit), (phase, way)
            assert np.quantile(off, 0.9) < tail, (phase, way)


@pytest.mark.parametrize(("way", "label"), [("publisher", "mlc-bench"), ("family", "GLM-5"), ("system", "B300")])
def test_the_shipped_predictions_are_those_of_fits_that_did_not_see_it(way: str, label: str) -> None:
    here = leave_out.labels(table(), way) == label
    seconds = expected(table(), problem().fit(table().usable & ~here))
    mine = [one for one, mark in zip(measurements(), here, strict=True) if mark]
    assert len(mine) > 20
    for one, fitted in zip(mine, seconds[here], strict=True):
        assert one.without[way].expected_s == pytest.approx(fitted, rel=0.012)


def test_what_is_left_out_moves_nothing() -> None:
    here = table().publishers == "xiongjiedai"
    before = problem().fit(table().usable & ~here).values
    changed = Table(table().results)
    changed.measured = np.where(here, 3 * changed.measured, changed.measured)
    assert Problem(changed).fit(table().usable & ~here).values == before


def test_what_stays_apart_is_counted_too() -> None:
    apart = [one for one in measurements() if one.apart]
    assert 450 < len(apart) < 550
    took = [one.measured_s / one.expected_s for one in apart]
    assert np.median(took) > 1.5


def test_an_engine_with_few_results_stays_near_to_the_common_one() -> None:
    logs = whole().values["layer"]
    assert abs(logs["DeepSpeed-MII"]) < 0.2 < max(abs(logs["vLLM"]), abs(logs["llama.cpp"]))


def test_llama_cpp_reads_a_prompt_in_chunks() -> None:
    assert shipped_engines()["llama.cpp"].chunk == 512
    assert shipped_engines()["vllm"].chunk == CHUNK
    assert not shipped_engines()["sglang"].mixes


def test_every_result_has_its_source_and_its_facts() -> None:
    tables = ("sources", "id"), ("models", "model"), ("accelerators", "accelerator")
    sources, shapes, chips = ({row[key] for row in rows_of(name)} for name, key in tables)
    for row in (*rows_of("points"), *rows_of("served")):
        assert row["origin"] in sources
        assert row["model"] in shapes
        assert row["accelerator"] in chips
    assert all(row["source"] for row in rows_of("sources"))
    assert {row["preset"] for row in rows_of("models")} - {""} <= set(models())
    assert {row["preset"] for row in rows_of("accelerators")} - {""} <= set(accelerators())
    for row in rows_of("accelerators"):
        if row["preset"]:
            assert accelerators()[row["preset"]].family == row["class"]


def test_bands_hold_results_that_neither_fit_nor_band_has_seen() -> None:
    """Four of five are meant: of every phase, and of every engine with enough results, models or systems left out."""
    for way in ("family", "system"):
        for phase in report.EVERY:
            mine = [one.without[way].inside for one in measurements() if one.phase == phase and not one.apart]
            assert 0.75 <= np.mean(mine) <= 0.95, (way, phase)


def test_a_band_weighs_the_same_family_more() -> None:
    held = {way: np.where(table().kinds == "apple", 3.0, 1.1) * table().measured for way in leave_out.WAYS}
    errors = bands.Errors(table(), held, held["publisher"])
    apple, geforce = (errors.factor("decode", kind=kind, engine="llama.cpp") for kind in ("apple", "geforce"))
    assert apple > geforce
