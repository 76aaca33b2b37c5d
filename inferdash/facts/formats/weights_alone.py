"""Methods that quantize weights alone: fields of a config.json -> rules."""

import re
from collections.abc import Mapping

from inferdash.facts.formats import stored
from inferdash.facts.formats.fields import (
    FIELD,
    Fields,
    bits_in,
    group_in,
    items_in,
    kept,
    linear,
    refused,
    rule,
)
from inferdash.facts.formats.rules import LINEAR, Rule
from inferdash.facts.formats.stored import WIDE, Stored
from inferdash.layers.config import UnreadFieldError


def gptq(fields: Fields) -> list[Rule]:
    """GPTQ's, and GPTQModel's with rules for some modules."""

    def of(own: Fields) -> Stored:
        both = {**fields, **own}
        bits, group = bits_in(both, "bits", "w_bit"), group_in(both, "group_size", "q_group_size")
        return stored.whole(bits, group=group, zeros=bits if group else 0)

    rules = [linear(of({}))]
    blocks = fields.get("modules_in_block_to_quantize")
    if blocks:
        flat = [name for each in blocks for name in (each if isinstance(each, list) else [each])]
        rules = [Rule(of({}), name=name) for name in flat if isinstance(name, str)]
    if fields.get("lm_head") is True:
        rules.append(Rule(of({}), kinds=("output",)))
    dynamic = fields.get("dynamic") or {}
    if not isinstance(dynamic, Mapping):
        raise UnreadFieldError(f"{FIELD}.dynamic", "is not an object of modules")
    for pattern, own in reversed([*dynamic.items()]):  # the first that names a module holds for it
        sign, plain = (pattern[:1], pattern[2:]) if pattern[:2] in {"+:", "-:"} else ("+", pattern)
        format_ = WIDE if sign == "-" else of(own if isinstance(own, Mapping) else {})
        rules.append(rule(f"re:{plain}", format_))
    return [*rules, *kept(fields, "modules_to_not_convert")]


def awq(fields: Fields) -> list[Rule]:
    """AWQ's: groups of few bits."""
    bits, group = bits_in(fields, "bits", "w_bit"), group_in(fields, "group_size", "q_group_size")
    zeros = bits if fields.get("zero_point", True) and group else 0
    return [
        linear(stored.whole(bits, group=group, zeros=zeros)),
        *kept(fields, "modules_to_not_convert"),
    ]


def auto_round(fields: Fields) -> list[Rule]:
    """Intel's AutoRound: bits for all modules, and others for some."""

    def of(own: Fields) -> Stored:
        both = {**fields, **own}
        bits = bits_in(both, "bits")
        if bits >= 16:  # noqa: PLR2004 - as wide as it was
            return WIDE
        kind = str(both.get("data_type") or "int")
        if not kind.startswith("int"):
            found = stored.named(float_bits=int(bits), group=group_in(both, "group_size"))
            if found is None:
                raise refused(f"data_type “{kind[:30]}”")
            return found
        group = group_in(both, "group_size")
        return stored.whole(bits, group=group, zeros=bits if group else 0)

    rules = [linear(of({}))]
    for name, own in items_in(fields, "extra_config"):
        rules.append(rule(name if not re.search(r"[\\()|]|\.\*", name) else f"re:{name}", of(own)))
    return [*rules, *kept(fields, "modules_to_not_convert")]


def mxfp4(fields: Fields) -> list[Rule]:
    """OpenAI's: experts alone."""
    return [Rule(stored.microscaled(4), kinds=("experts",)), *kept(fields, "modules_to_not_convert")]


def fp_quant(fields: Fields) -> list[Rule]:
    """FP-Quant's: microscaled 4 bits."""
    kind = str(fields.get("forward_dtype") or "mxfp4")
    if kind not in {"mxfp4", "nvfp4"}:
        raise refused(f"forward_dtype “{kind[:30]}”")
    format_ = stored.nvfp4() if kind == "nvfp4" else stored.microscaled(4)
    return [linear(format_), *kept(fields, "modules_to_not_convert")]


