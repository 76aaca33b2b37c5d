"""What a batch draws, and how many tokens it writes for a joule."""

from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts.carbon import grids
from inferdash.facts.power import power_curve
from inferdash.physics import memory
from inferdash.physics.energy import Energy, energy, tokens_per_joule
from inferdash.physics.expected import expected
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table

_KWH: Final = 3.6e6
"""Joules of a kilowatt-hour."""


def of_batch(scenario: Scenario, batch: int) -> Energy | None:
    """The pass that writes a token for each request of a batch, as expected; None where it is not known."""
    machine = scenario.as_run
    one = decode(machine, requests=batch, past=scenario.prompt)
    found = expected(machine, scenario.program, requests=batch, positions=1, past=scenario.prompt)
    return energy(machine, one, pass_s=found.pass_s) if found else None


def note() -> str:
    """How far watts lie from measurements that the fit had not seen."""
    unseen = {one.what: one for one in power_curve().held if one.left_out == "accelerator" and one.of == "all"}
    watts, joules = unseen["watts"], unseen["joules"]
    return (
        "Board power only, by a fit to 446 measurements. On a GPU that the fit had not seen, watts at known speed are "
        f"off by {quantities.percent(watts.median)} at the median and by less than {quantities.percent(watts.ninth)} "
        f"in nine of ten; joules per token at the expected speed by {quantities.percent(joules.median)} and "
        f"{quantities.percent(joules.ninth)}. Prompts are not counted here."
    )


def sentence(scenario: Scenario) -> str:
    """Watts of a GPU and joules of a token at the scenario's batch."""
    found = of_batch(scenario, scenario.batch)
    if found is None:
        return f"The power draw or the peak of {scenario.hardware.name} is not known, so energy is not estimated."
    each, watts = float(found.joules) / scenario.batch, float(found.watts)
    low, high = each * found.low, each * found.high
    return (
        f"At a batch of {scenario.batch:,} each GPU is expected to draw {watts:.0f} W, and an output token takes "
        f"{quantities.digits(each)} J ({quantities.digits(low)} to {quantities.digits(high)} J at this speed)."
    )


def table(scenario: Scenario) -> Table:
    """A million written tokens at the meter of the site."""
    found = of_batch(scenario, scenario.batch)
    grid = grids()[scenario.grid]
    if found is None:
        return Table(("a million tokens",), ())
    kwh = float(found.joules) / scenario.batch * 1e6 / _KWH * scenario.site_factor
    rows = (
        Row("Energy at the meter", "word", (f"{quantities.digits(kwh)} kWh",)),
        Row("Its price", "$", (kwh * scenario.kwh_usd,)),
        Row(f"CO2e, {grid.name}", "word", (f"{quantities.digits(kwh * grid.g_per_kwh / 1000)} kg",)),
    )
    return Table(("a million tokens",), rows, head="Output tokens")


def rows(scenario: Scenario) -> list[dict[str, Any]]:
    """Tokens for a joule along the batch, up to the largest that fits."""
    largest = int(memory.largest_batch(scenario.as_run, tokens=scenario.prompt))
    found = []
    for batch in sorted({round(one) for one in np.geomspace(1, max(1, min(largest, 4096)), 30)} if largest else ()):
        drawn = of_batch(scenario, batch)
        if drawn is not None:
            per_joule = tokens_per_joule(tokens=batch, joules=drawn.joules)
            found.append({"batch": batch, "tokens_per_j": float(per_joule)})
    return found
