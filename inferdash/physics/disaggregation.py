"""Prefill and decode on workers of their own: what they carry, what is moved between them, and what that gains.

With the same chips, the same layout and the same batch nothing is gained: `carried_per_gpu_s` is then
`steady_state.carried_per_s`. A gain comes from a larger batch within the same inter-token latency, as no prompt
interrupts a decode, and from a chip, a layout and a format for each phase.
"""

import numpy as np

from inferdash.formula import Number, formula


@formula(unit="requests/s", ref="disaggregation")
def carried_apart_per_s(
    *,
    prefill_workers: Number,
    prefill_s: Number,
    decode_workers: Number,
    batch: Number,
    passes: Number,
    pass_s: Number,
) -> Number:
    """Requests a second that workers carry: those that read prompts, or those that write, whichever is fewer.

    `batch` is that of each decode worker, `passes` those of one answer: a token fewer than it has, as the first one
    comes with the prompt.
    """
    return np.minimum(prefill_workers / prefill_s, decode_workers * batch / (passes * pass_s))


@formula(unit="workers", ref="disaggregation")
def prefill_workers_per_decode_worker(*, prefill_s: Number, batch: Number, passes: Number, pass_s: Number) -> Number:
    """Prefill workers that keep a decode worker busy."""
    return prefill_s * batch / (passes * pass_s)


@formula(unit="requests/s", ref="disaggregation")
def carried_per_gpu_s(*, prefill_s: Number, batch: Number, passes: Number, pass_s: Number) -> Number:
    """Requests a second of one accelerator at the ratio that keeps both busy, with workers of one accelerator each."""
    return 1 / (prefill_s + passes * pass_s / batch)


@formula(unit="s", ref="disaggregation")
def transfer_s(*, sent_bytes: Number, received_bytes: Number, link_bandwidth: Number) -> Number:
    """Seconds in which a cache is moved: each accelerator sends its part of it, and each receives its own.

    So layouts of different sizes share as many links as the smaller one has accelerators with different parts.
    """
    return np.maximum(sent_bytes, received_bytes) / link_bandwidth


@formula(unit="s", ref="disaggregation")
def late_transfer_s(*, transfer_s: Number, prefill_s: Number, layers: Number) -> Number:
    """Seconds of a transfer that are left when the prompt is read, where each layer is sent as soon as it is there."""
    return np.maximum(0, transfer_s - prefill_s) + transfer_s / layers


@formula(unit="requests/s", ref="disaggregation")
def link_carries_per_s(*, link_bandwidth: Number, sent_bytes: Number) -> Number:
    """Requests a second whose caches the links of a worker carry, where each of its accelerators sends so much."""
    return link_bandwidth / sent_bytes
