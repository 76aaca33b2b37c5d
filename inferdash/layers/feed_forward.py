"""Feed-forward networks: what a layer does with each position alone.

A kind says the parameters that it stores, those that one position works with, and those that a pass loads.
"""

from typing import Any, Literal, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.formula import Number, formula
from inferdash.layers.config import Config, UnreadFieldError, whole_number
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.validated import Validated


@formula(unit="parameters", ref="gated-feed-forward")
def gated_parameters(*, hidden: Number, width: Number) -> Number:
    """Parameters of one gated feed-forward network: gate, up and down, each hidden by width."""
    return 3 * hidden * width


@formula(unit="parameters", ref="attention")
def plain_parameters(*, hidden: Number, width: Number) -> Number:
    """Parameters of one feed-forward network without a gate: up and down, each hidden by width."""
    return 2 * hidden * width


def network_parameters(*, hidden: Number, width: Number, gated: bool) -> Number:
    """Parameters of one feed-forward network, with a gate or without."""
    return (gated_parameters if gated else plain_parameters)(hidden=hidden, width=width)


def network_matrices(*, hidden: int, width: int, gated: bool, count: int = 1) -> tuple[Matrix, ...]:
    """The matrices of one feed-forward network, or of `count` alike."""
    up = (Matrix("gate_proj", hidden, width, count),) if gated else ()
    return (*up, Matrix("up_proj", hidden, width, count), Matrix("down_proj", width, hidden, count))


