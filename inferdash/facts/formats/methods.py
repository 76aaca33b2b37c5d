"""What the methods of quantization write into a config.json -> the rules of the checkpoint's format.

Each reader gets the fields of `quantization_config` and gives its rules, the last of which holds for a module. What
decides on a whole matrix and is not known is refused with its name.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from inferdash.facts.formats import weights_alone, with_activations
from inferdash.facts.formats.fields import FIELD, HELP, Fields
from inferdash.facts.formats.rules import Rule
from inferdash.layers.config import UnreadFieldError


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
        return with_activations.fp8(fields, expert_dtype)
    nested = isinstance(fields.get("quantization"), Mapping)
    if "modelopt" in method + made_by or (not method and ("quant_algo" in fields or nested)):
        return with_activations.modelopt(fields)
    if not method and "bits" in fields:
        method = "mlx"
    reader = METHODS.get(method)
    if reader is None:
        raise UnreadFieldError(FIELD, f"says “{method[:40] or 'no method'}”, which is not read here. {HELP}")
    return reader(fields)


METHODS: Final[dict[str, Callable[[Fields], list[Rule]]]] = {
    "compressed-tensors": with_activations.compressed_tensors,
    "fbgemm_fp8": with_activations.fbgemm,
    "gptq": weights_alone.gptq,
    "awq": weights_alone.awq,
    "auto-round": weights_alone.auto_round,
    "intel/auto-round": weights_alone.auto_round,
    "mxfp4": weights_alone.mxfp4,
    "fp_quant": weights_alone.fp_quant,
    "bitnet": weights_alone.bitnet,
    "bitsandbytes": weights_alone.bitsandbytes,
    "mlx": weights_alone.mlx,
    "torchao": with_activations.torchao,
    "quanto": weights_alone.quanto,
    "hqq": weights_alone.hqq,
    "quark": with_activations.quark,
    "exl2": weights_alone.exl2,
    "exl3": weights_alone.exl2,
    "eetq": weights_alone.eetq,
}
"""`quant_method` -> its reader, beside "fp8" and ModelOpt."""
KNOWN: Final = ("fp8", "modelopt", *METHODS)
"""Every method that is read."""
