"""What the engine keeps of one accelerator, part by part, the logged starts nearest to it, and the reader's own."""

from collections.abc import Mapping
from math import log
from typing import Any, Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.machines import start_log
from inferdash.facts.machines.start_log import StartLog
from inferdash.formula import section
from inferdash.physics.capacity.engine_memory import Kept, kept
from inferdash.physics.capacity.memory import cache_bytes_of_one
from inferdash.physics.capacity.settings import seen_bytes
from inferdash.physics.capacity.spans import Span, exactly
from inferdash.physics.capacity.starts import GIB, LoggedStart, logged
from inferdash.scenario import BASE, Scenario, in_memory
from inferdash.studies.numbers import Estimate, Row, Table

INTRO: Final = (
    "Paste what your engine logs at its start, a line of it or the whole: "
    f"“{start_log.EXAMPLES[0]}”, “{start_log.EXAMPLES[1]}”. "
    "Its own numbers then count in place of the rule, for this set-up."
)
NEAREST: Final = (
    "Starts as engines logged them, nearest first, with the rule’s estimate for the same settings and logged "
    "parameters. No row was made by this project."
)
_ROWS: Final = 6
WORDS: Final = {
    "surely": "is sure to start",
    "probably": "probably starts",
    "probably not": "probably does not start",
    "no": "does not start",
}
"""Whether it starts, as a verb."""


def room_of(scenario: Scenario) -> Estimate:
    """Room for caches on one GPU: the limit by the datasheet, or expected with its band as an engine uses it."""
    machine = scenario.as_run
    weights = float(machine.stored_bytes_of_one)
    found = scenario.kept
    if found is None:
        return Estimate(machine.memory - weights, None, None, None)
    room = found.usable + -in_memory.weights_of_one(scenario, weights=weights)
    return Estimate(None, room.expected, room.low, room.high)


def worked(scenario: Scenario) -> None:
    """Goes once through the formulas of what the engine keeps, by its newest version where none is stated."""
    if scenario.kept is None:
        return
    rule, weights = library.memory_of(scenario.engine), float(scenario.as_run.stored_bytes_of_one)
    newest = rule.model_copy(update={"eras": rule.possible(scenario.engine_version)[-1:]})
    with section("Kept by the engine"):
        kept(newest, in_memory.shape(scenario), in_memory.setting(scenario, weights=weights))


def parts(scenario: Scenario, found: Kept) -> list[tuple[str, str, Span]]:
    """What is taken of one GPU before parameters and caches: name, meaning of its colour, bytes."""
    chip = scenario.hardware
    seen = seen_bytes(chip) if scenario.memory is None and found.era else chip.visible_memory or chip.memory
    kept_parts = [
        ("driver", "waiting", exactly((chip.visible_memory or chip.memory) - seen)),
        ("context", "waiting", found.before),
        ("not taken", "waiting", found.not_taken),
        ("outside the engine", "waiting", found.outside),
        ("activations", "compute", found.activations),
        ("graphs", "compute", found.graphs),
    ]
    return [part for part in kept_parts if part[2].high > 0]


def parts_table(scenario: Scenario, found: Kept) -> Table:
    """The same with bands, the parameters, and what is spare of what the share leaves."""
    weights = in_memory.weights_of_one(scenario, weights=float(scenario.as_run.stored_bytes_of_one))
    spans = [(name, span) for name, _, span in parts(scenario, found)] + [("parameters", weights)]
    if found.not_taken.expected and found.spare != found.not_taken:
        spans.append(("spare", found.spare))
    rows = [Row(name, "word", tuple(_gib(one) for one in _ends(span))) for name, span in spans]
    return Table(("usual", "least", "most"), tuple(rows), head="Of one GPU")


def _ends(span: Span) -> tuple[float, float, float]:
    return span.expected, span.low, span.high


_BESIDE: Final = {"share of free": "; activations and graphs find their place here"}
"""Budget -> what the share leaves room for."""


