"""The roofline: the longer of arithmetic and loading is the time of a pass.

Every time here is the limit, at the full speed of the datasheet; real programs reach a part of it.
"""

import numpy as np

from inferdash.formula import Number, formula


@formula(unit="s", ref="reading-and-writing")
def compute_s(
    *, matrix_flops: Number, peak: Number, attention_flops: Number, attention_peak: Number, gpus: Number
) -> Number:
    """Seconds of arithmetic of `gpus` accelerators that share it evenly, at their dense peaks.

    Matrices are multiplied at the peak of the parameters' format, attention at that of the cache's.
    """
    return (matrix_flops / peak + attention_flops / attention_peak) / gpus


@formula(unit="s", ref="reading-and-writing")
def load_s(*, bytes_read: Number, gpus: Number, bandwidth: Number) -> Number:
    """Seconds of loading at the full bandwidth of `gpus` accelerators that share it evenly."""
    return bytes_read / (gpus * bandwidth)


@formula(unit="s", ref="roofline")
def pass_s(*, compute_s: Number, load_s: Number) -> Number:
    """Seconds of a pass that loads and calculates at the same time: the longer of the two."""
    return np.maximum(compute_s, load_s)


@formula(unit="FLOP/B", ref="roofline")
def ridge_flop_per_byte(*, peak: Number, bandwidth: Number) -> Number:
    """Operations for each byte loaded at which arithmetic and loading take equally long."""
    return peak / bandwidth


@formula(unit="FLOP/B", ref="roofline")
def intensity_flop_per_byte(*, flops: Number, bytes_read: Number) -> Number:
    """Operations that a pass does for each byte that it loads."""
    return flops / bytes_read


@formula(unit="FLOP/s", ref="roofline")
def attainable_flop_per_s(*, gpus: Number, peak: Number, bandwidth: Number, intensity: Number) -> Number:
    """The most operations a second at an intensity: limited by the peak, or by the bandwidth times the intensity."""
    return gpus * np.minimum(peak, bandwidth * intensity)


@formula(unit="%", ref="roofline")
def unused_share(*, busy_s: Number, pass_s: Number) -> Number:
    """Share of a pass in which the arithmetic, or the memory, has nothing to do."""
    return 1 - busy_s / pass_s
