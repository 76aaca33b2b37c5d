"""Section 10.3: what a prompt cache reuses, what that saves, and when it costs more than it saves."""

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.formula import remembered, section
from inferdash.physics.passes import one_pass, prefill
from inferdash.pricing import prompt_cache as pricing
from inferdash.pricing.tokens import Tokens, bill
from inferdash.scenario import CHANGES, OWN, PARTS, Scenario
from inferdash.studies import expected, ratios
from inferdash.studies.numbers import Estimate, Headline, Row, Table, number, part, plain
from inferdash.studies.price.api import resolved, rules_of

NAME: Final = "prompt_cache"
TITLE: Final = "Prompt caching"
_CURVE_POINTS: Final = 100


@dataclass(frozen=True)
class PromptCache:
    """Every headline number of the page."""

    positions_read: int = number("positions", "read from the cache, in the small example")
    positions_run: int = number("positions", "computed, in the small example")
    reused_tokens: int = number("tokens", "of the shared prefix that is cached")
    uncached_request_tokens: float = number("tokens", "billed input of a request without a cache, in full-price tokens")
    first_request_tokens: float = number(
        "tokens", "billed input of the request that writes the cache, in full-price tokens"
    )
    later_request_tokens: float = number("tokens", "billed input of a cache hit, in full-price tokens")
    saving_factor: float | None = number("times", "less that a cache hit costs; none where it is free")
    break_even_read_share: float = number("%", "hit rate at which caching breaks even")
    break_even_requests: int = number("requests", "after which caching breaks even")
    read_share: float = number("%", "hit rate of the later requests")
    mean_request_tokens: float = number("tokens", "billed input of a later request on average, in full-price tokens")
    all_requests_usd: float = number("$", "input of all requests with a cache")
    all_requests_uncached_usd: float = number("$", "input of all requests without a cache")
    first_token_s: float | None = number("s", "prefill without a cache (limit)")
    first_token_cached_s: float | None = number("s", "prefill of a cache hit (limit)")
    prefill_estimate: Estimate = part("prefill without a cache", "s")
    prefill_cached_estimate: Estimate = part("prefill of a cache hit", "s")


@remembered
def study(scenario: Scenario) -> PromptCache:
    """The numbers of the page for a scenario."""
    scenario = resolved(scenario)
    first, second = tokens_of(scenario.first_prompt), tokens_of(scenario.second_prompt)
    shared = pricing.shared_start(first, second)
    with section("The shared start"):
        reused = int(pricing.reusable_tokens(shared=scenario.shared, increment=scenario.increment))
        if reused < scenario.minimum:
            reused = 0
        rest = scenario.shared - reused + scenario.question
    with section("One request"):
        uncached = pricing.uncached_request_tokens(start=reused, rest=rest)
        storing = pricing.first_request_tokens(start=reused, rest=rest, write=scenario.write)
        reading = pricing.later_request_tokens(start=reused, rest=rest, read=scenario.read)
        saving = pricing.saving_factor(uncached=uncached, cached=reading) if reading else None
    with section("Break-even"):
        even_share = pricing.break_even_read_share(write=scenario.write, read=scenario.read)
        even_requests = pricing.break_even_requests(write=scenario.write, read=scenario.read)
    with section("Lifetime"):
        share = _read_share(scenario, scenario.interval) if reused else 0.0
        mean = pricing.mean_request_tokens(first=storing, later=reading, read_share=share)
    with section("Time to first token"):
        machine = scenario.deployment
        prompt = scenario.shared + scenario.question
        last = scenario.output_layer == "last"
        whole = prefill(machine, prompt=prompt, output_layer_last=last).pass_s
        ran = max(1, prompt - reused)  # at least the last position runs, whose logits give the first token
        hit = one_pass(
            machine, requests=1, positions=ran, past=prompt - ran, output_positions=1 if last else ran
        ).pass_s
    worth = scenario.input_usd / 1e6
    return PromptCache(
        positions_read=shared,
        positions_run=len(second) - shared,
        reused_tokens=reused,
        uncached_request_tokens=float(uncached),
        first_request_tokens=float(storing),
        later_request_tokens=float(reading),
        saving_factor=plain(saving),
        break_even_read_share=float(even_share),
        break_even_requests=int(even_requests),
        read_share=float(share),
        mean_request_tokens=float(mean),
        all_requests_usd=float(worth * (storing + (scenario.requests - 1) * mean)),
        all_requests_uncached_usd=float(worth * scenario.requests * uncached),
        first_token_s=plain(whole),
        first_token_cached_s=plain(hit),
        prefill_estimate=expected.prefill_of(scenario, prompt=prompt, limit_s=plain(whole)),
        prefill_cached_estimate=expected.prefill_of(scenario, prompt=ran, past=prompt - ran, limit_s=plain(hit)),
    )


