"""What an engine logged at its start about memory, read from its own lines."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = r"(-?[0-9][0-9,]*(?:\.[0-9]+)?)"
_SIZE: Final = _NUMBER + r"\s*([KMGT]i?B)"
_COUNT: Final = r"([0-9][0-9,]*)"
_UNITS: Final = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
"""Engines that print GB count 2^30 bytes in it: the parts of a start add up so."""
_BLOCK: Final = 16
"""Tokens of a block of vLLM, where its log does not say otherwise."""
_SHOWN: Final = 60
EXAMPLES: Final = (
    "Available KV cache memory: 12.3 GiB",
    "GPU KV cache size: 123,456 tokens",
    "# GPU blocks: 1234, # CPU blocks: 512",
    "KV Cache is allocated. #tokens: 38141, K size: 2.33 GB, V size: 2.33 GB",
    "max_total_num_tokens=38141",
    "CUDA0 KV buffer size = 512.00 MiB",
)
"""Lines that are read, of vLLM, SGLang and llama.cpp."""


@dataclass(frozen=True, kw_only=True)
class StartLog:
    """What the lines say, of one accelerator but for tokens; None where they do not say it."""

    room: float | None = None
    """Bytes for the cache."""
    tokens: float | None = None
    """That the cache of a group of accelerators holds."""
    weights: float | None = None
    """Bytes of the parameters."""
    activations: float | None = None
    """Bytes of the peak above them, or of the compute buffer."""
    outside: float | None = None
    """Bytes outside the allocator."""
    total: float | None = None
    """Bytes of the accelerator as a program sees them."""
    share: float | None = None
    """That the engine took."""
    pass_tokens: int | None = None
    requests: int | None = None
    version: str | None = None
    said: tuple[str, ...] = ()
    """What of the lines could not be used, or was chosen of several, in sentences."""


class UnreadLogError(Exception):
    """No line says anything about memory; the reason is a sentence."""


def _size(number: str, unit: str) -> float:
    return _plain(number) * _UNITS[unit[0]]


def _plain(number: str) -> float:
    return float(number.replace(",", ""))


def _both(first: str, second: str) -> float:
    return _size(first, "GB") + _size(second, "GB")


_ONE: Final[tuple[tuple[str, str, Callable[..., float | str]], ...]] = (
    ("room", rf"Available KV cache memory\s*:\s*{_SIZE}", _size),
    ("room", rf"memory reserved for KV Cache is\s*{_SIZE}", _size),
    ("room", rf"Allocated\s*{_SIZE}\s*for max tokens in paged KV cache", _size),
    ("room", rf"K size:\s*{_NUMBER}\s*GB,?\s*V size:\s*{_NUMBER}\s*GB", _both),
    ("room", rf"KV self size\s*=\s*{_SIZE}", _size),
    ("tokens", rf"GPU KV cache size\s*:\s*{_COUNT}\s*tokens", _plain),
    ("tokens", rf"#\s*GPU blocks\s*:\s*{_COUNT}", lambda count: _plain(count) * _BLOCK),
    ("tokens", rf"KV Cache is allocated\.?,?[^#]*#tokens\s*:\s*{_COUNT}", _plain),
    ("tokens", rf"max_total_num_tokens\s*=\s*{_COUNT}", _plain),
    ("tokens", rf"for max tokens in paged KV cache \({_COUNT}\)", _plain),
    (
        "tokens",
        rf"Maximum concurrency for {_COUNT} tokens per request\s*:\s*{_NUMBER}x",
        lambda a, b: _plain(a) * _plain(b),
    ),
    ("weights", rf"Model loading took\s*{_SIZE}", _size),
    ("weights", rf"Loading model weights took\s*{_SIZE}", _size),
    ("weights", rf"model weights take\s*{_SIZE}", _size),
    ("weights", rf"weights memory\s*:\s*{_SIZE}", _size),
    ("weights", rf"Load weight end.*mem usage\s*=\s*{_SIZE}", _size),
    ("activations", rf"activation peak memory takes\s*{_SIZE}", _size),
    ("activations", rf"torch peak memory increase\s*:\s*{_SIZE}", _size),
    ("outside", rf"non_torch_memory takes\s*{_SIZE}", _size),
    ("outside", rf"non-torch forward increase memory\s*:\s*{_SIZE}", _size),
    ("total", rf"total_gpu_memory\s*\({_SIZE}\)", _size),
    ("share", rf"gpu_memory_utilization\s*[(=:]\s*{_NUMBER}", _plain),
    ("share", rf"mem_fraction_static\s*=\s*{_NUMBER}", _plain),
    ("pass_tokens", rf"max_num_batched_tokens\s*=\s*{_COUNT}", _plain),
    ("pass_tokens", rf"chunked_prefill_size\s*=\s*{_COUNT}", _plain),
    ("requests", rf"max_num_seqs\s*=\s*{_COUNT}", _plain),
    ("requests", rf"max_running_requests\s*=\s*{_COUNT}", _plain),
    ("version", r"(?:API server version|LLM [Ee]ngine \(v)\s*v?([0-9]+\.[0-9]+[0-9A-Za-z.+]*)", str),
)
"""What a line says, how it is recognised, and how it is read."""
_DEVICES: Final[tuple[tuple[str, str], ...]] = (
    ("room", rf"(\S+)\s+KV buffer size\s*=\s*{_SIZE}"),
    ("weights", rf"(\S+)\s+model buffer size\s*=\s*{_SIZE}"),
    ("activations", rf"(\S+)\s+compute buffer size\s*(?:=|of|is)\s*{_SIZE}"),
)
"""The same of llama.cpp, which prints a line a device."""
_NO_GPU: Final = re.compile(r"CPU|Host|BLAS", re.IGNORECASE)
_HALF: Final = re.compile(
    r"Available KV cache memory|GPU KV cache size|#\s*GPU blocks|KV Cache is allocated|max_total_num_tokens"
    r"|KV buffer size|KV self size|Model loading took",
    re.IGNORECASE,
)
"""Starts of lines that would say something, were their numbers whole."""
_SMALLEST: Final = {"room", "tokens"}
"""What binds is the smallest, where several accelerators print it; of all else the largest counts."""


def read(text: str) -> StartLog:
    """What the lines of a log say; lines about other things are passed over.

    Raises:
        UnreadLogError: where none says anything about memory, or one that would cannot be read.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    found: dict[str, list[float | str]] = {}
    for line in lines:
        said = list(_of_line(line))
        if not said and _HALF.search(line):
            raise UnreadLogError(f"“{_cut(line)}” has no readable number, such as “{EXAMPLES[0]}”.")
        for name, value in said:
            found.setdefault(name, []).append(value)
    if not found:
        raise UnreadLogError(
            f"“{_cut(lines[0]) if lines else ''}” is not a memory line of a start log; lines such as these are read: "
            f"“{EXAMPLES[0]}”, “{EXAMPLES[1]}” and “{EXAMPLES[5]}”."
        )
    return _chosen(found)


def _of_line(line: str) -> Iterator[tuple[str, float | str]]:
    for name, pattern, value in _ONE:
        match = re.search(pattern, line, re.IGNORECASE)
        if match:
            yield name, value(*match.groups())
    for name, pattern in _DEVICES:
        match = re.search(pattern, line, re.IGNORECASE)
        if match and not _NO_GPU.search(match[1]):
            yield name, _size(match[2], match[3])


def _chosen(found: dict[str, list[float | str]]) -> StartLog:
    said, chosen = [], {}
    for name, values in found.items():
        if name == "version":
            chosen[name] = values[-1]
            continue
        numbers = [float(value) for value in values]
        one = min(numbers) if name in _SMALLEST else max(numbers)
        if max(numbers) > 1.05 * abs(min(numbers)) and name == "room":
            said.append("The lines’ cache sizes differ by more than 5%; the smallest is used.")
        chosen[name] = int(one) if name in {"pass_tokens", "requests"} else one
    return StartLog(**chosen, said=tuple(said))  # type: ignore[arg-type]  # names and kinds are those of the tables


def _cut(line: str) -> str:
    shown = "".join(c if c.isprintable() else " " for c in line.strip())
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
