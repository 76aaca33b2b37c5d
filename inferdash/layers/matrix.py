"""The matrices of a layer by name: a number format is given to each of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Matrix:
    """One matrix of a layer, or several alike."""

    name: str
    """As Llama's or DeepSeek's files call it, such as "q_proj"; other families' words stand in `facts/formats`."""
    inputs: int
    """Numbers that it takes in, the length of its rows, along which groups of one scale run."""
    outputs: int
    count: int = 1

    @property
    def parameters(self) -> int:
        """Numbers in it, or in all of them."""
        return self.inputs * self.outputs * self.count
