"""The same feature on other models: what a month costs there, and which are left out."""

from dataclasses import dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.money.rates import PriceList
from inferdash.pricing import feature
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import session
from inferdash.studies.price.api import compared_with, unpriced
from inferdash.studies.price.session import sessions_a_month

_ROOM: Final = 1.2
"""What a chart of bars keeps free for the labels at their ends, as a multiple of the longest."""


def longest_request(scenario: Scenario) -> int:
    """Tokens of the longest prompt with its answer, which a model's context must hold."""
    turns = session.turns(scenario, scenario.price, "none")
    return max(round(turn.input + turn.output) for turn in turns)


def too_long(scenario: Scenario) -> str:
    """That the scenario's model does not hold the longest request, in words; empty where it does."""
    longest, context = longest_request(scenario), scenario.architecture.context
    if not context or longest <= context:
        return ""
    name = scenario.architecture.name
    return f"{name} supports {context:,} tokens, and the longest request here has {longest:,}: choose another model"


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
            turns = session.turns(other, price, session.marking(other, price))
            whole = feature.total(turns)
            usd = session.usd(turns, price) * sessions_a_month(scenario)
            found.append(Compared(price, usd, whole.read / whole.input if whole.input else 0.0))
    return sorted(found, key=lambda one: one.month_usd)


def _is_too_short(price: PriceList, longest: int) -> bool:
    return price.context is not None and price.context < longest


def table(scenario: Scenario, found: list[Compared]) -> Table:
    """The same feature on other models at the prices of the same day."""
    rows = (
        Row(
            one.price.name,
            "word",
            (
                str(quantities.shown(one.month_usd, "$")),
                str(quantities.shown(one.month_usd / (session.requests_a_month(scenario) or 1) * 1000, "$")),
                quantities.percent(one.read_share),
                _rates_shown(one.price),
                f"{one.price.context:,}" if one.price.context else "not known",
            ),
        )
        for one in found
    )
    columns = ("a month", "a thousand requests", "cached", "input / output, a million", "context")
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
        said.append(
            f"Left out, as the longest request here has {quantities.count(longest, 'token')}: {', '.join(short)}."
        )
    return said


def chart_rows(found: list[Compared]) -> list[dict[str, Any]]:
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
