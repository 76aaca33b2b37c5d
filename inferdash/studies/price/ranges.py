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

NOTE: Final = (
    f"{COUNT:,} draws of all ranges together, each independent of the others, always the same ones. P10: one month in "
    "ten costs less; P90: one in ten costs more. Images, tools and agents are not in it."
)
EXAMPLE: Final = "Write ranges as: users 20k..60k, answer ±20%, question 200/400/900 (low, likely, high)."
_BINS: Final = 40


def draws(scenario: Scenario, *, count: int = COUNT) -> dict[str, Draws]:
    """Name of each ranged input -> its draws, whole where the field is, within its bounds."""
    ranged = scenario.ranged
    found = {}
    for name, uniform in uniforms(tuple(ranged), seed=scenario.seed, count=count).items():
        drawn = ranged[name].drawn(float(getattr(scenario, name)), uniform)
        least, most = _bounds(name)
        drawn = np.clip(drawn, least, most)
        found[name] = np.rint(drawn) if is_whole(name) else drawn
    return found


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


def _own(scenario: Scenario, result: FeatureCost) -> Callable[[Mapping[str, Number]], Number] | None:
    """The rent of a month, as a function of the ranged inputs: machines follow requests and tokens of a turn."""
    own = result.own_expected
    if own.gpus is None or own.month_usd is None or not own.utilization:
        return None
    size = scenario.as_run.gpus
    busy = own.utilization * own.gpus / size

    def usd(inputs: Mapping[str, Number]) -> Number:
        def of(name: str) -> Number:
            return inputs.get(name, getattr(scenario, name))

        def requests(get: Callable[[str], Number]) -> Number:
            return _sessions(scenario, get) * get("turns")

        def written(get: Callable[[str], Number]) -> Number:
            return get("answer") + get("reasoning")

        def point(name: str) -> float:
            return float(getattr(scenario, name))

        work = busy * requests(of) / requests(point) * written(of) / max(1, written(point))
        return np.maximum(1.0, np.ceil(work * PEAK)) * of("rent") * size * feature.HOURS

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
    own = _own(scenario, result)
    if own:
        ways[f"{scenario.hardware.name}, rented"] = own
    return {name: (float(np.max(usd({}))), spread(np.broadcast_to(usd(inputs), COUNT))) for name, usd in ways.items()}


def table(found: Mapping[str, tuple[float, Spread]]) -> Table:
    """Low, middle and high of each way, beside the point."""
    rows = tuple(Row(name, "$", (one.low, one.middle, one.high, point)) for name, (point, one) in found.items())
    return Table(("low (P10)", "middle (P50)", "high (P90)", "point estimate"), rows, head="A month on")


def sentence(found: Mapping[str, tuple[float, Spread]]) -> str:
    """The first way in words."""
    name, (_, one) = next(iter(found.items()))
    low, middle, high = (quantities.shown(usd, "$") for usd in (one.low, one.middle, one.high))
    return f"On {name} a month costs {middle} at the median; 80% of draws lie between {low} and {high}."


def shares(scenario: Scenario) -> dict[str, float]:
    """Share of the variance that each range makes on the scenario's API."""
    inputs, usd = draws(scenario, count=4000), month(scenario)
    points = {name: float(getattr(scenario, name)) for name in inputs}
    return variance_shares(inputs, lambda given: np.broadcast_to(usd(given), 4000), points)


def share_sentence(scenario: Scenario) -> str:
    """Which range makes most of the spread."""
    named = [f"{FIELDS[name].title} {quantities.percent(share)}" for name, share in shares(scenario).items()]
    return f"Share of the variance from each input alone: {', '.join(named)}." if named else ""


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
