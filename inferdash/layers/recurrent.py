"""Linear attention and state-space layers: a state of fixed size in place of a cache that grows."""

from math import ceil
from typing import ClassVar

from pydantic import PositiveInt

from inferdash.formula import Number, formula
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
    operations: ClassVar[int] = 7
    """Operations for each number of the state at a position: decay, read, write, output."""
    spare: ClassVar[int] = 0
    """Positions of the convolution that engines keep beyond those that it needs."""
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
    def divisible(self) -> int:
        """Parts into which the state can be divided at most: its heads, or its channels."""
        raise NotImplementedError

    def share(self, tensor: int) -> float:
        """The part of its state on each of `tensor` accelerators that share the layer."""
        return ceil(self.divisible / tensor) / self.divisible

    @property
    def state_numbers(self) -> int:
        """Numbers of the state of one layer and request."""
        kept = conv_state(channels=self.channels, kernel=self.kernel) if self.kernel else 0
        return int(self.recurrent_numbers + kept)

    @property
    def reserved_state_numbers(self) -> int:
        """Numbers that an engine keeps for it."""
        return self.state_numbers + self.spare * self.channels

    def flops(self, *, positions: Number, past: Number) -> Number:  # noqa: ARG002 - the state stands for the past
        """Operations of one layer beyond its matrices, for one request."""
        return recurrent_flops(state=self.recurrent_numbers, operations=self.operations, positions=positions)
