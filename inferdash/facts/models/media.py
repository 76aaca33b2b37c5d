"""How APIs count the tokens of images and sound: the figures of each maker's rule."""

import tomllib
from datetime import date
from decimal import Decimal
from fnmatch import fnmatch
from functools import cache
from typing import Literal, TypeAlias, TypeVar

from pydantic import Field, PositiveFloat, PositiveInt

from inferdash import shipped
from inferdash.validated import Validated

Detail: TypeAlias = Literal["auto", "high", "low"]
"""How closely an API is asked to look at an image."""


class Provenance(Validated):
    """Where a rule was read."""

    source: str
    checked: date
    confidence: Literal["high", "medium", "low"]
    note: str = ""


class Rule(Validated):
    """The rule of some models of one provider."""

    provider: str
    models: tuple[str, ...]
    """Patterns of the models for which it holds."""
    provenance: Provenance


class ImageRule(Rule):
    """How the tokens of an image follow from its width and height in pixels."""

    kind: Literal["patches", "tiles", "grid"]
    """Patches that cover it; large tiles and a base; or a grid of its shape within a budget, whatever its size."""
    patch: PositiveInt = 32
    """Pixels of the side of a patch."""
    multiplier: Decimal = Decimal(1)
    """Tokens of a patch."""
    most: dict[Detail, PositiveInt] = Field(default_factory=dict)
    """Patches at most by detail: a larger image is shrunk."""
    edge_px: PositiveInt | None = None
    """Pixels of the long edge at most: a larger image is shrunk."""
    most_tokens: PositiveInt | None = None
    """Tokens at most: a larger image is shrunk until it has no more."""
    base: int = 0
    """Tokens beside those of the tiles."""
    tile: int = 0
    """Tokens of a tile."""
    tile_px: PositiveInt = 512
    fit_px: PositiveInt | None = None
    """A larger image is first shrunk into a square of this side."""
    short_px: PositiveInt | None = None
    """Then until its short edge has this many pixels."""
    whole_px: PositiveInt | None = None
    """An image without a longer edge is one tile."""
    low: PositiveInt | None = None
    """Tokens at low detail."""
    budget: PositiveInt = 1120
    """Cells of the grid at most."""


class SoundRule(Rule):
    """Tokens of a second of sound."""

    per_second: PositiveFloat


R = TypeVar("R", bound=Rule)


class _Rules(Validated):
    rules: tuple[ImageRule, ...]
    sound: tuple[SoundRule, ...]


@cache
def _rules() -> _Rules:
    text = (shipped("presets") / "tokens" / "images.toml").read_text(encoding="utf-8")
    return _Rules.model_validate(tomllib.loads(text))


def image_rules() -> tuple[ImageRule, ...]:
    """All rules of images, in the order of the file."""
    return _rules().rules


def image_rule(provider: str, model: str) -> ImageRule | None:
    """The rule of a model; None where none was found."""
    return _of(image_rules(), provider, model)


def sound_rule(provider: str, model: str) -> SoundRule | None:
    """The rule of a model; None where none was found."""
    return _of(_rules().sound, provider, model)


def _of(rules: tuple[R, ...], provider: str, model: str) -> R | None:
    held = (one for one in rules if one.provider == provider and any(fnmatch(model, name) for name in one.models))
    return next(held, None)
