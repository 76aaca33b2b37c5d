"""Routed experts of some layers in host memory, run by the CPU: what a token takes then, and what the GPU holds."""

from inferdash.facts.models.architecture import Architecture
from inferdash.formula import Number, formula
from inferdash.layers.feed_forward import Experts


@formula(unit="B", ref="experts")
def host_read_bytes(*, layers: Number, experts_per_token: Number, expert_bytes: Number) -> Number:
    """Bytes of experts that a token reads from host memory."""
    return layers * experts_per_token * expert_bytes


@formula(unit="s", ref="experts")
def with_host_s(*, gpu_bytes: Number, gpu_bandwidth: Number, host_bytes: Number, host_bandwidth: Number) -> Number:
    """Seconds of a token at least: the two read one after the other, as each layer waits for the one before."""
    return gpu_bytes / gpu_bandwidth + host_bytes / host_bandwidth


def layers_with_experts(architecture: Architecture) -> tuple[int, Experts | None]:
    """Layers that have routed experts, and the experts of the first of them."""
    found = [
        (blocks.count, network)
        for blocks in architecture.blocks
        for network in blocks.networks
        if isinstance(network, Experts)
    ]
    return sum(count for count, _ in found), found[0][1] if found else None
