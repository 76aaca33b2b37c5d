"""What files of models are read, as a page of the documentation: written from the declarations, never by hand."""

from inferdash.facts.formats.methods import METHODS
from inferdash.facts.precision import PRECISIONS
from inferdash.layers.families import CLASSES, FAMILIES


def model_files() -> str:
    """The section of docs/config-files.md about models, in Markdown."""
    families = ", ".join(f"`{name}`" for name in sorted(FAMILIES, key=str.lower))
    classes = ", ".join(f"`{name}`" for name in sorted(CLASSES, key=str.lower))
    methods = ", ".join(f"`{name}`" for name in sorted({"fp8", "fbgemm_fp8", "modelopt", *METHODS}))
    formats = "\n".join(f"| `{key}` | {one.name} | {one.layout} |" for key, one in PRECISIONS.items())
    return f"""## A model: config.json

Read by its `model_type`, that of the text model where the file has several. Known are {len(FAMILIES)}:

{families}.

A `model_type` that differs from one of these in its version alone is read as the newest of them, and says so. Where it
is not known, the class that `architectures` names may say the family: {classes}.

A field that could change the cache or a whole matrix and is not understood refuses the file with its name; one that can
change small vectors at most is told.

### How its parameters are quantized

Methods of `quantization_config` that are read, module by module: {methods}; MLX writes `quantization`, and ModelOpt may
put `hf_quant_config.json` beside the file, which is then read with it. Another method is refused by its name.

### Number formats to choose

| in a link | format | how the bits come about |
| --- | --- | --- |
{formats}
"""
