"""What a feature costs in a month on an API, what caching saves of it, and when own accelerators pay."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import ceil
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.money.rates import PriceList, Rates
from inferdash.formula import remembered, section
from inferdash.pricing import feature
from inferdash.scenario import OWN, Scenario
from inferdash.studies import ratios
from inferdash.studies.check import own_accelerators
from inferdash.studies.check.own_accelerators import Own
from inferdash.studies.numbers import Headline, Row, Table, number, part
from inferdash.studies.price import other_models, rented, session
from inferdash.studies.price.api import known_price, rules_of
from inferdash.studies.price.drawn import dollars, spread_of_month
from inferdash.studies.price.session import month_usd, sessions_a_month

NAME: Final = "feature_cost"
TITLE: Final = "Price a feature"


@dataclass(frozen=True)
class TokensOfAMonth:
    """Tokens of all users in a month, by what they are billed as."""

    fresh: float = number("tokens", "fresh")
    written: float = number("tokens", "stored")
    read: float = number("tokens", "read")
    output: float = number("tokens", "output")


@dataclass(frozen=True)
class FeatureCost:
    """Every headline number of the page."""

    per_turn_usd: float = number("$", "per turn, on average")
    per_session_usd: float = number("$", "per session")
    per_user_month_usd: float | None = number("$", "per user per month")
    month_usd: float = number("$", "all users, per month, on the API")
    month_without_cache_usd: float = number("$", "the same without a cache")
    month_twofold_usd: float = number("$", "a month at twice the usage")
    month_tenfold_usd: float = number("$", "a month at ten times the usage")
    year_usd: float = number("$", "twelve months with growth")
    read_share: float = number("%", "of the input is cached")
    tokens: TokensOfAMonth = part("a month")
    own: Own = part("on own accelerators (limit)")
    own_expected: Own = part("on own accelerators (expected)")
    break_even: float | None = number(
        "users", "or requests per month from which own accelerators cost less (expected); not known where they never do"
    )


@remembered
def study(scenario: Scenario) -> FeatureCost:
    """The numbers of the page for a scenario."""
    price = scenario.price
    with section("Requests"):
        requests = (
            feature.requests_a_day(users=scenario.users, sessions_a_day=scenario.sessions, turns=scenario.turns)
            if scenario.use_as == "users"
            else session.requests_a_month(scenario) / feature.DAYS
        )
    turns = session.turns(scenario, price, session.marking(scenario, price))
    session_usd, plain_usd = (session.usd(one, price) for one in (turns, session.turns(scenario, price, "none")))
    sessions = sessions_a_month(scenario)
    whole = feature.total(turns)
    month, units = session_usd * sessions, session.units(scenario)
    with section("Own accelerators, limit"):
        own = own_accelerators.own(scenario, whole, float(requests), month, units=units, at_limit=True)
    with section("Own accelerators, expected"):
        own_expected = own_accelerators.own(scenario, whole, float(requests), month, units=units, at_limit=False)
    return FeatureCost(
        per_turn_usd=session_usd / scenario.turns,
        per_session_usd=session_usd,
        per_user_month_usd=(session_usd * scenario.sessions * feature.DAYS if scenario.use_as == "users" else None),
        month_usd=month,
        month_without_cache_usd=plain_usd * sessions,
        month_twofold_usd=month_usd(scenario, times=2),
        month_tenfold_usd=month_usd(scenario, times=10),
        year_usd=sum(months(scenario)) if scenario.growth else MONTHS * month,
        read_share=whole.read / whole.input if whole.input else 0.0,
        tokens=TokensOfAMonth(*(sessions * count for count in (whole.fresh, whole.written, whole.read, whole.output))),
        own=own,
        own_expected=own_expected,
        break_even=own_expected.break_even,
    )


MOST_BESIDE: Final = 3
"""APIs that stand side by side at most."""
MONTHS: Final = 12
"""Months for which growth is shown."""


def months(scenario: Scenario) -> list[float]:
    """Dollars of twelve months, the first at the scenario's use."""
    return [month_usd(scenario, times=(1 + scenario.growth / 100) ** month) for month in range(MONTHS)]


