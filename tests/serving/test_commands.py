"""Start commands: what a set-up implies stands in them, and what is not known does not."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final, get_args

import pytest

from inferdash.physics.drafters import Method, Proposals
from inferdash.physics.parallelism import Layout
from inferdash.serving.planned.candidates import Readers, setups_of
from inferdash.serving.planned.commands import commands, context_of
from inferdash.serving.planned.curves import curves_of
from inferdash.serving.planned.offers import Demand, Offer
from tests.serving.offered import CHIPS, offer

ASKED = Demand(requests_per_s=1, prompt=1000, answer=24)


def texts(given: Offer, layout: Layout, *, places: int, cache: str) -> dict[str, str]:
    setups = [one for one in setups_of(curves_of(ASKED, given), ASKED) if one.curves.layout == layout]
    (one,) = (setup for setup in setups if setup.curves.cache == cache)
    best = replace(one.candidate(ASKED, 1.0), places=places)
    return {command.engine: command.text for command in commands(best, ASKED, given)}


def test_groups_with_spread_experts() -> None:
    """SGLang counts over all groups, vLLM in each, and TensorRT-LLM reads in a file that there are groups."""
    given = offer("deepseek-v3", ("fp8-block",), accelerators={"h200-sxm": CHIPS["h200-sxm"]})
    said = texts(given, Layout(even=False, data=8, expert=8), places=40, cache="fp8")
    assert said["vLLM"] == (
        "vllm serve deepseek-ai/DeepSeek-V3 \\\n  --data-parallel-size 8 \\\n  --max-num-seqs 40 \\\n"
        "  --max-num-batched-tokens 8192 \\\n  --max-model-len 2048 \\\n  --gpu-memory-utilization 0.9 \\\n"
        "  --kv-cache-dtype fp8 \\\n  --enable-expert-parallel"
    )
    for part in ("--tp-size 8", "--attn-dp-size 8", "--ep-size 8", "--max-running-requests 320"):
        assert part in said["SGLang"]
    assert "--chunked-prefill-size 65536" in said["SGLang"]
    assert "enable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\nEOF\ntrtllm-serve" in said["TensorRT-LLM"]


def test_a_format_that_the_files_do_not_have() -> None:
    """vLLM and SGLang take files of 16 bits to fp8 as they load them; of anything else another name is needed."""
    one = {"h100-sxm": CHIPS["h100-sxm"]}
    layout = Layout(even=False, tensor=2)
    said = texts(offer(weights=("fp8",), accelerators=one), layout, places=8, cache="bf16")
    assert "meta-llama/Llama-3.1-8B" in said["vLLM"]
    assert "--tensor-parallel-size 2" in said["vLLM"]
    assert "--quantization fp8" in said["vLLM"]
    assert "--kv-cache-dtype" not in said["vLLM"] + said["SGLang"]
    assert said["TensorRT-LLM"].startswith('trtllm-serve "<Llama 3.1 8B in fp8>"')
    assert "--config" not in said["TensorRT-LLM"]
    said = texts(offer(weights=("int4-g128",), accelerators=one), layout, places=8, cache="bf16")
    assert "<Llama 3.1 8B in int4, group 128>" in said["vLLM"]
    assert "--quantization" not in said["vLLM"]


def test_several_machines_are_said_and_amd_has_two_engines() -> None:
    given = offer("deepseek-v3", ("fp8-block",), accelerators={"mi300x": CHIPS["mi300x"]})
    said = texts(given, Layout(even=False, data=16, expert=16), places=8, cache="bf16")
    assert list(said) == ["vLLM", "SGLang"]
    assert all(text.startswith("# on 2 machines together") for text in said.values())


def test_a_command_never_contradicts_the_checkpoint() -> None:
    """OpenAI's files are in MXFP4: they start as they are, and no engine takes them to fp8 on loading."""
    one = {"h200-sxm": CHIPS["h200-sxm"]}
    layout = Layout(even=False, tensor=1)
    said = texts(offer("gpt-oss-120b", ("mxfp4",), accelerators=one), layout, places=8, cache="bf16")
    assert said["vLLM"].startswith("vllm serve openai/gpt-oss-120b \\\n")
    assert "--quantization" not in "".join(said.values())
    said = texts(
        offer("gpt-oss-120b", ("fp8",), accelerators=one), Layout(even=False, tensor=2), places=8, cache="bf16"
    )
    assert said["vLLM"].startswith('vllm serve "<gpt-oss-120b in fp8>"')
    assert "--quantization" not in "".join(said.values())


