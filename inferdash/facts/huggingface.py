"""A model's config.json becomes an architecture: recognised by its fields, layer by layer."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from pydantic import ValidationError

from inferdash.facts.architecture import Architecture, Blocks
from inferdash.layers.config import Config, UnreadFieldError
from inferdash.layers.families import FAMILIES
from inferdash.layers.feed_forward import Experts, GatedFeedForward
from inferdash.layers.kinds import MIXERS

LARGEST_FILE: Final = 5_000_000
"""Characters of a file that are read at most."""
_DEEPEST: Final = 50
_TEXT_PARTS: Final = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where a file of a model for pictures and text keeps the fields of its text model."""
_OTHER_TOWERS: Final = ("vision_config", "audio_config", "vision_tower_config", "vit_config")
_NOT_KNOWN: Final = ("cross_attention_layers", "num_encoder_layers", "encoder_layers", "zero_expert_num")
"""Fields of kinds of models that are not counted here."""


class UnreadConfigError(ValueError):
    """A file that is no config.json of a known kind of model; its text is one sentence."""


@dataclass(frozen=True)
class Found:
    """What a config.json says."""

    architecture: Architecture
    problems: tuple[str, ...]
    """What was assumed or left out, in sentences."""
    used: Mapping[str, Any]
    """The fields from which the architecture follows; a config of these alone gives the same."""
    tensors: Mapping[str, int] = field(default_factory=dict)
    """Parameters by the number format that the files name, where their headers were read."""


def parse(text: str | bytes) -> Mapping[str, Any]:
    """The fields of a config.json.

    Raises:
        UnreadConfigError: where it is too large, no JSON, or no group of fields.
    """
    if len(text) > LARGEST_FILE:
        raise UnreadConfigError(f"The file has {len(text):,} characters, more than a config.json ever has.")
    if isinstance(text, bytes):
        encoding = "utf-16" if text[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
        try:
            text = text.decode(encoding)
        except UnicodeDecodeError:
            raise UnreadConfigError("The file is no text in UTF-8.") from None
    if max(text.count("["), text.count("{")) > LARGEST_FILE // 100:
        raise UnreadConfigError("The file is nested too deeply for a config.json.")
    try:
        fields = json.loads(text.lstrip("\ufeff"))
    except RecursionError:
        raise UnreadConfigError("The file is nested too deeply for a config.json.") from None
    except ValueError as error:
        line = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadConfigError(f"The file is no JSON{line}.") from None
    if not isinstance(fields, dict):
        raise UnreadConfigError("The file holds no group of fields, as a config.json does.")
    return fields


def read(fields: Mapping[str, Any], *, name: str = "", hf_id: str = "") -> Found:
    """The architecture that a config.json describes.

    Args:
        fields: the fields of the file.
        name: what the model is called; the file's own name for its family where empty.
        hf_id: its name on the Hugging Face hub, if it has one.

    Raises:
        UnreadConfigError: one sentence that names the field that is missing, or cannot be.
    """
    outer = Config(fields)
    try:
        inner, where = _text_part(outer)
        architecture = _architecture(outer, inner, name=name, hf_id=hf_id)
    except UnreadFieldError as problem:
        raise UnreadConfigError(str(problem)) from None
    except ValidationError as failure:
        error = failure.errors(include_url=False)[0]
        place = ".".join(str(part) for part in error["loc"]) or "The file"
        raise UnreadConfigError(f"{place}: {error['msg'][0].lower()}{error['msg'][1:]}.") from None
    used: dict[str, Any] = dict(outer.used)
    if where:
        used[where] = dict(inner.used)
    return Found(architecture, tuple(_problems(outer, inner)), used)


def _text_part(outer: Config) -> tuple[Config, str]:
    for name in _TEXT_PARTS:
        part = outer.part(name)
        if part:
            deeper, _ = _text_part(part)
            return deeper, name
    return outer, ""


def _architecture(outer: Config, inner: Config, *, name: str, hf_id: str) -> Architecture:
    hidden = inner.hidden  # before the layers, so that a file of another tool is told what it lacks
    layers = [_layer(inner, layer) for layer in range(inner.layers)]
    tied = inner.value("tie_word_embeddings")
    if tied is None:
        tied = outer.value("tie_word_embeddings")
    if tied is not None and not isinstance(tied, bool):
        raise UnreadFieldError("tie_word_embeddings", "is neither true nor false")
    further = inner.whole("num_nextn_predict_layers", "mtp_num_hidden_layers", default=0, least=0)
    return Architecture(
        name=name or _plain_name(outer.value("_name_or_path")) or _plain_name(inner.model_type) or "A model",
        maker="",
        source=("its config.json",),
        checked=date.today(),  # noqa: DTZ011 - the day of the reader
        hf_id=hf_id,
        hidden=hidden,
        vocabulary=inner.whole("vocab_size"),
        tied_embeddings=inner.family.tied if tied is None else tied,
        context=inner.whole("max_position_embeddings", "n_positions", "max_sequence_length", default=None),
        final_norms=inner.family.final_norms,
        token_vocabulary=inner.whole("vocab_size_per_layer_input", default=0, least=0),
        weights=_weights(outer, inner),
        mtp=_further(layers[-1], further) if further and _says_mtp(inner) else None,
        mtp_tables=inner.family.mtp_tables,
        blocks=_grouped(layers),
    )


def _plain_name(named: Any) -> str:
    """What a file calls itself, in signs that no page takes for markup or an address."""
    text = named if isinstance(named, str) else ""
    return "".join(re.findall(r"[A-Za-z0-9 +-]|\.(?=\d)", text.rpartition("/")[2]))[:60].strip()


def _says_mtp(config: Config) -> bool:
    """Whether the layer that predicts further tokens is one like the last, as in the families that say how many."""
    return config.value("kv_lora_rank", "compress_ratios") is not None or config.model_type == "glm4_moe"


def _further(last: Blocks, count: int) -> Blocks:
    """Layers like the last one, which choose the tokens that they read themselves."""
    attention = last.attention
    indexer = getattr(attention, "indexer", None)
    if attention and indexer:
        attention = attention.model_copy(update={"indexer": indexer.model_copy(update={"own": True})})
    return last.model_copy(update={"count": count, "attention": attention})


def _layer(config: Config, layer: int) -> Blocks:
    kind = config.kinds[layer]
    config = config.of_layer(layer)
    attention = None
    if kind != "none":
        attention = next((found for mixer in MIXERS if (found := mixer.from_config(config, layer))), None)
        if attention is None:
            raise UnreadFieldError("layer_types", f"names a layer of “{kind}” whose fields are missing")
    alone = config.model_type == "nemotron_h" and kind != "none"
    experts = None if alone else Experts.from_config(config, layer)
    dense = None if alone else GatedFeedForward.from_config(config, layer)
    extra_norms = 3 if experts and dense else 2 if config.flag("new_decoder_architecture") else 0
    return Blocks(
        count=1,
        attention=attention,
        feed_forward=experts or dense,
        beside=dense if experts else None,
        norms=config.family.norms + extra_norms,
        token_input=config.whole("hidden_size_per_layer_input", default=0, least=0),
        alternating=config.whole("altup_num_inputs", default=0, least=0),
        low_rank=config.whole("laurel_rank", default=0, least=0),
        streams=config.whole("hc_mult", default=0, least=0),
    )


def _grouped(layers: list[Blocks]) -> tuple[Blocks, ...]:
    """Equal layers together, each group where its first layer stands."""
    counts: dict[str, int] = {}
    first: dict[str, Blocks] = {}
    for layer in layers:
        key = layer.model_dump_json()
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, layer)
    return tuple(first[key].model_copy(update={"count": count}) for key, count in counts.items())


