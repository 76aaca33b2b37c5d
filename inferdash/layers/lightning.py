"""Lightning attention: linear attention whose state is decayed at a fixed rate."""

from typing import ClassVar, Literal, Self

from pydantic import PositiveInt

from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.layers.recurrent import Recurrent


class Lightning(Recurrent):
    """Lightning attention: a matrix a head that is decayed at a fixed rate."""

    operations: ClassVar[int] = 5
    """Decay, write, output."""
    kind: Literal["lightning"] = "lightning"
    heads: PositiveInt
    head_dim: PositiveInt

    @property
    def name(self) -> str:
        """What the field calls it."""
        return "lightning attention"

    @property
    def divisible(self) -> int:
        """Heads."""
        return self.heads

    @property
    def channels(self) -> int:
        """It has no convolution."""
        return 0

    @property
    def recurrent_numbers(self) -> int:
        """A square matrix for each head."""
        return self.heads * self.head_dim**2

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer: queries, keys, values; gate and output; a norm."""
        wide = self.heads * self.head_dim
        return Counts(attention=5 * hidden * wide, small=wide)

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices."""
        wide = self.heads * self.head_dim
        return (
            Matrix("qkv_proj", hidden, 3 * wide),
            Matrix("output_gate", hidden, wide),
            Matrix("out_proj", wide, hidden),
        )

    @classmethod
    def from_config(cls, config: Config, layer: int) -> Self | None:
        """The kind as a config.json writes it for a layer."""
        if config.kinds[layer] != "linear" or not config.family.lightning:
            return None
        heads = config.whole("num_attention_heads")
        return cls(heads=heads, head_dim=config.whole("head_dim", default=config.hidden // heads))
