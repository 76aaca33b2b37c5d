"""The runs of a reader's load tests beside what was expected of each, and an engine moved to all of them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import log1p
from typing import Any, Final

from pydantic import ValidationError

from inferdash import quantities
from inferdash.facts.machines.engine import Engine
from inferdash.formula import recording
from inferdash.pricing.logs.packed import Readable
from inferdash.scenario import Scenario
from inferdash.studies.check import own_engine, score
from inferdash.studies.check.score import NAMES, On, Scored, Summary
from inferdash.studies.numbers import Row, Table

LABEL: Final = "Files of a load tool"
INTRO: Final = (
    "A whole file of vllm bench serve, SGLang’s bench_serving, GuideLLM, aiperf, inference-perf, trtllm-bench or "
    "llama-bench, taken as a test of this scenario’s model, precision, GPUs and engine; or a CSV with a test "
    "a row. An engine file saved here is held against it, where both are given. Nothing of a file is "
    "stored, logged or passed on."
)
KEEP: Final = (
    "Whoever runs this server puts the engine file into its folder of engines (INFERDASH_ENGINES); every page and link "
    "then offers it under its name. It counts for this model on this accelerator."
)
MOST: Final = 300
"""Runs of a file that are read."""
SHOWN: Final = 20
"""Numbers of a file that stand on the page; its download has all of them."""
_LARGEST: Final = 20_000_000
_LONGEST: Final = 100_000
"""Bytes of a file, and of an engine file."""
_COLOURS: Final = {"tpot_s": "money", "ttft_mean_s": "compute", "decode_s": "memory", "prefill_s": "compute"}
"""Quantities that are drawn, all in seconds, and what stands for each."""


@dataclass(frozen=True, eq=False)
class OwnRuns:
    """What came of a file."""

    names: tuple[str, ...] = ()
    """What each run is, in words."""
    before: tuple[Scored, ...] = ()
    """Each run beside what was expected of it."""
    after: tuple[Scored, ...] = ()
    """The same by the engine moved to all of them; empty where none was."""
    engine: str = ""
    """The file of that engine."""
    problems: tuple[str, ...] = ()
    """What the reader should know, in sentences."""


def study(stream: Readable, scenario: Scenario, given: str, origin: str, today: date) -> OwnRuns:
    """Reads the runs of a file.

    Args:
        stream: a file that is open for bytes.
        scenario: what they ran on, where the file does not say it.
        given: the text of an engine file to hold them against; empty for the scenario's engine.
        origin: the file's name.
        today: the day that an engine file says.

    Raises:
        OSError: where the file cannot be read.
    """
    try:
        engine = _engine(given) if given else scenario.program
        content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise ValueError(f"The file is larger than {quantities.shown(_LARGEST, 'B')}.")  # noqa: TRY301 - one way out
        with recording():
            return _found(content.decode("utf-8-sig"), (scenario.as_run, engine), given != "", origin, today)
    except UnicodeDecodeError:
        return OwnRuns(problems=("The file is no text in UTF-8.",))
    except ValueError as error:
        return OwnRuns(problems=(str(error),))


def _engine(text: str) -> Engine:
    """The engine of a file.

    Raises:
        ValueError: with a sentence, where it is none.
    """
    try:
        return Engine.model_validate(tomllib.loads(text[:_LONGEST]))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise ValueError(f"It is no engine file: {str(error).splitlines()[0]}.") from None


def _found(text: str, on: On, given: bool, origin: str, today: date) -> OwnRuns:
    try:
        rows = score.read_any(text, on)
    except ValueError as error:
        if text.lstrip().startswith(("{", "[")):
            raise
        raise ValueError(
            f"{error} Its columns are those of `inferdash score`, or it is no file of a load tool."
        ) from None
    told = "model" in rows[0]
    """Whether the rows say themselves what they ran on."""
    problems = [f"Only the first {MOST} of {len(rows):,} runs are read."] if len(rows) > MOST else []
    rows = rows[:MOST]
    before = _scored(rows, on, told=told, engine=on[1] if given else None)
    problems += [f"Run {one.row}: {one.problem}" for one in before if one.problem]
    problems += [
        f"Run {at}: {row['note']}." for at, row in enumerate(rows, 1) if row.get("note") and not before[at - 1].problem
    ]
    usable = [row for row, one in zip(rows, before, strict=True) if not one.problem]
    names = tuple(_name(row, one) for row, one in zip(rows, before, strict=True))
    try:
        moved = own_engine.of(usable, None if told else on, name=f"{on[1].name}, own", origin=origin, today=today)
    except ValueError as error:
        return OwnRuns(names, before, problems=(*problems, *([str(error)] if usable else [])))
    after = _scored(rows, on, told=told, engine=moved)
    return OwnRuns(names, before, after, own_engine.written(moved), tuple(problems))


def _scored(rows: list[dict[str, str]], on: On, *, told: bool, engine: Engine | None) -> tuple[Scored, ...]:
    """Rows that do not say what they ran on by `on`; those that do by themselves, but for an engine that is given."""
    if not told:
        return tuple(score.score(rows, (on[0], engine or on[1])))
    return tuple(score.score(rows, engine=engine))


def _name(row: Mapping[str, str], one: Scored) -> str:
    if "phase" in row:
        tokens = row["prompt"] if row["phase"] == "prefill" else row["past"]
        return f"{one.row}: {NAMES[row['phase'] + '_s'].lower()}, {tokens} tokens"
    flight = f"{row['concurrency']} in flight" if row.get("concurrency") else f"{row.get('rate', '?')} a second"
    return f"{one.row}: {row.get('prompt', '?')} + {row.get('answer', '?')} tokens, {flight}"


def drawn(found: OwnRuns) -> dict[str, list[dict[str, Any]]]:
    """Measured over expected seconds of each run; nothing where none has both."""
    points: list[dict[str, Any]] = [
        {
            "place": one.row,
            "expected_s": one.expected[key],
            "measured_s": one.measured[key],
            "meaning": colour,
            "phase": NAMES[key],
            "label": name,
            "said": f"measured {_said(key, one.measured[key])}, expected {_said(key, one.expected[key])}",
        }
        for name, one in zip(found.names, found.before, strict=True)
        for key, colour in _COLOURS.items()
        if key in one.measured and key in one.expected
    ]
    times = [point[name] for point in points for name in ("measured_s", "expected_s")]
    return {"points": points, "equal": [{"at_s": min(times)}, {"at_s": max(times)}]} if points else {}


LEGEND: Final = (
    "Purple: time per output token; orange: time to first token and prefills. Both are equal on the dashed line."
)


def table(found: OwnRuns, *, most: int | None = None) -> Table:
    """Each number of each run: measured, expected with its band, off by, and what the moved engine expects.

    Args:
        found: what came of the file.
        most: rows that stay, those furthest off; all where None.
    """
    rows: list[tuple[float, Row]] = []
    for place, (name, one) in enumerate(zip(found.names, found.before, strict=True)):
        for key, value in one.measured.items():
            if key in one.expected:
                low, high = one.band[key]
                band = f"{_said(key, low)} to {_said(key, high)}"
                cells = [
                    _said(key, value),
                    _said(key, one.expected[key]),
                    band if one.inside[key] else f"{band}, outside",
                ]
                after = [f"{found.after[place].error[key]:+.0%}"] if found.after else []
                row = Row(f"{name}, {NAMES[key].lower()}", "word", (*cells, f"{one.error[key]:+.0%}", *after))
                rows.append((abs(log1p(one.error[key])), row))
    calibrated = ("off by, calibrated",) if found.after else ()
    least = sorted(off for off, _ in rows)[-most] if most is not None and most < len(rows) else 0.0
    kept = tuple(row for off, row in rows if off >= least)
    return Table(("measured", "expected", "80% band", "off by", *calibrated), kept, head="Run")


def cut(found: OwnRuns) -> str:
    """That the page shows fewer rows than there are, where it does."""
    every = len(table(found).rows)
    return f"The {SHOWN} of {every:,} numbers that are furthest off." if every > SHOWN else ""


def errors(found: OwnRuns) -> Table:
    """The errors of all runs by quantity, as expected and by the engine moved to them."""
    before, after = score.summaries(found.before), score.summaries(found.after)

    def cells(one: Summary | None) -> tuple[str, ...]:
        return ("", "") if one is None else (f"{one.median:.1%} / {one.p90:.1%}", quantities.percent(one.in_band))

    heads = ("median / 90%", "in the band")
    rows = [
        Row(NAMES[key], "word", (f"{one.n:,}", *cells(one), *(cells(after.get(key)) if found.after else ())))
        for key, one in before.items()
    ]
    both = tuple(f"{head}, calibrated" for head in heads) if found.after else ()
    return Table(("runs", *heads, *both), tuple(rows), head="Error")


def _said(key: str, value: float) -> str:
    return str(quantities.shown(value, "tokens/s" if key == "output_tok_per_s" else "s"))
