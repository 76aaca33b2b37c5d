"""The requests of a feature on machines that are bought, beside rented ones and the API, with power and carbon."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from math import ceil
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts.machines.power import power_curve
from inferdash.facts.money.carbon import grids
from inferdash.facts.money.purchases import days
from inferdash.facts.money.rents import KINDS, age, quartiles
from inferdash.physics.capacity import memory
from inferdash.physics.fitted.energy import in_service
from inferdash.physics.fitted.expected import expected
from inferdash.physics.passes import decode
from inferdash.pricing import feature
from inferdash.pricing.break_even import Way, break_evens, cheaper_from
from inferdash.pricing.ownership import HOURS_OF_A_MONTH, Owned, Purchase, overtaking_month, owned
from inferdash.scenario import Scenario
from inferdash.studies.check.own_accelerators import PEAK
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import session
from inferdash.studies.price.feature_cost import FeatureCost
from inferdash.studies.price.purchase import price_of_gpu

NOTE: Final = (
    "A month is 30 days. Machines are paid off in equal parts over their life. They draw idle power "
    "without requests and, while decoding, what is expected of the pass; the site adds its factor. Along the chart "
    "tokens grow with usage; where a machine is added, costs jump. Reserved rents are assumptions of one cost model, "
    "not quotes."
)


@dataclass(frozen=True)
class Ownership:
    """Three ways to pay for the tokens of a month."""

    tokens: float
    """Of the month, prompts and answers."""
    api_usd: float
    rent_usd: float
    """Of the machines, and the pay of those who run them."""
    machines: int
    gpus: int
    """In all of them."""
    bought: Purchase
    """All the machines."""
    owned: Owned
    """Of the month."""
    co2_kg: float | None
    """None where what the accelerator draws is not known."""
    ways: Mapping[str, Way]
    """Name -> how its cost grows with the tokens of a month."""
    overtakes: int | None
    """Month at whose end buying has cost less than renting; None where it does not in its life."""


def ownership(scenario: Scenario, result: FeatureCost) -> Ownership | None:
    """The three ways; None where the machines or their price are not known."""
    own, each = result.own_expected, price_of_gpu(scenario)
    if own.gpus is None or own.month_usd is None or not own.utilization or each is None:
        return None
    machine = scenario.as_run
    count = own.gpus // machine.gpus
    found = result.tokens
    tokens = found.fresh + found.written + found.read + found.output
    idle, busy = _watts(scenario, tokens_of_turn=tokens / session.requests_a_month(scenario))
    of_one = Purchase(
        price_usd=each * machine.gpus,
        years=scenario.life,
        residual_share=scenario.residual,
        interest=scenario.interest,
        upkeep_share=scenario.upkeep,
        idle_w=idle * machine.gpus,
        busy_w=busy * machine.gpus,
        site_factor=scenario.site_factor,
        usd_per_kwh=scenario.kwh_usd,
        colocation_usd_per_kw_month=scenario.colocation_usd * scenario.site_factor,
    )
    bought = replace(
        of_one,
        price_usd=of_one.price_usd * count,
        idle_w=of_one.idle_w * count,
        busy_w=of_one.busy_w * count,
        people_usd_per_month=scenario.people_usd,
    )
    month = owned(bought, utilization=own.utilization, hours=feature.HOURS, months=1)
    empty, full = (owned(of_one, utilization=used, hours=feature.HOURS, months=1).total_usd for used in (0.0, 1.0))
    served = tokens / (own.utilization * count)  # by a machine that is always busy
    room = served / PEAK  # by one that is busy in the busiest hour
    people = scenario.people_usd
    calendar = owned(bought, utilization=own.utilization)
    return Ownership(
        tokens=tokens,
        api_usd=result.month_usd,
        rent_usd=own.month_usd + people,
        machines=count,
        gpus=own.gpus,
        bought=bought,
        owned=month,
        co2_kg=month.kwh * grids()[scenario.grid].g_per_kwh / 1000 if busy else None,
        ways={
            "API": Way(result.month_usd / tokens),
            "rented": Way(0.0, own.month_usd / count, room, people),
            "owned": Way((full - empty) / served, empty, room, people),
        },
        overtakes=overtaking_month(
            bought,
            rent_usd=own.month_usd * HOURS_OF_A_MONTH / feature.HOURS + people,
            running_usd=calendar.running_usd,
        ),
    )


def _watts(scenario: Scenario, *, tokens_of_turn: float) -> tuple[float, float]:
    """Idle and busy watts of one accelerator; 0 where what its board draws is not known."""
    machine, board = scenario.as_run, scenario.as_run.accelerator.power.board
    context = max(1, round(tokens_of_turn))
    batch = int(memory.largest_batch(machine, tokens=context))
    if board is None or not batch:
        return 0.0, 0.0
    one = decode(machine, requests=batch, past=context)
    written = expected(machine, scenario.program, requests=batch, positions=1, past=context)
    drawn = in_service(machine, one, requests=batch, pass_s=written.pass_s) if written else None
    return power_curve().idle * board, float(drawn.watts) if drawn else board


def sentence(scenario: Scenario, found: Ownership | None) -> str:
    """Which of the three costs least, and from when buying does."""
    if found is None:
        return (
            f"What {scenario.hardware.name} costs to buy was not found, or it cannot serve this feature: enter a price."
        )
    costs = {"the API": found.api_usd, "renting": found.rent_usd, "buying": found.owned.total_usd}
    least, second, _ = sorted(costs, key=lambda name: costs[name])
    shown = {name: str(quantities.shown(usd, "$")) for name, usd in costs.items()}
    absent = [
        name for name, usd in (("staff", scenario.people_usd), ("colocation", scenario.colocation_usd)) if not usd
    ]
    if absent:
        shown["buying"] += f" (no {' or '.join(absent)} entered)"
    said = f"{least[0].upper()}{least[1:]} costs least a month, {shown[least]}; {second} costs {shown[second]}"
    part = _part_of_servers(scenario, found)
    said = f"{said}. Buying takes {_dollars(found.bought.price_usd)} on day one{f', {part}' if part else ''}"
    if found.overtakes is None:
        return f"{said}; it never gets cheaper than renting within its life of {scenario.life:g} years."
    return f"{said}; it gets cheaper than renting in month {found.overtakes}."


def _part_of_servers(scenario: Scenario, found: Ownership) -> str:
    """Which share of servers the GPUs are, and what these cost whole; empty where they fill them or are sold singly."""
    chip = scenario.hardware
    size = chip.linked if chip.link_bandwidth and chip.family in _IN_SERVERS else 1
    if not found.gpus % size:
        return ""
    many, gpus = ceil(found.gpus / size), quantities.count(found.gpus, "GPU")
    whole = _dollars(found.bought.price_usd / found.gpus * many * size)
    return f"the share of {gpus} in {'a server' if many == 1 else f'{many:,} servers'} of {size} ({whole} whole)"


_IN_SERVERS: Final = frozenset({"nvidia-datacenter", "amd-datacenter"})
"""Families whose linked accelerators are sold with their server."""


def _dollars(usd: float) -> str:
    return f"${usd:,.0f}"


def table(scenario: Scenario, found: Ownership, today: date) -> Table:
    """What a month of owning is made of."""
    month = found.owned
    grid = grids()[scenario.grid]
    carbon = f"{grid.name}, {grid.g_per_kwh:g} g/kWh" + (f", {grid.year}" if grid.year else ", of an unknown year")
    rows: list[tuple[str, object, str]] = [
        (
            "To pay on day one",
            _dollars(found.bought.price_usd),
            _part_of_servers(scenario, found) or quantities.count(found.gpus, "GPU"),
        ),
        (
            "Capital",
            quantities.shown(month.capital_usd, "$"),
            f"{quantities.count(found.machines, 'machine')}, {price_said(scenario, today)}",
        ),
        ("Upkeep", quantities.shown(month.upkeep_usd, "$"), f"{quantities.percent(scenario.upkeep)} a year"),
        ("Power", quantities.shown(month.energy_usd, "$"), f"{month.kwh:,.0f} kWh at the meter"),
        ("Colocation", quantities.shown(month.colocation_usd, "$"), ""),
        ("Staff", quantities.shown(month.people_usd, "$"), "the same for rented GPUs"),
        ("A month, owned", quantities.shown(month.total_usd, "$"), ""),
        ("A month, rented", quantities.shown(found.rent_usd, "$"), _rented(scenario)),
        ("A month, on the API", quantities.shown(found.api_usd, "$"), scenario.price.name),
    ]
    if found.co2_kg is not None:
        rows.append(("CO2e of a month, owned or rented", f"{found.co2_kg:,.0f} kg", carbon))
    return Table(
        ("a month", "from"), tuple(Row(name, "word", (str(usd), said)) for name, usd, said in rows), head="Owning"
    )


def _rented(scenario: Scenario) -> str:
    return f"${scenario.rent:g} a GPU-hour{', and staff' if scenario.people_usd else ''}"


def price_said(scenario: Scenario, today: date) -> str:
    """What a bought GPU is taken to cost, and of which day that price is."""
    if scenario.server_usd:
        return f"${scenario.server_usd:,.0f} a GPU, as you entered"
    return f"${price_of_gpu(scenario) or 0:,.0f} a GPU with its server, prices of {days(scenario.accelerator, today)}"


def break_even_table(found: Ownership) -> Table:
    """Where two ways cost the same, in tokens of a month."""
    rows = []
    for one, other in (("rented", "API"), ("owned", "API"), ("owned", "rented")):
        equal = break_evens(found.ways[one], found.ways[other])
        always = cheaper_from(found.ways[one], found.ways["API"]) if other == "API" else None
        said = ", ".join(_tokens(tokens) for tokens in equal[:3]) + (" …" if len(equal) > 3 else "")  # noqa: PLR2004 - some
        cells = (said or "never", "" if other != "API" else "never" if always is None else _tokens(always))
        rows.append(Row(f"{_DOING[one]} against {_AGAINST[other]}", "word", cells))
    return Table(("costs the same at", "costs no more at any use above"), tuple(rows), head="Tokens a month")


_DOING: Final = {"rented": "Renting", "owned": "Buying"}
_AGAINST: Final = {"API": "the API", "rented": "renting"}


def _tokens(tokens: float) -> str:
    return f"{quantities.digits(tokens / 1e6)} million"


_MEANING: Final = {"API": "compute", "rented": "memory", "owned": "money"}
"""Way -> the meaning whose colour it has."""


def chart_rows(found: Ownership) -> dict[str, list[dict[str, Any]]]:
    """Dollars of a month against its tokens by each way, and where two cost the same."""
    at = np.geomspace(found.tokens / 30, found.tokens * 30, 120)
    lines = [
        {"meaning": _MEANING[name], "tokens": float(tokens), "usd": float(usd)}
        for name, way in found.ways.items()
        for tokens, usd in zip(at, np.asarray(way.usd(at)), strict=True)
    ]
    pairs = (("rented", "API"), ("owned", "API"), ("owned", "rented"))
    even = [
        {"tokens": tokens, "usd": float(found.ways[one].usd(tokens)), "pair": f"{one} and {other} cost the same"}
        for one, other in pairs
        for tokens in break_evens(found.ways[one], found.ways[other])
        if at[0] <= tokens <= at[-1]
    ]
    starts = {name: float(way.usd(float(at[0]))) for name, way in found.ways.items()}
    lower = min(("rented", "owned"), key=starts.__getitem__)
    names = [{"way": name, "tokens": float(at[0]), "usd": usd, "below": name == lower} for name, usd in starts.items()]
    return {"lines": lines, "names": names, "even": even, "now": [{"tokens": found.tokens}]}


def rent_table(scenario: Scenario, today: date) -> Table:
    """What the accelerator rents for by what is promised, with the days of the quotes."""
    rows = []
    for kind in KINDS:
        quoted = [quote for quote in scenario.hardware.rents if quote.kind == kind]
        rent = quartiles(quoted)
        if rent is None:
            continue
        half = f"${rent.lower_quartile:,.2f} to ${rent.upper_quartile:,.2f}"
        old = age(rent.newest, today)
        said = f"{quantities.count(rent.sellers, 'seller')}, {rent.said()}" + (f", {old}" if old else "")
        rows.append(Row(kind, "word", (f"${rent.middle:,.2f}", half, said)))
    return Table(("median, per hour", "middle half of quotes", "read"), tuple(rows), head="Rent per GPU")
