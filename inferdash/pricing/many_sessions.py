"""The dollars of a session for many inputs at once: `feature.session` and its prices, on arrays."""

from collections.abc import Mapping
from math import erf, sqrt
from typing import Final

import numpy as np

from inferdash.facts.prices import PriceList, Rates
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
    shared, own, message, answer = (plan[name] for name in ("shared", "own", "message", "answer"))
    output = answer + plan["thinking"]
    usd: Number = np.zeros(np.shape(sum(plan.values()) + requests_per_day))
    before: Number = 0.0
    turns = np.asarray(plan["turns"])
    for turn in range(int(turns.max())):
        history = np.minimum(turn * (message + answer), plan["history_limit"])
        total = shared + own + history + message
        outcomes: list[tuple[Number, Number, Number]] = [(1.0, 0.0, 0.0)]
        if cache is not None:
            most = {"all": total, "session": shared + own, "shared": shared, "none": 0 * total}[marked]
            cut = turn * (message + answer) > plan["history_limit"]
            same = np.where(cut, shared + own, before) if turn else 0.0
            in_time = _in_time(plan, cache, turn) if turn else 0.0
            warm = 1 - np.exp(-requests_per_day / _DAY_S * cache.lifetime_s)
            reads = (
                [(1.0, known_share * total)]
                if known_share is not None
                else [
                    (in_time, _stored(np.minimum(same, most), cache)),
                    ((1 - in_time) * warm, _stored(np.minimum(shared, most), cache)),
                    ((1 - in_time) * (1 - warm), 0.0),
                ]
            )
            storable = _stored(np.minimum(total, most), cache)
            outcomes = [(chance, read, np.maximum(read, storable)) for chance, read in reads]
        read = sum(chance * got for chance, got, _ in outcomes)
        kept = sum(chance * held for chance, _, held in outcomes)
        usd = usd + np.where(turn < turns, _billed(price, total, read, kept, output), 0.0)
        before = total
    return usd


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
