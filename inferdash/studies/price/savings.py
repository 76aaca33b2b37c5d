"""Ways to pay less for a feature, each with what it saves; and APIs side by side."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from inferdash import quantities
from inferdash.facts.money.rates import PriceList
from inferdash.pricing import feature
from inferdash.scenario import OWN, Scenario
from inferdash.studies.numbers import Row, Table
from inferdash.studies.price import api, feature_cost, other_models, session
from inferdash.studies.price.session import month_usd, sessions_a_month

_BATCH: Final = Decimal("0.5")
"""What a batch costs of the standard price where the prices are the reader's own: as APIs mostly sell it."""
_QUARTER: Final = 0.25
_NOT: Final = "not available"
_PARTS: Final = {
    "tools_tokens": "tools",
    "system_tokens": "system prompt",
    "user_tokens": "facts about the user",
    "documents_tokens": "documents",
    "question": "question",
}


@dataclass(frozen=True)
class Way:
    """A way to pay less."""

    name: str
    usd: float | None
    """A month of it; None where it is not available."""
    note: str = ""
    """Why it is not, or what it asks for."""


def ways(scenario: Scenario, result: feature_cost.FeatureCost) -> list[Way]:
    """Each by itself, beside the feature as it is."""
    return [
        _marked(scenario),
        *_longer(scenario),
        _batch(scenario),
        _cheaper(scenario, result),
        _shorter(scenario),
        *_fewer(scenario),
    ]


def table(scenario: Scenario, result: feature_cost.FeatureCost) -> Table:
    """Each way with its dollars of a month, and what it saves in dollars and per cent."""
    now = result.month_usd
    rows = [Row("As it is", "word", (_usd(now), "", "", ""))]
    for way in ways(scenario, result):
        if way.usd is None:
            rows.append(Row(way.name, "word", (_NOT, "", "", way.note)))
            continue
        saved = now - way.usd
        share = quantities.percent(abs(saved) / now) if now else ""
        less = abs(saved) > 1e-9 * now
        cells = (
            ("nothing more", "")
            if not less
            else (_usd(saved), share)
            if saved > 0
            else (f"−{_usd(-saved)}", f"−{share}")
        )
        rows.append(Row(way.name, "word", (_usd(way.usd), *cells, way.note)))
    return Table(("a month", "saves", "in percent", "note"), tuple(rows), head="Way")


def _marked(scenario: Scenario) -> Way:
    if not session.is_markable(scenario):
        why = "the cached share is entered" if scenario.share_known else "this API caches automatically"
        return Way("Mark for caching what pays off", None, why)
    best = session.best_marking(scenario, scenario.price)
    words, usd = session.MARKED[best], month_usd(scenario, marked=best)
    if best == session.marking(scenario, scenario.price):
        plain = month_usd(scenario, marked="none")
        saves = f", which saves {quantities.percent(1 - usd / plain)}" if usd < plain else ""
        return Way("Mark for caching what pays off", usd, f"already marked: {words}{saves}")
    return Way("Mark for caching what pays off", usd, f"mark {words}")


def _longer(scenario: Scenario) -> Iterator[Way]:
    """The longer lifetimes of the API's cache, each with the marking that pays there."""
    price = scenario.price
    rules = api.rules_of(price)
    if rules is None or len(rules.lifetimes) == 1:
        why = "your prices have one lifetime" if scenario.api == OWN else "this API has one lifetime"
        yield Way("A longer cache lifetime", None, why)
        return
    for place, kept in [*enumerate(rules.lifetimes)][1:]:
        long = _stored_long(scenario, price, place)
        marked = session.marking(scenario, price)
        usd = session.usd(session.turns(scenario, long, marked, lifetime=place), long) * sessions_a_month(scenario)
        yield Way(f"A lifetime of {quantities.shown(kept.seconds, 's')}", usd)


def _stored_long(scenario: Scenario, price: PriceList, place: int) -> PriceList:
    """The prices with those of storing for a longer lifetime in the place of the usual one's."""
    factor = Decimal(str(api.resolved(scenario, lifetime=place).write))
    tiers = tuple(replace(one, rates=replace(one.rates, write=one.rates.input * factor)) for one in price.tiers)
    return replace(price, rates=replace(price.rates, write=price.rates.input * factor), tiers=tiers)


def _batch(scenario: Scenario) -> Way:
    name = "Send it as a batch"
    if scenario.api == OWN:
        return Way(name, float(_BATCH) * month_usd(scenario), "at half the price, as most APIs offer; within a day")
    if scenario.service == "batch":
        return Way(name, month_usd(scenario), "it already is")
    batch = scenario.model_copy(update={"service": "batch"})
    if api.known_price(batch) is None:
        return Way(name, None, "the list has no batch price")
    return Way(name, month_usd(batch), "answers come within a day, too late for a live chat")


