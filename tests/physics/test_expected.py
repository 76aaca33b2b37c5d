"""Expected times against measurements from outside, then the laws that they keep."""

from itertools import cycle, product
from typing import Final

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.amounts import amounts
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.expected import (
    edge_s,
    expected,
    expected_pass,
    expected_prefill,
    factor_needed,
    of_amounts,
    reached_share,
    served_prefill_s,
    share_of_peak,
    uncertain_part,
)
from inferdash.physics.parallelism import Layout
from inferdash.physics.passes import one_pass

ENGINES: Final = library.engines()
BF16: Final = PRECISIONS["bf16"]
BATCHES: Final = np.array([1, 2, 16, 64, 256, 2048])


def machine(model: str, chip: str, weights: str = "bf16", layout: Layout | None = None) -> Deployment:
    shape, accelerator, form = library.models()[model], library.accelerators()[chip], PRECISIONS[weights]
    if layout is None:
        return deploy(shape, accelerator, gpus=1, weights=form, cache=BF16)
    return deploy(shape, accelerator, gpus=layout.gpus, weights=form, cache=BF16, layout=layout)


KERNELS: Final = [(1, 1, 6.18), (16, 1, 7.51), (64, 1, 10.35), (256, 1, 19.56), (1, 1024, 22.1)]
"""Llama 3 8B on an H100 SXM: requests, new positions of each, and milliseconds of vLLM's kernels alone.

Decode passes after 1,024 tokens and the prefill of 1,024. No fit has seen them.
"""


@pytest.mark.parametrize(("requests", "positions", "kernels_ms"), KERNELS)
def test_it_is_near_kernels_that_no_fit_has_seen(requests: int, positions: int, kernels_ms: float) -> None:
    past = 1024 if positions == 1 else 0
    one = expected(
        machine("llama-3-8b", "h100-sxm"), ENGINES["vllm"], requests=requests, positions=positions, past=past
    )
    assert one is not None
    own_s = one.pass_s - one.host_s  # the processor comes on top of kernels, and so do gaps between them
    assert 1e-3 * kernels_ms <= own_s <= 1.5e-3 * kernels_ms


CHIPS: Final = [key for key, chip in library.accelerators().items() if chip.dense_bf16]
LAYOUTS: Final = (None, Layout(even=False, tensor=8), Layout(even=False, pipeline=4, data=2))


@pytest.mark.parametrize("engine", ENGINES)
def test_it_is_never_below_the_limit(engine: str) -> None:
    models, formats = cycle(library.models()), cycle(PRECISIONS)
    for chip in CHIPS:
        for layout, (positions, past) in product(LAYOUTS, ((1, 4096), (2048, 0))):
            here = machine(next(models), chip, next(formats), layout)
            limit = one_pass(here, requests=BATCHES, positions=positions, past=past, output_positions=1)
            one = expected_pass(here, ENGINES[engine], limit, requests=BATCHES, positions=positions)
            assert one is not None
            assert np.all(np.asarray(one.pass_s) >= np.asarray(limit.pass_s))


@pytest.mark.parametrize("model", library.models())
def test_no_model_is_read_faster_than_the_limit(model: str) -> None:
    here = machine(model, "rtx-4090")
    limit = one_pass(here, requests=BATCHES, positions=1, past=1024, output_positions=1)
    one = expected_pass(here, ENGINES["exllama"], limit, requests=BATCHES, positions=1)
    assert one is not None
    assert np.all(np.asarray(one.pass_s) > np.asarray(limit.pass_s))


def test_parts_add_up_and_more_work_takes_longer() -> None:
    one = expected(machine("llama-3-8b", "h100-sxm"), ENGINES["vllm"], requests=BATCHES, positions=1, past=1024)
    assert one is not None
    parts = one.load_s + one.compute_s + one.layers_s + one.vectors_s + one.waiting_s + one.host_s
    np.testing.assert_allclose(np.asarray(one.pass_s), np.asarray(parts), rtol=1e-12)
    assert np.all(np.diff(np.asarray(one.pass_s)) > 0)


def test_accelerators_that_wait_for_each_other_take_longer_than_their_share() -> None:
    alone = expected(machine("llama-3-8b", "h100-sxm"), ENGINES["vllm"], requests=1, positions=1, past=1024)
    four = machine("llama-3-8b", "h100-sxm", layout=Layout(even=False, tensor=4))
    together = expected(four, ENGINES["vllm"], requests=1, positions=1, past=1024)
    assert alone is not None
    assert together is not None
    assert together.waiting_s > 0 == alone.waiting_s
    assert alone.pass_s / 4 < together.pass_s < alone.pass_s


