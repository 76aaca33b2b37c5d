"""What a link asks for is bounded before anything of its size is made."""

import json
import re
import time
import tracemalloc

import numpy as np
import pytest

from inferdash import links
from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.serving.planned.curves import curves_of
from inferdash.serving.planned.field import field_of
from inferdash.serving.simulated.requests import requests
from inferdash.studies.check import own_accelerators
from inferdash.studies.learn import batching, compute_vs_memory, experts, quantization, slots
from inferdash.studies.price import feature_cost, prompt_cache
from inferdash.studies.run import memory, planning, serving, simulation


@pytest.mark.parametrize("count", [10**5, 10**8])
def test_a_config_with_any_number_of_experts_takes_little_memory(count: int) -> None:
    config = {"model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8}
    config |= {"num_key_value_heads": 8, "intermediate_size": 64, "vocab_size": 100, "num_experts_per_tok": 2}
    text = json.dumps(config | {"num_local_experts": count})
    decoded = links.decode([("model", "config"), ("config", text), ("batch", "4096"), ("v", "1")])
    assert decoded.problems == ()
    tracemalloc.start()
    rows = experts.distinct_rows(decoded.scenario)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert len(rows["exact"]) > len(rows["drawn"])


@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v4-pro"])
def test_the_largest_plan_takes_little_memory(model: str) -> None:
    formats = ",".join(list(PRECISIONS)[:15])
    considered = ",".join(list(library.accelerators()))
    decoded = links.decode(f"considered={considered}&formats={formats}&model={model}&v=1")
    assert decoded.problems == ()
    demand, offer = planning.demand(decoded.scenario), planning.offer(decoded.scenario)
    tracemalloc.start()
    found = field_of(demand, offer, curves_of(demand, offer), near=34)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert found.set_ups > 500
    assert len(found.near) <= 68


_WRONG = re.compile(
    r"(?<![\d.,-])1 (times|users|tokens|layers|passes|requests|GPUs|replicas|turns|experts)\b|"
    r"(?<![\w.,])-0(?![.\d])|\de\+\d"
)


@pytest.mark.parametrize(
    "query",
    [
        "bandwidth=770PB/s&v=1",
        "lengths=1&v=1",
        "bits=2&v=1",
        "logits=-0&v=1",
        "weight_values=1e12&v=1",
        "addends=1e12&v=1",
        "addends=60000,60000,-60000,-60000,-60000&digits=1&v=1",
        "users=1&question=1&prompt=1&model=own&layers=1&v=1",
    ],
)
def test_one_and_nothing_are_said_as_people_say_them(query: str) -> None:
    scenario = links.decode(query).scenario
    feature = feature_cost.study(scenario)
    batched, quantized = batching.study(scenario), quantization.study(scenario)
    said = [
        batching.sentence(scenario, batched),
        slots.stay_sentence(batched),
        slots.rounding_table(scenario).markdown(),
        quantization.group_sentence(scenario, quantized),
        quantization.group_table(scenario, quantized).markdown(),
        experts.router_table(scenario, experts.study(scenario)).markdown(),
        compute_vs_memory.sentence(scenario, compute_vs_memory.study(scenario)),
        prompt_cache.subject(scenario),
        memory.layout_table(scenario).markdown(),
        own_accelerators.own_table(feature.own, feature.own_expected).markdown(),
    ]
    assert [found[0] for one in said if (found := _WRONG.search(one))] == []


def test_long_texts_of_a_file_are_simulated_within_a_budget() -> None:
    """200,000 texts of 250,000 tokens, most of which are put back again and again, were unbounded."""
    count = 200_000
    who = requests(np.arange(count) / 100, prompt=np.full(count, 250_000), answer=np.full(count, 1000))
    scenario = links.decode("gpus=8&v=1").scenario
    began_s = time.process_time()
    ran = simulation.run_of(scenario, who)
    assert time.process_time() - began_s < 10
    assert ran
    assert len(ran.asked) == 200
    assert ran.beyond == count - 200
    assert "Only the first 200 requests are simulated; 199,800 more would take too long." in serving.notes(
        scenario, serving.study_of(scenario, ran), ran
    )
