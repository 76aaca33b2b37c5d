"""What an API's limits let through against what a feature needs in its busiest hour."""

from dataclasses import dataclass

from inferdash import quantities
from inferdash.pricing import feature
from inferdash.scenario import Scenario
from inferdash.studies.check.own_accelerators import PEAK
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import session
from inferdash.studies.price.extras import loop_of, with_media

_MINUTES = 24 * 60 * feature.DAYS


@dataclass(frozen=True)
class Need:
    """What the busiest hour needs in a minute of one kind."""

    name: str
    unit: str
    field: str
    """The field of the limit."""
    needed: float
    limit: int
    """0: not known."""

    @property
    def queue_a_minute(self) -> float:
        """By how much the queue grows in a minute of the busiest hour; 0 where the limit holds it, or is not known."""
        return max(0.0, self.needed - self.limit) if self.limit else 0.0


def needs(scenario: Scenario) -> list[Need]:
    """Requests and tokens a minute in the busiest hour, beside their limits."""
    seen = with_media(scenario)
    turns = session.turns(seen, seen.price, session.marking(seen, seen.price))
    whole = feature.total(turns)
    a_minute = session.requests_a_month(scenario) / _MINUTES * PEAK
    prompts, answers = whole.input / scenario.turns, whole.output / scenario.turns
    calls = loop_of(scenario).steps
    if calls > 1:  # each further call sends the prompt again
        answers += (calls - 1) * scenario.call_tokens
        grown = (calls - 1) * (scenario.call_tokens + scenario.result_tokens) / 2
        prompts = calls * (prompts + grown)
    return [
        Need("Requests", "requests", "rpm", a_minute * calls, scenario.rpm),
        Need("Input tokens", "tokens", "itpm", a_minute * prompts, scenario.itpm),
        Need("Output tokens", "tokens", "otpm", a_minute * answers, scenario.otpm),
    ]


def table(scenario: Scenario) -> Table:
    """The need, the limit, and what is left or queues."""
    rows = []
    for one in needs(scenario):
        limit = f"{one.limit:,}" if one.limit else "not known"
        if not one.limit:
            said = ""
        elif one.queue_a_minute:
            said = f"exceeded: the queue grows by {quantities.digits(one.queue_a_minute)} a minute"
        else:
            said = f"{quantities.percent(one.needed / one.limit)} of it"
        rows.append(Row(one.name, "word", (quantities.digits(one.needed), limit, said)))
    return Table(("a minute at the peak", "limit", "use"), tuple(rows), head="Busiest hour")


def sentence(scenario: Scenario) -> str:
    """Whether the limits hold what the feature needs."""
    found = needs(scenario)
    over = [one for one in found if one.queue_a_minute]
    known = [one for one in found if one.limit]
    if not known:
        return (
            "Enter the limits of your tier: makers set them by account, and all input counts at some, at others only "
            "what is not read from a cache."
        )
    if not over:
        return f"The limits are enough for the busiest hour, which has {PEAK:g} times the requests of the mean one."
    worst = max(over, key=lambda one: one.needed / one.limit)
    return (
        f"The limits are too low for the busiest hour: {worst.name.lower()} need {worst.needed / worst.limit:.1f} "
        f"times the limit, so the queue grows while it lasts."
    )