def sentence(scenario: Scenario, result: FeatureCost) -> str:
    """The result in words; a loss is called a loss."""
    if rented.chosen(scenario):
        elsewhere = f"{_where(scenario)} it would be {quantities.shown(result.month_usd, '$')}"
        own, use = _own(scenario, result), _use(scenario)
        return rented.sentence(scenario, own, use=use, elsewhere=elsewhere, too_long=other_models.too_long(scenario))
    month = quantities.shown(result.month_usd, "$")
    each_month = "" if scenario.use_as == "month" else " a month"
    said = f"{_use(scenario)} cost {month}{each_month} {_where(scenario)}{session.service(scenario)}"
    if result.per_user_month_usd is not None:
        said = f"{said}, {quantities.shown(result.per_user_month_usd, '$')} each"
    if scenario.ranges and (spread := _spread(scenario)):
        said = f"{said}; {spread}"
    if not result.month_without_cache_usd:
        return f"{said}."
    return f"{said}; {_caching(scenario, result)}."


def _spread(scenario: Scenario) -> str:
    """Where the month lies, in words; nothing where its ranges do not move it."""
    found = spread_of_month(scenario)
    low, middle, high = map(dollars, (found.low, found.middle, found.high))
    return "" if low == high else f"over its ranges {middle} at the median (P10 to P90: {low} to {high})"


def _caching(scenario: Scenario, result: FeatureCost) -> str:
    """What caching as it is marked saves, and what it could, in words."""
    price, plain = scenario.price, result.month_without_cache_usd
    saved = 1 - result.month_usd / plain
    marked, best = session.marking(scenario, price), ""
    how = f" {session.MARKED[marked]}" if session.is_markable(scenario) and marked in {"shared", "session"} else ""
    if session.is_markable(scenario):
        other = session.best_marking(scenario, price)
        could = 1 - month_usd(scenario, marked=other) / plain
        if could > saved + _LEAST:
            best = f"; for {session.MARKED[other]} it would save {quantities.percent(could)}"
    if abs(saved) < _LEAST:
        if price.provider and rules_of(price) is None and not scenario.share_known:
            return "caching is not counted, as its cache rules are not known"
        why = f", as {why_nothing(scenario, price, read_share=result.read_share)}" if not best else ""
        return f"caching saves nothing{why}{best}"
    if saved > 0:
        return f"caching{how} saves {quantities.percent(saved)}{best}"
    return f"caching costs {quantities.percent(-saved)} more than no caching, a loss{best}"


_LEAST: Final = 0.005
"""What rounds to nothing."""


def why_nothing(scenario: Scenario, price: PriceList, *, read_share: float) -> str:
    """Why a cache changes nothing, in words."""
    if price.provider and rules_of(price) is None:
        return "its cache rules are not known"
    cache = session.cache_of(scenario, price)
    if session.is_markable(scenario) and session.marking(scenario, price) == "none":
        return "marking any part would cost more" if scenario.marked == "best" else "nothing is marked"
    prompts = session.prompts(scenario, price, "none")
    same = prompts[-2].total if scenario.turns > 1 else scenario.tools_tokens + scenario.system_tokens
    if cache is not None and same < cache.minimum:
        return f"the {same:,} tokens that prompts share are fewer than the minimum of {cache.minimum:,}"
    if read_share < _LEAST:
        return "no prompt comes before its prefix expires"
    return "writing to the cache costs what reading saves"


def unit(scenario: Scenario) -> str:
    """What the use is counted in."""
    return "user" if scenario.use_as == "users" else "request a month"


def _use(scenario: Scenario) -> str:
    """Users, or requests, in words."""
    if scenario.use_as == "users":
        return quantities.count(scenario.users, "user")
    return f"{quantities.count(scenario.volume, 'request')} a {scenario.use_as}"


def _where(scenario: Scenario) -> str:
    return "at your own prices" if scenario.api == OWN else f"on {scenario.price.name}"


