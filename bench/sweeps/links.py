"""Attacks the reading of links: hostile queries that no program writes, by the million.

python -m bench.sweeps.links --count 1000000 --seed 20261130
"""

import json
import random
import string
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from bench.bounded import Took, arguments, attack, took
from inferdash import links
from inferdash.scenario import FIELDS, Choices, Several, mark

_LONG_ENOUGH: Final = 120_000
"""Characters of a query: a little more than are read."""
_SHORT: Final = 1000
"""Characters of a value that is written as an address would be; longer ones take too long to write."""
_ODD_VALUES: Final = (
    "", " ", "0", "-0", "-1", "+3", "1e308", "1e999", "nan", "-inf", "NaN", "true", "None", "[]", "{}", "1_000",
    "0x10", "٣", "１２", "3.35 TB/s", "80GB", "-80 GB", "1e400 GB", "..", "1.2.3 s", "\x00", "\x1b[31m", "\u202e", "�",
    "<script>alert(1)</script>", "[a](http://b)", "![](http://b/c.png)", "$\\frac{1}{0}$", ":red[x]", "'; DROP TABLE",
    "../../etc/passwd", "llama-3-8b", "h100-sxm", "own", "share", "config", "bf16", "both", "last", "1e-400", "5e-324",
)  # fmt: skip
_ODD_NAMES: Final = (
    "v", "embed", "modell", "", "__class__", "model_config", "constructor", "a.b", "batch[]", "\ud800", "k" * 3000,
)  # fmt: skip
_KEYS: Final = (
    "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "intermediate_size", "vocab_size", "num_experts", "num_local_experts", "num_experts_per_tok", "layer_types",
    "moe_intermediate_size", "sliding_window", "q_lora_rank", "kv_lora_rank", "qk_rope_head_dim", "v_head_dim",
    "quantization_config", "text_config", "first_k_dense_replace", "architectures", "max_position_embeddings",
)  # fmt: skip
_TYPES: Final = ("llama", "qwen3", "qwen3_moe", "deepseek_v3", "mixtral", "gemma3", "mamba2", "gpt_oss", "x", "")
_FIELDS: Final = tuple(FIELDS)
_CHOICES: Final = {name: mark(name, Choices) or getattr(mark(name, Several), "of", None) for name in FIELDS}
_IDS: Final = {name: tuple(choices.names()) for name, choices in _CHOICES.items() if choices}
"""Name of a field -> the ids that it takes."""


def query(source: random.Random) -> str:
    """One hostile query."""
    pairs, size = [], 0
    for _ in range(source.choice((0, 1, 1, 1, 2, 2, 3, 4, 6, 9, 20, 250))):
        name = source.choice(_FIELDS) if source.random() < 0.9 else source.choice(_ODD_NAMES)
        pairs.append((name, _value(source, name)))
        size += len(pairs[-1][1])
        if size > _LONG_ENOUGH:
            break
    separator = source.choice(("&", "&", "&", "&&", ";", "&amp;"))
    encode = source.random() < 0.7
    text = separator.join(
        f"{name}={quote(value, errors='replace') if encode and len(value) < _SHORT else value}" for name, value in pairs
    )
    if source.random() < 0.2:
        text = text[: source.randrange(len(text) + 1)]
    return source.choice(("", "?", "http://h/p?")) + text + source.choice(("&v=1", "", "&v=2", "&v=", "#x", "%"))


def _value(source: random.Random, name: str) -> str:
    kinds: tuple[Callable[[random.Random], str], ...] = (_number, _repeated, _odd, _noise, _nested, _long, _measured)
    if name == "config":
        return _config(source) if source.random() < 0.8 else source.choice(kinds)(source)
    if name in _IDS and source.random() < 0.6:
        return ",".join(source.choice(_IDS[name]) for _ in range(source.choice((1, 1, 2, 70))))
    return source.choice(kinds)(source)


def _number(source: random.Random) -> str:
    """Any size, sign and unit."""
    size = source.choice((1, 2, 3, 6, 9, 12, 30, 400, 4400))
    digits = str(source.randrange(1, 10)) + "0" * (size - 1)
    exponent = source.choice(("", "", "e5", "e-5", "e300", "e-320"))
    unit = source.choice(("", "", "", "GB", " TB/s", "ms", "PFLOP/s", "min", "%"))
    return source.choice(("", "", "-", "+")) + digits + exponent + unit


