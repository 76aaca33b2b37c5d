"""A link keeps its meaning, says what it could not read, and never fails."""

import json
import random
import string
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash import links
from inferdash.facts import library
from inferdash.physics.parallelism import Layout
from inferdash.scenario import BASE, FIELDS, OWN, Choices, Scenario, counts, mark
from inferdash.scenario.served_model import _read_config
from inferdash.studies.report import report
from tests.scenarios import written

GOLDEN = json.loads(Path(__file__).with_name("golden_links.json").read_text(encoding="utf-8"))["links"]


def sentences(query: str) -> list[str]:
    return [problem.sentence for problem in links.decode(query).problems]


def at(numbers: dict[str, Any], path: str) -> Any:
    for part in path.split("."):
        numbers = numbers[part]
    return numbers


@pytest.mark.parametrize("link", GOLDEN)
def test_golden_links_give_the_old_numbers(link: str) -> None:
    decoded = links.decode(link)
    assert decoded.problems == ()
    assert f"?{links.encode(decoded.scenario)}" == link
    numbers = report(decoded.scenario)
    for path, value in GOLDEN[link].items():
        assert at(numbers, path) == pytest.approx(value, rel=1e-12), path


BASELINE_1: dict[str, Any] = {
    "title": "",
    "model": "llama-3-8b",
    "config": "",
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "kv_heads": 8,
    "head_dim": 128,
    "feed_forward": 14336,
    "vocabulary": 128256,
    "tied": False,
    "weights": "bf16",
    "kv": "bf16",
    "accelerator": "h100-sxm",
    "gpus": 1,
    "memory": None,
    "bandwidth": None,
    "peak": None,
    "family": "nvidia-datacenter",
    "layout": "even",
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "expert_parallel": False,
    "engine": "vllm",
    "prompt": 1024,
    "answer": 256,
    "batch": 1,
    "output_layer": "every",
    "queue": 0.0,
    "network": 0.0,
    "reasoning": 0,
    "draft": "share",
    "draft_share": 0.1,
    "draft_tokens": 4,
    "acceptance": 0.8,
    "proposal": "both",
    "memory_of": "datasheet",
    "engine_version": "",
    "engine_share": None,  # corrected on 2026-11-30, as CHANGELOG.md says: 0.9, 5.56 GiB and 0.14 GiB before
    "max_num_seqs": None,
    "max_num_batched_tokens": None,
    "activations": None,
    "overhead": None,
    "weight_memory": None,
    "cache_room": None,
    "cache_room_of": "",
    "grid_prompt": 8,
    "grid_answer": 3,
    "first_prompt": "The ride of 3 km cost $",
    "second_prompt": "The ride of 2 km cost $",
    "tools_tokens": 2000,
    "tools_change": "release",
    "system_tokens": 500,
    "system_change": "release",
    "user_tokens": 200,
    "user_change": "user",
    "documents_tokens": 8000,
    "documents_change": "conversation",
    "question_change": "request",
    "order": "tusdq",
    "input_usd": 2.0,
    "output_usd": 10.0,
    "read": 0.1,
    "write": 1.25,
    "shared": 10000,
    "question": 100,
    "requests": 10,
    "lifetime": 300.0,
    "renewed": True,
    "arrivals": "fixed",
    "interval": 60.0,
    "increment": 1,
    "minimum": 0,
    "api": "own",
    "prices": "2026-11-29",
    "book": "none",
    "service": "standard",
    "compared": (
        "anthropic/claude-haiku-5-5",
        "anthropic/claude-sonnet-5-5",
        "anthropic/claude-opus-5-5",
        "openai/gpt-6-luna",
        "openai/gpt-6-sol",
        "google/gemini-3.8-flash",
        "google/gemini-4-argon",
        "deepseek/deepseek-v4-pro",
        "moonshotai/kimi-k3.1-pro",
        "mistral/mistral-large-2512",
    ),
    "beside": ("anthropic/claude-sonnet-5-5", "openai/gpt-6-sol", "google/gemini-4-argon"),
    "marked": "all",
    "use_as": "users",
    "volume": 200_000,
    "growth": 0.0,
    "users": 40_000,
    "sessions": 0.2,
    "turns": 6,
    "gap": 60.0,
    "spread": 3.0,
    "share_known": False,
    "read_share": 0.7,
    "history": 50_000,
    "user_price": 0.0,
    "rent": 3.0,
    "utilization": 1.0,
    "slots": 64,
    "lengths": "500, 63x50, 100x50",
    "page": 16,
    "longest": 8192,
    "digits": 3,
    "addends": "100, 0.4, 0.4",
    "weight_values": "0.7, -0.23, 0.04, 0.38",
    "bits": 4,
    "group": 128,
    "logits": "2, 1.5, 0, -1",
    "chosen": 2,
    "skew": 0.0,
    "measured": "",
    "load": 8.0,
    "pattern": "random",
    "burstiness": 3.0,
    "length_spread": 1.0,
    "simulated": 2000,
    "seed": 0,
    "schedule": "prompts",
    "places": 256,
    "pass_tokens": 8192,
    "preemption": "recompute",
    "host_bandwidth": 63000000000.0,
    "found_share": 0.0,
    "prefixes": 1,
    "replicas": 1,
    "rule": "least",
    "speed": "expected",
    "target_first": 1.0,
    "target_between": 0.05,
    "confidence": "even",
    "load_as": "requests",
    "active_users": 1000,
    "think": 60.0,
    "considered": ("h100-sxm", "h200-sxm", "b200-sxm", "a100-80gb-sxm", "l40s", "mi300x"),
    "formats": ("bf16", "fp8"),
    "own_rents": "",
    "most_gpus": 1024,
    "images": 0,
    "image_width": 1024,
    "image_height": 1024,
    "image_detail": "auto",
    "image_tokens": 0,
    "sound": 0.0,
    "sound_tokens": 0.0,
    "steps": 1,
    "call_tokens": 100,
    "result_tokens": 1000,
    "tool_fee": 0.0,
    "compact_above": 0,
    "summary_tokens": 1000,
    "again": 0.0,
    "accepted": 1.0,
    "searches": 0.0,
    "search_tokens": 50,
    "embed_usd": 0.1,
    "rerank_usd": 0.0,
    "ranges": "",
    "server_usd": 0.0,
    "life": 4.0,
    "residual": 0.15,
    "interest": 0.08,
    "upkeep": 0.05,
    "people_usd": 0.0,
    "colocation_usd": 0.0,
    "kwh_usd": 0.1,
    "site_factor": 1.6,
    "grid": "US",
    "rpm": 0,
    "itpm": 0,
    "otpm": 0,
    "fabric": "same",
    "fabric_bandwidth": 50e9,
    "fabric_latency": 0.0,
    "speculation": "none",
    "acceptance_from": "entered",
    "runs_on": "api",
    "disaggregated": False,
    "prefill_workers": 1,
    "prefill_accelerator": "same",
    "prefill_gpus": None,
    "prefill_layout": "same",
    "prefill_weights": "same",
    "prefill_rent": None,
    "transfer": "whole",
    "decode_prefixes": False,
    "live_sessions": 8,
    "session_turns": 50,
    "session_start": 20000,
    "session_shared": 12000,
    "session_growth": 1000,
    "tool_pause": 9.0,
    "person_every": 10,
    "person_pause": 133.0,
    "compact_at": 150000,
    "subagents": 0,
    "subagent_turns": 10,
    "host_memory": 0.0,
    "ssd": 0.0,
    "ssd_bandwidth": 7000000000.0,
    "write_policy": "through",
    "start_up": 200.0,
    "load_rate": 7000000000.0,
    "scale_aim": 0.7,
    "adapters": 0,
    "adapter_rank": 16,
    "cpu_expert_layers": 0,
    "ram_bandwidth": 80000000000.0,
}
"""What an empty link of version 1 has meant since it was first given out. A field may be added, none may change."""


