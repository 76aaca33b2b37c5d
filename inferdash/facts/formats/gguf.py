"""GGUF mixes: the rules by which llama.cpp's quantizer chooses a block type for each matrix.

Read from `src/llama-quant.cpp` of ggml-org/llama.cpp at commit 007dbbf3, without an importance matrix. Norms, biases
and routers stay at 32 bits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from inferdash.facts.formats.modules import Module, modules
from inferdash.facts.formats.rules import collected
from inferdash.facts.formats.stored import SINGLE, WIDE, Stored
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import Share
from inferdash.layers.feed_forward import Experts

TYPES: Final[dict[str, Stored]] = {
    name: Stored(name.upper(), bits, block=block)
    for name, bits, block in (
        ("q4_0", 4.5, 32),
        ("q4_1", 5.0, 32),
        ("q5_0", 5.5, 32),
        ("q5_1", 6.0, 32),
        ("q8_0", 8.5, 32),
        ("mxfp4", 4.25, 32),
        ("iq4_nl", 4.5, 32),
        ("iq4_xs", 4.25, 256),
        ("iq3_s", 3.4375, 256),
        ("q2_k", 2.625, 256),
        ("q3_k", 3.4375, 256),
        ("q4_k", 4.5, 256),
        ("q5_k", 5.5, 256),
        ("q6_k", 6.5625, 256),
    )
}
"""Block type -> bits for each number, and numbers of a row in a block."""
_NARROWER: Final = {
    "iq4_xs": "iq4_nl",
    "iq3_s": "iq4_nl",
    "q2_k": "q4_0",
    "q3_k": "q4_0",
    "q4_k": "q5_0",
    "q5_k": "q5_1",
    "q6_k": "q8_0",
}
"""Block type -> the one for rows that do not divide into its blocks."""
_VALUES: Final = ("v_proj", "in_proj_qkv", "qkv_proj", "kv_b_proj")
_KEPT: Final = ("indexer.wk", "indexer.wq_b")
_SHARING: Final = 4
"""Heads of queries to one of keys from which values are worth more bits."""
_EIGHT: Final = 8
"""Experts of Mixtral, for which attention gets more bits."""
_LAYERS_OF_70B: Final = 80


@dataclass(frozen=True)
class _Place:
    """Where a matrix stands among those of its sort."""

    index: int
    count: int
    heads_a_key: float
    experts: int
    layers: int

    @property
    def first_eighth(self) -> bool:
        """Whether it is in the first eighth of the layers."""
        return self.index < self.count // 8

    @property
    def first_sixteenth(self) -> bool:
        """Whether it is in the first sixteenth of them."""
        return self.index < self.count // 16

    @property
    def worth_more(self) -> bool:
        """The first eighth of layers, the last, and each third between."""
        eighth = self.count // 8
        return self.index < eighth or self.index >= 7 * self.count // 8 or (self.index - eighth) % 3 == 2  # noqa: PLR2004

    @property
    def shared(self) -> bool:
        """Whether many heads of queries share its values."""
        return self.heads_a_key >= _SHARING


@dataclass(frozen=True)
class _Mix:
    """A mix: its block type, and what stands in another."""

    base: str
    values: Callable[[_Place], str] | None = None
    output: Callable[[_Place], str] | None = None
    """Of the matrix after attention, in a model without eight experts."""
    down: Callable[[_Place], str] | None = None
    eight: bool = True
    """Whether the matrix after attention gets Q5_K in a model of eight experts."""


MIXES: Final[dict[str, _Mix]] = {
    "q2_k_mix": _Mix("q2_k", lambda at: "q4_k" if at.shared else "q3_k", lambda _: "q3_k", lambda _: "q3_k"),
    "q3_k_s": _Mix("q3_k"),
    "q3_k_m": _Mix(
        "q3_k",
        lambda at: "q5_k" if at.index < 2 else "q4_k",  # noqa: PLR2004 - the first two
        lambda _: "q4_k",
        lambda at: "q5_k" if at.first_sixteenth else "q4_k",
    ),
    "q3_k_l": _Mix("q3_k", lambda _: "q5_k", lambda _: "q5_k", lambda _: "q5_k", eight=False),
    "q4_0": _Mix("q4_0", eight=False),
    "q4_k_s": _Mix(
        "q4_k",
        lambda at: "q5_k" if at.index < 4 else "q4_k",  # noqa: PLR2004 - the first four
        None,
        lambda at: "q5_k" if at.first_eighth else "q4_k",
    ),
    "q4_k_m": _Mix(
        "q4_k",
        lambda at: "q6_k" if at.worth_more else "q4_k",
        None,
        lambda at: "q6_k" if at.worth_more else "q4_k",
    ),
    "q5_0": _Mix("q5_0", eight=False),
    "q5_k_s": _Mix("q5_k", eight=False),
    "q5_k_m": _Mix(
        "q5_k",
        lambda at: "q6_k" if at.worth_more else "q5_k",
        None,
        lambda at: "q6_k" if at.worth_more else "q5_k",
        eight=False,
    ),
    "iq4_xs": _Mix(
        "iq4_xs",
        lambda at: "q5_k" if at.shared else "iq4_xs",
        None,
        lambda at: "q5_k" if at.first_eighth else "iq4_xs",
    ),
    "iq4_nl": _Mix(
        "iq4_nl",
        lambda at: "q5_k" if at.shared else "iq4_nl",
        None,
        lambda at: "q5_k" if at.first_eighth else "iq4_nl",
    ),
    "mxfp4_moe": _Mix("q8_0"),
}
"""Id of a mix -> its rules."""


def shares(architecture: Architecture, mix: str) -> tuple[Share, ...]:
    """The parameters of a model by kind and block type, as llama.cpp quantizes it."""
    rules, found = MIXES[mix], list(modules(architecture))
    valued = [module for module in found if module.matrix.name in _VALUES and module.kind != "mtp"]
    seen = {id(module): index for index, module in enumerate(valued)}
    attention = [blocks.attention for blocks in architecture.blocks if hasattr(blocks.attention, "kv_heads")]
    heads_a_key = max((mixer.heads / mixer.kv_heads for mixer in attention), default=1)  # type: ignore[union-attr]
    networks = [network for blocks in architecture.blocks for network in blocks.networks]
    experts = max((network.experts for network in networks if isinstance(network, Experts)), default=0)

    def of(module: Module) -> Stored:
        values = id(module) in seen
        place = _Place(
            index=seen[id(module)] if values else module.layer or 0,
            count=len(valued) if values else architecture.layers,
            heads_a_key=heads_a_key,
            experts=experts,
            layers=architecture.layers,
        )
        return _divided(_type(rules, mix, module, place), module.matrix.inputs)

    return collected((module, of(module)) for module in found)


def _type(rules: _Mix, mix: str, module: Module, at: _Place) -> str:
    """The block type of a matrix; "f32" or "f16" where it is not quantized."""
    name, role = module.matrix.name, module.role
    if role == "router" or name in _KEPT:
        return "f32"
    if mix == "mxfp4_moe":
        return "mxfp4" if role == "experts" else "q8_0"
    if module.kind == "output":
        return "q6_k"
    if name in _VALUES:
        return _of_values(rules, at)
    if name == "k_proj" and at.experts == _EIGHT:
        return "q8_0"
    if name == "o_proj" and at.experts == _EIGHT and rules.eight:
        return "q5_k"
    if name == "o_proj" and at.experts != _EIGHT and rules.output:
        return rules.output(at)
    return rules.down(at) if name == "down_proj" and rules.down else rules.base


def _of_values(rules: _Mix, at: _Place) -> str:
    if at.experts == _EIGHT:
        return "q8_0"
    chosen = rules.values(at) if rules.values else rules.base
    return "q5_k" if at.layers == _LAYERS_OF_70B and at.shared and chosen in {"q3_k", "q4_k"} else chosen


def _divided(name: str, inputs: int) -> Stored:
    """The block type, or the one for a row that does not divide into its blocks."""
    if name == "f32":
        return SINGLE
    if inputs % TYPES[name].block:
        name = _NARROWER.get(name, "f16")
    return WIDE if name == "f16" or inputs % TYPES[name].block else TYPES[name]
