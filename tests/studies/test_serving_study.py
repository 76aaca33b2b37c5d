"""Serving over time: the names of the report, what the simulator says of a scenario, and its pictures."""

import io
import json
from dataclasses import asdict
from itertools import pairwise

import pytest

from inferdash import links
from inferdash.physics.passes import decode, prefill
from inferdash.scenario import BASE, Scenario
from inferdash.studies.learn import over_time
from inferdash.studies.price import own_requests
from inferdash.studies.report import report
from inferdash.studies.run import arrivals, serving, serving_band, simulation, speculation
from inferdash.studies.run.serving import Serving


def of(query: str) -> tuple[Scenario, Serving]:
    decoded = links.decode(query)
    assert decoded.problems == ()
    return decoded.scenario, serving.study(decoded.scenario)


def test_the_report_has_the_names_that_a_reader_looks_for() -> None:
    found = report(BASE)["serving"]
    for name in ("ttft_s", "itl_s", "e2e_s"):
        assert 0 < found[name]["p50"] <= found[name]["p90"] <= found[name]["p99"]
    for name in ("throughput_out_tok_per_s", "throughput_in_tok_per_s", "met_targets_share", "batch_mean"):
        assert found[name] > 0
    assert found["preemptions"] == 0


def test_a_request_now_and_then_takes_its_passes_and_nothing_else() -> None:
    """At the limit, one request in 100 s: the first token is the prefill, each further one a decode pass."""
    scenario, result = of("load=0.01&speed=limit&answer=3&v=1")
    machine = scenario.deployment
    reading = float(prefill(machine, prompt=1024, output_layer_last=True).pass_s)  # type: ignore[arg-type]
    writing = [float(decode(machine, requests=1, past=past).pass_s) for past in (1024, 1025)]  # type: ignore[arg-type]
    assert result.ttft_s.p50 == pytest.approx(reading, rel=1e-6)
    assert result.itl_s.p50 == pytest.approx(sum(writing) / 2, rel=1e-6)
    assert result.e2e_s.p50 == pytest.approx(reading + sum(writing), rel=1e-6)
    assert result.batch_mean == pytest.approx(1, abs=0.01)


def test_what_is_written_is_what_is_asked_for() -> None:
    scenario, result = of("load=5&simulated=5000&v=1")
    assert result.throughput_out_tok_per_s == pytest.approx(5 * scenario.answer, rel=0.05)
    assert result.throughput_in_tok_per_s == pytest.approx(5 * scenario.prompt, rel=0.05)


def test_the_rent_is_paid_by_prompt_and_written_tokens_together() -> None:
    scenario, result = of("load=5&rent=3&replicas=2&v=1")
    assert result.usd_per_mtok_prompt is not None
    assert result.usd_per_mtok_written is not None
    assert result.throughput_in_tok_per_s is not None
    assert result.throughput_out_tok_per_s is not None
    a_second = (
        result.usd_per_mtok_prompt * result.throughput_in_tok_per_s
        + result.usd_per_mtok_written * result.throughput_out_tok_per_s
    ) / 1e6
    assert a_second == pytest.approx(2 * scenario.rent / 3600)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("load=12&replicas=2&v=1", "load=12&v=1"),
        ("load=15&v=1", "load=22&v=1"),
        ("load=15&found_share=0.9&v=1", "load=15&v=1"),
        ("load=12&v=1", "load=12&pattern=bursts&burstiness=4&v=1"),
        ("load=12&v=1", "load=12&schedule=static&v=1"),
        ("load=12&speed=limit&v=1", "load=12&v=1"),
        ("load=12&places=256&v=1", "load=12&places=32&v=1"),
    ],
)
def test_first_tokens_come_sooner(better: str, worse: str) -> None:
    sooner, later = of(better)[1].ttft_s.p90, of(worse)[1].ttft_s.p90
    assert sooner is not None
    assert later is not None
    assert sooner < later


def test_chunks_beside_decodes_lower_the_time_between_tokens() -> None:
    chunked, first = (
        of(f"load=14&schedule={way}&pass_tokens=512&places=256&v=1")[1].itl_s.p90 for way in ("chunked", "prompts")
    )
    assert chunked is not None
    assert first is not None
    assert chunked < first