def tokens_of(text: str) -> list[str]:
    """A text split at spaces and signs, a space going with the word or sign after it."""
    return re.findall(r"[ ]?[^\W\d_]+|\d+|[ ]?[^\w\s]|[ ]|_", text)


def _read_share(scenario: Scenario, interval: Any) -> Any:
    return pricing.read_share(
        interval_s=interval,
        lifetime_s=scenario.lifetime,
        renewed=scenario.renewed,
        random=scenario.arrivals == "random",
    )


def sentence(scenario: Scenario, result: PromptCache) -> str:
    """The result in words; a loss is called a loss."""
    if not result.reused_tokens:
        return "Nothing of the shared prefix is cached: it is shorter than the API’s minimum."
    every = quantities.shown(scenario.interval, "s")
    often = "at random times, on average every" if scenario.arrivals == "random" else "every"
    share = quantities.percent(result.read_share)
    cost, plain_cost = result.mean_request_tokens, result.uncached_request_tokens
    if not cost:
        verdict = "costs nothing, as cached input is free"
    elif cost <= plain_cost:
        verdict = f"costs {quantities.percent(1 - cost / plain_cost)} less than without a cache"
        if abs(plain_cost / cost - 1) < 0.005:  # noqa: PLR2004 - what rounds to 1.00 times
            verdict = "costs as much as without a cache"
    else:
        verdict = f"costs {quantities.percent(cost / plain_cost - 1)} more than without a cache"
    later = "all later ones" if result.read_share == 1 else f"{share} of the later ones"
    return f"With a request {often} {every}, {later} hit the cache, and their input {verdict}."


def break_even_sentence(scenario: Scenario, result: PromptCache) -> str:
    """From when caching pays, and what it does to the first token."""
    requests = quantities.count(result.break_even_requests, "request")
    share = quantities.percent(result.break_even_read_share)
    pays = f"Caching breaks even at a hit rate of {share}, or after {requests} if every later one is a hit."
    if result.first_token_s is None or result.first_token_cached_s is None:
        return pays
    whole, hit = (str(quantities.shown(s, "s")) for s in (result.first_token_s, result.first_token_cached_s))
    chips = f"{scenario.gpus:,} × {scenario.hardware.name}"
    said = (
        f"{pays} On {chips} the prefill of {scenario.architecture.name} takes {whole} without a cache and {hit} with "
        "it, at the limit"
    )
    reached, cached = result.prefill_estimate.said("s"), result.prefill_cached_estimate.said("s")
    return f"{said}: {reached}, and with it {cached}." if reached and cached else f"{said}."


def subject(scenario: Scenario) -> str:
    """What the page is about: the prompt of an API's requests."""
    where = "at your own prices" if scenario.api == OWN else f"on {scenario.price.name}"
    return f"shared prefix {scenario.shared:,}, question {quantities.count(scenario.question, 'token')}, {where}"


def billing_note(scenario: Scenario) -> str:
    """What billed input counts."""
    scenario = resolved(scenario)
    return (
        f"Billed input counts full-price tokens: a token read from the cache counts {scenario.read:g}, one written to "
        f"it {scenario.write:g}, any other 1."
    )


def headline_numbers(_: Scenario, result: PromptCache) -> list[Headline]:
    """The four numbers on top."""
    factor = result.saving_factor
    return [
        Headline(
            "Billed input, cache hit",
            result.later_request_tokens,
            "tokens",
            ratio=ratios.much("a cache hit bills {} input"),
        ),
        Headline(
            "Billed input, no cache",
            result.uncached_request_tokens,
            "tokens",
            ratio=ratios.much("a request without a cache bills {} input"),
        ),
        Headline("A cache hit is cheaper by", factor or 1.0, "times" if factor else "%", ratio=ratios.UNSAID),
        Headline("Break-even hit rate", result.break_even_read_share, "%"),
    ]


def chips(scenario: Scenario) -> list[tuple[str, list[tuple[str, str]]]]:
    """Both prompts as tokens: of the first, all are stored; of the second, the shared prefix is read, the rest runs."""
    first, second = tokens_of(scenario.first_prompt), tokens_of(scenario.second_prompt)
    shared = pricing.shared_start(first, second)
    later = [(token, "read" if place < shared else "run") for place, token in enumerate(second)]
    return [("Cached prompt", [(token, "stored") for token in first]), ("New prompt", later)]


