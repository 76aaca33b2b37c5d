"""Adapters, and experts in host memory: sizes and times worked out apart from the code."""

import pytest

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.capacity.adapters import adapter_parameters, adapters_bytes, distinct_adapters, ends_of
from inferdash.physics.deployment import deploy
from inferdash.physics.host_experts import host_read_bytes, layers_with_experts, with_host_s


def test_an_adapter_of_llama_has_half_a_percent_of_its_parameters() -> None:
    """Rank 16 beside all seven matrices: 16 * 81,920 a layer, 32 layers: 41,943,040, 84 MB in bf16."""
    parameters = adapter_parameters(rank=16, ends=ends_of(library.models()["llama-3.1-8b"]))
    assert parameters == 41_943_040
    assert adapters_bytes(adapters=1, parameters=parameters, number_bytes=2) == pytest.approx(83.9e6, rel=1e-3)


def test_adapters_of_a_batch() -> None:
    """One request has one; of 4 adapters two requests have 4 (1 - (3/4)^2) = 1.75 on average."""
    assert distinct_adapters(adapters=4, requests=1) == 1
    assert distinct_adapters(adapters=4, requests=2) == 1.75
    assert distinct_adapters(adapters=1, requests=9) == 1


def test_experts_of_gpt_oss_in_host_memory() -> None:
    """36 layers, 4 of 128 experts of 3 * 2880^2 numbers at 4.25 bits: 1.904 GB a token, 23.8 ms at 80 GB/s."""
    model = library.models()["gpt-oss-120b"]
    layers, experts = layers_with_experts(model)
    assert experts is not None
    machine = deploy(
        model,
        library.accelerators()["rtx-5090"],
        gpus=2,
        weights=PRECISIONS[model.weights],
        cache=PRECISIONS["bf16"],
    )
    routed = 2 * float(machine.loaded_bytes_apart(positions=1)[1])  # two GPUs read an even share each
    one = routed / layers / experts.experts_per_token
    assert (layers, experts.experts_per_token) == (36, 4)
    assert one == pytest.approx(13.219e6, rel=1e-3)
    read = host_read_bytes(layers=layers, experts_per_token=4, expert_bytes=one)
    assert read == pytest.approx(1.904e9, rel=1e-3)
    assert with_host_s(gpu_bytes=0, gpu_bandwidth=1, host_bytes=read, host_bandwidth=80e9) == pytest.approx(
        23.8e-3, rel=1e-3
    )
