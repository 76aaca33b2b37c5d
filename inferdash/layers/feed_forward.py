"""Feed-forward networks: what a layer does with each position alone.

A kind says the parameters that it stores, those that one position works with, and those that a pass loads.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator
from pydantic_core import PydanticCustomError

from inferdash.formula import Number, formula
from inferdash.layers.counts import Counts
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

    def stored(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        return Counts(matrices=gated_parameters(hidden=hidden, width=self.width))

    def active(self, hidden: int) -> Counts:
        """Parameters of one layer that a position works with: all."""
        return self.stored(hidden)

    def loaded(self, hidden: int, *, positions: Number) -> Counts:  # noqa: ARG002 - every position needs all
        """Parameters of one layer that a pass over `positions` positions loads: all."""
        return self.stored(hidden)


@formula(unit="experts", ref="experts")
def distinct_experts(*, experts: Number, experts_per_token: Number, positions: Number) -> Number:
    """Experts of a layer that a pass reads on average, where each position chooses its experts evenly at random.

    One position reads `experts_per_token`, many positions read nearly all.
    """
    return experts * (1 - (1 - experts_per_token / experts) ** positions)


class Experts(Validated):
    """A mixture of experts: a router chooses a few gated networks for each position; shared ones serve all."""

    kind: Literal["experts"] = "experts"
    experts: PositiveInt
    """Routed experts of a layer."""
    experts_per_token: PositiveInt
    """Routed experts that work on one position."""
    width: PositiveInt
    """Numbers in the inner vector of one routed expert."""
    shared_width: NonNegativeInt = 0
    """Numbers in the inner vectors of all shared experts of a layer together; 0 where there are none."""
    bias: bool = False
    """Whether the router and the experts' matrices have biases."""

    @model_validator(mode="after")
    def _enough(self) -> "Experts":
        if self.experts_per_token > self.experts:
            raise PydanticCustomError(
                "experts",
                "{experts_per_token} experts for each token are more than {experts} experts",
                self.model_dump(),
            )
        return self

    def stored(self, hidden: int) -> Counts:
        """Parameters of one layer."""
        return self._with(hidden, self.experts)

    def active(self, hidden: int) -> Counts:
        """Parameters of one layer that a position works with: router, its experts, the shared ones."""
        return self._with(hidden, self.experts_per_token)

    def loaded(self, hidden: int, *, positions: Number) -> Counts:
        """Parameters of one layer that a pass over `positions` positions loads, on average."""
        distinct = distinct_experts(experts=self.experts, experts_per_token=self.experts_per_token, positions=positions)
        return self._with(hidden, distinct)

    def _with(self, hidden: int, experts: Number) -> Counts:
        """The layer with that many of its routed experts."""
        one = gated_parameters(hidden=hidden, width=self.width)
        shared = gated_parameters(hidden=hidden, width=self.shared_width) if self.shared_width else 0
        router = hidden * self.experts + (self.experts if self.bias else 0)
        biases = (2 * self.width + hidden) * experts if self.bias else 0
        return Counts(matrices=shared, experts=one * experts, small=router + biases)


FeedForward: TypeAlias = Annotated[GatedFeedForward | Experts, Field(discriminator="kind")]
"""Any kind of feed-forward network, told apart by `kind`."""
