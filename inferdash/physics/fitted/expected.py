"""The expected time of a pass: what engines have been measured to reach, beside the limit of the datasheet.

The parts stand one after another, as measurements say: loading, arithmetic, a time for each layer, the vectors on their
way through memory, the waiting of accelerators for each other, and the processor beside them. The limit is a floor
under their sum.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from inferdash.facts.machines.engine import Band, Engine
from inferdash.formula import Number, formula
from inferdash.physics.amounts import Amounts, amounts
from inferdash.physics.deployment import Deployment
from inferdash.physics.passes import Pass, one_pass


@formula(unit="%", ref="measured")
def reached_share(*, share: Number, rate: Number, ceiling: Number) -> Number:
    """Share of a datasheet's rate that programs reach which come close to a ceiling on no accelerator.

    `share` is what they reach where the rate is far below the ceiling.
    """
    return 1 / (1 / share + rate / ceiling)


@formula(unit="%", ref="measured")
def share_of_peak(*, share: Number, peak_factor: Number) -> Number:
    """Share of the dense peak where sums at 16 bits multiply `peak_factor` times as fast, and `share` is of that.

    The peak of a datasheet is with sums at 32 bits, so this alone may be more than all of it.
    """
    return share * peak_factor


@formula(unit="s", ref="measured")
def expected_load_s(*, load_s: Number, share: Number, experts_load_s: Number, experts_share: Number) -> Number:
    """Seconds of loading at shares of the bandwidth, that of routed experts apart; `load_s` is at all of it."""
    return load_s / share + experts_load_s / experts_share


@formula(unit="s", ref="measured")
def expected_compute_s(
    *,
    matrices_s: Number,
    share: Number,
    experts_s: Number,
    experts_share: Number,
    attention_s: Number,
    attention_share: Number,
    on_top_s: Number,
) -> Number:
    """Seconds of arithmetic at shares of the peaks, that of attention lower; what goes in is at all of them.

    `on_top_s` is what latent attention and narrow or packed experts take beside that.
    """
    return matrices_s / share + experts_s / experts_share + attention_s / attention_share + on_top_s


@formula(unit="s", ref="measured")
def on_top_s(
    *, latent_s: Number, latent: Number, narrow_s: Number, narrow: Number, packed_s: Number, packed: Number
) -> Number:
    """Seconds of arithmetic that latent attention, narrow experts and packed ones take more than others."""
    return latent_s * latent + narrow_s * narrow + packed_s * packed


@formula(unit="s", ref="measured")
def layers_s(*, layers: Number, layer_s: Number, special_s: Number) -> Number:
    """Seconds that the layers add to a pass: kernels that start, small ones, gaps between them.

    `special_s` is what layers of special kinds add beyond.
    """
    return layers * layer_s + special_s


@formula(unit="s", ref="measured")
def host_s(*, passes: Number, pass_s: Number, requests: Number, request_s: Number) -> Number:
    """Seconds that the processor beside the accelerators adds: for a pass, and for each request in it."""
    return passes * pass_s + requests * request_s


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
    host_s: Number,
) -> Number:
    """Expected seconds of a pass: the sum of its parts, and never less than the limit."""
    return np.maximum(limit_s, load_s + compute_s + layers_s + vectors_s + link_s + waiting_s + host_s)


@formula(unit="s", ref="measured")
def served_prefill_s(*, prefill_s: Number, server_s: Number) -> Number:
    """Expected seconds to the first token through a server that has nothing else to do."""
    return prefill_s + server_s


@formula(unit="s", ref="measured")
def server_s(
    *, server_s: Number, token_s: Number, prompt: Number, request_s: Number = 0, in_flight: Number = 0
) -> Number:
    """Expected seconds of the server beside the passes: of its own, by tokens of the prompt, by requests in flight."""
    return server_s + token_s * prompt + request_s * in_flight


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
    host_s: Number
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
    """The expected time of a pass; None for a prefill where no peak of the accelerator is known.

    A pass that writes hardly needs its arithmetic: without a peak it is left out, and the loading is the floor.

    Args:
        deployment: what runs on what.
        engine: the program that runs it.
        one: the pass at its limit.
        requests: requests in the pass.
        positions: new positions of each request.
    """
    if one.compute_s is None or one.pass_s is None:
        if np.any(np.asarray(positions) > 1):
            return None
        link = 0.0 if one.link_s is None else one.link_s
        one = replace(one, compute_s=0 * one.load_s, pass_s=one.load_s + link)
    return of_amounts(deployment, engine, amounts(deployment, one, requests=requests, positions=positions))


def of_amounts(deployment: Deployment, engine: Engine, one: Amounts) -> ExpectedPass:
    """The expected time of what passes have to do."""
    chip = deployment.accelerator
    reach = engine.reach[chip.family]
    load_shares: list[Number] = [reach.bandwidth_share, reach.experts_bandwidth_share]
    if reach.bandwidth_ceiling is not None:
        load_shares = [
            reached_share(share=share, rate=chip.bandwidth, ceiling=reach.bandwidth_ceiling) for share in load_shares
        ]
    shares: list[Number] = [
        share_of_peak(share=share, peak_factor=reach.peak_factor)
        for share in (reach.arithmetic_share, reach.experts_arithmetic_share)
    ]
    if engine.arithmetic_ceiling is not None:
        peak = 0.0 if deployment.peak is None else deployment.peak
        shares = [reached_share(share=share, rate=peak, ceiling=engine.arithmetic_ceiling) for share in shares]
    parts: dict[str, Number] = {
        "load_s": expected_load_s(
            load_s=one.load_matrices_s + one.load_cache_s,
            share=load_shares[0],
            experts_load_s=one.load_experts_s,
            experts_share=load_shares[1],
        ),
        "compute_s": expected_compute_s(
            matrices_s=one.matrices_s,
            share=shares[0],
            experts_s=one.experts_s,
            experts_share=shares[1],
            attention_s=one.attention_s,
            attention_share=engine.attention_share,
            on_top_s=on_top_s(
                latent_s=one.latent_s,
                latent=engine.latent_attention,
                narrow_s=one.narrow_s,
                narrow=engine.experts_narrow,
                packed_s=one.packed_s,
                packed=engine.experts_packed,
            ),
        ),
        "layers_s": layers_s(layers=one.layers, layer_s=reach.layer, special_s=_special_s(engine, one)),
        "vectors_s": engine.vector_trips * one.vectors_s,
        "link_s": one.link_s,
        "waiting_s": waiting_s(exchanges=one.exchanges, exchange_s=reach.exchange, gaps=one.gaps, gap_s=engine.stage),
        "host_s": host_s(
            passes=one.passes, pass_s=engine.host_pass, requests=one.requests, request_s=engine.host_request
        ),
    }
    return ExpectedPass(**parts, limit_s=one.limit_s, pass_s=expected_pass_s(limit_s=one.limit_s, **parts))


def _special_s(engine: Engine, one: Amounts) -> Number:
    """Seconds that layers with experts, latent or sparse attention, a state or scaled blocks add beyond others."""
    return (
        one.experts_layers * engine.experts_layer
        + one.latent_layers * engine.latent_layer
        + one.latent_reads * engine.latent_read
        + one.sparse_layers * engine.sparse_layer
        + one.recurrent_layers * engine.recurrent_layer
        + one.scaled_layers * engine.scaled_layer
        + one.fnuz_layers * engine.fnuz_layer
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
