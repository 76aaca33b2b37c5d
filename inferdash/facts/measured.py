"""Published measurements beside what was expected of them by a fit that did not see their publisher."""

import csv
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

from inferdash import shipped
from inferdash.facts.machines.accelerator import Family


@dataclass(frozen=True)
class Held:
    """What was expected of a result by a fit that had not seen others like it."""

    expected_s: float
    inside: bool
    """Whether the result lies in the band that those give which are left."""


@dataclass(frozen=True)
class Measurement:
    """One published result."""

    place: int
    """Its place among all, from 1: those of presets/measured/points.csv, then those of served.csv."""
    table: str
    """points or served."""
    row: dict[str, str]
    """Its row there."""
    model: str
    model_family: str
    """Models of one shape are one family."""
    model_kind: str
    """dense, experts or latent attention."""
    accelerator: str
    preset: str
    """Id of the accelerator among the presets; empty where it is none of them."""
    gpus: int
    engine: str
    engine_version: str
    weights: str
    phase: str
    """decode, prefill, serving at a stated number of requests, full load, output token or first token."""
    family: Family
    """Of the accelerator."""
    batch: float
    lengths: str
    """Tokens of each prompt and answer, or before a decode pass, in words."""
    model_bytes: float
    """Bytes of all parameters in its format."""
    measured_s: float
    """Seconds of a pass, a prompt, or a batch of whole requests; to the first token, or from one to the next."""
    limit_s: float
    without: dict[str, Held]
    """What was left out (publisher, family, system) -> what was expected then."""
    apart: bool
    """Whether it stayed out of the fit, as far from all others of its engine."""
    publisher: str
    source: str
    published: str
    """When it was measured, a year, a month or a day."""

    @property
    def expected_s(self) -> float:
        """Expected without its publisher."""
        return self.without["publisher"].expected_s

    @property
    def inside(self) -> bool:
        """Whether it lies in the band of that."""
        return self.without["publisher"].inside


WAYS: Final = ("publisher", "family", "system")
"""What is left out: who measured, the model's family, the accelerator."""


@cache
def measurements() -> tuple[Measurement, ...]:
    """Every result that can be what it says, in the order of the tables."""
    tables, sources = (
        {name: rows_of(name) for name in ("points", "served")},
        {row["id"]: row for row in rows_of("sources")},
    )
    presets = {row["accelerator"]: row["preset"] for row in rows_of("accelerators")}
    found = []
    for place, one in enumerate(rows_of("predicted"), 1):
        row = tables[one["table"]][int(one["place"]) - 1]
        source, phase = sources[row["origin"]], one["phase"]
        column = {"output token": "tpot_s", "first token": "ttft_mean_s"}.get(phase, "")
        found.append(
            Measurement(
                place=place,
                table=one["table"],
                row=row,
                model=row["model"],
                model_family=one["family"],
                model_kind=one["kind"],
                accelerator=row["accelerator"],
                preset=presets[row["accelerator"]],
                gpus=int(row["gpus"]),
                engine=row["engine"],
                engine_version=row["engine_version"],
                weights=row["weights"],
                phase=phase,
                family=cast("Family", one["class"]),
                batch=float(row["batch"] if one["table"] == "points" else row["concurrency"]),
                lengths=_lengths(row, phase),
                model_bytes=float(one["bytes"]),
                measured_s=float(row["measured_s"] if one["table"] == "points" else row[column]),
                limit_s=float(one["limit_s"]),
                without={way: Held(float(one[f"expected_s_{way}"]), one[f"inside_{way}"] == "1") for way in WAYS},
                apart=one["apart"] == "1",
                publisher=one["publisher"],
                source=source["source"],
                published=row.get("measured") or source["measured"],
            )
        )
    return tuple(found)


def _lengths(row: dict[str, str], phase: str) -> str:
    prompt, answer, context = (f"{float(row.get(name) or 0):,.0f}" for name in ("prompt", "answer", "context"))
    match phase:
        case "decode":
            return f"after {context} tokens"
        case "prefill":
            return f"{prompt} tokens"
        case "first token" if "answer" in row and not float(row["answer"] or 0):
            return f"{prompt} tokens"
    return f"{prompt} tokens in, {answer} out"


PHASES: Final = ("decode", "prefill", "serving", "full load", "output token", "first token")


@cache
def rows_of(name: str) -> tuple[dict[str, str], ...]:
    """A table of presets/measured/."""
    with (shipped("presets") / "measured" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