def reasons(scenario: Scenario, found: Kept) -> list[str]:
    """What each part follows from, in the order of the table."""
    tokens, requests = (_range(pair) for pair in (found.tokens, found.requests))
    model, own = scenario.architecture, in_memory.calibrated(scenario)
    made = (
        f"{tokens} tokens of a pass, {requests} requests, a vocabulary of {model.vocabulary:,}, and the widths of its "
        "layers"
    )
    entered = "as entered"
    said = {
        "driver": "what the driver reports but programs do not see",
        "context": "libraries and the driver’s context, before the engine asks what is free",
        "not taken": f"a share of {found.share:g}{_BESIDE.get(library.memory_of(scenario.engine).budget, '')}",
        "outside the engine": entered if scenario.overhead is not None else "libraries and communication between GPUs",
        "activations": "what your log leaves" if own else entered if scenario.activations is not None else made,
        "graphs": f"{quantities.count(model.layers, 'layer')}",
        "parameters": entered
        if scenario.weight_memory is not None
        else "their format, towers at 16 bits, experts as wide as kernels want them",
        "spare": "of what is not taken, after context, graphs and a second trial of the sampler; below 0 a start fails",
    }
    return [f"{row.label}: {said[row.label]}" for row in parts_table(scenario, found).rows]


def _range(pair: tuple[int, int]) -> str:
    low, high = pair
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def rule_note(scenario: Scenario, found: Kept) -> str:
    """Which versions the numbers are of, and how many logs they rest on."""
    rule = library.memory_of(scenario.engine)
    if in_memory.calibrated(scenario):
        return "The room for caches is from your log."
    if not found.era:
        return "Activations and what lies outside the engine are as entered, so the rule plays no part."
    logs = f"{quantities.count(rule.logged, 'logged start')} of {rule.name}" if rule.logged else "no log of this engine"
    if scenario.engine_version or len(rule.possible("")) == 1:
        said = f"By the rule for {rule.name}, {found.era}; it rests on {logs}."
    else:
        said = f"No version is stated: the middle of {rule.name}’s versions, with a band over all; it rests on {logs}."
    if scenario.cache_room is not None:
        said += " The room that you logged is of another set-up and does not count here."
    return f"{said} {rule.note}".rstrip()


def nearest(scenario: Scenario) -> list[LoggedStart]:
    """The logged starts nearest to a scenario, of which the rule says something too."""
    total = scenario.hardware.visible_memory or scenario.hardware.memory
    weights = max(1.0, float(scenario.as_run.stored_bytes_of_one))
    known = [one for one in logged() if one.sized and one.shape and one.weights]
    hidden = scenario.architecture.hidden

    def distance(one: LoggedStart) -> float:
        if not (one.shape and one.weights):
            return float("inf")
        away = 3.0 * (one.engine != scenario.engine)
        away += abs(log(one.setting.total / total)) + abs(log(one.weights / weights)) / 2
        away += abs(log(one.setting.gpus / scenario.gpus)) / 2
        away += (
            abs(log(one.shape.hidden / hidden)) + abs(log(one.shape.vocabulary / scenario.architecture.vocabulary)) / 2
        )
        away += 1.0 * (not one.fitted)
        own = library.memory_of(one.engine)
        eras = own.possible(scenario.engine_version) if one.engine == scenario.engine else ()
        if scenario.engine_version and own.possible(one.version)[0] not in eras:
            away += 1.0
        return away

    unlike = {(one.title, one.activations, one.room): one for one in sorted(known, key=distance, reverse=True)}
    return sorted(unlike.values(), key=distance)[:_ROWS]


