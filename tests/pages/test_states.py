"""Scenario, widgets and address agree, whatever a reader does."""

import pytest

from tests.states import Reader


@pytest.mark.parametrize("seed", range(1000, 1006))
def test_scenario_widgets_and_address_agree_after_each_step(seed: int) -> None:
    assert list(Reader(seed).walk(20)) == []
