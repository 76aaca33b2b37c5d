"""LoRA adapters beside a model: what they take of the memory, and by how much they slow a pass down."""

from dataclasses import replace
from typing import Final

from inferdash import quantities
from inferdash.formula import recording
from inferdash.physics.capacity.adapters import (
    adapter_parameters,
    adapter_pass_s,
    adapters_bytes,
    distinct_adapters,
    ends_of,
)
from inferdash.physics.capacity.memory import largest_batch
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table, show

_BYTES: Final = 2.0
"""Of a number of an adapter, in bf16."""
MEASURED: Final = (
    "Adapters beside attention and dense networks, in bf16, each in a slot of that rank; none beside routed experts. "
    "The slow-down is the least that memory and arithmetic allow; kernels that start one by one take more: "
    "measured 8 to 24% of the throughput (Llama 3.1 8B on TPU v6e, vllm#15655), up to 50% (Llama 2 7B on A100, "
    "vllm#10062), and half of the speed of a single request (Mistral 7B on L40S, lorax#333). These are single reports "
    "of old engines."
)


def of_one(scenario: Scenario) -> float:
    """Parameters of one adapter."""
    with recording():
        return float(adapter_parameters(rank=scenario.adapter_rank, ends=ends_of(scenario.architecture)))


def table(scenario: Scenario) -> Table:
    """An adapter, all of them, and what they leave."""
    one, machine = of_one(scenario), scenario.shown.as_run
    with recording():
        all_bytes = float(adapters_bytes(adapters=scenario.adapters, parameters=one, number_bytes=_BYTES))
        beside = replace(machine, memory=machine.memory - all_bytes / machine.gpus)
        fit, left = (float(largest_batch(each, tokens=scenario.prompt)) for each in (machine, beside))
    rows = (
        Row("Parameters of an adapter", "parameters", (one,)),
        Row("Of those of the model", "%", (one / float(machine.parameters.stored_total),)),
        Row("An adapter in memory", "B", (one * _BYTES,)),
        Row("All adapters, over all GPUs", "B", (all_bytes,)),
        Row("Requests that fit without them", "requests", (fit,)),
        Row("Requests that fit beside them", "requests", (left,)),
    )
    return Table((quantities.count(scenario.adapters, "adapter"),), rows, head="LoRA")


def sentence(scenario: Scenario) -> str:
    """By how much a decode pass takes longer at least, in words; what to do where there are none."""
    if not scenario.adapters:
        return "Say how many LoRA adapters are served beside the model to see what they take."
    machine, requests = scenario.shown.as_run, scenario.batch
    with recording():
        pass_s = decode(machine, requests=requests, past=scenario.prompt).pass_s
        if pass_s is None or machine.peak is None:
            return ""
        distinct = float(distinct_adapters(adapters=scenario.adapters, requests=requests))
        more_s = float(
            adapter_pass_s(
                distinct=distinct,
                parameters=of_one(scenario) / machine.gpus,
                number_bytes=_BYTES,
                bandwidth=machine.accelerator.bandwidth,
                positions=requests,
                peak=machine.peak,
            )
        )
    batch = quantities.count(requests, "request")
    return (
        f"A decode pass of {batch} loads {quantities.digits(distinct)} of them and takes at least "
        f"{show(more_s, 's')} more: {quantities.percent(more_s / float(pass_s))} at the limit."
    )
