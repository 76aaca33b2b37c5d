"""The sessions of a feature on an API: how many, what their prompts are billed, and how far marking them pays."""

from collections.abc import Sequence
from typing import Any, Final

from inferdash.facts.money.rates import PriceList
from inferdash.pricing import feature
from inferdash.pricing.feature import MARKINGS, Cache, Prompt, Turn, Turns
from inferdash.scenario import OWN, Scenario, counts
from inferdash.studies.price.api import resolved, rules_of

PARTS: Final = ("tools", "system prompt", "facts about the user", "documents", "history", "question")
"""Parts of a prompt, in their order."""
MARKED: Final = {
    "all": "the whole prompt",
    "session": "all but history and question",
    "shared": "the system prompt only",
    "none": "nothing",
}
"""How far a prompt is marked, in words."""


def requests_a_month(scenario: Scenario) -> float:
    """Requests of all users in a month."""
    match scenario.use_as:
        case "month":
            return float(scenario.volume)
        case "day":
            return float(scenario.volume * feature.DAYS)
    return sessions_a_month(scenario) * scenario.turns


def sessions_a_month(scenario: Scenario) -> float:
    """Sessions of all users in a month."""
    if scenario.use_as == "users":
        return scenario.users * scenario.sessions * feature.DAYS
    return requests_a_month(scenario) / scenario.turns


def units(scenario: Scenario) -> float:
    """What the use is counted in: users, or requests a month."""
    return scenario.users if scenario.use_as == "users" else requests_a_month(scenario)


def cache_of(scenario: Scenario, price: PriceList, *, lifetime: int = 0) -> Cache | None:
    """The rules of the API's cache; None where none are known."""
    if price.provider and rules_of(price) is None:
        return None
    rules = resolved(scenario, lifetime=lifetime)
    return Cache(rules.minimum, rules.increment, rules.lifetime, rules.renewed)


def turns_of(scenario: Scenario) -> Turns:
    """What a session is made of."""
    return Turns(
        shared=scenario.tools_tokens + scenario.system_tokens,
        own=scenario.user_tokens + scenario.documents_tokens,
        message=scenario.question,
        answer=scenario.answer,
        thinking=scenario.reasoning,
        turns=scenario.turns,
        history_limit=scenario.history,
        gap_s=scenario.gap,
        spread=scenario.spread,
    )


def _requests_a_day(scenario: Scenario, times: float) -> float:
    if scenario.use_as == "users":
        return scenario.users * scenario.sessions * scenario.turns * times
    return requests_a_month(scenario) / feature.DAYS * times


def _asked(scenario: Scenario, price: PriceList, marked: str, lifetime: int, times: float) -> dict[str, Any]:
    uncached = marked == "none"
    return {
        "plan": turns_of(scenario),
        "cache": None if uncached else cache_of(scenario, price, lifetime=lifetime),
        "requests_per_day": _requests_a_day(scenario, times),
        "known_share": scenario.read_share if scenario.share_known and not uncached else None,
        "marked": marked,
    }


def prompts(scenario: Scenario, price: PriceList, marked: str) -> list[Prompt]:
    """The prompts of a session, marked so far; "none" is without a cache."""
    return feature.prompts(**_asked(scenario, price, marked, 0, 1))


def turns(scenario: Scenario, price: PriceList, marked: str, *, lifetime: int = 0, times: float = 1) -> list[Turn]:
    """Expected tokens of each turn of a session.

    Args:
        scenario: the feature.
        price: of its API.
        marked: how far prompts are marked; "none" is without a cache.
        lifetime: which of the API's lifetimes, the usual one first.
        times: the use, as a multiple of the scenario's.
    """
    return feature.session(**_asked(scenario, price, marked, lifetime, times))


def usd_by_kind(turn: Turn, price: PriceList, *, long: bool = False) -> dict[str, float]:
    """Dollars of a turn by kind of token, at the rates of its size; `long`: stored at the price of the longer time."""
    rates = price.for_input(round(turn.input))
    return {
        "fresh": turn.fresh * float(rates.of("fresh")) / 1e6,
        "stored": turn.written * float(rates.of("written_long" if long else "written")) / 1e6,
        "read": turn.read * float(rates.of("read")) / 1e6,
        "output": turn.output * float(rates.of("output")) / 1e6,
    }


def usd(found: Sequence[Turn], price: PriceList) -> float:
    """Dollars of a session."""
    return sum(sum(usd_by_kind(turn, price).values()) for turn in found)


def is_markable(scenario: Scenario) -> bool:
    """Whether how far a prompt is marked is the reader's to say; else the API caches by itself."""
    return counts("marked", scenario) and not scenario.share_known


def best_marking(scenario: Scenario, price: PriceList) -> str:
    """The marking of the least cost; the shorter one where two cost the same."""
    costs = {marked: usd(turns(scenario, price, marked), price) for marked in reversed(MARKINGS)}
    least = min(costs.values())
    return next(marked for marked, cost in costs.items() if cost <= least * (1 + 1e-9))


def marking(scenario: Scenario, price: PriceList) -> str:
    """How far the scenario's prompts are marked."""
    if not is_markable(scenario):
        return "all"
    return best_marking(scenario, price) if scenario.marked == "best" else scenario.marked


def month_usd(scenario: Scenario, *, times: float = 1, marked: str = "") -> float:
    """Dollars of a month, at a multiple of the use; marked as the scenario says unless said."""
    price = scenario.price
    found = turns(scenario, price, marked or marking(scenario, price), times=times)
    return usd(found, price) * sessions_a_month(scenario) * times


def service(scenario: Scenario) -> str:
    """The service in words, to stand behind the API's name; nothing for the standard one."""
    if scenario.api == OWN:
        return ""
    words = {"batch": " as a batch", "flex": " with flex service", "priority": " with priority service"}
    return words.get(scenario.service, "")
