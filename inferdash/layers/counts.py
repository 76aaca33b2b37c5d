"""Counts of parameters, told apart by how they are stored and used."""

from dataclasses import dataclass

from inferdash.formula import Number


@dataclass(frozen=True)
class Counts:
    """Parameters of a layer, of a model, or of those that a pass works with."""

    attention: Number = 0
    """In the matrices of attention, or of what stands in its place."""
    dense: Number = 0
    """In the matrices of dense feed-forward networks."""
    shared: Number = 0
    """In the matrices of shared experts, and of those around the routed ones that each position runs."""
    experts: Number = 0
    """In the matrices of routed experts."""
    router: Number = 0
    """In routers, which stay at 16 bits in most formats."""
    small: Number = 0
    """In norms, biases, short convolutions and sinks, which stay at 16 bits in most formats."""

    @property
    def matrices(self) -> Number:
        """In matrices that each position runs."""
        return self.attention + self.dense + self.shared

    def __add__(self, other: "Counts") -> "Counts":
        """The sum, kind by kind."""
        return Counts(
            attention=self.attention + other.attention,
            dense=self.dense + other.dense,
            shared=self.shared + other.shared,
            experts=self.experts + other.experts,
            router=self.router + other.router,
            small=self.small + other.small,
        )

    def times(self, count: Number) -> "Counts":
        """As many of the same."""
        return Counts(
            attention=self.attention * count,
            dense=self.dense * count,
            shared=self.shared * count,
            experts=self.experts * count,
            router=self.router * count,
            small=self.small * count,
        )

    @property
    def total(self) -> Number:
        """All of them."""
        return self.matrices + self.experts + self.router + self.small
