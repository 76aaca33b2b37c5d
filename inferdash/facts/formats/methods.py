"""What the methods of quantization write into a config.json -> the rules of the checkpoint's format.

Each reader gets the fields of `quantization_config` and gives its rules, the last of which holds for a module. What
decides on a whole matrix and is not known is refused with its name.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from inferdash.facts.formats import stored
from inferdash.facts.formats.rules import LINEAR, Rule, rule_of
from inferdash.facts.formats.stored import WIDE, Stored
from inferdash.layers.config import UnreadFieldError

Fields: TypeAlias = Mapping[str, Any]
FIELD: Final = "quantization_config"
_MOST_RULES: Final = 200_000


def rules_of(fields: Fields, *, expert_dtype: Any = None) -> list[Rule]:
    """The rules that the fields of a quantization say.

    Args:
        fields: those of `quantization_config`, or of MLX's `quantization`.
        expert_dtype: what the file says beside it of its experts.

    Raises:
        UnreadFieldError: where the method, or a format that it names, is not known.
    """
    method = str(fields.get("quant_method") or "").lower()
    producer = fields.get("producer")
    made_by = str(producer.get("name") if isinstance(producer, Mapping) else "").lower()
    if method == "fp8":
        return _fp8(fields, expert_dtype)
    nested = isinstance(fields.get("quantization"), Mapping)
    if "modelopt" in method + made_by or (not method and ("quant_algo" in fields or nested)):
        return _modelopt(fields)
    if not method and "bits" in fields:
        method = "mlx"
    reader = METHODS.get(method)
    if reader is None:
        raise UnreadFieldError(FIELD, f"says “{method[:40] or 'no method'}”, which is not read here. {_HELP}")
    return reader(fields)


_HELP: Final = "Without it the file is read at 16 bits"


def _refused(what: str) -> UnreadFieldError:
    return UnreadFieldError(FIELD, f"says {what}, which is not known here. {_HELP}")


def _names(fields: Fields, *fields_of: str) -> list[str]:
    """Names of modules that a file lists, in any of these fields."""
    found = []
    for field in fields_of:
        listed = fields.get(field) or ()
        if isinstance(listed, str | Mapping) or not isinstance(listed, Sequence) or len(listed) > _MOST_RULES:
            raise UnreadFieldError(f"{FIELD}.{field}", "is not a list of modules")
        found += [name for name in listed if isinstance(name, str) and name]
    return found


def _rule(text: str, format_: Stored) -> Rule:
    try:
        return rule_of(text, format_)
    except re.error:
        raise UnreadFieldError(FIELD, f"names modules by “{text[:40]}”, which is not a regular expression") from None


def _kept(fields: Fields, *names: str) -> list[Rule]:
    """Modules that stay at 16 bits."""
    return [_rule(name, WIDE) for name in _names(fields, *names)]


def _number(fields: Fields, *names: str) -> int | None:
    """The first of these fields that holds a whole number; None where none does."""
    for name in names:
        found = fields.get(name)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    return None


def _bits(fields: Fields, *names: str) -> float:
    for name in names:
        found = fields.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool) and 1 <= found <= 16:  # noqa: PLR2004
            return found
    raise UnreadFieldError(f"{FIELD}.{names[0]}", "does not give the number of bits")


def _group(fields: Fields, *names: str) -> int | None:
    """Numbers that share a scale; None where a row or more does."""
    found = _number(fields, *names)
    return found if found and found > 0 else None


def _linear(format_: Stored) -> Rule:
    return Rule(format_, kinds=LINEAR)


def _fp8(fields: Fields, expert_dtype: Any) -> list[Rule]:
    block = fields.get("weight_block_size")
    side = block[0] if isinstance(block, list) and block and isinstance(block[0], int) and block[0] > 0 else None
    if isinstance(block, list) and len(set(map(str, block))) > 1:
        raise _refused(f"blocks of {block!s:.20}")
    narrow = expert_dtype in {"fp4", "mxfp4"}  # DeepSeek-V4, whose scales have 8 bits
    rules = [_linear(stored.floating(block=side, scale_bits=8 if narrow else 32))]
    if expert_dtype is not None:
        if expert_dtype not in {"fp4", "mxfp4", "fp8", "bf16"}:
            raise UnreadFieldError("expert_dtype", f"is “{expert_dtype!s:.20}”, which is not known")
        if narrow:  # activations stay at 8 bits
            rules.append(Rule(replace(stored.microscaled(4), rate="dense_fp8"), kinds=("experts",)))
        elif expert_dtype == "bf16":
            rules.append(Rule(WIDE, kinds=("experts",)))
    if isinstance(fields.get("quantized_layers"), Mapping):
        return [*rules, *_listed_layers(fields)]
    return [*rules, *_kept(fields, "modules_to_not_convert", "ignored_layers", "ignore")]


def _fbgemm(fields: Fields) -> list[Rule]:
    return [_linear(stored.floating()), *_kept(fields, "modules_to_not_convert")]


def _compressed_tensors(fields: Fields) -> list[Rule]:
    sparsity = fields.get("sparsity_config")
    if isinstance(sparsity, Mapping) and sparsity.get("format") not in {None, "", "dense"}:
        raise _refused(f"sparsity_config {sparsity.get('format')!s:.30}")
    groups = fields.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        raise UnreadFieldError(f"{FIELD}.config_groups", "is missing")
    by_class, by_name = [], []
    for group in reversed(list(groups.values())):  # the first group that names a module holds for it
        format_ = _of_group(group, fields)
        for target in _names(group, "targets") if "targets" in group else ["Linear"]:
            if re.fullmatch(r"\w*Linear\w*", target):
                by_class.append(_linear(format_))
            elif re.fullmatch(r"\w*Embedding\w*", target):
                by_class.append(Rule(format_, kinds=("input",)))
            elif re.fullmatch(r"[A-Z]\w*(Experts?|MoE|MoeBlock)\w*", target):
                by_class.append(Rule(format_, kinds=("experts",)))
            elif re.fullmatch(r"[A-Z]\w+", target):
                raise _refused(f"modules of the class {target[:40]}")
            else:
                by_name.append(_rule(target, format_))
    ignored = _names(fields, "ignore")
    if any(rule.kinds == LINEAR for rule in by_class):  # the output layer is linear too, and mostly ignored
        widest = next(rule for rule in by_class if rule.kinds == LINEAR)
        by_class.insert(0, Rule(widest.stored, kinds=("output",)))
    return [*by_class, *by_name, *(_rule(name, WIDE) for name in ignored)]


def _of_group(group: Any, fields: Fields) -> Stored:
    """The format of the weights of a group of modules."""
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        return WIDE  # activations alone
    bits, strategy = _bits(weights, "num_bits"), weights.get("strategy")
    group_size = None if strategy in {"channel", "tensor"} else _group(weights, "group_size")
    inputs = group.get("input_activations")
    alone = not isinstance(inputs, Mapping)
    if weights.get("type") == "float" or "float" in str(group.get("format") or fields.get("format") or ""):
        block = weights.get("block_structure")
        if strategy == "block" or block:
            side = block[0] if isinstance(block, list) and block and isinstance(block[0], int) else 128
            return stored.floating(block=side, weights_alone=alone)
        found = stored.named(float_bits=int(bits), group=group_size)
        if found is None:
            raise _refused(f"floating point of {bits:g} bits in groups of {group_size}")
        return Stored(found.name, found.bits, "dense_bf16" if alone else found.rate)
    narrow = not alone and inputs.get("num_bits") == 8  # noqa: PLR2004 - int8 times int8
    zeros = bits if weights.get("symmetric") is False else 0
    return stored.whole(bits, group=group_size, zeros=zeros, multiplied=narrow)


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
            return _ALGORITHMS[name](_group(fields, "group_size"))
    raise _refused(f"quant_algo “{said[:40]}”" if said else "no quant_algo")


def _listed_layers(fields: Fields) -> Iterator[Rule]:
    """Modules that are named one by one, each with its format."""
    layers = fields.get("quantized_layers") or {}
    if not isinstance(layers, Mapping) or len(layers) > _MOST_RULES:
        raise UnreadFieldError(f"{FIELD}.quantized_layers", "is not an object of modules")
    for name, own in layers.items():
        if not isinstance(own, Mapping):
            raise UnreadFieldError(f"{FIELD}.quantized_layers", f"does not say a format for {name!s:.60}")
        yield _rule(name, algorithm(own))


def _modelopt(fields: Fields) -> list[Rule]:
    inner = fields.get("quantization")
    fields = inner if isinstance(inner, Mapping) else fields
    excluded = _kept(fields, "exclude_modules", "ignore")
    if fields.get("quantized_layers"):
        return [*_listed_layers(fields), *excluded]
    if str(fields.get("quant_algo")).upper() == "MIXED_PRECISION" or not fields.get("quant_algo"):
        return _compressed_tensors(fields)
    format_ = algorithm(fields)
    # Everything linear, the output layer too where it is not excluded.
    return [Rule(format_, kinds=(*LINEAR, "output")), *excluded]


def _gptq(fields: Fields) -> list[Rule]:
    def of(own: Fields) -> Stored:
        both = {**fields, **own}
        bits, group = _bits(both, "bits", "w_bit"), _group(both, "group_size", "q_group_size")
        return stored.whole(bits, group=group, zeros=bits if group else 0)

    rules = [_linear(of({}))]
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
        rules.append(_rule(f"re:{plain}", format_))
    return [*rules, *_kept(fields, "modules_to_not_convert")]


def _awq(fields: Fields) -> list[Rule]:
    bits, group = _bits(fields, "bits", "w_bit"), _group(fields, "group_size", "q_group_size")
    zeros = bits if fields.get("zero_point", True) and group else 0
    return [
        _linear(stored.whole(bits, group=group, zeros=zeros)),
        *_kept(fields, "modules_to_not_convert"),
    ]


def _auto_round(fields: Fields) -> list[Rule]:
    def of(own: Fields) -> Stored:
        both = {**fields, **own}
        bits = _bits(both, "bits")
        if bits >= 16:  # noqa: PLR2004 - as wide as it was
            return WIDE
        kind = str(both.get("data_type") or "int")
        if not kind.startswith("int"):
            found = stored.named(float_bits=int(bits), group=_group(both, "group_size"))
            if found is None:
                raise _refused(f"data_type “{kind[:30]}”")
            return found
        group = _group(both, "group_size")
        return stored.whole(bits, group=group, zeros=bits if group else 0)

    rules = [_linear(of({}))]
    for name, own in _items(fields, "extra_config"):
        rules.append(_rule(name if not re.search(r"[\\()|]|\.\*", name) else f"re:{name}", of(own)))
    return [*rules, *_kept(fields, "modules_to_not_convert")]


def _items(fields: Fields, field: str) -> list[tuple[str, Fields]]:
    """A group of modules with fields of their own."""
    found = fields.get(field) or {}
    if not isinstance(found, Mapping) or len(found) > _MOST_RULES:
        raise UnreadFieldError(f"{FIELD}.{field}", "is not an object of modules")
    return [(str(name), own) for name, own in found.items() if isinstance(own, Mapping)]


def _mxfp4(fields: Fields) -> list[Rule]:
    """OpenAI's: experts alone."""
    return [Rule(stored.microscaled(4), kinds=("experts",)), *_kept(fields, "modules_to_not_convert")]


