"""Moving a cache in against computing it: cases from published bandwidths and sizes, worked out apart from the code."""

import pytest

from inferdash.facts import library
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.capacity.tiers import break_even_bandwidth, least_tokens, reload_s, split_s

PREFILL_S = 0.8289
"""Llama 3.1 8B on an H100 at 60% of 989 Tflop/s, 32,768 tokens."""


@pytest.mark.parametrize(
    ("model", "bytes_per_number", "token_bytes"),
    [
        ("llama-3.1-8b", 2, 131_072),
        ("llama-3.3-70b", 2, 327_680),
        ("qwen3-32b", 2, 262_144),
        ("deepseek-v3", 2, 70_272),
        ("deepseek-v3", 1, 35_136),
    ],
)
def test_bytes_of_a_token(model: str, bytes_per_number: int, token_bytes: int) -> None:
    found = request_cache_bytes(library.models()[model], tokens=1, bytes_per_number=bytes_per_number)
    assert found == token_bytes


@pytest.mark.parametrize(
    ("bandwidth", "seconds", "gain"), [(50e9, 0.0909, 9.1), (7e9, 0.6186, 1.34), (3.125e9, 1.379, 0.601)]
)
def test_moved_in_from_host_memory_an_ssd_and_a_slow_link(bandwidth: float, seconds: float, gain: float) -> None:
    found = reload_s(latency_s=5e-3, tokens=32_768, token_bytes=131_072, bandwidth=bandwidth)
    assert found == pytest.approx(seconds, rel=1e-3)
    assert PREFILL_S / found == pytest.approx(gain, rel=5e-3)


def test_from_when_on_it_pays() -> None:
    """At 50 GB/s a token takes 2.62 us against 25.29 us; at 5.18 GB/s they take as long."""
    assert least_tokens(latency_s=5e-3, compute_token_s=25.29e-6, reload_token_s=2.62e-6) == pytest.approx(221, abs=1)
    assert break_even_bandwidth(token_bytes=131_072, token_s=25.29e-6) == pytest.approx(5.18e9, rel=1e-3)


def test_both_at_once() -> None:
    assert split_s(compute_s=0.8289, moved_s=0.6136) == pytest.approx(0.3526, rel=1e-3)
