"""What files of models are read, as a page of the documentation: written from the declarations, never by hand."""

from inferdash.facts.formats.methods import METHODS
from inferdash.facts.models.precision import PRECISIONS
from inferdash.layers.families import CLASSES, FAMILIES


def model_files() -> str:
    """The section of docs/config-files.md about models, in Markdown."""
    families = ", ".join(f"`{name}`" for name in sorted(FAMILIES, key=str.lower))
    classes = ", ".join(f"`{name}`" for name in sorted(CLASSES, key=str.lower))
    methods = ", ".join(f"`{name}`" for name in sorted({"fp8", "fbgemm_fp8", "modelopt", *METHODS}))
    formats = "\n".join(f"| `{key}` | {one.name} | {one.layout} |" for key, one in PRECISIONS.items())
    return f"""## A model: config.json

The family follows from `model_type` (of the text model if the file has several). {len(FAMILIES)} are known:

{families}.

A `model_type` that differs from one of these only in its version is read as the newest version, and a note says so. If
it is unknown, the class in `architectures` may identify the family: {classes}.

An unknown field that could change the cache or a whole matrix makes the file unreadable and is named; one that can
change only small vectors is noted.

### How its parameters are quantized

`quantization_config` is read module by module for these methods: {methods}. MLX writes `quantization` instead, and
ModelOpt may put `hf_quant_config.json` beside the file, which is then read as well. Any other method is refused by
name.

### Number formats

| in a link | format | bits |
| --- | --- | --- |
{formats}
"""