def test_the_baseline_of_version_1_is_frozen() -> None:
    assert dict(links.BASELINES[1]) == BASELINE_1


BASELINE_2: dict[str, Any] = BASELINE_1 | {
    "weights": "files",
    "layout": "auto",
    "memory_of": "auto",
    "formats": ("files", "chosen", "on-loading"),
    "marked": "best",
}
"""The same of version 2, given out from 2026-11-30: what the maker publishes, on what an engine has, in its layout."""


def test_the_baseline_of_version_2_is_frozen() -> None:
    assert dict(links.BASELINES[2]) == BASELINE_2
    assert links.decode("v=2").scenario == links.BASELINE == links.decode("").scenario


@pytest.mark.parametrize(
    ("query", "weights", "layout"),
    [
        ("v=2", "bf16", Layout()),
        ("model=gpt-oss-120b&gpus=2&v=2", "mxfp4", Layout(even=False, tensor=2)),
        ("model=deepseek-v3&accelerator=h200-sxm&gpus=8&v=2", "fp8-block", Layout(even=False, tensor=8)),
        ("gpus=16&v=2", "bf16", Layout(even=False, tensor=8, pipeline=2)),
        ("gpus=7&v=2", "bf16", Layout(even=False, pipeline=7)),
        ("gpus=1024&v=2", "bf16", Layout(even=False, tensor=8, pipeline=32, data=4)),
        ("model=gpt-oss-120b&weights=bf16&gpus=2&layout=even&v=2", "bf16", Layout()),
    ],
)
def test_version_2_is_what_somebody_can_run(query: str, weights: str, layout: Layout) -> None:
    decoded = links.decode(query)
    assert decoded.problems == ()
    assert (decoded.scenario.run.weights, decoded.scenario.run.sharing) == (weights, layout)
    assert links.encode(decoded.scenario) == query
    assert decoded.scenario.limit.sharing == Layout()
    assert decoded.scenario.deployment.memory == decoded.scenario.hardware.memory
    assert decoded.scenario.as_run.memory < decoded.scenario.hardware.memory


