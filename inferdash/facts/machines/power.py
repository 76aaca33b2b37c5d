"""The curve from what a pass does to what its accelerators draw, as `make fit` fits it to measured energies."""

import tomllib
from functools import cache
from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from inferdash import shipped
from inferdash.validated import Validated


class HeldOut(Validated):
    """How far what is expected lies from measurements that the fit had not seen, as shares."""

    left_out: Literal["accelerator", "family", "task", "source"]
    """What the fit did not see."""
    of: str
    """The accelerator whose results these are; "all" for all of them."""
    what: Literal["watts", "joules"]
    """Watts at the measured speed, which also is J a token at a known speed; or J a token at the expected speed."""
    results: PositiveInt
    median: NonNegativeFloat
    """Of the absolute error."""
    ninth: NonNegativeFloat
    """Nine of ten errors are smaller."""
    inside: NonNegativeFloat
    """Share of the results in the band."""


class PowerCurve(Validated):
    """Watts of an accelerator as a share of what its board draws at most."""

    idle: float = Field(gt=0, lt=1)
    """With a model loaded and nothing to do, as the fit continues the curve."""
    memory: PositiveFloat
    """How strongly time at full bandwidth counts."""
    compute: PositiveFloat
    """How strongly time at the full peak counts."""
    exponent: PositiveFloat
    """Below 1, as a little work already wakes the whole chip."""
    pace: PositiveFloat
    """What a pass takes in service over the expected one: prompts are read among those that write."""
    request_s: PositiveFloat
    """What it takes longer for each request in it."""
    divided: PositiveFloat
    """What `pace` is higher by where experts are divided over accelerators, which wait for the fullest."""
    watts_band: tuple[PositiveFloat, PositiveFloat]
    """Edges of the band of watts at a known speed, as factors: 80% of the results of an accelerator that was not in
    the fit lie in it, of that whose results lie the widest."""
    joules_band: tuple[PositiveFloat, PositiveFloat]
    """The same of joules of a token at the expected speed."""
    unmeasured_watts_band: tuple[PositiveFloat, PositiveFloat]
    """Of an accelerator of which nothing was measured: the wider edge on both sides, as it may lie on either."""
    unmeasured_joules_band: tuple[PositiveFloat, PositiveFloat]
    measured: tuple[str, ...]
    """Ids of the accelerators that were measured."""
    held: tuple[HeldOut, ...] = ()


@cache
def power_curve() -> PowerCurve:
    """The shipped curve."""
    text = (shipped("presets") / "power" / "curve.toml").read_text(encoding="utf-8")
    return PowerCurve.model_validate(tomllib.loads(text))
