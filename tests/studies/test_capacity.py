"""What fits, leads and is priced: an engine's memory and layout, beside the limit."""

import pytest

from inferdash import links
from inferdash.facts import library
from inferdash.scenario import Scenario, measured
from inferdash.studies import capacity
from inferdash.studies.learn import batch_curve, batching, compute_vs_memory, over_time, overview, quantization
from inferdash.studies.numbers import Estimate, Headline, leading
from inferdash.studies.run import memory, plan, planning, serving

LONG = "model=qwen3-235b-a22b&weights=fp8&gpus=8&prompt=32768"


def scenario(query: str) -> Scenario:
    decoded = links.decode(query)
    assert decoded.problems == ()
    return decoded.scenario


def test_a_large_model_on_a_machine_holds_what_an_engine_leaves_it() -> None:
    """Eight GPUs evenly and with all of their memory would hold 64 requests of 32k; with vLLM it is some 25."""
    ours = scenario(f"{LONG}&v=2")
    fit = capacity.batch_of(ours, tokens=32_768)
    assert fit.limit == 64
    assert fit.low == pytest.approx(22, abs=2)
    assert fit.high == pytest.approx(28, abs=2)
    stated = scenario(f"{LONG}&layout=tensor&memory_of=engine&v=1")
    assert capacity.batch_of(stated, tokens=32_768) == Estimate(None, fit.expected, fit.low, fit.high)
    assert memory.study(ours).largest_batch == memory.study(stated).largest_batch == fit.expected
    whole = scenario(f"{LONG}&v=1")
    assert capacity.batch_of(whole, tokens=32_768) == Estimate(64, None, None, None)
    assert "8 × NVIDIA H100 SXM, 8-way tensor parallel, prompt" in ours.subject
    assert "8 × NVIDIA H100 SXM, prompt" in scenario(f"{LONG}&speed=limit&v=2").subject


@pytest.mark.parametrize("query", ["v=2", f"{LONG}&v=2", "accelerator=rtx-4090&v=2", "model=llama-3.3-70b&gpus=4&v=2"])
def test_what_does_not_fit_is_neither_timed_nor_priced(query: str) -> None:
    ours = scenario(query)
    most = capacity.that_fit(ours, tokens=ours.prompt)
    result = batching.study(ours)
    assert result.compared_batch == min(256, most)
    assert max(line.batch for line in result.table) <= most
    named = {str(label) for label, *_ in batching.headline_numbers(ours, result)}
    assert any(f"batch {result.compared_batch:,}" in label for label in named)
    assert all(row["batch"] <= most for row in batch_curve.curve_rows(ours, result)["expected"])


def test_where_nothing_fits_there_is_no_price_and_a_way_out() -> None:
    ours = scenario("model=llama-3.3-70b&v=2")
    result = overview.study(ours)
    assert [shown.value for shown in overview.headline_numbers(ours, result)] == [0]
    assert "$" not in overview.sentence(ours, result) + batching.sentence(ours, batching.study(ours))
    assert batch_curve.curve_rows(ours, batching.study(ours)) == {}
    ways = capacity.ways_out(ours, tokens=ours.prompt)
    assert next(iter(ways.values())) == {"gpus": 2}
    for changes in ways.values():
        assert capacity.that_fit(ours.model_copy(update=changes), tokens=ours.prompt) >= 1
    assert capacity.ways_out(scenario("v=2"), tokens=1024) == {}


