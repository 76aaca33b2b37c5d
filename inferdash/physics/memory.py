"""What the memory holds: the parameters and the caches of the requests."""

import numpy as np

from inferdash.formula import Number, formula
from inferdash.physics.deployment import Deployment
from inferdash.physics.kv_cache import request_cache_bytes


@formula(unit="requests", ref="batching")
def requests_that_fit(*, gpus: Number, memory: Number, stored_bytes: Number, cache_bytes: Number) -> Number:
    """The largest batch: requests whose caches fit beside the parameters, none where the parameters do not fit.

    `memory` is the datasheet's, of one accelerator; what engines keep for themselves is not taken off.
    """
    return np.maximum(0, np.floor((gpus * memory - stored_bytes) / cache_bytes))


@formula(unit="GPUs", ref="batching")
def gpus_that_hold(*, stored_bytes: Number, requests: Number, cache_bytes: Number, memory: Number) -> Number:
    """The fewest accelerators whose memory together holds the parameters and the caches of that many requests."""
    return np.ceil((stored_bytes + requests * cache_bytes) / memory)


def largest_batch(deployment: Deployment, *, tokens: Number) -> Number:
    """Requests of `tokens` tokens each that fit."""
    return requests_that_fit(
        gpus=deployment.gpus,
        memory=deployment.accelerator.memory,
        stored_bytes=deployment.stored_bytes,
        cache_bytes=_cache_bytes(deployment, tokens),
    )


def fewest_gpus(deployment: Deployment, *, requests: Number, tokens: Number) -> Number:
    """Accelerators that hold the model and that many requests of `tokens` tokens each."""
    return gpus_that_hold(
        stored_bytes=deployment.stored_bytes,
        requests=requests,
        cache_bytes=_cache_bytes(deployment, tokens),
        memory=deployment.accelerator.memory,
    )


def _cache_bytes(deployment: Deployment, tokens: Number) -> Number:
    return request_cache_bytes(
        deployment.architecture, tokens=tokens, bytes_per_number=deployment.cache_bytes_per_number
    )
