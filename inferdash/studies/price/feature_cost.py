"""What a feature costs in a month on an API, what caching saves of it, and when own accelerators pay."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import ceil
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.prices import PriceList, Rates
from inferdash.formula import section
from inferdash.pricing import feature
from inferdash.pricing.feature import Cache, Turn, Turns
from inferdash.scenario import OWN, Scenario
from inferdash.studies.check import own_accelerators
from inferdash.studies.check.own_accelerators import Own
from inferdash.studies.numbers import Headline, Row, Table, number, part
from inferdash.studies.price.api import compared_with, known_price, resolved, rules_of, unpriced

NAME: Final = "feature_cost"
TITLE: Final = "Price a feature"
_ROOM: Final = 1.2
"""What a chart of bars keeps free for the labels at their ends, as a multiple of the longest."""
_QUARTER: Final = 0.25


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

    per_turn_usd: float = number("$", "a turn, on average")
    per_session_usd: float = number("$", "a session")
    per_user_month_usd: float = number("$", "a user and month")
    month_usd: float = number("$", "all users and a month")
    month_without_cache_usd: float = number("$", "the same without a cache")
    month_tenfold_usd: float = number("$", "a month at ten times the users")
    read_share: float = number("%", "of the input is read from a cache")
    tokens: TokensOfAMonth = part("a month")
    own: Own = part("on own accelerators (limit)")
    own_expected: Own = part("on own accelerators (expected)")
    break_even: float | None = number("users", "from which own accelerators cost less (expected); None: never")


def study(scenario: Scenario) -> FeatureCost:
    """The numbers of the page for a scenario."""
    price = scenario.price
    with section("Requests"):
        requests = feature.requests_a_day(users=scenario.users, sessions_a_day=scenario.sessions, turns=scenario.turns)
    turns = _session(scenario, price)
    session_usd, plain_usd = (_usd(one, price) for one in (turns, _session(scenario, price, cached=False)))
    sessions = _sessions(scenario)
    whole = feature.total(turns)
    month = session_usd * sessions
    with section("Own accelerators, limit"):
        own = own_accelerators.own(scenario, whole, float(requests), month, at_limit=True)
    with section("Own accelerators, expected"):
        own_expected = own_accelerators.own(scenario, whole, float(requests), month, at_limit=False)
    return FeatureCost(
        per_turn_usd=session_usd / scenario.turns,
        per_session_usd=session_usd,
        per_user_month_usd=session_usd * scenario.sessions * feature.DAYS,
        month_usd=month,
        month_without_cache_usd=plain_usd * sessions,
        month_tenfold_usd=_month(scenario.model_copy(update={"users": 10 * scenario.users})),
        read_share=whole.read / whole.input if whole.input else 0.0,
        tokens=TokensOfAMonth(*(sessions * count for count in (whole.fresh, whole.written, whole.read, whole.output))),
        own=own,
        own_expected=own_expected,
        break_even=own_expected.break_even,
    )


def _cache(scenario: Scenario, price: PriceList) -> Cache | None:
    """The rules of the API's cache; None where none are known."""
    if price.provider and rules_of(price) is None:
        return None
    rules = resolved(scenario)
    return Cache(rules.minimum, rules.increment, rules.lifetime, rules.renewed)


def _turns(scenario: Scenario) -> Turns:
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


def _session(scenario: Scenario, price: PriceList, *, cached: bool = True) -> list[Turn]:
    requests = scenario.users * scenario.sessions * scenario.turns
    cache = _cache(scenario, price) if cached else None
    known = scenario.read_share if scenario.share_known else None
    return feature.session(_turns(scenario), cache, requests_per_day=requests, known_share=known)


def _sessions(scenario: Scenario) -> float:
    """Sessions of all users in a month."""
    return scenario.users * scenario.sessions * feature.DAYS


def _usd(turns: list[Turn], price: PriceList) -> float:
    return sum(sum(_parts(turn, price).values()) for turn in turns)


def _parts(turn: Turn, price: PriceList) -> dict[str, float]:
    """Dollars of a turn by kind of token, at the rates of its size."""
    rates = price.for_input(round(turn.input))
    return {
        "fresh": turn.fresh * float(rates.of("fresh")) / 1e6,
        "stored": turn.written * float(rates.of("written")) / 1e6,
        "read": turn.read * float(rates.of("read")) / 1e6,
        "output": turn.output * float(rates.of("output")) / 1e6,
    }


def _month(scenario: Scenario) -> float:
    price = scenario.price
    return _usd(_session(scenario, price), price) * _sessions(scenario)


def sentence(scenario: Scenario, result: FeatureCost) -> str:
    """The result in words; a loss is called a loss."""
    users = quantities.count(scenario.users, "user")
    month, each = (quantities.shown(usd, "$") for usd in (result.month_usd, result.per_user_month_usd))
    said = f"{users} cost {month} a month on {_name(scenario)}, {each} each"
    if not result.month_without_cache_usd:
        return f"{said}."
    saved = 1 - result.month_usd / result.month_without_cache_usd
    if abs(saved) < 0.005:  # noqa: PLR2004 - what rounds to nothing
        return f"{said}; caching changes nothing."
    if saved > 0:
        return f"{said}; caching saves {quantities.percent(saved)}."
    return f"{said}; caching costs {quantities.percent(-saved)} more than none, a loss."


