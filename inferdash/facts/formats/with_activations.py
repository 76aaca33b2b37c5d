"""Methods by which activations may be quantized beside the weights: fields of a config.json -> rules."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from inferdash.facts.formats import stored
from inferdash.facts.formats.fields import (
    FIELD,
    MOST_RULES,
    Fields,
    bits_in,
    group_in,
    items_in,
    kept,
    linear,
    names_in,
    refused,
    rule,
)
from inferdash.facts.formats.rules import LINEAR, Rule
from inferdash.facts.formats.stored import WIDE, Stored
from inferdash.layers.config import UnreadFieldError

_ALGORITHMS: Final[dict[str, Callable[[int | None], Stored]]] = {
    "FP8": lambda _: stored.floating(),
    "FP8_PER_CHANNEL_PER_TOKEN": lambda _: stored.floating(),
    "FP8_PB_WO": lambda _: stored.floating(block=128),
    "FP8_PB_REAL": lambda _: stored.floating(block=128),
    "NVFP4": lambda _: stored.nvfp4(),
    "NVFP4_AWQ": lambda _: stored.nvfp4(),
    "W4A8_NVFP4_FP8": lambda _: stored.nvfp4(),
    "W4A16_NVFP4": lambda _: stored.nvfp4(weights_alone=True),
    "MXFP8": lambda _: stored.microscaled(8),
    "MXFP4": lambda _: stored.microscaled(4),
    "W4A8_MXFP4_FP8": lambda _: stored.microscaled(4),
    "W4A16_MXFP4": lambda _: stored.microscaled(4, weights_alone=True),
    "W4A16_AWQ": lambda group: stored.whole(4, group=group or 128),
    "W4A8_AWQ": lambda group: stored.whole(4, group=group or 128),
    "INT4_AWQ": lambda group: stored.whole(4, group=group or 128),
    "W8A16": lambda _: stored.whole(8, group=None),
    "INT8_SQ": lambda _: stored.whole(8, group=None, multiplied=True),
    "W8A8_SQ_PER_CHANNEL": lambda _: stored.whole(8, group=None, multiplied=True),
    "INT8_WO": lambda _: stored.whole(8, group=None),
    "INT4_WO": lambda group: stored.whole(4, group=group or 128),
    "NONE": lambda _: WIDE,
}
"""What ModelOpt calls a format."""


def fp8(fields: Fields, expert_dtype: Any) -> list[Rule]:
    """Blocks or tensors of 8-bit floats, and experts in a format of their own, as DeepSeek writes them."""
    block = fields.get("weight_block_size")
    side = block[0] if isinstance(block, list) and block and isinstance(block[0], int) and block[0] > 0 else None
    if isinstance(block, list) and len(set(map(str, block))) > 1:
        raise refused(f"blocks of {block!s:.20}")
    narrow = expert_dtype in {"fp4", "mxfp4"}  # DeepSeek-V4, whose scales have 8 bits
    rules = [linear(stored.floating(block=side, scale_bits=8 if narrow else 32))]
    if expert_dtype is not None:
        if expert_dtype not in {"fp4", "mxfp4", "fp8", "bf16"}:
            raise UnreadFieldError("expert_dtype", f"is “{expert_dtype!s:.20}”, which is not known")
        if narrow:  # activations stay at 8 bits
            rules.append(Rule(replace(stored.microscaled(4), rate="dense_fp8"), kinds=("experts",)))
        elif expert_dtype == "bf16":
            rules.append(Rule(WIDE, kinds=("experts",)))
    if isinstance(fields.get("quantized_layers"), Mapping):
        return [*rules, *_listed_layers(fields)]
    return [*rules, *kept(fields, "modules_to_not_convert", "ignored_layers", "ignore")]


def fbgemm(fields: Fields) -> list[Rule]:
    """FBGEMM's: rows of 8-bit floats."""
    return [linear(stored.floating()), *kept(fields, "modules_to_not_convert")]


def compressed_tensors(fields: Fields) -> list[Rule]:
    """LLM Compressor's: groups of modules, each with the format of its weights."""
    sparsity = fields.get("sparsity_config")
    if isinstance(sparsity, Mapping) and sparsity.get("format") not in {None, "", "dense"}:
        raise refused(f"sparsity_config {sparsity.get('format')!s:.30}")
    groups = fields.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        raise UnreadFieldError(f"{FIELD}.config_groups", "is missing")
    by_class, by_name = [], []
    for group in reversed(list(groups.values())):  # the first group that names a module holds for it
        format_ = _of_group(group, fields)
        for target in names_in(group, "targets") if "targets" in group else ["Linear"]:
            if re.fullmatch(r"\w*Linear\w*", target):
                by_class.append(linear(format_))
            elif re.fullmatch(r"\w*Embedding\w*", target):
                by_class.append(Rule(format_, kinds=("input",)))
            elif re.fullmatch(r"[A-Z]\w*(Experts?|MoE|MoeBlock)\w*", target):
                by_class.append(Rule(format_, kinds=("experts",)))
            elif re.fullmatch(r"[A-Z]\w+", target):
                raise refused(f"modules of the class {target[:40]}")
            else:
                by_name.append(rule(target, format_))
    ignored = names_in(fields, "ignore")
    if any(rule.kinds == LINEAR for rule in by_class):  # the output layer is linear too, and mostly ignored
        widest = next(rule for rule in by_class if rule.kinds == LINEAR)
        by_class.insert(0, Rule(widest.stored, kinds=("output",)))
    return [*by_class, *by_name, *(rule(name, WIDE) for name in ignored)]