def _fp_quant(fields: Fields) -> list[Rule]:
    kind = str(fields.get("forward_dtype") or "mxfp4")
    if kind not in {"mxfp4", "nvfp4"}:
        raise _refused(f"forward_dtype “{kind[:30]}”")
    format_ = stored.nvfp4() if kind == "nvfp4" else stored.microscaled(4)
    return [_linear(format_), *_kept(fields, "modules_to_not_convert")]


def _bitnet(fields: Fields) -> list[Rule]:
    if fields.get("quantization_mode") == "online":
        return []  # the files hold the masters at 16 bits
    return [_linear(stored.TERNARY), *_kept(fields, "modules_to_not_convert")]


def _bitsandbytes(fields: Fields) -> list[Rule]:
    if fields.get("load_in_4bit") or fields.get("_load_in_4bit"):
        format_ = stored.normal_float(twice=bool(fields.get("bnb_4bit_use_double_quant")))
    elif fields.get("load_in_8bit") or fields.get("_load_in_8bit"):
        format_ = stored.whole(8, group=None, multiplied=True)
    else:
        raise _refused("bitsandbytes without load_in_4bit or load_in_8bit")
    return [_linear(format_), *_kept(fields, "llm_int8_skip_modules", "modules_to_not_convert")]


def _mlx(fields: Fields) -> list[Rule]:
    def of(own: Fields) -> Stored:
        both = {**{key: value for key, value in fields.items() if not isinstance(value, Mapping | bool)}, **own}
        bits, mode = _bits(both, "bits"), str(both.get("mode") or "affine")
        if mode == "affine":  # a scale and an offset of 16 bits a group
            return stored.whole(bits, group=_group(both, "group_size") or 64, zeros=16)
        if mode == "nvfp4":
            return stored.nvfp4(weights_alone=True)
        if mode in {"mxfp4", "mxfp8"}:
            return stored.microscaled(int(bits), weights_alone=True)
        raise _refused(f"mode “{mode[:30]}”")

    rules = [Rule(of({}), kinds=(*LINEAR, "router", "input", "output"))]
    for name, own in fields.items():
        if isinstance(own, Mapping):
            rules.append(_rule(name, of(own)))
        elif own is False and "." in name:
            rules.append(_rule(name, WIDE))
    return rules


