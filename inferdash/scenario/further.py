"""What starting replicas, adapters and experts in host memory add to a scenario. All are off by default."""

from typing import Annotated

from pydantic import Field

from inferdash.scenario.agents import Agents
from inferdash.scenario.marks import Place
from inferdash.validated import Quantity


def _adapted(scenario: "Further") -> bool:
    return scenario.adapters > 0


class Further(Agents):
    """The fields of autoscaling, of low-rank adapters, and of experts that the CPU runs."""

    start_up: Annotated[float, Quantity("s"), Place("page")] = Field(200.0, title="Engine start-up", ge=0, le=86_400)
    """Without loading weights: compiling, graphs, profiling. About 60 s if compiled code is kept, else over 200 s."""
    load_rate: Annotated[float, Quantity("B/s"), Place("page")] = Field(
        7e9, title="Loading weights at", ge=1e6, le=1e15
    )
    """For all GPUs of a replica together: 7 GB/s is one PCIe 4.0 drive, 1.25 GB/s a 10G network."""
    scale_aim: Annotated[float, Place("page")] = Field(0.7, title="Target load of a replica", ge=0.05, le=1)
    """Share of its capacity at which another replica is started."""

    adapters: Annotated[int, Place("page")] = Field(0, title="LoRA adapters", ge=0, le=100_000)
    """Adapters that are kept on the GPUs."""
    adapter_rank: Annotated[int, Place("page", _adapted)] = Field(16, title="LoRA rank", ge=1, le=1024)
    """The engine’s maximum: it keeps room for it, and computes with it, whatever the adapters have."""

    cpu_expert_layers: Annotated[int, Place("page")] = Field(0, title="Layers with experts on the CPU", ge=0, le=1000)
    """As llama.cpp’s --n-cpu-moe: routed experts of so many layers stay in host memory, and the CPU runs them."""
    ram_bandwidth: Annotated[float, Quantity("B/s"), Place("page")] = Field(
        80e9, title="Host memory bandwidth", ge=1e9, le=1e13
    )
    """Of the CPU: about 80 GB/s with two channels of DDR5, 300 to 600 GB/s in a server."""
