"""Gated DeltaNet: linear attention whose state is decayed and corrected at each position."""

from typing import Literal, Self

from pydantic import PositiveInt

from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.layers.recurrent import Recurrent


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
    def divisible(self) -> int:
        """Heads."""
        return self.value_heads

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
            attention=matrices, small=self.channels * (self.kernel or 0) + 2 * self.value_heads + self.value_dim
        )

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        values = self.value_heads * self.value_dim
        return (
            Matrix("in_proj_qkv", hidden, self.channels),
            Matrix("in_proj_z", hidden, values),
            Matrix("in_proj_b", hidden, self.value_heads),
            Matrix("in_proj_a", hidden, self.value_heads),
            Matrix("out_proj", values, hidden),
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
