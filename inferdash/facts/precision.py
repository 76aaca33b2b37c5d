"""Number formats: how many bits each kind of parameter takes in them, and at which speed they are multiplied."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Rate: TypeAlias = Literal["dense_bf16", "dense_fp8", "dense_int8", "dense_fp4"]
"""A peak of an accelerator, as its preset names it."""


@dataclass(frozen=True)
class Precision:
    """A format of stored parameters: bits for each number, scales included."""

    name: str
    matrix_bits: float
    """In the matrices of attention and feed-forward networks, and of experts."""
    table_bits: float = 16
    """In the input embedding and the output layer."""
    small_bits: float = 16
    """In norms, biases and routers."""
    rate: Rate = "dense_bf16"
    """The peak at which a chip multiplies it, where the chip has that peak; else it works at bf16."""
    beside_experts: float | None = None
    """Bits in the matrices outside the experts of a model that has experts, where not the same."""
    layout: str = ""
    """How the bits come about, in words."""

    @property
    def other_matrix_bits(self) -> float:
        """In the matrices outside the experts of a model that has experts."""
        return self.matrix_bits if self.beside_experts is None else self.beside_experts


PRECISIONS: Final = {
    "bf16": Precision("bf16", 16, layout="2 bytes a number"),
    "fp8": Precision("fp8", 8, 8, 8, "dense_fp8", layout="1 byte a number, one scale a tensor, not counted"),
    "int8": Precision("int8", 8, 8, 8, "dense_int8", layout="1 byte a number, one scale a tensor, not counted"),
    "fp8-block": Precision(
        "fp8, 128×128 blocks",
        8 + 32 / 128**2,
        rate="dense_fp8",
        layout="8 bits and a scale of 32 for each 128×128 block",
    ),
    "int4-g32": Precision("int4, group 32", 4 + 16 / 32, layout="4 bits and a scale of 16 for each 32"),
    "int4-g128": Precision("int4, group 128", 4 + 16 / 128, layout="4 bits and a scale of 16 for each 128"),
    "int4-g32-experts": Precision(
        "int4 experts, group 32",
        4 + 16 / 32,
        beside_experts=16,
        layout="experts of 4 bits with a scale of 16 for each 32, the rest at 2 bytes a number",
    ),
    "int4-g128-experts": Precision(
        "int4 experts, group 128",
        4 + 16 / 128,
        beside_experts=16,
        layout="experts of 4 bits with a scale of 16 for each 128, the rest at 2 bytes a number",
    ),
    "mxfp4": Precision(
        "MXFP4", 4 + 8 / 32, rate="dense_fp4", beside_experts=16, layout="4 bits and a scale of 8 for each 32"
    ),
    "fp4-fp8": Precision(
        "fp4 experts, fp8",
        4 + 8 / 32,
        rate="dense_fp8",
        beside_experts=8 + 8 / 128**2,
        layout="experts of 4 bits with a scale of 8 for each 32, the rest in 128×128 blocks of fp8",
    ),
    "nvfp4": Precision("NVFP4", 4 + 8 / 16, rate="dense_fp4", layout="4 bits and a scale of 8 for each 16"),
    "fp32": Precision("fp32", 32, 32, 32, layout="4 bytes a number"),
    "q8_0": Precision("GGUF Q8_0", 8.5, 8.5, 32, layout="8 bits and a scale of 16 for each 32"),
    "q6_k": Precision("GGUF Q6_K", 6.5625, 6.5625, 32, layout="blocks of 256 with scales of two levels"),
    "q5_k": Precision("GGUF Q5_K", 5.5, 5.5, 32, layout="blocks of 256 with scales of two levels"),
    "q4_k": Precision("GGUF Q4_K", 4.5, 4.5, 32, layout="blocks of 256 with scales of two levels"),
    "q3_k": Precision("GGUF Q3_K", 3.4375, 3.4375, 32, layout="blocks of 256 with scales of two levels"),
    "q2_k": Precision("GGUF Q2_K", 2.625, 2.625, 32, layout="blocks of 256 with scales of two levels"),
}
"""Id in links -> format of the parameters. The first three give every number the same bits, as the chapter counts."""

CACHE_PRECISIONS: Final = {key: PRECISIONS[key] for key in ("bf16", "fp8")}
"""Id in links -> format of keys and values in the cache."""
