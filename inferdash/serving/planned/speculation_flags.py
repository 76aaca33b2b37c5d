"""How each engine is told what proposes tokens. Looked up on 30 November 2026, where `SOURCES` says."""

import json
from typing import Final

from inferdash.physics.drafters import Proposals

SOURCES: Final = {
    "vLLM": "vllm 0.33.0, config/speculative.py",
    "SGLang": "sglang 0.5.23, arg_groups/fields/spec.py",
    "TensorRT-LLM": "nvidia.github.io/TensorRT-LLM, speculative decoding, 1.3.0rc24, and its examples",
}
_LONGEST_MATCH: Final = 4
"""Words in a row that n-gram looks for, as the engines' examples have it."""
_VLLM: Final = {"draft": "draft_model", "mtp": "mtp", "eagle3": "eagle3", "block": "dflash", "ngram": "ngram"}
_SGLANG: Final = {"draft": "STANDALONE", "mtp": "EAGLE", "eagle3": "EAGLE3", "block": "DFLASH", "ngram": "NGRAM"}
_TENSORRT_LLM: Final = {"draft": "Draft_Target", "mtp": "MTP", "eagle3": "Eagle3", "ngram": "NGram"}


def files_of(proposals: Proposals) -> str:
    """The files of the drafter: on the hub where a draft model is there, else a placeholder; nothing without files."""
    if proposals.method in {"mtp", "ngram"}:
        return ""
    if proposals.method == "draft" and proposals.drafter and proposals.drafter.hf_id:
        return proposals.drafter.hf_id
    return {"draft": "<draft model>", "eagle3": "<EAGLE-3 head>", "block": "<DFlash drafter>"}[proposals.method]


def vllm(proposals: Proposals | None) -> str:
    """The flag of vLLM, or nothing."""
    if proposals is None:
        return ""
    told: dict[str, str | int] = {"method": _VLLM[proposals.method]}
    if files_of(proposals):
        told["model"] = files_of(proposals)
    told["num_speculative_tokens"] = proposals.draft_tokens
    if proposals.method == "ngram":
        told["prompt_lookup_max"] = _LONGEST_MATCH
    return f"--speculative-config '{json.dumps(told)}'"


def sglang(proposals: Proposals | None) -> tuple[str, ...]:
    """The flags of SGLang; it verifies the token before the proposed ones too, and counts it."""
    if proposals is None:
        return ()
    chosen = [f"--speculative-algorithm {_SGLANG[proposals.method]}"]
    if files_of(proposals):
        chosen.append(f'--speculative-draft-model-path "{files_of(proposals)}"')
    if proposals.method in {"draft", "mtp", "eagle3"}:
        chosen += [f"--speculative-num-steps {proposals.draft_tokens}", "--speculative-eagle-topk 1"]
    return (*chosen, f"--speculative-num-draft-tokens {proposals.positions}")


def tensorrt_llm(proposals: Proposals | None) -> list[str]:
    """Lines of TensorRT-LLM's file; none where it is not known to have the method."""
    if proposals is None or proposals.method not in _TENSORRT_LLM:
        return []
    lines = ["speculative_config:", f"  decoding_type: {_TENSORRT_LLM[proposals.method]}"]
    length = "num_nextn_predict_layers" if proposals.method == "mtp" else "max_draft_len"
    lines.append(f"  {length}: {proposals.draft_tokens}")
    if proposals.method == "ngram":
        lines.append(f"  max_matching_ngram_size: {_LONGEST_MATCH}")
    return lines + ([f'  speculative_model: "{files_of(proposals)}"'] if files_of(proposals) else [])
