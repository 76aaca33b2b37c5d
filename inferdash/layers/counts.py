"""Counts of parameters, told apart by how they are stored and used."""

from dataclasses import dataclass

from inferdash.formula import Number


@dataclass(frozen=True)
class Counts:
    """Parameters of a layer, of a model, or of those that a pass works with."""

    matrices: Number = 0
    """In matrices of attention and of feed-forward networks that each position runs."""
    experts: Number = 0
    """In the matrices of routed experts."""
    small: Number = 0
    """In norms, biases, routers and sinks, which stay at 16 bits in most formats."""

    def __add__(self, other: "Counts") -> "Counts":
        """The sum, kind by kind."""
        return Counts(self.matrices + other.matrices, self.experts + other.experts, self.small + other.small)

    def times(self, count: Number) -> "Counts":
        """As many of the same."""
        return Counts(self.matrices * count, self.experts * count, self.small * count)

    @property
    def total(self) -> Number:
        """All of them."""
        return self.matrices + self.experts + self.small
