"""Feed-forward networks: what a layer does with each position alone."""

from typing import Literal, TypeAlias

from pydantic import PositiveInt

from inferdash.formula import Number, formula
from inferdash.validated import Validated


@formula(unit="parameters", ref="gated-feed-forward")
def gated_parameters(*, hidden: Number, width: Number) -> Number:
    """Parameters of one gated feed-forward network: gate, up and down, each hidden by width."""
    return 3 * hidden * width


class GatedFeedForward(Validated):
    """A dense gated network (SwiGLU, GeGLU)."""

    kind: Literal["gated"] = "gated"
    width: PositiveInt
    """Numbers in the inner vector, `intermediate_size` in a model's file."""

    def parameters(self, hidden: int) -> Number:
        """Parameters of one layer."""
        return gated_parameters(hidden=hidden, width=self.width)


FeedForward: TypeAlias = GatedFeedForward
"""Any kind of feed-forward network, told apart by `kind`."""
