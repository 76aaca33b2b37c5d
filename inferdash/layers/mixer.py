"""What every kind of mixer answers: how a position learns from the earlier ones, and what that leaves behind."""

from typing import ClassVar

from inferdash.formula import Number
from inferdash.layers.config import Config
from inferdash.layers.counts import Counts
from inferdash.layers.matrix import Matrix
from inferdash.validated import Validated


class Mixer(Validated):
    """Attention, or what stands in its place.

    Numbers that grow with the text are kept in the cache's format; a state of fixed size is kept at 4 bytes a number.
    Positions and tokens may be numbers or arrays.
    """

    grows: ClassVar[bool] = True
    """Whether it keeps a cache that grows with the text."""
    expands: ClassVar[bool] = False
    """Whether a pass over many positions works on what is cached in another form than a decode, if that is less."""

    @property
    def state_numbers(self) -> int:
        """Numbers of a state whose size does not depend on the text, of one layer and request."""
        return 0

    @property
    def reserved_state_numbers(self) -> int:
        """Numbers that an engine keeps for that state."""
        return self.state_numbers

    @property
    def reads_at_most(self) -> tuple[int, ...]:
        """Tokens back beyond which a position reads no further, where something bounds them; its own is one."""
        return ()

    @property
    def name(self) -> str:
        """What the field calls it."""
        raise NotImplementedError

    def parameters(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        raise NotImplementedError

    def matrices(self, hidden: int) -> tuple[Matrix, ...]:
        """Its matrices, which hold all that `parameters` counts as `attention`."""
        raise NotImplementedError

    def flops(self, *, positions: Number, past: Number) -> Number:
        """Operations of one layer beyond its matrices, for one request that runs `positions` after `past` tokens."""
        raise NotImplementedError

    def cached_numbers(self, tokens: Number) -> Number:
        """Numbers that `tokens` positions of one request leave in the cache of one layer."""
        return 0 * tokens

    def reserved_numbers(self, tokens: Number) -> Number:
        """Numbers that an engine reserves for that where one table of blocks serves all layers."""
        return self.cached_numbers(tokens)

    def read_numbers(self, tokens: Number) -> Number:
        """Numbers of the cache that a pass of the decode reads after `tokens` positions."""
        return self.cached_numbers(tokens)

    def share(self, tensor: int) -> float:  # noqa: ARG002 - kinds that divide say how
        """The part of its cache and state on each of `tensor` accelerators that share the layer: all, undivided."""
        return 1.0

    @classmethod
    def from_config(cls, config: Config, layer: int) -> "Mixer | None":
        """The kind as a config.json writes it for a layer, counted from 0; None where the layer is another kind.

        Raises:
            UnreadFieldError: where a field that this kind needs is missing or cannot be.
        """
        raise NotImplementedError
