"""Lines of engines' starts are read in all their shapes; one that cannot be read gets one sentence."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferdash.facts.machines import start_log
from inferdash.facts.machines.start_log import UnreadLogError

GIB, MIB = 2.0**30, 2.0**20
V0 = """\
INFO 11-21 09:12:33 model_runner.py:1077] Loading model weights took 14.9888 GB
INFO 11-21 09:12:36 worker.py:232] the current vLLM instance can use total_gpu_memory (23.58GiB) x \
gpu_memory_utilization (0.90) = 21.22GiB
INFO 11-21 09:12:36 worker.py:232] model weights take 14.99GiB; non_torch_memory takes 0.35GiB; PyTorch activation \
peak memory takes 2.07GiB; the rest of the memory reserved for KV Cache is 3.81GiB.
INFO 11-21 09:12:36 gpu_executor.py:113] # GPU blocks: 1952, # CPU blocks: 2048
INFO 11-21 09:12:36 gpu_executor.py:117] Maximum concurrency for 20000 tokens per request: 1.56x
"""
V1 = """\
(APIServer pid=1) INFO 02-02 10:00:01 [api_server.py:1839] vLLM API server version 0.11.0
(EngineCore_DP0 pid=77) INFO 02-02 10:01:00 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 8.1 seconds
(EngineCore_DP0 pid=77) INFO 02-02 10:01:40 [gpu_worker.py:298] Available KV cache memory: 51.38 GiB
(EngineCore_DP0 pid=77) INFO 02-02 10:01:41 [kv_cache_utils.py:1087] GPU KV cache size: 420,896 tokens
"""
SGLANG = """\
[2025-07-10 08:00:00] Load weight end. type=LlamaForCausalLM, avail mem=7.22 GB, mem usage=15.02 GB.
[2025-07-10 08:00:01] KV Cache is allocated. #tokens: 38141, K size: 2.33 GB, V size: 2.33 GB
[2025-07-10 08:00:09] max_total_num_tokens=38141, chunked_prefill_size=2048, max_prefill_tokens=16384, \
max_running_requests=2048, context_len=131072
"""
LLAMA_CPP = """\
load_tensors:        CUDA0 model buffer size =  4403.49 MiB
load_tensors:   CPU_Mapped model buffer size =   281.81 MiB
llama_kv_cache_unified:      CUDA0 KV buffer size =   512.00 MiB
llama_context:      CUDA0 compute buffer size =   258.50 MiB
llama_context:  CUDA_Host compute buffer size =    16.01 MiB
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (V0, {"room": 3.81, "weights": 14.99, "activations": 2.07, "outside": 0.35, "total": 23.58, "share": 0.9}),
        (V1, {"room": 51.38, "weights": 14.9889, "tokens": 420_896, "version": "0.11.0"}),
        (SGLANG, {"room": 4.66, "weights": 15.02, "tokens": 38_141, "pass_tokens": 2048, "requests": 2048}),
        (LLAMA_CPP, {"room": 0.5, "weights": 4403.49 / 1024, "activations": 258.5 / 1024}),
        (
            "[TRT-LLM] [I] [MemUsageChange] Allocated 63.44 GiB for max tokens in paged KV cache (259840).",
            {"room": 63.44},
        ),
        (
            "llama_kv_cache_init: KV self size  =  256.00 MiB, K (f16):  128.00 MiB, V (f16):  128.00 MiB",
            {"room": 0.25},
        ),
        ("# GPU blocks: 1234", {"tokens": 1234 * 16}),
        ("max_total_num_tokens=38141", {"tokens": 38_141}),
        ("Maximum concurrency for 40,960 tokens per request: 6.19x", {"tokens": 40_960 * 6.19}),
        ("KV Cache is allocated. #tokens: 5", {"tokens": 5}),
        ("available kv cache memory: 12.3 GiB", {"room": 12.3}),
        (
            "Memory profiling: torch peak memory increase: 5.56GiB; non-torch forward increase memory: 0.13GiB",
            {"outside": 0.13},
        ),
    ],
)
def test_lines_of_starts(text: str, said: dict[str, Any]) -> None:
    found = start_log.read(text)
    for name, value in said.items():
        counted = name in {"tokens", "share", "version", "pass_tokens", "requests"}
        expected = value if isinstance(value, str) else pytest.approx(value * (1 if counted else GIB), rel=1e-3)
        assert getattr(found, name) == expected, name


@pytest.mark.parametrize("example", start_log.EXAMPLES)
def test_the_examples_are_read(example: str) -> None:
    found = start_log.read(example)
    assert found.room is not None or found.tokens is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "hello",
        "INFO server started on port 8000",
        "Available KV cache memory: nan GiB",
        "# GPU blocks:",
        "\x00\x1b",
    ],
)
def test_a_bad_line_gets_one_sentence(text: str) -> None:
    with pytest.raises(UnreadLogError) as caught:
        start_log.read(text)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert sentence.isprintable()


def test_of_several_accelerators_the_smallest_room_binds() -> None:
    text = "\n".join(
        f"(Worker_TP{rank}) Available KV cache memory: {room} GiB" for rank, room in enumerate((31.2, 28.4))
    )
    found = start_log.read(text)
    assert found.room == pytest.approx(28.4 * GIB)
    assert len(found.said) == 1


WAYS = [
    ("Available KV cache memory: {} GiB", "room", GIB, True),
    ("GPU KV cache size: {} tokens", "tokens", 1, False),
    ("# GPU blocks: {}, # CPU blocks: 17", "tokens", 16, False),
    ("KV Cache is allocated. #tokens: {}", "tokens", 1, False),
    ("max_total_num_tokens={}, context_len=4096", "tokens", 1, False),
    ("CUDA0 KV buffer size = {} MiB", "room", MIB, True),
    ("KV self size  = {} MiB, K (f16): 1.00 MiB", "room", MIB, True),
]


@settings(max_examples=150, deadline=None)
@given(
    way=st.sampled_from(WAYS),
    number=st.floats(0.01, 1e6),
    around=st.tuples(
        st.sampled_from(["", "INFO 11-02 12:00:00 [worker.py:276] ", "(EngineCore_DP0 pid=7) ", "\t", "llama: "]),
        st.sampled_from(["", ".", "\r", " (per GPU)"]),
    ),
    commas=st.booleans(),
    others=st.lists(st.text(max_size=30).filter(lambda text: "memory" not in text), max_size=3),
)
def test_any_number_in_any_line(
    way: tuple[str, str, float, bool], number: float, around: tuple[str, str], commas: bool, others: list[str]
) -> None:
    line, name, unit, broken = way
    value = round(number, 2) if broken else max(1, round(number))
    written = f"{value:,}" if commas else f"{value}"
    found = start_log.read("\n".join([*others, around[0] + line.format(written) + around[1], *others]))
    assert getattr(found, name) == pytest.approx(value * unit)
