"""What an engine keeps: logged starts, each source left out, laws, and public reports."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import memory_logs
from inferdash import links
from inferdash.facts import library
from inferdash.facts.machines.engine_memory import version
from inferdash.physics.capacity.engine_memory import Kept, kept, starts
from inferdash.physics.capacity.settings import Setting, Shape, shape_of
from inferdash.physics.capacity.spans import Span, exactly
from inferdash.physics.capacity.starts import GIB, logged
from inferdash.scenario import Scenario
from inferdash.studies.run import memory

RULES = library.engine_memory()
VLLM = RULES["vllm"]


@cache
def held_out() -> tuple[memory_logs.Held, ...]:
    return tuple(memory_logs.left_out(logged(), memory_logs.source))


def test_the_room_of_sources_that_were_left_out() -> None:
    """Off by at most 5% of the card's memory at the median and 12% at the 90th percentile."""
    errors = [abs(one.error) for one in held_out() if one.error is not None]
    assert len(errors) >= 85
    assert np.median(errors) <= 0.005
    assert np.percentile(errors, 90) <= 0.05
    by_project = [one.error for one in memory_logs.left_out(logged(), memory_logs.project)]
    known = [abs(error) for error in by_project if error is not None]
    assert np.median(known) <= 0.05
    assert np.percentile(known, 90) <= 0.12


def test_surely_is_never_said_of_a_start_that_failed() -> None:
    assert memory_logs.surely_wrong(held_out()) == []
    failed = [one for one in held_out() if one.start.weights and not one.start.started]
    assert len(failed) >= 10
    assert sum(one.start.said(one.found) in {"no", "probably not"} for one in failed) >= len(failed) / 2
    went = [one.start.said(one.found) for one in held_out() if one.start.weights and one.start.started]
    assert sum(word in {"surely", "probably"} for word in went) >= 0.97 * len(went)


def test_the_band_holds_most_of_what_was_left_out() -> None:
    inside = [
        one.found.usable.low <= (one.start.room or 0) + (one.start.weights or 0) <= one.found.usable.high
        for one in held_out()
        if one.error is not None
    ]
    assert np.mean(inside) >= 0.85


def test_the_shipped_rule_is_what_the_logs_give() -> None:
    for given_era, era in zip(memory_logs.fitted(logged()).eras, VLLM.eras, strict=True):
        assert given_era.sampler[1] == pytest.approx(era.sampler[1], abs=0.11)
        for given_row, row in zip(given_era.outside, era.outside, strict=True):
            assert given_row.small[1] == pytest.approx(row.small[1], abs=0.02 * GIB)
            assert given_row.large[1] == pytest.approx(row.large[1], abs=0.02 * GIB)


def test_the_parameters_in_memory_are_those_that_were_logged() -> None:
    """Within 1%, but for two: encoders of pictures whose size is not known, and a branch that logs buffers too."""
    errors = {one.id: by_format / (one.weights or 1) - 1 for one, by_format in memory_logs.weights(logged())}
    assert len(errors) >= 30
    assert sum(abs(error) > 0.014 for error in errors.values()) <= 2
    widened = [errors[one.id] for one in logged() if "gpt-oss" in one.model and one.id in errors]
    assert len(widened) >= 4
    assert max(abs(error) for error in widened) < 0.005


@pytest.mark.parametrize(
    ("model", "text", "card", "logged_gib"),
    [
        ("llama-3.1-8b", "0.15.0", 22.0, 1.19),
        ("llama-3.1-8b", "0.17.0", 22.0, 0.47),
        ("llama-3.1-8b", "0.15.0", 79.19, 4.76),
        ("llama-3.1-8b", "0.17.0", 79.19, 1.87),
        ("qwen3-8b", "0.15.0", 79.19, 5.63),
        ("qwen3-8b", "0.17.0", 22.0, 0.55),
        ("gemma-2-9b", "0.15.0", 79.19, 9.43),
        ("gemma-2-9b", "0.17.0", 79.19, 3.67),
        ("llama-3.3-70b", "0.17.0", 79.19, 1.94),
    ],
)
def test_activations_of_defaults(model: str, text: str, card: float, logged_gib: float) -> None:
    """What versions and cards make of four models by default, GiB, worked out beside the logs."""
    found = kept(VLLM, shape_of(library.models()[model]), Setting(total=card * GIB, version=text))
    assert found.activations.expected == pytest.approx(logged_gib * GIB, rel=0.03)