def test_one_request_is_a_hundred_times_the_same_with_the_same_seed() -> None:
    assert asdict(of("load=9&seed=7&v=1")[1]) == asdict(of("load=9&seed=7&v=1")[1])
    assert of("load=9&seed=7&v=1")[1].e2e_s != of("load=9&seed=8&v=1")[1].e2e_s


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("load=40&v=1", "Overloaded: 40 requests per second arrive, 17.9 can be served"),
        ("accelerator=m4-max&v=1", "cannot be simulated: no peak"),
        ("prompt=1000000&gpus=8&v=1", "cannot be simulated: requests of over 262,144"),
        ("accelerator=rtx-4090&model=llama-3.1-405b&v=1", "none is served: it takes at least 34 GPUs"),
        ("simulated=200&v=1", "90% get"),
        ("answer=1&v=1", "90% get"),
    ],
)
def test_the_sentence_says_what_is(query: str, words: str) -> None:
    assert words in serving.sentence(*of(query))


def test_a_percentile_that_too_few_requests_stand_behind_is_not_shown() -> None:
    scenario, result = of("simulated=500&v=1")
    assert result.ttft_s.p90 is not None
    assert result.ttft_s.p99 is None
    assert "p99" in " ".join(serving.notes(scenario, result, None))
    assert "too few" in serving.percentile_table(result).markdown()


def test_where_nothing_fits_as_many_gpus_as_it_takes_are_offered() -> None:
    scenario, result = of("accelerator=rtx-4090&model=llama-3.1-405b&v=1")
    enough = serving.way_out(scenario, result)
    assert enough == 34
    assert serving.study(scenario.model_copy(update={"gpus": enough})).refused == 0
    assert serving.way_out(BASE, serving.study(BASE)) is None


def test_bars_follow_each_request_from_its_arrival_to_its_end() -> None:
    ran = simulation.run(BASE)
    assert ran is not None
    bars = over_time.bar_rows(ran)["bars"]
    assert {row["request"] for row in bars} == set(range(1, 101))
    for one in range(1, 101):
        mine = [row for row in bars if row["request"] == one]
        assert mine[0]["start_s"] == pytest.approx(ran.asked.arrival_s[one - 1])
        assert mine[-1]["end_s"] == pytest.approx(ran.served.finish_s[one - 1])
        assert all(a["end_s"] == b["start_s"] for a, b in pairwise(mine))


def test_the_curve_turns_up_at_what_is_carried_at_most() -> None:
    rows = over_time.curve_rows(BASE)
    first = [(row["load"], row["seconds"]) for row in rows["curve"] if row["label"] == "first token"]
    most = rows["ceiling"][0]["load"]
    assert most == pytest.approx(serving.study(BASE).ceiling_requests_per_s)
    calm = max(seconds for load, seconds in first if load < 0.95 * most)
    assert first[-1][1] > 5 * calm
    assert over_time.curve_rows(links.decode("accelerator=m4-max&v=1").scenario) == {}


def test_the_batch_over_time_is_that_of_all_replicas() -> None:
    ran = simulation.run(links.decode("load=30&replicas=3&v=1").scenario)
    assert ran is not None
    rows = over_time.moment_rows(ran)["batch"]
    assert max(row["batch"] for row in rows) <= 3 * 256
    assert 0 < max(row["cache"] for row in rows) <= 1
    assert rows[-1]["batch"] == 0


def test_every_way_of_batching_has_its_row() -> None:
    assert [row.label for row in serving.way_table(BASE).rows] == ["Prompts first", "Chunked prefill", "Static"]
    (problem,) = links.decode("schedule=chunked&pass_tokens=128&v=1").problems
    assert "do not fit together" in problem.sentence


def test_requests_of_a_file_come_as_they_came() -> None:
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    lines += [f"2023-11-16 18:15:{second:02d}.0000000,{100 + second},{second + 1}" for second in range(60)]
    own = own_requests.study(io.BytesIO("\n".join(lines).encode()))
    assert own.who.arrival_s.tolist() == list(range(60))
    assert own.who.prompt.tolist() == list(range(100, 160))
    assert own.who.answer.tolist() == list(range(1, 61))
    ran, found = own_requests.result(BASE, own)
    assert ran is not None
    assert ran.served.finish_s.max() >= 59
    assert own_requests.sentence(own, found).startswith("60 requests, 1 per second: too few")


