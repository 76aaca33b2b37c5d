"""A feature on rented accelerators instead of an API: its month, in words, numbers and bars."""

from typing import Final

from inferdash import quantities
from inferdash.scenario import Scenario
from inferdash.studies import ratios
from inferdash.studies.check.own_accelerators import Own
from inferdash.studies.numbers import EXPECTED, Headline

HERE: Final = "rented"
"""The value of `runs_on` that chooses them."""
NOTE: Final = "Sections below the picture are of the API, except “On your own GPUs”."
"""What the page says of the rest of it."""


def chosen(scenario: Scenario) -> bool:
    """Whether the feature runs on them."""
    return scenario.runs_on == HERE


def sentence(scenario: Scenario, own: Own, *, use: str, elsewhere: str, too_long: str = "") -> str:
    """What the month costs on them, and on the API; or that they cannot carry it.

    Args:
        scenario: the scenario.
        own: the requests on its accelerators.
        use: users or requests, in words.
        elsewhere: what the same costs on the API, in words.
        too_long: that the model does not hold the longest request, in words; empty where it does.
    """
    model, chip = scenario.architecture.name, scenario.hardware.name
    if own.gpus is None or own.month_usd is None:
        return (
            f"{model} on {chip} cannot serve this feature: it does not fit, or its peak is not published; {elsewhere}."
        )
    month, verb = quantities.shown(own.month_usd, "$"), "are expected to cost" if _expected(scenario) else "cost"
    if too_long:
        gpus = quantities.count(own.gpus, "GPU")
        return f"{too_long}. The tokens alone would take {gpus}, {month} a month; {elsewhere}."
    each = f", {quantities.shown(own.month_usd / scenario.users, '$')} each" if scenario.use_as == "users" else ""
    busy = "" if own.utilization is None else f", busy {quantities.percent(own.utilization)} of the time"
    staff = f" plus {quantities.shown(scenario.people_usd, '$')} of staff" if scenario.people_usd else ""
    return f"{use} {verb} {month} a month{each}{staff}, with {model} on {own.gpus:,} rented {chip}{busy}; {elsewhere}."


def headline_numbers(scenario: Scenario, own: Own, *, requests: float) -> list[Headline]:
    """The four numbers on top; `requests` are those of a month."""
    users = scenario.use_as == "users"
    each = None if own.month_usd is None else own.month_usd / (scenario.users if users else requests)
    return [
        Headline("A month", own.month_usd, "$", ratio=ratios.MONTH),
        Headline("Per user per month", each, "$", ratio=ratios.USER)
        if users
        else Headline("A request", each, "$", ratio=ratios.REQUEST),
        Headline("GPUs for the busiest hour", own.gpus, "GPUs", ratio=ratios.GPUS),
        Headline("Utilization over the day", own.utilization, "%"),
    ]


def kinds(own: Own, *, prompt: float, output: float) -> dict[str, float]:
    """Dollars of the month by what the time goes to: reading prompts and writing answers; both pay for idle hours.

    Args:
        own: the requests on accelerators.
        prompt: tokens of all prompts in a month.
        output: tokens of all answers in a month.
    """
    reading = (own.usd_per_mtok_prompt or 0.0) * prompt / 1e6
    writing = (own.usd_per_mtok_written or 0.0) * output / 1e6
    return {"fresh": reading, "stored": 0.0, "read": 0.0, "output": writing}


def _expected(scenario: Scenario) -> bool:
    return bool(scenario.speed == EXPECTED)
