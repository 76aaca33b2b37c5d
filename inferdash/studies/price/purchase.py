"""What an accelerator costs to buy, with its server."""

from typing import Final

import numpy as np

from inferdash.facts.money.purchases import ALONE, taken
from inferdash.scenario import Scenario

WITH_SERVER: Final = 1.35
"""Price of an accelerator in its server over its own: eight H100, 325,000 over 240,000 dollars."""


def price_of_gpu(scenario: Scenario) -> float | None:
    """Dollars of one accelerator with its server: the reader's, or the middle of what sources tell; None without."""
    if scenario.server_usd:
        return scenario.server_usd
    told = taken(scenario.accelerator)
    if not told:
        return None
    return float(np.median([one.each_usd for one in told])) * (WITH_SERVER if told[0].covers == ALONE else 1)
