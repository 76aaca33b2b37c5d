"""How long the caches of a scenario are on their way from prefill to decode workers, and how many the links carry."""

import numpy as np

from inferdash.physics import disaggregation
from inferdash.physics.disaggregation import part_bytes
from inferdash.physics.parallelism import Fabric
from inferdash.scenario import Scenario
from inferdash.serving.apart import Transfer
from inferdash.serving.requests import Ints


def link_of(scenario: Scenario, prefill: Scenario) -> Fabric | None:
    """The link that caches take; None where its speed is not known."""
    gpus = scenario.replicas * scenario.gpus + prefill.replicas * prefill.gpus
    return disaggregation.transfer_link(prefill.hardware, scenario.hardware, scenario.between, gpus=gpus)


def transfer_of(scenario: Scenario, prefill: Scenario, prompts: Ints) -> Transfer | None:
    """How long the caches of these prompts are on their way; None where the link is not known."""
    link = link_of(scenario, prefill)
    if link is None:
        return None
    tokens = prompts.astype(np.float64)
    sent, received = (np.asarray(part_bytes(one.deployment, tokens=tokens)) for one in (prefill, scenario))
    return Transfer(
        sending_s=sent / link.bandwidth,
        receiving_s=received / link.bandwidth,
        latency_s=link.latency_s,
        layers=scenario.architecture.layers if scenario.transfer == "layers" else 0,
    )


def transfer_s(scenario: Scenario, prefill: Scenario) -> float | None:
    """Seconds of the transfer of a prompt that waits for no other; None likewise."""
    link = link_of(scenario, prefill)
    if link is None:
        return None
    sent, received = (part_bytes(one.deployment, tokens=scenario.prompt) for one in (prefill, scenario))
    moved = disaggregation.transfer_s(sent_bytes=sent, received_bytes=received, link_bandwidth=link.bandwidth)
    return link.latency_s + float(moved)


def link_carries_per_s(scenario: Scenario, prefill: Scenario) -> float | None:
    """Requests a second whose caches the links of all workers carry, of prompts of the scenario; None likewise."""
    link = link_of(scenario, prefill)
    if link is None:
        return None
    return min(
        one.replicas
        * one.sharing.data
        * float(
            disaggregation.link_carries_per_s(
                link_bandwidth=link.bandwidth, sent_bytes=part_bytes(one.deployment, tokens=scenario.prompt)
            )
        )
        for one in (prefill, scenario)
    )