def _torchao(fields: Fields) -> list[Rule]:
    kind: Any = fields.get("quant_type")
    own: Fields = fields.get("quant_type_kwargs") or {}
    if isinstance(kind, Mapping):
        default = kind.get("default")
        if not isinstance(default, Mapping) or len(kind) > 1:
            raise _refused("torchao with modules of their own")
        kind, own = str(default.get("_type")), default.get("_data") or {}
    if not isinstance(kind, str) or not isinstance(own, Mapping):
        raise _refused("no quant_type")
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower().removesuffix("_config")
    rules = [_linear(_of_torchao(plain, own))]
    if fields.get("include_input_output_embeddings"):
        rules.append(Rule(_of_torchao(plain, own), kinds=("input", "output")))
    return [*rules, *_kept(fields, "modules_to_not_convert")]


def _of_torchao(kind: str, own: Fields) -> Stored:
    if re.match(r"(float8|e4m3)", kind):
        return stored.floating(weights_alone="weight_only" in kind)
    if kind.startswith("int8"):
        return stored.whole(8, group=None, multiplied="activation" in kind and "int4" not in kind)
    if kind.startswith("int4_weight_only"):
        return stored.whole(4, group=_group(own, "group_size") or 128, zeros=16)
    raise _refused(f"quant_type “{kind[:40]}”")


