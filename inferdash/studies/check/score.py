"""A table of load tests beside what is expected of each: the band, whether it holds, and the errors of all."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final, TypeAlias

import numpy as np

from inferdash import quantities
from inferdash.facts.machines.engine import Band, Engine
from inferdash.physics import named
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.expected import edge_s, expected, expected_prefill, server_s, uncertain_part
from inferdash.physics.parallelism import obstacle
from inferdash.physics.under_load.closed_loop import Load, LoadTest, Told, expected_of_load, intake_of
from inferdash.physics.under_load.served import shared_layout
from inferdash.serving import load_files
from inferdash.serving.simulated.at_rate import at_rate

COLUMNS: Final = (
    *("model", "accelerator", "engine", "engine_version", "weights", "kv", "gpus"),
    *("tensor", "pipeline", "data", "expert", "prompt", "answer", "spread", "concurrency", "rate"),
    *("chunk", "poll", "gather"),
    *("ttft_mean_s", "ttft_p50_s", "ttft_p90_s", "tpot_s", "output_tok_per_s"),
)
"""Columns of the table; one may be empty, or missing, where it is not known.

`chunk`, `poll` and `gather` are tokens of prompts in a pass at most, passes between two looks for new requests, and
passes that a new request waits at most for others, where the engine was told.
"""
NEEDED: Final = ("model", "accelerator", "prompt", "answer")
QUANTITIES: Final = ("tpot_s", "ttft_mean_s", "ttft_p50_s", "output_tok_per_s", "decode_s", "prefill_s")
NAMES: Final = {
    "tpot_s": "Output token",
    "ttft_mean_s": "First token, mean",
    "ttft_p50_s": "First token, median",
    "output_tok_per_s": "Output tokens/s",
    "decode_s": "Decode pass",
    "prefill_s": "Prefill",
}
On: TypeAlias = tuple[Deployment, Engine]
"""What runs on what, and which program, where rows do not say it."""
_MOST_ROWS: Final = 100_000
_MOST: Final = {
    "prompt": 1 << 21,
    "answer": 1 << 20,
    "concurrency": 1 << 14,
    "gpus": 1 << 14,
    "poll": 1 << 10,
    "gather": 1 << 10,
}
_SETTLED: Final = 0.5
_ROUNDS: Final = 30
"""In which the requests in flight of an open loop settle."""


@dataclass(frozen=True)
class Scored:
    """A row of the table: what is expected, the band around it, what was measured, and how far it is off."""

    row: int
    """Its line after the heading, from 1."""
    subject: str
    expected: dict[str, float] = field(default_factory=dict)
    band: dict[str, tuple[float, float]] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    problem: str = ""
    """Why nothing is expected; empty where something is."""

    @property
    def error(self) -> dict[str, float]:
        """Expected over measured, less 1."""
        return {name: self.expected[name] / value - 1 for name, value in self.measured.items() if name in self.expected}

    @property
    def inside(self) -> dict[str, bool]:
        """Whether what was measured lies in the band."""
        return {
            name: self.band[name][0] <= value <= self.band[name][1]
            for name, value in self.measured.items()
            if name in self.band
        }


@dataclass(frozen=True)
class Summary:
    """The errors of a quantity over all rows."""

    n: int
    median: float
    """Of the absolute error."""
    p90: float
    bias: float
    """The error at the median, with its sign."""
    in_band: float


def read(text: str) -> list[dict[str, str]]:
    """The rows of a table with a heading.

    Raises:
        ValueError: with a sentence, where it is no such table.
    """
    rows = list(csv.DictReader(text.splitlines()))
    heads = {name.strip() for name in rows[0] if name} if rows else set()
    missing = [name for name in NEEDED if name not in heads]
    if missing:
        raise ValueError(f"It is no table of load tests: {', '.join(missing)} is missing among its columns.")
    if len(rows) > _MOST_ROWS:
        raise ValueError(f"It has {len(rows):,} rows, more than {_MOST_ROWS:,}.")
    return [
        {(key or "").strip(): (value or "").strip() for key, value in row.items() if isinstance(value, str)}
        for row in rows
    ]


def read_any(text: str, on: On | None) -> list[dict[str, str]]:
    """The rows of a table, or the runs of a load tool's file, which needs to be told what it ran on.

    Raises:
        ValueError: with a sentence, where it is neither, or nothing is told.
    """
    try:
        runs = load_files.rows(text)
    except ValueError:
        if text.lstrip().startswith(("{", "[")):
            raise
        return read(text)
    if on is None:
        raise ValueError("The file does not say on what it ran: give a link of it with --on.")
    return runs


def score(rows: Iterable[Mapping[str, str]], on: On | None = None, *, engine: Engine | None = None) -> list[Scored]:
    """Every row beside what is expected of it, by an engine that is given for all of them or by its own."""
    return [_scored(place, row, on, engine) for place, row in enumerate(rows, 1)]


def _number(row: Mapping[str, str], name: str, default: float | None = None) -> float:
    text = row.get(name, "")
    if not text:
        if default is None:
            raise ValueError(f"{name} is missing")
        return default
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name} {text} is no number") from None
    if not isfinite(value) or value <= 0 or value > _MOST.get(name, 1e12):
        raise ValueError(f"{name} {text} is out of range")
    return value


def whole_number(row: Mapping[str, str], name: str, default: int | None = None) -> int:
    """A number of a row that must be whole.

    Raises:
        ValueError: with a clause, where it is none, or missing without a default.
    """
    value = _number(row, name, default)
    if value != round(value):
        raise ValueError(f"{name} {row[name]} is no whole number")
    return int(value)


def machine_of(row: Mapping[str, str]) -> Deployment:
    """What ran on what in a row.

    Raises:
        ValueError: with a clause, where it cannot be.
    """
    shape, chip = named.model(row.get("model", "")), named.accelerator(row.get("accelerator", ""))
    parameters = named.weights(row.get("weights", ""), shape)
    pipeline, data, expert = (whole_number(row, name, 1) for name in ("pipeline", "data", "expert"))
    gpus = whole_number(row, "gpus", 0) if row.get("gpus") else 0
    tensor = whole_number(row, "tensor", max(1, gpus // (pipeline * data)))
    layout = shared_layout(tensor=tensor, pipeline=pipeline, data=data, expert=expert)
    if gpus and gpus != layout.gpus:
        raise ValueError(f"{layout.gpus} GPUs by its layout are not the {gpus} that it says")
    hindered = obstacle(shape, layout)
    if hindered:
        raise ValueError(f"{hindered[0]} {hindered[1]}")
    kv = named.cache_format(row.get("kv", ""), parameters)
    return deploy(shape, chip, gpus=layout.gpus, layout=layout, weights=parameters, cache=kv)


def _measured(row: Mapping[str, str]) -> dict[str, float]:
    return {name: _number(row, name) for name in QUANTITIES if row.get(name)}


def _scored(place: int, row: Mapping[str, str], on: On | None, given: Engine | None) -> Scored:
    subject = ", ".join(filter(None, (row.get(name, "") for name in ("model", "weights", "accelerator", "engine"))))
    if "speculation" in row.get("note", ""):
        return Scored(place, subject, problem=f"{row['note']}.")
    try:
        machine, engine = (machine_of(row), given or named.engine(row.get("engine", ""))) if on is None else on
        if on is not None:
            subject = f"{machine.architecture.name}, {machine.weights.name}, {machine.accelerator.name}, {engine.name}"
        subject = f"{subject} ({row['note']})" if row.get("note") else subject
        if "phase" in row:
            return _one_pass(place, subject, row, machine, engine)
        found = tested(machine, engine, row)
        measured = _measured(row)
    except ValueError as error:
        return Scored(place, subject, problem=f"{error}.")
    if found is None:
        return Scored(place, subject, measured=measured, problem="The peak of the accelerator is not known.")
    test = found
    bands = engine.reach[machine.accelerator.family].bands
    low, high = _edges(float(test.between.limit_s), test.output_token_s, bands.serving)
    first = _edges(float(test.until_first.limit_s), test.first_token_s, bands.first_token)
    speed, middle = test.output_tokens_per_s, test.first_token_p50_s / test.first_token_s
    return Scored(
        place,
        subject,
        expected={
            "tpot_s": test.output_token_s,
            "ttft_mean_s": test.first_token_s,
            "ttft_p50_s": test.first_token_p50_s,
            "output_tok_per_s": speed,
        },
        band={
            "tpot_s": (low, high),
            "ttft_mean_s": first,
            "ttft_p50_s": (first[0] * middle, first[1] * middle),
            "output_tok_per_s": (speed * test.output_token_s / high, speed * test.output_token_s / low),
        },
        measured=measured,
    )


def _one_pass(place: int, subject: str, row: Mapping[str, str], machine: Deployment, engine: Engine) -> Scored:
    """A prompt or a pass alone, as llama-bench measures them."""
    phase, past = row["phase"], float(row["past"])
    if phase == "prefill":
        whole = expected_prefill(machine, engine, prompt=whole_number(row, "prompt"), past=int(past))
    else:
        whole = expected(machine, engine, requests=1, positions=1, past=past)
    if whole is None:
        return Scored(place, subject, problem="The peak of the accelerator is not known.")
    name, seconds = f"{phase}_s", float(whole.pass_s)
    band: Band = getattr(engine.reach[machine.accelerator.family].bands, phase)
    edges = _edges(float(whole.limit_s), seconds, band)
    return Scored(place, subject, {name: seconds}, {name: edges}, {name: _number(row, "seconds")})


def _edges(limit_s: float, expected_s: float, band: Band) -> tuple[float, float]:
    exponent = uncertain_part(limit_s=limit_s, expected_s=expected_s)
    low, high = (float(edge_s(expected_s=expected_s, factor=factor, exponent=exponent)) for factor in band)
    return low, high


def tested(machine: Deployment, engine: Engine, row: Mapping[str, str]) -> LoadTest | None:
    """What the test is expected to find; the requests in flight of an open loop settle by themselves."""
    prompt, answer = whole_number(row, "prompt"), max(2, whole_number(row, "answer"))
    spread = float(row.get("spread") or 0)
    if not 0 <= spread < 1:
        raise ValueError(f"spread {row['spread']} is not from 0 to 1")

    told = Told(**{name: whole_number(row, name) for name in ("chunk", "poll", "gather") if row.get(name)})

    def at(in_flight: float) -> LoadTest | None:
        load = Load(in_flight=max(1, round(in_flight)), prompt=prompt, answer=answer, spread=spread)
        return expected_of_load(machine, engine, load, told)

    if row.get("concurrency"):
        return at(whole_number(row, "concurrency"))
    rate, in_flight, found = _number(row, "rate"), 1.0, None
    for _ in range(_ROUNDS):
        found = at(in_flight)
        if found is None:
            return None
        settled = min(_MOST["concurrency"], rate * (found.first_token_s + (answer - 1) * found.output_token_s))
        if abs(settled - in_flight) < _SETTLED:
            break
        in_flight = settled
    if in_flight >= _MOST["concurrency"]:
        raise ValueError(f"a rate of {rate:g} requests/s is more than it carries")
    load = Load(in_flight=max(1, round(in_flight)), prompt=prompt, answer=answer, spread=spread)
    return _at_random_times(machine, engine, load, told, rate=rate, alike=found)


def _at_random_times(
    machine: Deployment, engine: Engine, load: Load, told: Told, *, rate: float, alike: LoadTest | None
) -> LoadTest | None:
    """The same where requests come at random times, not as others end; `alike` is a test with as many in flight."""
    open_loop = at_rate(machine, engine, load, intake_of(engine, load, told), per_s=rate)
    if alike is None or open_loop is None:
        return None
    server = float(server_s(server_s=engine.server, token_s=engine.server_token, prompt=load.prompt))
    return LoadTest(
        first_token_s=server + open_loop.first_token_s,
        first_token_p50_s=server + open_loop.first_token_p50_s,
        output_token_s=open_loop.output_token_s,
        output_tokens_per_s=rate * open_loop.answer,
        until_first=alike.until_first.times(open_loop.first_token_s / float(alike.until_first.pass_s)),
        between=alike.between.times(open_loop.output_token_s / float(alike.between.pass_s)),
    )


def summaries(found: Sequence[Scored]) -> dict[str, Summary]:
    """The errors of each quantity that was measured."""
    result = {}
    for name in QUANTITIES:
        errors = np.array([one.error[name] for one in found if name in one.error])
        if len(errors):
            held = [one.inside[name] for one in found if name in one.error]
            off = np.abs(errors)
            result[name] = Summary(
                n=len(errors),
                median=float(np.median(off)),
                p90=float(np.quantile(off, 0.9)),
                bias=float(np.median(errors)),
                in_band=float(np.mean(held)),
            )
    return result


def as_json(found: Sequence[Scored]) -> dict[str, Any]:
    """Rows and summary, in base units and shares."""
    rows = [
        {
            "row": one.row,
            "subject": one.subject,
            "expected": one.expected,
            "band": {name: list(edges) for name, edges in one.band.items()},
            "measured": one.measured,
            "error": one.error,
            "inside": one.inside,
            "problem": one.problem,
        }
        for one in found
    ]
    summary = {name: vars(one) for name, one in summaries(found).items()}
    return {"rows": rows, "summary": summary}


def text(found: Sequence[Scored]) -> str:
    """A line a row, and the errors at the bottom."""
    lines = []
    for one in found:
        cells = [
            f"{NAMES[name]} {_said(name, value)}, expected {_said(name, one.expected[name])} "
            f"({_said(name, one.band[name][0])} to {_said(name, one.band[name][1])}"
            f"{'' if one.inside[name] else ', outside'})"
            for name, value in one.measured.items()
            if name in one.expected
        ]
        lines.append(f"{one.row:5}  {one.subject}: {one.problem or '; '.join(cells)}")
    lines.append("")
    lines += [
        f"{NAMES[name]:20} {of.n:6,} rows, error {of.median:.1%} at the median and {of.p90:.1%} for nine of ten, "
        f"bias {of.bias:+.1%}, {of.in_band:.0%} in the band"
        for name, of in summaries(found).items()
    ]
    return "\n".join(lines)


def _said(name: str, value: float) -> str:
    return str(quantities.shown(value, "tokens/s" if name == "output_tok_per_s" else "s"))
