"""A model's config.json, read field by field.

A field that is needed and absent, or that cannot be, is named and never guessed. What a family of models does
without writing it into its file stands in `families`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from inferdash.layers.families import FAMILIES, PLAIN, Family

MOST_LAYERS: Final = 10_000
_LARGEST: Final = 10**12
_NO_VALUE: Final = object()


class UnreadFieldError(ValueError):
    """A field that is missing or cannot be; its text is one sentence that names it."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}.")
        self.field = field


class Config:
    """The fields of a file, by any of the names that families give them."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self.found: dict[str, Any] = {}
        """What was worked out once for all layers."""
        self.used: dict[str, Any] = {}
        """Fields that were read, which are all that the architecture follows from."""

    def value(self, *names: str) -> Any:
        """The first of these fields that is there and not null, else None."""
        for name in names:
            if self.fields.get(name) is not None:
                self.used[name] = self.fields[name]
                return self.fields[name]
        return None

    def whole(self, *names: str, default: Any = _NO_VALUE, least: int = 1) -> Any:
        """A whole number of at least `least`.

        Raises:
            UnreadFieldError: where it is missing and has no default, or is no such number.
        """
        found = self.value(*names)
        if found is None:
            if default is _NO_VALUE:
                raise UnreadFieldError(" or ".join(names[:2]), "is missing")
            return default
        name = next(name for name in names if self.fields.get(name) is not None)
        return whole_number(name, found, least=least)

    def flag(self, *names: str, default: bool = False) -> bool:
        """A truth value.

        Raises:
            UnreadFieldError: where it is neither true nor false.
        """
        found = self.value(*names)
        if found is None:
            return default
        if not isinstance(found, bool):
            raise UnreadFieldError(names[0], f"is {_said(found)}, neither true nor false")
        return found

    def list(self, *names: str) -> Sequence[Any] | None:
        """A list with an entry a layer, or more; None where it is not there.

        Raises:
            UnreadFieldError: where it is no list, or shorter than the layers.
        """
        found = self.value(*names)
        if found is None or (isinstance(found, int) and not isinstance(found, bool)):
            return None
        if not isinstance(found, list):
            raise UnreadFieldError(names[0], f"is {_said(found)}, not a list")
        if len(found) < self.layers:
            raise UnreadFieldError(names[0], f"has {len(found)} entries for {self.layers} layers")
        return found

    def part(self, name: str) -> "Config | None":
        """A part of the file that holds fields itself; None where it is not there.

        Raises:
            UnreadFieldError: where it holds no fields.
        """
        found = self.value(name)
        if found is None:
            return None
        if not isinstance(found, Mapping):
            raise UnreadFieldError(name, f"is {_said(found)}, not a group of fields")
        return Config(found)

    def of_layer(self, layer: int) -> "Config":
        """The file as it holds for one layer: some files give a layer fields of its own."""
        own = self.value("per_layer_config")
        if not isinstance(own, Mapping):
            return self
        fields = next((part for key, part in own.items() if str(key).isdigit() and int(key) == layer), None)
        if not isinstance(fields, Mapping):
            return self
        one = Config({**self.fields, **fields})
        one.used, one.found, one.kinds = self.used, self.found, self.kinds
        return one

    @cached_property
    def model_type(self) -> str:
        """What the file calls the family; empty where it does not say."""
        found = self.value("model_type")
        return found if isinstance(found, str) else ""

    @cached_property
    def family(self) -> Family:
        """What the family does without saying it."""
        return FAMILIES.get(self.model_type, PLAIN)

    @cached_property
    def hidden(self) -> int:
        """Numbers in the vector of a position."""
        return int(self.whole("hidden_size", "n_embd", "d_model"))

    @cached_property
    def layers(self) -> int:
        """Layers, one after another."""
        found = self.value("num_hidden_layers", "n_layer", "num_layers", "n_layers")
        if found is None:  # some files only list them
            listed = self.value("layers_block_type", "layer_types", "hybrid_override_pattern")
            if not isinstance(listed, list | str) or not listed:
                raise UnreadFieldError("num_hidden_layers", "is missing")
            found = len(listed)
        count = whole_number("num_hidden_layers", found)
        if count > MOST_LAYERS:
            raise UnreadFieldError("num_hidden_layers", f"is {count:,}, more than the {MOST_LAYERS:,} that are read")
        return count

    @cached_property
    def kinds(self) -> Sequence[str]:
        """What each layer mixes with: "full", "window", "chunk", "linear", "mamba", "conv", or "none".

        Raises:
            UnreadFieldError: where a file names a kind that is not known.
        """
        return _kinds(self)


def whole_number(name: str, value: Any, *, least: int = 1) -> int:
    """A value of a file as a whole number of at least `least`.

    Raises:
        UnreadFieldError: where it is none.
    """
    if isinstance(value, list) and value and all(entry == value[0] for entry in value):
        value = value[0]  # one for each layer, all the same
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnreadFieldError(name, f"is {_said(value)}, not a whole number")
    if not least <= value <= _LARGEST:
        raise UnreadFieldError(name, f"is {_said(value)}, not from {least} to {_LARGEST:,}")
    return value


def _said(value: Any) -> str:
    """A value in at most 40 characters."""
    text = f"“{value}”" if isinstance(value, str) else "a list" if isinstance(value, list) else repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"  # noqa: PLR2004 - the length that the docstring states


_NAMES: Final = {
    "full_attention": "full",
    "attention": "full",
    "full": "full",
    "*": "full",
    "deepseek_sparse_attention": "full",
    "minimax_m3_sparse": "full",
    "indexed_attention": "full",
    "compressed_sparse_attention": "full",
    "heavily_compressed_attention": "full",
    "sliding_attention": "window",
    "sliding_window_attention": "window",
    "local": "window",
    "chunked_attention": "chunk",
    "linear_attention": "linear",
    "kda": "linear",
    "mamba": "mamba",
    "mamba2": "mamba",
    "M": "mamba",
    "conv": "conv",
    "moe": "none",
    "mlp": "none",
    "E": "none",
    "-": "none",
    "L": "window",
    "G": "full",
}
"""What files call the kinds of layers."""


def _named(field: str, names: Iterable[Any]) -> list[str]:
    found = []
    for name in names:
        if not isinstance(name, str) or name not in _NAMES:
            raise UnreadFieldError(field, f"names the kind of layer {_said(name)}, which is not known")
        found.append(_NAMES[name])
    return found


def _kinds(config: Config) -> Sequence[str]:
    layers, family = range(config.layers), config.family
    for field in ("layer_types", "layers_block_type"):
        listed = config.list(field)
        if listed:
            return _named(field, listed[: config.layers])
    pattern = config.value("hybrid_override_pattern")
    if pattern is not None:
        if not isinstance(pattern, str) or len(pattern) != config.layers:
            raise UnreadFieldError("hybrid_override_pattern", f"does not name {config.layers} layers")
        return _named("hybrid_override_pattern", pattern)
    for field, one, other in (("attn_type_list", "full", "linear"), ("hybrid_layer_pattern", "window", "full")):
        listed = config.list(field)
        if listed:
            return [one if entry == 1 else other for entry in listed[: config.layers]]
    linear = config.part("linear_attn_config")
    if linear:
        full = set(linear.value("full_attn_layers") or ())  # counted from 1
        return ["full" if layer + 1 in full else "linear" for layer in layers]
    interval = config.whole("full_attention_interval", default=None)
    if interval:
        return ["full" if (layer + 1) % interval == 0 else "linear" for layer in layers]
    period = config.whole("attn_layer_period", default=None)
    if period:
        offset = config.whole("attn_layer_offset", least=0)
        return ["full" if layer % period == offset else "mamba" for layer in layers]
    attention = config.value("attn_layer_indices")
    if isinstance(attention, list):
        return ["full" if layer in attention else "mamba" for layer in layers]
    if config.value("linear_num_value_heads") is not None and family.full_every:
        return ["full" if (layer + 1) % family.full_every == 0 else "linear" for layer in layers]
    if any(name in config.fields for name in _STATE_SPACE):
        raise UnreadFieldError("layer_types", "is missing, so that it is not known which layers are attention")
    return _windows(config, layers, family)


_STATE_SPACE: Final = ("mamba_d_state", "ssm_state_size", "mamba_num_heads", "state_size")


def _windows(config: Config, layers: range, family: Family) -> Sequence[str]:
    if config.whole("attention_chunk_size", default=None) and family.full_every:
        return ["full" if (layer + 1) % family.full_every == 0 else "chunk" for layer in layers]
    if not config.flag("use_sliding_window", default=family.uses_window):
        return ["full"] * len(layers)
    if not config.whole("sliding_window", "sliding_window_size", default=None, least=0):
        return ["full"] * len(layers)
    every = config.value("sliding_window_pattern") or family.full_every
    if isinstance(every, str):
        return [_named("sliding_window_pattern", every)[layer % len(every)] for layer in layers]
    if every:
        every = whole_number("sliding_window_pattern", every)
        return ["full" if (layer + 1) % every == 0 else "window" for layer in layers]
    first = config.whole("max_window_layers", default=0, least=0)
    return ["full" if layer < first else "window" for layer in layers]
