"""The simulator against published serving results, beside the sum of passes that the engines were fitted with."""

import numpy as np

from bench.serving import closed_form_s, simulated_s
from inferdash.facts.library import engines
from inferdash.facts.measured import measurements
from inferdash.physics.fitted.published import point


def test_the_simulator_is_as_near_to_measurements_as_the_sum_of_passes() -> None:
    by_name = {engine.name: engine for engine in engines().values()}
    chosen = [one for one in measurements() if one.phase == "serving" and one.engine in by_name and not one.apart]
    errors = []
    for one in chosen[::20]:
        published, engine = point(one.row), by_name[one.engine]
        both = np.array([closed_form_s(published, engine), simulated_s(published, engine)])
        errors.append(np.abs(one.measured_s / both - 1))
    assert len(errors) > 40
    closed, simulated = np.median(errors, axis=0)
    assert simulated < 0.2
    assert simulated <= closed + 0.01
