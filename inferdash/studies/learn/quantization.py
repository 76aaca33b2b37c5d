"""Section 10.5: fewer bits for each parameter: what they round away, and what they make faster."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.machines.accelerator import Accelerator
from inferdash.facts.models.precision import FILES, PRECISIONS, Precision
from inferdash.formula import remembered, section
from inferdash.physics import quantization
from inferdash.physics.capacity import kv_cache, memory
from inferdash.physics.deployment import Deployment
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario, numbers_in
from inferdash.studies import expected, ratios
from inferdash.studies.numbers import Headline, Row, Table, leading, number, plain, show

NAME: Final = "quantization"
TITLE: Final = "Quantization"
_ROOM: Final = 1.25
_RARE: Final = {"fp32", "fp4-fp8", "int4-g32"}
"""Formats of single models, compared only where they are chosen."""
_GROUPS: Final = (8, 16, 32, 64, 128, 256, 512, 1024)
_CURVE_BITS: Final = (2, 3, 4, 5, 6, 8)
SCALE_BITS: Final = 16
FORMAT_NOTE: Final = (
    "fp8 and int8 give every number one byte. fp8 in blocks, int4, MXFP4 and NVFP4 shrink the matrices of the layers "
    "(MXFP4: of the experts); embedding, output layer and norms stay at 16 bits. GGUF shrinks those too, so Q4_K can "
    "be smaller than int4. Where the chip lacks a format, only the memory read gets faster."
)
"""What the formats leave at 16 bits, and why a format of more bits can be smaller."""
ROUNDING_NOTE: Final = (
    "The largest magnitude becomes the largest positive integer, and the integers are symmetric around 0. Others use "
    "the whole range with a zero point, or clip the largest weights for a smaller scale."
)
"""How this rounding differs from others."""


@dataclass(frozen=True)
class FormatLine:
    """The model in one number format."""

    format: str
    bits_per_weight: float
    """Of a weight in a matrix, its part of the scales included."""
    bytes: float
    """Of all parameters in memory."""
    min_gpus: int
    """Accelerators that hold the parameters and one request."""
    pass_s: float | None
    """A pass of the decode at the scenario's batch, at the limit."""
    expected_pass_s: float | None
    """The same as it is expected."""
    multiplies_at: str
    """The format in which this chip multiplies."""


@dataclass(frozen=True)
class Quantization:
    """Every headline number of the page."""

    scale: float = number("", "scale of the group")
    integers: tuple[int, ...] = number("list", "integers")
    restored: tuple[float, ...] = number("list", "restored weights")
    max_error: float = number("", "bound on the error of each weight")
    dot: tuple[float, float] = number("list", "sum of the weights before and after")
    bits_per_weight: float = number("bits", "per weight, its share of the scale included")
    formats: tuple[FormatLine, ...] = number("rows", "the model in each format")
    speedup: float | None = number("times", "as fast a pass in this precision as in bf16")


@remembered
def study(scenario: Scenario) -> Quantization:
    """The numbers of the page for a scenario."""
    weights = numbers_in(scenario.weight_values)
    with section("A group"):
        scale, integers, restored = quantization.group_of(weights, bits=scenario.bits)
        bound = quantization.largest_error(scale=scale)
    with section("Bits"):
        bits = quantization.bits_per_weight(bits=scenario.bits, scale_bits=SCALE_BITS, group=scenario.group)
    keys = _compared(scenario)
    lines = tuple(_line(scenario, key) for key in keys)
    now, base = lines[keys.index(scenario.format)], lines[0]
    return Quantization(
        scale=scale,
        integers=tuple(int(integer) for integer in integers),
        restored=tuple(restored.tolist()),
        max_error=float(bound),
        dot=(float(np.sum(weights)), float(restored.sum())),
        bits_per_weight=float(bits),
        formats=lines,
        speedup=None if now.pass_s is None or base.pass_s is None else base.pass_s / now.pass_s,
    )


def _in_format(scenario: Scenario, key: str) -> Scenario:
    return scenario.model_copy(update={"weights": key, "weight_memory": None})


def _machine(scenario: Scenario, key: str) -> Deployment:
    """The scenario's model on its accelerators in a number format, at the limit."""
    return _in_format(scenario, key).deployment


def _compared(scenario: Scenario) -> list[str]:
    """The formats that are compared: those in use, and the scenario's own."""
    mixed = {FILES} if scenario.architecture.formats else set()
    return [
        key
        for key, one in PRECISIONS.items()
        if key in mixed | {scenario.format} or (key not in _RARE and key not in mixed and not one.recipe)
    ]


