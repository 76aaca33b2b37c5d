"""The expected time of a pass: what engines have been measured to reach, beside the limit of the datasheet.

The parts stand one after another, as measurements say: loading, arithmetic, a time for each layer, the vectors on their
way through memory, and the waiting of accelerators for each other. The limit is a floor under their sum.
"""

from dataclasses import dataclass, fields

import numpy as np

from inferdash.facts.engine import Band, Engine
from inferdash.formula import Number, formula
from inferdash.physics.deployment import Deployment
from inferdash.physics.parallelism import ACTIVATION_BYTES
from inferdash.physics.passes import Pass, one_pass


@formula(unit="%", ref="measured")
def reached_share(*, share: Number, rate: Number, ceiling: Number) -> Number:
    """Share of a datasheet's rate that programs reach which come close to a ceiling on no accelerator.

    `share` is what they reach where the rate is far below the ceiling.
    """
    return 1 / (1 / share + rate / ceiling)


@formula(unit="%", ref="measured")
def share_with_experts(*, share: Number, factor: Number) -> Number:
    """Share of the bandwidth where a model has experts: what loading takes beyond the datasheet's time, times a factor.

    Parameters of experts are read in pieces, and one accelerator may hold more of the chosen experts than another.
    """
    return 1 / (1 + factor * (1 / share - 1))


@formula(unit="%", ref="measured")
def share_of_peak(*, share: Number, peak_factor: Number) -> Number:
    """Share of the dense peak where sums at 16 bits multiply `peak_factor` times as fast, and `share` is of that.

    The peak of a datasheet is with sums at 32 bits, so this alone may be more than all of it.
    """
    return share * peak_factor


@formula(unit="s", ref="measured")
def expected_load_s(*, load_s: Number, share: Number) -> Number:
    """Seconds of loading at a share of the bandwidth; `load_s` is at all of it."""
    return load_s / share


@formula(unit="s", ref="measured")
def expected_compute_s(
    *, compute_s: Number, attention_part: Number, matrix_share: Number, attention_share: Number
) -> Number:
    """Seconds of arithmetic at shares of the peaks, that of attention lower; `compute_s` is at all of them.

    `attention_part` is how much of that time is attention.
    """
    return compute_s * ((1 - attention_part) / matrix_share + attention_part / attention_share)


@formula(unit="%", ref="measured")
def attention_part(*, matrix_flops: Number, peak: Number, attention_flops: Number, attention_peak: Number) -> Number:
    """Part of the time of arithmetic that is attention, at full peaks."""
    return attention_flops / attention_peak / (matrix_flops / peak + attention_flops / attention_peak)


@formula(unit="s", ref="measured")
def layers_s(*, layers: Number, layer_s: Number, factor: Number) -> Number:
    """Seconds that the layers add to a pass: kernels that start, small ones, gaps between them."""
    return layers * layer_s * factor


@formula(unit="s", ref="measured")
def vectors_s(
    *, trips: Number, layers: Number, positions: Number, hidden: Number, bytes_per_number: Number, bandwidth: Number
) -> Number:
    """Seconds in which the vectors of the positions go to memory and come back, `trips` times in each layer."""
    return trips * layers * positions * hidden * bytes_per_number / bandwidth


@formula(unit="s", ref="measured")
def waiting_s(*, exchanges: Number, exchange_s: Number, gaps: Number, gap_s: Number) -> Number:
    """Seconds in which accelerators wait beside the bytes on their link: for each exchange, and from group to group."""
    return exchanges * exchange_s + gaps * gap_s


@formula(unit="s", ref="measured")
def expected_pass_s(
    *,
    limit_s: Number,
    load_s: Number,
    compute_s: Number,
    layers_s: Number,
    vectors_s: Number,
    link_s: Number,
    waiting_s: Number,
) -> Number:
    """Expected seconds of a pass: the sum of its parts, and never less than the limit."""
    return np.maximum(limit_s, load_s + compute_s + layers_s + vectors_s + link_s + waiting_s)


@formula(unit="s", ref="measured")
def served_prefill_s(*, prefill_s: Number, server_s: Number) -> Number:
    """Expected seconds to the first token through a server that has nothing else to do."""
    return prefill_s + server_s


@formula(unit="times", ref="measured")
def uncertain_part(*, limit_s: Number, expected_s: Number) -> Number:
    """Exponent with which the factor of a band counts: 1 where the limit is far below what is expected.

    The limit is known and what comes on top of it is not: the variance of a time grows with the part beyond the limit,
    and a tenth of it stands at the limit too, as bytes and datasheets are not exact either.
    """
    return np.maximum(0.1, 1 - 0.9 * limit_s / expected_s) ** 0.5


@formula(unit="s", ref="measured")
def edge_s(*, expected_s: Number, factor: Number, exponent: Number) -> Number:
    """An edge of the band around an expected time; the exponent of its factor is at most 1."""
    return expected_s * factor ** np.minimum(1, exponent)


def factor_needed(*, limit_s: Number, expected_s: Number, measured_s: Number) -> Number:
    """Factor of the narrowest band that reaches a measurement: 1 where it is what was expected."""
    exponent = uncertain_part(limit_s=limit_s, expected_s=expected_s)
    return np.exp(np.abs(np.log(measured_s / expected_s)) / exponent)


