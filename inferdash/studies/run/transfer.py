"""How long the caches of a scenario are on their way from prefill to decode workers, and how many the links carry."""

import numpy as np
from numpy.typing import NDArray

from inferdash.physics.parallelism import Fabric
from inferdash.physics.under_load import disaggregation
from inferdash.physics.under_load.disaggregation import part_bytes
from inferdash.scenario import Scenario
from inferdash.serving.simulated.apart import Transfer
from inferdash.serving.simulated.requests import Requests


def link_of(scenario: Scenario, prefill: Scenario) -> Fabric | None:
    """The link that caches take; None where its speed is not known."""
    gpus = scenario.replicas * scenario.gpus + prefill.replicas * prefill.gpus
    return disaggregation.transfer_link(prefill.hardware, scenario.hardware, scenario.between, gpus=gpus)


def moved_tokens(scenario: Scenario) -> int:
    """Tokens of a prompt of the scenario whose cache is moved: what decode workers have found is there."""
    found = min(int(scenario.found_share * scenario.prompt), scenario.prompt - 1)
    return scenario.prompt - found * scenario.decode_prefixes


def transfer_of(scenario: Scenario, prefill: Scenario, who: Requests) -> Transfer | None:
    """How long the caches of these prompts are on their way; None where the link is not known."""
    link = link_of(scenario, prefill)
    if link is None:
        return None
    there = who.found * _came_before(who, scenario.replicas) * scenario.decode_prefixes
    tokens = (who.prompt - there).astype(np.float64)
    sent, received = (np.asarray(part_bytes(one.deployment, tokens=tokens)) for one in (prefill, scenario))
    return Transfer(
        sending_s=sent / link.bandwidth,
        receiving_s=received / link.bandwidth,
        latency_s=link.latency_s,
        layers=scenario.architecture.layers if scenario.transfer == "layers" else 0,
    )


def _came_before(who: Requests, workers: int) -> NDArray[np.bool_]:
    """Whether the prefix of each came as often as there are decode workers, so that all of them have it; or always."""
    order = np.argsort(who.prefix, kind="stable")
    sorted_ = who.prefix[order]
    times = np.empty(len(who), dtype=np.int64)
    times[order] = np.arange(len(who)) - np.searchsorted(sorted_, sorted_)
    return (times >= workers) | (who.prefix < 0)


def transfer_s(scenario: Scenario, prefill: Scenario) -> float | None:
    """Seconds of the transfer of a prompt that waits for no other; None likewise."""
    link = link_of(scenario, prefill)
    if link is None:
        return None
    sent, received = (part_bytes(one.deployment, tokens=moved_tokens(scenario)) for one in (prefill, scenario))
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
                link_bandwidth=link.bandwidth, sent_bytes=part_bytes(one.deployment, tokens=moved_tokens(scenario))
            )
        )
        for one in (prefill, scenario)
    )