def _cheaper(scenario: Scenario, result: feature_cost.FeatureCost) -> Way:
    found = [one for one in other_models.compared(scenario) if one.month_usd < result.month_usd]
    if not found:
        return Way("A cheaper model", None, "none of those compared costs less")
    return Way(f"{found[0].price.name}, the cheapest compared", found[0].month_usd, "it may answer worse: test it")


def _shorter(scenario: Scenario) -> Way:
    name = max(_PARTS, key=lambda part: getattr(scenario, part))
    tokens = getattr(scenario, name)
    shorter = scenario.model_copy(update={name: round(tokens * (1 - _QUARTER))})
    return Way(
        f"A quarter off the {_PARTS[name]}", month_usd(shorter), f"{tokens - getattr(shorter, name):,} tokens less"
    )


def _fewer(scenario: Scenario) -> Iterator[Way]:
    """One turn less in each session, with as many sessions."""
    if scenario.turns > 1:
        price = scenario.price
        fewer = scenario.model_copy(update={"turns": scenario.turns - 1})
        usd = session.usd(session.turns(fewer, price, session.marking(fewer, price)), price)
        turns = quantities.count(scenario.turns - 1, "turn")
        yield Way(f"Sessions of {turns}", usd * sessions_a_month(scenario), "one turn fewer, as many sessions")


def price_sentence(scenario: Scenario) -> str:
    """The prices of the chosen API, a million tokens of each kind."""
    price = scenario.price
    rates, rules = price.rates, api.rules_of(price)
    said = [f"input {_rate(rates.input)}", f"cached input {_rate(rates.of('read'))}"]
    if rates.write is not None and rates.write != rates.input:
        long = [kept for kept in rules.lifetimes if kept.long] if rules else []
        hour = "".join(
            f" ({quantities.shown(kept.seconds, 's')}: {_rate(rates.of('written_long'))})" for kept in long[:1]
        )
        said.append(f"cache write {_rate(rates.write)}{hour}")
    said.append(f"output {_rate(rates.output)}")
    said += [
        f"above {tier.above:,} input tokens {_rate(tier.rates.input)} and {_rate(tier.rates.output)}"
        for tier in price.tiers
    ]
    return f"A million tokens{session.service(scenario)}: {', '.join(said)}."


def _rate(usd: Decimal) -> str:
    text = f"{usd:,.4f}".rstrip("0")
    whole, _, cents = text.partition(".")
    return f"${whole}.{cents:0<2}" if cents else f"${whole}"


def _beside(scenario: Scenario) -> list[tuple[PriceList, Scenario]]:
    found = (scenario.model_copy(update={"api": key}) for key in scenario.beside)
    return [(price, other) for other in found if (price := api.known_price(other)) is not None]


def beside_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Dollars of a month by kind of token on each of the APIs that stand side by side, marked where it pays."""
    kinds = {
        price.name: feature_cost.kinds_of_a_month(other, _marking(other, price)) for price, other in _beside(scenario)
    }
    return feature_cost.bars_of(kinds)


def _marking(scenario: Scenario, price: PriceList) -> str:
    return session.best_marking(scenario, price) if session.is_markable(scenario) else "all"


def beside_table(scenario: Scenario) -> Table:
    """A month on each of these APIs: cached as it pays, uncached, as a batch, at twice the use; with its prices."""
    columns, found = [], []
    for price, other in _beside(scenario):
        best = _marking(other, price)
        batch = other.model_copy(update={"service": "batch"})
        usd, plain = month_usd(other, marked=best), month_usd(other, marked="none")
        columns.append(price.name)
        found.append(
            (
                _usd(usd),
                _usd(plain),
                _caching_saves(other, price, usd=usd, plain=plain),
                session.MARKED[best] if session.is_markable(other) else "automatic",
                "not offered" if api.known_price(batch) is None else _usd(month_usd(batch, marked=best)),
                _usd(month_usd(other, times=2, marked=best)),
                _usd(usd / (session.requests_a_month(scenario) or 1) * 1000),
                f"{_rate(price.rates.input)}, {_rate(price.rates.of('read'))}, {_rate(price.rates.output)}",
                f"{price.context:,}" if price.context else "not known",
            )
        )
    heads = (
        *("A month", "Without caching", "Caching saves", "Caches", "A month as a batch", "A month at twice the usage"),
        *("Per thousand requests", "Per million: input, cached input, output", "Context, tokens"),
    )
    rows = (Row(head, "word", tuple(one[place] for one in found)) for place, head in enumerate(heads))
    return Table(tuple(columns), tuple(rows), head="Side by side")


def _caching_saves(scenario: Scenario, price: PriceList, *, usd: float, plain: float) -> str:
    """What caching saves of the month in per cent, or why nothing."""
    if plain and usd < plain:
        return quantities.percent(1 - usd / plain)
    whole = feature.total(session.turns(scenario, price, "all"))
    read = whole.read / whole.input if whole.input else 0.0
    return f"nothing: {feature_cost.why_nothing(scenario, price, read_share=read)}"


def _usd(dollars: float) -> str:
    return str(quantities.shown(dollars, "$"))
