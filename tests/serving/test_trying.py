"""What a plan simulates: each set-up once, and none that cannot hold."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from inferdash.serving.planned import trying
from inferdash.serving.planned.candidates import Candidate, setups_of
from inferdash.serving.planned.confirming import Confirmation, confirmed, most_per_s
from inferdash.serving.planned.curves import curves_of
from inferdash.serving.planned.offers import Demand, Offer
from inferdash.serving.planned.planner import plan
from tests.serving.offered import CHIPS, offer

CHAT = Demand(requests_per_s=30, prompt=1000, answer=250, time_to_first_token_s=1, inter_token_latency_s=0.05)
GIVEN = offer("llama-3.1-8b", ("bf16",), accelerators={name: CHIPS[name] for name in ("h100-sxm", "l40s")})


@pytest.mark.parametrize("load", [5, 28, 41, 90])
def test_no_set_up_is_simulated_twice(load: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one that was refused before, nor the winner."""
    tried: list[tuple[object, ...]] = []

    def counted(one: Candidate, demand: Demand, offer: Offer, **beside: object) -> Confirmation:
        tried.append((one.accelerator, one.layout, one.places, one.replicas))
        return confirmed(one, demand, offer, **beside)  # type: ignore[arg-type]  # what the planner gives beside

    monkeypatch.setattr(trying, "confirmed", counted)
    assert plan(replace(CHAT, requests_per_s=load), GIVEN).best
    assert len(tried) == len(set(tried))


@pytest.mark.parametrize(("prompt", "answer", "found"), [(1000, 250, 0.0), (60, 300, 0.0), (6000, 20, 0.5)])
def test_more_than_full_places_write_is_never_carried(prompt: int, answer: int, found: float) -> None:
    """A tenth beyond it leaves more requests waiting than there are places, whatever the targets."""
    asked = replace(
        CHAT, prompt=prompt, answer=answer, found_share=found, time_to_first_token_s=inf, inter_token_latency_s=inf
    )
    rng = np.random.default_rng(prompt)
    setups = [one for one in setups_of(curves_of(asked, GIVEN), asked) if one.fewest < inf]
    for setup in rng.choice(np.array(setups, dtype=object), 3):
        one = setup.candidate(asked, 1.0, 1)
        most = setup.curves.layout.data * most_per_s(one, asked, GIVEN, {})
        beyond = replace(asked, requests_per_s=1.1 * most)
        assert confirmed(setup.candidate(beyond, 1.0, 1), beyond, GIVEN).left_waiting > 1
        below = replace(asked, requests_per_s=0.5 * most)
        assert confirmed(setup.candidate(below, 1.0, 1), below, GIVEN).left_waiting < 1
