"""Which model of the list of prices a log means, and at which sizes of a prompt any price changes."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

from inferdash.facts.money.prices import providers_listed

_MAKERS: Final = (
    "anthropic",
    "openai",
    "google",
    "deepseek",
    "mistral",
    "moonshotai",
    "x-ai",
    "zai",
    "cohere",
    "minimax",
)
_RESELLERS: Final = ("groq", "cerebras", "together", "fireworks", "perplexity", "aws", "azure")
"""Asked after the makers, in this order."""
_WORDS: Final = {"bedrock": "aws", "vertex_ai": "google", "gemini": "google", "xai": "x-ai", "moonshot": "moonshotai"}
"""Words before a model's name that gateways write -> the provider."""
_BEDROCK: Final = re.compile(r"^([a-z-]+\.)?(anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai)\.[a-z]")


@lru_cache(maxsize=1024)
def meant(name: str) -> tuple[str, str] | None:
    """Provider and model of the list for a name in a log, the maker's own prices first; None where it has none.

    Args:
        name: as an API or a gateway writes it, such as claude-sonnet-4-6 or openrouter/openai/gpt-5-mini.
    """
    before, slash, rest = name.partition("/")
    word = _WORDS.get(before.lower(), before.lower())
    if slash and word in providers_listed():
        if found := providers_listed()[word].find_model(rest):
            return word, found.id
        name = rest
    order = ("aws",) if _BEDROCK.match(name.lower()) else (*_MAKERS, *_RESELLERS)
    for provider in order:
        found = providers_listed()[provider].find_model(name)
        if found and not found.deprecated:
            return provider, found.id
    return None


@cache
def edges() -> frozenset[int]:
    """Input tokens from which on a price of any model is another one, or a prompt is longer than a model takes."""
    found = set[int]()
    for provider in providers_listed().values():
        for model in provider.models:
            if model.context_window:
                found.add(model.context_window + 1)
            for start in _starts(model):
                found |= {start - 1, start}
    return frozenset(found)


def _prices(model: Any) -> Iterator[Any]:
    """All prices of a model, of every day and service."""
    for one in (model, *(model.price_variants or ())):
        for prices in one.prices if isinstance(one.prices, list) else [one.prices]:
            yield getattr(prices, "prices", prices)


def longest(name: str) -> int:
    """Input tokens of the longest request to a model of a log; of any model where it is not in the list."""
    return _longest(meant(name)) or max(edges())


@cache
def _longest(found: tuple[str, str] | None) -> int:
    if found is None:
        return 0
    provider, key = found
    model = next(one for one in providers_listed()[provider].models if one.id == key)
    context = int(model.context_window or 0)
    # A price for longer prompts than the context says that the model takes them by now.
    return context if context >= max(_starts(model), default=0) else 0


def _starts(model: Any) -> Iterator[int]:
    """Input tokens at which a price of a model changes."""
    for prices in _prices(model):
        for price in vars(prices).values():
            yield from (tier.start + 1 for tier in getattr(price, "tiers", ()))
