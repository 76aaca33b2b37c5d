"""The commands that start a replica of a set-up, as text: nothing is run.

Flags were looked up on 30 November 2026, where `Command.source` says. What is not known is left out: addresses of
further machines, and TensorRT-LLM's share of the memory, which it counts after the parameters are loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

from inferdash.facts import library
from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.models.precision import PRECISIONS
from inferdash.serving.planned import disaggregation_flags, speculation_flags
from inferdash.serving.planned.candidates import Candidate, Readers
from inferdash.serving.planned.disaggregation_flags import Role
from inferdash.serving.planned.offers import NODE, Demand, Offer

_QUANTIZED_ON_LOADING = "fp8"
"""The format to which vLLM and SGLang take the files of a model while they load it."""
_WIDE = 16
"""Bits of a number from which they do."""
_SLACK = 1.1
"""Times a prompt and its answer that the context has room for."""
_CONTEXT_STEP = 1024
SLACK = "The context has room for a tenth more than the prompt and the answer, as a multiple of 1,024 tokens."
"""Of the commands, for a reader."""
_CONFIG = "config.yml"
_BESIDE = "; on one machine, each with GPUs and ports of its own"


@dataclass(frozen=True, kw_only=True)
class Command:
    """How an engine is started for one replica; further replicas are started alike."""

    engine: str
    text: str
    """One command over several lines, with the file that it reads where it needs one."""
    source: str
    """Where its flags were looked up."""


def commands(candidate: Candidate, demand: Demand, offer: Offer) -> tuple[Command, ...]:
    """What starts a replica with vLLM, with SGLang and, on NVIDIA's accelerators, with TensorRT-LLM.

    Where prefill and decode are apart: a worker of each kind, and what passes requests on to them.

    Args:
        candidate: the set-up.
        demand: what is asked for; the context has room beyond its prompt and answer.
        offer: what the candidate was built from.
    """
    chips = {candidate.accelerator, *([candidate.readers.accelerator] if candidate.readers else [])}
    engines = [_vllm, _sglang]
    if all(offer.accelerators[name].maker == "NVIDIA" for name in chips):
        engines.append(_tensorrt_llm)
    if candidate.readers is None:
        return tuple(engine(candidate, demand, offer, None) for engine in engines)
    reads = _as_readers(candidate, candidate.readers)
    return tuple(
        _joined(
            (engine(reads, demand, offer, "prefill"), engine(candidate, demand, offer, "decode")),
            prefill=reads.replicas,
            decode=candidate.replicas,
        )
        for engine in engines
    )


def _as_readers(candidate: Candidate, readers: Readers) -> Candidate:
    """The prefill workers as a set-up."""
    return replace(
        candidate,
        accelerator=readers.accelerator,
        weights=readers.weights,
        layout=readers.layout,
        places=readers.places,
        replicas=readers.workers,
        usable_bytes=readers.usable_bytes,
    )


def _joined(both: tuple[Command, Command], *, prefill: int, decode: int) -> Command:
    """The commands of a prefill worker, a decode worker and of what joins them."""
    engine = both[0].engine
    router = disaggregation_flags.router(engine, prefill=prefill, decode=decode)
    titles = [f"# each of {many} {kind} workers{_BESIDE}" for kind, many in (("prefill", prefill), ("decode", decode))]
    texts = [f"{title}\n{one.text}" for title, one in zip(titles, both, strict=True)]
    return Command(
        engine=engine,
        text="\n\n".join([*texts, f"# the router\n{router}"]),
        source=f"{both[1].source}; {disaggregation_flags.SOURCES[engine]}",
    )


def _vllm(candidate: Candidate, demand: Demand, offer: Offer, role: Role | None) -> Command:
    layout = candidate.layout
    flags: dict[str, int | str] = {
        "--tensor-parallel-size": layout.tensor,
        "--pipeline-parallel-size": layout.pipeline,
        "--data-parallel-size": layout.data,
        "--max-num-seqs": candidate.places,
        "--max-num-batched-tokens": offer.pass_tokens,
        "--max-model-len": context_of(demand, offer),
        "--gpu-memory-utilization": f"{library.memory_of('vllm').share:g}",
    }
    return Command(
        engine="vLLM",
        text=_text(
            f"{disaggregation_flags.vllm_start(role)}vllm serve {_files(candidate, offer, on_loading=True)}",
            flags,
            _quantization(candidate, offer),
            "--kv-cache-dtype fp8" if candidate.cache != "bf16" else "",
            "--enable-expert-parallel" if layout.expert > 1 else "",
            speculation_flags.vllm(candidate.proposals),
            disaggregation_flags.vllm(role),
            machines=_machines(candidate),
        ),
        source=_source(
            "vLLM", "vllm 0.33.0, arg_utils.py; docs.vllm.ai, data and expert parallel deployment", candidate
        ),
    )


def _sglang(candidate: Candidate, demand: Demand, offer: Offer, role: Role | None) -> Command:
    """It counts requests and chunks over all groups, and its tensor parallel GPUs include those groups."""
    layout, chip = candidate.layout, offer.accelerators[candidate.accelerator]
    flags: dict[str, int | str] = {
        "--tp-size": layout.tensor * layout.data,
        "--pp-size": layout.pipeline,
        "--attn-dp-size": layout.data,
        "--ep-size": layout.expert,
        "--max-running-requests": candidate.places * layout.data,
        "--chunked-prefill-size": offer.pass_tokens * layout.data,
        "--context-length": context_of(demand, offer),
        "--mem-fraction-static": f"{candidate.usable_bytes / (chip.visible_memory or chip.memory):.2f}",
    }
    return Command(
        engine="SGLang",
        text=_text(
            f"python3 -m sglang.launch_server --model-path {_files(candidate, offer, on_loading=True)}",
            flags,
            _quantization(candidate, offer),
            "--kv-cache-dtype fp8_e4m3" if candidate.cache != "bf16" else "",
            *speculation_flags.sglang(candidate.proposals),
            *disaggregation_flags.sglang(role),
            machines=_machines(candidate),
        ),
        source=_source(
            "SGLang",
            "sglang 0.5.23, arg_groups (attention data parallel has a flag of its own there) and what is divided by it",
            candidate,
        ),
    )


def _tensorrt_llm(candidate: Candidate, demand: Demand, offer: Offer, role: Role | None) -> Command:
    """Its groups of GPUs are those of the tensor parallel, told apart in the file that it reads.

    It refuses prompts that are longer than a pass unless it may read them in chunks.
    The batch limit is given as that of a group; no page was found that says whether it is one of all groups.
    """
    layout = candidate.layout
    flags: dict[str, int | str] = {
        "--tp_size": layout.tensor * layout.data,
        "--pp_size": layout.pipeline,
        "--ep_size": layout.expert,
        "--max_batch_size": candidate.places,
        "--max_num_tokens": offer.pass_tokens,
        "--max_seq_len": context_of(demand, offer),
    }
    lines = (["enable_attention_dp: true"] if layout.data > 1 else []) + (
        ["kv_cache_config:", "  dtype: fp8"] if candidate.cache != "bf16" else []
    )
    lines += speculation_flags.tensorrt_llm(candidate.proposals)
    lines += disaggregation_flags.tensorrt_llm(role, tokens=context_of(demand, offer))
    unknown = candidate.proposals is not None and not speculation_flags.tensorrt_llm(candidate.proposals)
    text = _text(
        f"trtllm-serve {_files(candidate, offer, on_loading=False)}",
        flags,
        "--enable_chunked_prefill" if demand.prompt > offer.pass_tokens else "",
        f"--config {_CONFIG}" if lines else "",
        disaggregation_flags.REACHED if role else "",
        machines=_machines(candidate),
    )
    file = "\n".join([f"cat > {_CONFIG} <<EOF", *lines, "EOF", ""]) if lines else ""
    file += "# no setting for this way to propose tokens was found\n" if unknown else ""
    return Command(
        engine="TensorRT-LLM",
        text=file + text,
        source=_source(
            "TensorRT-LLM",
            "NVIDIA/TensorRT-LLM on GitHub at 00209af, tensorrt_llm/commands/serve.py and examples/serve",
            candidate,
        ),
    )


def _source(engine: str, flags: str, candidate: Candidate) -> str:
    return f"{flags}; {speculation_flags.SOURCES[engine]}" if candidate.proposals else flags


def _text(start: str, flags: Mapping[str, int | str], *switches: str, machines: str) -> str:
    """A command with a flag a line; sizes of 1 are what engines start with and are left out."""
    given = [f"{flag} {value}" for flag, value in flags.items() if value != 1]
    return machines + " \\\n  ".join([start, *given, *(switch for switch in switches if switch)])


def _machines(candidate: Candidate) -> str:
    nodes = -(-candidate.gpus // NODE)
    return f"# on {nodes} machines together, whose addresses the engine needs too\n" if nodes > 1 else ""


def _files(candidate: Candidate, offer: Offer, *, on_loading: bool) -> str:
    """The name of the files on the hub, or a placeholder where it is not known."""
    model = offer.model
    if model.hf_id and (candidate.weights == model.weights or (on_loading and _on_loading(candidate, offer))):
        return model.hf_id
    return f'"<{model.name} in {PRECISIONS[candidate.weights].name}>"'


def _quantization(candidate: Candidate, offer: Offer) -> str:
    return "--quantization fp8" if _on_loading(candidate, offer) else ""


def _on_loading(candidate: Candidate, offer: Offer) -> bool:
    """Whether the engine makes the format itself, which it does from 16 bits alone."""
    published = in_model(PRECISIONS[offer.model.weights], offer.model)
    return candidate.weights == _QUANTIZED_ON_LOADING and published.matrix_bits >= _WIDE


def context_of(demand: Demand, offer: Offer) -> int:
    """Tokens of the longest text that the engine takes: a tenth beyond a prompt and its answer, as whole 1,024.

    A text of one token more than it takes is refused. No more than the model was made for.
    """
    roomy = ceil(_SLACK * demand.tokens / _CONTEXT_STEP) * _CONTEXT_STEP
    return max(demand.tokens, min(roomy, offer.model.context or roomy))
