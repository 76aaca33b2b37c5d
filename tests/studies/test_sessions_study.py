"""Agent sessions, caches below the GPUs and autoscaling as the pages have them, and traces of sessions."""

import io
import json

import numpy as np
import pytest

from inferdash import links
from inferdash.scenario import Scenario
from inferdash.studies.learn import host_experts
from inferdash.studies.price import own_requests
from inferdash.studies.run import adapters, autoscaling, serving, sessions, simulation, tiers

SMALL = "model=llama-3.1-8b&pattern=sessions&simulated=400&session_turns=8&session_start=6000&session_shared=2000"


def of(query: str) -> Scenario:
    decoded = links.decode(f"{query}&v=2")
    assert decoded.problems == ()
    return decoded.scenario


def test_sessions_are_what_the_page_is_about() -> None:
    scenario = of(f"{SMALL}&live_sessions=12")
    ran = simulation.run(scenario)
    assert ran is not None
    said = serving.sentence(scenario, serving.study(scenario))
    assert said.startswith("With 12 live sessions, a session takes")
    assert [one.label for one in serving.headline_numbers(scenario, serving.study(scenario))][-1] == (
        "Found in the prefix cache"
    )
    found = tiers.reused(ran)
    assert 0.5 < found.found < 1
    assert 0 < sessions.waited_share(ran) < 1
    assert len(sessions.times_s(ran)) >= sessions.FEW
    assert "12 live sessions" in serving.subject(scenario)


def test_refused_turns_lead_the_sentence() -> None:
    scenario = links.decode("model=qwen3-32b&pattern=sessions&v=2").scenario
    result = serving.study(scenario)
    assert result.refused
    assert "of requests are larger than the cache and are refused" in serving.sentence(scenario, result)


def test_more_room_below_finds_more_and_answers_sooner() -> None:
    """A GPU with little room beside the model, and contexts that do not fit it together."""
    crowd = f"{SMALL}&live_sessions=60&accelerator=rtx-4090&compact_at=0&person_every=3"
    alone, beside = (simulation.run(of(crowd + more)) for more in ("", "&host_memory=400GB"))
    assert alone is not None
    assert beside is not None
    before, after = tiers.reused(alone), tiers.reused(beside)
    assert after.found > before.found + 0.05
    assert after.reloaded > 0.05
    assert before.reloaded == 0
    first, second = (one.summary(of(crowd)).time_to_first_token_s.p90 for one in (alone, beside))
    assert first is not None
    assert second is not None
    assert second < first
    rows = tiers.room_table(of(crowd)).rows
    assert [row.label for row in rows] == ["GPUs alone", "1 TB more host memory", "nothing evicted"]
    assert "a month at your rent" in tiers.worth_sentence(of(crowd))
    assert tiers.life_s(alone) is not None


def test_reloading_is_told_beside_computing() -> None:
    scenario = of(f"{SMALL}&host_memory=100GB&ssd=1TB")
    ran = simulation.run(scenario)
    said = tiers.sentence(scenario, ran)
    assert "6,000 tokens take" in said
    assert "from host memory" in said
    assert "from the SSD" in said
    assert tiers.rate_sentence(scenario, ran).startswith("Reloading is quicker above")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("pattern=sessions&compact_at=0&session_turns=500", "contexts grow to over 262,144"),
        ("pattern=sessions&accelerator=m4-max", "no peak is published"),
        ("pattern=sessions&live_sessions=100000&session_turns=5000&session_growth=10", "are too many"),
        ("pattern=sessions&model=llama-3.1-405b&accelerator=rtx-4090", "too few requests are within the cache"),
    ],
)
def test_what_cannot_be_simulated_says_why(query: str, words: str) -> None:
    scenario = of(query)
    assert words in serving.sentence(scenario, serving.study(scenario))


def test_turns_of_a_trace_with_delays_follow_on_each_other() -> None:
    """Two sessions in the form of aiperf: later turns have a delay in milliseconds in place of a time."""
    lines = [
        {
            "session_id": name,
            "input_length": 1024 * turn,
            "output_length": 20,
            "hash_ids": [*range(key, key + 2 * turn)],
        }
        | ({"timestamp": 1000 * key} if turn == 1 else {"delay": 3000})
        for name, key in (("a", 0), ("b", 100))
        for turn in (1, 2, 3)
    ]
    own = own_requests.study(io.BytesIO("\n".join(map(json.dumps, lines)).encode()))
    assert own.problems == ()
    assert own.who.arrival_s.tolist() == [0, 3, 6, 100, 103, 106]
    turns = own.who.turns
    assert turns is not None
    assert turns.waits.tolist() == [0, 1, 1, 0, 1, 1]
    assert turns.pause_s[turns.waits > 0].tolist() == [3, 3, 3, 3]
    ran, _ = own_requests.result(of("model=llama-3.1-8b"), own)
    assert ran is not None
    assert ran.served.found.tolist() == [0, 1024, 2048, 0, 1024, 2048]
    assert own_requests.session_sentence(ran).startswith("Turns come their recorded pause")
    spans = sessions.times_s(ran)
    assert len(spans) == 2
    assert (spans > 6).all()


def test_turns_of_a_recorded_session_pause_as_recorded() -> None:
    """The form of kv-cache-tester: a think time where it is told, else what is left after the answer."""
    told = [
        {"t": 0, "type": "s", "in": 128, "out": 5, "hash_ids": [1, 2], "api_time": 2.0},
        {"t": 10, "type": "s", "in": 192, "out": 5, "hash_ids": [1, 2, 3], "api_time": 1.0},
        {"t": 30, "type": "s", "in": 192, "out": 5, "hash_ids": [1, 2, 3], "think_time": 7.5},
    ]
    text = json.dumps({"id": "x", "block_size": 64, "hash_id_scope": "local", "requests": told})
    own = own_requests.study(io.BytesIO(text.encode()))
    turns = own.who.turns
    assert turns is not None
    np.testing.assert_allclose(turns.pause_s[turns.waits > 0], [8.0, 7.5])


def test_following_the_load_costs_less_than_its_peak_all_day() -> None:
    scenario = of("load=200&model=llama-3.1-8b")
    scaled, peak, mean = autoscaling.days(scenario).values()
    assert scaled.replica_s < peak.replica_s
    assert peak.missed == 0
    assert mean.missed > 0.1
    assert "less than enough replicas" in autoscaling.sentence(scenario)
    assert len(autoscaling.table(scenario).rows) == 3
    assert autoscaling.days(of("pattern=sessions")) == {}


def test_adapters_and_experts_beside() -> None:
    scenario = of("model=llama-3.1-8b&adapters=30&batch=16")
    assert "A decode pass of 16 requests loads 12.6 of them" in adapters.sentence(scenario)
    assert "41.9 million" in adapters.table(scenario).markdown()
    home = of("model=gpt-oss-120b&accelerator=rtx-5090&gpus=2&cpu_expert_layers=3")
    assert "in host memory" in host_experts.sentence(home)
    assert [row.label for row in host_experts.table(home).rows] == [f"{n} of 36 layers" for n in (0, 3, 36)]
    fewer, more = (host_experts.split(home, count).token_s for count in (3, 36))
    assert fewer < more
