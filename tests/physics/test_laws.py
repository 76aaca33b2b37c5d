"""Laws that hold for every model on every accelerator."""

import math
from collections.abc import Iterator
from itertools import cycle, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash.facts import library
from inferdash.facts.models.precision import CACHE_PRECISIONS, PRECISIONS
from inferdash.layers.grouped import GroupedAttention
from inferdash.layers.latent import LatentAttention
from inferdash.physics import experts as routing
from inferdash.physics.capacity import memory
from inferdash.physics.capacity.parameters import parameters
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.passes import Pass, decode, one_pass, prefill
from inferdash.physics.quantization import normal_error
from inferdash.physics.speculation import kept, speedup, tokens_per_pass
from inferdash.physics.under_load import batching as places
from inferdash.pricing import prompt_cache as pricing
from inferdash.scenario import Scenario
from inferdash.studies.learn import batching, experts, kv_cache, quantization
from inferdash.studies.price import prompt_cache

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


EVERY_MODEL = pytest.mark.parametrize("name", library.models())
MIXTURES = [name for name, model in library.models().items() if experts.experts_of(model)]
RATES = ("dense_bf16", "dense_fp16", "dense_fp8", "dense_int8", "dense_fp4")
BATCH_ROWS = np.array([[1.0], [2.0], [3.0], [8.0], [64.0], [1000.0], [1_000_000.0]])
PAST_COLUMNS = np.array([[0.0, 1.0, 127.0, 128.0, 129.0, 1024.0, 8192.0, 131_072.0, 10_000_000.0]])


FORMATS = (("bf16", "bf16"), ("fp8", "fp8"), ("int8", "bf16"), ("mxfp4", "fp8"))


def on_every_accelerator(name: str) -> Iterator[Deployment]:
    """A model preset on each accelerator preset, in formats of the parameters and the cache that take turns."""
    for chip, (weights, cache) in zip(library.accelerators().values(), cycle(FORMATS), strict=False):
        yield deploy(library.models()[name], chip, gpus=3, weights=PRECISIONS[weights], cache=CACHE_PRECISIONS[cache])


def at_least(values: Any, bound: Any) -> bool:
    return bool(np.all(np.asarray(values) >= np.asarray(bound) * (1 - 1e-12)))


def alike(values: Any, others: Any) -> bool:
    return bool(np.allclose(values, others, rtol=1e-12, atol=0))


def never_falls(values: Any, axis: int) -> bool:
    whole = np.broadcast_to(values, np.broadcast_shapes(np.shape(values), BATCH_ROWS.shape, PAST_COLUMNS.shape))
    return bool(np.all(np.diff(whole, axis=axis) >= -1e-12 * np.delete(whole, -1, axis=axis)))


def bytes_of_one_position(machine: Deployment) -> float:
    """A bound from below: what one position works with, each kind at the fewest bits of the format."""
    active, bits = machine.parameters.active, machine.weights
    in_matrices = (active.matrices + active.experts) * bits.matrix_bits
    return (
        float(
            in_matrices
            + (active.small + active.router) * bits.small_bits
            + machine.parameters.output_layer * bits.table_bits
        )
        / 8
    )


def peaks_of(machine: Deployment) -> list[float]:
    """The peaks of all accelerators of a deployment together, in each format that they have.

    None of a chip without a peak at 16 bits, and for the parameters or the cache: what it takes is not known.
    """
    chip, used = machine.accelerator, (machine.weights.rate, machine.cache.rate)
    if not (chip.dense_bf16 or chip.dense_fp16 or all(getattr(chip, rate) for rate in used)):
        return []
    return [machine.gpus * peak for rate in RATES if (peak := getattr(machine.accelerator, rate))]