def test_blocks_that_came_before_are_found() -> None:
    lines = [
        {"timestamp": 1000 * n, "input_length": 1030 + 10 * n, "output_length": 5, "hash_ids": [1, 2, 3 + n]}
        for n in range(3)
    ]
    own = own_requests.study(io.BytesIO("\n".join(json.dumps(line) for line in lines).encode()))
    ran, _ = own_requests.result(BASE, own)
    assert ran is not None
    assert ran.served.found.tolist() == [0, 1024, 1024]
    assert (
        own_requests.reuse_sentence(ran)
        == "65.6% of the prompts’ tokens were found in the cache, and nothing was evicted."
    )


def test_a_file_without_requests_says_so() -> None:
    own = own_requests.study(io.BytesIO(b"nothing here"))
    assert len(own.who) == 0
    ran, found = own_requests.result(BASE, own)
    assert ran is None
    assert own_requests.sentence(own, found) == "The file has no requests that can be read."
    assert own.problems


@pytest.mark.parametrize(
    "query",
    [
        "v=1",
        "schedule=static&v=1",
        "prompt=100&answer=100&v=1",
        "length_spread=3&model=llama-3.1-8b&v=1",
        "found_share=0.8&v=1",
        "page=100000&v=1",
        "pass_tokens=512&places=512&prompt=4000&v=1",
        "model=gpt-oss-120b&weights=mxfp4&accelerator=b200-sxm&memory_of=engine&v=1",
        "found_share=0.99&prefixes=100000&v=1",
    ],
)
def test_more_than_is_carried_at_most_is_not_written(query: str) -> None:
    """Well above the ceiling the queue grows, and what is written stays at the ceiling; well below, all is written."""
    scenario = links.decode(query).scenario
    most = serving.study(scenario).ceiling_requests_per_s
    assert most is not None
    asked = arrivals.asked(scenario, 4000, per_s=1)
    answer = float(asked.answer.mean())
    over, under = (
        serving.study(scenario.model_copy(update={"load": times * most, "simulated": 6000})) for times in (1.5, 0.7)
    )
    assert over.throughput_out_tok_per_s == pytest.approx(most * answer, rel=0.1)
    assert under.throughput_out_tok_per_s == pytest.approx(0.7 * most * answer, rel=0.1)
    assert over.ttft_s.p90 > 2 * under.ttft_s.p90  # type: ignore[operator]


def test_of_many_replicas_some_are_simulated_with_their_share() -> None:
    few, many = of("load=40&replicas=4&v=1")[1], of("load=4000&replicas=400&v=1")[1]
    assert many.ttft_s.p90 == pytest.approx(few.ttft_s.p90, rel=0.1)
    assert many.throughput_out_tok_per_s == pytest.approx(100 * few.throughput_out_tok_per_s, rel=0.05)  # type: ignore[operator]


def test_a_target_or_a_title_simulates_nothing_again() -> None:
    ran = simulation.run(BASE)
    assert simulation.run(BASE.model_copy(update={"title": "x", "target_first": 0.2, "user_price": 9.0})) is ran
    assert simulation.run(BASE.model_copy(update={"load": 9.0})) is not ran


def test_users_make_the_load() -> None:
    scenario, result = of("load_as=users&active_users=480&think=60s&v=1")
    assert result.throughput_out_tok_per_s == pytest.approx(8 * scenario.answer, rel=0.05)
    assert "At 8 requests/s" in serving.sentence(scenario, result)
    assert "8 requests per second" in serving.subject(scenario)


def test_a_file_without_times_is_not_taken_for_one_where_all_come_at_once() -> None:
    lines = [
        {"input_length": 1030, "output_length": 5, "hash_ids": [3 * n, 3 * n + 1, 3 * n + 2], "timestamp": 0}
        for n in range(50)
    ]
    own = own_requests.study(io.BytesIO("\n".join(json.dumps(line) for line in lines).encode()))
    assert len(own.who) == 0
    assert "no times" in own.problems[0]


