"""Watts and joules of a pass: against the measurements that they were fitted to, and laws."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import energy as bench
from inferdash import shipped
from inferdash.facts import library
from inferdash.facts.machines.power import power_curve
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import deploy
from inferdash.physics.fitted.energy import energy, in_service, tokens_per_joule
from inferdash.physics.parallelism import Layout
from inferdash.physics.passes import decode

ROWS = list(csv.DictReader((shipped("presets") / "measured" / "energy.csv").read_text(encoding="utf-8").splitlines()))
H100 = deploy(
    library.models()["llama-3.1-8b"],
    library.accelerators()["h100-sxm"],
    gpus=1,
    weights=PRECISIONS["bf16"],
    cache=PRECISIONS["bf16"],
)


def test_the_measurements_add_up() -> None:
    """Joules of a token are watts of all accelerators over tokens a second."""
    told = [row for row in ROWS if row["watts"] and row["tokens_per_s"] and row["j_per_token"]]
    assert (len(ROWS), len(told)) == (524, 519)
    for row in told:
        joules = float(row["watts"]) * int(row["gpus"]) / float(row["tokens_per_s"])
        assert joules == pytest.approx(float(row["j_per_token"]), rel=0.005)


def test_the_shipped_curve_is_what_the_fit_gives() -> None:
    table = bench.measured()
    assert len(table.watts) == 446
    every = table.watts > 0
    numbers = np.exp([*bench.fit(table, every), *bench.fit_served(table, every)])
    names = ("idle", "memory", "compute", "exponent", "pace", "request_s", "divided")
    assert numbers.tolist() == pytest.approx([getattr(power_curve(), name) for name in names], rel=1e-3)


def test_watts_at_a_known_speed_are_near_those_that_the_fit_had_not_seen() -> None:
    for one in power_curve().held:
        if one.what == "watts" and one.left_out != "source":
            assert one.median < 0.15
            assert one.ninth < 0.40


@pytest.mark.parametrize(
    ("way", "median", "ninth"), [("family", 0.15, 0.4), ("task", 0.15, 0.405), ("accelerator", 0.155, 0.451)]
)
def test_joules_of_a_token_at_the_expected_speed_are_near(way: str, median: float, ninth: float) -> None:
    one = next(one for one in power_curve().held if (one.left_out, one.of, one.what) == (way, "all", "joules"))
    table = bench.measured()
    off = np.abs(bench.left_out(table, way)[1] - 1)
    assert (np.median(off), np.quantile(off, 0.9)) == pytest.approx((one.median, one.ninth), abs=1e-3)
    assert one.median < median
    assert one.ninth < ninth


def test_most_results_lie_in_the_band_that_others_made() -> None:
    """Of what was left out: from 75% to 90%, for a GPU that was never measured in its own wider band."""
    inside = {(one.left_out, one.what): one.inside for one in power_curve().held if one.of == "all"}
    assert len(inside) == 6
    assert all(0.75 <= share <= 0.90 for share in inside.values()), inside


def test_what_was_never_measured_has_the_wider_band() -> None:
    curve, one = power_curve(), decode(H100, requests=64, past=1000)
    low, high = curve.unmeasured_joules_band
    assert low <= curve.joules_band[0] < 1 < curve.joules_band[1] <= high
    assert low * high == pytest.approx(1, rel=2e-3)
    never = replace(H100, accelerator=library.accelerators()["h200-sxm"])
    found = in_service(never, one, requests=64, pass_s=0.02)
    assert found is not None
    assert (found.watts_band, found.joules_band) == (curve.unmeasured_watts_band, curve.unmeasured_joules_band)


def test_a_whole_pass_is_worked_out_by_hand() -> None:
    one = decode(H100, requests=64, past=1000)
    found = energy(H100, one, pass_s=0.02)
    assert found is not None
    curve = power_curve()
    assert found.watts_band == found.joules_band == curve.watts_band
    memory, compute = float(one.load_s) / 0.02, float(one.compute_s or 0) / 0.02
    woken = curve.memory * memory**curve.exponent + curve.compute * compute**curve.exponent
    assert found.watts == pytest.approx(700 * (1 - (1 - curve.idle) * np.exp(-woken)))
    assert found.joules == pytest.approx(float(found.watts) * 0.02)
    assert tokens_per_joule(tokens=64, joules=found.joules) == pytest.approx(64 / float(found.joules))


def test_a_pass_in_service_is_longer_by_its_requests_and_by_divided_experts() -> None:
    curve, one = power_curve(), decode(H100, requests=64, past=1000)
    found = in_service(H100, one, requests=64, pass_s=0.02)
    same = energy(H100, one, pass_s=0.02 * curve.pace + 64 * curve.request_s)
    assert found is not None
    assert same is not None
    assert (found.watts, found.joules, found.joules_band) == (same.watts, same.joules, curve.joules_band)
    spread = replace(H100, gpus=8, layout=Layout(even=False, data=8, expert=8))
    longer = in_service(spread, one, requests=64, pass_s=0.02)
    by_hand = energy(spread, one, pass_s=0.02 * (curve.pace + curve.divided) + 8 * curve.request_s)
    assert longer is not None
    assert by_hand is not None
    assert longer.joules == by_hand.joules


@given(requests=st.integers(1, 4096), past=st.integers(0, 100_000), slower=st.floats(1, 1000))
def test_watts_lie_between_idle_and_the_board(requests: int, past: int, slower: float) -> None:
    one = decode(H100, requests=requests, past=past)
    limit_s = float(one.pass_s or 0)
    at_limit, later = energy(H100, one, pass_s=limit_s), energy(H100, one, pass_s=limit_s * slower)
    assert at_limit is not None
    assert later is not None
    assert 700 * power_curve().idle <= float(later.watts) <= float(at_limit.watts) <= 700
    assert float(later.joules) >= float(at_limit.joules) * (1 - 1e-9), "a slower pass never takes less energy"


def test_what_is_not_known_is_none() -> None:
    unknown = replace(H100, accelerator=library.accelerators()["m4-max"])
    one = decode(H100, requests=1, past=100)
    assert energy(unknown, one, pass_s=1.0) is None
    assert energy(H100, replace(one, compute_s=None), pass_s=1.0) is None