def test_an_engine_started_for_fewer_requests_has_room_and_every_page_says_so() -> None:
    """gpt-oss-120b is logged not to start on an H100 at 0.90 with vLLM's defaults (vllm#23278: 2.14 GiB too few)."""
    ours = scenario("model=gpt-oss-120b&v=2")
    assert capacity.that_fit(ours, tokens=ours.prompt) == 0
    said = overview.sentence(ours, overview.study(ours))
    name, changes = next(iter(capacity.ways_out(ours, tokens=ours.prompt).items()))
    assert name == "Start the engine for 256 requests"
    most = capacity.that_fit(ours.model_copy(update=changes), tokens=ours.prompt)
    assert f"started for 256 at a time it holds {most}" in said
    result = serving.study(ours)
    assert result.batch_mean
    assert any("at its default of 1,024 it would have no room" in one for one in serving.notes(ours, result, None))
    chat = scenario("v=2")
    assert not any("no room" in one for one in serving.notes(chat, serving.study(chat), None))


def test_a_gpu_carries_no_more_than_two_were_measured_to() -> None:
    """InferenceX, two H100s with vLLM 0.13: a prompt of 7,372 tokens takes 0.22 s; 2,000 on one 0.12."""
    carried = serving.study(scenario("model=gpt-oss-120b&load=20&prompt=2000&answer=400&v=2")).ceiling_requests_per_s
    assert carried
    assert 0.5 / (0.12 + 400 / (4112 / 2)) < carried < 1 / 0.12


def test_a_plan_starts_an_engine_for_its_batch_limit() -> None:
    alone = scenario("model=gpt-oss-120b&considered=h100-sxm&formats=files&most_gpus=1&load=1&v=2")
    found = planning.planned(alone)
    assert found
    assert found.best
    assert (found.best.gpus, planning.changes(alone)["max_num_seqs"]) == (1, 256)


def test_expected_leads_with_its_band_and_the_limit_beside() -> None:
    assert leading("Speed", Estimate(221, 140, 89, 205), "tokens/s") == Headline(
        "Speed (expected)", 140, "tokens/s", "89 to 205, limit 221", band=(89, 205)
    )
    assert leading("First", Estimate(0.286, 2.07, 1.49, 2.93), "s").beside == "1.49 to 2.93, limit 286 ms"
    assert leading("Speed", Estimate(221, 140, 89, 205), "tokens/s", speed="limit").value == 221
    assert leading("Speed", Estimate(221, None, None, None), "tokens/s").label == "Speed (limit)"


def test_the_switch_shows_one_or_the_other() -> None:
    ours, limit = scenario("v=2"), scenario("speed=limit&v=2")
    for page in (overview, batching):
        assert all("(expected)" in one.label for one in page.headline_numbers(ours, page.study(ours)))
        assert all("(limit)" in one.label for one in page.headline_numbers(limit, page.study(limit)))
        assert "expect" in page.sentence(ours, page.study(ours))
        assert page.study(ours).capacity == page.study(limit).capacity
    assert ours.served.sharing == limit.served.sharing
    assert limit.served.deployment.memory == limit.hardware.memory > ours.served.deployment.memory


def test_the_memory_page_shows_what_the_switch_says() -> None:
    ours, limit = scenario("gpus=2&v=2"), scenario("gpus=2&speed=limit&v=2")
    expected, whole = memory.study(ours), memory.study(limit)
    assert whole.largest_batch == expected.capacity.limit == whole.capacity.limit
    assert expected.largest_batch == expected.capacity.expected == whole.capacity.expected
    assert whole.usable_bytes == limit.hardware.memory > expected.usable_bytes
    parts = [row["part"] for row in memory.bar_rows(limit, whole)["parts"]]
    assert parts == ["parameters", "caches", "free"]
    assert {"activations", *parts} < {row["part"] for row in memory.bar_rows(ours, expected)["parts"]}


def test_a_view_in_which_a_request_fits_is_shown_where_the_other_has_none() -> None:
    limit = scenario("model=gpt-oss-120b&speed=limit&v=2")
    assert "reaches at most" in overview.sentence(limit, overview.study(limit))
    assert len(overview.headline_numbers(limit, overview.study(limit))) == 4
    assert capacity.ways_out(limit, tokens=limit.prompt) == {}