GOES, FAILS = {"surely", "probably"}, {"no", "probably not"}
LLAMA = "model=llama-3.1-8b&accelerator=rtx-3090&prompt=20000&answer=1"
GPT_OSS = "model=gpt-oss-120b&weights=mxfp4&accelerator=h100-sxm&prompt=4096&answer=1"
QWEN = "model=qwen3.5-27b&weights=fp8&kv=fp8&accelerator=rtx-3090&gpus=2"
LARGE = "model=qwen2.5-72b&accelerator=h100-sxm&gpus=2"
REPORTS = {
    "vllm#10517": (LLAMA, 3.81, 0.05 * 23.58, GOES, (1, 1)),
    "vllm#10517, version stated": (f"{LLAMA}&engine_version=0.6.4", 3.81, 0.2, GOES, (1, 1)),
    "talos-argocd-proxmox#1995": (
        f"{QWEN}&layout=tensor&engine_share=0.92&prompt=131072&answer=1",
        4.99,
        0.05 * 23.58,
        GOES,
        (2, 2),
    ),
    "vllm#23278": (GPT_OSS, -2.14, 0.05 * 79.2, FAILS, (0, 0)),
    "vllm#23278, version stated": (f"{GPT_OSS}&engine_version=0.10.1", -2.14, 0.2, FAILS, (0, 0)),
    "vllm#27508": (
        f"{GPT_OSS}&engine_version=0.11.0&engine_share=0.95&max_num_batched_tokens=1024",
        1.71,
        0.03 * 79.2,
        GOES,
        (1, 40),
    ),
    "tt-inference-server#143": (
        f"{LARGE}&layout=tensor&engine_share=0.95&engine_version=0.19.0&prompt=8064&answer=128",
        3.04,
        0.3,
        GOES,
        (2, 2),
    ),
    "tt-inference-server#356": (
        "model=deepseek-r1&weights=int4-g128&accelerator=h100-sxm&gpus=8&layout=tensor&prompt=128&answer=128",
        None,
        0.0,
        GOES,
        (100, 10_000),
    ),
}
"""Thread -> link, room for the cache of one GPU as logged in GiB, how far off it may be, whether it ran, requests.

Room of #143 is that of the same model in a log of presets/memory/starts.csv.
"""


@pytest.mark.parametrize("thread", REPORTS)
def test_public_reports(thread: str) -> None:
    query, room_gib, within_gib, words, (fewest, most) = REPORTS[thread]
    decoded = links.decode(f"{query}&memory_of=engine&v=1")
    assert decoded.problems == ()
    result = memory.study(decoded.scenario)
    assert result.starts in words
    assert fewest <= result.largest_batch <= most
    if room_gib is not None:
        assert result.room.expected == pytest.approx(room_gib * GIB, abs=within_gib * GIB)
        assert result.room.low is not None
        assert result.room.high is not None
        assert result.room.low <= room_gib * GIB <= result.room.high


def test_versions_as_people_write_them() -> None:
    for text, numbers in (("0.19.0", (0, 19, 0)), ("v0.11.2rc1", (0, 11, 2)), ("b6325", (6325,)), ("0.8.x", (0, 8))):
        assert version(text).numbers == numbers
    assert version("V0 0.8.5").tag == "v0"
    assert [era.name for era in VLLM.possible("0.8.5 V0")] == ["V0"]
    assert [era.since for era in VLLM.possible("0.99")] == ["0.21"]
    assert len(VLLM.possible("")) > 3
    for text in ("newest", "0.1 0.2", "0.8 V0 V1", "-1"):
        with pytest.raises(ValueError, match="version"):
            version(text)


