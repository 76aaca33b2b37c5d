"""What images, sound, agents, searches and answers that are asked again add to the bill of a feature."""

from dataclasses import dataclass
from typing import Final, cast

from inferdash import quantities
from inferdash.facts.models.media import Detail, ImageRule, image_rule, sound_rule
from inferdash.pricing.agents import Loop, attempts, further_calls, usd_per_accepted
from inferdash.pricing.feature import Turn
from inferdash.pricing.images import image_tokens
from inferdash.scenario import OWN, Scenario
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import session

NOTE: Final = (
    "Each line is what it adds to those above, so that they sum to the month. Images and audio count as part of "
    "their message and stay in the history; tool results leave the prompt at the end of the turn."
)


@dataclass(frozen=True)
class Extra:
    """One line of the bill."""

    name: str
    usd: float
    """Dollars of a month that it adds to the lines before it."""
    said: str
    """Where its number comes from, in words."""


def _rule(scenario: Scenario) -> ImageRule | None:
    return None if scenario.api == OWN else image_rule(scenario.price.provider, scenario.price.model)


def tokens_of_image(scenario: Scenario) -> int | None:
    """Tokens of one image: the reader's, or by the rule of the API's maker; None where none was found."""
    if scenario.image_tokens:
        return scenario.image_tokens
    rule = _rule(scenario)
    if rule is None:
        return None
    detail = cast("Detail", scenario.image_detail)
    return image_tokens(rule, width=scenario.image_width, height=scenario.image_height, detail=detail)


def tokens_of_second(scenario: Scenario) -> float | None:
    """Tokens of a second of sound, likewise."""
    if scenario.sound_tokens:
        return scenario.sound_tokens
    rule = None if scenario.api == OWN else sound_rule(scenario.price.provider, scenario.price.model)
    return None if rule is None else rule.per_second


def loop_of(scenario: Scenario) -> Loop:
    """What the agent of a feature does in a turn."""
    return Loop(
        steps=scenario.steps,
        call=scenario.call_tokens,
        result=scenario.result_tokens,
        compact_above=scenario.compact_above,
        summary=scenario.summary_tokens,
        kept=scenario.tools_tokens + scenario.system_tokens,
    )


def with_media(scenario: Scenario) -> Scenario:
    """The scenario whose messages hold the tokens of their images and sound, as far as they are known."""
    more = scenario.images * (tokens_of_image(scenario) or 0) + scenario.sound * (tokens_of_second(scenario) or 0)
    return scenario.model_copy(update={"question": scenario.question + round(more)}) if more else scenario


def _session(scenario: Scenario) -> list[Turn]:
    return session.turns(scenario, scenario.price, session.marking(scenario, scenario.price))


def _further(scenario: Scenario) -> list[Turn]:
    """The further calls of the agent in all turns of a session."""
    marked = session.marking(scenario, scenario.price)
    cache = None if marked == "none" else session.cache_of(scenario, scenario.price)
    return [call for turn in _session(scenario) for call in further_calls(turn.input, loop_of(scenario), cache)]


def extras(scenario: Scenario) -> list[Extra]:
    """The lines of the month, the plain feature first; those that are off are left out."""
    sessions, turns = session.sessions_a_month(scenario), session.requests_a_month(scenario)
    price = scenario.price
    plain = session.month_usd(scenario)
    lines = [Extra("The feature, text only", plain, f"{quantities.count(round(turns), 'turn')} a month")]
    seen = scenario
    for name, off in (("Images", {"sound": 0.0}), ("Sound", {})):
        if (scenario.images if name == "Images" else scenario.sound) > 0:
            now = with_media(scenario.model_copy(update=off))
            lines.append(Extra(name, session.month_usd(now) - session.month_usd(seen), _media_said(scenario, name)))
            seen = now
    if scenario.steps > 1:
        calls = _further(seen)
        fee = scenario.tool_fee / 1000 * (scenario.steps - 1) * turns
        said = f"{scenario.steps - 1:,} more calls a turn, the longest prompt {max(call.input for call in calls):,.0f}"
        lines.append(Extra("Agent calls", session.usd(calls, price) * sessions, f"{said} tokens"))
        if fee:
            lines.append(Extra("Tool fees", fee, f"${scenario.tool_fee:g} for 1,000 calls"))
    if scenario.searches:
        each = scenario.search_tokens * scenario.embed_usd / 1e6 + scenario.rerank_usd / 1000
        lines.append(Extra("Searches", scenario.searches * turns * each, "embedding and reranking"))
    if scenario.again:
        whole = sum(line.usd for line in lines)
        factor = float(attempts(again=scenario.again))
        lines.append(Extra("Retries", whole * (factor - 1), f"{factor:.3g} answers for each one kept"))
    return lines


def _media_said(scenario: Scenario, name: str) -> str:
    """By which rule an image or a second counts, or that none was found."""
    if name == "Sound":
        tokens = tokens_of_second(scenario)
        return "no rule is known for this model: enter the tokens" if tokens is None else f"{tokens:g} tokens a second"
    count, rule = tokens_of_image(scenario), _rule(scenario)
    if count is None:
        return "no rule is known for this model: enter the tokens per image"
    if scenario.image_tokens or rule is None:
        return f"{count:,} tokens each, as you entered"
    return f"{count:,} tokens each, by the provider’s rule"


def sources(scenario: Scenario) -> str:
    """Where the rule of images was read, and how sure it is; nothing where none counts."""
    rule = _rule(scenario)
    if not scenario.images or scenario.image_tokens or rule is None:
        return ""
    where = rule.provenance
    said = f"Images: {where.source}. Checked {where.checked}, confidence {where.confidence}."
    return f"{said} {where.note}".rstrip()


def table(scenario: Scenario) -> Table:
    """The lines of the month and their sum."""
    lines = extras(scenario)
    rows = [Row(one.name, "word", (str(quantities.shown(one.usd, "$")), one.said)) for one in lines]
    whole = sum(one.usd for one in lines)
    rows.append(Row("A month", "word", (str(quantities.shown(whole, "$")), "")))
    return Table(("a month", "how it counts"), tuple(rows), head="Line")


def sentence(scenario: Scenario) -> str:
    """What all of it costs, and an answer that is accepted."""
    whole = sum(one.usd for one in extras(scenario))
    answers = session.requests_a_month(scenario)
    if not answers:
        return "There are no requests, so there is nothing to pay."
    each = float(usd_per_accepted(month_usd=whole, answers=answers, accepted=scenario.accepted))
    month, one = quantities.shown(whole, "$"), quantities.shown(each, "$")
    if scenario.accepted < 1:
        share = quantities.percent(scenario.accepted)
        return f"With all of this a month costs {month}; {share} of the answers are accepted, at {one} each."
    return f"With all of this a month costs {month}, and an answer {one}."


def fields(scenario: Scenario) -> tuple[str, ...]:
    """The fields that count here."""
    shown = ["images", "sound", "steps", "searches", "again", "accepted"]
    if scenario.images:
        shown[1:1] = ["image_width", "image_height", "image_detail", "image_tokens"]
    if scenario.sound:
        shown.insert(shown.index("sound") + 1, "sound_tokens")
    if scenario.steps > 1:
        at = shown.index("steps") + 1
        shown[at:at] = ["call_tokens", "result_tokens", "tool_fee", "compact_above"]
        if scenario.compact_above:
            shown.insert(at + 4, "summary_tokens")
    if scenario.searches:
        at = shown.index("searches") + 1
        shown[at:at] = ["search_tokens", "embed_usd", "rerank_usd"]
    return tuple(shown)
