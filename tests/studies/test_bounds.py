"""What a link asks for is bounded before anything of its size is made."""

import json
import tracemalloc

import pytest

from inferdash import links
from inferdash.studies import experts


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