SETTINGS = st.builds(
    Setting,
    total=st.floats(8, 300).map(lambda gib: gib * GIB),
    a100=st.booleans(),
    tensor=st.sampled_from([1, 2, 4, 8]),
    gpus=st.just(8),
    version=st.sampled_from(["", "0.6.4", "0.10", "0.16", "0.17", "0.20", "0.22"]),
    share=st.none() | st.floats(0.3, 1),
    tokens=st.none() | st.integers(1, 32_768),
    requests=st.none() | st.integers(1, 4096),
    context=st.integers(1, 200_000),
    weights=st.floats(0, 50).map(lambda gib: gib * GIB),
)
SHAPES = st.builds(
    Shape,
    hidden=st.integers(64, 16_384),
    vocabulary=st.integers(1000, 262_144),
    layers=st.integers(1, 128),
    heads=st.integers(1, 128),
    width=st.integers(64, 65_536),
    experts_per_token=st.sampled_from([0, 1, 8]),
    expert_width=st.integers(64, 16_384),
    towers=st.booleans(),
    recurrent=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(setting=SETTINGS, shape=SHAPES, engine=st.sampled_from(sorted(RULES)), more=st.integers(1, 4))
def test_laws_of_what_is_kept(setting: Setting, shape: Shape, engine: str, more: int) -> None:
    found = kept(RULES[engine], shape, setting)
    parts = (found.before, found.not_taken, found.outside, found.activations, found.graphs)
    assert all(span.low <= span.expected <= span.high for span in (*parts, found.usable, found.spare))
    assert sum(span.expected for span in parts) + found.usable.expected == pytest.approx(setting.total)
    wider = Shape(**{**vars(shape), "vocabulary": shape.vocabulary * more, "width": shape.width * more})
    assert kept(RULES[engine], wider, setting).usable.expected <= found.usable.expected + 1
    larger = Setting(**{**vars(setting), "total": setting.total * 2, "tokens": 2048, "requests": 256, "share": 0.9})
    smaller = Setting(**{**vars(larger), "total": setting.total * 1.99})
    if (setting.total * 1.99 < 70 * GIB) == (setting.total * 2 < 70 * GIB):
        bigger = kept(RULES[engine], shape, larger).usable.expected
        assert bigger >= kept(RULES[engine], shape, smaller).usable.expected


@settings(max_examples=60, deadline=None)
@given(setting=SETTINGS, shape=SHAPES, weights=st.floats(0, 300), needed=st.floats(0, 50))
def test_laws_of_starting(setting: Setting, shape: Shape, weights: float, needed: float) -> None:
    """More to hold never makes a start likelier, and no word but a sure one is above the band."""
    order = ["no", "probably not", "probably", "surely"]
    found: Kept = kept(VLLM, shape, setting)

    def word(extra: float) -> int:
        return order.index(starts(found, weights=exactly(weights * GIB), needed=(needed + extra) * GIB))

    assert [word(extra) for extra in (0, 1, 10, 100)] == sorted(
        (word(extra) for extra in (0, 1, 10, 100)), reverse=True
    )
    free = found.usable.low - (weights + needed) * GIB
    assert word(0) < order.index("surely") or (free >= 0 and found.spare.low >= 0)


def test_bands_add_as_squares() -> None:
    both = Span(1, 4, 5) + Span(2, 6, 6)
    assert (both.low, both.expected, both.high) == (5, 10, 11)
    assert -Span(1, 2, 4) == Span(-4, -2, -1)


def test_what_was_not_logged_is_never_sure() -> None:
    for engine in ("mlx", "exllama", "unknown", "tensorrt-llm"):
        assert Scenario(memory_of="engine", engine=engine).starts != "surely"
    assert Scenario(memory_of="engine").starts == "surely"
    assert Scenario().starts is None
    for changes in ({"accelerator": "mi300x"}, {"engine_version": "0.31"}, {"model": "qwen3.5-27b"}):
        assert Scenario.model_validate({"memory_of": "engine", **changes}).starts == "probably"


def test_explicit_fields_of_old_links_keep_their_meaning() -> None:
    """share x what the driver shows - activations - outside, as before there was a rule."""
    scenario = Scenario(memory_of="engine", engine_share=0.8, activations=3 * GIB, overhead=1 * GIB, engine="sglang")
    assert scenario.deployment.memory == pytest.approx(0.8 * 81_559 * 2**20 - 4 * GIB)