def _own(scenario: Scenario, result: FeatureCost) -> Own:
    """The feature on rented accelerators, as the scenario shows speeds."""
    return result.own if scenario.speed == "limit" else result.own_expected


def rented_gpus(scenario: Scenario, result: FeatureCost) -> int | None:
    """Rented accelerators that the busiest hour takes; None where they cannot serve it."""
    return _own(scenario, result).gpus


def headline_numbers(scenario: Scenario, result: FeatureCost) -> list[Headline]:
    """The four numbers on top."""
    if rented.chosen(scenario):
        requests = sessions_a_month(scenario) * scenario.turns
        return rented.headline_numbers(scenario, _own(scenario, result), requests=requests)
    return [
        Headline("A month", result.month_usd, "$", ratio=ratios.MONTH),
        Headline("A request", result.per_turn_usd, "$", ratio=ratios.REQUEST)
        if result.per_user_month_usd is None
        else Headline(
            "Per user per month",
            result.per_user_month_usd,
            "$",
            ratio=ratios.USER,
        ),
        Headline(
            "Without caching",
            result.month_without_cache_usd,
            "$",
            ratio=ratios.cost("a month without caching costs {}", told_by="A month"),
        ),
        Headline("Cached share of input", result.read_share, "%"),
    ]


def subject(scenario: Scenario) -> str:
    """The feature in a line."""
    turns = quantities.count(scenario.turns, "turn")
    if scenario.use_as == "users":
        sessions = f"{scenario.sessions:g} session{'' if scenario.sessions == 1 else 's'} a day of {turns}"
    else:
        sessions = f"sessions of {turns}"
    if rented.chosen(scenario):
        machine = f"{scenario.architecture.name} on rented {scenario.hardware.name}"
        return f"{_use(scenario)}, {sessions}, {machine} at ${scenario.rent:g} a GPU-hour"
    day = "" if scenario.api == OWN else f", prices of {scenario.prices}"
    return f"{_use(scenario)}, {sessions} {_where(scenario)}{session.service(scenario)}{day}"


def answer_sentence(scenario: Scenario) -> str:
    """What each answer has, as other pages say it too."""
    thinking = f" after {quantities.count(scenario.reasoning, 'token')} of thinking" if scenario.reasoning else ""
    return f"Each answer has {quantities.count(scenario.answer, 'token')}{thinking}."


KINDS: Final = {
    "fresh": ("input", "compute"),
    "stored": ("cache write", "memory"),
    "read": ("cached input", "cache"),
    "output": ("output", "money"),
}
"""Kind of token -> what it is called, and the meaning of its colour."""


def bars_of(ways: dict[str, dict[str, float]]) -> dict[str, list[dict[str, Any]]]:
    """Dollars by kind of token in each way, one after another."""
    rows = []
    for way, kinds in ways.items():
        start = 0.0
        for kind, (name, meaning) in KINDS.items():
            end = start + kinds[kind]
            label = f"{name} {quantities.shown(kinds[kind], '$')}"
            rows.append({"way": way, "kind": name, "meaning": meaning, "start": start, "end": end, "label": label})
            start = end
    return {"bars": rows}


def kinds_of_a_month(scenario: Scenario, marked: str) -> dict[str, float]:
    """Dollars of a month by kind of token."""
    price, sessions = scenario.price, sessions_a_month(scenario)
    found = [session.usd_by_kind(turn, price) for turn in session.turns(scenario, price, marked)]
    usd = {kind: sessions * sum(turn[kind] for turn in found) for kind in KINDS}
    if price.rates.of("written") == price.rates.input:  # storing is free: what is stored is input like any other
        usd["fresh"], usd["stored"] = usd["fresh"] + usd["stored"], 0.0
    return usd


