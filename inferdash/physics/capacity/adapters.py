"""Low-rank adapters (LoRA): what they take in memory, and what a pass loads and computes for them."""

from inferdash.facts.models.architecture import Architecture
from inferdash.formula import Number, formula


@formula(unit="parameters", ref="low-rank-adapters")
def adapter_parameters(*, rank: Number, ends: Number) -> Number:
    """Parameters of an adapter: `rank` for each input and each output of the matrices that it is beside."""
    return rank * ends


@formula(unit="B", ref="low-rank-adapters")
def adapters_bytes(*, adapters: Number, parameters: Number, number_bytes: Number) -> Number:
    """Bytes of adapters that are kept, each in a slot of the largest rank."""
    return adapters * parameters * number_bytes


@formula(unit="s", ref="low-rank-adapters")
def adapter_pass_s(
    *, distinct: Number, parameters: Number, number_bytes: Number, bandwidth: Number, positions: Number, peak: Number
) -> Number:
    """Seconds at least that a pass takes more: each distinct adapter is loaded once, and each position runs its own."""
    return distinct * parameters * number_bytes / bandwidth + 2 * positions * parameters / peak


@formula(unit="adapters", ref="low-rank-adapters")
def distinct_adapters(*, adapters: Number, requests: Number) -> Number:
    """Adapters of a batch on average, where each request chooses one evenly at random."""
    return adapters * (1 - (1 - 1 / adapters) ** requests)


def ends_of(architecture: Architecture) -> int:
    """Inputs and outputs of all matrices of attention and dense networks together; experts are left out, as usual."""
    hidden, total = architecture.hidden, 0
    for blocks in architecture.blocks:
        attention = blocks.attention.matrices(hidden) if blocks.attention else ()
        dense = [matrix for network in blocks.networks for matrix in network.matrices(hidden).get("dense", ())]
        total += blocks.count * sum((one.inputs + one.outputs) * one.count for one in (*attention, *dense))
    return total
