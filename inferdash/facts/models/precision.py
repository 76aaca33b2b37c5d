"""Number formats: how many bits each kind of parameter takes in them, and at which speed they are multiplied."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from pydantic import Field, PositiveInt

from inferdash.validated import Validated

Rate: TypeAlias = Literal["dense_bf16", "dense_fp8", "dense_int8", "dense_fp4"]
"""A peak of an accelerator, as its preset names it."""


Kind: TypeAlias = Literal["attention", "dense", "shared", "experts", "router", "small", "input", "output", "mtp"]
"""A kind of parameter: those of `Counts`, the tables that are looked up, the output layer, and what predicts further
tokens.
"""
MATRICES: Final[tuple[Kind, ...]] = ("attention", "dense", "shared")
"""Those that each position runs, which go together where a format is the same for all of them."""


class Share(Validated):
    """Parameters of one kind that a checkpoint keeps in one number format."""

    kind: Kind
    name: str
    """What the format is called."""
    parameters: PositiveInt
    bits: float = Field(gt=0, le=64)
    """For each number, scales included."""
    rate: Rate = "dense_bf16"
    """The peak at which a chip multiplies it, where the chip has that peak."""


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
    recipe: str = ""
    """What decides on each matrix by itself, where one format does not say it: it holds for one model only."""
    shares: tuple[Share, ...] = ()
    """Each kind of parameter by its formats, where a recipe was carried out for a model."""

    @property
    def other_matrix_bits(self) -> float:
        """In the matrices outside the experts of a model that has experts."""
        return self.matrix_bits if self.beside_experts is None else self.beside_experts

    def bits(self, kind: Kind, *, mixture: bool) -> float:
        """For a number of one kind, the mean where the kind is in several formats; `mixture`: the model has experts."""
        if self.shares:
            return self._mean.get(kind, self.small_bits)
        if kind in MATRICES:
            return self.other_matrix_bits if mixture else self.matrix_bits
        if kind in {"input", "output"}:
            return self.table_bits
        return self.matrix_bits if kind == "experts" else self.small_bits

    @property
    def scaled_blocks(self) -> bool:
        """Whether vectors are brought to 8 bits block by block, with a scale each, before every matrix."""
        return self.rate == "dense_fp8" and 8 < self.bits("dense", mixture=True) < 9  # noqa: PLR2004 - bits and scales

    @cached_property
    def _mean(self) -> dict[Kind, float]:
        parameters: dict[Kind, int] = {}
        bits: dict[Kind, float] = {}
        for share in self.shares:
            parameters[share.kind] = parameters.get(share.kind, 0) + share.parameters
            bits[share.kind] = bits.get(share.kind, 0) + share.parameters * share.bits
        return {kind: bits[kind] / count for kind, count in parameters.items()}


FILES: Final = "files"
"""The format in which the maker gives a model out, where it is no single one."""

PRECISIONS: Final = (
    {
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
    | {
        name: Precision(
            f"GGUF {name.upper()}", bits, 6.5625, 32, layout="each matrix by the rules of llama.cpp", recipe=name
        )
        for name, bits in (
            ("q2_k_mix", 3.0),
            ("q3_k_s", 3.4375),
            ("q3_k_m", 3.75),
            ("q3_k_l", 4.1),
            ("q4_0", 4.5),
            ("q4_k_s", 4.55),
            ("q4_k_m", 4.8),
            ("q5_0", 5.5),
            ("q5_k_s", 5.5),
            ("q5_k_m", 5.7),
            ("iq4_xs", 4.3),
            ("iq4_nl", 4.55),
            ("mxfp4_moe", 4.25),
        )
    }
    | {
        FILES: Precision("as in its files", 16, layout="each matrix as the files of the model say", recipe=FILES),
    }
)
"""Id in links -> format of the parameters. The first three give every number the same bits, as the chapter counts.

Those with a recipe decide on each matrix: `formats.in_model` carries it out for a model, and `matrix_bits` is then the
mean of its matrices.
"""

CACHE_PRECISIONS: Final = {key: PRECISIONS[key] for key in ("bf16", "fp8")}
"""Id in links -> format of keys and values in the cache."""
