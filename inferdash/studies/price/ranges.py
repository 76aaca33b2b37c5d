"""A feature whose inputs are ranges: low, middle and high of the month on APIs and own machines, and why."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.formula import Number
from inferdash.pricing import feature
from inferdash.pricing.ranges import COUNT, Spread, is_spread, spread, variance_shares
from inferdash.scenario import FIELDS, OWN, Scenario
from inferdash.studies.check.own_accelerators import PEAK
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import other_models
from inferdash.studies.price.api import known_price
from inferdash.studies.price.drawn import dollars, draws, month, point, sessions_of
from inferdash.studies.price.feature_cost import FeatureCost
from inferdash.studies.price.ownership import Ownership, ownership

_NOTE: Final = (
    f"{COUNT:,} draws of all ranges together, each independent of the others, always the same ones. P10: one month in "
    "ten costs less; P90: one in ten costs more. Images, tools and agents are not in it. Own GPUs run the model "
    "that is named, which may answer worse than that of an API: compare answers before prices."
)
_NOBODY: Final = (
    "Staff for own GPUs, rented or bought, is not in it until you enter it under “Buy, rent or call an API”."
)
EXAMPLE: Final = (
    "Choose the inputs that you are not sure of; those of bought GPUs are their price, power and staff. A range is "
    "20k..60k, ±20%, or low, likely and high: 200/400/900."
)
_OWN: Final = "Your own prices"
_BINS: Final = 40
_TENS: Final = 1000
"""From here on a mean is told in tens."""
_LEANING: Final = 0.02
"""Part by which the mean of a range is not the entered value, from which on that is said."""
_NAMED: Final = 0.01
"""Share of the variance from which on it is said that inputs work together."""


def _gpus(scenario: Scenario, result: FeatureCost) -> Callable[[Mapping[str, Number]], Number] | None:
    """The GPUs that it takes, as a function of the ranged inputs: machines follow requests and what each writes."""
    own = result.own_expected
    if own.gpus is None or own.month_usd is None or not own.utilization:
        return None
    size = scenario.as_run.gpus
    busy = own.utilization * own.gpus / size

    def gpus(inputs: Mapping[str, Number]) -> Number:
        def of(name: str) -> Number:
            return inputs.get(name, getattr(scenario, name))

        def requests(get: Callable[[str], Number]) -> Number:
            return sessions_of(scenario, get) * get("turns")

        def written(get: Callable[[str], Number]) -> Number:
            return get("answer") + get("reasoning")

        def entered(name: str) -> float:
            return float(getattr(scenario, name))

        work = busy * requests(of) / requests(entered) * written(of) / max(1, written(entered))
        return np.maximum(1.0, np.ceil(work * PEAK)) * size

    return gpus


def _own(scenario: Scenario, result: FeatureCost) -> dict[str, Callable[[Mapping[str, Number]], Number]]:
    """The month on rented GPUs, and on the same ones where they are bought; nothing where they cannot serve."""
    gpus, bought = _gpus(scenario, result), ownership(scenario, result)
    if gpus is None:
        return {}
    machine = _machine(scenario)

    def rented(inputs: Mapping[str, Number]) -> Number:
        return gpus(inputs) * inputs.get("rent", scenario.rent) * feature.HOURS + _staff(scenario, inputs)

    ways: dict[str, Callable[[Mapping[str, Number]], Number]] = {f"{machine}, rented": rented}
    if bought:
        ways[f"{machine}, bought"] = _bought(scenario, bought, gpus)
    return ways


def _machine(scenario: Scenario) -> str:
    return f"{scenario.architecture.name} on {scenario.hardware.name}"


def _staff(scenario: Scenario, inputs: Mapping[str, Number]) -> Number:
    """What those are paid in a month who run the GPUs, rented or bought."""
    return inputs.get("people_usd", scenario.people_usd)


def _bought(
    scenario: Scenario, found: Ownership, gpus: Callable[[Mapping[str, Number]], Number]
) -> Callable[[Mapping[str, Number]], Number]:
    """The month on bought GPUs: capital and upkeep follow their price, energy its own, and people their pay."""
    one, paid = found.owned, point(scenario, "server_usd")

    def usd(inputs: Mapping[str, Number]) -> Number:
        machines = (one.capital_usd + one.upkeep_usd) * inputs.get("server_usd", paid) / paid
        power = one.kwh * inputs.get("kwh_usd", scenario.kwh_usd) + one.colocation_usd
        return (machines + power) * gpus(inputs) / found.gpus + _staff(scenario, inputs)

    return usd


def results(scenario: Scenario, result: FeatureCost) -> dict[str, tuple[float, Spread]]:
    """Name of each way to pay -> dollars of a month at the point, and where they lie."""
    inputs = draws(scenario)
    ways: dict[str, Callable[[Mapping[str, Number]], Number]] = {}
    keys = dict.fromkeys(([scenario.api] if scenario.api != OWN else []) + list(scenario.beside))
    for key in keys:
        other = scenario.model_copy(update={"api": key})
        price = known_price(other)
        if price:
            ways[price.name] = month(other)
    if scenario.api == OWN:
        ways = {_OWN: month(scenario), **ways}
    ways |= _own(scenario, result)
    return {name: (float(np.max(usd({}))), spread(np.broadcast_to(usd(inputs), COUNT))) for name, usd in ways.items()}


def table(found: Mapping[str, tuple[float, Spread]]) -> Table:
    """Low, middle and high of each way, beside the point."""
    rows = tuple(
        Row(name, "word", tuple(map(dollars, (one.low, one.middle, one.high, point))))
        for name, (point, one) in found.items()
    )
    return Table(("low (P10)", "middle (P50)", "high (P90)", "as entered"), rows, head="A month on")


def _on(name: str) -> str:
    return "At your own prices" if name == _OWN else f"On {name}"


def sentence(scenario: Scenario, found: Mapping[str, tuple[float, Spread]]) -> str:
    """The first way in words, and the one that costs least at the median, of those that can serve the requests."""
    name, (_, one) = next(iter(found.items()))
    low, middle, high = map(dollars, (one.low, one.middle, one.high))
    said = f"{_on(name)} a month costs {middle} at the median, and {low} to {high} in eight of ten draws."
    too_long = other_models.too_long(scenario)
    able = [way for way in found if not (too_long and way.startswith(_machine(scenario)))]
    least = min(able, key=lambda way: found[way][1].middle)
    best = (
        f"The cheapest at the median is {least}, {dollars(found[least][1].middle)}."
        if least != name
        else "None of the others costs less."
    )
    return f"{said} {best}{f' {too_long}.' if too_long and len(able) < len(found) else ''}"


def still(found: Mapping[str, tuple[float, Spread]]) -> str:
    """Which ways have no spread, and why; empty where all have one."""
    named = [name for name, (_, one) in found.items() if one.low == one.high]
    if not named:
        return ""
    return f"No range moves {' or '.join(named)}: give one of its prices a range, such as ±25%, or the use a wider one."


def leaning(scenario: Scenario) -> str:
    """Which ranges lie higher or lower than what is entered, so that the middle is not the month as entered."""
    said = []
    for name, drawn in draws(scenario).items():
        entered, mean = point(scenario, name), float(np.mean(drawn))
        if abs(mean - entered) > _LEANING * abs(entered):
            mean_said, entered_said = (
                quantities.digits(round(one, -1) if one > _TENS else one) for one in (mean, entered)
            )
            said.append(f"{FIELDS[name].title} {mean_said} on average, {entered_said} entered")
    return f"The middle is not the month as entered, as ranges lean: {'; '.join(said)}." if said else ""


def note(scenario: Scenario) -> str:
    """How the months were drawn, and what is not in them."""
    return f"{_NOTE} {_NOBODY}" if not scenario.people_usd else _NOTE


def suggested(scenario: Scenario) -> dict[str, dict[str, str]]:
    """What a button says -> ranges to begin with: the use alone, and the use with the lengths of texts."""
    use = "users" if scenario.use_as == "users" else "volume"
    return {
        "Use ±25%": {"ranges": f"{use} ±25%"},
        "Use and lengths ±25%": {"ranges": f"{use} ±25%, question ±25%, documents_tokens ±25%, answer ±25%"},
    }


def shares(scenario: Scenario) -> dict[str, float]:
    """Share of the variance that each range makes on the scenario's API."""
    inputs, usd = draws(scenario, count=4000), month(scenario)
    points = {name: float(getattr(scenario, name)) for name in inputs}
    return variance_shares(inputs, lambda given: np.broadcast_to(usd(given), 4000), points)


def share_sentence(scenario: Scenario) -> str:
    """Which range makes most of the spread."""
    found = shares(scenario)
    if not found:
        return ""
    named = [f"{FIELDS[name].title} {quantities.percent(share)}" for name, share in found.items()]
    rest = 1 - sum(found.values())
    together = f"; {quantities.percent(rest)} from several together" if rest > _NAMED else ""
    return f"Share of the variance from each input alone: {', '.join(named)}{together}."


def histogram_rows(scenario: Scenario) -> list[dict[str, Any]]:
    """How often a month on the scenario's API costs how much."""
    usd = np.broadcast_to(month(scenario)(draws(scenario)), COUNT)
    if not is_spread(usd):
        return []
    counts, edges = np.histogram(usd, bins=_BINS)
    return [
        {"low": float(low), "high": float(high), "share": float(count) / COUNT, "meaning": "money"}
        for count, low, high in zip(counts, edges, edges[1:], strict=False)
    ]