def chips_sentence(scenario: Scenario, result: PromptCache) -> str:
    """Where the shared start ends, and why."""
    second = tokens_of(scenario.second_prompt)
    total = len(second)
    if result.positions_read == total:
        return f"All {total} tokens are in the cache; the last one still runs, for its logits."
    if not result.positions_read:
        return "The first token differs, so nothing is reused: keys and values depend on every token before them."
    differs = second[result.positions_read].strip() or "a space"
    return (
        f"{result.positions_read} of {total} tokens are read from the cache and {result.positions_run} computed: the "
        f"reuse stops at “{differs}”, the first that differs."
    )


def part_rows(scenario: Scenario) -> list[tuple[str, tuple[str, ...]]]:
    """The parts of a prompt in their order: letter, and the fields of the scenario that belong to it."""
    fields = {
        "t": ("tools_tokens", "tools_change"),
        "s": ("system_tokens", "system_change"),
        "u": ("user_tokens", "user_change"),
        "d": ("documents_tokens", "documents_change"),
        "q": ("question_change",),
    }
    return [(letter, fields[letter]) for letter in scenario.order]


def _sizes(scenario: Scenario) -> dict[str, int]:
    return {
        "t": scenario.tools_tokens,
        "s": scenario.system_tokens,
        "u": scenario.user_tokens,
        "d": scenario.documents_tokens,
        "q": scenario.question,
    }


def _changes(scenario: Scenario) -> dict[str, str]:
    return {
        "t": scenario.tools_change,
        "s": scenario.system_change,
        "u": scenario.user_change,
        "d": scenario.documents_change,
        "q": scenario.question_change,
    }


_SHARED_WITH: Final = {
    "request": "Within one conversation",
    "conversation": "Between conversations of one user",
    "user": "Between users",
}
"""What is another one -> with whom a request shares the rest."""


def reusable_start(scenario: Scenario, order: str, *, other: str) -> int:
    """Tokens at the start that a request shares with one in which `other`, and all that changes as often, differs."""
    rhythm, sizes, changes = list(CHANGES), _sizes(scenario), _changes(scenario)
    same = takewhile(lambda letter: rhythm.index(changes[letter]) < rhythm.index(other), order)
    return sum(sizes[letter] for letter in same)


def _shared_in_all(scenario: Scenario, order: str) -> int:
    return sum(reusable_start(scenario, order, other=other) for other in _SHARED_WITH)


def order_sentence(scenario: Scenario) -> str:
    """Whether the order is the best, and which is."""
    best = best_order(scenario)
    if _shared_in_all(scenario, scenario.order) == _shared_in_all(scenario, best):
        return "This order shares as much as any: what changes least comes first, what changes most comes last."
    names = ", ".join(PARTS[letter] for letter in best)
    return f"Best order: {names}. What changes least comes first."


def order_table(scenario: Scenario) -> Table:
    """The start that requests share, in the order chosen and in the best one."""
    orders = (scenario.order, best_order(scenario))
    return Table(
        ("in this order", "in the best order"),
        tuple(
            Row(label, "tokens", tuple(reusable_start(scenario, order, other=other) for order in orders))
            for other, label in _SHARED_WITH.items()
        ),
        head="Shared with",
    )


def best_order(scenario: Scenario) -> str:
    """The order that shares most: what changes least comes first."""
    rhythm, changes = list(CHANGES), _changes(scenario)
    return "".join(sorted(PARTS, key=lambda letter: rhythm.index(changes[letter])))


def lifetime_rows(scenario: Scenario, result: PromptCache) -> dict[str, list[dict[str, Any]]]:
    """Cost of a request over the interval: rows "cost", the line of no cache "never", the reader's interval "own"."""
    scenario = resolved(scenario)
    low, high = scenario.lifetime / 1000, scenario.lifetime * 100
    edges = [scenario.lifetime * factor for factor in (0.9999, 1.0001)]
    intervals = np.unique(np.concatenate([np.geomspace(low, high, _CURVE_POINTS), edges, [scenario.interval]]))
    shares = np.broadcast_to(np.asarray(_read_share(scenario, intervals)), intervals.shape)
    if not result.reused_tokens:
        shares = np.zeros_like(intervals)
    costs = pricing.mean_request_tokens(
        first=result.first_request_tokens, later=result.later_request_tokens, read_share=shares
    )
    own = {
        "interval_s": scenario.interval,
        "tokens": result.mean_request_tokens,
        "meaning": "money",
        "label": quantities.shown(result.mean_request_tokens, "tokens").number,
    }
    return {
        "cost": [
            {"interval_s": x, "tokens": y, "meaning": "money"}
            for x, y in zip(intervals.tolist(), np.asarray(costs).tolist(), strict=True)
        ],
        "never": [{"tokens": result.uncached_request_tokens, "label": "no cache"}],
        "own": [own],
    }


