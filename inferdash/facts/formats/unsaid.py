"""What a checkpoint of ModelOpt keeps wider where its file says a format alone, by the recipes that ModelOpt ships."""

from collections.abc import Mapping
from typing import Any, Final

from inferdash.facts.formats import stored
from inferdash.facts.formats.rules import LINEAR, Rule
from inferdash.facts.formats.stored import WIDE, Stored

SOURCE: Final = "nvidia-modelopt 0.47.0, modelopt_recipes"
_LISTS: Final = ("exclude_modules", "ignore", "quantized_layers", "config_groups")
_KEPT: Final = ("linear_attn.in_proj_a", "linear_attn.in_proj_b", "mtp")
"""Modules that its recipes leave at 16 bits, beside routers, tables and the output layer."""
_HYBRID: Final = frozenset({"nemotron_h"})
"""Families of states and experts, whose recipe (Nemotron 3 Super and Ultra) has the experts alone in NVFP4."""


def says_no_modules(fields: Mapping[str, Any]) -> bool:
    """Whether fields of ModelOpt name a format and no module that is kept from it."""
    inner = fields.get("quantization")
    fields = inner if isinstance(inner, Mapping) else fields
    said = str(fields.get("quant_algo") or "").upper()
    return said not in {"", "MIXED_PRECISION", "NONE"} and not any(fields.get(name) for name in _LISTS)


def rules(format_: Stored, *, family: str) -> tuple[list[Rule], str]:
    """The rules of such a checkpoint, and a sentence that says what is assumed."""
    name = format_.name
    if family in _HYBRID and name == "NVFP4":
        eight = stored.floating()
        found = [Rule(format_, kinds=("experts",)), Rule(eight, kinds=("shared",))]
        found += [Rule(eight, name=module) for module in ("mixer.in_proj", "mixer.out_proj")]
        assumed = "as in NVIDIA's recipe, experts are in it, shared experts and states at 8 bits, the rest at 16"
        kept = [Rule(WIDE, name=module) for module in ("fc1_latent_proj", "fc2_latent_proj", "mtp")]
        return [*found, *kept], _sentence(name, assumed)
    kept = [Rule(WIDE, name=module) for module in _KEPT]
    assumed = "every linear layer but the output layer and routers is taken to be in it, so sizes are a lower limit"
    return [Rule(format_, kinds=LINEAR), *kept], _sentence(name, assumed)


def _sentence(name: str, assumed: str) -> str:
    return f"quantization_config says {name} and not which modules stay at 16 bits: {assumed}."
