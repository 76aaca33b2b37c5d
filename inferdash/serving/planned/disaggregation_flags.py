"""How each engine is told that it only reads prompts or only decodes, and what joins both.

Looked up on 30 November 2026, where `SOURCES` says.
"""

import json
from typing import Final, Literal

Role = Literal["prefill", "decode"]
SOURCES: Final = {
    "vLLM": "vllm 0.33.0, config/kv_transfer.py; docs.vllm.ai, NixlConnector usage guide",
    "SGLang": "sglang 0.5.23, arg_groups/fields/disagg.py; sglang-router 0.3.2, router_args.py",
    "TensorRT-LLM": "nvidia.github.io/TensorRT-LLM, disaggregated serving, 1.3.0rc24",
}
REACHED: Final = "--host 0.0.0.0"
"""Of SGLang's and TensorRT-LLM's workers, which other machines do not reach else."""
_SHOWN: Final = 2
"""Workers whose addresses are written out; of more, that there are others."""
_ROLES: Final = {"prefill": "kv_producer", "decode": "kv_consumer"}


def vllm(role: Role | None) -> str:
    """The flag of vLLM, or nothing."""
    if role is None:
        return ""
    told = {"kv_connector": "NixlConnector", "kv_role": _ROLES[role], "kv_load_failure_policy": "fail"}
    return f"--kv-transfer-config '{json.dumps(told)}'"


def vllm_start(role: Role | None) -> str:
    """What stands before the command of vLLM: where workers of other machines ask for a cache."""
    return "" if role is None else "VLLM_NIXL_SIDE_CHANNEL_HOST=<address of this machine> \\\n"


def sglang(role: Role | None) -> tuple[str, ...]:
    """The flags of SGLang."""
    if role is None:
        return ()
    return (f"--disaggregation-mode {role}", "--disaggregation-transfer-backend nixl", REACHED)


def tensorrt_llm(role: Role | None, *, tokens: int) -> list[str]:
    """Lines of TensorRT-LLM's file; its buffer holds the longest prompt of so many tokens."""
    if role is None:
        return []
    lines = ["cache_transceiver_config:", "  backend: NIXL", f"  max_tokens_in_buffer: {tokens}"]
    return ["disable_overlap_scheduler: true", *lines] if role == "prefill" else lines


def router(engine: str, *, prefill: int, decode: int) -> str:
    """What takes requests and passes them on to both kinds of workers."""
    match engine:
        case "vLLM":
            return _vllm_router(prefill, decode)
        case "SGLang":
            return _sglang_router(prefill, decode)
    return _tensorrt_llm_router(prefill, decode)


def _vllm_router(prefill: int, decode: int) -> str:
    lines = ["python tests/v1/kv_connector/nixl_integration/toy_proxy_server.py", "--port 8192"]
    for kind, flag, many in (("prefill", "prefiller", prefill), ("decode", "decoder", decode)):
        hosts = _hosts(kind, many)
        lines += [f"--{flag}-hosts {' '.join(hosts)}", f"--{flag}-ports {' '.join('8000' for _ in hosts)}"]
    return f"# in a checkout of vLLM; its proxy is an example, not for production\n{_more(prefill, decode)}" + _joined(
        lines
    )


def _sglang_router(prefill: int, decode: int) -> str:
    lines = ["python3 -m sglang_router.launch_router --pd-disaggregation"]
    for kind, many in (("prefill", prefill), ("decode", decode)):
        lines += [f"--{kind} http://{host}:30000" for host in _hosts(kind, many)]
    return _more(prefill, decode) + _joined([*lines, "--host 0.0.0.0", "--port 8000"])


def _tensorrt_llm_router(prefill: int, decode: int) -> str:
    lines = ["cat > disagg_config.yaml <<EOF", "hostname: 0.0.0.0", "port: 8000", "backend: pytorch"]
    for kind, many in (("prefill", prefill), ("decode", decode)):
        name = "context_servers" if kind == "prefill" else "generation_servers"
        hosts = _hosts(kind, many)
        lines += [f"{name}:", f"  num_instances: {len(hosts)}", "  urls:"]
        lines += [f'    - "{host}:8000"' for host in hosts]
    return _more(prefill, decode) + "\n".join([*lines, "EOF", "trtllm-serve disaggregated -c disagg_config.yaml"])


def _hosts(kind: str, many: int) -> list[str]:
    return [f"<{kind}-{place}>" for place in range(1, min(many, _SHOWN) + 1)]


def _more(prefill: int, decode: int) -> str:
    """That not all addresses are written out."""
    if max(prefill, decode) <= _SHOWN:
        return ""
    return f"# and so on for all {prefill} prefill and {decode} decode workers\n"


def _joined(lines: list[str]) -> str:
    return " \\\n  ".join(lines)
