"""Experts in host memory beside one machine's GPUs: how many tokens a second, and what the GPUs hold."""

from dataclasses import dataclass
from typing import Final

from inferdash import quantities
from inferdash.formula import recording
from inferdash.layers.counts import Counts
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.capacity.parameters import bytes_in_format
from inferdash.physics.host_experts import host_read_bytes, layers_with_experts, with_host_s
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario
from inferdash.studies.numbers import Row, Table, show

MEASURED: Final = (
    "The least that memory allows for one request: the GPUs and the CPU read one after the other; copies of vectors "
    "between them, and prompts, are not counted. Measured: gpt-oss-120b on two RTX 5090 with three layers on the CPU "
    "108 tokens/s (llama.cpp#15077); Qwen3.6-35B-A3B on one RTX 5080 with all of them 36.5 (ollama#11772)."
)


def applies(scenario: Scenario) -> bool:
    """Whether the model has experts."""
    return layers_with_experts(scenario.architecture)[1] is not None


@dataclass(frozen=True)
class Split:
    """A token of one request, with the routed experts of some layers in host memory."""

    token_s: float
    """At least."""
    gpu_bytes: float
    """Of parameters on all GPUs together."""
    host_bytes: float
    """Of parameters in host memory."""


def split(scenario: Scenario, layers: int) -> Split:
    """The same with so many layers there, or with all where the model has fewer."""
    machine, (all_layers, experts) = scenario.deployment, layers_with_experts(scenario.architecture)
    if experts is None:
        raise ValueError(f"{scenario.architecture.name} has no experts")
    there, parts = min(layers, all_layers), 1 if not machine.layout.even else machine.gpus
    chosen = experts.experts_per_token
    with recording():
        routed = parts * float(machine.loaded_bytes_apart(positions=1)[1])
        host = float(host_read_bytes(layers=there, experts_per_token=chosen, expert_bytes=routed / all_layers / chosen))
        whole = float(decode(machine, requests=1, past=scenario.prompt).bytes_read)
        token_s = float(
            with_host_s(
                gpu_bytes=whole - host,
                gpu_bandwidth=machine.gpus * machine.accelerator.bandwidth,
                host_bytes=host,
                host_bandwidth=scenario.ram_bandwidth,
            )
        )
        stored = machine.parameters.stored.experts * there / all_layers
        kept = float(bytes_in_format(machine.weights, Counts(experts=stored), output=0, mixture=True))
    return Split(token_s, float(machine.stored_bytes) - kept, kept)


def table(scenario: Scenario) -> Table:
    """None of the layers' experts in host memory, the scenario's, and all; nothing of a model without experts."""
    all_layers, experts = layers_with_experts(scenario.architecture)
    counts = sorted({0, min(scenario.cpu_expert_layers, all_layers), all_layers} if experts else ())
    rows = []
    for count in counts:
        one = split(scenario, count)
        fits = "yes" if one.gpu_bytes <= _room(scenario) else "no"
        values = (show(1 / one.token_s, "tokens/s"), show(one.gpu_bytes, "B"), show(one.host_bytes, "B"), fits)
        rows.append(Row(f"{count:,} of {all_layers:,} layers", "word", values))
    return Table(("at most", "on the GPUs", "in host memory", "fits the GPUs"), tuple(rows), head="Experts on the CPU")


def _room(scenario: Scenario) -> float:
    """Bytes of all GPUs beside the cache of one request at the end of its answer."""
    machine, tokens = scenario.deployment, scenario.prompt + scenario.answer
    with recording():
        cache = request_cache_bytes(
            machine.architecture, tokens=tokens, bytes_per_number=machine.cache_bytes_per_number
        )
    return machine.gpus * machine.memory - float(cache)


def sentence(scenario: Scenario) -> str:
    """How few layers make the model fit, and what they cost, in words."""
    all_layers, machine = layers_with_experts(scenario.architecture)[0], scenario.deployment
    room = _room(scenario)
    enough = next((count for count in range(all_layers + 1) if split(scenario, count).gpu_bytes <= room), None)
    chips = f"{machine.gpus:,} × {machine.accelerator.name}"
    if enough is None:
        return f"Even with all experts in host memory, the rest does not fit on {chips}."
    if not enough:
        return f"All parameters fit on {chips}: no experts need to be in host memory."
    found = split(scenario, enough)
    return (
        f"The parameters fit on {chips} with the experts of {quantities.count(enough, 'layer')} in host memory "
        f"({show(found.host_bytes, 'B')}); one request then gets at most {show(1 / found.token_s, 'tokens/s')}."
    )
