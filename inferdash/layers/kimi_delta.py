"""Kimi delta attention: like Gated DeltaNet, with a decay for each channel of the key."""

from typing import Literal, Self

from pydantic import PositiveInt

from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.layers.recurrent import Recurrent


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
    def divisible(self) -> int:
        """Heads."""
        return self.heads

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
        return Counts(attention=matrices, small=self.channels * (self.kernel or 0) + self.heads + wide + dim)

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        wide, dim = self.heads * self.head_dim, self.head_dim
        gate = (Matrix("g_a_proj", hidden, dim), Matrix("g_b_proj", dim, wide))
        return (
            *(Matrix(name, hidden, wide) for name in ("q_proj", "k_proj", "v_proj")),
            Matrix("f_a_proj", hidden, dim),
            Matrix("f_b_proj", dim, wide),
            Matrix("b_proj", hidden, self.heads),
            *((Matrix("g_proj", hidden, wide),) if self.full_gate else gate),
            Matrix("o_proj", wide, hidden),
        )

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
