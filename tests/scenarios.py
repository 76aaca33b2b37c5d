"""Valid scenarios from a seed, for tests and sweeps: as many fields as count say something else than the example."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from math import exp, log
from random import Random
from typing import Any, Final

from annotated_types import Ge, Le

from inferdash import links
from inferdash.facts.money import price_books
from inferdash.facts.money.prices import UnknownModelError, price_list
from inferdash.scenario import BASE, CONFIG, FIELDS, OWN, PARTS, SHARE, Choices, Scenario, Several, counts, mark
from inferdash.scenario.costs import RANGED
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
_DAYS: Final = ("2026-11-29", "2026-11-01", "2026-06-30", "2025-12-24")
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("Half the bytes", "50% & more = ?", "<b>bold</b> [x](y) $z$"),
    "config": CONFIGS,
    "first_prompt": ("You are a guide. Answer in French.", "a b c", "x" * 200),
    "second_prompt": ("You are a guide. Answer in Dutch.", "a b d", " "),
    "prices": _DAYS,
    "lengths": ("10, 20, 30", "1", "7x100, 3x2000", "100000"),
    "addends": ("1, 2, 3", "0.1x10", "1e12, -1e12, 1e-12", "-5"),
    "weight_values": ("0.5, -0.5", "0", "1e12, 1e-12", "0.1, 0.2, 0.3, -0.9, 0.05"),
    "logits": ("1, 1, 1, 1", "0", "-3, 5, 0.25", "1e12, -1e12", "0.5x16"),
    "engine_version": ("0.19.0", "0.11.2", "V0 0.6.3"),
    "cache_room_of": ("0123abcd", "ffffffff"),
    "own_rents": ("h100-sxm 2.5", "h100-sxm 2.5, b200-sxm 4.9", "mi300x 0.01, l40s 1000"),
}
"""Values of the fields of text."""
_OPENING: Final = {
    "model": (OWN, CONFIG, "mixtral-8x7b"),
    "accelerator": (OWN,),
    "api": (OWN, OWN, "openai/gpt-5.2", "anthropic/claude-sonnet-5-5", "google/gemini-2.5-pro"),
    "draft": (SHARE,),
    "layout": ("mixed",),
}
"""Choices by which further fields begin to count, and so are drawn more often."""
_USUAL: Final[dict[str, float]] = {
    "memory": 96e9,
    "bandwidth": 4e12,
    "peak": 1e15,
    "weight_memory": 20e9,
    "queue": 0.2,
    "network": 0.05,
    "activations": 2e9,
    "overhead": 2e9,
    "cache_room": 30e9,
    "fabric_latency": 5e-6,
    "host_memory": 500e9,
    "ssd": 4e12,
    "adapters": 20,
    "cpu_expert_layers": 10,
    "prefill_gpus": 4,
    "prefill_rent": 2.0,
    "images": 2,
    "image_tokens": 1000,
    "sound": 30.0,
    "sound_tokens": 25.0,
    "compact_above": 50_000,
    "searches": 1.0,
    "subagents": 2,
    "server_usd": 30_000.0,
    "people_usd": 5000.0,
    "colocation_usd": 150.0,
    "rpm": 10_000,
    "itpm": 4_000_000,
    "otpm": 800_000,
}
"""Where a quantity is absent or 0 by default, what it is near."""
_COUNTS: Final = {"max_num_seqs", "max_num_batched_tokens", "prefill_gpus"}
"""Whole numbers that are absent by default."""
_ABSENT: Final = 0.3
"""Share of the numbers without a default, or with one of 0, that stay so: many open other fields."""
_FEW: Final = 6
"""Names of a choice up to which the default is drawn as well: each opens or closes other fields."""
_SMALL: Final = {"simulated": (200, 800), "gpus": (2, 8), "replicas": (2, 4), "lengths": (1, 3), "places": (16, 512)}
"""Bounds of what makes a page slow, for those who need a page quickly."""

_TESTED: Final = ("accelerator", "batch", "prompt", "answer", "weights", "engine", "gpus")
"""Fields of the set-ups that a reader has load-tested."""
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
    return canonical(links.read(*written(seed, usual=usual))[0])


def written(seed: int, *, usual: bool = False) -> tuple[dict[str, Any], Scenario]:
    """What a link might say, some of which may not fit together, and the baseline that it says it over."""
    random = Random(f"scenario {seed}")  # noqa: S311 - nothing is kept secret with it
    share = 1.0 if usual else random.choice((0.05, 0.3, 1.0))
    chosen = [name for name in FIELDS if random.random() < share]
    corner = None if usual else random.choice((None, None, Ge, Le))
    values = {name: drawn(name, random, usual=usual, corner=corner) for name in chosen}
    if values.get("model") == CONFIG:
        values["config"] = random.choice(CONFIGS)
    if values.get("layout") == "mixed":
        values |= _shared(random)
    if values.get("api", OWN) != OWN:
        values |= _priced(values, random)
    return values, random.choice((links.BASELINE, links.BASELINE, BASE))


def _shared(random: Random) -> dict[str, int]:
    """A mixed layout whose parts come to all GPUs."""
    tensor, pipeline, data = (random.choice((1, 2, 4, 8)), random.choice((1, 2)), random.choice((1, 1, 2)))
    return {"tensor_parallel": tensor, "pipeline_parallel": pipeline, "gpus": tensor * pipeline * data}


def _priced(values: Mapping[str, Any], random: Random) -> dict[str, str]:
    """A service and a day on which the API has a price, or a model of the price book; nothing where there is none."""
    book = price_books.find(values.get("book", price_books.NONE))
    if book and random.random() < 0.5:
        return {"api": random.choice([*book.named()]), "service": "standard"}
    provider, _, model = values["api"].partition("/")
    services = list(mark("service", Choices).names())
    for service in random.sample(services, len(services)):
        for day in random.sample(_DAYS, len(_DAYS)):
            with suppress(UnknownModelError):
                price_list(provider, model, day=date.fromisoformat(day), service=service)
                return {"service": service, "prices": day}
    return {}


def canonical(scenario: Scenario) -> Scenario:
    """A scenario with nothing in it that its link does not hold."""
    decoded = links.decode(links.encode(scenario))
    assert not decoded.problems, decoded.problems
    return decoded.scenario


def edited(scenario: Scenario, name: str, random: Random, *, usual: bool = False) -> Scenario | None:
    """The scenario with one field changed to what it allows; None where this draw changes nothing, or is refused."""
    changed, problems = links.read({**dict(scenario), name: drawn(name, random, usual=usual)})
    return None if problems or getattr(changed, name) == getattr(scenario, name) else changed


def beside(seed: int, scenario: Scenario) -> Scenario:
    """What a scenario is compared with: the next seed's, or itself with some other fields."""
    if seed % 2:
        return valid(seed + 1)
    random, other = Random(f"beside {seed}"), scenario  # noqa: S311 - nothing is kept secret with it
    for name in random.sample([*FIELDS], 20):
        other = edited(other, name, random) or other
    return canonical(other)


