"""Prefill and decode apart on the page: what it says follows from what is simulated, and nothing changes when off."""

import pytest
from pydantic import ValidationError

from inferdash import links
from inferdash.scenario import Scenario
from inferdash.studies.run import ceilings, disaggregation, serving

APART = Scenario(disaggregated=True, prompt=6000, answer=200, load=3, prefill_workers=1, replicas=1, fabric="400g")


def test_each_stage_is_on_its_own_chip_layout_and_format() -> None:
    one = Scenario(
        disaggregated=True,
        model="llama-3.1-70b",
        gpus=4,
        accelerator="h200-sxm",
        prefill_accelerator="b200-sxm",
        prefill_gpus=2,
        prefill_layout="pipeline",
        prefill_weights="fp8",
        memory=100e9,
    )
    prefill = one.prefill
    assert (prefill.hardware.name, prefill.gpus, prefill.sharing.pipeline) == ("NVIDIA B200 SXM", 2, 2)
    assert (prefill.format, prefill.memory, prefill.replicas) == ("fp8", None, 1)
    assert (one.hardware.memory, one.format) == (100e9, "bf16")
    assert one.rent_of_prefill != one.rent == one.model_copy(update={"prefill_accelerator": "same"}).rent_of_prefill
    with pytest.raises(ValidationError, match="divides the heads"):
        Scenario(disaggregated=True, prefill_gpus=3, prefill_layout="tensor")


def test_what_is_carried_bounds_what_is_served() -> None:
    """At its ceiling the simulation serves that much, and twice the load is said to be too much, by the prefill."""
    carried = ceilings.ceilings_per_s(APART)
    assert min(carried, key=carried.__getitem__) == "prefill"
    most = ceilings.ceiling_per_s(APART)
    assert most == carried["prefill"]
    said = serving.study(APART.model_copy(update={"load": 0.8 * most}))
    assert said.throughput_out_tok_per_s == pytest.approx(0.8 * most * 200, rel=0.05)
    twice = APART.model_copy(update={"load": 2 * most})
    assert "Overloaded" in serving.sentence(twice, serving.study(twice))


def test_answers_of_the_one_token_that_prefill_makes_leave_decode_workers_nothing_to_carry() -> None:
    short = APART.model_copy(update={"answer": 1, "length_spread": 1.0})
    carried = ceilings.ceilings_per_s(short)
    assert sorted(carried) == ["link", "prefill"]
    assert ceilings.ceiling_per_s(short) == min(carried.values())
    assert serving.sentence(short, serving.study(short))


@pytest.mark.parametrize("also", ["prefill_layout=tensor", "prefill_layout=same", "prefill_accelerator=l4"])
def test_gpus_that_prefill_workers_cannot_share_are_refused_and_the_rest_of_the_link_stays(also: str) -> None:
    """A refused layout left a number of GPUs that did not fit either, and with it the whole link was lost."""
    decoded = links.decode(
        f"model=mixtral-8x7b&gpus=8&layout=tensor&disaggregated=true&prefill_gpus=9&{also}&batch=7&v=2"
    )
    assert {one.field for one in decoded.problems} <= {"prefill_layout", "prefill_gpus"}
    assert decoded.problems
    assert "prefill_gpus=as for decode." in decoded.problems[-1].sentence
    assert decoded.scenario.prefill_gpus is None
    assert (decoded.scenario.model, decoded.scenario.batch, decoded.scenario.disaggregated) == ("mixtral-8x7b", 7, True)


def test_a_job_that_pays_and_one_that_does_not() -> None:
    """Long prompts and a strict target; short prompts and a loose one, where the batch is what the memory holds."""
    strict = APART.model_copy(update={"target_between": 0.012})
    worth = disaggregation.worth(strict)
    assert worth
    assert worth.gain is None or worth.gain > 1.05
    assert disaggregation.sentence(strict).startswith("It pays")
    loose = APART.model_copy(update={"prompt": 128, "answer": 500, "target_between": 1.0, "prefill_workers": 1})
    worth = disaggregation.worth(loose)
    assert worth
    assert worth.gain is not None
    assert worth.gain < 1
    assert disaggregation.sentence(loose).startswith("It does not pay")


def test_a_slow_link_is_named_and_an_unknown_one_refused() -> None:
    slow = APART.model_copy(update={"fabric": "own", "fabric_bandwidth": 1e9, "gpus": 4, "prefill_gpus": 8})
    assert "The link is the limit: each prompt moves 786 MB." in disaggregation.sentence(slow)
    assert serving.study(slow).ceiling_requests_per_s == ceilings.ceilings_per_s(slow)["link"]
    unknown = APART.model_copy(update={"accelerator": "l4", "fabric": "same"})
    assert serving.study(unknown).ttft_s.p90 is None
    assert "link of NVIDIA L4 is not known" in serving.sentence(unknown, serving.study(unknown))


def test_the_rent_of_each_stage_pays_for_its_tokens() -> None:
    """A worker of each kind at $3 an hour."""
    found = serving.study(APART)
    assert found.usd_per_mtok_prompt
    assert found.usd_per_mtok_written
    assert found.throughput_in_tok_per_s
    assert found.throughput_out_tok_per_s
    assert found.usd_per_mtok_prompt == pytest.approx(3 / 3600 / found.throughput_in_tok_per_s * 1e6)
    assert found.usd_per_mtok_written == pytest.approx(3 / 3600 / found.throughput_out_tok_per_s * 1e6)


def test_the_first_token_comes_with_the_transfer_where_the_engine_sends_it_so() -> None:
    """0.786 GB over 1 GB/s; TensorRT-LLM tells the first token of the prefill worker."""
    slow = APART.model_copy(
        update={
            "fabric": "own",
            "fabric_bandwidth": 1e9,
            "gpus": 8,
            "prefill_gpus": 8,
            "prefill_workers": 1,
            "load": 0.1,
        }
    )
    vllm, other = (
        serving.study(slow.model_copy(update={"engine": engine})).ttft_s.p50 for engine in ("vllm", "tensorrt-llm")
    )
    assert vllm
    assert other
    assert vllm > other + 0.05


@pytest.mark.parametrize("schedule", ["static", "chunked"])
def test_a_way_to_batch_that_no_worker_has_changes_no_number(schedule: str) -> None:
    """The field is not on the page where prefill and decode are apart, so that a link does not hold it either."""
    other = APART.model_copy(update={"schedule": schedule})
    assert links.encode(other) == links.encode(APART)
    assert serving.study(other).ttft_s == serving.study(APART).ttft_s
    assert serving.study(other).itl_s == serving.study(APART).itl_s