def bar_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Dollars of a month by kind of token: as it is, with the best marking, without a cache, and as a batch."""
    price = scenario.price
    now = session.marking(scenario, price)
    if rented.chosen(scenario):
        own = _rent_of_a_month(scenario)
        here = {"as it is": own} if any(own.values()) else {}
        return bars_of(here | {"on the API": kinds_of_a_month(scenario, now)})
    ways = {"as it is": kinds_of_a_month(scenario, now)}
    best = session.best_marking(scenario, price)
    if session.is_markable(scenario) and best != now:
        ways["best marking"] = kinds_of_a_month(scenario, best)
    ways["no cache"] = kinds_of_a_month(scenario, "none")
    return bars_of(ways)


def _rent_of_a_month(scenario: Scenario) -> dict[str, float]:
    found = study(scenario)
    whole = found.tokens
    prompt = whole.fresh + whole.written + whole.read
    return rented.kinds(_own(scenario, found), prompt=prompt, output=whole.output)


def cost_table(result: FeatureCost) -> Table:
    """Tokens and dollars by turn, session, user and month."""
    return Table(
        ("dollars",),
        (
            Row("A turn", "$", (result.per_turn_usd,)),
            Row("A session", "$", (result.per_session_usd,)),
            *(
                []
                if result.per_user_month_usd is None
                else [Row("Per user per month", "$", (result.per_user_month_usd,))]
            ),
            Row("A month", "$", (result.month_usd,)),
            Row("The same without caching", "$", (result.month_without_cache_usd,)),
        ),
        head="Cost",
    )


def token_table(scenario: Scenario, result: FeatureCost) -> Table:
    """Tokens of a turn, a session and a month by what they are billed as."""
    sessions = sessions_a_month(scenario)

    def row(label: str, month: float) -> Row:
        session = month / sessions if sessions else 0.0
        return Row(label, "tokens", (session / scenario.turns, session, month))

    found = result.tokens
    return Table(
        ("per turn", "per session", "per month"),
        (
            row("Fresh", found.fresh),
            row("Cache write", found.written),
            row("Cached input", found.read),
            row("Output, thinking included", found.output),
        ),
        head="Tokens",
    )


def own_sentence(scenario: Scenario, result: FeatureCost) -> str:
    """When own accelerators pay, as expected of the engine, or why never; and whether the model holds the request."""
    name, chip, own = scenario.architecture.name, scenario.hardware.name, result.own_expected
    too_long = other_models.too_long(scenario)
    held = f" But {too_long}." if too_long else ""
    if own.gpus is None or own.month_usd is None:
        return f"{name} on {chip} cannot serve this feature: it does not fit, or its peak is not published.{held}"
    gpus = quantities.count(own.gpus, "GPU")
    rent = quantities.shown(own.month_usd, "$")
    said = f"{name} on your own {chip} is expected to need {gpus} in the busiest hour, {rent} a month"
    what, month = ("user", "") if scenario.use_as == "users" else ("request", " a month")
    if own.break_even is None:
        why = f"as the accelerators cost more for each {what} than the API"
        return f"{said}; at these prices it never pays off, {why}.{held}"
    return f"{said}; it pays off from {quantities.count(ceil(own.break_even), what)}{month}.{held}"


def then_and_now(scenario: Scenario, today: date) -> str:
    """What changed since the day of the prices; empty where nothing did, or the prices are the reader's own."""
    if scenario.api == OWN or date.fromisoformat(scenario.prices) == today:
        return ""
    now = scenario.model_copy(update={"prices": today.isoformat()})
    then_price, now_price = scenario.price, known_price(now)
    if now_price is None:
        return ""
    then_rates, now_rates = then_price.rates, now_price.rates
    named: dict[str, Callable[[Rates], Decimal]] = {
        "input": lambda rates: rates.of("fresh"),
        "read": lambda rates: rates.of("read"),
        "write": lambda rates: rates.of("written"),
        "output": lambda rates: rates.of("output"),
    }
    changed = [
        f"{name} ${rate(then_rates)} to ${rate(now_rates)}"
        for name, rate in named.items()
        if rate(then_rates) != rate(now_rates)
    ]
    if not changed:
        return ""
    was, is_now = (quantities.shown(month_usd(one), "$") for one in (scenario, now))
    return f"At the prices of {scenario.prices} {was}, at today's {is_now}: {', '.join(changed)} a million."