def _repeated(source: random.Random) -> str:
    """A list of numbers, each so many times."""
    count = "1" + "0" * source.choice((0, 1, 2, 3, 4, 8, 9, 12, 20, 180, 4300))
    part = f"{source.choice(('', '', '-', '0'))}{count}{source.choice('xxX*')}{_number(source)}"
    return source.choice((",", ", ", ";")).join([part] * source.choice((1, 1, 2, 20)))


def _odd(source: random.Random) -> str:
    return source.choice(_ODD_VALUES)


def _noise(source: random.Random) -> str:
    any_of = (source.randrange(1, 0xD7FF), ord(source.choice(string.printable)))
    return "".join(chr(source.choice(any_of) + source.randrange(3)) for _ in range(9))


def _nested(source: random.Random) -> str:
    return source.choice("[{(") * source.choice((10, 1000, 9000))


def _long(source: random.Random) -> str:
    return source.choice(("x", ",", "~", "a,", "9", "1x1,", "é", " ")) * source.choice((81, 500, 5000, 40_000))


def _measured(source: random.Random) -> str:
    words = [source.choice(("itl", "ttft", "tps", "x")), _number(source)]
    for _ in range(source.randrange(6)):
        words += [source.choice(_FIELDS), source.choice((_number, _odd))(source)]
    return ",".join(["~".join(words)] * source.choice((1, 2, 4, 300)))


def _config(source: random.Random) -> str:
    """Fields of a config.json, plausible and not."""

    def number() -> Any:
        return source.choice(
            (0, 1, 2, 8, 32, 64, 128, 4096, 10**5, 10**6, 10**9, 10**30, -1, 0.5, 1e300, "8", None, [], True)
        )

    fields: dict[str, Any] = {"model_type": source.choice(_TYPES), "hidden_size": source.choice((64, 4096, number()))}
    fields |= {
        "num_hidden_layers": source.choice((2, 32, number())),
        "num_attention_heads": source.choice((8, number())),
    }
    fields |= {"intermediate_size": source.choice((64, number())), "vocab_size": source.choice((100, number()))}
    for key in source.sample(_KEYS, source.randrange(len(_KEYS))):
        fields[key] = number()
    if source.random() < 0.2:
        fields["layer_types"] = ["full_attention", "sliding_attention", "x"] * source.choice((1, 10, 100))
    text = json.dumps(fields)
    return text[: source.randrange(len(text))] if source.random() < 0.1 else text


def problem_of(text: str) -> str:
    """What is wrong with how a query is read; empty where nothing is."""
    decoded = links.decode(text)
    for problem in decoded.problems:
        if not problem.sentence.isprintable() or len(problem.sentence) >= 600 or problem.sentence[-1] not in ".?":
            return f"the sentence {problem.sentence!r}"
    link = links.encode(decoded.scenario)
    again = links.decode(link)
    if again.problems or links.encode(again.scenario) != link:
        return "its own link is not read back"
    return ""


def repetitions() -> Iterator[str]:
    """Lists of one number so often that they would fill any memory: the first took 30 GB."""
    for digits in (*range(1, 40), *range(40, 4400, 200)):
        for name in ("lengths", "addends", "weight_values", "logits"):
            yield f"{name}={10**digits}x1&v=1"
            yield f"{name}=1,-{10**digits}x1&v=1"


def cases(count: int, seed: int) -> Iterator[Took]:
    """The repetitions, and so many queries at random, read."""
    for text in repetitions():
        yield took(text, partial(problem_of, text))
    source = random.Random(seed)  # noqa: S311 - the same seed gives the same cases
    for _ in range(count):
        text = query(source)
        yield took(text, partial(problem_of, text))


def main() -> int:
    """Runs the attack; 1 where something was wrong."""
    given = arguments(1_000_000)
    return attack("Links", cases(given.count, given.seed), seed=given.seed)


if __name__ == "__main__":
    sys.exit(main())
