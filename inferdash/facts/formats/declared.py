"""The number formats that a config.json declares, as parts of its model."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from inferdash.facts.formats import unsaid
from inferdash.facts.formats.methods import rules_of
from inferdash.facts.formats.rules import resolve, single, strangers
from inferdash.facts.formats.with_activations import algorithm
from inferdash.facts.models.architecture import Architecture, Blocks
from inferdash.facts.models.precision import FILES, PRECISIONS, Share
from inferdash.layers.config import Config, UnreadFieldError
from inferdash.layers.feed_forward import Experts

_SHOWN: Final = 3
"""Modules of a list that are named."""
STORED: Final = "stored_formats"
"""In the fields of a link: the number format as it was read, an id or each kind of parameter by its formats."""
QUANTIZED: Final = ("quantization_config", "compression_config", "quantization")
"""Where files say how their parameters are quantized."""


def formats_of(outer: Config, inner: Config, architecture: Architecture, layers: list[Blocks]) -> Architecture:
    """The architecture with the number formats of its files.

    Files that say float32 are loaded at 16 bits by engines, so they count so.
    """
    known = outer.fields.get(STORED)
    if known is not None:
        return _known_formats(architecture, known)
    places = ((config, name) for config in (inner, outer) for name in QUANTIZED)
    fields = next((config.fields[name] for config, name in places if config.fields.get(name)), None)
    if fields is None:
        return architecture
    if not isinstance(fields, Mapping):
        raise UnreadFieldError("quantization_config", "is not an object")
    if unsaid.says_no_modules(fields):
        rules, inner.assumed["quantization_config"] = unsaid.rules(algorithm(fields), family=inner.read_as)
    else:
        rules = rules_of(fields, expert_dtype=inner.fields.get("expert_dtype"))
    shares = resolve(architecture, rules, layers=layers)
    if others := strangers(architecture, rules, layers=layers):
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        inner.assumed["quantized modules"] = (
            "quantization_config names modules that the model, as read, does not have:"
            f" {_named(others)}{more}. Their format is not counted."
        )
    mixture = any(isinstance(network, Experts) for blocks in layers for network in blocks.networks)
    weights = single(shares, mixture=mixture) or FILES
    outer.used[STORED] = weights if weights != FILES else [list(share.model_dump().values()) for share in shares]
    return architecture.model_copy(update={"weights": weights, "formats": shares if weights == FILES else ()})


def _named(modules: Sequence[str]) -> str:
    """The first of some names, in signs that no page takes for markup."""
    return ", ".join(re.sub(r"[^\w.-]", "", name)[:80] for name in modules[:_SHOWN])


def _known_formats(architecture: Architecture, known: Any) -> Architecture:
    """The number formats as a link says them."""
    weights, shares = FILES, tuple[Share, ...]()
    if isinstance(known, str) and known in PRECISIONS and not PRECISIONS[known].recipe:
        weights = known
    elif isinstance(known, list) and known and all(isinstance(share, list) for share in known):
        named = (dict(zip(Share.model_fields, share, strict=False)) for share in known)
        shares = tuple(Share.model_validate(share) for share in named)
    else:
        raise UnreadFieldError(STORED, "gives no known number format")
    return architecture.model_copy(update={"weights": weights, "formats": shares})
