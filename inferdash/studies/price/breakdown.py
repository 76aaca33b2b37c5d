"""Where the money of a session goes: by part of the prompt, and by turn."""

from typing import Any, Final

from inferdash import quantities
from inferdash.pricing import feature
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import session
from inferdash.studies.price.feature_cost import KINDS

_MILLION: Final = 1e6


def usd_by_part(scenario: Scenario) -> dict[str, tuple[float, float]]:
    """Part of a session -> its tokens, and its dollars."""
    price = scenario.price
    found: dict[str, tuple[float, float]] = {}

    def add(name: str, tokens: float, usd: float) -> None:
        before = found.get(name, (0.0, 0.0))
        found[name] = before[0] + tokens, before[1] + usd

    own = (scenario.tools_tokens, scenario.system_tokens, scenario.user_tokens, scenario.documents_tokens)
    for prompt in session.prompts(scenario, price, session.marking(scenario, price)):
        rates = price.for_input(prompt.total)
        fresh_usd, write_usd, read_usd = (float(rates.of(kind)) / _MILLION for kind in ("fresh", "written", "read"))
        sizes = (*own, prompt.history, scenario.question)
        kinds = feature.split(prompt, sizes)
        for name, size, (fresh, written, read) in zip(session.PARTS, sizes, kinds, strict=True):
            add(name, size, fresh * fresh_usd + written * write_usd + read * read_usd)
        add("answer", scenario.answer, scenario.answer * float(rates.output) / _MILLION)
        add("thinking", scenario.reasoning, scenario.reasoning * float(rates.output) / _MILLION)
    return found


def part_table(scenario: Scenario) -> Table:
    """Tokens of a session and dollars of a month by part of the prompt and of the answer, the dearest first."""
    sessions, found = session.sessions_a_month(scenario), usd_by_part(scenario)
    whole = sum(usd for _, usd in found.values())
    rows = (
        Row(
            name.capitalize(),
            "word",
            (
                f"{tokens:,.0f}",
                str(quantities.shown(usd * sessions, "$")),
                quantities.percent(usd / whole) if whole else "0%",
            ),
        )
        for name, (tokens, usd) in sorted(found.items(), key=lambda item: -item[1][1])
        if tokens
    )
    return Table(("tokens per session", "per month", "share"), tuple(rows), head="Part")


def turn_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Dollars of a session by turn and kind of token."""
    price = scenario.price
    rows = []
    for place, turn in enumerate(session.turns(scenario, price, session.marking(scenario, price)), 1):
        start = 0.0
        for kind, usd in session.usd_by_kind(turn, price).items():
            name, meaning = KINDS[kind]
            label = f"{name} {quantities.shown(usd, '$')}"
            rows.append({"turn": place, "start": start, "end": start + usd, "meaning": meaning, "label": label})
            start += usd
    return {"turns": rows}


def turn_sentence(scenario: Scenario) -> str:
    """The mean prompt, and the first and the last turn beside each other, in words."""
    price = scenario.price
    turns = session.turns(scenario, price, session.marking(scenario, price))
    first, last = (sum(session.usd_by_kind(turn, price).values()) for turn in (turns[0], turns[-1]))
    mean = sum(turn.input for turn in turns) / len(turns)
    said = f"A prompt has {quantities.digits(mean, 4)} tokens on average"
    if len(turns) == 1:
        return f"{said}; a session is one turn, {quantities.shown(first, '$')}."
    return (
        f"{said}, {turns[0].input:,.0f} in the first turn and {turns[-1].input:,.0f} in the last; the first costs"
        f" {quantities.shown(first, '$')}, the last {quantities.shown(last, '$')}."
    )
