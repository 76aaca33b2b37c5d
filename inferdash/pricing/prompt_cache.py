"""Prompt caching: what a shared start saves, what storing it costs, and how long it lasts.

Amounts are in tokens' worth: the number of fresh input tokens that cost as much.
"""

from collections.abc import Sequence

import numpy as np

from inferdash.formula import Number, formula


@formula(unit="tokens", ref="prompt-caching")
def uncached_request_tokens(*, start: Number, rest: Number) -> Number:
    """Input tokens' worth of a request without a cache: each token of its prompt."""
    return start + rest


@formula(unit="tokens", ref="prompt-caching")
def first_request_tokens(*, start: Number, rest: Number, write: Number) -> Number:
    """Input tokens' worth of the request that stores the start, at `write` times the price of an input token."""
    return start * write + rest


@formula(unit="tokens", ref="prompt-caching")
def later_request_tokens(*, start: Number, rest: Number, read: Number) -> Number:
    """Input tokens' worth of a request that reads the start, at `read` times the price of an input token."""
    return start * read + rest


@formula(unit="tokens", ref="prompt-caching")
def mean_request_tokens(*, first: Number, later: Number, read_share: Number) -> Number:
    """Input tokens' worth of a request on average, where a share of the requests finds the start in the cache."""
    return later * read_share + first * (1 - read_share)


@formula(unit="times", ref="prompt-caching")
def saving_factor(*, uncached: Number, cached: Number) -> Number:
    """How many times less a request costs; below 1 it costs more."""
    return uncached / cached


@formula(unit="%", ref="prompt-caching")
def break_even_read_share(*, write: Number, read: Number) -> Number:
    """Share of requests that must find the start in the cache for caching to cost no more than no cache."""
    return (write - 1) / (write - read)


@formula(unit="requests", ref="prompt-caching")
def break_even_requests(*, write: Number, read: Number) -> Number:
    """Requests, the storing one included, after which caching costs no more, when all later ones read.

    A billionth is taken off, so that a quotient which is whole but for rounding stays whole.
    """
    return np.maximum(1, np.ceil((write - read) / (1 - read) - 1e-9))


@formula(unit="%", ref="prompt-caching")
def read_share_fixed(*, interval_s: Number, lifetime_s: Number) -> Number:
    """Share of the later requests that read, at a fixed interval, where each use renews the lifetime: all or none.

    A billionth is added, so that a quotient which is whole but for rounding stays whole.
    """
    return np.minimum(1, np.floor(lifetime_s / interval_s + 1e-9))


@formula(unit="reads", ref="prompt-caching")
def reads_of_a_lifetime(*, interval_s: Number, lifetime_s: Number) -> Number:
    """Requests at a fixed interval that read one stored start before its lifetime, never renewed, has ended.

    A billionth is added, so that a quotient which is whole but for rounding stays whole.
    """
    return np.floor(lifetime_s / interval_s + 1e-9)


@formula(unit="%", ref="prompt-caching")
def read_share_of_reads(*, reads: Number) -> Number:
    """Share of requests that read, where each stored start is read that many times and then stored again."""
    return reads / (reads + 1)


@formula(unit="%", ref="prompt-caching")
def read_share_random(*, interval_s: Number, lifetime_s: Number) -> Number:
    """Share of requests that read, at random times (Poisson), where each use renews the lifetime.

    A request reads when the one before it came less than a lifetime ago: 1 - exp(-rate · lifetime).
    """
    return 1 - np.exp(-lifetime_s / interval_s)


@formula(unit="tokens", ref="prompt-caching")
def reusable_tokens(*, shared: Number, increment: Number) -> Number:
    """Tokens of a shared start that a cache stored at multiples of `increment` gives back."""
    return np.floor(shared / increment) * increment


def read_share(*, interval_s: Number, lifetime_s: Number, renewed: bool, random: bool) -> Number:
    """Share of the later requests that find the start in the cache."""
    if renewed:
        share = read_share_random if random else read_share_fixed
        return share(interval_s=interval_s, lifetime_s=lifetime_s)
    # At random times a lifetime that is never renewed sees rate · lifetime requests on average.
    reads = lifetime_s / interval_s if random else reads_of_a_lifetime(interval_s=interval_s, lifetime_s=lifetime_s)
    return read_share_of_reads(reads=reads)


def shared_start(first: Sequence[str], second: Sequence[str]) -> int:
    """Tokens at the start of two prompts that are the same."""
    return next(
        (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


@formula(unit="$", ref="prompt-caching")
def storage_usd(*, tokens: Number, hours: Number, usd_per_mtok_hour: Number) -> Number:
    """Dollars for keeping a start that was stored by name, where an API sells that by time."""
    return tokens * hours * usd_per_mtok_hour / 1e6


@formula(unit="requests", ref="prompt-caching")
def reads_an_hour_to_pay(*, usd_per_mtok_hour: Number, input_usd: Number, read: Number) -> Number:
    """Reads an hour from which keeping a start costs less than the input that they save."""
    return usd_per_mtok_hour / (input_usd * (1 - read))
