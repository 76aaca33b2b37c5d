"""What becomes of the month: with growth, with a price that users pay, and with a quarter more or less of an input."""

from typing import Any, Final

from inferdash import quantities
from inferdash.pricing import feature
from inferdash.scenario import Scenario, counts
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price.feature_cost import FeatureCost, months
from inferdash.studies.price.session import month_usd

_QUARTER: Final = 0.25


def growth_table(scenario: Scenario, result: FeatureCost) -> Table:
    """A month at more use, and twelve months with the growth."""
    last = months(scenario)[-1]
    return Table(
        ("dollars", "times now"),
        tuple(
            Row(label, "word", (str(quantities.shown(usd, "$")), quantities.times(usd / result.month_usd)))
            for label, usd in (
                ("A month now", result.month_usd),
                ("A month at twice the usage", result.month_twofold_usd),
                ("A month at ten times the usage", result.month_tenfold_usd),
                (f"The twelfth month, {scenario.growth:g}% growth a month", last),
                (f"Twelve months of {feature.DAYS} days together", result.year_usd),
            )
            if result.month_usd
        ),
        head="Use",
    )


_DRIVERS: Final[dict[str, str]] = {
    "users": "users",
    "volume": "requests",
    "sessions": "sessions",
    "turns": "turns",
    "answer": "answer",
    "question": "message",
    "system_tokens": "system prompt",
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
        return month_usd(scenario.model_copy(update={name: changed}))

    rows: list[dict[str, Any]] = []
    for name, label in _DRIVERS.items():
        if not counts(name, scenario):
            continue
        less, more = moved(name, 1 - _QUARTER), moved(name, 1 + _QUARTER)
        if abs(more - less) > 1e-4 * max(result.month_usd, 1e-9):
            rows.append({"input": label, "less": less, "more": more, "meaning": "money"})
    return {
        "drivers": sorted(rows, key=lambda row: -abs(row["more"] - row["less"])),
        "now": [{"usd": result.month_usd}],
    }


def margin_sentence(scenario: Scenario, result: FeatureCost) -> str:
    """What is left of a price per user."""
    if result.per_user_month_usd is None:
        return "Enter usage as users to see the margin."
    if not scenario.user_price:
        return "Enter what a user pays per month to see the margin."
    left = scenario.user_price - result.per_user_month_usd
    share = quantities.percent(abs(left) / scenario.user_price)
    if left < 0:
        return f"Each user loses {quantities.shown(-left, '$')} a month, {share} of the price."
    return f"Of each user's {quantities.shown(scenario.user_price, '$')} remain {quantities.shown(left, '$')}, {share}."
