"""Prefill and decode on workers of their own: what they carry, what is moved between them, and what that gains.

With the same chips, the same layout and the same batch nothing is gained: `carried_per_gpu_s` is then
`steady_state.carried_per_s`. A gain comes from a larger batch within the same inter-token latency, as no prompt
interrupts a decode, and from a chip, a layout and a format for each phase.
"""

from typing import Any

import numpy as np

from inferdash.facts.machines.accelerator import Accelerator
from inferdash.formula import Number, formula
from inferdash.physics.capacity.memory import cache_bytes_of_one
from inferdash.physics.deployment import Deployment
from inferdash.physics.parallelism import Fabric


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


@formula(unit="tokens/s", ref="rate-matching")
def rate_matched_tok_per_s(
    *, answer: Number, prefill_per_s: Number, prefill_gpus: Number, decode_per_s: Number, decode_gpus: Number
) -> Number:
    """Output tokens a second of one accelerator where prefill workers are as many as keep a decode worker busy.

    `prefill_per_s` and `decode_per_s` are requests a second of one worker, with `prefill_gpus` and `decode_gpus`.
    Workers are not whole numbers here, and nothing waits: what is served end to end is less.
    """
    return answer * decode_per_s / (prefill_gpus * decode_per_s / prefill_per_s + decode_gpus)


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


def transfer_link(reads: Accelerator, writes: Accelerator, fabric: Fabric | None, *, gpus: int) -> Fabric | None:
    """The link that caches take between so many accelerators in all; None where its speed is not known.

    That within a machine where all are in one and of one kind, or where no other is said; else that between machines.
    """
    speeds = [chip.link_bandwidth for chip in (reads, writes) if chip.link_bandwidth]
    alike = reads.name == writes.name
    if fabric is not None and not (alike and gpus <= fabric.node and speeds):
        return fabric
    return Fabric(node=gpus, bandwidth=min(speeds)) if len(speeds) == 2 else None  # noqa: PLR2004 - both


def part_bytes(machine: Deployment, *, tokens: Number) -> Any:
    """Bytes of the cache of one request on one accelerator of those that hold it, and so on its link."""
    whole = cache_bytes_of_one(machine, tokens=tokens)
    return whole / machine.gpus if machine.layout.even else whole
