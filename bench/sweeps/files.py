"""Attacks both readers of a reader's requests with broken, odd and hostile files.

python -m bench.sweeps.files --count 10000 --seed 20261130
"""

import io
import json
import random
import sys
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any, Final

from bench.bounded import Took, arguments, attack, took
from inferdash.scenario import BASE
from inferdash.studies.price import own_log, own_requests, traffic, ways

_NUMBERS: Final[tuple[Any, ...]] = (
    0, 1, 5, 1000, 10**12, 10**13, 10**30, -1, 0.5, 1e300, float("nan"), float("inf"), True, None, "", "7", "1e3", "x",
    [], {}, "٣", "1,000", "2026-11-30T01:02:03Z", "![](http://b/c.png)", "\x1b[31m", "n" * 3000,
)  # fmt: skip
_NAMES: Final = (
    "time", "timestamp", "input_tokens", "output_tokens", "in", "out", "prompt_tokens", "completion_tokens", "model",
    "cached_tokens", "usage", "usageMetadata", "response", "hash_ids", "input_length", "output_length", "t", "requests",
    "block_size", "prompt_tokens_details", "cache_creation", "request_id", "\ud83d\ude00", "x" * 2000, "",
)  # fmt: skip
_WAYS: Final = ways.of(BASE)
_LARGE: Final = 200_000
"""Bytes of the larger files."""


def file_of(source: random.Random) -> bytes:
    """One file."""
    kinds: tuple[Callable[[random.Random], bytes], ...] = (
        _lines,
        _lines,
        _table,
        _table,
        _listed,
        _session,
        _noise,
        _runs,
    )
    content = source.choice(kinds)(source)
    for _ in range(source.choice((0, 0, 0, 1, 1, 3))):
        content = _broken(source, content)
    return content


def _record(source: random.Random, depth: int = 0) -> Any:
    record: dict[str, Any] = {"time": source.randrange(10**6), "in": source.randrange(10**5), "out": 5}
    for name in source.sample(_NAMES, source.randrange(6)):
        record[name] = source.choice(_NUMBERS)
        if depth < 3 and source.random() < 0.3:
            record[name] = _record(source, depth + 1)
    if source.random() < 0.3:
        record |= {"timestamp": 5, "input_length": 2048, "output_length": 3}
        record["hash_ids"] = [source.choice((1, 2, source.randrange(10**6), "a", 10**40)) for _ in range(4)]
    return source.choice(_NUMBERS) if source.random() < 0.05 else record


def _lines(source: random.Random) -> bytes:
    return b"\n".join(json.dumps(_record(source)).encode() for _ in range(source.choice((1, 5, 100))))


def _listed(source: random.Random) -> bytes:
    return json.dumps([_record(source) for _ in range(20)], indent=source.choice((None, 1))).encode()


def _session(source: random.Random) -> bytes:
    inner: Any = [{"t": n, "in": 100, "out": 1, "hash_ids": [n, 1, 2]} for n in range(5)] + [_record(source)]
    for _ in range(source.choice((0, 1, 2, 60, 200))):
        inner = [{"t": 1, "requests": inner}, source.choice(_NUMBERS)]
    return json.dumps({"block_size": source.choice((64, 0, 1, 10**8)), "requests": inner}).encode()


def _table(source: random.Random) -> bytes:
    sign = source.choice(",;\t|")
    names = [source.choice(_NAMES[:9]) for _ in range(source.choice((2, 3, 5, 2000)))] + ["in", "out"]
    rows = [sign.join(str(source.choice(_NUMBERS)) for _ in names) for _ in range(source.choice((1, 5, 50)))]
    quoted = source.choice(("", "", '"', "'", '"\n'))
    text = source.choice(("\n", "\r\n", "\r")).join([sign.join(names), *(quoted + row for row in rows)])
    return text.encode(source.choice(("utf-8", "utf-8-sig", "utf-16")), errors="replace")


def _noise(source: random.Random) -> bytes:
    return source.choice((b"", b"{", b"[", b"in,out\n", b"\x1f\x8b")) + source.randbytes(source.choice((0, 9, 3000)))


def _runs(source: random.Random) -> bytes:
    """The same again and again."""
    start = source.choice((b"", b"in,out\n", b"[", b'{"requests":[', b'{"time":1,"in":1,"out":1}\n', b'"'))
    part = source.choice(
        (b"\n", b" \n", b"x\n", b"{", b"[", b",", b'"', b"1,1\n", b"1,", b'{"in":1,"out":1}', b"\r", b"[]", b"0", b"\\")
    )
    return start + part * (source.choice((10, _LARGE)) // len(part))


def _broken(source: random.Random, content: bytes) -> bytes:
    """Cut, doubled, or with other bytes in it."""
    at = source.randrange(len(content) + 1)
    match source.randrange(4):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + content[: _LARGE // 4]
        case 2:
            return content[:at] + source.choice((b"\x00", b"\xff", b'"', b"\n\n", b"}", b"]", b"1e999")) + content[at:]
    return content[at:] + content[:at]


def problem_of(content: bytes) -> str:
    """What is wrong with how both readers take a file; empty where nothing is."""
    file = own_log.read(io.BytesIO(content), ways.rules_of(_WAYS))
    billed = traffic.study(file, _WAYS, date(2026, 11, 29))
    own = own_requests.study(io.BytesIO(content))
    for sentence in (*billed.problems, *own.problems, traffic.sentence(BASE, billed)):
        if not sentence.isprintable() or len(sentence) >= 600:
            return f"the sentence {sentence!r}"
    if len(own.who) > billed.own.requests:
        return "one reader finds more requests than the other"
    return ""


def cases(count: int, seed: int) -> Iterator[Took]:
    """So many files, read."""
    source = random.Random(seed)  # noqa: S311 - the same seed gives the same cases
    for number in range(count):
        content = file_of(source)
        yield took(f"file {number}, {len(content):,} bytes, {content[:120]!r}", partial(problem_of, content))


def main() -> int:
    """Runs the attack; 1 where something was wrong."""
    given = arguments(10_000)
    return attack("Files", cases(given.count, given.seed), seed=given.seed)


if __name__ == "__main__":
    sys.exit(main())
