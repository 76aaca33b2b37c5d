"""One pass of a model: what it multiplies, what it loads, and how long that takes at full speed.

Prefill, decode and the check of proposed tokens are the same pass with other numbers of positions and of earlier
tokens: a prefill runs the prompt with nothing before it, a decode runs one position after the text so far.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from inferdash.formula import Number, formula
from inferdash.physics import roofline
from inferdash.physics.capacity import kv_cache
from inferdash.physics.deployment import Deployment
from inferdash.physics.parallelism import between, requests_of_a_group, sent_bytes, two_links_s
from inferdash.physics.parallelism import link_s as link_s_of

Bound = Literal["compute", "memory"]


@formula(unit="FLOP", ref="reading-and-writing")
def matrix_flops(*, in_blocks: Number, output_layer: Number, positions: Number, output_positions: Number) -> Number:
    """Operations of one request with the parameters: 2 for each parameter and position that it works on.

    `output_positions` is at how many positions the output layer runs: all of them as the chapter counts, or the
    last one of a prefill as engines do.
    """
    return 2 * (in_blocks * positions + output_layer * output_positions)


@formula(unit="FLOP", ref="attention")
def attention_flops_of_layers(*, layers: Number, flops_per_layer: Number) -> Number:
    """Operations of attention of one request in `layers` equal layers."""
    return layers * flops_per_layer


@formula(unit="FLOP", ref="batching")
def pass_flops(*, requests: Number, matrix_flops: Number, attention_flops: Number) -> Number:
    """Operations of a pass: those of each request."""
    return requests * (matrix_flops + attention_flops)


@formula(unit="B", ref="batching")
def pass_bytes_read(*, parameter_bytes: Number, requests: Number, cache_bytes: Number) -> Number:
    """Bytes that a pass loads: the parameters once, and the cache of each request."""
    return parameter_bytes + requests * cache_bytes


@formula(unit="s", ref="tensor-parallelism")
def pass_with_link_s(*, pass_s: Number, link_s: Number) -> Number:
    """Seconds of a pass whose accelerators wait for each other on the link between them."""
    return pass_s + link_s


@dataclass(frozen=True)
class Pass:
    """One pass. Its fields are numbers, or arrays where it was asked for with arrays."""

    flops: Number
    matrix_flops: Number
    attention_flops: Number
    bytes_read: Number
    compute_s: Number | None
    """None where the peak of the accelerator is not known."""
    load_s: Number
    link_s: Number | None
    """On the link between accelerators; None where its bandwidth is not known, and 0 where none is counted."""
    pass_s: Number | None
    """None where its arithmetic is not known; it is then at least `load_s`."""

    @property
    def bound(self) -> Bound | None:
        """What a single pass is limited by; None where its arithmetic is not known."""
        if self.compute_s is None:
            return None
        return "compute" if self.compute_s > self.load_s else "memory"


def one_pass(
    deployment: Deployment, *, requests: Number, positions: Number, past: Number, output_positions: Number
) -> Pass:
    """A pass that runs `positions` new positions of each of `requests` requests after `past` tokens of each.

    Args:
        deployment: what runs on what.
        requests: requests in the pass.
        positions: new positions of each request.
        past: tokens of each request that are in the cache.
        output_positions: positions of each request at which the output layer runs.
    """
    architecture, counts = deployment.architecture, deployment.parameters
    matrices = matrix_flops(
        in_blocks=counts.active.total,
        output_layer=counts.output_layer,
        positions=positions,
        output_positions=output_positions,
    )
    attention = sum(
        attention_flops_of_layers(
            layers=blocks.count, flops_per_layer=blocks.attention.flops(positions=positions, past=past)
        )
        for blocks in architecture.blocks
        if blocks.attention
    )
    flops = pass_flops(requests=requests, matrix_flops=matrices, attention_flops=attention)
    bytes_read = pass_bytes_read(
        parameter_bytes=deployment.loaded_bytes(positions=requests * positions),
        requests=requests,
        cache_bytes=kv_cache.read_cache_bytes(
            architecture, tokens=past, bytes_per_number=deployment.cache_bytes_per_number
        ),
    )
    layout, chip = deployment.layout, deployment.accelerator
    sharing: Number = deployment.gpus
    bytes_loaded = bytes_read
    link_s: Number | None = 0.0
    if not layout.even:
        sharing = layout.tensor * requests / requests_of_a_group(requests=requests, data=layout.data)
        bytes_loaded, link_s = _of_one(deployment, requests=requests, positions=positions, past=past)
    compute_s = None
    if deployment.peak is not None and deployment.attention_peak is not None:
        compute_s = roofline.compute_s(
            matrix_flops=requests * matrices,
            peak=deployment.peak,
            attention_flops=requests * attention,
            attention_peak=deployment.attention_peak,
            gpus=sharing,
        )
    load_s = roofline.load_s(
        bytes_read=bytes_loaded, gpus=deployment.gpus if layout.even else 1, bandwidth=chip.bandwidth
    )
    pass_s = None if compute_s is None else roofline.pass_s(compute_s=compute_s, load_s=load_s)
    if pass_s is not None and link_s is not None and not layout.even:
        pass_s = pass_with_link_s(pass_s=pass_s, link_s=link_s)
    return Pass(
        flops=flops,
        matrix_flops=matrices,
        attention_flops=attention,
        bytes_read=bytes_read,
        compute_s=compute_s,
        load_s=load_s,
        link_s=link_s,
        pass_s=pass_s,
    )


def _of_one(
    deployment: Deployment, *, requests: Number, positions: Number, past: Number
) -> tuple[Number, Number | None]:
    """Bytes that one accelerator of each group of layers loads, one group after another, and seconds on the link."""
    layout, chip = deployment.layout, deployment.accelerator
    mine = requests_of_a_group(requests=requests, data=layout.data)
    # Experts that are divided over all accelerators work for the requests of every group.
    seen = requests if layout.expert > layout.tensor else mine
    bytes_loaded = pass_bytes_read(
        parameter_bytes=deployment.loaded_bytes_of_one(positions=seen * positions),
        requests=mine,
        cache_bytes=kv_cache.read_cache_bytes(
            deployment.architecture,
            tokens=past,
            bytes_per_number=deployment.cache_bytes_per_number,
            tensor=layout.tensor,
        ),
    )
    sent = sent_bytes(deployment.architecture, layout, positions=mine * positions)
    if not np.any(sent):
        return bytes_loaded, 0.0
    if chip.link_bandwidth is None:
        return bytes_loaded, None
    if deployment.fabric is None:
        return bytes_loaded, link_s_of(bytes_sent=sent, link_bandwidth=chip.link_bandwidth)
    beyond, waits = between(deployment.architecture, layout, positions=mine * positions, node=deployment.fabric.node)
    return bytes_loaded, two_links_s(
        bytes_sent=sent,
        link_bandwidth=chip.link_bandwidth,
        bytes_between=beyond,
        fabric_bandwidth=deployment.fabric.bandwidth,
        latency_s=waits * deployment.fabric.latency_s,
    )


def prefill(deployment: Deployment, *, prompt: Number, output_layer_last: bool) -> Pass:
    """The pass that reads the prompt of one request."""
    return one_pass(
        deployment, requests=1, positions=prompt, past=0, output_positions=1 if output_layer_last else prompt
    )


def decode(deployment: Deployment, *, requests: Number, past: Number) -> Pass:
    """A pass that writes one token of each request after `past` tokens."""
    return one_pass(deployment, requests=requests, positions=1, past=past, output_positions=1)
