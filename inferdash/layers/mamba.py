"""State-space layers: Mamba 2, and the first Mamba."""

from typing import ClassVar, Literal, Self

from pydantic import PositiveInt

from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.layers.recurrent import Recurrent

_HEADS = ("mamba_num_heads", "mamba_n_heads")
_SIZES = ("mamba_head_dim", "mamba_d_head", "head_dim")
_ALONE = ("mamba", "falcon_mamba")
"""Families of the first Mamba alone, which do not norm step and state."""


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
    normed: bool = True
    """Whether what leaves the state is normed."""

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
        small = self.channels * (self.kernel or 0) + 3 * self.heads + inner * self.normed + biases
        return Counts(attention=hidden * wide + inner * hidden, small=small)

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        inner = self.heads * self.head_dim
        return Matrix("in_proj", hidden, inner + self.channels + self.heads), Matrix("out_proj", inner, hidden)

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        heads = config.whole(*_HEADS, *(("num_heads",) if config.read_as == "mamba2" else ()), default=None)
        if config.kinds[layer] not in {"mamba", "linear"} or heads is None:
            return None
        inner = config.whole("mamba_d_ssm", default=None) or config.hidden * config.whole(
            "mamba_expand", "expand", default=2
        )
        head_dim = config.value(*_SIZES)
        return cls(
            heads=heads,
            head_dim=inner // heads if head_dim == "auto" else config.whole(*_SIZES),
            state=config.whole("ssm_state_size", "mamba_d_state", "state_size"),
            groups=config.whole("n_groups", "mamba_n_groups"),
            kernel=config.whole("conv_kernel", "mamba_d_conv"),
            bias=config.flag("use_bias", default=config.flag("mamba_proj_bias")),
            conv_bias=config.flag("use_conv_bias", "mamba_conv_bias", default=True),
            normed=config.flag("mamba_rms_norm", default=config.read_as != "falcon_h1"),
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
    normed: bool = True
    """Whether step and state are normed."""

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
        """Parameters of one layer."""
        inner, drawn = self.inner, self.step_rank + 2 * self.state
        matrices = hidden * 2 * inner + inner * drawn + self.step_rank * inner + inner * hidden
        biases = inner * self.conv_bias + (2 * inner + hidden) * self.bias
        small = inner * (self.kernel or 0) + inner + inner * self.state + inner + drawn * self.normed + biases
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
        alone = config.read_as in _ALONE
        if config.kinds[layer] not in {"mamba", "linear"} or not (alone or config.value("mamba_expand")):
            return None
        names = ("mamba_dt_rank", "time_step_rank") if alone else ("mamba_dt_rank",)
        rank = config.value(*names)
        return cls(
            inner=config.whole("intermediate_size", default=None)
            if alone and config.value("intermediate_size")
            else config.whole("mamba_expand", "expand") * config.hidden,
            state=config.whole("mamba_d_state", "state_size"),
            step_rank=-(-config.hidden // 16) if rank in (None, "auto") else config.whole(*names),
            kernel=config.whole("mamba_d_conv", "conv_kernel"),
            bias=config.flag("mamba_proj_bias", "use_bias"),
            conv_bias=config.flag("mamba_conv_bias", "use_conv_bias", default=True),
            normed=not alone,
        )