def test_a_link_of_version_1_stays_one_while_it_is_edited() -> None:
    scenario = links.decode("layout=tensor&gpus=4&memory_of=engine&v=1").scenario
    assert links.encode(scenario.model_copy(update={"batch": 8})).endswith("batch=8&memory_of=engine&v=1")
    both = [links.decode(links.encode(scenario)).scenario, links.decode("").scenario]
    assert both == [scenario, links.BASELINE]
    said = "weights=bf16&gpus=4&layout=tensor&memory_of=engine&formats=bf16,fp8&marked=all&v=2"
    assert links.decode(said).scenario == scenario


def test_a_change_that_the_rest_does_not_stand_is_refused_and_named() -> None:
    scenario = links.decode("layout=tensor&gpus=8&v=2").scenario
    unchanged, problems = links.read({"gpus": "7"}, scenario)
    assert unchanged == scenario
    assert problems[0].field == "gpus"
    assert "do not divide 32" in problems[0].sentence


def scenarios() -> st.SearchStrategy[Scenario]:
    text = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=80).filter(str.isprintable)
    grouped = st.sampled_from([(32, 8), (12, 12), (7, 1), (64, 4)])
    return st.builds(
        lambda heads, **fields: Scenario(heads=heads[0], kv_heads=heads[1], **fields),
        heads=grouped,
        title=text,
        model=st.sampled_from([*library.models(), OWN]),
        layers=st.integers(1, 10_000),
        hidden=st.integers(1, 1_000_000),
        tied=st.booleans(),
        weights=st.sampled_from(["bf16", "fp8", "int8"]),
        accelerator=st.sampled_from([*library.accelerators(), OWN]),
        gpus=st.integers(1, 1024),
        memory=st.none() | st.floats(1e6, 1e15).map(lambda x: float(f"{x:.12g}")),
        bandwidth=st.none() | st.sampled_from([3.35e12, 1.008e12, 2**40]),
        queue=st.floats(0, 86_400).map(lambda x: float(f"{x:.12g}")),
        prompt=st.integers(1, 10_000_000),
        acceptance=st.floats(0, 1),
        draft=st.sampled_from(["share", *library.models()]),
        draft_share=st.floats(0, 1),
    )


@given(scenarios())
@settings(max_examples=300, deadline=None)
def test_scenario_to_link_to_scenario_is_the_identity(scenario: Scenario) -> None:
    decoded = links.decode(f"?{links.encode(scenario)}")
    assert decoded.problems == ()
    idle = {name: getattr(BASE, name) for name in FIELDS if not counts(name, scenario)}
    assert decoded.scenario == scenario.model_copy(update=idle)


