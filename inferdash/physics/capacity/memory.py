"""What the memory holds: the parameters and the caches of the requests."""

from typing import Final

import numpy as np

from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.machines.engine_memory import EngineMemory
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import PRECISIONS, Precision
from inferdash.formula import Number, formula
from inferdash.layers.counts import Counts
from inferdash.layers.feed_forward import Experts
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.capacity.parameters import bytes_in_format, parameters
from inferdash.physics.deployment import Deployment
from inferdash.physics.parallelism import requests_of_a_group


@formula(unit="B", ref="engine-memory")
def widened_bytes(
    *, expert_bytes: Number, width: Number, hidden: Number, to_width: Number, to_hidden: Number
) -> Number:
    """Bytes that experts take beyond those of their file, where kernels want their sides at multiples."""
    return expert_bytes * (
        np.ceil(width / to_width) * to_width * np.ceil(hidden / to_hidden) * to_hidden / (width * hidden) - 1
    )


@formula(unit="requests", ref="batching")
def requests_that_fit(*, gpus: Number, memory: Number, stored_bytes: Number, cache_bytes: Number) -> Number:
    """The largest batch: requests whose caches fit beside the parameters, none where the parameters do not fit.

    `memory` is that of one accelerator for parameters and caches.
    """
    return np.maximum(0, np.floor((gpus * memory - stored_bytes) / cache_bytes))


@formula(unit="GPUs", ref="batching")
def gpus_that_hold(*, stored_bytes: Number, requests: Number, cache_bytes: Number, memory: Number) -> Number:
    """The fewest accelerators whose memory together holds the parameters and the caches of that many requests."""
    return np.ceil((stored_bytes + requests * cache_bytes) / memory)


def largest_batch(deployment: Deployment, *, tokens: Number) -> Number:
    """Requests of `tokens` tokens each that fit."""
    layout = deployment.layout
    if layout.even:
        return requests_that_fit(
            gpus=deployment.gpus,
            memory=deployment.memory,
            stored_bytes=deployment.stored_bytes,
            cache_bytes=cache_bytes_of_one(deployment, tokens=tokens),
        )
    return layout.data * requests_that_fit(
        gpus=1,
        memory=deployment.memory,
        stored_bytes=deployment.stored_bytes_of_one,
        cache_bytes=cache_bytes_of_one(deployment, tokens=tokens),
    )


def fewest_gpus(deployment: Deployment, *, requests: Number, tokens: Number) -> Number:
    """Accelerators that hold the model and that many requests of `tokens` tokens each, shared evenly."""
    return gpus_that_hold(
        stored_bytes=deployment.stored_bytes,
        requests=requests,
        cache_bytes=request_cache_bytes(
            deployment.architecture, tokens=tokens, bytes_per_number=deployment.cache_bytes_per_number
        ),
        memory=deployment.memory,
    )


def cache_bytes_of_one(deployment: Deployment, *, tokens: Number) -> Number:
    """Bytes of one request on one accelerator that holds a part of it; all of them where the work is shared evenly."""
    layout = deployment.layout
    return (
        request_cache_bytes(
            deployment.architecture,
            tokens=tokens,
            bytes_per_number=deployment.cache_bytes_per_number,
            tensor=layout.tensor,
        )
        / layout.pipeline
    )


def free_bytes_of_one(deployment: Deployment, *, requests: Number, tokens: Number) -> Number:
    """Bytes that are free on one accelerator beside its part of the parameters and the caches; negative: lacking."""
    caches = cache_bytes_of_one(deployment, tokens=tokens)
    if deployment.layout.even:
        return deployment.memory - (deployment.stored_bytes + requests * caches) / deployment.gpus
    mine = requests_of_a_group(requests=requests, data=deployment.layout.data)
    return deployment.memory - deployment.stored_bytes_of_one - mine * caches


TOWER_BYTES: Final = 2
"""Of a parameter of a tower for pictures or sound, which stays at 16 bits."""


def held_bytes(architecture: Architecture, weights: Precision, rule: EngineMemory, *, version: str) -> Number:
    """Bytes of all parameters as an engine holds them: of the format, with towers, experts widened as kernels want."""
    counts, in_format = parameters(architecture), in_model(weights, architecture)
    whole = bytes_in_format(
        in_format, counts.stored, output=counts.output_layer, looked_up=counts.looked_up, mixture=counts.mixture
    )
    whole = whole + TOWER_BYTES * architecture.other_parameters
    multiples = rule.widening(version) if weights == PRECISIONS["mxfp4"] else None
    if multiples:
        for blocks in architecture.blocks:
            for network in blocks.networks:
                if isinstance(network, Experts):
                    experts = Counts(experts=network.stored(architecture.hidden).experts * blocks.count)
                    whole = whole + widened_bytes(
                        expert_bytes=bytes_in_format(in_format, experts, output=0, mixture=True),
                        width=network.width,
                        hidden=network.latent or architecture.hidden,
                        to_width=multiples[0],
                        to_hidden=multiples[1],
                    )
    return whole
