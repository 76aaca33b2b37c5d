"""What a batch draws, and how many tokens it writes for a joule."""

from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts.machines.power import power_curve
from inferdash.facts.money.carbon import grids
from inferdash.physics.capacity import memory
from inferdash.physics.fitted.energy import Energy, in_service, tokens_per_joule
from inferdash.physics.fitted.expected import expected
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table

_KWH: Final = 3.6e6
"""Joules of a kilowatt-hour."""


def of_batch(scenario: Scenario, batch: int) -> Energy | None:
    """A pass in service that writes a token for each request of a batch, as expected; None where it is not known."""
    machine = scenario.as_run
    one = decode(machine, requests=batch, past=scenario.prompt)
    found = expected(machine, scenario.program, requests=batch, positions=1, past=scenario.prompt)
    return in_service(machine, one, requests=batch, pass_s=found.pass_s) if found else None


def note() -> str:
    """What the joules hold, and how far they lie from measurements that the fit had not seen."""
    curve = power_curve()
    unseen = {one.left_out: one for one in curve.held if one.what == "joules" and one.of == "all"}
    chip, family = unseen["accelerator"], unseen["family"]
    more = f"{curve.pace:.2g} times the expected one and {quantities.shown(curve.request_s, 's')} more per request"
    return (
        f"Board power only, by a fit to {chip.results:,} measurements in service. Short prompts were read between the "
        f"tokens there, so a pass took {more}, which is in the joules. On a model family that the fit had not seen, "
        f"joules per token are off by {quantities.percent(family.median)} at the median and by less than "
        f"{quantities.percent(family.ninth)} in nine of ten; on a GPU that it had not, by "
        f"{quantities.percent(chip.median)} and {quantities.percent(chip.ninth)}, with "
        f"{quantities.percent(chip.inside)} in the band."
    )


def sentence(scenario: Scenario) -> str:
    """Watts of a GPU and joules of a token at the scenario's batch."""
    found = of_batch(scenario, scenario.batch)
    if found is None:
        return f"The power draw or the peak of {scenario.hardware.name} is not known, so energy is not estimated."
    each, watts = float(found.joules) / scenario.batch, float(found.watts)
    low, high = (each * factor for factor in found.joules_band)
    return (
        f"At a batch of {scenario.batch:,} in service each GPU is expected to draw {watts:.0f} W, and an output token "
        f"takes {quantities.digits(each)} J ({quantities.digits(low)} to {quantities.digits(high)} J)."
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