def test_the_context_has_room() -> None:
    """A tenth beyond prompt and answer as a multiple of 1,024, and no more than the model was made for: 131,072."""
    given = offer("gpt-oss-120b", ("mxfp4",))
    asked = {(2000, 400): 3072, (1000, 24): 2048, (120_000, 10_000): 131_072, (1, 2): 1024}
    for (prompt, answer), context in asked.items():
        assert context_of(Demand(requests_per_s=1, prompt=prompt, answer=answer), given) == context


def test_what_proposes_tokens_is_told_to_each_engine() -> None:
    """The same three proposed tokens: vLLM in JSON, SGLang with the token before them, TensorRT-LLM in its file."""
    given = offer("deepseek-v3", ("fp8-block",), accelerators={"h200-sxm": CHIPS["h200-sxm"]})
    layout = Layout(even=False, data=8, expert=8)
    setup = next(one for one in setups_of(curves_of(ASKED, given), ASKED) if one.curves.layout == layout)
    told = {}
    methods: tuple[Method, ...] = ("mtp", "eagle3", "ngram", "draft", "block")
    for method in methods:
        what = Proposals(method=method, draft_tokens=3, tokens_per_pass=2, share=0.1)
        best = replace(setup.candidate(ASKED, 1.0), proposals=what)
        told[method] = {command.engine: command.text for command in commands(best, ASKED, given)}
    assert '--speculative-config \'{"method": "mtp", "num_speculative_tokens": 3}\'' in told["mtp"]["vLLM"]
    assert '{"method": "eagle3", "model": "<EAGLE-3 head>", "num_speculative_tokens": 3}' in told["eagle3"]["vLLM"]
    assert '"num_speculative_tokens": 3, "prompt_lookup_max": 4}' in told["ngram"]["vLLM"]
    for part in ("EAGLE", "--speculative-num-steps 3", "--speculative-eagle-topk 1", "-num-draft-tokens 4"):
        assert part in told["mtp"]["SGLang"]
    assert "--speculative-algorithm STANDALONE" in told["draft"]["SGLang"]
    assert "steps" not in told["ngram"]["SGLang"]
    said = told["mtp"]["TensorRT-LLM"]
    assert "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3\nEOF" in said
    assert "max_draft_len: 3\n  max_matching_ngram_size: 4" in told["ngram"]["TensorRT-LLM"]
    assert "# no setting for this way to propose tokens was found\n" in told["block"]["TensorRT-LLM"]


def _flags(name: str) -> set[str]:
    return set((Path(__file__).parent / "flags" / f"{name}.txt").read_text().split())


TAKEN: Final = {
    "vLLM": (
        _flags("vllm-0.33.0"),
        {"--port", "--prefiller-hosts", "--prefiller-ports", "--decoder-hosts", "--decoder-ports"},
    ),
    "SGLang": (_flags("sglang-0.5.23"), _flags("sglang-router-0.3.2")),
    "TensorRT-LLM": (_flags("tensorrt-llm-00209af"), set[str]()),
}
"""What each engine and its router take; the router of vLLM is an example in its repository."""


@pytest.mark.parametrize("model", ["llama-3.1-8b", "deepseek-v3"])
def test_every_flag_is_one_that_the_engine_takes(model: str) -> None:
    """Over layouts, ways to propose tokens, caches, workers apart, and prompts longer than a pass."""
    weights = "bf16" if model == "llama-3.1-8b" else "fp8-block"
    given = offer(model, (weights,), accelerators={"h200-sxm": CHIPS["h200-sxm"]})
    asked = replace(ASKED, prompt=20_000)
    proposed = [Proposals(method=one, draft_tokens=3, tokens_per_pass=2, share=0.1) for one in get_args(Method)]
    seen = set()
    for setup in setups_of(curves_of(asked, given), asked):
        one = setup.candidate(asked, 1.0, 1)
        readers = Readers(
            accelerator="h200-sxm",
            weights=weights,
            layout=one.layout,
            workers=2,
            usd_per_hour=1.0,
            time_to_first_token_s=1.0,
            places=256,
            usable_bytes=100e9,
        )
        for what in (None, *proposed):
            for who in (None, readers):
                for command in commands(replace(one, proposals=what, readers=who), asked, given):
                    engine, _, router = command.text.partition("# the router")
                    for text, taken in zip((engine, router), TAKEN[command.engine], strict=True):
                        flags = set(re.findall(r"(?<!\S)--[a-z][\w-]*", text))
                        assert flags <= taken, command.text
                        seen |= flags
    assert {"--enable_chunked_prefill", "--kv-transfer-config", "--speculative-config"} <= seen
    assert ("--attn-dp-size" in seen) == (model == "deepseek-v3")