def _of_group(group: Any, fields: Fields) -> Stored:
    """The format of the weights of a group of modules."""
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        return WIDE  # activations alone
    bits, strategy = bits_in(weights, "num_bits"), weights.get("strategy")
    group_size = None if strategy in {"channel", "tensor"} else group_in(weights, "group_size")
    inputs = group.get("input_activations")
    alone = not isinstance(inputs, Mapping)
    if weights.get("type") == "float" or "float" in str(group.get("format") or fields.get("format") or ""):
        block = weights.get("block_structure")
        if strategy == "block" or block:
            side = block[0] if isinstance(block, list) and block and isinstance(block[0], int) else 128
            return stored.floating(block=side, weights_alone=alone)
        found = stored.named(float_bits=int(bits), group=group_size)
        if found is None:
            raise refused(f"floating point of {bits:g} bits in groups of {group_size}")
        return Stored(found.name, found.bits, "dense_bf16" if alone else found.rate)
    narrow = not alone and inputs.get("num_bits") == 8  # noqa: PLR2004 - int8 times int8
    zeros = bits if weights.get("symmetric") is False else 0
    return stored.whole(bits, group=group_size, zeros=zeros, multiplied=narrow)


def algorithm(fields: Fields) -> Stored:
    """The format that ModelOpt's fields name.

    Raises:
        UnreadFieldError: where it is not known.
    """
    inner = fields.get("quantization")
    fields = inner if isinstance(inner, Mapping) else fields
    said = str(fields.get("quant_algo") or "").upper()
    for name in (said, said.partition("_PER_CHANNEL")[0] + "_PER_CHANNEL"):
        if name in _ALGORITHMS:
            return _ALGORITHMS[name](group_in(fields, "group_size"))
    raise refused(f"quant_algo “{said[:40]}”" if said else "no quant_algo")


def _listed_layers(fields: Fields) -> Iterator[Rule]:
    """Modules that are named one by one, each with its format."""
    layers = fields.get("quantized_layers") or {}
    if not isinstance(layers, Mapping) or len(layers) > MOST_RULES:
        raise UnreadFieldError(f"{FIELD}.quantized_layers", "is not an object of modules")
    for name, own in layers.items():
        if not isinstance(own, Mapping):
            raise UnreadFieldError(f"{FIELD}.quantized_layers", f"does not say a format for {name!s:.60}")
        yield rule(name, algorithm(own))


def modelopt(fields: Fields) -> list[Rule]:
    """NVIDIA's ModelOpt: one algorithm, or one for each module."""
    inner = fields.get("quantization")
    fields = inner if isinstance(inner, Mapping) else fields
    excluded = kept(fields, "exclude_modules", "ignore")
    if fields.get("quantized_layers"):
        return [*_listed_layers(fields), *excluded]
    if str(fields.get("quant_algo")).upper() == "MIXED_PRECISION" or not fields.get("quant_algo"):
        return compressed_tensors(fields)
    format_ = algorithm(fields)
    # Everything linear, the output layer too where it is not excluded.
    return [Rule(format_, kinds=(*LINEAR, "output")), *excluded]


def quark(fields: Fields) -> list[Rule]:
    """AMD's Quark: one format for all modules, and others for some."""

    def of(own: Any) -> Stored:
        weight = own.get("weight") if isinstance(own, Mapping) else None
        weight = weight[0] if isinstance(weight, list) and weight else weight
        if not isinstance(weight, Mapping):
            return WIDE
        kind, group = str(weight.get("dtype")), group_in(weight, "group_size")
        alone = not isinstance(own.get("input_tensors"), Mapping | list)
        if kind.startswith("fp8"):
            return stored.floating(weights_alone=alone)
        if kind == "fp4":
            return stored.microscaled(4, weights_alone=alone) if group == 32 else stored.nvfp4()  # noqa: PLR2004
        if kind.startswith("fp6"):
            return stored.microscaled(6, weights_alone=alone)
        bits = re.fullmatch(r"u?int(\d)", kind)
        if bits is None:
            raise refused(f"dtype “{kind[:30]}”")
        return stored.whole(int(bits[1]), group=group, multiplied=not alone)

    rules = [linear(of(fields.get("global_quant_config")))]
    rules += [rule(name, of(own)) for name, own in reversed(items_in(fields, "layer_quant_config"))]
    return [*rules, *kept(fields, "exclude")]


def torchao(fields: Fields) -> list[Rule]:
    """TorchAO's: a configuration for all modules."""
    kind: Any = fields.get("quant_type")
    own: Fields = fields.get("quant_type_kwargs") or {}
    if isinstance(kind, Mapping):
        default = kind.get("default")
        if not isinstance(default, Mapping) or len(kind) > 1:
            raise refused("torchao with modules of their own")
        kind, own = str(default.get("_type")), default.get("_data") or {}
    if not isinstance(kind, str) or not isinstance(own, Mapping):
        raise refused("no quant_type")
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower().removesuffix("_config")
    rules = [linear(_of_torchao(plain, own))]
    if fields.get("include_input_output_embeddings"):
        rules.append(Rule(_of_torchao(plain, own), kinds=("input", "output")))
    return [*rules, *kept(fields, "modules_to_not_convert")]


def _of_torchao(kind: str, own: Fields) -> Stored:
    if re.match(r"(float8|e4m3)", kind):
        return stored.floating(weights_alone="weight_only" in kind)
    if kind.startswith("int8"):
        return stored.whole(8, group=None, multiplied="activation" in kind and "int4" not in kind)
    if kind.startswith("int4_weight_only"):
        return stored.whole(4, group=group_in(own, "group_size") or 128, zeros=16)
    raise refused(f"quant_type “{kind[:40]}”")
