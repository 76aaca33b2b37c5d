"""The dollars of a session for many inputs at once: `feature.session` and its prices, on arrays."""

from collections.abc import Mapping
from math import erf, sqrt
from typing import Any, Final

import numpy as np

from inferdash.facts.money.rates import PriceList, Rates
from inferdash.formula import Number
from inferdash.pricing.feature import Cache

_DAY_S: Final = 86_400
_erf: Final = np.vectorize(erf, otypes=[float])


def session_usd(
    plan: Mapping[str, Number],
    price: PriceList,
    cache: Cache | None,
    *,
    requests_per_day: Number,
    known_share: float | None = None,
    marked: str = "all",
) -> Number:
    """Dollars of a session, as `feature.session` has it for each of the inputs.

    Args:
        plan: what `Turns` holds, by name: numbers, or arrays that are as long as each other.
        price: of the API.
        cache: its rules.
        requests_per_day: of all users.
        known_share: the share of the input that is read, where it was measured.
        marked: how far prompts are marked.
    """
    given = {**plan, "a_day": requests_per_day}
    if cache is not None:  # what is the same for each turn is worked out once
        given["warm"] = 1 - np.exp(-requests_per_day / _DAY_S * cache.lifetime_s)
        if cache.renewed:
            given["in_time"] = _in_time(plan, cache, 1)
    usd = np.zeros(np.shape(sum(given.values())))
    turns = np.broadcast_to(plan["turns"], usd.shape)
    for turn in range(int(turns.max(initial=0))):
        here = turns > turn
        some = given if here.all() else {name: _some(value, here) for name, value in given.items()}
        usd[here] += _turn_usd(turn, some, price=price, cache=cache, known_share=known_share, marked=marked)
    return usd


def _some(value: Number, here: Any) -> Number:
    """Those of an array that are meant; a number is the same for all."""
    return np.asarray(value)[here] if np.ndim(value) else value


def _turn_usd(
    turn: int,
    plan: Mapping[str, Number],
    *,
    price: PriceList,
    cache: Cache | None,
    known_share: float | None,
    marked: str,
) -> Number:
    """Dollars of a turn in sessions that have it."""
    total, output = _prompt(plan, turn), plan["answer"] + plan["thinking"]
    if cache is None:
        read = (known_share or 0.0) * total
        return _billed(price, total, read, read, output)
    alike = plan["shared"] + plan["own"]
    most = {"all": total, "session": alike, "shared": plan["shared"], "none": 0 * total}[marked]
    storable = _stored(np.minimum(total, most), cache)
    if known_share is not None:
        read = known_share * total
        return _billed(price, total, read, np.maximum(read, storable), output)
    after: Number = 0.0
    in_time: Number = 0.0
    if turn:
        cut = turn * (plan["message"] + plan["answer"]) > plan["history_limit"]
        after = _stored(np.minimum(np.where(cut, alike, _prompt(plan, turn - 1)), most), cache)
        in_time = plan["in_time"] if cache.renewed else _in_time(plan, cache, turn)
    begun = _stored(np.minimum(plan["shared"], most), cache)
    warm, cold = (1 - in_time) * plan["warm"], (1 - in_time) * (1 - plan["warm"])
    kept = in_time * np.maximum(after, storable) + warm * np.maximum(begun, storable) + cold * storable
    return _billed(price, total, in_time * after + warm * begun, kept, output)


def _prompt(plan: Mapping[str, Number], turn: int) -> Number:
    """Tokens of the prompt of a turn: what all share, what is the user's, what was said before, and the message."""
    said = np.minimum(turn * (plan["message"] + plan["answer"]), plan["history_limit"])
    return plan["shared"] + plan["own"] + said + plan["message"]


def _in_time(plan: Mapping[str, Number], cache: Cache, turn: int) -> Number:
    waited = plan["gap_s"] * (1 if cache.renewed else turn)
    spread = float(np.asarray(plan["spread"]).flat[0])
    if spread <= 1:
        return np.where(np.asarray(waited) <= cache.lifetime_s, 1.0, 0.0)
    # Where no gap is drawn it is one number, and asked once.
    found: Number = 0.5 * (1 + _erf(np.log(cache.lifetime_s / np.asarray(waited)) / (np.log(spread) * sqrt(2))))
    return found


def _stored(tokens: Number, cache: Cache) -> Number:
    kept = np.floor(np.asarray(tokens) / cache.increment) * cache.increment
    return np.where(kept >= cache.minimum, kept, 0.0)


def _billed(price: PriceList, total: Number, read: Number, kept: Number, output: Number) -> Number:
    usd = _at(price.rates, total, read, kept, output)
    for tier in price.tiers:
        size = np.rint(np.asarray(total))
        holds = size >= tier.above if tier.inclusive else size > tier.above
        if holds.any():
            usd = np.where(holds, _at(tier.rates, total, read, kept, output), usd)
    return usd


def _at(rates: Rates, total: Number, read: Number, kept: Number, output: Number) -> Number:
    fresh, cached, written, answered = (float(rates.of(kind)) / 1e6 for kind in ("fresh", "read", "written", "output"))
    return (total - kept) * fresh + read * cached + (kept - read) * written + output * answered