def nearest_table(scenario: Scenario, *, sources: bool = False) -> Table:
    """Them, with what the rule says of each; with a column for where each was published, or without."""
    rows = []
    for one in nearest(scenario):
        found = one.kept
        if found is None or one.weights is None:
            continue
        room = found.usable + exactly(-one.weights)
        cells = (
            _shown(one.activations),
            _gib(found.activations.expected) if found.activations.expected else "beside the share",
            _shown(one.room if one.engine != "llama.cpp" else None),
            f"{room.expected / GIB:,.2f} ({room.low / GIB:,.2f} to {_gib(room.high)})",
            "yes" if one.started else "no",
        )
        rows.append(Row(one.title, "word", (*cells, one.source) if sources else cells))
    columns = ("activations", "by the rule", "room", "room by the rule", "started", "source")
    return Table(columns if sources else columns[:-1], tuple(rows), head="Logged start")


def sources_of(scenario: Scenario) -> str:
    """Where they were published."""
    return f"Logged in {'; '.join(dict.fromkeys(one.source for one in nearest(scenario)))}."


def _shown(value: float | None) -> str:
    return "not logged" if value is None else _gib(value)


def _gib(value: float) -> str:
    """Bytes as engines log them."""
    return f"{value / GIB:,.2f} GiB"


def entered(scenario: Scenario, text: str) -> tuple[Mapping[str, Any], str]:
    """The fields that a log's lines set, and what was read of them in a sentence.

    Raises:
        UnreadLogError: where no line can be used, with the reason.
    """
    found = start_log.read(text)
    fields: dict[str, Any] = {"memory_of": "engine"} | {
        name: value
        for name, value in (
            ("engine_share", found.share),
            ("engine_version", found.version),
            ("max_num_batched_tokens", found.pass_tokens),
            ("max_num_seqs", found.requests),
            ("activations", found.activations),
            ("overhead", found.outside),
            ("memory", found.total),
            ("weight_memory", None if found.weights is None else found.weights * _holders(scenario)),
        )
        if value is not None
    }
    room = _room(scenario, found)
    if room is not None:
        if room <= 0:
            raise start_log.UnreadLogError(
                f"The log leaves {quantities.shown(room, 'B')} for the cache: that start failed, and nothing is taken "
                "from it."
            )
        now = scenario.model_copy(update=fields)
        if room > (now.memory or now.hardware.visible_memory or now.hardware.memory):
            raise start_log.UnreadLogError(
                f"The log leaves {quantities.shown(room, 'B')} on one GPU, more than the memory of {now.hardware.name}."
            )
        fields |= {"cache_room": room, "cache_room_of": in_memory.set_up(now)}
    said = "; ".join(f"{_TITLES[name]} {_value(value)}" for name, value in fields.items() if name in _TITLES)
    return fields, " ".join([f"Read: {said}.", *found.said])


_TITLES: Final = {
    "engine_share": "share",
    "engine_version": "version",
    "max_num_batched_tokens": "tokens of a pass",
    "max_num_seqs": "requests",
    "activations": "activations",
    "overhead": "outside the engine",
    "memory": "memory",
    "weight_memory": "parameters on all GPUs",
    "cache_room": "room for the cache of one GPU",
}
_PLAIN_LIMIT: Final = 1e7


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,g}" if value < _PLAIN_LIMIT else str(quantities.shown(value, "B"))


def _holders(scenario: Scenario) -> float:
    """Times the parameters of one GPU that all of them hold together, as the scenario counts them."""
    machine = scenario.as_run
    return float(machine.stored_bytes / machine.stored_bytes_of_one)


def _room(scenario: Scenario, found: StartLog) -> float | None:
    """Bytes for the cache on one GPU; of tokens those that requests of the scenario's length take."""
    if found.room is not None or found.tokens is None:
        return found.room
    machine, tokens = scenario.as_run, scenario.prompt + scenario.answer
    of_one = float(cache_bytes_of_one(machine, tokens=tokens)) / (machine.gpus if machine.layout.even else 1)
    return found.tokens / tokens * of_one


CLEARED: Final = {
    name: getattr(BASE, name)
    for name in (
        *("engine_share", "engine_version", "max_num_batched_tokens", "max_num_seqs", "activations", "overhead"),
        *("memory", "weight_memory", "cache_room", "cache_room_of"),
    )
}
"""Fields that a log sets, as they are without one."""
