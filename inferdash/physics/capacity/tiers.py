"""A cache below the GPUs, in host memory or on an SSD: what moving it in takes, and from when on that is quicker."""

from typing import Final

from inferdash.formula import Number, formula

HOST_REACHED: Final = 50 / 63
"""Of the rate of PCIe that copies from host memory reach: about 50 GB/s of 63 one way on an H100, by vLLM's note on its
offloading connector of 2026-01-08."""
LATENCY_S: Final = 5e-3
"""Seconds until the first byte of a request comes, in an engine: assumed, as no engine publishes one."""
TB: Final = 1e12
"""Bytes."""


@formula(unit="s", ref="cache-tiers")
def reload_s(*, latency_s: Number, tokens: Number, token_bytes: Number, bandwidth: Number) -> Number:
    """Seconds in which the cache of so many tokens is moved in, over all links of a replica together."""
    return latency_s + tokens * token_bytes / bandwidth


@formula(unit="B/s", ref="cache-tiers")
def break_even_bandwidth(*, token_bytes: Number, token_s: Number) -> Number:
    """Bytes a second at which a token is moved in as quickly as it is computed; beyond it moving is quicker."""
    return token_bytes / token_s


@formula(unit="tokens", ref="cache-tiers")
def least_tokens(*, latency_s: Number, compute_token_s: Number, reload_token_s: Number) -> Number:
    """Tokens from which on moving is quicker than computing, where a token is."""
    return latency_s / (compute_token_s - reload_token_s)


@formula(unit="s", ref="cache-tiers")
def split_s(*, compute_s: Number, moved_s: Number) -> Number:
    """Seconds at best where part of a text is computed while the rest is moved in, and both end together."""
    return compute_s * moved_s / (compute_s + moved_s)