def _name(scenario: Scenario) -> str:
    return "your own prices" if scenario.api == OWN else scenario.price.name


def headline_numbers(result: FeatureCost) -> list[Headline]:
    """The four numbers on top."""
    return [
        Headline("A month, all users", result.month_usd, "$"),
        Headline("A user and month", result.per_user_month_usd, "$"),
        Headline("A session", result.per_session_usd, "$"),
        Headline("Read from the cache, of the input", result.read_share, "%"),
    ]


def subject(scenario: Scenario) -> str:
    """The feature in a line."""
    turns, users = quantities.count(scenario.turns, "turn"), quantities.count(scenario.users, "user")
    sessions = f"{scenario.sessions:g} session{'' if scenario.sessions == 1 else 's'} a day of {turns}"
    day = "" if scenario.api == OWN else f", prices of {scenario.prices}"
    return f"{users}, {sessions} on {_name(scenario)}{day}"


def legend() -> str:
    """What the parts of the bars are, from the left."""
    return "From the left: fresh input, input stored in the cache, input read from it, output. Point at a part for it."


def answer_sentence(scenario: Scenario) -> str:
    """What the sidebar gives to this page."""
    thinking = f" after {quantities.count(scenario.reasoning, 'token')} of thinking" if scenario.reasoning else ""
    answer = quantities.count(scenario.answer, "token")
    return f"Each answer has {answer}{thinking}, as set under “Workload” and on the page “Compute vs memory”."


_COLOURS: Final = {"fresh": "compute", "stored": "memory", "read": "cache", "output": "money"}


def bar_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Dollars of a month by kind of token, with and without a cache."""
    price = scenario.price
    sessions = _sessions(scenario)
    rows = []
    for way, cached in (("with the cache", True), ("without", False)):
        start = 0.0
        for kind, meaning in _COLOURS.items():
            usd = sessions * sum(_parts(turn, price)[kind] for turn in _session(scenario, price, cached=cached))
            label = f"{kind} {quantities.shown(usd, '$')}"
            rows.append(
                {"way": way, "kind": kind, "meaning": meaning, "start": start, "end": start + usd, "label": label}
            )
            start += usd
    return {"bars": rows}


def cost_table(result: FeatureCost) -> Table:
    """Tokens and dollars by turn, session, user and month."""
    return Table(
        ("dollars",),
        (
            Row("A turn", "$", (result.per_turn_usd,)),
            Row("A session", "$", (result.per_session_usd,)),
            Row("A user and month", "$", (result.per_user_month_usd,)),
            Row("All users and a month", "$", (result.month_usd,)),
            Row("The same without a cache", "$", (result.month_without_cache_usd,)),
            Row("A month at ten times the users", "$", (result.month_tenfold_usd,)),
        ),
        head="Cost",
    )


def token_table(scenario: Scenario, result: FeatureCost) -> Table:
    """Tokens of a turn, a session and a month by what they are billed as."""
    sessions = _sessions(scenario)

    def row(label: str, month: float) -> Row:
        session = month / sessions if sessions else 0.0
        return Row(label, "tokens", (session / scenario.turns, session, month))

    found = result.tokens
    return Table(
        ("a turn", "a session", "a month"),
        (
            row("Fresh", found.fresh),
            row("Stored in a cache", found.written),
            row("Read from a cache", found.read),
            row("Output, thinking included", found.output),
        ),
        head="Tokens",
    )


_DRIVERS: Final[dict[str, str]] = {
    "users": "users",
    "sessions": "sessions",
    "turns": "turns",
    "answer": "answer",
    "question": "message",
    "system_tokens": "system turn",
    "tools_tokens": "tools",
    "documents_tokens": "documents",
    "gap": "time between turns",
    "reasoning": "thinking",
}


def driver_rows(scenario: Scenario, result: FeatureCost) -> dict[str, list[dict[str, Any]]]:
    """What a quarter more or less of each input does to the month, the largest first."""

    def moved(name: str, factor: float) -> float:
        value = getattr(scenario, name) * factor
        changed = max(1, round(value)) if isinstance(getattr(scenario, name), int) and name != "reasoning" else value
        changed = round(value) if name == "reasoning" else changed
        return _month(scenario.model_copy(update={name: changed}))

    rows: list[dict[str, Any]] = []
    for name, label in _DRIVERS.items():
        less, more = moved(name, 1 - _QUARTER), moved(name, 1 + _QUARTER)
        if abs(more - less) > 1e-4 * max(result.month_usd, 1e-9):
            rows.append({"input": label, "less": less, "more": more, "meaning": "money"})
    return {
        "drivers": sorted(rows, key=lambda row: -abs(row["more"] - row["less"])),
        "now": [{"usd": result.month_usd}],
    }


def longest_request(scenario: Scenario) -> int:
    """Tokens of the longest prompt with its answer, which a model's context must hold."""
    turns = _session(scenario, scenario.price, cached=False)
    return max(round(turn.input + turn.output) for turn in turns)


