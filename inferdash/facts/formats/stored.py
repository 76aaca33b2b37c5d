"""How one matrix is stored: bits for each number, what its scales add, and at which peak it is multiplied."""

from dataclasses import dataclass
from typing import Final

from inferdash.facts.models.precision import Rate


@dataclass(frozen=True)
class Stored:
    """A number format of one matrix."""

    name: str
    bits: float
    """For each number, scales included. One scale a tensor or a row is not counted: it is under 0.1%."""
    rate: Rate = "dense_bf16"
    block: int = 1
    """Numbers of a row that are stored together; a row that does not divide into such blocks is stored otherwise."""


WIDE: Final = Stored("bf16", 16)
SINGLE: Final = Stored("fp32", 32)
_SCALE_BITS: Final = 16


def floating(*, block: int | None = None, scale_bits: int = 32, weights_alone: bool = False) -> Stored:
    """8-bit floating point: one scale a tensor or row, or one for each square block of `block` numbers a side."""
    rate: Rate = "dense_bf16" if weights_alone else "dense_fp8"
    if block:
        return Stored(f"fp8, {block}×{block} blocks", 8 + scale_bits / block**2, rate)
    return Stored("fp8", 8, rate)


def nvfp4(*, weights_alone: bool = False) -> Stored:
    """4-bit floating point with a scale of 8 bits for each 16."""
    return Stored("NVFP4", 4 + 8 / 16, "dense_bf16" if weights_alone else "dense_fp4")


def microscaled(bits: int, *, weights_alone: bool = False) -> Stored:
    """MXFP4, MXFP6 or MXFP8: a scale of 8 bits for each 32."""
    rate: Rate = "dense_bf16" if weights_alone else "dense_fp4" if bits == 4 else "dense_fp8"  # noqa: PLR2004
    return Stored(f"MXFP{bits}", bits + 8 / 32, rate)


def whole(bits: float, *, group: int | None, zeros: float = 0, multiplied: bool = False) -> Stored:
    """Whole numbers: a scale of 16 bits a group, where `zeros` bits more say its zero point.

    Args:
        bits: of each number.
        group: numbers of a row that share a scale; None where a row or more does, which is not counted.
        zeros: bits of the zero point of a group.
        multiplied: whether activations are whole numbers too, so that int8 arithmetic does the work.
    """
    rate: Rate = "dense_int8" if multiplied and bits == 8 else "dense_bf16"  # noqa: PLR2004
    name = f"int{bits:g}"
    if not group:
        return Stored(name, bits, rate)
    said = f", zero points of {zeros:g} bits" if zeros else ""
    return Stored(f"{name}, group {group}{said}", bits + (_SCALE_BITS + zeros) / group, rate)


def normal_float(*, twice: bool) -> Stored:
    """NF4 or FP4 of bitsandbytes: a scale of 32 bits for each 64, itself kept in 8 bits where quantized `twice`."""
    scale = 8 / 64 + 32 / (64 * 256) if twice else 32 / 64
    return Stored("NF4, group 64" + (", scales of 8 bits" if twice else ""), 4 + scale)


TERNARY: Final = Stored("ternary, 2 bits", 2)
"""BitNet: four numbers of -1, 0 and 1 in a byte."""


def named(*, float_bits: int, group: int | None) -> Stored | None:
    """A format of floating-point numbers by its bits and the group of a scale; None where there is none such."""
    if float_bits == 8:  # noqa: PLR2004
        return microscaled(8) if group == 32 else floating() if group is None else None  # noqa: PLR2004
    return {16: nvfp4(), 32: microscaled(4)}.get(group or 0) if float_bits == 4 else None  # noqa: PLR2004