def drawn(name: str, random: Random, *, usual: bool, corner: type[Ge] | type[Le] | None = None) -> Any:
    """A value of a field, within its bounds and mostly at one where `corner` says so, as a widget or a link has it."""
    choices, several, default = mark(name, Choices), mark(name, Several), getattr(BASE, name)
    if choices:
        if random.random() < 0.5 and name in _OPENING:
            return random.choice(_OPENING[name])
        names = list(choices.names())
        few = len(names) <= _FEW
        return random.choice([one for one in names if few or not usual or one != default])
    if several:
        names = list(several.of.names())
        return tuple(random.sample(names, random.randint(1, min(several.most, len(names), 3 if usual else 999))))
    if isinstance(default, bool):
        return random.random() < 0.5
    if name == "order":
        return "".join(random.sample(list(PARTS), len(PARTS)))
    if name == "ranges":
        return ", ".join(_range(one, random) for one in random.sample(RANGED, random.randint(1, 3 if usual else 7)))
    if name == "measured":
        return ",".join(_measurement(random) for _ in range(random.randint(1, 3)))
    if name in _TEXTS:
        return random.choice(_TEXTS[name][: 2 if usual else None])
    if usual and not default and random.random() < _ABSENT:
        return default
    if corner and random.random() < _CORNERED:
        return _rounded(name, bound(name, corner))
    number = _near(name, default, random) if usual or random.random() < 0.4 else _anywhere(name, random)
    least, most = _SMALL.get(name, (bound(name, Ge), bound(name, Le))) if usual else (bound(name, Ge), bound(name, Le))
    number = min(max(number, least), most)
    return _rounded(name, number)


def _range(name: str, random: Random) -> str:
    """A number of a feature between two others, as one of the three ways writes it."""
    low, likely, high = sorted(_near(name, getattr(BASE, name), random) for _ in range(3))
    return random.choice(
        (
            f"{name} {low:.6g}..{high:.6g}",
            f"{name} {low:.6g}/{likely:.6g}/{high:.6g}",
            f"{name} ±{random.randint(0, 100)}%",
        )
    )


def _measurement(random: Random) -> str:
    """A load test as a link has it: of the example, or of another set-up; what cannot be true a link leaves out."""
    kind, ms = random.choice((("itl", 9.5), ("ttft", 60.0), ("tps", 100.0)))
    value = f"{ms * 2 ** random.uniform(-0.5, 2):.3g}"
    elsewhere = random.sample(_TESTED, random.randint(0, 3))
    fields = [(name, links.written(name, drawn(name, random, usual=True))) for name in elsewhere]
    return "~".join((kind, value if kind == "tps" else f"{value}ms", *(word for field in fields for word in field)))


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
