"""The KV cache: the keys and values that the positions of a request leave for the later ones."""

from inferdash.facts.architecture import Architecture
from inferdash.formula import Number, formula


@formula(unit="B", ref="kv-cache")
def cache_bytes(*, layers: Number, numbers_per_layer: Number, bytes_per_number: Number) -> Number:
    """Bytes of the cache of one request in `layers` equal layers. Paging waste is not included."""
    return layers * numbers_per_layer * bytes_per_number


@formula(unit="positions", ref="kv-cache")
def positions_without_cache(*, prompt: Number, answer: Number) -> Number:
    """Positions that an answer runs without a cache: each pass runs the whole text so far again."""
    return answer * prompt + answer * (answer - 1) / 2


@formula(unit="positions", ref="kv-cache")
def positions_with_cache(*, prompt: Number, answer: Number) -> Number:
    """Positions that an answer runs with a cache: the prompt once, then one position for each further token."""
    return prompt + answer - 1


@formula(unit="times", ref="kv-cache")
def long_pass_ratio(*, long_bytes: Number, short_bytes: Number) -> Number:
    """How many times as many bytes a pass after a long text loads as one after none."""
    return long_bytes / short_bytes


def request_cache_bytes(architecture: Architecture, *, tokens: Number, bytes_per_number: Number) -> Number:
    """Bytes of the cache of one request of `tokens` tokens, over all blocks."""
    return sum(
        cache_bytes(
            layers=blocks.count,
            numbers_per_layer=blocks.attention.cached_numbers(tokens),
            bytes_per_number=bytes_per_number,
        )
        for blocks in architecture.blocks
    )
