"""Quantization: a group of weights rounded to the integers of one scale."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inferdash.formula import Number, formula


@formula(unit="", ref="quantization")
def largest_integer(*, bits: Number) -> Number:
    """The largest positive integer of that many bits: 7 for 4 bits, whose integers go from -8 to 7."""
    return 2 ** (bits - 1) - 1


@formula(unit="", ref="quantization")
def group_scale(*, largest_weight: Number, largest_integer: Number) -> Number:
    """The scale of a group: the weight of the largest magnitude becomes the largest positive integer."""
    return largest_weight / largest_integer


@formula(unit="", ref="quantization")
def quantized(*, weight: Number, scale: Number) -> Number:
    """The integer nearest to a weight divided by the scale; halves go to the even one."""
    return np.rint(weight / scale)


@formula(unit="", ref="quantization")
def restored(*, integer: Number, scale: Number) -> Number:
    """The weight that an integer stands for."""
    return integer * scale


@formula(unit="", ref="quantization")
def largest_error(*, scale: Number) -> Number:
    """The bound on the error of each weight: half the scale."""
    return scale / 2


@formula(unit="bits", ref="quantization")
def bits_per_weight(*, bits: Number, scale_bits: Number, group: Number) -> Number:
    """Bits of a weight with its part of the group's scale."""
    return bits + scale_bits / group


def group_of(weights: Sequence[float], *, bits: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Scale, integers and restored weights of one group; a group of zeros has scale 1 and stays zeros."""
    values = np.asarray(weights, dtype=np.float64)
    largest = float(np.abs(values).max(initial=0.0))
    top = largest_integer(bits=bits)
    scale = float(group_scale(largest_weight=largest, largest_integer=top)) if largest else 1.0
    integers = np.asarray(quantized(weight=values, scale=scale))
    return scale, integers, np.asarray(restored(integer=integers, scale=scale))


def normal_error(*, bits: int, group: int, seed: int = 0, weights: int = 65_536) -> float:
    """Root mean square error, as a share of that of the weights, on weights of a normal distribution in groups."""
    drawn = np.random.default_rng(seed).standard_normal((max(1, weights // group), group))
    scales = group_scale(
        largest_weight=np.abs(drawn).max(axis=1, keepdims=True), largest_integer=largest_integer(bits=bits)
    )
    back = restored(integer=quantized(weight=drawn, scale=scales), scale=scales)
    return float(np.sqrt(np.mean((drawn - back) ** 2) / np.mean(drawn**2)))
