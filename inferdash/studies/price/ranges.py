"""A feature whose inputs are ranges: low, middle and high of the month on APIs and own machines, and why."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from annotated_types import Ge, Le

from inferdash import quantities
from inferdash.formula import Number
from inferdash.pricing import feature
from inferdash.pricing.many_sessions import session_usd
from inferdash.pricing.ranges import COUNT, Draws, Spread, is_spread, spread, uniforms, variance_shares
from inferdash.scenario import FIELDS, OWN, Scenario, is_whole
from inferdash.studies.check.own_accelerators import PEAK
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import session
from inferdash.studies.price.api import known_price
from inferdash.studies.price.feature_cost import FeatureCost
from inferdash.studies.price.ownership import PEOPLE_MONTH, Ownership, ownership, price_of_gpu

_NOTE: Final = (
    f"{COUNT:,} draws of all ranges together, each independent of the others, always the same ones. P10: one month in "
    "ten costs less; P90: one in ten costs more. Images, tools and agents are not in it. Own GPUs run the model "
    "that is named, which may answer worse than that of an API: compare answers before prices."
)
_NOBODY: Final = "Nobody is paid to run them until you enter it under “Buy, rent or call an API”."
EXAMPLE: Final = (
    "Write ranges as: users 20k..60k, answer ±20%, question 200/400/900 (low, likely, high). For bought GPUs: "
    "server_usd ±25%, kwh_usd 0.08..0.20, people_usd 4k..9k."
)
_BINS: Final = 40
_WHOLE: Final = 100
"""Dollars from which on cents are not told."""
_NAMED: Final = 0.01
"""Share of the variance from which on it is said that inputs work together."""


def draws(scenario: Scenario, *, count: int = COUNT) -> dict[str, Draws]:
    """Name of each ranged input -> its draws, whole where the field is, within its bounds."""
    ranged = scenario.ranged
    found = {}
    for name, uniform in uniforms(tuple(ranged), seed=scenario.seed, count=count).items():
        drawn = ranged[name].drawn(_point(scenario, name), uniform)
        least, most = _bounds(name)
        drawn = np.clip(drawn, least, most)
        found[name] = np.rint(drawn) if is_whole(name) else drawn
    return found


def _point(scenario: Scenario, name: str) -> float:
    """The value that a range lies around; the price of a GPU is that of sources where none was entered."""
    entered = float(getattr(scenario, name))
    return (price_of_gpu(scenario) or 0.0) if name == "server_usd" and not entered else entered


def _bounds(name: str) -> tuple[float, float]:
    """The least and the most that a field takes."""
    marks = FIELDS[name].metadata
    (least,) = (float(str(one.ge)) for one in marks if isinstance(one, Ge))
    (most,) = (float(str(one.le)) for one in marks if isinstance(one, Le))
    return least, most


def month(scenario: Scenario) -> Callable[[Mapping[str, Number]], Number]:
    """The dollars of a month on the scenario's API, as a function of its ranged inputs."""
    price = scenario.price
    marked = session.marking(scenario, price)
    cache = None if marked == "none" else session.cache_of(scenario, price)
    known = scenario.read_share if scenario.share_known and marked != "none" else None

    def usd(inputs: Mapping[str, Number]) -> Number:
        def of(name: str) -> Number:
            return inputs.get(name, getattr(scenario, name))

        sessions = _sessions(scenario, of)
        plan = {
            "shared": of("tools_tokens") + of("system_tokens"),
            "own": of("user_tokens") + of("documents_tokens"),
            "message": of("question"),
            "answer": of("answer"),
            "thinking": of("reasoning"),
            "turns": of("turns"),
            "history_limit": scenario.history,
            "gap_s": of("gap"),
            "spread": scenario.spread,
        }
        a_day = sessions * of("turns") / feature.DAYS
        each = session_usd(plan, price, cache, requests_per_day=a_day, known_share=known, marked=marked)
        return each * sessions

    return usd