@dataclass(frozen=True)
class ExpectedPass:
    """The expected time of one pass, by part. Its fields are numbers, or arrays where it was asked for with arrays."""

    load_s: Number
    compute_s: Number
    layers_s: Number
    vectors_s: Number
    link_s: Number
    waiting_s: Number
    limit_s: Number
    pass_s: Number

    def times(self, passes: Number) -> "ExpectedPass":
        """The time of that many passes like this one."""
        return ExpectedPass(*(passes * getattr(self, part.name) for part in fields(self)))

    def then(self, other: "ExpectedPass") -> "ExpectedPass":
        """The time of this and of another one after it."""
        return ExpectedPass(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    def band_s(self, band: Band) -> tuple[Number, Number]:
        """Seconds between which four of five measurements are expected."""
        exponent = uncertain_part(limit_s=self.limit_s, expected_s=self.pass_s)
        low, high = (edge_s(expected_s=self.pass_s, factor=factor, exponent=exponent) for factor in band)
        return low, high


def expected_pass(
    deployment: Deployment, engine: Engine, one: Pass, *, requests: Number, positions: Number
) -> ExpectedPass | None:
    """The expected time of a pass; None where no peak of the accelerator is known.

    Args:
        deployment: what runs on what.
        engine: the program that runs it.
        one: the pass at its limit.
        requests: requests in the pass.
        positions: new positions of each request.
    """
    chip, shape, layout = deployment.accelerator, deployment.architecture, deployment.layout
    if one.compute_s is None or one.pass_s is None or deployment.peak is None or deployment.attention_peak is None:
        return None
    reach = engine.reach[chip.family]
    bandwidth_share: Number = reach.bandwidth_share
    if deployment.parameters.mixture:
        bandwidth_share = share_with_experts(share=bandwidth_share, factor=engine.experts_loading)
    matrix_share = share_of_peak(share=reach.arithmetic_share, peak_factor=reach.peak_factor)
    if reach.bandwidth_ceiling is not None:
        bandwidth_share = reached_share(share=bandwidth_share, rate=chip.bandwidth, ceiling=reach.bandwidth_ceiling)
    if engine.arithmetic_ceiling is not None:
        matrix_share = reached_share(share=matrix_share, rate=deployment.peak, ceiling=engine.arithmetic_ceiling)
    part = attention_part(
        matrix_flops=one.matrix_flops,
        peak=deployment.peak,
        attention_flops=one.attention_flops,
        attention_peak=deployment.attention_peak,
    )
    load = expected_load_s(load_s=one.load_s, share=bandwidth_share)
    compute = expected_compute_s(
        compute_s=one.compute_s,
        attention_part=part,
        matrix_share=matrix_share,
        attention_share=engine.attention_share,
    )
    layers = layers_s(
        layers=shape.layers,
        layer_s=reach.layer,
        factor=engine.experts_factor if deployment.parameters.mixture else 1,
    )
    sharing = layout.data if not layout.even else deployment.gpus
    vectors = vectors_s(
        trips=engine.vector_trips,
        layers=shape.layers,
        positions=requests * positions / sharing,
        hidden=shape.hidden,
        bytes_per_number=ACTIVATION_BYTES,
        bandwidth=chip.bandwidth,
    )
    waiting = waiting_s(
        exchanges=2 * shape.layers if layout.tensor > 1 else 0,
        exchange_s=reach.exchange,
        gaps=layout.pipeline - 1,
        gap_s=engine.stage,
    )
    link = 0.0 if one.link_s is None else one.link_s
    return ExpectedPass(
        load_s=load,
        compute_s=compute,
        layers_s=layers,
        vectors_s=vectors,
        link_s=link,
        waiting_s=waiting,
        limit_s=one.pass_s,
        pass_s=expected_pass_s(
            limit_s=one.pass_s,
            load_s=load,
            compute_s=compute,
            layers_s=layers,
            vectors_s=vectors,
            link_s=link,
            waiting_s=waiting,
        ),
    )


def expected(
    deployment: Deployment, engine: Engine, *, requests: Number, positions: Number, past: Number
) -> ExpectedPass | None:
    """The same from the numbers of a pass, with the output layer at the last position of each request."""
    one = one_pass(deployment, requests=requests, positions=positions, past=past, output_positions=1)
    return expected_pass(deployment, engine, one, requests=requests, positions=positions)


def expected_prefill(deployment: Deployment, engine: Engine, *, prompt: int, past: int = 0) -> ExpectedPass | None:
    """The passes together in which an engine reads the prompt of one request, after `past` tokens that it has.

    They are equal chunks no longer than its own, each taken as the one in the middle: the parts of the time grow evenly
    with the tokens before it, but for layers whose window is full, where this is a little too much. None where no peak
    of the accelerator is known.
    """
    chunks = -(-prompt // engine.chunk)
    size = prompt / chunks
    middle = expected(deployment, engine, requests=1, positions=size, past=past + (chunks - 1) / 2 * size)
    return None if middle is None else middle.times(chunks)


def expected_batch(
    deployment: Deployment, engine: Engine, *, requests: int, prompt: int, answer: int
) -> ExpectedPass | None:
    """All passes of a batch of equal requests that start together: their prompts, then their answers side by side.

    Prompts that are shorter than a chunk share one. The first token of each answer comes with its prompt; the others
    are taken as the one in the middle. None where no peak of the accelerator is known.
    """
    together = max(1, min(requests, engine.chunk // prompt))
    if together > 1:
        prompts = expected(deployment, engine, requests=together, positions=prompt, past=0)
    else:
        prompts = expected_prefill(deployment, engine, prompt=prompt)
    middle = expected(deployment, engine, requests=requests, positions=1, past=prompt + answer / 2)
    if prompts is None or middle is None:
        return None
    return prompts.times(requests / together).then(middle.times(answer - 1))