def test_a_prompt_is_read_in_chunks() -> None:
    here = machine("llama-3-8b", "h100-sxm")
    whole = expected_prefill(here, ENGINES["vllm"], prompt=4096)
    chunks = expected_prefill(here, ENGINES["llama.cpp"], prompt=4097)
    assert whole is not None
    assert chunks is not None
    assert whole == expected(here, ENGINES["vllm"], requests=1, positions=4096, past=0)
    assert float(chunks.load_s) > 8 * float(whole.load_s)

    size = 4097 / 9  # one after another they take what nine passes in the middle take
    each = [expected(here, ENGINES["llama.cpp"], requests=1, positions=size, past=n * size) for n in range(9)]
    one_by_one = sum(float(one.pass_s) for one in each if one is not None)
    assert float(chunks.pass_s) == pytest.approx(one_by_one)


def test_what_is_in_the_cache_already_is_not_run_again() -> None:
    here = machine("llama-3-8b", "h100-sxm")
    rest = expected_prefill(here, ENGINES["vllm"], prompt=1024, past=3072)
    assert rest == expected(here, ENGINES["vllm"], requests=1, positions=1024, past=3072)


def test_without_a_peak_only_what_writes_is_expected() -> None:
    here = machine("llama-3-8b", "m2-ultra")
    one = expected(here, ENGINES["mlx"], requests=BATCHES, positions=1, past=1)
    assert one is not None
    assert np.all(np.asarray(one.pass_s) > one.limit_s)
    assert np.all(np.asarray(one.compute_s) == 0)
    assert expected_prefill(here, ENGINES["mlx"], prompt=100) is None


def test_one_peak_without_that_of_attention_expects_a_number() -> None:
    """Rubin CPX has a peak in fp4 alone, and attention over a cache at 16 bits has none."""
    told = expected(machine("llama-3-8b", "rubin-cpx", "nvfp4"), ENGINES["vllm"], requests=1, positions=1, past=1024)
    assert told is not None
    assert np.isfinite(told.pass_s)


def test_a_ceiling_takes_more_of_a_faster_accelerator() -> None:
    assert reached_share(share=0.8, rate=0, ceiling=1e12) == pytest.approx(0.8)
    assert reached_share(share=1, rate=1e12, ceiling=1e12) == pytest.approx(0.5)
    slow, fast = (float(reached_share(share=0.9, rate=rate, ceiling=6e12)) for rate in (1e12, 3e12))
    assert slow > fast
    assert 3e12 * fast > 1e12 * slow


def expected_s(model: str, weights: str, layout: Layout | None = None, *, positions: int = 1) -> float:
    here = machine(model, "b200-sxm", weights, layout)
    one = expected(here, ENGINES["vllm"], requests=1, positions=positions, past=1024 if positions == 1 else 0)
    assert one is not None
    return float(one.pass_s)


def test_what_layers_are_made_of_adds_to_their_time() -> None:
    """A part of its own for experts, latent and sparse attention, a state, and vectors scaled in blocks."""
    engine, limit = ENGINES["vllm"], {}
    for model in ("llama-3-8b", "mixtral-8x7b", "deepseek-r1", "deepseek-v3.2", "qwen3-next-80b-a3b"):
        here = machine(model, "b200-sxm", "fp8-block")
        one = one_pass(here, requests=1, positions=1, past=1024, output_positions=1)
        limit[model] = amounts(here, one, requests=1, positions=1)
    dense, experts, latent, sparse, recurrent = limit.values()
    assert (dense.experts_layers, dense.latent_layers, dense.sparse_layers, dense.recurrent_layers) == (0, 0, 0, 0)
    assert experts.experts_layers == 32
    assert (latent.latent_layers, latent.experts_layers, latent.sparse_layers) == (61, 58, 0)
    assert sparse.sparse_layers == sparse.latent_layers == 61
    assert recurrent.recurrent_layers == 36
    assert dense.scaled_layers == 32
    each = of_amounts(machine("deepseek-v3.2", "b200-sxm", "fp8-block"), engine, sparse)
    special = 61 * (engine.latent_layer + engine.sparse_layer + engine.scaled_layer) + 58 * engine.experts_layer
    layer = engine.reach["nvidia-datacenter"].layer
    assert float(each.layers_s) == pytest.approx(61 * layer + special)


