"""Tables of pass times against the formulas that filled them."""

from math import inf
from typing import Final

import numpy as np
import pytest

from inferdash.facts import library
from inferdash.facts.machines.engine import Engine
from inferdash.facts.models.precision import PRECISIONS
from inferdash.formula import Number
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.expected import expected
from inferdash.physics.parallelism import Layout, obstacle
from inferdash.physics.passes import one_pass
from inferdash.serving.simulated.pass_times import PassTimes, pass_times
from inferdash.serving.simulated.scheduling import room_pages

VLLM: Final = library.engines()["vllm"]
BF16: Final = PRECISIONS["bf16"]
LAYOUTS: Final = (None, Layout(even=False, tensor=8), Layout(even=False, data=4, expert=4))
CONTEXTS: Final = (1, 2, 100, 127, 128, 129, 1023, 1024, 4095, 4096, 4097, 8192, 12_000)
CHUNKS: Final = ((1, 0), (1000, 0), (2048, 0), (2048, 1000), (2048, 4096), (2048, 9000))


def machine(model: str, layout: Layout | None = None) -> Deployment:
    sharing = {} if layout is None else {"layout": layout}
    gpus = 8 if layout is None else layout.gpus
    chip = library.accelerators()["h100-sxm"]
    return deploy(library.models()[model], chip, gpus=gpus, weights=BF16, cache=BF16, **sharing)  # type: ignore[arg-type]


def tables(here: Deployment, engine: Engine | None) -> PassTimes:
    times = pass_times(here, engine, places=64, tokens=12_000, pass_tokens=2048)
    assert times is not None
    return times


def by_formula(
    here: Deployment, engine: Engine | None, *, requests: int, positions: Number, past: Number
) -> list[float]:
    """Passes of equal requests; with groups, all of them do the same."""
    together = requests * here.layout.data
    if engine is None:
        one = one_pass(here, requests=together, positions=positions, past=past, output_positions=1)
    else:
        one = expected(here, engine, requests=together, positions=positions, past=past)  # type: ignore[assignment]
    passes_s: list[float] = np.broadcast_to(np.asarray(one.pass_s), np.broadcast(positions, past).shape).tolist()
    return passes_s


@pytest.mark.parametrize("model", library.models())
def test_passes_of_equal_requests_are_those_of_the_formulas(model: str) -> None:
    """To rounding, but for layers that press tokens into entries."""
    exact = 1e-4 if model.startswith("deepseek-v4") else 1e-9
    for layout in LAYOUTS:
        if layout and obstacle(library.models()[model], layout):
            continue
        here = machine(model, layout)
        for engine in (None, VLLM):
            times = tables(here, engine)
            for requests in (1, 7, 64):
                whole = by_formula(here, engine, requests=requests, positions=1, past=np.array(CONTEXTS, dtype=float))
                found = [times.pass_s(contexts=[past] * requests) for past in CONTEXTS]
                assert found == pytest.approx(whole, rel=exact)
            sizes, pasts = np.array(CHUNKS, dtype=float).T
            whole = by_formula(here, engine, requests=1, positions=sizes, past=pasts)
            assert [times.pass_s(chunks=[chunk]) for chunk in CHUNKS] == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("model", library.models())
def test_chunks_of_any_size_and_several_in_one_pass(model: str) -> None:
    """Short chunks of a latent cache work on the latents, long ones expand them."""
    here = machine(model)
    for engine in (None, VLLM):
        times = tables(here, engine)
        chunks = ((1, 9000), (17, 1000), (170, 5000), (200, 300), (500, 0), (900, 9000))
        sizes, pasts = np.array(chunks, dtype=float).T
        whole = by_formula(here, engine, requests=2, positions=sizes, past=pasts)
        assert [times.pass_s(chunks=[chunk] * 2) for chunk in chunks] == pytest.approx(whole, rel=1e-9)


def test_a_pass_of_unlike_requests_by_hand() -> None:
    """Llama 3 8B on one H100 at its limit: 20 decodes and two chunks, bytes and operations added up one by one.

    It reads 15.0 GB of parameters and 131,072 bytes for each token in the cache. An operation pair for each of
    6.98 billion parameters and each position, for 0.53 billion more at one position of each request, and for each pair
    of positions 4 in each of 32 x 128 numbers of 32 layers.
    """
    here = deploy(library.models()["llama-3-8b"], library.accelerators()["h100-sxm"], gpus=1, weights=BF16, cache=BF16)
    times = tables(here, None)
    contexts, chunks = list(range(100, 2100, 100)), [(700, 0), (300, 2000)]
    positions = len(contexts) + sum(size for size, _ in chunks)
    read = 15_009_849_344 + 131_072 * (sum(contexts) + sum(past for _, past in chunks))
    output = 128_256 * 4096
    pairs = sum(past + 1 for past in contexts) + sum(size * past + size * (size + 1) // 2 for size, past in chunks)
    flops = 2 * ((7_504_924_672 - output) * positions + output * 22) + 4 * 32 * 32 * 128 * pairs
    found = times.pass_s(contexts=contexts, chunks=chunks)
    assert found == pytest.approx(max(read / 3.35e12, flops / 989.4e12), rel=1e-9)
    assert times.pass_s(contexts=contexts) == pytest.approx((15_009_849_344 + 131_072 * sum(contexts)) / 3.35e12)


def test_without_a_peak_there_are_no_times() -> None:
    here = deploy(library.models()["llama-3-8b"], library.accelerators()["m2-ultra"], gpus=1, weights=BF16, cache=BF16)
    for engine in (None, VLLM):
        assert pass_times(here, engine, places=4, tokens=100, pass_tokens=64) is None


def test_slopes_are_those_of_the_curve() -> None:
    times = tables(machine("gpt-oss-20b"), VLLM)
    assert times.bends == (127, 128)
    curve, slopes = times.tables.context_s[0], times.tables.slope_s[0]
    assert np.diff(curve)[1:] == pytest.approx(slopes[1:-1], rel=1e-6)
    assert len({*slopes[1:127]}) == len({*slopes[128:-1]}) == 1
    assert (*times.tables.bend_after[126:129],) == (127, 128, 12_001)
    assert times.lines[0].pass_s[0] == 0 < times.pass_s(contexts=[1]) < inf


def test_pages_that_fit_are_the_free_memory() -> None:
    """Llama 3 8B on one H100: (80 GB - 16.06 GB) / (131,072 bytes x 16 tokens); on 8 it is there once."""
    here = deploy(library.models()["llama-3-8b"], library.accelerators()["h100-sxm"], gpus=1, weights=BF16, cache=BF16)
    assert room_pages(here, tokens=1280, page=16) == int((80e9 - 16_060_522_496) // (131_072 * 16))
    assert room_pages(machine("llama-3-8b"), tokens=1280, page=16) == int((640e9 - 16_060_522_496) // (131_072 * 16))
    tiny = deploy(
        library.models()["llama-3.1-405b"], library.accelerators()["h100-sxm"], gpus=1, weights=BF16, cache=BF16
    )
    assert room_pages(tiny, tokens=1280, page=16) == 0