def _quanto(fields: Fields) -> list[Rule]:
    kind = str(fields.get("weights") or "int8")
    known = {
        "float8": stored.floating(weights_alone=True),
        "int8": stored.whole(8, group=None),
        "int4": stored.whole(4, group=128, zeros=16),
        "int2": stored.whole(2, group=128, zeros=16),
    }
    if kind not in known:
        raise _refused(f"weights “{kind[:30]}”")
    return [_linear(known[kind]), *_kept(fields, "modules_to_not_convert")]


def _hqq(fields: Fields) -> list[Rule]:
    def of(own: Fields) -> Stored:
        inner = own.get("weight_quant_params")
        inner = inner if isinstance(inner, Mapping) else own
        return stored.whole(_bits(inner, "nbits", "bits"), group=_group(inner, "group_size"), zeros=16)

    own = fields.get("quant_config")
    if not isinstance(own, Mapping):
        own = fields
    if "weight_quant_params" in own or "nbits" in own or "bits" in own:
        rules = [_linear(of(own))]
    else:  # modules by their names, those that are not named stay
        rules = [Rule(of(each), name=name) for name, each in own.items() if isinstance(each, Mapping)]
    return [*rules, *_kept(fields, "skip_modules", "modules_to_not_convert")]


def _quark(fields: Fields) -> list[Rule]:
    def of(own: Any) -> Stored:
        weight = own.get("weight") if isinstance(own, Mapping) else None
        weight = weight[0] if isinstance(weight, list) and weight else weight
        if not isinstance(weight, Mapping):
            return WIDE
        kind, group = str(weight.get("dtype")), _group(weight, "group_size")
        alone = not isinstance(own.get("input_tensors"), Mapping | list)
        if kind.startswith("fp8"):
            return stored.floating(weights_alone=alone)
        if kind == "fp4":
            return stored.microscaled(4, weights_alone=alone) if group == 32 else stored.nvfp4()  # noqa: PLR2004
        if kind.startswith("fp6"):
            return stored.microscaled(6, weights_alone=alone)
        bits = re.fullmatch(r"u?int(\d)", kind)
        if bits is None:
            raise _refused(f"dtype “{kind[:30]}”")
        return stored.whole(int(bits[1]), group=group, multiplied=not alone)

    rules = [_linear(of(fields.get("global_quant_config")))]
    rules += [_rule(name, of(own)) for name, own in reversed(_items(fields, "layer_quant_config"))]
    return [*rules, *_kept(fields, "exclude")]


def _exl2(fields: Fields) -> list[Rule]:
    """ExLlamaV2 and V3 say the mean of their matrices, and the bits of the output layer."""
    bits = _bits(fields, "bits")
    head = _bits(fields, "head_bits") if "head_bits" in fields else 6
    return [
        _linear(Stored(f"ExLlama, {bits:g} bits in the mean", bits)),
        Rule(Stored(f"ExLlama, {head:g} bits", head), kinds=("output",)),
    ]


def _eetq(fields: Fields) -> list[Rule]:
    return [_linear(stored.whole(8, group=None)), *_kept(fields, "modules_to_not_convert")]


METHODS: Final[dict[str, Callable[[Fields], list[Rule]]]] = {
    "compressed-tensors": _compressed_tensors,
    "fbgemm_fp8": _fbgemm,
    "gptq": _gptq,
    "awq": _awq,
    "auto-round": _auto_round,
    "intel/auto-round": _auto_round,
    "mxfp4": _mxfp4,
    "fp_quant": _fp_quant,
    "bitnet": _bitnet,
    "bitsandbytes": _bitsandbytes,
    "mlx": _mlx,
    "torchao": _torchao,
    "quanto": _quanto,
    "hqq": _hqq,
    "quark": _quark,
    "exl2": _exl2,
    "exl3": _exl2,
    "eetq": _eetq,
}
"""`quant_method` -> its reader, beside "fp8" and ModelOpt."""
KNOWN: Final = ("fp8", "modelopt", *METHODS)
"""Every method that is read."""