@EVERY_MODEL
def test_on_every_preset_a_decode_keeps_the_floors_and_more_never_takes_less(name: str) -> None:
    """The floors are worked out from the facts, not from the pass: what one position loads and multiplies."""
    for machine in on_every_accelerator(name):
        active, bandwidth = machine.parameters.active_total, machine.gpus * machine.accelerator.bandwidth
        one = decode(machine, requests=BATCH_ROWS, past=PAST_COLUMNS)
        read = np.asarray(one.bytes_read)
        assert alike(one.load_s, read / bandwidth)
        assert at_least(read, bytes_of_one_position(machine))
        assert at_least(one.flops, 2 * active * BATCH_ROWS)
        # The cache of each request is loaded for it alone.
        grown = read - read[:, :1]
        assert np.allclose(grown, BATCH_ROWS * grown[:1], rtol=1e-6, atol=0)
        assert grown[0, -1] > 0
        peaks = peaks_of(machine)
        assert (one.pass_s is None) == (one.compute_s is None) == (not peaks)
        if peaks:
            assert at_least(one.pass_s, np.maximum(one.load_s, 2 * active * BATCH_ROWS / max(peaks)))
        whole = one.load_s if one.pass_s is None else one.pass_s
        assert never_falls(whole, axis=0)
        assert never_falls(whole, axis=1)
        assert never_falls(BATCH_ROWS / whole, axis=0), "a larger batch gets fewer tokens together"


@EVERY_MODEL
def test_on_every_preset_a_prefill_keeps_the_floors_and_more_never_takes_less(name: str) -> None:
    for machine in on_every_accelerator(name):
        prompt = PAST_COLUMNS + 1
        reading = prefill(machine, prompt=prompt, output_layer_last=False)
        assert at_least(reading.bytes_read, bytes_of_one_position(machine))
        assert alike(reading.load_s, reading.bytes_read / (machine.gpus * machine.accelerator.bandwidth))
        assert at_least(reading.flops, 2 * machine.parameters.active_total * prompt)
        if peaks := peaks_of(machine):
            multiplying_s = 2 * machine.parameters.active_total * prompt / max(peaks)
            assert at_least(reading.pass_s, np.maximum(reading.load_s, multiplying_s))
        assert never_falls(reading.load_s if reading.pass_s is None else reading.pass_s, axis=1)


@EVERY_MODEL
def test_twice_the_bandwidth_and_the_peaks_halve_the_limit_on_every_preset(name: str) -> None:
    """For decodes, checks of five positions, and the reading of more."""
    positions = np.array([[1.0, 5.0, 1024.0]])
    for machine in on_every_accelerator(name):
        chip = machine.accelerator
        twice = {rate: 2 * rated for rate in ("bandwidth", *RATES) if (rated := getattr(chip, rate))}
        other = deploy(
            machine.architecture,
            chip.model_copy(update=twice),
            gpus=machine.gpus,
            weights=machine.weights,
            cache=machine.cache,
        )
        slow, fast = (
            one_pass(one, requests=BATCH_ROWS, positions=positions, past=8192, output_positions=1)
            for one in (machine, other)
        )
        assert alike(np.asarray(fast.load_s) * 2, slow.load_s)
        assert (fast.pass_s is None) == (slow.pass_s is None)
        if slow.pass_s is not None:
            assert alike(np.asarray(fast.pass_s) * 2, slow.pass_s)
        assert other.stored_bytes == machine.stored_bytes


@EVERY_MODEL
def test_the_parts_of_the_parameters_add_up(name: str) -> None:
    counts = parameters(library.models()[name])
    active = counts.active.total + counts.output_layer
    assert active == counts.active_total <= counts.stored_total
    assert (counts.active.experts < counts.stored.experts) == (name in MIXTURES)
    scenario = Scenario(model=name)
    *parts, total = experts.parts_table(scenario, experts.study(scenario)).rows
    assert list(total.values) == [counts.stored_total, counts.active_total]
    assert [sum(column) for column in zip(*(row.values for row in parts), strict=True)] == list(total.values)