def _line(scenario: Scenario, key: str) -> FormatLine:
    chip, machine = scenario.hardware, _machine(scenario, key)
    precision = machine.weights
    at, peak = chip.rate(precision)
    pass_s = plain(decode(machine, requests=scenario.batch, past=scenario.prompt).pass_s)
    reached_s = expected.decode_s(
        _in_format(scenario, key), requests=scenario.batch, past=scenario.prompt, limit_s=pass_s
    )
    return FormatLine(
        format=precision.name,
        bits_per_weight=precision.matrix_bits,
        bytes=float(machine.stored_bytes),
        min_gpus=int(memory.fewest_gpus(machine, requests=1, tokens=scenario.prompt)),
        pass_s=pass_s,
        expected_pass_s=plain(reached_s),
        multiplies_at=_multiplies(chip, precision) or (at.rate.removeprefix("dense_") if peak else "not known"),
    )


_WORKED: Final = {
    "attention": "attention",
    "dense": "feed-forward",
    "shared": "shared experts",
    "experts": "experts",
    "output": "output",
}
"""Kinds of parameters that are multiplied, in words."""


def _multiplies(chip: Accelerator, precision: Precision) -> str:
    """In which format the chip multiplies each kind of parameter, where they are several; empty where one."""
    found: dict[str, list[str]] = {}
    for share in precision.shares:
        kinds = found.setdefault(chip.rate_name(share.rate), [])
        if share.kind in _WORKED and _WORKED[share.kind] not in kinds:
            kinds.append(_WORKED[share.kind])
    said = {rate: kinds for rate, kinds in found.items() if kinds}
    if len(said) < 2:  # noqa: PLR2004 - one is no mix
        return next(iter(said), "")
    return "; ".join(f"{rate} ({', '.join(kinds)})" for rate, kinds in said.items())


def sentence(scenario: Scenario, result: Quantization) -> str:
    """The result in words."""
    lines = dict(zip(_compared(scenario), result.formats, strict=True))
    key = scenario.format if scenario.format != "bf16" else "int4-g128"
    wide, now = lines["bf16"], lines[key]
    sizes = f"{quantities.shown(wide.bytes, 'B')} in bf16 and {quantities.shown(now.bytes, 'B')} in {now.format}"
    said = f"{scenario.architecture.name} takes {sizes}"
    if wide.pass_s is None or now.pass_s is None:
        return f"{said}."
    gain = wide.pass_s / now.pass_s
    batch = quantities.count(scenario.batch, "request")
    if gain < 1.01:  # noqa: PLR2004 - what rounds to 1.00 times
        bound = decode(_machine(scenario, key), requests=scenario.batch, past=scenario.prompt).bound
        why = "compute limits it" if bound == "compute" else "almost everything it reads is cache"
        return f"{said}, and at the limit a decode pass for {batch} is no faster: {why}."
    return f"{said}; a decode pass for {batch} is {quantities.times(gain, 'as fast')} (limit)."


def headline_numbers(scenario: Scenario, result: Quantization) -> list[Headline]:
    """The numbers on top: what the scenario's format takes and how fast it is, int4 beside it, and a weight's bits."""
    lines = dict(zip(_compared(scenario), result.formats, strict=True))
    own, narrow = lines[scenario.format], lines["int4-g128"]
    reached = expected.decode_of(scenario, requests=scenario.batch, past=scenario.prompt, limit_s=own.pass_s)
    return [
        Headline(
            f"Parameters in {own.format}",
            own.bytes,
            "B",
            of="Parameters as chosen",
            ratio=ratios.much("the parameters take {} memory"),
        ),
        leading(
            f"Decode pass in {own.format}",
            reached,
            "s",
            speed=scenario.speed,
            of="Decode pass",
            ratio=ratios.lasting("a decode pass takes {}"),
        ),
        Headline("Parameters in int4, group 128", narrow.bytes, "B", ratio=ratios.much("in int4, group 128, {}")),
        Headline(
            f"{scenario.bits}-bit weight, scale included",
            result.bits_per_weight,
            "bits",
            of="Weight, scale included",
            ratio=ratios.many("a weight with its share of the scale takes {} bits", "less"),
        ),
    ]


def group_table(scenario: Scenario, result: Quantization) -> Table:
    """The weights of the group one by one: integer, restored weight, error."""
    weights = numbers_in(scenario.weight_values)
    rows = [
        Row(
            quantities.general(weight, 6),
            "word",
            (f"{integer}", quantities.general(back, 6), quantities.general(back - weight, 3, signed=True)),
        )
        for weight, integer, back in zip(weights, result.integers, result.restored, strict=True)
    ]
    before, after = result.dot
    rows.append(
        Row(
            f"sum {quantities.general(before, 6)}",
            "word",
            ("", quantities.general(after, 6), quantities.general(after - before, 3, signed=True)),
        )
    )
    return Table(("integer", "restored", "error"), tuple(rows), head="Weight")


def group_sentence(scenario: Scenario, result: Quantization) -> str:
    """What the group's scale does."""
    top = int(quantization.largest_integer(bits=scenario.bits))
    error = f"the error of each weight is at most half of it, {quantities.general(result.max_error)}"
    sums = (
        f"The sum of the weights goes from {quantities.general(result.dot[0])} to {quantities.general(result.dot[1])}"
    )
    return (
        f"One scale, {quantities.general(result.scale)}, makes the largest weight the integer {top}; {error}. {sums}."
    )


