"""What set-ups that hold a target draw and cost to own: a plan for the least rent, the least energy, or to buy."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.machines.power import power_curve
from inferdash.facts.models.precision import PRECISIONS
from inferdash.facts.money.carbon import grids
from inferdash.facts.money.purchases import days
from inferdash.physics.deployment import deploy
from inferdash.physics.fitted.energy import bands, in_service
from inferdash.physics.fitted.expected import expected
from inferdash.physics.passes import decode
from inferdash.pricing import feature
from inferdash.pricing.ownership import Purchase, mean_watts, owned, site_kwh
from inferdash.scenario import Scenario
from inferdash.serving.planned.candidates import Candidate
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price.purchase import price_of_gpu
from inferdash.studies.run.planning import FREE_LINK, planned, spans


@dataclass(frozen=True)
class Kept:
    """One set-up that holds, as it is predicted at the load."""

    one: Candidate
    watts: float | None
    """Of one GPU; None where what its board draws is not known."""
    kwh: float | None
    """Of a month, at the meter of the site."""
    kwh_band: tuple[float, float] | None
    """Where it lies, as far as watts are expected."""
    rent_usd: float
    """Of a month."""
    own_usd: float | None
    """Of a month, bought; None where no price was found."""


def kept(scenario: Scenario) -> list[Kept]:
    """The plan, the next by cost and those on the frontier, each once."""
    found = planned(scenario)
    if found is None:
        return []
    best = [found.best] if found.best else []
    return [_kept(scenario, one) for one in dict.fromkeys((*best, *found.following, *found.frontier))]


def _kept(scenario: Scenario, one: Candidate) -> Kept:
    watts = watts_of(scenario, one)
    kwh = band = None
    if watts is not None:
        drawn = watts * one.total_gpus
        kwh = float(site_kwh(watts=drawn, hours=feature.HOURS, site_factor=scenario.site_factor))
        low, high = bands(library.accelerators()[one.accelerator].name)[0]
        band = kwh * low, kwh * high
    each = _each(scenario, one.accelerator)
    own = None
    if each is not None and watts is not None:
        bought = Purchase(
            price_usd=each * one.total_gpus,
            years=scenario.life,
            residual_share=scenario.residual,
            interest=scenario.interest,
            upkeep_share=scenario.upkeep,
            idle_w=watts * one.total_gpus,
            busy_w=watts * one.total_gpus,
            site_factor=scenario.site_factor,
            usd_per_kwh=scenario.kwh_usd,
            colocation_usd_per_kw_month=scenario.colocation_usd * scenario.site_factor,
        )
        own = owned(bought, utilization=1.0, hours=feature.HOURS, months=1).total_usd
    return Kept(one, watts, kwh, band, one.usd_per_hour * feature.HOURS, own)


def _each(scenario: Scenario, accelerator: str) -> float | None:
    """Dollars to buy one accelerator with its server."""
    return price_of_gpu(scenario.model_copy(update={"accelerator": accelerator}))


def watts_of(scenario: Scenario, one: Candidate) -> float | None:
    """Expected watts of one GPU of a set-up while it writes at the batch of its load; None where not known.

    Nor where prefill workers read for it, as what GPUs draw on average is then of two kinds.
    """
    if one.readers:
        return None
    machine = deploy(
        scenario.architecture,
        library.accelerators()[one.accelerator],
        gpus=one.gpus,
        weights=PRECISIONS[one.weights],
        cache=PRECISIONS[one.cache],
        layout=replace(one.layout, even=one.gpus == 1),
    )
    batch, past = max(1.0, one.batch) * one.layout.data, scenario.prompt + scenario.answer / 2
    writing = expected(machine, scenario.program, requests=batch, positions=1, past=past)
    if writing is None:
        return None
    one_pass = decode(machine, requests=batch, past=past)
    drawn = in_service(machine, one_pass, requests=batch, pass_s=writing.pass_s)
    board = machine.accelerator.power.board
    if drawn is None or board is None:
        return None
    # With less than one request on average, it waits for the rest of the time.
    idle = power_curve().idle * board
    return float(mean_watts(idle_w=idle, busy_w=float(drawn.watts), utilization=min(1.0, one.batch)))


def table(found: list[Kept]) -> Table:
    """Rent, energy and what owning costs, of each set-up that holds, by rent."""
    rows = [
        Row(
            _name(entry.one),
            "word",
            (
                str(quantities.shown(entry.rent_usd, "$")),
                "not known" if entry.watts is None else f"{entry.watts:.0f} W",
                "not known" if entry.kwh is None else f"{entry.kwh:,.0f} kWh",
                "not known" if entry.own_usd is None else str(quantities.shown(entry.own_usd, "$")),
            ),
        )
        for entry in sorted(found, key=lambda entry: entry.rent_usd)
    ]
    return Table(
        ("rented, per month", "draw per GPU", "energy per month", "owned, per month"), tuple(rows), head="Set-up"
    )


def _short(accelerator: str) -> str:
    return library.accelerators()[accelerator].name.removeprefix("NVIDIA ")


def _name(one: Candidate) -> str:
    shared = f", {one.layout.words}" if one.gpus > 1 else ""
    return f"{one.total_gpus:,} × {_short(one.accelerator)} in {PRECISIONS[one.weights].name}{shared}"


def sentence(scenario: Scenario, found: list[Kept]) -> str:
    """The set-up of the least rent, of the least energy, and the one that is cheapest to own."""
    if not found:
        return "No set-up meets the targets, so there is nothing to compare."
    cheapest = min(found, key=lambda entry: entry.rent_usd)
    usd = quantities.shown(cheapest.rent_usd, "$")
    said = [f"Least rent: {_name(cheapest.one)}, {usd} a month{_assumed(scenario, cheapest)}."]
    known = [entry for entry in found if entry.kwh is not None]
    if known:
        least = min(known, key=lambda entry: entry.kwh or 0.0)
        grid = grids()[scenario.grid]
        co2 = (least.kwh or 0.0) * grid.g_per_kwh / 1000
        rent = "" if least is cheapest else f", for {quantities.shown(least.rent_usd, '$')} of rent"
        said.append(
            f"Least energy: {_name(least.one)}, {_kwh(least)} and {co2:,.0f} kg CO2e a month ({grid.name}){rent}"
            f"{_assumed(scenario, least)}."
        )
        if cheapest.kwh_band and cheapest is not least and cheapest.kwh_band[0] < (least.kwh or 0.0):
            said.append(f"The set-up of the least rent takes {_kwh(cheapest)}, which may be no more.")
    bought = [entry for entry in found if entry.own_usd is not None]
    if bought:
        least = min(bought, key=lambda entry: entry.own_usd or 0.0)
        usd = quantities.shown(least.own_usd or 0.0, "$")
        said.append(f"Cheapest to own: {_name(least.one)}, {usd} a month{_assumed(scenario, least)}.")
    return " ".join(said)


def _assumed(scenario: Scenario, entry: Kept) -> str:
    return f", if {FREE_LINK}" if spans(scenario, entry.one) else ""


def _kwh(entry: Kept) -> str:
    low, high = entry.kwh_band or (0.0, 0.0)
    return f"{entry.kwh:,.0f} kWh ({low:,.0f} to {high:,.0f})"


def bought_on(scenario: Scenario, found: list[Kept], today: date) -> str:
    """Of which day the prices are at which machines are bought, and which of them are old."""
    if scenario.server_usd:
        return f"GPUs are bought at ${scenario.server_usd:,.0f} each, as you entered."
    bought = dict.fromkeys(entry.one.accelerator for entry in found if entry.own_usd is not None)
    said = [f"{_short(key)} ${_each(scenario, key) or 0:,.0f} a GPU ({days(key, today)})" for key in bought]
    if not said:
        return "No price to buy was found."
    without = "" if scenario.colocation_usd else " Colocation is not in it until you enter it on “Price a feature”."
    return (
        f"Prices to buy, with the server: {'; '.join(said)}.{without} Staff, the same to rent or to own, is in neither."
    )


NOTE: Final = (
    "Of the cheapest set-ups and those on the frontier, predicted at the load. GPUs idle where fewer "
    "than one request is there on average; prefill draws more for a moment. The power curve was fitted to "
    "H100 and B200 and scaled to the board power of others."
)


def serving_sentence(scenario: Scenario, batch: float) -> str:
    """What the replicas draw at the batch that the simulation had on average, and what a month of that takes."""
    machine, program = scenario.served.deployment, scenario.program
    past = scenario.prompt + scenario.answer / 2
    writing = expected(machine, program, requests=max(1.0, batch), positions=1, past=past)
    one = decode(machine, requests=max(1.0, batch), past=past)
    drawn = in_service(machine, one, requests=max(1.0, batch), pass_s=writing.pass_s) if writing else None
    if drawn is None:
        return f"What {scenario.hardware.name} draws, or its peak, is not known, so no energy follows."
    most = machine.accelerator.power.board or float(drawn.watts)
    gpus, grid = machine.gpus * scenario.replicas, grids()[scenario.grid]
    kwh = float(site_kwh(watts=float(drawn.watts) * gpus, hours=feature.HOURS, site_factor=scenario.site_factor))
    co2 = kwh * grid.g_per_kwh / 1000
    watts, (low, high) = float(drawn.watts), drawn.watts_band
    return (
        f"At the mean batch of a busy replica each GPU is expected to draw {watts:.0f} W "
        f"({watts * low:.0f} to {min(most, watts * high):.0f}). A month of that takes "
        f"{kwh:,.0f} kWh at the meter, {quantities.shown(kwh * scenario.kwh_usd, '$')}, and {co2:,.0f} kg CO2e "
        f"({grid.name})."
    )


def error_table() -> Table:
    """How far watts and joules lie from measurements that the fit had not seen."""
    names = {"accelerator": "GPU", "family": "family of models", "task": "task", "source": "source"}
    rows = [
        Row(
            f"{'Watts at a known speed' if one.what == 'watts' else 'Joules of a token at the expected speed'}, "
            f"{'all' if one.of == 'all' else library.accelerators()[one.of].name}",
            "word",
            (
                names[one.left_out],
                f"{one.results:,}",
                *(quantities.percent(share) for share in (one.median, one.ninth, one.inside)),
            ),
        )
        for one in power_curve().held
    ]
    columns = ("left out", "results", "median error", "nine of ten within", "in the band")
    return Table(columns, tuple(rows), head="What is expected")