def bitnet(fields: Fields) -> list[Rule]:
    """BitNet's: three values to a number."""
    if fields.get("quantization_mode") == "online":
        return []  # the files hold the masters at 16 bits
    return [linear(stored.TERNARY), *kept(fields, "modules_to_not_convert")]


def bitsandbytes(fields: Fields) -> list[Rule]:
    """BitsAndBytes': 8 bits, or 4 in blocks whose scales may be quantized again."""
    if fields.get("load_in_4bit") or fields.get("_load_in_4bit"):
        format_ = stored.normal_float(twice=bool(fields.get("bnb_4bit_use_double_quant")))
    elif fields.get("load_in_8bit") or fields.get("_load_in_8bit"):
        format_ = stored.whole(8, group=None, multiplied=True)
    else:
        raise refused("bitsandbytes without load_in_4bit or load_in_8bit")
    return [linear(format_), *kept(fields, "llm_int8_skip_modules", "modules_to_not_convert")]


def mlx(fields: Fields) -> list[Rule]:
    """MLX's: bits and groups, and others for some modules."""

    def of(own: Fields) -> Stored:
        both = {**{key: value for key, value in fields.items() if not isinstance(value, Mapping | bool)}, **own}
        bits, mode = bits_in(both, "bits"), str(both.get("mode") or "affine")
        if mode == "affine":  # a scale and an offset of 16 bits a group
            return stored.whole(bits, group=group_in(both, "group_size") or 64, zeros=16)
        if mode == "nvfp4":
            return stored.nvfp4(weights_alone=True)
        if mode in {"mxfp4", "mxfp8"}:
            return stored.microscaled(int(bits), weights_alone=True)
        raise refused(f"mode “{mode[:30]}”")

    rules = [Rule(of({}), kinds=(*LINEAR, "router", "input", "output"))]
    for name, own in fields.items():
        if isinstance(own, Mapping):
            rules.append(rule(name, of(own)))
        elif own is False and "." in name:
            rules.append(rule(name, WIDE))
    return rules


def quanto(fields: Fields) -> list[Rule]:
    """Quanto's: one format for all."""
    kind = str(fields.get("weights") or "int8")
    known = {
        "float8": stored.floating(weights_alone=True),
        "int8": stored.whole(8, group=None),
        "int4": stored.whole(4, group=128, zeros=16),
        "int2": stored.whole(2, group=128, zeros=16),
    }
    if kind not in known:
        raise refused(f"weights “{kind[:30]}”")
    return [linear(known[kind]), *kept(fields, "modules_to_not_convert")]


def hqq(fields: Fields) -> list[Rule]:
    """HQQ's: bits and groups for all modules, or for some."""

    def of(own: Fields) -> Stored:
        inner = own.get("weight_quant_params")
        inner = inner if isinstance(inner, Mapping) else own
        return stored.whole(bits_in(inner, "nbits", "bits"), group=group_in(inner, "group_size"), zeros=16)

    own = fields.get("quant_config")
    if not isinstance(own, Mapping):
        own = fields
    if "weight_quant_params" in own or "nbits" in own or "bits" in own:
        rules = [linear(of(own))]
    else:  # modules by their names, those that are not named stay
        rules = [Rule(of(each), name=name) for name, each in own.items() if isinstance(each, Mapping)]
    return [*rules, *kept(fields, "skip_modules", "modules_to_not_convert")]


def exl2(fields: Fields) -> list[Rule]:
    """ExLlamaV2 and V3 say the mean of their matrices, and the bits of the output layer."""
    bits = bits_in(fields, "bits")
    head = bits_in(fields, "head_bits") if "head_bits" in fields else 6
    return [
        linear(Stored(f"ExLlama, {bits:g} bits in the mean", bits)),
        Rule(Stored(f"ExLlama, {head:g} bits", head), kinds=("output",)),
    ]


def eetq(fields: Fields) -> list[Rule]:
    """EETQ's: rows of 8 bits."""
    return [linear(stored.whole(8, group=None)), *kept(fields, "modules_to_not_convert")]
