"""An accelerator as its datasheet: memory, bandwidth, peaks. A rate that a chip does not have is absent."""

from typing import Literal, TypeAlias

from pydantic import Field

from inferdash.facts.precision import PRECISIONS, Precision
from inferdash.facts.provenance import Sourced
from inferdash.validated import Bytes, BytesPerSecond, FlopsPerSecond

Family: TypeAlias = Literal[
    "nvidia-datacenter",
    "nvidia-workstation",
    "nvidia-unified",
    "geforce",
    "amd-datacenter",
    "amd-unified",
    "radeon",
    "apple",
    "other-datacenter",
]
"""Accelerators that reach a like share of their datasheets.

Workstation: NVIDIA's professional cards with GDDR memory, also for servers. Unified: memory shared with a processor.
"""


class Accelerator(Sourced):
    """One accelerator. Peaks are dense; the larger figures that datasheets print are with sparsity."""

    family: Family = "other-datacenter"
    memory: Bytes = Field(gt=0)
    """As the maker sells it, in GB of 10^9 bytes."""
    visible_memory: Bytes | None = None
    """What the driver reports, before any program runs."""
    bandwidth: BytesPerSecond = Field(gt=0)
    """Between the memory and the chip."""
    dense_bf16: FlopsPerSecond | None = None
    dense_fp16: FlopsPerSecond | None = None
    """Where it is not that of bf16."""
    dense_fp8: FlopsPerSecond | None = None
    dense_int8: FlopsPerSecond | None = None
    dense_fp4: FlopsPerSecond | None = None
    link_bandwidth: BytesPerSecond | None = None
    """Between accelerators, one way, for one accelerator."""
    sparse_trap: str = ""
    """Figures often copied as the dense peak, which are not."""

    def rate(self, precision: Precision) -> tuple[Precision, float | None]:
        """The format in which this chip multiplies numbers stored as `precision`, and its dense peak in FLOP/s.

        A chip without that rate, or with a slower one, works at 16 bits. The peak is None where the maker publishes
        none.
        """
        own: float | None = getattr(self, precision.rate)
        wide = self.dense_bf16 or self.dense_fp16
        return (precision, own) if own and own >= (wide or 0) else (PRECISIONS["bf16"], wide)