def _sessions(scenario: Scenario, of: Callable[[str], Number]) -> Number:
    match scenario.use_as:
        case "month":
            return of("volume") / of("turns")
        case "day":
            return of("volume") * feature.DAYS / of("turns")
    return of("users") * of("sessions") * feature.DAYS


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
            return _sessions(scenario, get) * get("turns")

        def written(get: Callable[[str], Number]) -> Number:
            return get("answer") + get("reasoning")

        def point(name: str) -> float:
            return float(getattr(scenario, name))

        work = busy * requests(of) / requests(point) * written(of) / max(1, written(point))
        return np.maximum(1.0, np.ceil(work * PEAK)) * size

    return gpus


def _own(scenario: Scenario, result: FeatureCost) -> dict[str, Callable[[Mapping[str, Number]], Number]]:
    """The month on rented GPUs, and on the same ones where they are bought; nothing where they cannot serve."""
    gpus, bought = _gpus(scenario, result), ownership(scenario, result)
    if gpus is None:
        return {}
    machine = f"{scenario.architecture.name} on {scenario.hardware.name}"
    ways: dict[str, Callable[[Mapping[str, Number]], Number]] = {
        f"{machine}, rented": lambda inputs: gpus(inputs) * inputs.get("rent", scenario.rent) * feature.HOURS
    }
    if bought:
        ways[f"{machine}, bought"] = _bought(scenario, bought, gpus)
    return ways


def _bought(
    scenario: Scenario, found: Ownership, gpus: Callable[[Mapping[str, Number]], Number]
) -> Callable[[Mapping[str, Number]], Number]:
    """The month on bought GPUs: capital and upkeep follow their price, energy its own, and people their pay."""
    month, paid = found.owned, _point(scenario, "server_usd")

    def usd(inputs: Mapping[str, Number]) -> Number:
        machines = (month.capital_usd + month.upkeep_usd) * inputs.get("server_usd", paid) / paid
        power = month.kwh * inputs.get("kwh_usd", scenario.kwh_usd) + month.colocation_usd
        people = inputs.get("people_usd", scenario.people_usd) * PEOPLE_MONTH
        return (machines + power) * gpus(inputs) / found.gpus + people

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
        ways = {"Your own prices": month(scenario), **ways}
    ways |= _own(scenario, result)
    return {name: (float(np.max(usd({}))), spread(np.broadcast_to(usd(inputs), COUNT))) for name, usd in ways.items()}


def table(found: Mapping[str, tuple[float, Spread]]) -> Table:
    """Low, middle and high of each way, beside the point."""
    rows = tuple(
        Row(name, "word", tuple(map(_dollars, (one.low, one.middle, one.high, point))))
        for name, (point, one) in found.items()
    )
    return Table(("low (P10)", "middle (P50)", "high (P90)", "as entered"), rows, head="A month on")


def _dollars(usd: float) -> str:
    """Whole dollars where there are some: a range has no cents."""
    return f"${usd:,.0f}" if usd >= _WHOLE else str(quantities.shown(usd, "$"))


def sentence(found: Mapping[str, tuple[float, Spread]]) -> str:
    """The first way in words, and the one that costs least at the median."""
    name, (_, one) = next(iter(found.items()))
    low, middle, high = map(_dollars, (one.low, one.middle, one.high))
    said = f"On {name} a month costs {middle} at the median, and {low} to {high} in eight of ten draws."
    least = min(found, key=lambda way: found[way][1].middle)
    if least == name:
        return f"{said} None of the others costs less."
    return f"{said} Least at the median costs {least}, {_dollars(found[least][1].middle)}."


def still(found: Mapping[str, tuple[float, Spread]]) -> str:
    """Which ways have no spread, and why; empty where all have one."""
    named = [name for name, (_, one) in found.items() if one.low == one.high]
    if not named:
        return ""
    return (
        f"No range moves {' or '.join(named)}: enter one of its prices, as in server_usd ±25%, or a wider one of use."
    )


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