@EVERY_MODEL
def test_parameters_caches_and_free_memory_are_the_memory(name: str) -> None:
    """On an accelerator of each size."""
    sizes = {accelerator.memory: chip for chip, accelerator in library.accelerators().items()}
    for (memory_bytes, chip), (gpus, batch, kv) in zip(
        sizes.items(), cycle(((1, 1, "bf16"), (64, 32, "fp8"), (8, 1000, "bf16"))), strict=False
    ):
        scenario = Scenario(model=name, accelerator=chip, gpus=gpus, batch=batch, kv=kv, prompt=5000)
        result = kv_cache.study(scenario)
        room = gpus * memory_bytes
        assert result.parameters_bytes + result.caches_bytes + result.free_bytes == pytest.approx(room, rel=1e-12)
        fits = batch <= memory.largest_batch(scenario.deployment, tokens=5000)
        assert (result.free_bytes >= 0) == fits
        bars = kv_cache.memory_rows(result)
        assert bars[0]["start_b"] == 0
        assert all(left["end_b"] == right["start_b"] for left, right in pairwise(bars))
        held = result.parameters_bytes + batch * result.bytes_per_request
        assert bars[-1]["end_b"] == pytest.approx(room if fits else held, rel=1e-12)


def prompts() -> st.SearchStrategy[str]:
    return st.text(st.sampled_from("ab 12$.é_"), max_size=12)


@st.composite
def cached_prompts(draw: st.DrawFn) -> Scenario:
    """Any prompt with any cache at any prices."""
    return Scenario(
        shared=draw(st.integers(1, 100_000)),
        question=draw(st.integers(0, 10_000)),
        increment=draw(st.sampled_from([1, 2, 64, 128, 1000, 2048])),
        minimum=draw(st.sampled_from([0, 1024, 4096, 200_000])),
        read=draw(st.floats(0, 0.99)),
        write=draw(st.floats(1, 10)),
        lifetime=draw(st.floats(1, 86_400)),
        interval=draw(st.floats(0.001, 86_400)),
        renewed=draw(st.booleans()),
        arrivals=draw(st.sampled_from(["fixed", "random"])),
        requests=draw(st.integers(1, 1000)),
        input_usd=draw(st.sampled_from([0.0, 2.0, 5.0])),
    )


@given(prompts(), prompts())
@settings(deadline=None)
def test_positions_read_and_run_are_those_of_the_prompt(first: str, second: str) -> None:
    scenario = Scenario(first_prompt=first, second_prompt=second)
    stored, later = (prompt_cache.tokens_of(text) for text in (scenario.first_prompt, scenario.second_prompt))
    assert "".join(later) == scenario.second_prompt
    result = prompt_cache.study(scenario)
    read = result.positions_read
    assert read + result.positions_run == len(later)
    assert stored[:read] == later[:read]
    assert read == min(len(stored), len(later)) or stored[read] != later[read]
    (_, left), (_, shown) = prompt_cache.chips(scenario)
    assert ["stored"] * len(stored) == [state for _, state in left]
    assert ["read"] * read + ["run"] * result.positions_run == [state for _, state in shown]


@given(cached_prompts())
@settings(deadline=None)
def test_fresh_read_and_written_tokens_are_the_input(scenario: Scenario) -> None:
    result = prompt_cache.study(scenario)
    whole = scenario.shared + scenario.question
    reused = result.reused_tokens
    fresh = whole - reused
    assert result.uncached_request_tokens == whole
    assert result.first_request_tokens == pytest.approx(fresh + scenario.write * reused, rel=1e-12)
    assert result.later_request_tokens == pytest.approx(fresh + scenario.read * reused, rel=1e-12)
    assert reused % scenario.increment == 0
    assert reused == 0 or scenario.minimum <= reused <= scenario.shared < reused + scenario.increment
    assert 0 <= result.read_share <= 1
    cheapest, dearest = result.later_request_tokens, result.first_request_tokens
    assert cheapest * (1 - 1e-12) <= result.mean_request_tokens <= dearest * (1 + 1e-12)
    paid = dearest + (scenario.requests - 1) * result.mean_request_tokens
    assert result.all_requests_usd * 1e6 == pytest.approx(paid * scenario.input_usd, rel=1e-12)