def test_limits_of_version_2_are_those_of_the_chapter() -> None:
    """The limit is the whole memory and even sharing in both versions; what is expected is another machine."""
    for query in ("", "gpus=4&", "model=qwen3-32b&gpus=2&batch=8&"):
        one, two = scenario(f"{query}v=1"), scenario(f"{query}v=2")
        old, new = compute_vs_memory.study(one), compute_vs_memory.study(two)
        assert (old.prefill, old.decode, old.largest_batch) == (new.prefill, new.decode, new.largest_batch)
        assert new.expected.decode.limit == old.expected.decode.limit


def test_a_plan_tries_what_the_maker_publishes_and_says_among_what() -> None:
    ours = scenario("model=gpt-oss-120b&prompt=2000&answer=400&load=20&v=2")
    assert ours.tried == ("mxfp4",)
    assert scenario("v=2").tried == ("bf16", "fp8")
    assert scenario("weights=int4-g128&v=2").tried == ("bf16", "int4-g128", "fp8")
    assert scenario("v=1").tried == ("bf16", "fp8")
    found = plan.study(ours)
    assert found.best is not None
    rent = library.accelerators()["b200-sxm"].rent
    assert rent
    assert (found.best.total_gpus, found.best.weights) == (1, "MXFP4")
    assert found.best.usd_per_hour == pytest.approx(rent.middle)
    assert "cheapest of 6 accelerators in MXFP4" in plan.sentence(ours, found)
    command = planning.starts(ours)[0].text
    assert command.startswith("vllm serve openai/gpt-oss-120b")
    assert "--max-model-len 3072" in command
    assert "--quantization" not in command


def test_a_batch_that_does_not_fit_gives_way_to_the_largest_that_does() -> None:
    ours = scenario("batch=1000&v=2")
    most = capacity.that_fit(ours, tokens=ours.prompt)
    result, other = compute_vs_memory.study(ours), compute_vs_memory.study(scenario(f"batch={most}&v=2"))
    assert result.decode == other.decode
    assert f"With {most} requests in a batch (the most that fit, of 1,000), " in compute_vs_memory.sentence(
        ours, result
    )
    chapter = scenario("batch=1000&v=1")
    assert "With 1,000 requests in a batch, " in compute_vs_memory.sentence(chapter, compute_vs_memory.study(chapter))
    assert "no request fits" in compute_vs_memory.sentence(*studied("model=llama-3.1-405b&v=2"))


def studied(query: str) -> tuple[Scenario, compute_vs_memory.ComputeVsMemory]:
    ours = scenario(query)
    return ours, compute_vs_memory.study(ours)


def test_the_knee_is_seen_however_far_the_load_is() -> None:
    near, far = (over_time.curve_rows(scenario(f"load={load}&v=2")) for load in (14, 2000))
    assert near["load"] == [{"load": 14.0, "label": "now"}]
    (now,) = far["load"]
    assert now["label"] == "now 2,000, far beyond"
    assert now["load"] == max(row["load"] for row in far["curve"])
    assert [row["load"] for row in near["curve"]] == [row["load"] for row in far["curve"]]


def test_the_chosen_format_stands_out() -> None:
    ours = scenario("model=gpt-oss-120b&v=2")
    rows = quantization.size_rows(ours, quantization.study(ours))["formats"]
    assert [row["format"] for row in rows if row["chosen"]] == ["MXFP4"]


def test_what_was_measured_keeps_the_machine_that_it_was_measured_on() -> None:
    ours = scenario("model=gpt-oss-120b&gpus=2&batch=16&v=2")
    one = measured.entered("itl", "9.5ms", ours)
    assert one.text == "itl~9.5ms~model~gpt-oss-120b~weights~mxfp4~gpus~2~layout~tensor~batch~16"
    told, problems = links.read({"measured": one.text}, ours)
    assert problems == ()
    assert told.program.name == "vLLM as you measured it"
    assert told.measurements == (one,)