@pytest.mark.parametrize("method", ["draft", "eagle3", "block", "ngram"])
def test_proposals_make_a_token_come_sooner_and_say_where_they_stop(method: str) -> None:
    here = links.decode(
        f"model=llama-3.1-8b&speculation={method}&draft_tokens=3&acceptance=0.6&places=512&v=2"
    ).scenario
    plain, proposed = (serving.study(one) for one in (here.model_copy(update={"speculation": "none"}), here))
    assert plain.itl_s.p90
    assert proposed.itl_s.p90
    assert proposed.itl_s.p90 < plain.itl_s.p90
    said = speculation.sentence(here, proposed.batch_mean)
    assert "proposes 3 tokens and a check writes 2.18 tokens on average" in said
    assert " times as fast as without; it gains at " in said
    assert said.endswith("512.")
    drawn = speculation.rows(here, proposed.batch_mean)
    assert {row["label"] for row in drawn["gain"]} == {"1 proposed", "4 proposed", "8 proposed"}
    assert drawn["own"][0]["speedup"] == pytest.approx(speculation.gain(here, proposed.batch_mean))


def test_a_model_without_mtp_layers_proposes_nothing() -> None:
    here = links.decode("model=llama-3.1-8b&speculation=mtp&v=2").scenario
    assert here.proposals is None
    assert serving.study(here) == serving.study(here.model_copy(update={"speculation": "none"}))
    assert speculation.sentence(here, 1.0) == ("Llama 3.1 8B is not known to have MTP layers, so nothing is proposed.")


def test_a_curve_ends_where_it_was_measured() -> None:
    curve = "acceptance_from=glm-5.2-fp8-mtp-coding-on"
    told = links.decode(f"model=glm-5.2&speculation=mtp&draft_tokens=9&{curve}&v=2")
    assert "up to 8 proposed tokens" in told.problems[0].sentence
    here = links.decode(f"model=glm-5.2&speculation=mtp&draft_tokens=3&{curve}&v=2").scenario
    assert here.proposals
    assert here.proposals.tokens_per_pass == 2.99


@pytest.mark.parametrize(("of_capacity", "said"), [(0.9, False), (0.985, True), (1.01, True), (1.2, False)])
def test_a_load_at_the_capacity_is_said_to_be(of_capacity: float, said: bool) -> None:
    most = of("v=2")[1].ceiling_requests_per_s
    assert most
    scenario, result = of(f"load={of_capacity * most:.4g}&v=2")
    assert any("at the capacity" in one for one in serving.notes(scenario, result, None)) == said
    assert ("Overloaded" in serving.sentence(scenario, result)) == (of_capacity > 1.1)


@pytest.mark.parametrize("query", ["v=1", "load=17&v=1", "load=40&v=1", "model=deepseek-v3&weights=fp8&gpus=16&v=1"])
def test_the_band_of_a_load_holds_what_is_expected_and_grows_towards_the_capacity(query: str) -> None:
    scenario, result = of(query)
    band = serving_band.study(scenario, result)
    assert band is not None
    for name, read in serving_band.READ.items():
        one = getattr(band, name)
        assert one.low <= one.expected <= one.high
        assert one.expected == read(result)
    first, between, *_, capacity = serving.headline_numbers(scenario, result)
    assert all(" to " in one.beside for one in (first, between, capacity))
    assert serving_band.study(scenario.model_copy(update={"speed": "limit"}), result) is None
    if query == "v=1":
        crowded = serving_band.study(*of("load=16&v=1"))
        assert crowded is not None
        assert crowded.ttft_p90_s.high / crowded.ttft_p90_s.low > band.ttft_p90_s.high / band.ttft_p90_s.low  # type: ignore[operator]


def test_a_number_at_the_limit_that_is_worse_than_expected_is_called_none() -> None:
    """There the load is carried with a batch that is larger, so that each token comes later."""
    scenario = links.decode("model=gpt-oss-120b&replicas=2&prompt=2000&answer=400&load=20&v=2").scenario
    result = serving.study(scenario)
    best = serving.study(scenario.model_copy(update={"speed": "limit"}))
    for one in serving.headline_numbers(scenario, result):
        if "limit" in one.beside:
            assert "Inter-token" not in one.label
    assert best.itl_s.p90 is not None
    assert result.itl_s.p90 is not None
    assert best.itl_s.p90 > result.itl_s.p90
    (said,) = serving.other_batch(scenario, result)
    assert "no limit of the latency" in said
    assert serving.sentence(scenario, result).endswith("the queue grows; 5 replicas would carry it.")
    assert result.ceiling_requests_per_s is not None
    assert 4 * result.ceiling_requests_per_s / 2 < scenario.load <= 5 * result.ceiling_requests_per_s / 2
