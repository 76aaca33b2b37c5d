"""A model's config.json becomes an architecture: recognised by its fields, layer by layer."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from pydantic import ValidationError

from inferdash.facts.formats.declared import QUANTIZED, STORED, formats_of
from inferdash.facts.models.architecture import Architecture, Blocks
from inferdash.layers.config import HIDDEN, Config, UnreadFieldError
from inferdash.layers.families import FAMILIES
from inferdash.layers.feed_forward import Experts, GatedFeedForward
from inferdash.layers.kinds import MIXERS
from inferdash.layers.mamba import StateSpace
from inferdash.layers.spellings import usual
from inferdash.layers.understood import told
from inferdash.quantities import count

LARGEST_FILE: Final = 5_000_000
"""Characters of a file that are read at most."""
_MOST_KEPT: Final = 10**8
"""Numbers that a layer keeps of one token at most: a thousand times those of the models there are."""
_TEXT_PARTS: Final = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where a file of a vision model and text keeps the fields of its text model."""
_OTHER_TOWERS: Final = ("vision_config", "audio_config", "vision_tower_config", "vit_config")


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
            raise UnreadConfigError("The file is not UTF-8 text.") from None
    if max(text.count("["), text.count("{")) > LARGEST_FILE // 100:
        raise UnreadConfigError("The file is nested too deeply for a config.json.")
    try:
        fields = json.loads(text.lstrip("\ufeff"))
        json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UnreadConfigError("The file has half a character (a lone surrogate), so it is not valid text.") from None
    except RecursionError:
        raise UnreadConfigError("The file is nested too deeply for a config.json.") from None
    except ValueError as error:
        line = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadConfigError(f"The file is not JSON{line}.") from None
    if not isinstance(fields, dict):
        raise UnreadConfigError("The file is not a JSON object, as a config.json is.")
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
    outer = inner = Config(fields)
    try:
        inner, where = _text_part(outer)
        outer = outer if where else inner
        _refuse_other_files(inner)
        hidden = inner.hidden  # before the layers, so that a file of another tool is told what it lacks
        layers = [blocks for layer in range(inner.layers) for blocks in _layer(inner, layer)]
        architecture = _architecture(outer, inner, hidden, layers, name=name, hf_id=hf_id)
        architecture = formats_of(outer, inner, architecture, layers)
        small = told(inner)
    except UnreadConfigError:
        raise
    except UnreadFieldError as problem:
        raise UnreadConfigError(str(problem)) from None
    except ValidationError as failure:
        error = failure.errors(include_url=False)[0]
        place = ".".join(str(part) for part in error["loc"]) or "The file"
        raise UnreadConfigError(f"{place}: {error['msg'][0].lower()}{error['msg'][1:]}.") from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        place = inner.last or outer.last or "The file"
        raise UnreadConfigError(f"{place} has a value that no config.json has there.") from None
    used: dict[str, Any] = dict(outer.used)
    if where:
        used[where] = dict(inner.used)
        if "model_type" not in inner.used and isinstance(inner.fields.get("model_type"), str):
            used[where]["model_type"] = inner.fields["model_type"]
    if STORED in outer.fields:
        used[STORED] = outer.fields[STORED]
    return Found(architecture, (*_problems(outer, inner), *small), used)


_OTHER_FILES: Final = {
    "quantization": "ModelOpt’s number formats, which belong in config.json as quantization_config",
    "weight_map": "the index of a model's files",
    "added_tokens": "a tokenizer",
    "added_tokens_decoder": "the settings of a tokenizer",
    "tokenizer_class": "the settings of a tokenizer",
    "_class_name": "a part of a diffusion model",
    "_diffusers_version": "a part of a diffusion model",
    "image_processor_type": "the settings of an image processor",
    "dependencies": "a package.json",
    "n_kv_heads": "a params.json",
    "temperature": "the sampling settings",
}
"""A field that no config.json without a hidden size has -> what the file is."""


def _refuse_other_files(config: Config) -> None:
    if not any(name in config.fields for name in HIDDEN):
        for name, what in _OTHER_FILES.items():
            if name in config.fields:
                raise UnreadConfigError(f"The file is {what} ({name}), not a config.json with a hidden_size.")
    _refuse_other_kinds(config)


_ENCODERS: Final = {
    "bert": "an encoder that generates no text",
    "roberta": "an encoder that generates no text",
    "xlm-roberta": "an encoder that generates no text",
    "modernbert": "an encoder that generates no text",
    "t5": "an encoder-decoder model",
    "mt5": "an encoder-decoder model",
    "bart": "an encoder-decoder model",
    "whisper": "an encoder-decoder model",
    "clip": "a vision model",
    "vit": "a vision model",
}
"""`model_type` -> what the model is, where it is no language model that writes on."""


