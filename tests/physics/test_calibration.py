"""An engine moved to measurements: no further than they need."""

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.calibration import IN_A_PREFILL, MOVE, READING, factors, moved, parts_of
from inferdash.physics.fitted.expected import expected


def machine() -> Deployment:
    bf16 = PRECISIONS["bf16"]
    chip = library.accelerators()["h100-sxm"]
    return deploy(library.models()["llama-3-8b"], chip, gpus=1, weights=bf16, cache=bf16)


def of(parts: list[list[float]], measured: list[float], *, link: float = 0.0, least: float = 1e-3) -> np.ndarray:
    return factors(np.array(parts, float), np.full(len(measured), link), np.array(measured), np.full(len(parts), least))


def test_what_is_measured_as_expected_moves_nothing() -> None:
    assert of([[1, 2], [3, 4]], [4.0, 6.0]) == pytest.approx([1, 1])


def test_one_part_takes_all_of_a_difference_but_for_the_error_of_reading() -> None:
    """Of a logarithm d, the part with variance MOVE² beside READING² takes MOVE² / (MOVE² + READING²)."""
    share = MOVE**2 / (MOVE**2 + READING**2)
    assert of([[1.0]], [1.5]) == pytest.approx([1.5**share])
    assert of([[1.0]], [0.5]) == pytest.approx([0.5**share])


def test_equal_parts_share_a_difference_and_a_larger_one_takes_more() -> None:
    same = of([[1.0], [1.0]], [2.5])
    assert same[0] == pytest.approx(same[1])
    large, small = of([[3.0], [1.0]], [5.0])
    assert large > small > 1


def test_a_part_that_takes_no_time_does_not_move() -> None:
    assert of([[1.0], [0.0]], [2.0])[1] == pytest.approx(1)


def test_two_measurements_tell_two_parts_apart() -> None:
    """8 and 2 seconds were expected to be 4 + 4 and 1 + 1 of the parts; twice the first part only fits 10 and 5."""
    first, second = of([[4.0, 1.0], [1.0, 4.0]], [9.0, 6.0])
    assert first > 1.7
    assert second == pytest.approx(1, abs=0.1)


def test_the_link_stays() -> None:
    assert of([[1.0]], [3.0], link=1.0)[0] < 2


def test_no_share_of_a_datasheet_exceeds_one() -> None:
    here, engine = machine(), library.engines()["vllm"]
    one = expected(here, engine, requests=1, positions=1, past=1024)
    assert one is not None
    fast = moved(engine, here, [parts_of(one)], np.array([0.0046]))
    reach = fast.reach["nvidia-datacenter"]
    assert reach.bandwidth_share <= 1
    assert reach.arithmetic_share <= 1
    assert fast.attention_share <= 1
    again = expected(here, fast, requests=1, positions=1, past=1024)
    assert again is not None
    assert 0.0045 < again.pass_s < 0.0058 < one.pass_s


def test_other_families_stay_as_they_were() -> None:
    engine = library.engines()["vllm"]
    one = expected(machine(), engine, requests=1, positions=1, past=1024)
    assert one is not None
    slow = moved(engine, machine(), [parts_of(one)], np.array([0.02]))
    assert slow.reach["geforce"] == engine.reach["geforce"]
    assert slow.reach["nvidia-datacenter"] != engine.reach["nvidia-datacenter"]


def test_a_prefill_moves_arithmetic_exchanges_and_the_server_only() -> None:
    one = expected(machine(), library.engines()["vllm"], requests=1, positions=1024, past=0)
    assert one is not None
    moving, staying = parts_of(one, server_s=0.03, moves=IN_A_PREFILL)
    assert moving == [0.0, float(one.compute_s), 0.0, 0.0, float(one.waiting_s), 0.0, 0.03]
    assert sum(moving) + staying == pytest.approx(float(one.pass_s) + 0.03)
