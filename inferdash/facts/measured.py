"""Published measurements beside what was expected of them by a fit that did not see their publisher."""

import csv
from dataclasses import dataclass
from functools import cache
from typing import Final

from inferdash import shipped


@dataclass(frozen=True)
class Measurement:
    """One published result."""

    place: int
    """Its row in presets/measured/points.csv, from 1."""
    model: str
    accelerator: str
    preset: str
    """Id of the accelerator among the presets; empty where it is none of them."""
    gpus: int
    engine: str
    weights: str
    phase: str
    """decode, prefill, serving at a stated number of requests, or full load."""
    family: str
    """Of the accelerator."""
    batch: float
    lengths: str
    """Tokens of each prompt and answer, or before a decode pass, in words."""
    model_bytes: float
    """Bytes of all parameters in its format."""
    measured_s: float
    """Seconds of a pass, a prompt, or a batch of whole requests."""
    limit_s: float
    expected_s: float
    inside: bool
    """Whether it lies in the band that the other publishers give."""
    apart: bool
    """Whether it stayed out of the fit, as far from all others of its engine."""
    publisher: str
    source: str
    published: str
    """When it was measured, a year or a month."""


@cache
def measurements() -> tuple[Measurement, ...]:
    """Every result that can be what it says, in the order of presets/measured/points.csv."""
    points, sources = rows_of("points"), {row["id"]: row for row in rows_of("sources")}
    presets = {row["accelerator"]: row["preset"] for row in rows_of("accelerators")}
    found = []
    for one in rows_of("predicted"):
        row = points[int(one["point"]) - 1]
        source = sources[row["origin"]]
        found.append(
            Measurement(
                place=int(one["point"]),
                model=row["model"],
                accelerator=row["accelerator"],
                preset=presets[row["accelerator"]],
                gpus=int(row["gpus"]),
                engine=row["engine"],
                weights=row["weights"],
                phase=one["phase"],
                family=one["class"],
                batch=float(row["batch"]),
                lengths=_lengths(row, one["phase"]),
                model_bytes=float(one["bytes"]),
                measured_s=float(row["measured_s"]),
                limit_s=float(one["limit_s"]),
                expected_s=float(one["expected_s"]),
                inside=one["inside"] == "1",
                apart=one["apart"] == "1",
                publisher=one["publisher"],
                source=source["source"],
                published=source["measured"],
            )
        )
    return tuple(found)


def _lengths(row: dict[str, str], phase: str) -> str:
    prompt, answer, context = (f"{float(row[name] or 0):,.0f}" for name in ("prompt", "answer", "context"))
    match phase:
        case "decode":
            return f"after {context} tokens"
        case "prefill":
            return f"{prompt} tokens"
    return f"{prompt} tokens in, {answer} out"


PHASES: Final = ("decode", "prefill", "serving", "full load")


@cache
def rows_of(name: str) -> tuple[dict[str, str], ...]:
    """A table of presets/measured/."""
    with (shipped("presets") / "measured" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
