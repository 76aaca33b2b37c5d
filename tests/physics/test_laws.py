"""Laws that hold for every model on every accelerator."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash.facts import library
from inferdash.facts.precision import CACHE_PRECISIONS, PRECISIONS
from inferdash.layers.attention import GroupedAttention, LatentAttention
from inferdash.physics import memory
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.passes import Pass, decode, one_pass, prefill
from inferdash.physics.speculation import kept, speedup, tokens_per_pass

CHIPS = [chip for chip in library.accelerators().values() if chip.dense_bf16]


@st.composite
def machines(draw: st.DrawFn) -> Deployment:
    return deploy(
        draw(st.sampled_from(list(library.models().values()))),
        draw(st.sampled_from(CHIPS)),
        gpus=draw(st.integers(1, 64)),
        weights=PRECISIONS[draw(st.sampled_from(sorted(PRECISIONS)))],
        cache=CACHE_PRECISIONS[draw(st.sampled_from(sorted(CACHE_PRECISIONS)))],
    )


BATCHES = st.integers(1, 10_000)
TOKENS = st.integers(1, 1_000_000)


def seconds(one: Pass) -> float:
    assert one.pass_s is not None
    return float(one.pass_s)


@given(machines(), BATCHES, TOKENS)
@settings(deadline=None)
def test_a_pass_is_never_shorter_than_its_bytes_or_its_operations(machine: Deployment, batch: int, past: int) -> None:
    one = decode(machine, requests=batch, past=past)
    assert seconds(one) >= one.bytes_read / (machine.gpus * machine.accelerator.bandwidth) * (1 - 1e-12)
    peaks = [machine.peak, machine.attention_peak]
    assert seconds(one) >= one.flops / (machine.gpus * max(peak for peak in peaks if peak)) * (1 - 1e-12)
    assert one.bytes_read >= machine.loaded_bytes(positions=batch)


@given(machines(), BATCHES, TOKENS)
@settings(deadline=None)
def test_a_pass_never_gets_shorter_with_the_batch_or_the_text(machine: Deployment, batch: int, past: int) -> None:
    now = seconds(decode(machine, requests=batch, past=past))
    assert seconds(decode(machine, requests=batch + 1, past=past)) >= now
    assert seconds(decode(machine, requests=batch, past=past + 1)) >= now
    more = one_pass(machine, requests=batch, positions=2, past=past, output_positions=2)
    assert seconds(more) >= now


@given(machines(), BATCHES, TOKENS)
@settings(deadline=None)
def test_twice_the_accelerators_take_half_the_time(machine: Deployment, batch: int, past: int) -> None:
    double = deploy(
        machine.architecture,
        machine.accelerator,
        gpus=2 * machine.gpus,
        weights=machine.weights,
        cache=machine.cache,
    )
    one, half = (decode(m, requests=batch, past=past) for m in (machine, double))
    assert seconds(half) == pytest.approx(seconds(one) / 2, rel=1e-12)


@given(machines(), st.integers(2, 200_000))
@settings(deadline=None)
def test_a_prefill_is_its_positions_one_by_one(machine: Deployment, prompt: int) -> None:
    """Reading n tokens does the operations of n decodes: each position reads those up to itself."""
    whole = prefill(machine, prompt=prompt, output_layer_last=False)
    if not any(isinstance(blocks.attention, LatentAttention) for blocks in machine.architecture.blocks):
        # Latent attention is left out: its decode works on the latents, in another form than its prefill.
        singly = one_pass(machine, requests=1, positions=1, past=np.arange(prompt, dtype=float), output_positions=1)
        assert whole.flops == pytest.approx(np.asarray(singly.flops).sum(), rel=1e-9)
    cheaper = prefill(machine, prompt=prompt, output_layer_last=True)
    assert cheaper.flops < whole.flops
    assert cheaper.attention_flops == whole.attention_flops


@given(machines(), st.integers(1, 100_000))
@settings(deadline=None)
def test_the_largest_batch_fits_and_one_more_does_not(machine: Deployment, tokens: int) -> None:
    largest = int(memory.largest_batch(machine, tokens=tokens))
    if largest:
        assert memory.fewest_gpus(machine, requests=largest, tokens=tokens) <= machine.gpus
    assert memory.fewest_gpus(machine, requests=largest + 1, tokens=tokens) > machine.gpus


@given(machines())
@settings(deadline=None)
def test_arrays_give_the_numbers_one_by_one(machine: Deployment) -> None:
    batches, pasts = np.array([[1.0], [7.0], [4096.0]]), np.array([[1.0, 1024.0, 131_072.0]])
    grid = decode(machine, requests=batches, past=pasts).pass_s
    single = [[seconds(decode(machine, requests=b, past=p)) for p in pasts.ravel()] for b in batches.ravel()]
    assert np.asarray(grid).tolist() == pytest.approx(np.array(single), rel=1e-15)


@given(st.integers(1, 64), st.integers(1, 256), st.integers(1, 8192))
def test_as_many_heads_of_keys_as_of_queries_is_mha(heads: int, head_dim: int, hidden: int) -> None:
    full = GroupedAttention(heads=heads, kv_heads=heads, head_dim=head_dim)
    one = GroupedAttention(heads=heads, kv_heads=1, head_dim=head_dim)
    assert full.parameters(hidden).total == 4 * hidden * heads * head_dim
    assert full.cached_numbers(10) == heads * one.cached_numbers(10)
    assert full.flops(positions=3, past=7) == one.flops(positions=3, past=7)


def test_heads_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ValueError, match="5 heads of keys and values do not divide 12"):
        GroupedAttention(heads=12, kv_heads=5, head_dim=64)


@given(st.integers(1, 32), st.floats(0, 1))
def test_tokens_of_a_check(draft_tokens: int, acceptance: float) -> None:
    tokens = tokens_per_pass(draft_tokens=draft_tokens, acceptance=acceptance)
    assert 1 <= tokens <= draft_tokens + 1
    if acceptance < 0.999:
        closed = (1 - acceptance ** (draft_tokens + 1)) / (1 - acceptance)
        assert math.isclose(float(tokens), closed, rel_tol=1e-9)
    # A round is never shorter than a plain pass, so the gain is at most the tokens.
    assert speedup(tokens_per_pass=tokens, decode_pass_s=2.0, round_s=3.0) == pytest.approx(tokens * 2 / 3)


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_kept_proposals_are_the_shared_start(proposals: list[str], own: list[str]) -> None:
    agreed = kept(proposals, own)
    assert proposals[:agreed] == own[:agreed]
    assert agreed == min(len(proposals), len(own)) or proposals[agreed] != own[agreed]
