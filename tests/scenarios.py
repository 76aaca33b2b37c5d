"""Valid scenarios from a seed, for tests and sweeps: as many fields as count say something else than the example."""

import json
from collections.abc import Callable, Mapping
from math import exp, log
from random import Random
from typing import Any, Final

from annotated_types import Ge, Le

from inferdash import links
from inferdash.scenario import BASE, CONFIG, FIELDS, OWN, PARTS, SHARE, Choices, Scenario, Several, counts, mark
from inferdash.validated import Quantity

CONFIGS: Final = tuple(
    json.dumps(fields, separators=(",", ":"))
    for fields in (
        {
            "model_type": "qwen3",
            "hidden_size": 2560,
            "num_hidden_layers": 36,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "intermediate_size": 9728,
            "vocab_size": 151_936,
        },
        {
            "model_type": "mixtral",
            "hidden_size": 2048,
            "num_hidden_layers": 20,
            "num_attention_heads": 16,
            "num_key_value_heads": 4,
            "intermediate_size": 4096,
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
            "vocab_size": 32_000,
        },
    )
)
"""Fields of config.json files, one dense and one with experts."""
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("Half the bytes", "50% & more = ?", "<b>bold</b> [x](y) $z$"),
    "config": CONFIGS,
    "first_prompt": ("You are a guide. Answer in French.", "a b c", "x" * 200),
    "second_prompt": ("You are a guide. Answer in Dutch.", "a b d", " "),
    "prices": ("2026-11-01", "2026-06-30", "2025-12-24"),
    "lengths": ("10, 20, 30", "1", "7x100, 3x2000", "100000"),
    "addends": ("1, 2, 3", "0.1x10", "1e12, -1e12, 1e-12", "-5"),
    "weight_values": ("0.5, -0.5", "0", "1e12, 1e-12", "0.1, 0.2, 0.3, -0.9, 0.05"),
    "logits": ("1, 1, 1, 1", "0", "-3, 5, 0.25", "1e12, -1e12", "0.5x16"),
    "measured": ("itl~9.5ms", "ttft~60ms", "tps~100", "itl~9.5ms~batch~16~prompt~2048"),
    "engine_version": ("0.19.0", "0.11.2", "V0 0.6.3"),
    "cache_room_of": ("0123abcd", "ffffffff"),
    "ranges": ("users 20k..60k", "answer ±20%, question 200/400/900", "turns 1..500, rent 0..10"),
    "own_rents": ("h100-sxm 2.5", "h100-sxm 2.5, b200-sxm 4.9", "mi300x 0.01, l40s 1000"),
}
"""Values of the fields of text."""
_OPENING: Final = {"model": (OWN, CONFIG, "mixtral-8x7b"), "api": (OWN,), "draft": (SHARE,), "layout": ("mixed",)}
"""Choices by which further fields begin to count, and so are drawn more often."""
_USUAL: Final[dict[str, float]] = {
    "memory": 96e9,
    "bandwidth": 4e12,
    "peak": 1e15,
    "weight_memory": 20e9,
    "queue": 0.2,
    "network": 0.05,
}
"""Where a quantity is absent or 0 by default, what it is near."""
_COUNTS: Final = {"max_num_seqs", "max_num_batched_tokens"}
"""Whole numbers that are absent by default."""
_SMALL: Final = {"simulated": (200, 800), "gpus": (2, 8), "replicas": (2, 4), "lengths": (1, 3), "places": (16, 512)}
"""Bounds of what makes a page slow, for those who need a page quickly."""

_CORNERED: Final = 0.85
"""Share of the numbers at a bound, where most are."""


def valid(seed: int, *, usual: bool = False) -> Scenario:
    """The scenario of a seed, as its link holds it: what says nothing in it is that of the chapter's example.

    Args:
        seed: the same gives the same.
        usual: every field that counts, near its default and quick to work out, so that a test in a browser is about
            the browser. Else from one bound to the other, in some fields or in all, and in half of the scenarios
            most numbers at their lower bound, or at their upper.
    """
    random = Random(f"scenario {seed}")  # noqa: S311 - nothing is kept secret with it
    share = 1.0 if usual else random.choice((0.05, 0.3, 1.0))
    chosen = [name for name in FIELDS if random.random() < share]
    corner = None if usual else random.choice((None, None, Ge, Le))
    values = {name: drawn(name, random, usual=usual, corner=corner) for name in chosen}
    if values.get("model") == CONFIG:
        values["config"] = random.choice(CONFIGS)
    return canonical(links.read(values)[0])


def canonical(scenario: Scenario) -> Scenario:
    """A scenario with nothing in it that its link does not hold."""
    decoded = links.decode(links.encode(scenario))
    assert not decoded.problems, decoded.problems
    return decoded.scenario


def edited(scenario: Scenario, name: str, random: Random, *, usual: bool = False) -> Scenario | None:
    """The scenario with one field changed to what it allows; None where this draw changes nothing, or is refused."""
    changed, problems = links.read({**dict(scenario), name: drawn(name, random, usual=usual)})
    return None if problems or getattr(changed, name) == getattr(scenario, name) else changed


def drawn(name: str, random: Random, *, usual: bool, corner: type[Ge] | type[Le] | None = None) -> Any:
    """A value of a field, within its bounds and mostly at one where `corner` says so, as a widget or a link has it."""
    choices, several, default = mark(name, Choices), mark(name, Several), getattr(BASE, name)
    if choices:
        if random.random() < 0.5 and name in _OPENING:
            return random.choice(_OPENING[name])
        return random.choice([one for one in choices.names() if one != default or not usual] or [default])
    if several:
        names = list(several.of.names())
        return tuple(random.sample(names, random.randint(1, min(several.most, len(names), 3 if usual else 999))))
    if isinstance(default, bool):
        return not default if usual else random.random() < 0.5
    if name == "order":
        return "".join(random.sample(list(PARTS), len(PARTS)))
    if name in _TEXTS:
        return random.choice(_TEXTS[name][: 2 if usual else None])
    if corner and random.random() < _CORNERED:
        return _rounded(name, bound(name, corner))
    number = _near(name, default, random) if usual or random.random() < 0.4 else _anywhere(name, random)
    least, most = _SMALL.get(name, (bound(name, Ge), bound(name, Le))) if usual else (bound(name, Ge), bound(name, Le))
    number = min(max(number, least), most)
    return _rounded(name, number)


def _rounded(name: str, number: float) -> float:
    return round(number) if isinstance(getattr(BASE, name), int) or name in _COUNTS else float(f"{number:.3g}")


def bound(name: str, kind: type[Ge] | type[Le]) -> float:
    """The lower or the upper bound of a number."""
    return float(getattr(mark(name, kind), kind.__name__.lower()))


def _near(name: str, default: float | None, random: Random) -> float:
    middle = default or _USUAL.get(name) or (300 if isinstance(default, int) else 0.3 * min(1, bound(name, Le)))
    number = middle * 2 ** random.uniform(-1.5, 1.5)
    return number if mark(name, Quantity) or isinstance(default, int) else round(number, 2)


def _anywhere(name: str, random: Random) -> float:
    least, most = bound(name, Ge), bound(name, Le)
    pick: Callable[[], float] = random.choice(
        (lambda: least, lambda: most, lambda: exp(random.uniform(log(max(least, 1e-3)), log(most))))
    )
    return pick()


def idle(scenario: Scenario) -> set[str]:
    """Fields that say nothing in a scenario."""
    return {name for name in FIELDS if not counts(name, scenario)}