def format_table(result: Quantization) -> Table:
    """The model in each format."""
    return Table(
        (
            "pass (limit)",
            "pass (expected)",
            "parameters",
            "fewest GPUs",
            "bits per weight",
            "computes in",
        ),
        tuple(
            Row(
                line.format,
                "word",
                (
                    show(line.pass_s, "s"),
                    show(line.expected_pass_s, "s"),
                    str(quantities.shown(line.bytes, "B")),
                    f"{line.min_gpus:,}",
                    f"{line.bits_per_weight:.4g}",
                    line.multiplies_at,
                ),
            )
            for line in result.formats
        ),
        head="Format",
    )


@cache
def error_rows() -> list[dict[str, Any]]:
    """Error on weights of a normal distribution against bits with their scale, a line for each number of bits."""
    return [
        {
            "bits": float(quantization.bits_per_weight(bits=bits, scale_bits=SCALE_BITS, group=group)),
            "error": quantization.normal_error(bits=bits, group=group),
            "of": f"{bits} bits",
            "group": group,
            "meaning": "memory",
        }
        for bits in _CURVE_BITS
        for group in _GROUPS
    ]


def error_sentence(scenario: Scenario, result: Quantization) -> str:
    """What the bits and the group do to weights of a normal distribution."""
    error = quantities.percent(quantization.normal_error(bits=scenario.bits, group=scenario.group))
    bits = quantities.digits(result.bits_per_weight, 4)
    groups = f"{scenario.bits} bits in groups of {scenario.group:,}"
    drawn = f"on weights of a normal distribution the RMS rounding error is {error} of the RMS weight"
    return f"{groups} take {bits} bits per weight with the scale, and {drawn}."


ERROR_NOTE: Final = (
    f"Each line is a number of bits. The dots along it are group sizes, from {_GROUPS[-1]:,} weights on the left to "
    f"{_GROUPS[0]} on the right: smaller groups take more bits for scales and round less away."
)
"""How to read the chart of errors."""


def error_marks(scenario: Scenario, result: Quantization) -> dict[str, list[dict[str, Any]]]:
    """The curves, their ends with a name, and the reader's bits and group."""
    rows = error_rows()
    error = quantization.normal_error(bits=scenario.bits, group=scenario.group)
    own = {"bits": result.bits_per_weight, "error": error, "meaning": "memory"}
    return {
        "curves": rows,
        "ends": [row for row in rows if row["group"] == _GROUPS[0]],
        "own": [own],
    }


def size_rows(scenario: Scenario, result: Quantization) -> dict[str, list[dict[str, Any]]]:
    """Rows "formats": bytes of the model in each, the scenario’s marked; "room" for the label of the longest bar."""
    formats = [
        {
            "format": line.format,
            "gb": line.bytes / 1e9,
            "meaning": "memory",
            "label": str(quantities.shown(line.bytes, "B")),
            "chosen": line.format == scenario.precision.name,
        }
        for line in result.formats
    ]
    return {"formats": formats, "room": [{"gb": _ROOM * max(line.bytes for line in result.formats) / 1e9}]}


def holders_table(scenario: Scenario) -> Table:
    """The fewest of each accelerator that hold the parameters and one request, in some formats."""
    shown = list(dict.fromkeys(("bf16", "fp8", "int4-g128", scenario.format)))
    chips = library.accelerators().values()
    memories = np.array([chip.memory for chip in chips])
    machines = (_machine(scenario, key) for key in shown)
    columns = [
        memory.gpus_that_hold(
            stored_bytes=machine.stored_bytes,
            requests=1,
            cache_bytes=kv_cache.request_cache_bytes(
                machine.architecture, tokens=scenario.prompt, bytes_per_number=machine.cache_bytes_per_number
            ),
            memory=memories,
        )
        for machine in machines
    ]
    rows = (
        Row(chip.name, "GPUs", tuple(int(fewest) for fewest in each))
        for chip, *each in zip(chips, *(np.asarray(column).tolist() for column in columns), strict=True)
    )
    return Table(tuple(PRECISIONS[key].name for key in shown), tuple(rows), head="Fewest that hold it")


def holders_sentence(holders: Table) -> str:
    """Of which accelerators one is enough in every format, where there are some."""
    enough = sum(all(fewest <= 1 for fewest in row.values) for row in holders.rows)
    formats = _listed(holders.columns)
    if enough == len(holders.rows):
        return f"One of any accelerator listed holds the parameters and one request, in {formats}."
    if not enough:
        return ""
    return f"One of {enough} others holds the parameters and one request, in {formats}."


def several(holders: Table) -> Table:
    """The accelerators of which one is not enough in some format."""
    return replace(holders, rows=tuple(row for row in holders.rows if any(fewest > 1 for fewest in row.values)))


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}".removeprefix(" and ")
