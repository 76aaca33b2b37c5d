"""Linear attention and state-space layers: a state of fixed size in place of a cache that grows."""

from typing import ClassVar, Literal, Self

from pydantic import PositiveInt

from inferdash.formula import Number, formula
from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.mixer import Mixer


@formula(unit="numbers", ref="linear-attention")
def conv_state(*, channels: Number, kernel: Number) -> Number:
    """Numbers that a short convolution keeps: the last positions of each channel but the one that runs."""
    return channels * (kernel - 1)


@formula(unit="FLOP", ref="linear-attention")
def recurrent_flops(*, state: Number, operations: Number, positions: Number) -> Number:
    """Operations on a state of `state` numbers: `operations` for each of them at each position."""
    return operations * state * positions


class Recurrent(Mixer):
    """What linear attention and state-space layers have in common."""

    grows: ClassVar[bool] = False
    kernel: PositiveInt | None = None
    """Positions that its short convolution covers; None where it has none."""

    @property
    def channels(self) -> int:
        """Channels of the short convolution."""
        raise NotImplementedError

    @property
    def recurrent_numbers(self) -> int:
        """Numbers of the recurrent state."""
        raise NotImplementedError

    @property
    def operations(self) -> int:
        """Operations for each number of the state at a position: decay, read, write, output."""
        return 7

    @property
    def state_numbers(self) -> int:
        """Numbers of the state of one layer and request."""
        kept = conv_state(channels=self.channels, kernel=self.kernel) if self.kernel else 0
        return int(self.recurrent_numbers + kept)

    def flops(self, *, positions: Number, past: Number) -> Number:  # noqa: ARG002 - the state stands for the past
        """Operations of one layer beyond its matrices, for one request."""
        return recurrent_flops(state=self.recurrent_numbers, operations=self.operations, positions=positions)


class GatedDeltaNet(Recurrent):
    """Gated DeltaNet: a matrix a head that is decayed and corrected at each position."""

    kind: Literal["gated_delta_net"] = "gated_delta_net"
    key_heads: PositiveInt
    value_heads: PositiveInt
    key_dim: PositiveInt
    value_dim: PositiveInt

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "Gated DeltaNet"

    @property
    def channels(self) -> int:
        """Queries, keys and values."""
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    @property
    def recurrent_numbers(self) -> int:
        """A matrix of keys by values for each value head."""
        return self.value_heads * self.key_dim * self.value_dim

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        values = self.value_heads * self.value_dim
        matrices = hidden * (self.channels + values + 2 * self.value_heads) + values * hidden
        return Counts(
            matrices=matrices, small=self.channels * (self.kernel or 0) + 2 * self.value_heads + self.value_dim
        )

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        if config.kinds[layer] != "linear" or config.value("linear_num_value_heads") is None:
            return None
        return cls(
            key_heads=config.whole("linear_num_key_heads"),
            value_heads=config.whole("linear_num_value_heads"),
            key_dim=config.whole("linear_key_head_dim"),
            value_dim=config.whole("linear_value_head_dim"),
            kernel=config.whole("linear_conv_kernel_dim"),
        )


class KimiDelta(Recurrent):
    """Kimi delta attention: like Gated DeltaNet, with a decay for each channel of the key."""

    kind: Literal["kimi_delta"] = "kimi_delta"
    heads: PositiveInt
    head_dim: PositiveInt
    full_gate: bool = False
    """Whether the gate on the output comes from one matrix, not from two narrow ones."""

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "Kimi delta attention"

    @property
    def channels(self) -> int:
        """Queries, keys and values."""
        return 3 * self.heads * self.head_dim

    @property
    def recurrent_numbers(self) -> int:
        """A square matrix for each head."""
        return self.heads * self.head_dim**2

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        wide, dim = self.heads * self.head_dim, self.head_dim
        narrow = hidden * dim + dim * wide
        matrices = 4 * hidden * wide + narrow + hidden * self.heads + (hidden * wide if self.full_gate else narrow)
        return Counts(matrices=matrices, small=self.channels * (self.kernel or 0) + self.heads + wide + dim)

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        linear = config.part("linear_attn_config") or config
        heads = linear.whole("num_heads", "linear_num_heads", default=None)
        if config.kinds[layer] != "linear" or heads is None:
            return None
        return cls(
            heads=heads,
            head_dim=linear.whole("linear_head_dim", "head_dim"),
            kernel=linear.whole("short_conv_kernel_size", "linear_conv_kernel_dim"),
            full_gate=linear.flag("use_full_rank_gate"),
        )


