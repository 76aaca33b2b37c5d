"""Every published number that can be what it says, as passes of the project's formulas."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from inferdash.facts.measured import rows_of
from inferdash.layers.feed_forward import Experts
from inferdash.physics.amounts import Amounts, amounts
from inferdash.physics.deployment import Deployment
from inferdash.physics.fitted.published import CHUNK, SERVED, Point, Step, points
from inferdash.physics.passes import one_pass
from inferdash.physics.under_load import served
from inferdash.physics.under_load.closed_loop import Intake, Load, first_limit_s, passes, room, waits

MIXES: Final = {"SGLang": False}
"""Engine -> whether a pass that reads prompts writes tokens of others too, where not."""
BEYOND: Final = {"TensorRT-LLM": 1500}
"""Engine -> positions of a pass beyond those of a prompt, as it is usually told; it takes in whole prompts.

By the settings that NVIDIA's configurator writes for it (`max_num_tokens` in
https://github.com/ai-dynamo/aiconfigurator/blob/17676b3/src/aiconfigurator/generator/rule_plugin/trtllm.rule).
"""
POLL: Final = {"SGLang": 10}
"""Engine -> passes between two looks for new requests, where it is not known what it was told and it is usually told.

By the scripts of InferenceX on B200 10 below 16 requests in flight and 30 from there; on others it was told nothing and
looks at each pass. 10 errs least where it is not known.
"""
MEAN_OF_LONGEST: Final = 0.9
"""Mean length over the longest one where lengths are drawn from 0.8 of it, as points.csv has them."""
FIRST_TOKENS_AT: Final = 4
"""Requests in flight at the times to first token in points.csv that went through a server."""
FAMILIES: Final = {
    "Llama-3-70B": "Llama 70B",
    "Llama-3.1-70B": "Llama 70B",
    "Llama-2-70B": "Llama 70B",
    "Llama-3-8B": "Llama 8B",
    "Llama-3.1-8B": "Llama 8B",
    "Llama-1-7B": "Llama 7B",
    "Llama-2-7B": "Llama 7B",
}
"""Model -> its family, where not itself: models of one shape are left out together."""


STOOD_STILL_S: Final = 5.0


@dataclass(frozen=True)
class Result:
    """A published number and the passes that it took."""

    table: str
    """points or served."""
    place: int
    """Its row there, from 1."""
    phase: str
    """decode, prefill, serving, full load, output token or first token."""
    publisher: str
    engine: str
    model: str
    system: str
    kind: str
    """Family of the accelerator."""
    machine: Deployment
    batch: int
    """Requests in flight."""
    measured_s: float
    writes: float
    write: Amounts | None
    """A pass that only writes, and how many."""
    reads: float
    read: Amounts | None
    limit_s: float | None = None
    """The limit where it is not that of these passes."""
    prompt: int = 0
    """Tokens that went through a server to a first token; 0 where none is in the time."""
    early: bool = False
    """Whether the engine served at a time when the processor beside the accelerators prepared each pass alone."""
    apart: bool = False

    @property
    def kind_of_model(self) -> str:
        """dense, experts or latent attention."""
        if any(blocks.attention and blocks.attention.expands for blocks in self.machine.architecture.blocks):
            return "latent attention"
        has = any(isinstance(blocks.feed_forward, Experts) for blocks in self.machine.architecture.blocks)
        return "experts" if has else "dense"


def apart(point: Point) -> bool:
    """Whether a result stays out of the fit: far from all others of its engine.

    Of the first half of 2024 at one publisher, vLLM on the MI300X took 2 to 15 times as long as the limit and as later
    engines there, and llama.cpp took 2 to 3 times as long as elsewhere on the same accelerators.
    """
    return point.publisher == "argonne" and (point.row["accelerator"] == "MI300X" or point.row["engine"] == "llama.cpp")


def stood_still(one: served.Served) -> bool:
    """Whether the first requests of a test waited for something else than the passes of others.

    In November 2025 the first requests to DeepSeek on SGLang waited about 80 seconds, as a mean of 5 to 12 seconds says
    where that of 4 to 128 requests in flight is 0.2 to 2.6 a few months later.
    """
    row = one.row
    at_once = row["model"] == "DeepSeek-R1" and row["engine"] == "SGLang" and row["measured"].startswith("2025-11")
    return at_once and float(row["ttft_mean_s"]) > STOOD_STILL_S


def doubtful(point: Point) -> bool:
    """Whether its note says that it cannot be what it says."""
    return point.row["used"] != "1" or "faster than roofline" in point.row["note"]


def results() -> list[Result]:
    """All of them, those of points.csv first."""
    return [*_points(), *_served()]


def mixes(engine: str) -> bool:
    """Whether an engine writes tokens in a pass that reads prompts."""
    return MIXES.get(engine, True)


def phase_of(point: Point) -> str:
    """The phase of a point, by what its number is."""
    if point.row["phase"] == "prefill" and point.publisher in SERVED:
        return "first token"
    if point.row["phase"] != "e2e":
        return point.row["phase"]
    return "full load" if point.row["batch_from"].startswith("derived") else "serving"


def _together(machine: Deployment, steps: list[Step]) -> tuple[float, Amounts | None]:
    """How many passes some steps are, and their mean."""
    if not steps:
        return 0.0, None
    count = sum(step.passes for step in steps)
    each = [
        amounts(machine, step.one, requests=step.requests, positions=step.positions).times(step.passes / count)
        for step in steps
    ]
    mean = each[0]
    for other in each[1:]:
        mean = mean.then(other)
    return count, mean


def _points() -> Iterator[Result]:
    years = {row["id"]: row["measured"][:4] for row in rows_of("sources")}
    for place, point in enumerate(points(), 1):
        if doubtful(point):
            continue
        row, machine, phase = point.row, point.machine, phase_of(point)
        writes, write = _together(machine, [step for step in point.passes if step.positions == 1])
        reads, read = _together(machine, [step for step in point.passes if step.positions > 1])
        prompt = 0
        if point.publisher in SERVED and phase != "decode":
            prompt = int(row["prompt"])
            if phase == "serving":
                (writes, write), (reads, read) = _whole_requests(point)
            else:
                one = one_pass(machine, requests=FIRST_TOKENS_AT, positions=1, past=prompt, output_positions=1)
                write = amounts(machine, one, requests=FIRST_TOKENS_AT, positions=1)
        yield Result(
            table="points",
            place=place,
            phase=phase,
            publisher=point.publisher,
            engine=row["engine"],
            model=FAMILIES.get(row["model"], row["model"]),
            system=row["accelerator"],
            kind=point.kind,
            machine=machine,
            batch=FIRST_TOKENS_AT if phase == "first token" else point.batch,
            measured_s=point.measured_s,
            writes=writes,
            write=write,
            reads=reads,
            read=read,
            prompt=prompt,
            early=phase == "serving" and years[row["origin"]] <= "2024",
            apart=apart(point),
        )


def intake(engine: str, prompt: int) -> Intake:
    """How an engine takes requests in as it is usually told."""
    chunk = room(chunk=CHUNK, beyond=BEYOND.get(engine), prompt=prompt)
    return Intake(chunk=chunk, mixes=mixes(engine), poll=POLL.get(engine, 1))


def _whole_requests(point: Point) -> tuple[tuple[float, Amounts], tuple[float, Amounts]]:
    """Passes of a whole request of a load test whose throughput was published."""
    row, machine, engine = point.row, point.machine, point.row["engine"]
    prompt, answer = (round(int(row[name]) / MEAN_OF_LONGEST) for name in ("prompt", "answer"))
    load = Load(in_flight=point.batch, prompt=prompt, answer=answer, spread=0.2)
    counts = waits(load.of_a_group(machine.layout.data), intake(engine, prompt))
    each = passes(machine, counts, mixes=mixes(engine))
    further = counts.answer - 1
    first, later = counts.first_reads, counts.reads * further
    read = each.first_read.times(first / (first + later)).then(each.read.times(later / (first + later)))
    return (counts.first_writes + counts.writes * further, each.write), (first + later, read)


def _served() -> Iterator[Result]:
    for place, one in served.usable().items():
        row, engine = one.row, one.row["engine"]
        load = one.load.of_a_group(one.machine.layout.data)
        taken = one.told.intake(intake(engine, load.prompt))
        counts = waits(load, taken)
        each = passes(one.machine, counts, mixes=mixes(engine))
        for phase, column in served.QUANTITIES.items():
            first = phase == "first token"
            yield Result(
                table="served",
                place=place,
                phase=phase,
                publisher=one.publisher,
                engine=engine,
                model=FAMILIES.get(row["model"], row["model"]),
                system=row["accelerator"],
                kind=one.kind,
                machine=one.machine,
                batch=one.load.in_flight,
                measured_s=float(row[column]),
                writes=counts.first_writes if first else counts.writes,
                write=each.write,
                reads=counts.first_reads if first else counts.reads,
                read=each.first_read if first else each.read,
                limit_s=first_limit_s(one.machine, load, taken) if first else None,
                prompt=one.load.prompt if first else 0,
                apart=first and stood_still(one),
            )
