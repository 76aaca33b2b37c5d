"""Tokens of images against counts measured through the APIs, and laws that each rule keeps."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash.facts.models.media import Detail, image_rule, image_rules, sound_rule
from inferdash.pricing.images import image_tokens, patches

EXAMPLES = json.loads((Path(__file__).parent / "image_examples.json").read_text(encoding="utf-8"))
_MODEL = {
    "gpt-6 family": "gpt-6-sol",
    "gpt-5.5": "gpt-5.5",
    "gpt-4.1-mini, gpt-4.1-nano, o4-mini, gpt-5-mini, gpt-5-nano": "gpt-4.1-mini",
    "gpt-4o, gpt-4.1, older": "gpt-4o",
    "claude-haiku-4-5 and other standard-resolution models": "claude-haiku-4-5",
    "claude-opus-5-5, claude-sonnet-5-5 (high-resolution tier)": "claude-opus-5-5",
    "gemini 3.x, 4 (default resolution)": "gemini-4-argon",
    "gemini 2.x": "gemini-2.5-flash",
}
CASES = [(group["provider"], _MODEL[group["models"]], one) for group in EXAMPLES for one in group["examples"]]


def test_there_are_as_many_examples_as_were_gathered() -> None:
    assert len(CASES) == 57


@pytest.mark.parametrize(("provider", "model", "example"), CASES)
def test_an_image_has_the_tokens_that_were_measured(provider: str, model: str, example: dict[str, Any]) -> None:
    rule = image_rule(provider, model)
    assert rule is not None
    size = {"width": example["width"], "height": example["height"]}
    asked: dict[str, Detail] = {"auto": "auto", "high": "high", "tokens": "auto"}
    measured = {asked[key]: example[key] for key in asked if key in example}
    for detail, tokens in measured.items():
        assert image_tokens(rule, **size, detail=detail) == tokens
    if "patches" in example:
        assert patches(rule, **size) == example["patches"]
    assert measured or "patches" in example


def test_a_measured_request_is_its_image_and_a_prompt_that_stays() -> None:
    """What was measured has the prompt in it: the difference is one number a model, but where a client shrank it."""
    for group in EXAMPLES:
        prompts = {
            one["measured_with_prompt"] - one["tokens"] for one in group["examples"] if "measured_with_prompt" in one
        }
        assert len(prompts) <= 2


@pytest.mark.parametrize("rule", image_rules(), ids=lambda rule: str(rule.models[0]))
@given(width=st.integers(1, 20_000), height=st.integers(1, 20_000), detail=st.sampled_from(["auto", "high", "low"]))
def test_each_rule_gives_an_image_a_sensible_number(rule: Any, width: int, height: int, detail: Detail) -> None:
    tokens = image_tokens(rule, width=width, height=height, detail=detail)
    assert tokens >= 1
    assert tokens == image_tokens(rule, width=height, height=width, detail=detail), "a turned image has as many"
    assert tokens <= (rule.most_tokens or (rule.budget if rule.kind == "grid" else tokens))
    if detail in rule.most:
        assert patches(rule, width=width, height=height, detail=detail) <= max(rule.most[detail], 1)


def test_a_rule_that_was_not_found_is_none() -> None:
    assert image_rule("openai", "gpt-5-mini") is None
    assert image_rule("anthropic", "claude-haiku-5-5") is None
    sound = sound_rule("google", "gemini-2.5-flash")
    assert sound is not None
    assert (30 * sound.per_second, sound_rule("google", "gemini-4-argon")) == (960, None)