def _refuse_other_kinds(config: Config) -> None:
    """Refuses a family that is not known, and says which are."""
    if not config.model_type or config.read_as:
        return
    what = _ENCODERS.get(config.model_type, "")
    said = f"is {what}" if what else "is not a kind of model that is read here"
    raise UnreadConfigError(
        f"model_type “{_plain_name(config.model_type)}” {said}. Known are {len(FAMILIES)} kinds, such as llama, qwen3, "
        "deepseek_v3 and mamba2; docs/config-files.md lists them."
    )


def _text_part(outer: Config) -> tuple[Config, str]:
    for name in _TEXT_PARTS:
        part = outer.part(name)
        if part:
            deeper, _ = _text_part(part)
            return Config(usual(deeper.fields)), name
    return Config(usual(outer.fields)), ""


def _architecture(
    outer: Config, inner: Config, hidden: int, layers: list[Blocks], *, name: str, hf_id: str
) -> Architecture:
    mixers = [layer.attention for layer in layers if layer.attention]
    kept = max((int(mixer.state_numbers + mixer.cached_numbers(1)) for mixer in mixers), default=0)
    if not kept:
        raise UnreadConfigError("No layer keeps a cache or a state, so this is not a language model.")
    if kept > _MOST_KEPT:
        raise UnreadConfigError(f"A layer would cache {kept:,} numbers per token, more than any model does.")
    tied = inner.value("tie_word_embeddings")
    if tied is None:
        tied = outer.value("tie_word_embeddings")
    if tied is not None and not isinstance(tied, bool):
        raise UnreadFieldError("tie_word_embeddings", "is neither true nor false")
    further = _further_layers(inner)
    return Architecture(
        name=name or _plain_name(outer.value("_name_or_path")) or _plain_name(inner.model_type) or "A model",
        maker="",
        source=("its config.json",),
        checked=date.today(),  # noqa: DTZ011 - the day of the reader
        hf_id=hf_id,
        hidden=hidden,
        vocabulary=inner.whole("vocab_size", "padded_vocab_size"),
        tied_embeddings=inner.family.tied if tied is None else tied,
        context=inner.whole("max_position_embeddings", "n_positions", "max_sequence_length", default=None),
        final_norms=inner.family.final_norms,
        head_bias=inner.family.head_bias or any(inner.flag(name) for name in inner.family.head_bias_switches),
        further_rows=_further_rows(inner),
        token_vocabulary=inner.whole("vocab_size_per_layer_input", default=0, least=0),
        mtp=_further(layers[-1], further) if further and _says_mtp(inner) else None,
        mtp_tables=inner.family.mtp_tables,
        blocks=_grouped(layers),
    )


def _further_rows(config: Config) -> int:
    """Rows of learned positions; the tokens of pictures that Llama 3.2 reads and never writes."""
    if config.read_as == "mllama_text_model":
        return 8
    beyond = config.family.positions
    if beyond is None:
        return 0
    return beyond + int(config.whole("max_position_embeddings", "n_positions"))


def _plain_name(named: Any) -> str:
    """What a file calls itself, in signs that no page takes for markup or an address."""
    text = named if isinstance(named, str) else ""
    plain = re.findall(r"[A-Za-z0-9 +-]|\.(?=\d)|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])", text.rpartition("/")[2])
    return "".join(plain)[:60].strip()


def _further_layers(config: Config) -> int:
    """Layers that predict further tokens."""
    return int(config.whole("num_nextn_predict_layers", "mtp_num_hidden_layers", default=0, least=0))


def _says_mtp(config: Config) -> bool:
    """Whether the layer that predicts further tokens is one like the last, as in the families that say how many."""
    return config.value("kv_lora_rank", "compress_ratios") is not None or config.read_as == "glm4_moe"


def _further(last: Blocks, count: int) -> Blocks:
    """Layers like the last one, which choose the tokens that they read themselves."""
    attention = last.attention
    indexer = getattr(attention, "indexer", None)
    if attention and indexer:
        attention = attention.model_copy(update={"indexer": indexer.model_copy(update={"own": True})})
    return last.model_copy(update={"count": count, "attention": attention})


