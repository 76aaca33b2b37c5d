"""The KV cache: the keys and values that the positions of a request leave for the later ones."""

from collections.abc import Callable

from inferdash.facts.models.architecture import Architecture
from inferdash.formula import Number, formula
from inferdash.layers.mixer import Mixer


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


@formula(unit="B", ref="linear-attention")
def state_bytes(*, layers: Number, numbers_per_layer: Number) -> Number:
    """Bytes of the states of one request in `layers` equal layers, whatever its length: 4 for each number."""
    return layers * numbers_per_layer * 4


def _over_layers(architecture: Architecture, of: Callable[[Mixer], Number], bytes_per_number: Number) -> Number:
    """Bytes of the numbers that `of` gives for a layer, over all layers whose cache grows with the text."""
    return sum(
        cache_bytes(layers=blocks.count, numbers_per_layer=of(blocks.attention), bytes_per_number=bytes_per_number)
        for blocks in architecture.blocks
        if blocks.attention and blocks.attention.grows
    )


def _state_over_layers(architecture: Architecture, of: Callable[[Mixer], float]) -> Number:
    """Bytes of the numbers of the states that `of` gives for a layer, over all layers that have one."""
    return sum(
        state_bytes(layers=blocks.count, numbers_per_layer=of(blocks.attention))
        for blocks in architecture.blocks
        if blocks.attention and blocks.attention.state_numbers
    )


def text_cache_bytes(architecture: Architecture, *, tokens: Number, bytes_per_number: Number) -> Number:
    """Bytes of the cache of one request of `tokens` tokens that grow with them, over all layers: what it needs."""
    return _over_layers(architecture, lambda mixer: mixer.cached_numbers(tokens), bytes_per_number)


def further_cache_bytes(architecture: Architecture, *, tokens: Number, bytes_per_number: Number) -> Number:
    """Bytes that the layers which predict further tokens add to that, where they are in use: theirs alone."""
    further = architecture.mtp
    if further is None or further.attention is None:
        return 0 * tokens
    numbers = further.attention.cached_numbers(tokens)
    return cache_bytes(layers=further.count, numbers_per_layer=numbers, bytes_per_number=bytes_per_number)


def reserved_cache_bytes(architecture: Architecture, *, tokens: Number, bytes_per_number: Number) -> Number:
    """The same as an engine reserves it that keeps one table of blocks for all layers: windows as long as the text."""
    return _over_layers(architecture, lambda mixer: mixer.reserved_numbers(tokens), bytes_per_number)


def request_state_bytes(architecture: Architecture, *, reserved: bool = False) -> Number:
    """Bytes of the states of one request, over all layers: what they need, or what engines keep for them."""
    if reserved:
        return _state_over_layers(architecture, lambda mixer: mixer.reserved_state_numbers)
    return _state_over_layers(architecture, lambda mixer: mixer.state_numbers)


def request_cache_bytes(
    architecture: Architecture, *, tokens: Number, bytes_per_number: Number, tensor: int = 1
) -> Number:
    """Bytes that one request of `tokens` tokens keeps, its cache and its states, on each of `tensor` accelerators.

    Heads of keys and values are not split below one for each, and a latent is copied to each.
    """
    grown = _over_layers(
        architecture, lambda mixer: mixer.cached_numbers(tokens) * mixer.share(tensor), bytes_per_number
    )
    return grown + _state_over_layers(architecture, lambda mixer: mixer.state_numbers * mixer.share(tensor))


def read_cache_bytes(
    architecture: Architecture, *, tokens: Number, bytes_per_number: Number, tensor: int = 1
) -> Number:
    """Bytes of the cache and the states of one request that a pass reads, on each of `tensor` accelerators."""
    read = _over_layers(architecture, lambda mixer: mixer.read_numbers(tokens) * mixer.share(tensor), bytes_per_number)
    return read + _state_over_layers(architecture, lambda mixer: mixer.state_numbers * mixer.share(tensor))
