"""What a link asks for is bounded before anything of its size is made."""

import json
import tracemalloc

import pytest

from inferdash import links
from inferdash.facts import library
from inferdash.facts.precision import PRECISIONS
from inferdash.serving.curves import curves_of
from inferdash.serving.field import field_of
from inferdash.studies import experts, planning


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
    considered = ",".join(list(library.accelerators())[:65])
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