def _layer(config: Config, layer: int) -> tuple[Blocks, ...]:
    kind = config.kinds[layer]
    config = config.of_layer(layer)
    attention = None
    if kind != "none" and _attends(config, layer):
        attention = next((found for mixer in MIXERS if (found := mixer.from_config(config, layer))), None)
        if attention is None:
            raise UnreadFieldError("layer_types", f"names a layer of “{kind}” whose fields are missing")
    alone = config.read_as == "nemotron_h" and kind != "none"
    experts = None if alone else Experts.from_config(config, layer)
    dense = None if alone else GatedFeedForward.from_config(config, layer)
    whole = Blocks(
        count=1,
        attention=attention,
        feed_forward=experts or dense,
        beside=dense if experts else None,
        norms=_norms_of(
            config, attention=bool(attention), networks=bool(experts or dense), both=bool(experts and dense)
        ),
        numbers=config.family.numbers,
        token_input=config.whole("hidden_size_per_layer_input", default=0, least=0),
        alternating=config.whole("altup_num_inputs", default=0, least=0),
        low_rank=config.whole("laurel_rank", default=0, least=0),
        streams=config.whole("hc_mult", default=0, least=0),
    )
    if config.read_as == "falcon_h1":  # a second mixer beside attention
        beside = StateSpace.from_config(config.with_every("mamba"), layer)
        return whole, Blocks(count=1, attention=beside, norms=0, continues=True)
    if (
        config.read_as == "longcat_flash"
    ):  # a layer is two of attention and dense network, with experts beside the first
        return whole, whole.model_copy(update={"feed_forward": dense, "beside": None, "continues": True})
    return (whole,)


def _attends(config: Config, layer: int) -> bool:
    """Whether a layer attends: in some models a search took attention out of layers."""
    listed = config.list("num_key_value_heads_per_layer")
    return not listed or listed[layer] != 0


def _norms_of(config: Config, *, attention: bool, networks: bool, both: bool) -> int:
    """Vectors of norms of a layer."""
    if config.read_as in {"nemotron-nas", "deci"}:
        return attention + networks
    return _norms(config) + (3 if both and config.flag("enable_moe_block") else 0)


def _norms(config: Config) -> int:
    """Vectors of norms of a layer: those of the family, or those that a switch of its files leaves."""
    family = config.family
    if not config.flag("use_post_norm", default=True) and config.read_as == "hyperclovax":
        return family.norms - 2
    if family.norms_beside is not None and config.flag("use_parallel_residual"):
        return family.norms_beside
    if not config.flag("use_sandwich_norm", default=True):
        return family.norms - 2
    apart = 2 if config.flag("new_decoder_architecture") else 1
    one_each = config.whole("num_ln_in_parallel_attn", default=apart) > 1
    return family.norms + (2 if one_each or not config.flag("parallel_attn", default=True) else 0)


def _grouped(layers: list[Blocks]) -> tuple[Blocks, ...]:
    """Equal layers together, each group where its first layer stands."""
    counts: dict[str, int] = {}
    first: dict[str, Blocks] = {}
    for layer in layers:
        key = layer.model_dump_json()
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, layer)
    return tuple(first[key].model_copy(update={"count": count}) for key, count in counts.items())


BESIDE: Final = "hf_quant_config.json"
"""A file that ModelOpt puts beside a config.json, which then does not say the number formats itself."""


def with_formats(fields: Mapping[str, Any], beside: str | bytes) -> Mapping[str, Any]:
    """The fields of a config.json with those of the file beside it that says the number formats.

    Raises:
        UnreadConfigError: where that file is none.
    """
    said = parse(beside)
    return {**fields, "quantization_config": said} if isinstance(said.get("quantization"), Mapping) else fields


def says_formats(fields: Mapping[str, Any]) -> bool:
    """Whether a config.json says its number formats itself."""
    parts = [fields, *(part for name in _TEXT_PARTS if isinstance(part := fields.get(name), Mapping))]
    return any(part.get(name) for part in parts for name in (*QUANTIZED, STORED))


def _problems(outer: Config, inner: Config) -> list[str]:
    found = [*inner.assumed.values()]
    further = _further_layers(inner)
    if further and not _says_mtp(inner):
        found.append(
            f"Not counted: {count(further, 'layer')} for multi-token prediction (MTP), which its files may contain."
        )
    if inner.read_as and inner.model_type and inner.read_as != inner.model_type:
        found.append(
            f"model_type “{_plain_name(inner.model_type)}” is not known, but has the fields of “{inner.read_as}” and "
            "is read as one; norms and biases that no field names may be missing."
        )
    if not inner.read_as:
        found.append(
            "model_type is missing: read as a plain transformer; norms and biases that no field names may be missing."
        )
    if inner.read_as == "mllama_text_model":
        found.append("Cross-attention layers for images are counted; without images they are idle and cache nothing.")
    if inner.fields.get("zero_expert_num"):
        found.append(
            "Some of the experts chosen for a token pass it through unchanged, so active parameters are an average."
        )
    towers = [name for name in _OTHER_TOWERS if outer.fields.get(name)]
    if towers and inner is not outer:
        found.append(f"{' and '.join(towers)}: parameters of vision and audio encoders are not counted.")
    return found