@given(cached_prompts())
@settings(deadline=None)
def test_without_reads_each_request_costs_what_writing_costs(scenario: Scenario) -> None:
    late = {"interval": 2 * scenario.lifetime, "renewed": True, "arrivals": "fixed"}
    written = prompt_cache.study(scenario.model_copy(update=late))
    assert written.read_share == 0
    assert written.mean_request_tokens == written.first_request_tokens
    price = scenario.input_usd / 1e6
    writing = price * scenario.requests * written.first_request_tokens
    assert written.all_requests_usd == pytest.approx(writing, rel=1e-12)
    # A start that is too short is never written, and then each request costs what it costs without a cache.
    short = prompt_cache.study(scenario.model_copy(update={"minimum": 200_000}))
    assert (short.reused_tokens, short.read_share) == (0, 0)
    costs = {short.first_request_tokens, short.later_request_tokens, short.mean_request_tokens}
    assert costs == {short.uncached_request_tokens}
    assert short.all_requests_usd == pytest.approx(short.all_requests_uncached_usd, rel=1e-12)
    assert short.saving_factor == 1


@given(cached_prompts(), st.floats(1, 1000))
@settings(deadline=None)
def test_a_longer_lifetime_never_lowers_the_read_share(scenario: Scenario, longer: float) -> None:
    result = prompt_cache.study(scenario)
    for more in ({"lifetime": scenario.lifetime * longer}, {"interval": scenario.interval / longer}):
        other = prompt_cache.study(scenario.model_copy(update=more))
        assert other.read_share >= result.read_share - 1e-15
        assert other.mean_request_tokens <= result.mean_request_tokens * (1 + 1e-12)


@given(st.floats(0, 0.99), st.floats(1, 10), st.integers(1, 100_000), st.integers(0, 100_000))
def test_at_the_break_even_a_cache_costs_what_none_costs(read: float, write: float, start: int, rest: int) -> None:
    first = pricing.first_request_tokens(start=start, rest=rest, write=write)
    later = pricing.later_request_tokens(start=start, rest=rest, read=read)
    share = pricing.break_even_read_share(write=write, read=read)
    assert 0 <= share <= 1
    assert pricing.mean_request_tokens(first=first, later=later, read_share=share) == pytest.approx(start + rest)
    requests = int(pricing.break_even_requests(write=write, read=read))
    assert first + (requests - 1) * later <= requests * (start + rest) * (1 + 1e-9)
    if requests > 1:
        assert first + (requests - 2) * later >= (requests - 1) * (start + rest) * (1 - 1e-9)


def test_break_even_requests_at_every_price_that_the_page_offers() -> None:
    """Prices have two digits; in whole hundredths the quotient is exact."""
    read, write = np.meshgrid(np.arange(100), np.arange(100, 1001))
    exact = np.maximum(1, -(-(write - read) // (100 - read)))
    found = pricing.break_even_requests(write=write / 100, read=read / 100)
    assert np.asarray(found).tolist() == exact.tolist()


@given(st.sampled_from(MIXTURES), st.integers(1, 1_000_000))
@settings(deadline=None)
def test_experts_that_a_batch_reads_and_leaves_are_all(name: str, batch: int) -> None:
    kind = experts.experts_of(library.models()[name])
    result = experts.study(Scenario(model=name, batch=batch))
    assert kind is not None
    assert result.distinct_experts is not None
    assert result.expected_unused is not None
    assert result.positions_per_expert is not None
    assert result.distinct_experts + result.expected_unused == pytest.approx(kind.experts, rel=1e-12)
    fewest, most = kind.experts_per_token, min(kind.experts, batch * kind.experts_per_token)
    assert fewest * (1 - 1e-12) <= result.distinct_experts <= most * (1 + 1e-12)
    assert result.positions_per_expert * kind.experts == pytest.approx(batch * kind.experts_per_token)


@given(st.lists(st.integers(-9999, 9999), min_size=1, max_size=16), st.integers(1, 16), st.integers(-99, 99))
@settings(deadline=None)
def test_shares_of_the_chosen_experts_add_up_to_1(hundredths: list[int], chosen: int, moved: int) -> None:
    logits = [value / 100 for value in hundredths]
    result = experts.study(Scenario(logits=", ".join(map(str, logits)), chosen=chosen))
    assert sum(result.shares) == pytest.approx(1, rel=1e-12)
    assert len(set(result.chosen_experts)) == len(result.shares) == min(chosen, len(logits))
    assert list(result.shares) == sorted(result.shares, reverse=True)
    taken = [logits[expert - 1] for expert in result.chosen_experts]
    assert taken == sorted(logits, reverse=True)[: len(taken)]
    # A softmax is the same where all logits are larger by as much.
    others = ", ".join(str((value + 100 * moved) / 100) for value in hundredths)
    other = experts.study(Scenario(logits=others, chosen=chosen))
    assert other.shares == pytest.approx(result.shares, rel=1e-9)


@given(st.integers(1, 64), st.data(), st.integers(1, 200), st.floats(0, 2))
@settings(deadline=None)
def test_each_drawn_position_chooses_different_experts(
    many: int, data: st.DataObject, positions: int, skew: float
) -> None:
    each = data.draw(st.integers(1, many))
    drawn = routing.drawn_positions(many, experts_per_token=each, positions=positions, skew=skew, seed=0)
    assert drawn.sum() == positions * each
    assert drawn.max() <= positions
    assert routing.popularity(many, skew=skew).sum() == pytest.approx(1)


def test_random_passes_read_as_many_experts_as_the_average_says() -> None:
    drawn = [
        np.count_nonzero(routing.drawn_positions(64, experts_per_token=4, positions=16, skew=0.0, seed=seed))
        for seed in range(100)
    ]
    assert np.mean(drawn) == pytest.approx(64 * (1 - (1 - 4 / 64) ** 16), rel=0.02)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=40), st.integers(1, 64))
