"""State-space layers: Mamba 2, and the first Mamba."""

from typing import ClassVar, Literal, Self

from pydantic import PositiveInt

from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.layers.recurrent import Recurrent


class StateSpace(Recurrent):
    """A layer of Mamba 2: a state a head that all its channels share the decay of."""

    operations: ClassVar[int] = 6
    """Step, decay, write, output."""
    spare: ClassVar[int] = 1
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
    def divisible(self) -> int:
        """Heads."""
        return self.heads

    @property
    def channels(self) -> int:
        """The inner vector, and what goes into the state and out of it for each group."""
        return self.heads * self.head_dim + 2 * self.groups * self.state

    @property
    def recurrent_numbers(self) -> int:
        """A state for each channel of each head."""
        return self.heads * self.head_dim * self.state

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        inner = self.heads * self.head_dim
        wide = inner + self.channels + self.heads
        biases = (wide + hidden) * self.bias + self.channels * self.conv_bias
        small = self.channels * (self.kernel or 0) + 3 * self.heads + inner + biases
        return Counts(attention=hidden * wide + inner * hidden, small=small)

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        inner = self.heads * self.head_dim
        return Matrix("in_proj", hidden, inner + self.channels + self.heads), Matrix("out_proj", inner, hidden)

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
            bias=config.flag("use_bias", default=config.flag("mamba_proj_bias")),
            conv_bias=config.flag("use_conv_bias", "mamba_conv_bias", default=True),
        )


class SelectiveStateSpace(Recurrent):
    """A layer of Mamba 1: a state for each channel with a decay of its own."""

    operations: ClassVar[int] = 6
    """Step, decay, write, output."""
    spare: ClassVar[int] = 1
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
    def divisible(self) -> int:
        """Channels."""
        return self.inner

    @property
    def channels(self) -> int:
        """Those of the inner vector."""
        return self.inner

    @property
    def recurrent_numbers(self) -> int:
        """A state for each channel."""
        return self.inner * self.state

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer, the norms of step and state included."""
        inner, drawn = self.inner, self.step_rank + 2 * self.state
        matrices = hidden * 2 * inner + inner * drawn + self.step_rank * inner + inner * hidden
        biases = inner * self.conv_bias + (2 * inner + hidden) * self.bias
        small = inner * (self.kernel or 0) + inner + inner * self.state + inner + drawn + biases
        return Counts(attention=matrices, small=small)

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        return (
            Matrix("in_proj", hidden, 2 * self.inner),
            Matrix("x_proj", self.inner, self.step_rank + 2 * self.state),
            Matrix("dt_proj", self.step_rank, self.inner),
            Matrix("out_proj", self.inner, hidden),
        )

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        if config.kinds[layer] not in {"mamba", "linear"} or config.value("mamba_expand") is None:
            return None
        rank = config.value("mamba_dt_rank")
        return cls(
            inner=config.whole("mamba_expand") * config.hidden,
            state=config.whole("mamba_d_state"),
            step_rank=-(-config.hidden // 16) if rank in (None, "auto") else config.whole("mamba_dt_rank"),
            kernel=config.whole("mamba_d_conv"),
            bias=config.flag("mamba_proj_bias"),
            conv_bias=config.flag("mamba_conv_bias", default=True),
        )