def test_a_link_holds_differences_and_its_version_last() -> None:
    assert links.encode(BASE) == "v=1"
    scenario = Scenario(batch=64, model="qwen3-32b", bandwidth="3.35 TB/s")
    assert links.encode(scenario) == "model=qwen3-32b&bandwidth=3.35TB/s&batch=64&v=1"


def test_fields_of_an_own_model_stand_only_in_its_links() -> None:
    assert links.encode(Scenario(layers=40)) == "v=1"
    assert links.encode(links.BASELINE.model_copy(update={"layers": 40})) == "v=2"
    assert links.encode(Scenario(model=OWN, layers=40)) == "model=own&layers=40&v=1"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("model=llama3-8b&v=1", "did you mean llama-3-8b?"),
        ("modell=llama-3-8b&v=1", "did you mean model?"),
        ("model=Qwen3 32B&v=1", "did you mean qwen3-32b?"),
        ("kv=zzzz&v=1", "known are bf16, fp8"),
        ("batch=0&v=1", "batch=0 is not a whole number from 1 to 1,000,000. Used instead: batch=1."),
        ("batch=1.5&v=1", "is not a whole number from 1"),
        ("batch=1x3&v=1", "is not a whole number from 1"),
        ("acceptance=nan&v=1", "is not a number from 0 to 1"),
        ("acceptance=inf&v=1", "is not a number from 0 to 1"),
        ("memory=80 XB&v=1", "“XB”"),
        ("memory=24&v=1", "is not from 1 MB to 1 PB. Used instead: memory=the datasheet’s."),
        ("tied=perhaps&model=own&v=1", "neither true nor false"),
        ("title=a%00b&v=1", "cannot be shown"),
        (f"title={'x' * 81}&v=1", "longer than 80 characters"),
        ("heads=12&kv_heads=5&model=own&v=1", "divide the query heads evenly"),
        ("layers=12&v=1", "says nothing about this scenario"),
        ("batch=2&batch=3&v=1", "batch is given twice; 3, the last, counts."),
        ("batch=2", "has no version at its end"),
        ("batch=2&v=3", "a newer inferdash"),
        ("batch=2&v=x", "v=x"),
        ("title=why?&bath=3&v=1", "did you mean batch?"),
        ("utm_source=chat&v=1", "utm_source is no part of a scenario and is left out."),
    ],
)
def test_what_cannot_be_read_is_said(query: str, says: str) -> None:
    found = sentences(query)
    assert len(found) == 1, found
    assert says in found[0]


def test_the_rest_of_a_broken_link_applies() -> None:
    decoded = links.decode("?model=nonsense&batch=64&gpus=-1&prompt=2048&v=1")
    assert [problem.field for problem in decoded.problems] == ["model", "gpus"]
    assert (decoded.scenario.batch, decoded.scenario.prompt) == (64, 2048)
    assert decoded.scenario.model == BASE.model


def test_what_does_not_fit_together_loses_nothing_else() -> None:
    """Each sentence names the few fields that it is about; once one of prefill workers took all others with it."""
    for seed in (*range(30), 404, 418, 420):
        values, baseline = written(seed, usual=True)
        _, problems = links.read(values, baseline)
        assert not [one for one in problems if len(one.sentence) > 600]


def test_an_empty_query_is_the_baseline_and_streamlits_own_parameters_are_no_problem() -> None:
    for query in ("", "?", "?embed=true&embed_options=dark_theme", "?embed=true&v=1"):
        decoded = links.decode(query)
        assert (decoded.scenario, decoded.problems) == (BASE if "v=1" in query else links.BASELINE, ())


def test_a_whole_address_is_read() -> None:
    assert links.decode("https://example.org/compute-vs-memory?batch=4&v=1#top").scenario.batch == 4
    assert links.decode("https://example.org/compute-vs-memory") == links.decode("")
    asked = links.decode("?title=why?&batch=4&v=1").scenario
    assert (asked.title, asked.batch) == ("why?", 4)


