"""A confidence holds as many of the published results as it says, of those that the fit had not seen."""

import numpy as np
import pytest

from inferdash.facts.library import engines
from inferdash.facts.measured import WAYS, Measurement, measurements
from inferdash.physics.fitted.confidence import AS_EXPECTED, edge, slower

SERVED = ("serving", "full load", "output token")
LESS = 0.03
"""By which the share may be less: groups of results of a kind move together."""


def within(one: Measurement, way: str, confidence: str) -> bool:
    """Whether a result took no longer than a plan with that confidence takes it to."""
    engine = next((engine for engine in engines().values() if engine.name == one.engine), engines()["unknown"])
    expected_s = one.without[way].expected_s
    times = slower(engine.reach[one.family].bands, confidence, limit_s=one.limit_s, expected_s=expected_s)
    return bool(one.measured_s <= expected_s * (times.firsts if one.phase == "first token" else times.passes))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("phases", [SERVED, ("first token",)], ids=["passes", "first tokens"])
def test_as_many_measurements_stay_within_as_the_confidence_says(way: str, phases: tuple[str, ...]) -> None:
    found = [one for one in measurements() if one.phase in phases and not one.apart]
    for confidence, share in (("80", 0.80), ("95", 0.95)):
        assert np.mean([within(one, way, confidence) for one in found]) > share - LESS


def test_more_confidence_is_slower_and_none_is_what_is_expected() -> None:
    for engine in engines().values():
        for reach in engine.reach.values():
            assert slower(reach.bands, "even", limit_s=0.5, expected_s=1) == AS_EXPECTED
            some, more = (slower(reach.bands, one, limit_s=0.5, expected_s=1) for one in ("80", "95"))
            assert 1 < some.passes < more.passes
            assert some.passes <= some.firsts < more.firsts


def test_no_edge_of_the_band_beats_the_limit() -> None:
    for limit_s in (0.01, 0.5, 0.9, 1.0):
        low, high = (edge(engines()["vllm"].reach["geforce"].bands, s, limit_s=limit_s, expected_s=1) for s in (0, 1))
        assert limit_s <= low.passes <= 1 <= high.passes <= high.firsts
        assert limit_s <= low.firsts <= low.passes