class Lightning(Recurrent):
    """Lightning attention: a matrix a head that is decayed at a fixed rate."""

    kind: Literal["lightning"] = "lightning"
    heads: PositiveInt
    head_dim: PositiveInt

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "lightning attention"

    @property
    def channels(self) -> int:
        """It has no convolution."""
        return 0

    @property
    def recurrent_numbers(self) -> int:
        """A square matrix for each head."""
        return self.heads * self.head_dim**2

    @property
    def operations(self) -> int:
        """Decay, write, output."""
        return 5

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer: queries, keys, values; gate and output; a norm."""
        wide = self.heads * self.head_dim
        return Counts(matrices=5 * hidden * wide, small=wide)

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        if config.kinds[layer] != "linear" or not config.family.lightning:
            return None
        heads = config.whole("num_attention_heads")
        return cls(heads=heads, head_dim=config.whole("head_dim", default=config.hidden // heads))


class StateSpace(Recurrent):
    """A layer of Mamba 2: a state a head that all its channels share the decay of."""

    kind: Literal["state_space"] = "state_space"
    heads: PositiveInt
    head_dim: PositiveInt
    state: PositiveInt
    """Numbers of the state for each channel."""
    groups: PositiveInt
    """Groups of heads that share what goes into the state and what is read from it."""
    bias: bool = False
    conv_bias: bool = True

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "Mamba 2"

    @property
    def channels(self) -> int:
        """The inner vector, and what goes into the state and out of it for each group."""
        return self.heads * self.head_dim + 2 * self.groups * self.state

    @property
    def recurrent_numbers(self) -> int:
        """A state for each channel of each head."""
        return self.heads * self.head_dim * self.state

    @property
    def operations(self) -> int:
        """Step, decay, write, output."""
        return 6

    @property
    def reserved_state_numbers(self) -> int:
        """Engines keep one position more of the convolution."""
        return self.state_numbers + self.channels

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        inner = self.heads * self.head_dim
        wide = inner + self.channels + self.heads
        biases = (wide + hidden) * self.bias + self.channels * self.conv_bias
        small = self.channels * (self.kernel or 0) + 3 * self.heads + inner + biases
        return Counts(matrices=hidden * wide + inner * hidden, small=small)

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        heads = config.whole("mamba_num_heads", "mamba_n_heads", default=None)
        if config.kinds[layer] not in {"mamba", "linear"} or heads is None:
            return None
        inner = config.whole("mamba_expand", "expand", default=2) * config.hidden
        head_dim = config.value("mamba_head_dim", "mamba_d_head")
        return cls(
            heads=heads,
            head_dim=inner // heads if head_dim == "auto" else config.whole("mamba_head_dim", "mamba_d_head"),
            state=config.whole("ssm_state_size", "mamba_d_state"),
            groups=config.whole("n_groups", "mamba_n_groups"),
            kernel=config.whole("conv_kernel", "mamba_d_conv"),
            bias=config.flag("mamba_proj_bias", default=config.flag("use_bias")),
            conv_bias=config.flag("use_conv_bias", "mamba_conv_bias", default=True),
        )


class SelectiveStateSpace(Recurrent):
    """A layer of Mamba 1: a state for each channel with a decay of its own."""

    kind: Literal["selective_state_space"] = "selective_state_space"
    inner: PositiveInt
    """Channels."""
    state: PositiveInt
    """Numbers of the state for each channel."""
    step_rank: PositiveInt
    """Numbers from which the step of each channel is made."""
    bias: bool = False
    conv_bias: bool = True

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "Mamba"

    @property
    def channels(self) -> int:
        """Those of the inner vector."""
        return self.inner

    @property
    def recurrent_numbers(self) -> int:
        """A state for each channel."""
        return self.inner * self.state

    @property
    def operations(self) -> int:
        """Step, decay, write, output."""
        return 6

    @property
    def reserved_state_numbers(self) -> int:
        """Engines keep one position more of the convolution."""
        return self.state_numbers + self.channels

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer, the norms of step and state included."""
        inner, drawn = self.inner, self.step_rank + 2 * self.state
        matrices = hidden * 2 * inner + inner * drawn + self.step_rank * inner + inner * hidden
        biases = inner * self.conv_bias + (2 * inner + hidden) * self.bias
        small = inner * (self.kernel or 0) + inner + inner * self.state + inner + drawn + biases
        return Counts(matrices=matrices, small=small)

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        if config.kinds[layer] not in {"mamba", "linear"} or config.value("mamba_expand") is None:
            return None
        rank = config.value("mamba_dt_rank")
        return cls(
            inner=config.whole("mamba_expand") * config.hidden,
            state=config.whole("mamba_d_state"),
            step_rank=-(-config.hidden // 16) if rank in {None, "auto"} else config.whole("mamba_dt_rank"),
            kernel=config.whole("mamba_d_conv"),
            bias=config.flag("mamba_proj_bias"),
            conv_bias=config.flag("mamba_conv_bias", default=True),
        )
