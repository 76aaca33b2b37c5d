"""The KV cache: the keys and values that the positions of a request leave for the later ones."""

from inferdash.facts.architecture import Architecture
from inferdash.formula import Number, formula


@formula(unit="B", ref="kv-cache")
def cache_bytes(*, layers: Number, numbers_per_layer: Number, bytes_per_number: Number) -> Number:
    """Bytes of the cache of one request in `layers` equal layers. Paging waste is not included."""
    return layers * numbers_per_layer * bytes_per_number


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
