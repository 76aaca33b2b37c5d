"""A model's config.json, read field by field.

A field that is needed and absent, or that cannot be, is named and never guessed. What a family of models does
without writing it into its file stands in `families`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from inferdash.layers.families import CLASSES, FAMILIES, PLAIN, Family, known_version

MOST_LAYERS: Final = 1_000
_LARGEST: Final = 10**8
HIDDEN: Final = ("hidden_size", "n_embd", "n_embed", "d_model", "model_dim")
"""What files call the size of the vector of a position."""
_NO_VALUE: Final = object()


class UnreadFieldError(ValueError):
    """A field that is missing or cannot be; its text is one sentence that names it."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}.")
        self.field = field


class Config:
    """The fields of a file, by any of the names that families give them."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = self._file = fields
        self.found: dict[str, Any] = {}
        """What was worked out once for all layers."""
        self.used: dict[str, Any] = {}
        """Fields that were read, which are all that the architecture follows from."""
        self.assumed: dict[str, str] = {}
        """Field that was not there -> what was taken instead, a sentence."""
        self.looked_at: set[str] = set()
        """Every field that was asked for, whether it was there or not."""
        self.last = ""
        """The field that was read last."""

    def value(self, *names: str) -> Any:
        """The first of these fields that is there and not null, else what the family's class has, else None."""
        self.looked_at.update(names)
        for name in names:
            if self.fields.get(name) is not None:
                self.last = name
                if name in self._file:  # a field of one layer is there as a part of the file that was read before
                    self.used[name] = self._file[name]
                return self.fields[name]
        for name in names:
            default = self.family.defaults.get(name)
            if default is not None and name in self.fields:  # null, which says that there is none
                self.used[name] = None
            elif default is not None:
                self.assumed[name] = f"{name} is not in the file: {default:,} is what “{self.model_type}” has then."
                return default
        return None

    def whole(self, *names: str, default: Any = _NO_VALUE, least: int = 1, called: str = "") -> Any:
        """A whole number of at least `least`, `called` so where none of the names is there.

        Raises:
            UnreadFieldError: where it is missing and has no default, or is no such number.
        """
        found = self.value(*names)
        if found is None:
            if default is _NO_VALUE:
                raise UnreadFieldError(called or " or ".join(names[:2]), "is missing")
            return default
        name = next((name for name in names if self.fields.get(name) is not None), names[0])
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
            raise UnreadFieldError(self.last, f"is {_said(found)}, not a list")
        if len(found) < self.layers:
            name = next(name for name in names if self.fields.get(name) is not None)
            raise UnreadFieldError(name, f"has {len(found)} entries for {self.layers} layers")
        return found

    def numbers(self, *names: str) -> Sequence[int] | None:
        """A list of whole numbers, such as of layers; None where it is not there.

        Raises:
            UnreadFieldError: where it is none.
        """
        found = self.value(*names)
        if found is None:
            return None
        if not isinstance(found, list) or any(isinstance(entry, bool) or not isinstance(entry, int) for entry in found):
            said = "has other items than" if isinstance(found, list) else f"is {_said(found)}, not a list of"
            raise UnreadFieldError(self.last, f"{said} whole numbers")
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
            raise UnreadFieldError(name, f"is {_said(found)}, not an object")
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
        one._file = self.fields
        one.used, one.found, one.assumed, one.kinds = self.used, self.found, self.assumed, self.kinds
        one.looked_at = self.looked_at
        return one

    def with_every(self, kind: str) -> "Config":
        """The same file, in which every layer is of one kind."""
        one = Config(self.fields)
        one.used, one.found, one.assumed, one.looked_at = self.used, self.found, self.assumed, self.looked_at
        one.kinds = [kind] * self.layers
        return one

    @cached_property
    def model_type(self) -> str:
        """What the file calls the family; empty where it does not say."""
        found = self.fields.get("model_type")
        if not isinstance(found, str):
            return ""
        self.used["model_type"] = found
        return found

    @cached_property
    def gated(self) -> bool:
        """Whether feed-forward networks have a gate; where the family is not known, its activation may tell."""
        if self.read_as and self.family.gated is not None:
            return self.family.gated
        said = self.value(*_ACTIVATIONS)
        if said is None:
            self.assumed["hidden_act"] = "hidden_act is missing: feed-forward networks are assumed to be gated."
        elif said not in (*_PLAIN_ACTIVATIONS, *_GATED_ACTIVATIONS):
            raise UnreadFieldError(
                self.last, f"is {_said(said)}, which does not say whether its feed-forward networks are gated"
            )
        return said not in _PLAIN_ACTIVATIONS

    @cached_property
    def read_as(self) -> str:
        """The known family that the file is read as: its own, or the one of which it is another version; else empty."""
        if self.model_type in FAMILIES:
            return self.model_type
        return known_version(self.model_type) or self._by_class

    @cached_property
    def _by_class(self) -> str:
        """The family of the class that the file names, where its model_type is not known."""
        named = self.fields.get("architectures")
        for name in named if isinstance(named, list) else ():
            family = CLASSES.get(name) if isinstance(name, str) else None
            if family:
                self.used["architectures"] = [name]
                return family
        return ""

    @cached_property
    def family(self) -> Family:
        """What the family does without saying it."""
        return FAMILIES.get(self.read_as, PLAIN)

    @cached_property
    def hidden(self) -> int:
        """Numbers in the vector of a position."""
        return int(self.whole(*HIDDEN))

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
    return _listed(config) or _periodic(config) or _windows(config, range(config.layers), config.family)


def _listed(config: Config) -> Sequence[str] | None:
    """The kinds where a field lists layers."""
    layers = range(config.layers)
    if config.family.every:
        return [config.family.every] * config.layers
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
        full = linear.numbers("full_attn_layers")  # counted from 1
        if not full:
            raise UnreadFieldError("full_attn_layers", "names no layers, so it is not known which are attention")
        return ["full" if layer + 1 in full else "linear" for layer in layers]
    for field, other in (("attn_layer_indices", "mamba"), ("full_attn_idxs", "conv")):
        attention = config.numbers(field)
        if attention is not None:
            return ["full" if layer in attention else other for layer in layers]
    return None


def _periodic(config: Config) -> Sequence[str] | None:
    """The kinds where each so many layers one is attention."""
    layers, family = range(config.layers), config.family
    interval = config.whole("full_attention_interval", default=None)
    if interval:
        return ["full" if (layer + 1) % interval == 0 else "linear" for layer in layers]
    period = config.whole("attn_layer_period", default=None)
    if period:
        offset = config.whole("attn_layer_offset", least=0)
        return ["full" if layer % period == offset else "mamba" for layer in layers]
    if config.value("linear_num_value_heads") is not None and family.full_every:
        return ["full" if (layer + 1) % family.full_every == 0 else "linear" for layer in layers]
    if family.lightning or any(name in config.fields for name in _STATE_SPACE):
        raise UnreadFieldError("layer_types", "is missing, so it is not known which layers are attention")
    return None


_ACTIVATIONS: Final = ("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act")
"""Where files say what comes after the first matrix of a feed-forward network."""
_PLAIN_ACTIVATIONS: Final = ("relu", "gelu_new", "gelu_fast", "quick_gelu", "gelu_python")
"""Those that no model uses with a gate. Squared relu does not tell: BitNet has one with it, Nemotron none."""
_GATED_ACTIVATIONS: Final = ("silu", "swish", "swiglu", "geglu")
"""Those that models use with a gate."""
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
