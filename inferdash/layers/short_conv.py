"""A short convolution with two gates in place of attention, as LFM2 has it."""

from math import ceil
from typing import ClassVar, Literal, Self

from pydantic import PositiveInt

from inferdash.formula import Number
from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.layers.mixer import Mixer
from inferdash.layers.recurrent import conv_state


class ShortConvolution(Mixer):
    """Each channel is weighed over its last positions; what it keeps of a text is those positions."""

    grows: ClassVar[bool] = False
    kind: Literal["short_convolution"] = "short_convolution"
    channels: PositiveInt
    kernel: PositiveInt
    """Positions that it covers."""
    bias: bool = False

    @property
    def name(self) -> str:
        """What the field calls it."""
        return f"convolution over {self.kernel}"

    @property
    def state_numbers(self) -> int:
        """Numbers of the state of one layer and request."""
        return int(conv_state(channels=self.channels, kernel=self.kernel))

    @property
    def reserved_state_numbers(self) -> int:
        """Engines keep one position more."""
        return self.state_numbers + self.channels

    def share(self, tensor: int) -> float:
        """The part of its state on each of `tensor` accelerators: whole channels."""
        return ceil(self.channels / tensor) / self.channels

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer: two gates and the input, the convolution, the output."""
        biases = (3 * self.channels + self.channels + hidden) * self.bias
        return Counts(attention=4 * hidden * self.channels, small=self.channels * self.kernel + biases)

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        return Matrix("in_proj", hidden, 3 * self.channels), Matrix("out_proj", self.channels, hidden)

    def flops(self, *, positions: Number, past: Number) -> Number:  # noqa: ARG002 - it sees its last positions only
        """Operations of one layer beyond its matrices, for one request: gates and convolution."""
        return (2 * self.kernel + 2) * self.channels * positions

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        if config.kinds[layer] != "conv":
            return None
        return cls(
            channels=config.hidden,
            kernel=config.whole("conv_L_cache"),
            bias=config.flag("conv_bias"),
        )