def _weights(outer: Config, inner: Config) -> str:
    """The number format of the stored parameters, an id of `precision.PRECISIONS`."""
    quantized = inner.part("quantization_config") or outer.part("quantization_config")
    found = _quantized(quantized, inner) if quantized else None
    return found or "bf16"  # also where the file says float32: engines load such files at 16 bits


def _quantized(quantized: Config, inner: Config) -> str | None:
    method = str(quantized.value("quant_method") or quantized.value("quant_algo") or "").lower()
    algorithm = str(quantized.value("quant_algo") or quantized.value("format") or "").lower()
    if inner.value("expert_dtype") == "fp4":
        return "fp4-fp8"
    if "mxfp4" in method or "mxfp4" in algorithm:
        return "mxfp4"
    if "nvfp4" in algorithm:
        return "nvfp4"
    if method == "fp8":
        return "fp8-block" if quantized.value("weight_block_size") else "fp8"
    bits, size = quantized.value("bits", "num_bits"), quantized.value("group_size")
    if bits is None:
        bits, size = _grouped_weights(quantized)
    if bits == 4:  # noqa: PLR2004 - the common width
        return "int4-g32" if size == 32 else "int4-g128"  # noqa: PLR2004
    if bits == 8:  # noqa: PLR2004
        return "fp8" if "fp8" in method + algorithm or "float" in algorithm else "int8"
    return "fp8" if "fp8" in algorithm else None


def _grouped_weights(quantized: Config) -> tuple[Any, Any]:
    groups = quantized.value("config_groups")
    if isinstance(groups, Mapping):
        for group in groups.values():
            weights = group.get("weights") if isinstance(group, Mapping) else None
            if isinstance(weights, Mapping):
                return weights.get("num_bits"), weights.get("group_size")
    return None, None


def _problems(outer: Config, inner: Config) -> list[str]:
    found = []
    if inner.model_type not in FAMILIES:
        named = f"model_type “{inner.model_type}”" if inner.model_type else "model_type is missing; such a family"
        found.append(
            f"{named} is not known: read as a plain transformer, so the numbers may lack norms, biases and gates that "
            "its fields do not name."
        )
    strange = [name for name in _NOT_KNOWN if inner.fields.get(name)]
    found += [f"{name} belongs to a kind of model that is not counted here." for name in strange]
    towers = [name for name in _OTHER_TOWERS if outer.fields.get(name)]
    if towers and inner is not outer:
        found.append(f"{' and '.join(towers)}: the parameters of towers for pictures and sound are not counted.")
    return found
