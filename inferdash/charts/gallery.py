"""Every chart, for those who build or check them all."""

from functools import partial
from typing import Final

from inferdash.charts import (
    batching,
    evidence,
    expected,
    experts,
    feature_cost,
    kv_cache,
    loading,
    plan,
    prompt_cache,
    quantization,
    request,
    roofline,
    serving,
    speculation,
)

CHARTS: Final = (
    roofline.roofline,
    request.first_token,
    request.timeline,
    speculation.gain,
    speculation.by_batch,
    kv_cache.grid,
    loading.along_text,
    kv_cache.memory,
    prompt_cache.lifetime,
    batching.curve,
    loading.along_batch,
    partial(batching.stays, "static"),
    partial(batching.stays, "continuous"),
    quantization.error,
    quantization.sizes,
    quantization.part_sizes,
    experts.distinct,
    experts.cost,
    feature_cost.bars,
    feature_cost.days,
    feature_cost.turns,
    feature_cost.drivers,
    partial(feature_cost.models, 10),
    serving.bars,
    partial(serving.moments, "batch", "requests in the batch"),
    partial(serving.moments, "cache", "of the cache in use"),
    serving.knee,
    plan.frontier,
    evidence.scatter,
    partial(evidence.distribution, 4),
    partial(expected.parts, "decode pass"),
)
"""Builders of specifications, in the order of the pages."""
