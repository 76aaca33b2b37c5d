"""The engines as their preset files say them, from a fit and from what left-out results say of its errors."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final, get_args

from bench.fitting.bands import NEEDED, PHASES, Errors, rounded
from bench.fitting.results import BEYOND, POLL, mixes
from bench.fitting.solve import Fit
from bench.fitting.table import LAYERS_APART, SHORT_SUMS, STACKED, Table
from inferdash import quantities
from inferdash.facts.machines.accelerator import Family

FITTED: Final = date(2026, 11, 30)
ENGINES: Final = {
    "vllm": ("vLLM", "vLLM project", "vLLM", ""),
    "sglang": (
        "SGLang",
        "SGLang project",
        "SGLang",
        "Taken to look for new requests every 10 passes, as most tests of it were told to; by itself it looks at each.",
    ),
    "tensorrt-llm": ("TensorRT-LLM", "NVIDIA", "TensorRT-LLM", ""),
    "llama.cpp": ("llama.cpp", "ggml-org", "llama.cpp", "Ollama runs it too."),
    "mlx": ("MLX", "Apple", "MLX", "No measurement of it was at hand: what all engines have in common."),
    "exllama": ("ExLlama", "turboderp", "ExLlama", "Nine measurements, of 2023, all of a decode."),
    "unknown": ("Any engine", "", "", "What all engines have in common, with wider bands."),
}
"""Id -> name, maker, name in the results, a note."""
_LAYERS: Final = {
    "experts_layer": "layer-experts",
    "latent_layer": "layer-latent",
    "latent_read": "layer-latent-read",
    "sparse_layer": "layer-sparse",
    "recurrent_layer": "layer-recurrent",
    "scaled_layer": "layer-scaled",
    "fnuz_layer": "layer-fnuz",
    "stage": "stage",
}
"""Field of an engine in seconds -> its term."""
_HOST: Final = {
    "host_pass": "host-pass",
    "host_request": "host-request",
    "server": "server",
    "server_token": "server-token",
    "server_request": "server-request",
}
"""The same, with a label an engine where the results tell them apart."""
_FACTORS: Final = {
    "latent_attention": "latent",
    "experts_narrow": "narrow",
    "experts_packed": "packed",
    "vector_trips": "vectors",
}


def three(value: float) -> float:
    """A number with three significant digits, as it is shipped."""
    return float(f"{value:.3g}")


def seconds(value: float) -> str:
    """Seconds as a preset file says them."""
    return quantities.written(three(value), "s").replace("µ", "u")


def shipped_form(
    table: Table, fit: Fit, errors: Errors, calibrated: Mapping[int, Mapping[str, tuple[float, float]]]
) -> dict[str, dict[str, Any]]:
    """Id -> engine as its preset file says it.

    Args:
        table: the results.
        fit: of all of them.
        errors: of fits that had not seen them.
        calibrated: measurements given -> bands once an engine was moved to so many of a set-up.
    """
    form = figures(table, fit)
    for key, one in form.items():
        reach = one.pop("reach")
        one |= {"calibrated_once": dict(calibrated[1]), "calibrated_twice": dict(calibrated[2]), "reach": reach}
        for family, mine in reach.items():
            mine["bands"] = {phase: rounded(_factor(errors, phase, family, ENGINES[key][2])) for phase in PHASES}
    return form


def _factor(errors: Errors, phase: str, family: str, label: str) -> float:
    """The factor of a band; an engine that is not known may be any of them."""
    labels = [label] if label else [None, *(one for _, _, one, _ in ENGINES.values() if one)]
    return max(errors.factor(phase, kind=family, engine=one) for one in labels)


def figures(table: Table, fit: Fit) -> dict[str, dict[str, Any]]:
    """The same without bands."""
    return {key: _engine(key, table, fit) for key in ENGINES}


def _engine(key: str, table: Table, fit: Fit) -> dict[str, Any]:
    name, maker, label, note = ENGINES[key]
    own = int((table.engines == label).sum()) if label else 0
    llama = key == "llama.cpp"
    return {
        "name": name,
        "maker": maker,
        "source": [
            f"python -m bench.fit: {table.usable.sum():,} measurements of presets/measured/, {own:,} of this engine"
        ],
        "checked": FITTED,
        "confidence": "medium" if own >= NEEDED else "low",
        **({"note": note} if note else {}),
        **({"arithmetic_ceiling": f"{three(100 / fit.factor('arithmetic-ceiling')):g} TFLOP/s"} if llama else {}),
        "attention_share": three(1 / (1 + fit.factor("attention"))),
        **{field: three(fit.factor(term)) for field, term in _FACTORS.items()},
        **{field: seconds(fit.factor(term)) for field, term in _LAYERS.items()},
        **{field: seconds(fit.factor(term, label)) for field, term in _HOST.items()},
        "admission": three(fit.factor("admission", label)),
        **({} if mixes(label) else {"mixes": False}),
        **({"beyond_prompt": BEYOND[label]} if label in BEYOND else {}),
        **({"poll": POLL[label]} if label in POLL else {}),
        **({"chunk": 512} if llama else {}),
        "reach": {family: _reach(family, label, fit) for family in get_args(Family)},
    }


def _reach(family: str, label: str, fit: Fit) -> dict[str, Any]:
    llama = label == "llama.cpp"
    ceiling = {"bandwidth_ceiling": f"{three(1 / fit.factor('load-ceiling')):g} TB/s"}
    apart = family if family in LAYERS_APART else ""
    return {
        "bandwidth_share": three(1 / (1 + fit.factor("load", family))),
        "experts_bandwidth_share": three(1 / (1 + fit.factor("load-experts", family))),
        **(ceiling if llama and family in STACKED else {}),
        "arithmetic_share": three(1 / (1 + fit.factor("matrices", family))),
        "experts_arithmetic_share": three(1 / (1 + fit.factor("experts", family))),
        **({"peak_factor": SHORT_SUMS} if llama and family == "geforce" else {}),
        "layer": seconds(fit.factor("layer", label, apart)),
        "exchange": seconds(fit.factor("exchange", family)),
    }
