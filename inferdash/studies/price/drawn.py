"""The ranged inputs of a feature as draws, and the month on an API as a function of them."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

import numpy as np
from annotated_types import Ge, Le

from inferdash import quantities
from inferdash.formula import Number
from inferdash.pricing import feature
from inferdash.pricing.many_sessions import session_usd
from inferdash.pricing.ranges import COUNT, Draws, Spread, spread, uniforms
from inferdash.scenario import FIELDS, Scenario, is_whole
from inferdash.studies.price import session
from inferdash.studies.price.purchase import price_of_gpu


def draws(scenario: Scenario, *, count: int = COUNT) -> dict[str, Draws]:
    """Name of each ranged input -> its draws, whole where the field is, within its bounds."""
    ranged = scenario.ranged
    found = {}
    for name, uniform in uniforms(tuple(ranged), seed=scenario.seed, count=count).items():
        drawn = ranged[name].drawn(point(scenario, name), uniform)
        least, most = _bounds(name)
        drawn = np.clip(drawn, least, most)
        found[name] = np.rint(drawn) if is_whole(name) else drawn
    return found


def point(scenario: Scenario, name: str) -> float:
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

        sessions = sessions_of(scenario, of)
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


def sessions_of(scenario: Scenario, of: Callable[[str], Number]) -> Number:
    """Sessions of a month, by how the use is entered."""
    match scenario.use_as:
        case "month":
            return of("volume") / of("turns")
        case "day":
            return of("volume") * feature.DAYS / of("turns")
    return of("users") * of("sessions") * feature.DAYS


_WHOLE: Final = 100
"""Dollars from which on cents are not told."""


def dollars(usd: float) -> str:
    """Whole dollars where there are some: a range has no cents."""
    return f"${usd:,.0f}" if usd >= _WHOLE else str(quantities.shown(usd, "$"))


@lru_cache(maxsize=64)
def spread_of_month(scenario: Scenario) -> Spread:
    """Where the dollars of a month on the scenario's API lie."""
    return spread(np.broadcast_to(month(scenario)(draws(scenario)), COUNT))
