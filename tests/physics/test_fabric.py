"""Two classes of links, against DeepEP's published table and laws."""

from typing import Any, Final

import pytest

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.parallelism import Fabric, Layout, all_to_all_bytes, share_between, two_links_s
from inferdash.physics.passes import decode

LAYOUTS: Final = (
    Layout(even=False, tensor=16),
    Layout(even=False, data=32, expert=32),
    Layout(even=False, tensor=8, pipeline=4),
    Layout(even=False, tensor=8, data=4, expert=32),
)


def machine(layout: Layout, fabric: Fabric | None) -> Deployment:
    fields: Any = {"weights": PRECISIONS["fp8-block"], "cache": PRECISIONS["bf16"]}
    chip = library.accelerators()["h200-sxm"]
    return deploy(library.models()["deepseek-v3"], chip, gpus=layout.gpus, layout=layout, fabric=fabric, **fields)


@pytest.mark.parametrize(("ranks", "dispatch_us"), [(16, 118), (32, 155), (64, 173), (128, 192), (256, 194)])
def test_dispatch_of_deepep(ranks: int, dispatch_us: float) -> None:
    """H800 at 160 GB/s within and 50 GB/s between, 128 tokens, 8 experts, 7,392 bytes a token: the table to 5%.

    Its kernels send each chosen expert its own copy; half of what goes and comes back is the way there.
    """
    both_ways = all_to_all_bytes(expert=ranks, positions=128, experts_per_token=8, hidden=7392, bytes_per_number=1)
    found = two_links_s(
        bytes_sent=both_ways / 2,
        link_bandwidth=160e9,
        bytes_between=both_ways / 2 * share_between(accelerators=ranks, node=8),
        fabric_bandwidth=50e9,
        latency_s=0,
    )
    assert found == pytest.approx(dispatch_us * 1e-6, rel=0.05)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.words)
def test_an_endless_link_between_machines_is_one_machine(layout: Layout) -> None:
    """And a slower one, or one with a latency, is never quicker; beyond a node that holds all it plays no part."""

    def link_s(fabric: Fabric | None) -> float:
        found = decode(machine(layout, fabric), requests=256, past=1000).link_s
        assert found is not None
        return float(found)

    one = link_s(None)
    assert link_s(Fabric(node=8, bandwidth=float("inf"))) == one
    assert link_s(Fabric(node=72, bandwidth=1e9)) == one
    slower = [link_s(Fabric(node=8, bandwidth=rate)) for rate in (400e9, 100e9, 50e9)]
    assert one < slower[0] < slower[1] < slower[2]
    assert link_s(Fabric(node=8, bandwidth=50e9, latency_s=1e-5)) > slower[2]