def nasty(source: random.Random) -> str:
    """A query of a kind that no program writes."""
    values = [
        *["0", "-1", "9" * 400, "1e308", "1e999", "nan", "-inf", "NaN", "", " ", "true", "None", "[]", "{}", "1_000"],
        *[
            "0x10",
            "٣",
            "１２",
            "3.35 TB/s",
            "80GB",
            "-80 GB",
            "1e400 GB",
            "..",
            "1.2.3 s",
            "\x00",
            "\x1b[31m",
            "\u202e",
            "�",
        ],
        *[
            "<script>alert(1)</script>",
            "[a](http://b)",
            "![](x)",
            "$\\frac{1}{0}$",
            ":red[x]",
            "'; DROP TABLE",
            "../../etc",
        ],
        *["llama-3-8b", "h100-sxm", "own", "share", "bf16", "both", "last", "x" * 5000],
    ]
    names = [
        *FIELDS,
        "v",
        "embed",
        "modell",
        "",
        "__class__",
        "model_config",
        "constructor",
        "a.b",
        "batch[]",
        "\ud800",
    ]
    pairs = [
        (source.choice(names), source.choice(values) if source.random() < 0.8 else _noise(source))
        for _ in range(source.choice([0, 1, 2, 5, 20, 300]))
    ]
    separator = source.choice(["&", "&", "&", "&&", ";", "&amp;"])
    encode = source.random() < 0.7
    text = separator.join(f"{name}={quote(value, errors='replace') if encode else value}" for name, value in pairs)
    if source.random() < 0.3:
        text = text[: source.randrange(len(text) + 1)]
    return source.choice(["", "?", "http://h/p?"]) + text + source.choice(["", "&v=1", "&v=2", "&v=", "#x", "%"])


def _noise(source: random.Random) -> str:
    return "".join(
        chr(source.choice([source.randrange(1, 0xD7FF), ord(source.choice(string.printable))])) for _ in range(9)
    )


def test_ten_thousand_nasty_queries_give_a_scenario_and_sentences() -> None:
    source = random.Random(20261129)  # noqa: S311 - a seed, so that a failure can be repeated
    for _ in range(10_000):
        query = nasty(source)
        decoded = links.decode(query)
        assert isinstance(decoded.scenario, Scenario)
        for problem in decoded.problems:
            assert problem.sentence.isprintable(), query
            assert len(problem.sentence) < 500, query
            assert problem.sentence[-1] in ".?", query
        again = links.decode(links.encode(decoded.scenario))
        assert again.problems == (), query


@pytest.mark.parametrize(
    "query", ["batch=4&" + "x" * 600_000, "&".join(f"p{i}=1" for i in range(100_000)), "%" * 600_000]
)
def test_a_query_of_600_000_characters(query: str) -> None:
    decoded = links.decode(query)
    assert isinstance(decoded.scenario, Scenario)
    assert "characters, of which 100,000 are read" in decoded.problems[0].sentence
    assert len(decoded.problems) < 250


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=20))
@settings(max_examples=500, deadline=None)
def test_any_pairs_are_read(pairs: list[tuple[str, str]]) -> None:
    assert isinstance(links.decode(pairs).scenario, Scenario)


def test_each_field_says_what_it_is() -> None:
    for name, field in FIELDS.items():
        assert field.title, name
        assert field.description, name
        choices = mark(name, Choices)
        assert choices is None or getattr(BASE, name) in choices.names(), name


def test_an_address_in_a_value_does_not_hide_the_query() -> None:
    decoded = links.decode("batch=4&title=http://a.b&v=1")
    assert (decoded.scenario.batch, decoded.problems) == (4, ())
    assert links.decode("http://a.b/p?batch=4&title=http://c.d&v=1").scenario.batch == 4


@pytest.mark.parametrize("values", ["5e-324", "1e308,1e308", "1e13"])
def test_numbers_that_no_page_can_show_are_refused(values: str) -> None:
    decoded = links.decode(f"weight_values={values}&v=1")
    assert decoded.scenario.weight_values == BASELINE_1["weight_values"]
    assert "trillion" in decoded.problems[0].sentence


@pytest.mark.parametrize("values", ["1001x1", "1, 1000x1", "-5x1", "1, -5x1", "0x1", "2, 0x1", "100000000x1", "x1"])
def test_a_list_is_counted_before_it_is_made(values: str) -> None:
    decoded = links.decode([("logits", values), ("v", "1")])
    assert decoded.scenario.logits == BASELINE_1["logits"]
    assert "is not a list of at most 1,000 numbers" in decoded.problems[0].sentence
    assert links.decode([("logits", "1, 999x1"), ("v", "1")]).problems == ()