def test_matrices_scaled_by_block_take_longer_where_fp8_is_of_another_kind() -> None:
    """By AMD's documentation of HIP that is gfx942, so the MI300X and the MI325X."""
    assert {key for key, chip in library.accelerators().items() if chip.fp8_fnuz} == {"mi300x", "mi325x"}
    engine = ENGINES["sglang"]
    times = {}
    for key, weights in (("mi300x", "fp8-block"), ("mi300x", "bf16"), ("mi355x", "fp8-block")):
        here = machine("deepseek-r1", key, weights)
        one = one_pass(here, requests=1, positions=1, past=1024, output_positions=1)
        times[key, weights] = of_amounts(here, engine, amounts(here, one, requests=1, positions=1)).layers_s
    added = times["mi300x", "fp8-block"] - times["mi300x", "bf16"]
    assert added == pytest.approx(61 * (engine.scaled_layer + engine.fnuz_layer))
    assert times["mi300x", "fp8-block"] - times["mi355x", "fp8-block"] == pytest.approx(61 * engine.fnuz_layer)


def test_an_expert_takes_longer_the_narrower_it_is_on_an_accelerator() -> None:
    wide, narrow = (
        expected_s("qwen3-235b-a22b", "bf16", Layout(even=False, tensor=tensor), positions=4096) for tensor in (2, 8)
    )
    assert narrow > wide / 4


def test_amounts_add_up_to_the_pass_at_its_limit() -> None:
    for model, layout in product(("llama-3-8b", "gpt-oss-120b", "deepseek-r1"), (None, Layout(even=False, tensor=4))):
        here = machine(model, "h100-sxm", "fp8", layout)
        for positions, past in ((1, 4096), (2048, 512)):
            one = one_pass(here, requests=8, positions=positions, past=past, output_positions=1)
            found = amounts(here, one, requests=8, positions=positions)
            load = found.load_matrices_s + found.load_experts_s + found.load_cache_s
            assert float(load) == pytest.approx(float(one.load_s))
            assert float(found.load_cache_s) > 0
            compute = found.matrices_s + found.experts_s + found.attention_s
            assert float(compute) == pytest.approx(float(one.compute_s or 0))


def test_only_geforce_adds_up_faster_at_16_bits_and_only_where_the_engine_does() -> None:
    assert share_of_peak(share=0.7, peak_factor=2) == pytest.approx(1.4)
    for key, engine in ENGINES.items():
        doubled = {family for family, reach in engine.reach.items() if reach.peak_factor > 1}
        assert doubled == ({"geforce"} if key == "llama.cpp" else set())


def test_a_band_is_narrow_at_the_limit_and_wide_far_from_it() -> None:
    at, near, far = (float(uncertain_part(limit_s=1, expected_s=time)) for time in (1, 1.3, 1e9))
    assert at == pytest.approx(0.1**0.5)
    assert at < near < far
    assert far == pytest.approx(1)
    low, high = (float(edge_s(expected_s=2, factor=factor, exponent=near)) for factor in (1 / 1.5, 1.5))
    assert low * high == pytest.approx(2 * 2)


@pytest.mark.parametrize("measured_s", [1.1, 2.0, 3.7])
def test_the_band_of_the_needed_factor_ends_at_the_measurement(measured_s: float) -> None:
    factor = factor_needed(limit_s=1, expected_s=2, measured_s=measured_s)
    exponent = uncertain_part(limit_s=1, expected_s=2)
    edges = [float(edge_s(expected_s=2, factor=f, exponent=exponent)) for f in (factor, 1 / factor)]
    assert min(abs(edge - measured_s) for edge in edges) == pytest.approx(0, abs=1e-9)


def test_a_band_holds_what_is_expected_and_is_wider_where_less_is_known() -> None:
    one = expected(machine("llama-3-8b", "h100-sxm"), ENGINES["vllm"], requests=1, positions=1, past=1024)
    assert one is not None
    low, high = one.band_s(ENGINES["vllm"].reach["nvidia-datacenter"].bands.decode)
    assert low < one.pass_s < high
    for phase in ("decode", "prefill", "serving", "first_token"):
        for family, reach in ENGINES["vllm"].reach.items():
            known, unknown = (getattr(one.bands, phase) for one in (reach, ENGINES["unknown"].reach[family]))
            assert unknown[1] / unknown[0] >= 0.99 * known[1] / known[0]
    assert served_prefill_s(prefill_s=one.pass_s, server_s=ENGINES["vllm"].server) > one.pass_s