@settings(deadline=None)
def test_places_of_passes_are_written_or_idle(lengths: list[int], slots: int) -> None:
    result = batching.study(Scenario(lengths=", ".join(map(str, lengths)), slots=slots))
    written = sum(lengths)
    assert slots * result.static_passes == written + result.static_idle_places
    assert slots * result.continuous_passes == written + result.idle_places
    assert result.idle_places >= 0
    assert max(*lengths, math.ceil(written / slots)) <= result.continuous_passes <= result.static_passes
    for plan in (places.static, places.continuous):
        stays = sorted(plan(lengths, places=slots), key=lambda stay: (stay.place, stay.first_pass))
        assert sorted((stay.request, stay.passes) for stay in stays) == list(enumerate(lengths))
        assert {stay.place for stay in stays} <= set(range(slots))
        for one, after in pairwise(stays):
            assert one.place < after.place or one.first_pass + one.passes <= after.first_pass


@given(st.lists(st.integers(-999_999, 999_999), min_size=1, max_size=20), st.integers(2, 16), st.integers(-12, 6))
@settings(deadline=None)
def test_errors_stay_within_the_bound_and_integers_within_their_bits(values: list[int], bits: int, power: int) -> None:
    scenario = Scenario(weight_values=", ".join(f"{value}e{power}" for value in values), bits=bits)
    weights = [float(f"{value}e{power}") for value in values]
    result = quantization.study(scenario)
    top = 2 ** (bits - 1) - 1
    assert result.max_error == pytest.approx(result.scale / 2)
    for weight, integer, back in zip(weights, result.integers, result.restored, strict=True):
        assert -top <= integer <= top
        assert back == pytest.approx(integer * result.scale)
        assert abs(back - weight) <= result.max_error * (1 + 1e-9)
        assert weight * integer >= 0
    if any(weights):
        assert max(map(abs, result.integers)) == top
    assert result.dot[0] == pytest.approx(math.fsum(weights), abs=1e-12 * max(map(abs, weights)))
    assert abs(result.dot[1] - result.dot[0]) <= len(weights) * result.max_error * (1 + 1e-9)


@pytest.mark.parametrize("group", [8, 128, 1024])
def test_more_bits_never_raise_the_error(group: int) -> None:
    errors = [normal_error(bits=bits, group=group) for bits in range(2, 17)]
    assert all(more < fewer for fewer, more in pairwise(errors))