def test_pairs_are_as_bounded_as_a_query() -> None:
    decoded = links.decode([("batch", "4"), ("title", "x" * 10_000_000), ("gpus", "2"), ("v", "1")])
    assert (decoded.scenario.batch, decoded.scenario.gpus) == (4, 1)
    assert decoded.problems[0].sentence == "The link has more than 100,000 characters; what is beyond is not read."


def test_configs_of_links_do_not_stay_in_memory() -> None:
    for hidden in range(64, 64 * 300, 64):
        config = json.dumps({"model_type": "llama", "hidden_size": hidden, "num_hidden_layers": 2})
        links.decode([("model", "config"), ("config", config)])
    assert _read_config.cache_info().currsize <= 64


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("memory_of=engine&activations=100GB&v=1", "activations", "no memory for the model"),
        (
            "accelerator=t4&memory_of=engine&engine_share=0.1&max_num_seqs=2048&v=1",
            "engine_share",
            "no memory for the model",
        ),
        ("memory=1GB&memory_of=engine&v=1", "memory_of", "no memory for the model"),
        ("gpus=1024&layout=pipeline&v=1", "layout", "more than the 32 layers"),
        ("gpus=1024&layout=tensor&v=1", "layout", "do not divide 32"),
        ("gpus=7&layout=tensor&v=1", "layout", "do not divide 32"),
        ("model=mixtral-8x7b&gpus=1024&layout=expert&v=1", "layout", "more than the 8 experts"),
        ("gpus=64&layout=mixed&pipeline_parallel=64&v=1", "pipeline_parallel", "more than the 32 layers"),
        ("gpus=64&layout=mixed&tensor_parallel=64&v=1", "tensor_parallel", "do not divide 32"),
        ("model=mixtral-8x7b&gpus=64&layout=mixed&expert_parallel=true&v=1", "expert_parallel", "8 experts"),
    ],
)
def test_what_cannot_be_is_said_and_replaced(query: str, field: str, words: str) -> None:
    decoded = links.decode(query)
    (problem,) = decoded.problems
    assert problem.field == field
    assert words in problem.sentence
    assert f"Used instead: {field}=" in problem.sentence
    assert report(decoded.scenario)


def test_a_service_without_a_price_leaves_the_model() -> None:
    decoded = links.decode("api=deepseek/deepseek-v4-pro&service=batch&v=1")
    assert [problem.field for problem in decoded.problems] == ["service"]
    assert "service=batch has no price for deepseek/deepseek-v4-pro in the list" in decoded.problems[0].sentence
    assert (decoded.scenario.api, decoded.scenario.service) == ("deepseek/deepseek-v4-pro", "standard")


def test_models_to_compare_stand_in_a_link_with_commas() -> None:
    decoded = links.decode("compared=openai/gpt-6-sol,openai/gpt-6-luna,openai/gpt-6-sol&v=1")
    assert decoded.scenario.compared == ("openai/gpt-6-sol", "openai/gpt-6-luna")
    assert links.encode(decoded.scenario) == "compared=openai/gpt-6-sol,openai/gpt-6-luna&v=1"
    assert links.decode("compared=&v=1").scenario.compared == ()
    assert "holds x/y, which is not a known API model" in sentences("compared=openai/gpt-6-sol,x/y&v=1")[0]


@pytest.mark.parametrize(
    ("text", "read"), [("32k", 32_000), ("1.5M", 1_500_000), ("200 000", 200_000), ("2.5e6", 2_500_000), ("12.0", 12)]
)
def test_a_count_is_read_as_people_type_it(text: str, read: int) -> None:
    scenario, problems = links.read({"prompt": text})
    assert (scenario.prompt, problems) == (read, ())


@pytest.mark.parametrize("text", ["200.000", "9.5", "40%", "1,5", "nan", "32q"])
def test_a_count_that_is_not_plain_is_refused_with_its_bounds_or_another_way_to_write_it(text: str) -> None:
    scenario, (problem,) = links.read({"prompt": text, "answer": "300"})
    assert (scenario.prompt, scenario.answer) == (1024, 300)
    assert problem.field == "prompt"
    assert "is not a whole number" in problem.sentence