def lifetime_table(scenario: Scenario) -> Table | None:
    """What a request costs on average with each of the API's lifetimes; None where it has one, or none is known."""
    rules = rules_of(scenario.price)
    if rules is None or len(rules.lifetimes) == 1:
        return None
    found = []
    for place, kept in enumerate(rules.lifetimes):
        one = resolved(scenario, lifetime=place).model_copy(update={"api": OWN})
        result = study(one)
        dollars = result.mean_request_tokens * one.input_usd / 1e6
        found.append((str(quantities.shown(kept.seconds, "s")), result.read_share, dollars))
    return Table(
        ("read", "input of a request"),
        tuple(
            Row(name, "word", (quantities.percent(share), str(quantities.shown(dollars, "$"))))
            for name, share, dollars in found
        ),
        head="Lifetime",
    )


def nothing_to_compare(scenario: Scenario) -> str:
    """Why there are neither lifetimes nor minimums to compare, in words."""
    if scenario.api == OWN:
        return "Choose an API to see what each of its lifetimes costs and where its minimum lies."
    if rules_of(scenario.price) is None:
        return "The cache rules of this API are not known."
    return "This API has one lifetime, no minimum and no tiers."


def storage_sentence(scenario: Scenario) -> str:
    """What it costs to keep the start by name, and when that pays; empty where the API does not sell it."""
    price = scenario.price
    rules = rules_of(price)
    hourly = rules.storage_price(price.model, price.day) if rules else None
    if hourly is None:
        return ""
    own = resolved(scenario)
    usd = pricing.storage_usd(tokens=scenario.shared, hours=1, usd_per_mtok_hour=hourly)
    said = f"Stored by name, the shared prefix costs {quantities.shown(float(usd), '$')} an hour"
    if not own.input_usd:
        return f"{said}."
    reads = pricing.reads_an_hour_to_pay(usd_per_mtok_hour=hourly, input_usd=own.input_usd, read=own.read)
    price_said = f"${hourly:g} for a million tokens and hour"
    return f"{said} ({price_said}); it pays from {quantities.digits(float(reads))} reads an hour on."


def cliff_table(scenario: Scenario) -> Table | None:
    """What one token more does at the shortest stored start and at the tiers of the price; None where are none."""
    price, own = scenario.price, resolved(scenario)
    rules = rules_of(price)
    least = own.minimum if rules or not price.provider else 0
    rows = []
    if least > 1:
        plain, kept = (bill(one, price).total_usd for one in (Tokens(fresh=least - 1), Tokens(read=least)))
        rows.append(Row(f"A start of {least:,} tokens, read later", "$", (float(plain), float(kept))))
    for tier in price.tiers:
        above = tier.above if tier.inclusive else tier.above + 1
        below, over = (float(bill(Tokens(fresh=tokens), price).total_usd) for tokens in (above - 1, above))
        rows.append(Row(f"A prompt of {above:,} tokens: a higher rate for all of it", "$", (below, over)))
    return Table(("input with one token less", "input with it"), tuple(rows), head="Cliff") if rows else None


def money_table(scenario: Scenario, result: PromptCache) -> Table:
    """Billed input and dollars of a request, and of all of them."""
    scenario = resolved(scenario)
    worth = scenario.input_usd / 1e6
    many = quantities.count(scenario.requests, "request")

    def row(label: str, tokens: float) -> Row:
        return Row(label, "tokens", (tokens, str(quantities.shown(tokens * worth, "$"))))

    return Table(
        ("billed input, full-price", "dollars"),
        (
            row("Request without a cache", result.uncached_request_tokens),
            row("First request, writes the cache", result.first_request_tokens),
            row("Later request, cache hit", result.later_request_tokens),
            row("Later request on average", result.mean_request_tokens),
            row(f"{many}, with a cache", result.all_requests_usd / worth if worth else 0.0),
            row(f"{many}, without", scenario.requests * result.uncached_request_tokens),
        ),
        head="Input",
    )