@dataclass(frozen=True)
class Compared:
    """The feature on one of the models that are compared."""

    price: PriceList
    month_usd: float
    read_share: float


def compared(scenario: Scenario) -> list[Compared]:
    """The feature on each model that has a price and holds the longest request, the cheapest first."""
    longest = longest_request(scenario)
    found = []
    for price, other in compared_with(scenario):
        if not _is_too_short(price, longest):
            turns = _session(other, price)
            whole = feature.total(turns)
            month_usd = _usd(turns, price) * _sessions(scenario)
            found.append(Compared(price, month_usd, whole.read / whole.input if whole.input else 0.0))
    return sorted(found, key=lambda one: one.month_usd)


def _is_too_short(price: PriceList, longest: int) -> bool:
    return price.context is not None and price.context < longest


def model_table(scenario: Scenario, found: list[Compared]) -> Table:
    """The same feature on other models at the prices of the same day."""
    rows = (
        Row(
            one.price.name,
            "word",
            (
                str(quantities.shown(one.month_usd, "$")),
                str(quantities.shown(one.month_usd / scenario.users, "$")),
                quantities.percent(one.read_share),
                _rates_shown(one.price),
                f"{one.price.context:,}" if one.price.context else "not known",
            ),
        )
        for one in found
    )
    columns = ("a month", "a user", "read", "input / output, a million", "context")
    return Table(columns, tuple(rows), head="Model")


def _rates_shown(price: PriceList) -> str:
    shown = f"${price.rates.input} / ${price.rates.output}"
    for tier in price.tiers:
        shown += f"; over {_short(tier.above)} ${tier.rates.input} / ${tier.rates.output}"
    return shown


def left_out(scenario: Scenario) -> list[str]:
    """Which models are not compared, and why, in sentences."""
    longest = longest_request(scenario)
    short = [price.name for price, _ in compared_with(scenario) if _is_too_short(price, longest)]
    said = [unpriced(scenario)] if unpriced(scenario) else []
    if short:
        said.append(f"Left out, as the longest request has {quantities.count(longest, 'token')}: {', '.join(short)}.")
    return said


def model_rows(found: list[Compared]) -> list[dict[str, Any]]:
    """Dollars of a month on each model, with the longest prompt that it takes where that is known."""
    most = max((one.month_usd for one in found), default=0.0)
    return [
        {
            "name": one.price.name,
            "usd": one.month_usd,
            "room": _ROOM * most,
            "context": _short(one.price.context) if one.price.context else "",
            "meaning": "money",
        }
        for one in found
    ]


def _short(tokens: int) -> str:
    """262,144 is "262k", 1,048,576 is "1.05M"."""
    size, letter = (1e6, "M") if tokens >= 1e6 else (1e3, "k")  # noqa: PLR2004 - a million
    return f"{quantities.digits(tokens / size)}{letter}"


def own_sentence(scenario: Scenario, result: FeatureCost) -> str:
    """When own accelerators pay, as expected of the engine, or why never; and whether the model holds the request."""
    name, chip, own = scenario.architecture.name, scenario.hardware.name, result.own_expected
    longest, context = longest_request(scenario), scenario.architecture.context
    held = (
        f" But {name} was made for {context:,} tokens, and the longest request here has {longest:,}: choose another."
        if context and longest > context
        else ""
    )
    if own.gpus is None or own.month_usd is None:
        return f"{name} on {chip} cannot serve this feature: it does not fit, or its peak is not published.{held}"
    gpus = quantities.count(own.gpus, "GPU")
    rent = quantities.shown(own.month_usd, "$")
    said = f"{name} on own {chip} is expected to take {gpus} in the busiest hour, {rent} a month"
    if own.break_even is None:
        why = "as the accelerators cost more for each user than the API"
        return f"{said}; at these prices it never pays, {why}.{held}"
    return f"{said}; it pays from {quantities.count(ceil(own.break_even), 'user')} on.{held}"


def margin_sentence(scenario: Scenario, result: FeatureCost) -> str:
    """What is left of a price per user."""
    if not scenario.user_price:
        return "Enter what a user pays in a month to see the margin."
    left = scenario.user_price - result.per_user_month_usd
    share = quantities.percent(abs(left) / scenario.user_price)
    if left < 0:
        return f"Each user loses {quantities.shown(-left, '$')} a month, {share} of the price."
    return f"Of each user's {quantities.shown(scenario.user_price, '$')} remain {quantities.shown(left, '$')}, {share}."


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
    was, is_now = (quantities.shown(_month(one), "$") for one in (scenario, now))
    return f"At the prices of {scenario.prices} {was}, at today's {is_now}: {', '.join(changed)} a million."
