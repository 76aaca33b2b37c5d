"""Power and energy of a pass: watts from what limits it, joules from its time.

Measured were accelerators alone, while they wrote at a steady load with prompts among it. What stands around them, and
passes that only read, were not.
"""

from dataclasses import dataclass, replace

import numpy as np

from inferdash.facts import library
from inferdash.facts.machines.power import power_curve
from inferdash.formula import Number, formula
from inferdash.physics.deployment import Deployment
from inferdash.physics.passes import Pass


@formula(unit="%", ref="measured-energy")
def share_of_time(*, part_s: Number, pass_s: Number) -> Number:
    """Share of a pass in which memory, or arithmetic, would be busy at the full rate of the datasheet."""
    return np.minimum(1, part_s / pass_s)


@formula(unit="W", ref="measured-energy")
def watts(*, board_w: Number, idle: Number, work: Number) -> Number:
    """Expected watts of one accelerator: from idle, a share, up to all of its board, as there is work for it."""
    return board_w * (idle + (1 - idle) * (1 - np.exp(-work)))


@formula(unit="number", ref="measured-energy")
def work(*, memory: Number, memory_share: Number, compute: Number, compute_share: Number, exponent: Number) -> Number:
    """How much of the chip is awake, from nothing to many: the curve's weights of memory and of arithmetic."""
    return memory * np.minimum(1, memory_share) ** exponent + compute * np.minimum(1, compute_share) ** exponent


@formula(unit="J", ref="measured-energy")
def joules(*, watts: Number, gpus: Number, pass_s: Number) -> Number:
    """Energy of a pass over all accelerators."""
    return watts * gpus * pass_s


@formula(unit="tokens/J", ref="measured-energy")
def tokens_per_joule(*, tokens: Number, joules: Number) -> Number:
    """Tokens for a joule."""
    return tokens / joules


@formula(unit="s", ref="measured-energy")
def served_s(*, pass_s: Number, pace: Number, requests: Number, request_s: Number, divided: Number) -> Number:
    """Expected seconds of a pass in service: prompts are read among those that write, and a server stands beside.

    `divided` is what waiting for the fullest adds to `pace` where experts are divided over accelerators, otherwise 0.
    """
    return pass_s * (pace + divided) + requests * request_s


@dataclass(frozen=True)
class Energy:
    """What the accelerators draw in a pass. Board power alone: no processor, no fan, no site."""

    watts: Number
    """Of one accelerator."""
    joules: Number
    """Of the pass over all of them."""
    watts_band: tuple[float, float]
    """Edges of the band of the watts, as factors."""
    joules_band: tuple[float, float]


def energy(deployment: Deployment, one: Pass, *, pass_s: Number) -> Energy | None:
    """Watts and joules of a pass.

    Args:
        deployment: what runs on what.
        one: the pass, at the limit.
        pass_s: how long it takes, as measured.

    Returns:
        None where what the board draws, or a peak, is not known, or where the figure covers more than the board.
    """
    power, found = deployment.accelerator.power, power_curve()
    if power.board is None or one.compute_s is None:
        return None
    awake = work(
        memory=found.memory,
        memory_share=share_of_time(part_s=one.load_s, pass_s=pass_s),
        compute=found.compute,
        compute_share=share_of_time(part_s=one.compute_s, pass_s=pass_s),
        exponent=found.exponent,
    )
    drawn = watts(board_w=power.board, idle=found.idle, work=awake)
    band, _ = bands(deployment.accelerator.name)
    return Energy(drawn, joules(watts=drawn, gpus=deployment.gpus, pass_s=pass_s), band, band)


def bands(accelerator: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Edges of the bands of watts and of joules, as factors, by name: wider where it was never measured."""
    curve, chips = power_curve(), library.accelerators()
    if any(chips[name].name == accelerator for name in curve.measured):
        return curve.watts_band, curve.joules_band
    return curve.unmeasured_watts_band, curve.unmeasured_joules_band


def in_service(deployment: Deployment, one: Pass, *, requests: Number, pass_s: Number) -> Energy | None:
    """Watts and joules of a pass that writes, at the speed at which such passes follow each other in service.

    Args:
        deployment: what runs on what.
        one: the pass, at the limit.
        requests: requests in it, over all groups.
        pass_s: how long it is expected to take by itself.

    Returns:
        None where `energy` is.
    """
    curve = power_curve()
    seconds = served_s(
        pass_s=pass_s,
        pace=curve.pace,
        requests=requests / deployment.layout.data,
        request_s=curve.request_s,
        divided=curve.divided if deployment.layout.expert > 1 else 0,
    )
    found = energy(deployment, one, pass_s=seconds)
    return found and replace(found, joules_band=bands(deployment.accelerator.name)[1])