class GatedFeedForward(Validated):
    """A dense network, with a gate (SwiGLU, GeGLU) or without."""

    kind: Literal["gated"] = "gated"
    width: PositiveInt
    """Numbers in the inner vector, `intermediate_size` in a model's file."""
    gated: bool = True
    bias: bool = False
    """Whether its matrices have biases."""
    normed: bool = False
    """Whether its inner vector is normed."""

    @property
    def name(self) -> str:
        """What the field calls it."""
        return f"{'gated' if self.gated else 'plain'}, {self.width:,} wide"

    def stored(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        biases = ((2 if self.gated else 1) * self.width + hidden) * self.bias
        matrices = network_parameters(hidden=hidden, width=self.width, gated=self.gated)
        return Counts(dense=matrices, small=biases + self.width * self.normed)

    def matrices(self, hidden: int) -> dict[str, tuple[Matrix, ...]]:
        """Kind of parameter -> its matrices."""
        return {"dense": network_matrices(hidden=hidden, width=self.width, gated=self.gated)}

    def active(self, hidden: int) -> Counts:
        """Parameters of one layer that a position works with: all."""
        return self.stored(hidden)

    def loaded(self, hidden: int, *, positions: Number) -> Counts:  # noqa: ARG002 - every position needs all
        """Parameters of one layer that a pass over `positions` positions loads: all."""
        return self.stored(hidden)

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The dense network of a layer as a config.json writes it; None where the layer has experts or none."""
        if not config.family.feed_forward or not has_dense(config, layer):
            return None
        family = config.family
        if config.read_as == "arctic" and has_experts(config, layer):
            return cls(width=config.hidden)
        names: tuple[str, ...] = (
            "block_ff_dim",
            "intermediate_size_mlp",
            "dense_intermediate_size",
            "intermediate_size",
            "ffn_hidden_size",
            "ffn_dim",
            "n_inner",
        )
        if config.value("num_local_experts") == 0 and config.value("shared_intermediate_size"):
            names = ("shared_intermediate_size",)  # what is shared is all that is left without experts
        own = family.feed_forward_width and family.feed_forward_width * config.hidden
        listed = config.value(*names)
        if isinstance(listed, list):  # a width for each layer, not always the same
            width = whole_number(names[-1], config.list(*names)[layer], least=0)  # type: ignore[index]
            if not width:
                return None
        else:
            width = config.whole(*names, **({"default": own} if own else {}), called="intermediate_size")
        if config.flag("block_auto_adjust_ff_dim"):
            width = _adjusted(config, width)
        shared_layers = config.whole("num_kv_shared_layers", default=0, least=0)
        if config.flag("use_double_wide_mlp") and layer >= config.layers - shared_layers:
            width *= 2
        return cls(width=width, gated=config.gated, bias=_bias(config), normed=family.inner_norm)


_MOST_WIDER = 1000


def _adjusted(config: Config, width: int) -> int:
    """Two thirds of the width in the file, times a factor, to the next multiple."""
    factor = config.value("block_ffn_dim_multiplier")
    width = int(2 * width / 3)
    if factor is not None:
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor <= _MOST_WIDER:
            raise UnreadFieldError("block_ffn_dim_multiplier", f"is not a number from 0 to {_MOST_WIDER}")
        width = int(factor * width)
        multiple = config.whole("block_multiple_of")
        width = multiple * -(-width // multiple)
    return width


def _bias(config: Config) -> bool:
    return config.flag("mlp_bias", "bias", "use_bias", default=config.family.feed_forward_bias)


@formula(unit="experts", ref="experts")
def distinct_experts(*, experts: Number, experts_per_token: Number, positions: Number) -> Number:
    """Experts of a layer that a pass reads on average, where each position chooses its experts evenly at random.

    One position reads `experts_per_token`, many positions read nearly all.
    """
    return experts * (1 - (1 - experts_per_token / experts) ** positions)


class Experts(Validated):
    """A mixture of experts: a router chooses a few networks for each position; shared ones serve all."""

    kind: Literal["experts"] = "experts"
    experts: PositiveInt
    """Routed experts of a layer."""
    experts_per_token: PositiveInt
    """Routed experts that work on one position."""
    width: PositiveInt
    """Numbers in the inner vector of one routed expert."""
    shared_width: NonNegativeInt = 0
    """Numbers in the inner vectors of all shared experts of a layer together; 0 where there are none."""
    shared_gate: bool = False
    """Whether the shared expert has a gate of its own."""
    latent: PositiveInt | None = None
    """Numbers of the vectors on which routed experts work, where fewer than the hidden size."""
    latent_norm: bool = False
    """Whether what the routed experts give is normed before it goes up again."""
    gated: bool = True
    bias: bool = False
    """Whether the router and the experts' matrices have biases."""
    router_bias: bool = False
    """Whether the router has biases of its own."""
    shared_bias: bool = False
    """Whether the matrices of the shared experts have biases."""
    scaled: bool = False
    """Whether the router scales its input, and each expert its output."""
    idle: NonNegativeInt = 0
    """Further experts that the router may choose, which give a position back as it is and have no parameters."""

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if self.experts_per_token > self.experts:
            raise PydanticCustomError(
                "experts",
                "{experts_per_token} experts for each token are more than {experts} experts",
                {"experts_per_token": self.experts_per_token, "experts": self.experts},
            )
        return self

    @property
    def name(self) -> str:
        """What the field calls it."""
        return f"{self.experts_per_token} of {self.experts} experts, {self.width:,} wide"

    def stored(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        return self._with(hidden, self.experts)

    def matrices(self, hidden: int) -> dict[str, tuple[Matrix, ...]]:
        """Kind of parameter -> its matrices."""
        inner = self.latent or hidden
        found = {"experts": network_matrices(hidden=inner, width=self.width, gated=self.gated, count=self.experts)}
        shared: tuple[Matrix, ...] = ()
        if self.shared_width:
            shared = network_matrices(hidden=hidden, width=self.shared_width, gated=self.gated)
        if self.latent:
            shared += (Matrix("fc1_latent_proj", hidden, inner), Matrix("fc2_latent_proj", inner, hidden))
        return found | {"shared": shared}

    def active(self, hidden: int) -> Counts:
        """Parameters of one layer that a position works with: router, its experts, the shared ones."""
        return self._with(hidden, self._working)

    def loaded(self, hidden: int, *, positions: Number) -> Counts:
        """Parameters of one layer that a pass over `positions` positions loads, on average."""
        distinct = distinct_experts(experts=self.experts, experts_per_token=self._working, positions=positions)
        return self._with(hidden, distinct)

    @property
    def _working(self) -> Number:
        """Experts with parameters that work on one position, the mean where some that are chosen have none."""
        if not self.idle:
            return self.experts_per_token
        return self.experts_per_token * self.experts / (self.experts + self.idle)

    def _with(self, hidden: int, experts: Number) -> Counts:
        """The layer with that many of its routed experts."""
        inner = self.latent or hidden
        one = network_parameters(hidden=inner, width=self.width, gated=self.gated)
        shared: Number = 0
        if self.shared_width:
            shared = network_parameters(hidden=hidden, width=self.shared_width, gated=self.gated)
        if self.latent:
            shared = shared + 2 * hidden * self.latent
        chosen = self.experts + self.idle
        router = hidden * chosen + chosen * (self.bias or self.router_bias)
        router += (hidden + self.experts) * self.scaled
        biases = ((2 if self.gated else 1) * self.width + hidden) * experts * self.bias
        if self.shared_width and self.shared_bias:
            biases += (2 if self.gated else 1) * self.shared_width + hidden
        small = biases + hidden * self.shared_gate + (self.latent or 0) * self.latent_norm
        return Counts(shared=shared, experts=one * experts, router=router, small=small)

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The experts of a layer as a config.json writes them; None where the layer has none."""
        if not has_experts(config, layer):
            return None
        family = config.family
        width = config.whole(
            "moe_intermediate_size", "expert_intermediate_size", "expert_ffn_hidden_size", "intermediate_size"
        )
        per_token = ("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts")
        return cls(
            experts=config.whole(*_COUNTS),
            experts_per_token=config.whole(*per_token, "moe_topk", "moe_k", "moe_top_k"),
            width=width,
            shared_width=_shared_width(config, width),
            shared_gate=family.shared_gate,
            latent=config.whole("moe_latent_size", "routed_expert_hidden_size", default=None),
            latent_norm=config.flag("latent_moe_use_norm"),
            gated=config.gated,
            bias=family.experts_bias,
            router_bias=family.router_bias,
            shared_bias=family.shared_bias and _bias(config),
            scaled=config.flag("enable_moe_block"),
            idle=config.whole("zero_expert_num", default=0, least=0),
        )


_DIGITS = 6
_COUNTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")


def _shared_width(config: Config, width: int) -> int:
    """Numbers in the inner vectors of the shared experts together: their width, or their number times a width."""
    sizes = ("shared_expert_intermediate_size", "share_expert_dim", "share_expert_dims")
    total = config.whole(*sizes, default=None, least=0)
    if total is not None:
        return int(total)
    count = config.whole(
        "n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert", default=None, least=0
    )
    one = config.whole("moe_shared_expert_intermediate_size", "shared_intermediate_size", default=None, least=0)
    if count is None:
        return one or config.family.shared_alike * width
    return int(count * (width if one is None else one))


def _sparse_layers(config: Config) -> Any:
    """For each layer whether it has experts, as any of the ways in which files say it."""
    layers = range(config.layers)
    pattern = config.value("layers_block_type", "hybrid_override_pattern")
    if pattern is not None and any(name in {"moe", "E", "mlp", "-"} for name in pattern):
        return [name in {"moe", "E"} for name in pattern]
    types = config.list("mlp_layer_types")
    if types:
        return [name != "dense" for name in types]
    frequency = config.list("moe_layer_freq", "is_moe_layer")
    if frequency:
        return [bool(entry) for entry in frequency]
    chosen = config.value("moe_layers_enum", "moe_layers")
    if isinstance(chosen, str):
        parts = [part.strip() for part in chosen.split(",")]
        chosen = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < _DIGITS]
    else:
        chosen = config.numbers("moe_layers_enum", "moe_layers")
    if chosen is not None:
        return [layer in chosen for layer in layers]
    period = config.whole("expert_layer_period", "interleave_moe_layer_step", default=None)
    if period:
        offset = config.whole("expert_layer_offset", default=period - 1, least=0)
        return [layer % period == offset for layer in layers]
    firsts = ("first_k_dense_replace", "first_last_k_dense_replace", "num_dense_layers", "moe_layer_start_index")
    first = config.whole(*firsts, default=0, least=0)
    step = config.whole("decoder_sparse_step", "moe_layer_interval", "moe_layer_frequency", "moe_layer_freq", default=1)
    dense = config.numbers("mlp_only_layers") or ()
    by_step = [(layer + 1) % step == 0 if step > 1 else True for layer in layers]
    return [layer >= first and by_step[layer] and layer not in dense for layer in layers]


def has_experts(config: Config, layer: int) -> bool:
    """Whether a layer has experts."""
    count = config.whole(*_COUNTS, default=None, least=0)
    if not count or (count == 1 and config.family.lone_is_dense):
        return False
    if "sparse layers" not in config.found:
        config.found["sparse layers"] = _sparse_layers(config)
    return bool(config.found["sparse layers"][layer])


def has_dense(config: Config, layer: int) -> bool:
    """Whether a layer has a dense network: where it has no experts, or beside them."""
    pattern = config.value("layers_block_type", "hybrid_override_pattern")
    if pattern is not None and any(name in {"moe", "E", "mlp", "-"} for name in pattern):
        return pattern[layer] in {"mlp", "-"}
    beside = config.flag("enable_moe_block", "residual_moe", "use_residual") or config.read_as == "longcat_flash"
    return not has_experts(config, layer) or beside
